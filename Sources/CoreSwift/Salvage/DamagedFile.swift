// A realm file that may be damaged anywhere, opened for reading alone: no lock file, no locks, no
// writes, and nothing in it is believed that does not verify. Finds the versions that can still be
// read; which of their rows can is `DamagedClass`'s business.
//
// Versions are looked for, newest first,
//  1. in the two header slots,
//  2. behind the sync records, which have the check value of a root: the block with that value is it,
//  3. in plain files, among all blocks that say of themselves that they are roots: one counts if all
//     blocks that its version wrote are there and give the root's digest. (Whether a block of an
//     encrypted file is one can't be told without the version that wrote it.)

import CKernels

final class DamagedFile {
    let store: Store
    /// Whole pages that the file has.
    let pages: UInt64

    /// A version whose root verifies.
    struct Version {
        let root: VersionRoot
        let reference: BlockReference
        let catalog: Catalog
        let origin: Origin

        var number: UInt64 { reference.version }
    }

    enum Origin {
        case header(Int)
        case syncRecord
        case search
    }

    /// What was found damaged, in sentences.
    private(set) var faults: [String] = []
    /// The newest version that anything intact in the first two pages names; 0 = none.
    private(set) var newestNamed: UInt64 = 0

    init(_ path: String, key: [UInt8], _ files: FileSystem) throws(RealmError) {
        let file = try OpenFile(path, .readOnly, files)
        let status = try file.status()
        guard status.isRegular else {
            throw RealmError(.fileOperationFailed, "'\(path)': not a regular file", path: path)
        }
        var options = StoreOptions()
        options.readOnly = true
        options.immutable = true
        options.create = false
        options.encryptionKey = key
        options.reservedBytes = Int(max(status.bytes, 1 << 24)) + Page.size
        let start = try Store.readStart(file)
        let codec = try Store.codec(of: file, start, options)
        guard key.isEmpty || codec.cipher != nil else {
            throw RealmError(
                .invalidDatabase,
                "'\(path)': neither header slot says how the file is encrypted, if it is at all",
                path: path)
        }
        pages = codec.pages(inBytes: status.bytes)
        let mapping = try PageMapping(
            reserving: options.reservedBytes, decrypted: options.decryptedBytesMax,
            fileBytes: status.bytes, codec: codec, path: path,
            files: files)
        try mapping.extend(to: pages, of: file)
        let none = FileHeader(
            slot: 0, fileID: FileID(low: 0, high: 0), version: 1, root: .none, pageCount: pages)
        store = Store(
            path: path, options: options, file: file, mapping: mapping,
            lockFile: LockFile(privateFor: none, pages: pages, path: path), claim: nil,
            fileID: none.fileID, identity: status.identity)
        self.start = start
    }

    private let start: [UInt8]

    /// Start of the file in memory; pages below `pages` may be read.
    var raw: UnsafeRawPointer { UnsafeRawPointer(store.mapping.file) }
    var isEncrypted: Bool { store.codec.cipher != nil }

    func note(_ fault: String) { faults.append(fault) }

    // MARK: Versions

    /// The versions that header slots and sync records lead to, newest first; where none of them
    /// satisfies `isEnough`, or a slot is damaged, the others that can be found as well. Throws for files of another format.
    func versions(
        _ isEnough: (Version) -> Bool
    ) throws(RealmError) -> [Version] {
        var found: [Version] = []
        var headers: [FileHeader] = []
        var foreign = 0
        var damaged = 0
        for slot in 0...1 {
            switch Store.decodeSlot(start, slot, store.codec) {
            case .valid(let header): headers.append(header)
            case .otherFormat(let format):
                throw RealmError(
                    .unsupportedFileFormatVersion,
                    "'\(store.path)': file format \(format) is not supported, this library knows"
                        + " formats 1 to \(FileHeader.formatVersionMax)", path: store.path)
            case .blank: break
            case .foreign:
                foreign += 1
                note("header slot \(slot): not that of a realm")
            case .damaged:
                damaged += 1
                note("header slot \(slot): damaged")
            }
        }
        headers.sortFew { $0.version > $1.version }
        for header in headers {
            newestNamed = max(newestNamed, header.version)
            add(header.root, header.version, .header(header.slot), &found)
        }
        for slot in 0...1 { try addRecord(slot, &found) }
        found.sortFew { $0.number > $1.number }
        // A slot that can't be read may have had a newer one.
        if damaged + foreign == 0, found.contains(where: isEnough) { return found }
        if !isEncrypted { try search(&found) }
        if found.isEmpty && foreign == 2 {
            throw RealmError(
                .invalidDatabase, "'\(store.path)': not a realm file", path: store.path)
        }
        found.sortFew { $0.number > $1.number }
        return found
    }

