// Opening a realm file: creating it, choosing the version to start from, recovery after a crash.
//
// The first to open the file decides the version; who comes later takes it from the lock file.
//  1. Of the two header slots the newest valid one is tried first.
//  2. If its sync record is there, the version is on stable storage: nothing more to verify than
//     its root.
//  3. Otherwise every block that the version wrote is hashed (the root lists them). All match: the
//     version was written completely and counts; it is written again and synced before anything is
//     overwritten (Store+Recovery.swift). Some
//     don't: its commit never returned, and the other slot counts.
//     If an intact sync record names a newer version than the other slot's, the file is damaged:
//     what was once on stable storage does not get lost in a crash. So it is if it has fewer pages
//     than were there before the newest header, and if the lock file that dead processes left says
//     that the newest version was durable.
//  4. No file, or one of 0 bytes, is a new realm. It is made under another name first, so a file
//     with anything else in it is a realm, or none of ours.
//
// A path is resolved before it is used, and the file claimed for its lock file (`FileClaim`), so
// that all who have one file open know of each other, whatever they call it.

extension Store {
    static func open(
        path given: String, options: StoreOptions, files: FileSystem
    ) throws(RealmError) -> Store {
        // All who open the file have to find the same lock file.
        let path = try FileOperations.realPath(given, files)
        if options.immutable { return try openImmutable(path, options, files) }
        let lockFile = try LockFile(beside: path, files: files)
        do throws(RealmError) {
            let store =
                try lockFile.takeSession()
                ? openAlone(path, options, lockFile, files) : join(path, options, lockFile, files)
            lockFile.leave()
            return store
        } catch {
            // Both locks at once: who comes next must not take this session, which is exclusive and of nobody,
            // for one to join.
            lockFile.closeDescriptor()
            throw error
        }
    }

    /// Begins a session: chooses the version, and makes the file where there is none.
    private static func openAlone(
        _ path: String, _ options: StoreOptions, _ lockFile: LockFile, _ files: FileSystem
    ) throws(RealmError) -> Store {
        let found = try openFile(path, options, files)
        var opened: Recovered?
        var used = found
        var claim: FileClaim?
        if let found {
            guard found.status.identity != lockFile.identity else {
                throw RealmError(
                    .fileOperationFailed, "'\(lockFile.path)' is the realm file under another name",
                    path: path)
            }
            claim = try claimFile(found, lockFile, joins: false)
            removeAbandoned(path, files)
            opened = try recover(
                found.file, options, fileBytes: found.status.bytes, lockFile)
        }
        if opened == nil {
            guard options.create else {
                throw RealmError(
                    .invalidDatabase, "'\(path)': the file holds no realm yet", path: path)
            }
            let (header, codec) = try createFile(
                path, options, replacing: found?.status, files)
            used = try openFile(path, options, files)
            opened = Recovered(
                header: header, unsynced: false,
                mapping: try PageMapping(
                    reserving: options.reservedBytes, decrypted: options.decryptedBytesMax,
                    fileBytes: 0, codec: codec, path: path, files: files))
            claim?.close()
            claim = nil
        }
        guard let opened, let used else { throw replaced(path) }
        if claim == nil { claim = try claimFile(used, lockFile, joins: false) }
        let mapping = opened.mapping
        try mapping.extend(to: opened.header.pageCount, of: used.file)
        try lockFile.initialize(
            opened.header, identity: used.status.identity, unsynced: opened.unsynced)
        try lockFile.shareSession()
        try lockFile.claimRecord(processID: UInt64(files.processID()))
        return Store(
            path: path, options: options, file: used.file, mapping: mapping, lockFile: lockFile,
            claim: claim, fileID: opened.header.fileID, identity: used.status.identity)
    }

    /// What a process left that died while it gave the file another key: a copy, perhaps without any.
    /// Where that can't go, the realm may be opened all the same.
    private static func removeAbandoned(_ path: String, _ files: FileSystem) {
        let copy = path + rekeyingSuffix
        guard files.remove(copy) >= 0 else { return }
        for suffix in [creationSuffix, ".lock"] { _ = files.remove(copy + suffix) }
    }

