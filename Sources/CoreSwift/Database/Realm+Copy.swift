// Writing a snapshot to a file of its own.

extension Realm {
    /// Writes what this realm sees, uncommitted changes included, to a new compact file.
    ///
    /// Throws `.fileAlreadyExists` when there is something at `path`, `.fileNotFound` when its
    /// directory is missing. The file appears under its name only when it is complete and on
    /// stable storage. It is encrypted with `encryptionKey`, if that is not empty; whether this realm
    /// is, and with what, makes no difference.
    public func writeCopy(
        to path: String, encryptionKey: [UInt8] = []
    ) throws(RealmError) {
        try writeCopy(to: path, encryptionKey: encryptionKey, files: SystemCalls.shared)
    }

    func writeCopy(
        to path: String, encryptionKey: [UInt8] = [], files: FileSystem
    ) throws(RealmError) {
        if !encryptionKey.isEmpty { try FileCipher.checkSize(encryptionKey) }
        let tables = try readTables()
        if tables.isWriting { try tables.settle() }
        guard try !FileOperations.exists(path, files) else {
            throw RealmError(
                .fileAlreadyExists, "'\(path)': can't write a copy, the file exists", path: path)
        }
        let temporary = Self.temporaryPath(path, files)
        do throws(RealmError) {
            _ = try FileOperations.remove(temporary, files)
            try Self.write(tables, to: temporary, key: encryptionKey, files)
            try FileOperations.place(temporary, as: path, files)
        } catch {
            // Best effort: the error that matters is the first one.
            _ = try? FileOperations.remove(temporary, files)
            _ = try? FileOperations.remove(temporary + ".lock", files)
            guard error.path != nil else { throw error }
            throw RealmError(
                error.code, "'\(path)': can't write a copy: \(error.message)", path: path)
        }
    }

    /// A name for what becomes the file `path`, in its folder: unique within the process; what a dead process left
    /// under it is overwritten. No name of a file beside it is longer than names may be.
    private static func temporaryPath(_ path: String, _ files: FileSystem) -> String {
        let suffix = ".copy-\(files.processID())-\(nextCopyNumber())"
        let nameBytes = path.utf8.reversed().prefix { $0 != UInt8(ascii: "/") }.count
        var surplus = nameBytes + suffix.utf8.count + Store.creationSuffix.utf8.count - 255
        var kept = path.unicodeScalars
        while surplus > 0, let last = kept.popLast() { surplus -= UTF8.width(last) }
        return String(kept) + suffix
    }

    /// Closes the realm, which has to be the only one of its file, and gives the file the name `path`. Throws
    /// `.fileAlreadyExists` when there is something of that name; the file keeps the one it had then.
    package func close(placingAs path: String) throws(RealmError) {
        try checkUsable()
        guard !isWritable else {
            throw RealmError(
                .wrongTransactionState,
                "'\(self.path)' can't be placed: a write transaction is open")
        }
        let old = self.path
        let files = file.store.files
        // What is free behind the last block goes.
        endReadingForGood()
        if let lease = try file.store.beginWrite(wait: false) {
            do throws(RealmError) { file.store.unpin(try lease.publishTrim().version) } catch {
                lease.abandon()
                throw error
            }
        }
        close()
        guard !file.isUsed else {
            throw RealmError(
                .wrongTransactionState, "'\(old)' can't be placed: other realms have it open")
        }
        try FileOperations.place(old, as: path, files)
        _ = try FileOperations.remove(old + ".lock", files)
    }

    private static let copyLock = Lock.forProcess()
    private nonisolated(unsafe) static var copyCount = 0

    private static func nextCopyNumber() -> Int {
        copyLock.withLock {
            copyCount += 1
            return copyCount
        }
    }

    static func write(
        _ tables: TableSet, to path: String, key: [UInt8], keepsLog: Bool = false,
        _ files: FileSystem
    ) throws(RealmError) {
        let copy = TreeCopy(tables, keepsLog: keepsLog)
        try copy.measure()
        var options = StoreOptions(firstVersion: tables.version)
        options.encryptionKey = key
        let store = try Store.open(path: path, options: options, files: files)
        do throws(RealmError) {
            guard let lease = try store.beginWrite(wait: true) else {
                throw RealmError(.fileOperationFailed, "'\(path)': somebody else writes the copy")
            }
            let builder = try lease.prepareCommit(pages: copy.pages, freed: [])
            let pin = try copy.publish(builder)
            store.unpin(pin.version)
        } catch {
            // The copy is given up; so is what closing it might report.
            try? store.close()
            throw error
        }
        try store.close()
        _ = try FileOperations.remove(path + ".lock", files)
    }
}

// MARK: Converting

extension Realm {
    /// Writes what this realm sees to the file of `configuration`, of which only path and key
    /// count. An existing file is an error, or with `merging` takes the objects over: every
    /// object is created or found by its primary key `_id`, and the values of this realm win; see
    /// `merge(into:)`.
    package func convert(
        to configuration: Configuration, merging: Bool
    ) throws(RealmError) {
        let path = configuration.path
        let key = configuration.encryptionKey
        if !key.isEmpty { try FileCipher.checkSize(key) }
        if merging, try FileOperations.exists(path, SystemCalls.shared) {
            return try merge(into: path, encryptionKey: key)
        }
        try writeCopy(to: path, encryptionKey: key)
    }
}