    private func add(
        _ root: BlockReference, _ version: UInt64, _ origin: Origin, _ found: inout [Version]
    ) {
        if found.contains(where: { $0.reference == root }) { return }
        do throws(RealmError) {
            guard root.version == version, version < FileHeader.versionMax else {
                throw RealmError(.invalidDatabase, "the header names the root of another version")
            }
            let block = try store.admit(root)
            let read = try VersionRoot(block, root)
            let catalog = try Catalog(read.payload, count: read.payloadCount)
            found.append(
                Version(root: read, reference: root, catalog: catalog, origin: origin))
        } catch {
            note("version \(version): \(error.message)")
        }
    }

    private func addRecord(_ slot: Int, _ found: inout [Version]) throws(RealmError) {
        let record = start.withUnsafeBytes { bytes in
            bytes.baseAddress.flatMap {
                store.codec.record($0 + SyncRecord.offset(slot: slot), slot: slot)
            }
        }
        guard let record else { return }
        newestNamed = max(newestNamed, record.version)
        if found.contains(where: {
            $0.reference.check0 == record.check0 && $0.reference.check1 == record.check1
        }) {
            return
        }
        for page in FileHeader.firstBlockPage..<max(pages, FileHeader.firstBlockPage) {
            guard let root = block(at: page, record) else { continue }
            return add(root, record.version, .syncRecord, &found)
        }
        note("version \(record.version): its root is nowhere in the file")
    }

    /// Roots are small; more pages are not tried.
    private static let rootPagesMax: UInt64 = 1 << 10

    /// The root that a sync record names, if it begins at this page.
    private func block(at page: UInt64, _ record: SyncRecord) -> BlockReference? {
        let bytes = raw + store.codec.offset(page)
        let left = min(pages - page, Self.rootPagesMax)
        var counts: ClosedRange<UInt64> = 1...left
        if isEncrypted {
            guard bytes.u64(FileCipher.nonceBytes) == record.check0,
                bytes.u64(FileCipher.nonceBytes + 8) == record.check1
            else { return nil }
        } else {
            guard let count = rootPages(page), bytes.u64(16) == record.version else { return nil }
            counts = count...min(count + 4, left)
        }
        for count in counts {
            let reference = BlockReference(
                page: page, pages: Int(count), version: record.version, check0: record.check0,
                check1: record.check1)
            if store.codec.isIntact(raw, reference) { return reference }
        }
        return nil
    }

    /// Pages of the root that a block of a plain file says to be.
    private func rootPages(_ page: UInt64) -> UInt64? {
        let bytes = raw + store.codec.offset(page)
        guard bytes.u64(BlockField.tag) == UInt64(BlockKind.versionRoot.rawValue) else {
            return nil
        }
        let used = Int(bytes.u32(BlockField.bytesUsed))
        let count = UInt64(Page.count(forBytes: used))
        return used >= VersionRoot.headerBytes && count <= min(pages - page, Self.rootPagesMax)
            ? count : nil
    }

    private func search(_ found: inout [Version]) throws(RealmError) {
        for page in FileHeader.firstBlockPage..<max(pages, FileHeader.firstBlockPage) {
            guard let count = rootPages(page) else { continue }
            let version = (raw + store.codec.offset(page)).u64(16)
            var reference = BlockReference(page: page, pages: Int(count), version: version)
            guard version > 0, version < FileHeader.versionMax,
                let check = store.codec.check(raw, reference)
            else { continue }
            (reference.check0, reference.check1) = (check.low, check.high)
            guard let root = try? VersionRoot(raw + store.codec.offset(page), reference),
                root.pageCount <= pages
            else { continue }
            let header = FileHeader(
                slot: 0, fileID: store.fileID, version: version, root: reference,
                pageCount: root.pageCount)
            guard try Store.verify(header, store.mapping).problem == nil else { continue }
            add(reference, version, .search, &found)
        }
    }

    // MARK: Blocks

    func contains(_ reference: BlockReference) -> Bool {
        reference.end <= pages
    }

    /// Whether a block lies in the file and is what the reference was made for.
    func isIntact(_ reference: BlockReference) -> Bool {
        guard reference.isStored, contains(reference) else { return false }
        return store.codec.isIntact(raw, reference)
    }
}

extension VersionRoot {
    /// The blocks in the written list, without their check values.
    var written: [BlockReference] {
        var result: [BlockReference] = []
        var index = 0
        for number in 0..<runCount {
            let run = run(number)
            var page = run.page
            for _ in 0..<run.blocks where index < blockCount {
                let pages = blockPages(index)
                index += 1
                result.append(BlockReference(page: page, pages: pages, version: run.version))
                page += UInt64(pages)
            }
        }
        return result
    }
}
