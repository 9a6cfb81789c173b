// Making sure that nobody has a realm file open, without opening it: for deleting its files.

extension LockFile {
    /// Runs `body` while nobody has the file beside `path` open and nobody can open it; false,
    /// without a call, when somebody has. Readers of files that never change ("immutable") hold no
    /// locks and are not noticed.
    static func whileUnused(
        _ path: String, files: FileSystem, _ body: () throws(RealmError) -> Void
    ) throws(RealmError) -> Bool {
        let lockFile: OpenFile
        do throws(RealmError) {
            lockFile = try OpenFile(path + ".lock", .readWrite, files)
        } catch {
            guard error.code == .fileNotFound else { throw error }
            // Whoever opens a realm creates the lock file first.
            try body()
            return true
        }
        defer { lockFile.close() }
        // Both in the order of `Store.open`: first the brief one for opening.
        _ = try lockFile.lock(byteOpen, .exclusive, wait: true)
        guard try lockFile.lock(byteSession, .exclusive, wait: false) else { return false }
        try body()
        return true
    }
}