    private static func notRegular(_ path: String) -> RealmError {
        RealmError(.fileOperationFailed, "'\(path)': not a regular file", path: path)
    }

    private static func replaced(_ path: String) -> RealmError {
        RealmError(
            .incompatibleSession,
            "'\(path)': the file was replaced while others have the old one open", path: path)
    }

    private struct FoundFile {
        let file: OpenFile
        let status: FileStatus
    }

    /// The file at the path; nil when there is none and it may be created.
    private static func openFile(
        _ path: String, _ options: StoreOptions, _ files: FileSystem
    ) throws(RealmError) -> FoundFile? {
        let file: OpenFile
        do throws(RealmError) {
            file = try OpenFile(path, options.readOnly ? .readOnly : .readWrite, files)
        } catch {
            guard error.code == .fileNotFound, options.create else { throw error }
            return nil
        }
        let status = try file.status()
        guard status.isRegular else { throw notRegular(path) }
        return FoundFile(file: file, status: status)
    }

    private static func claimFile(
        _ found: FoundFile, _ lockFile: LockFile, joins: Bool
    ) throws(RealmError) -> FileClaim {
        try FileClaim(
            found.file.path, found.status.identity, for: lockFile.identity, joins: joins,
            files: found.file.files)
    }

    /// Joins those who have the file open.
    private static func join(
        _ path: String, _ options: StoreOptions, _ lockFile: LockFile, _ files: FileSystem
    ) throws(RealmError) -> Store {
        guard let found = try openFile(path, options, files) else { throw replaced(path) }
        let file = found.file
        try lockFile.attach(inMemory: options.inMemory, identity: found.status.identity)
        let claim = try claimFile(found, lockFile, joins: true)
        let codec = try codec(of: file, try readStart(file), options)
        let mapping = try PageMapping(
            reserving: options.reservedBytes, decrypted: options.decryptedBytesMax,
            fileBytes: found.status.bytes, codec: codec, path: file.path, files: file.files)
        try mapping.extend(to: try presentPages(file, lockFile, codec), of: file)
        try lockFile.claimRecord(processID: UInt64(file.files.processID()))
        let store = Store(
            path: file.path, options: options, file: file, mapping: mapping, lockFile: lockFile,
            claim: claim, fileID: lockFile.fileID, identity: found.status.identity)
        var slots: [FileHeader.Slot] = []
        for slot in 0...1 { slots.append(try readSlot(file, slot, codec)) }
        for case .valid(let header) in slots where header.fileID == lockFile.fileID {
            return store
        }
        throw replaced(file.path)
    }

    /// The pages that the others count, which the file must have: reading behind its end would be
    /// a signal.
    private static func presentPages(
        _ file: OpenFile, _ lockFile: LockFile, _ codec: BlockCodec
    ) throws(RealmError) -> UInt64 {
        var pages = lockFile.filePages
        while try file.status().bytes < Int64(codec.bytes(pages: pages)) {
            // Who cuts the file first says so.
            let now = lockFile.filePages
            guard now < pages else {
                throw RealmError(
                    .invalidDatabase,
                    "'\(file.path)': the file was truncated while others have it open; they count "
                        + "\(pages) pages; all must be closed, and `realm salvage` recovers what is left",
                    path: file.path)
            }
            pages = now
        }
        return pages
    }

    private static func openImmutable(
        _ path: String, _ options: StoreOptions, _ files: FileSystem
    ) throws(RealmError) -> Store {
        let file = try OpenFile(path, .readOnly, files)
        let status = try file.status()
        guard status.isRegular else { throw notRegular(path) }
        var options = options
        options.reservedBytes = Int(max(status.bytes, 1 << 24)) + Page.size
        guard let opened = try recover(file, options, fileBytes: status.bytes, nil) else {
            throw RealmError(
                .invalidDatabase, "'\(path)': the file is empty and can't be created read-only",
                path: path)
        }
        let mapping = opened.mapping
        let lockFile = LockFile(
            privateFor: opened.header, pages: opened.header.pageCount, path: path)
        try mapping.extend(to: opened.header.pageCount, of: file)
        return Store(
            path: path, options: options, file: file, mapping: mapping, lockFile: lockFile,
            claim: nil, fileID: opened.header.fileID, identity: status.identity)
    }

