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
}
