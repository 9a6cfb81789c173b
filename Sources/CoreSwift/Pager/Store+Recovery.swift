// Making sure of versions that may not be on the disk: after a crash, and after a sync that failed or of
// which nobody knows how it ended.
//
// A failed fdatasync is told once. The kernel may have given up the pages that it could not write: it
// shows them to readers until it needs the memory, the disk has what was there before, and the next
// sync succeeds without writing them. So that a version reads well proves nothing, and neither does a
// sync that comes later, unless what is to be synced was written again in between.
//
// Invariants
//  1. A version is built upon only when one fdatasync succeeded behind the last write of each of its
//     blocks and of its header, and none failed between those writes and it.
//  2. Who can't know that (an opening without sync record; a writer that finds an unsynced version
//     whose sync was begun, or its slot with something else in it) verifies all that was written since
//     the durable version before it, which its root lists, writes it again and then syncs.
//  3. What is written again is the same bytes at the same place. So a crash in between leaves the version, or
//     the durable one before it, which uses none of these pages.
//
// Writing makes pages dirty, also those given up; verified again behind that, they can't be given up
// any more without a sync that says so.

extension Store {
    // MARK: Verifying

    /// Hashes every block that the version wrote. What is wrong, nil when all are right; and where they
    /// are, the root last.
    static func verify(
        _ header: FileHeader, _ mapping: PageMapping
    ) throws(RealmError) -> (problem: String?, written: [SpaceRun]) {
        var written: [SpaceRun] = []
        let problem = try verify(header, mapping, &written)
        return (problem, written)
    }

    private static func verify(
        _ header: FileHeader, _ mapping: PageMapping, _ written: inout [SpaceRun]
    ) throws(RealmError) -> String? {
        let reference = header.root
        guard mapping.codec.isIntact(mapping.file, reference),
            let block = try mapping.block(reference)
        else {
            return "page \(reference.page): the root of version \(header.version) is damaged"
        }
        guard let root = try? VersionRoot(block, reference), root.pageCount == header.pageCount
        else { return "page \(reference.page): the root of version \(header.version) is invalid" }
        var digest = WrittenDigest()
        var index = 0
        for number in 0..<root.runCount {
            let run = root.run(number)
            var page = run.page
            for _ in 0..<run.blocks {
                guard index < root.blockCount else { return "written list is inconsistent" }
                let pages = root.blockPages(index)
                index += 1
                guard pages > 0, page >= FileHeader.firstBlockPage,
                    page < header.pageCount, UInt64(pages) <= header.pageCount - page
                else { return "page \(page): written list is inconsistent" }
                let place = BlockReference(page: page, pages: pages, version: run.version)
                guard let check = mapping.codec.check(mapping.file, place) else {
                    return "page \(page): a block written by version \(run.version) is damaged"
                }
                digest.add(location: place.location, check: check)
                page += UInt64(pages)
            }
            written.append(SpaceRun(page: run.page, count: page - run.page))
        }
        written.append(SpaceRun(page: reference.page, count: UInt64(reference.pageCount)))
        guard digest == root.digest else {
            return "blocks written by version \(header.version) are damaged"
        }
        return nil
    }

    // MARK: Writing again

    /// Makes a version durable that may be in the kernel's memory only. Returns what is wrong with it;
    /// then it is as it was.
    static func secure(
        _ header: FileHeader, _ file: OpenFile, _ mapping: PageMapping
    ) throws(RealmError) -> String? {
        let (problem, written) = try verify(header, mapping)
        if let problem { return problem }
        for run in written { try rewrite(run, file, mapping) }
        // The file's length is part of it, and its end may be free.
        try rewrite(SpaceRun(page: header.pageCount - 1, count: 1), file, mapping)
        // Until now the kernel might have read them anew.
        if let problem = try verify(header, mapping).problem { return problem }
        try writeHeader(header, file, mapping.codec)
        let other = 1 - header.slot
        switch try readSlot(file, other, mapping.codec) {
        // Of a commit that failed, and wiped perhaps in the kernel's memory only; or of an interrupted one.
        case .blank: try wipe(other, file)
        case .valid(let found) where found.version > header.version: try wipe(other, file)
        default: break
        }
        try file.sync()
        // Who gave the file its name may have died before that was safe.
        try FileOperations.syncName(file.path, file.files)
        return nil
    }

    private static func wipe(_ slot: Int, _ file: OpenFile) throws(RealmError) {
        try file.writeZeros(
            FileHeader.slotBytes, at: Int64(FileHeader.slotOffset(slot)), "wipe the header")
    }