    // MARK: Recovery

    private struct Recovered {
        var header: FileHeader
        /// The version may not be on stable storage.
        var unsynced: Bool
        var mapping: PageMapping
    }

    static func readSlot(
        _ file: OpenFile, _ slot: Int, _ codec: BlockCodec = .plain
    ) throws(RealmError) -> FileHeader.Slot {
        let buffer = UnsafeMutableRawPointer.allocate(
            byteCount: FileHeader.slotBytes, alignment: 8)
        defer { buffer.deallocate() }
        buffer.initializeMemory(as: UInt8.self, repeating: 0, count: FileHeader.slotBytes)
        _ = try file.read(
            buffer, count: FileHeader.slotBytes, at: Int64(FileHeader.slotOffset(slot)))
        return codec.decode(buffer, slot: slot)
    }

    /// The version to start from; nil when the file is new.
    private static func recover(
        _ file: OpenFile, _ options: StoreOptions, fileBytes: Int64, _ lockFile: LockFile?
    ) throws(RealmError) -> Recovered? {
        if fileBytes == 0 { return nil }
        let path = file.path
        func invalid(_ rule: String) -> RealmError {
            RealmError(.invalidDatabase, "'\(path)': \(rule)", path: path)
        }
        let buffer = try readStart(file)
        let codec = try codec(of: file, buffer, options)
        var headers: [FileHeader] = []
        var foreign = 0
        for slot in 0...1 {
            switch decodeSlot(buffer, slot, codec) {
            case .valid(let header): headers.append(header)
            case .blank, .damaged: break
            case .foreign: foreign += 1
            case .otherFormat(let format):
                throw RealmError(
                    .unsupportedFileFormatVersion,
                    "'\(path)': file format \(format) is not supported, this library knows formats"
                        + " 1 to \(FileHeader.formatVersionMax)")
            }
        }
        if headers.isEmpty {
            throw invalid(
                foreign > 0
                    ? "not a realm file"
                    : "no header slot is intact (only a file of 0 bytes becomes a new realm)")
        }
        headers.sortFew { $0.version > $1.version }
        if headers.contains(where: \.isInMemory) {
            // Left behind by processes that died: in-memory data ends with them.
            return nil
        }
        if options.inMemory {
            throw RealmError(
                .incompatibleSession,
                "'\(path)': holds a durable realm, which can't be opened in memory", path: path)
        }
        let synced = syncedVersion(buffer, codec)
        guard headers[0].version >= synced else {
            throw invalid("the header of version \(synced), which was complete, is damaged")
        }
        var reason = ""
        let pages = codec.pages(inBytes: fileBytes)
        let mapping = try PageMapping(
            reserving: options.reservedBytes, decrypted: options.decryptedBytesMax,
            fileBytes: fileBytes, codec: codec, path: path, files: file.files)
        for header in headers {
            // What was on stable storage does not vanish in a crash: no older version will do.
            if header.version < synced { throw lost(path, reason) }
            guard header.cipher == 0 || codec.cipher != nil else {
                throw invalid("the header names a cipher, but is not encrypted")
            }
            let fits =
                header.pageCount <= pages && header.root.page >= FileHeader.firstBlockPage
                && header.root.end <= header.pageCount
                && header.root.version == header.version && header.root.pageCount > 0
                && header.version > 0 && header.version < FileHeader.versionMax
            if fits {
                try mapping.extend(to: header.pageCount, of: file)
                // A wiped slot may still name a failed commit on the disk. (Those of new files are blank,
                // too, until their second commit.)
                var isWiped = false
                if case .blank = decodeSlot(buffer, 1 - header.slot, codec) { isWiped = true }
                if !isWiped, hasSyncRecord(mapping, header) {
                    return Recovered(header: header, unsynced: false, mapping: mapping)
                }
                // Someone who may not write leaves the rest to the first writer.
                let onlyReads = options.readOnly || options.immutable
                let problem =
                    try onlyReads
                    ? verify(header, mapping).problem : secure(header, file, mapping)
                guard let problem else {
                    return Recovered(header: header, unsynced: onlyReads, mapping: mapping)
                }
                reason = problem
                mapping.limit(to: 0)
            } else {
                reason =
                    "truncated: version \(header.version) has \(header.pageCount) pages,"
                    + " the file \(pages)"
                // No crash makes a file shorter than it was when the header was written.
                if pages < header.pagesBefore { throw lost(path, reason) }
            }
            if let lockFile, try lockFile.acknowledgedRoot(of: header.fileID) == header.root {
                throw lost(path, reason)
            }
        }
        throw invalid(reason)
    }

