// Whether somebody has a realm file open: for tools that change a file under nobody's feet.

extension Realm {
    /// Whether the realm at `path` is open, in this process or another. Realms opened as immutable in
    /// other processes hold no locks and are not noticed. Creates and changes nothing.
    package static func isOpenAnywhere(_ path: String) throws(RealmError) -> Bool {
        let files = SystemCalls.shared
        let real = try FileOperations.realPath(path, files)
        if FileRegistry.shared.isOpen(real) { return true }
        var isHeld = false
        let isUnused = try LockFile.whileUnused(
            real, files: files, creates: false
        ) { () throws(RealmError) in
            // By way of another lock file, as under a hard link.
            isHeld = try FileClaim.isHeld(real, files)
        }
        return !isUnused || isHeld
    }
    /// Runs `body` while nobody can open the file at `path`, whose resolved path is `real`; `.deleteOpenedRealm`
    /// where somebody has it open. `what`: what that is to be closed before.
    static func whileUnused(
        _ real: String, _ path: String, before what: String, _ files: FileSystem,
        _ body: () throws(RealmError) -> Void
    ) throws(RealmError) {
        func inUse() -> RealmError {
            RealmError(
                .deleteOpenedRealm, "'\(path)' is open: close every realm before \(what)",
                path: path)
        }
        // Realms opened as immutable hold no locks.
        if FileRegistry.shared.isOpen(real) { throw inUse() }
        let isUnused = try LockFile.whileUnused(real, files: files) { () throws(RealmError) in
            // By way of another lock file: under a hard link, or one that was deleted in use.
            if try FileClaim.isHeld(real, files) { throw inUse() }
            try body()
        }
        guard isUnused else { throw inUse() }
    }
}
