// Making sure that nobody has a realm file open, without opening it: for deleting its files.

extension LockFile {
    /// The lock file at a path, opened twice, with the lock for opening and closing on the first. The file
    /// of an in-memory realm is removed under that lock: who waited for it meanwhile has one that nobody
    /// finds any more, and begins again. `user`: the realm file, whose users may use a lock file that is made.
    static func enter(
        _ path: String, _ access: FileAccess, _ files: FileSystem, for user: String? = nil
    ) throws(RealmError) -> (file: OpenFile, second: OpenFile, identity: FileIdentity) {
        while true {
            let file = try OpenFile(path, access, files)
            let status = try file.status()
            guard status.isRegular else {
                throw RealmError(
                    .fileOperationFailed, "'\(path)': not a regular file", path: path)
            }
            _ = try file.lock(byteOpen, .exclusive, wait: true)
            let second: OpenFile
            do throws(RealmError) {
                second = try OpenFile(path, .readWrite, files)
            } catch {
                guard error.code == .fileNotFound else { throw error }
                continue
            }
            if try second.status().identity == status.identity {
                // Nothing is wrong where there is no realm yet, or the lock file is somebody else's.
                if status.bytes == 0, let user, let realm = try? OpenFile(user, .readOnly, files) {
                    try? file.takeAccess(of: try realm.status())
                }
                return (file, second, status.identity)
            }
        }
    }

    /// Runs `body` while nobody has the file beside `path` open and nobody can open it; false,
    /// without a call, when somebody has. Readers of files that never change ("immutable") hold no
    /// locks and are not noticed. `creates`: where there is no lock file, one is there meanwhile.
    static func whileUnused(
        _ path: String, files: FileSystem, creates: Bool = true,
        _ body: () throws(RealmError) -> Void
    ) throws(RealmError) -> Bool {
        let lockFile: OpenFile
        var isMade = false
        do throws(RealmError) {
            lockFile = try enter(path + ".lock", .readWrite, files).file
        } catch {
            guard error.code == .fileNotFound else { throw error }
            guard creates else {
                try body()
                return true
            }
            do throws(RealmError) {
                lockFile = try enter(path + ".lock", .create, files).file
                isMade = true
            } catch {
                guard [.filePermissionDenied, .fileNotFound].contains(error.code) else {
                    throw error
                }
                // Where none can be made, nobody else makes one: whoever opens a realm does first.
                try body()
                return true
            }
        }
        defer { lockFile.close() }
        // Both in the order of `Store.open`: first the brief one for opening.
        guard try lockFile.lock(byteSession, .exclusive, wait: false) else { return false }
        // One that was not there does not stay; who waits for it begins again.
        defer { if isMade { _ = files.remove(path + ".lock") } }
        try body()
        return true
    }
}