    /// A commit that was acknowledged can't be had any more.
    private static func lost(_ path: String, _ reason: String) -> RealmError {
        RealmError(
            .invalidDatabase,
            "'\(path)': \(reason), and it was complete; `realm salvage` recovers what is left",
            path: path)
    }

    /// Pages of a new file: two with header slots, the root of version 1.
    private static let createdPages = 3

    // MARK: Creating

    /// Makes the file with its first version: two header pages and an empty root. It gets its name
    /// only when it is complete and on stable storage, so that no crash leaves half of one; what has
    /// the name (a file of 0 bytes, an in-memory realm of dead processes) is replaced. In-memory
    /// realms are no exception, or after a power failure nobody could tell what they are.
    private static func createFile(
        _ path: String, _ options: StoreOptions, replacing old: FileStatus?, _ files: FileSystem
    ) throws(RealmError) -> (FileHeader, BlockCodec) {
        let temporary = path + creationSuffix
        do throws(RealmError) {
            // Left by a process that died; the lock for opening is held, so nobody else's.
            _ = try FileOperations.remove(temporary, files)
            let file = try OpenFile(temporary, .create, files)
            if let old { try file.takeAccess(of: old) }
            let made = try writeNewFile(file, options)
            file.close()
            try FileOperations.replace(temporary, as: path, files)
            if !options.inMemory { try FileOperations.syncName(path, files) }
            return made
        } catch {
            // Best effort: the error that matters is the first one.
            _ = try? FileOperations.remove(temporary, files)
            throw RealmError(
                error.code, "'\(path)': can't create the file: \(error.message)",
                path: error.path == nil ? nil : path)
        }
    }

    /// Of the name under which a file is made.
    static let creationSuffix = ".creating"
    /// Of the name under which a file is written that gets another encryption key.
    static let rekeyingSuffix = ".rekeying"

    private static func writeNewFile(
        _ file: OpenFile, _ options: StoreOptions
    ) throws(RealmError) -> (FileHeader, BlockCodec) {
        let random = try randomBytes(16, file)
        let id = random.withUnsafeBytes { bytes in
            FileID(
                low: bytes.loadUnaligned(as: UInt64.self),
                high: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        }
        let codec = try newCodec(file, id, options)
        let version = options.firstVersion
        let pages = createdPages
        let bytes = codec.bytes(pages: UInt64(pages))
        let buffer = UnsafeMutableRawPointer.allocate(
            byteCount: bytes + Page.size, alignment: Page.size)
        defer { buffer.deallocate() }
        buffer.initializeMemory(as: UInt8.self, repeating: 0, count: bytes + Page.size)
        let space = SpaceMap(version: version, pageCount: UInt64(pages))
        // A plain one is written from where it is made.
        let rootPage = buffer + (codec.cipher == nil ? codec.offset(2) : bytes)
        VersionRoot.encode(
            rootPage, capacity: Page.size, version: version, pageCount: UInt64(pages),
            digest: WrittenDigest(), payload: UnsafeRawBufferPointer(start: nil, count: 0),
            runs: [], blockPages: []
        ) { space.encode(version, into: $0, capacity: $1) ?? 0 }
        let header = FileHeader(
            slot: FileHeader.homeSlot(version),
            flags: options.inMemory ? FileHeader.flagInMemory : 0, fileID: id, version: version,
            root: codec.seal(
                rootPage, page: 2, pages: 1, version: version, into: buffer + codec.offset(2)
            ).reference,
            pageCount: UInt64(pages))
        codec.encode(header, into: buffer + FileHeader.slotOffset(header.slot))
        try file.write(buffer, count: bytes, at: 0, "create the file")
        try file.sync()
        return (header, codec)
    }
}