    private static func rewrite(
        _ run: SpaceRun, _ file: OpenFile, _ mapping: PageMapping
    ) throws(RealmError) {
        let chunk = 1 << 18
        // The kernel may not write from where it writes to.
        let buffer = UnsafeMutableRawPointer.allocate(byteCount: chunk, alignment: Page.size)
        defer { buffer.deallocate() }
        var offset = mapping.codec.offset(run.page)
        let end = mapping.codec.offset(run.end)
        while offset < end {
            let count = min(end - offset, chunk)
            memcpy(buffer, mapping.file + offset, count)
            try file.write(buffer, count: count, at: Int64(offset), "write blocks again")
            offset += count
        }
    }

    static func writeHeader(
        _ header: FileHeader, _ file: OpenFile, _ codec: BlockCodec
    ) throws(RealmError) {
        let buffer = UnsafeMutableRawPointer.allocate(
            byteCount: FileHeader.slotBytes, alignment: 8)
        defer { buffer.deallocate() }
        codec.encode(header, into: buffer)
        try file.write(
            buffer, count: FileHeader.slotBytes, at: Int64(FileHeader.slotOffset(header.slot)),
            "write the header")
    }

    func writeHeader(_ header: FileHeader) throws(RealmError) {
        try Self.writeHeader(header, file, codec)
    }

    // MARK: Going on from what others left

    /// Makes the committed version durable, whoever committed it. The caller holds the writer lock.
    func syncCommitted() throws(RealmError) {
        let version = lockFile.committedVersion
        func damaged(_ rule: String) -> RealmError {
            RealmError(.invalidDatabase, "'\(path)': version \(version): \(rule)", path: path)
        }
        guard let known = lockFile.root(of: version) else {
            throw damaged("the lock file names no root of it")
        }
        if !lockFile.isSyncInDoubt,
            case .valid(let found) = try Self.readSlot(file, known.slot, codec),
            found.version == version, found.root == known.root
        {
            lockFile.noteTakenOver(version)
            try file.sync()
        } else {
            // Or the slot has the header of a version that was never published, because its writer was
            // killed, or that of a failed one, wiped. Others read this version and go on from it.
            lockFile.noteTakenOver(version)
            let root = try VersionRoot(try admit(known.root), known.root)
            try extendMapping(to: root.pageCount)
            let header = FileHeader(
                slot: known.slot, listsOlder: !root.olderVersionsListed.isEmpty,
                fileID: fileID, version: version, root: known.root, pageCount: root.pageCount)
            if let problem = try Self.secure(header, file, mapping) { throw damaged(problem) }
        }
        lockFile.setUnsynced(0)
    }

    // MARK: The sync record

    /// Notes that the newest version is on stable storage. The caller knows that nobody commits. False
    /// if it is not noted: because the file may not be written, or its header is not there.
    func writeSyncRecord() throws(RealmError) -> Bool {
        let version = lockFile.committedVersion
        guard let slot = lockFile.root(of: version)?.slot,
            case .valid(let header) = try Self.readSlot(file, slot, codec),
            header.version == version
        else { return false }
        if Self.hasSyncRecord(mapping, header) { return true }
        if !options.readOnly { try write(SyncRecord(header), slot: slot) }
        return !options.readOnly
    }

    /// The same when the file has grown, which a crash before the sync could have taken back: if it is
    /// shorter one day, it was cut.
    func noteDurable(_ version: UInt64, _ root: BlockReference, slot: Int) {
        // Without it nothing is lost but that knowledge.
        try? write(SyncRecord(version, root), slot: slot)
    }

    private func write(_ record: SyncRecord, slot: Int) throws(RealmError) {
        let buffer = UnsafeMutableRawPointer.allocate(
            byteCount: codec.recordBytes, alignment: 8)
        defer { buffer.deallocate() }
        codec.encode(record, slot: slot, into: buffer)
        try file.write(
            buffer, count: codec.recordBytes, at: Int64(SyncRecord.offset(slot: slot)),
            "write the sync record")
    }

    /// The newest version that some sync record in the first two pages vouches for; 0 = none.
    static func syncedVersion(_ start: [UInt8], _ codec: BlockCodec) -> UInt64 {
        start.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return 0 }
            var newest: UInt64 = 0
            for slot in 0...1 {
                let record = codec.record(base + SyncRecord.offset(slot: slot), slot: slot)
                newest = max(newest, record?.version ?? 0)
            }
            return newest
        }
    }

    static func hasSyncRecord(_ mapping: PageMapping, _ header: FileHeader) -> Bool {
        mapping.codec.record(
            mapping.file + SyncRecord.offset(slot: header.slot), slot: header.slot)
            == SyncRecord(header)
    }
}
