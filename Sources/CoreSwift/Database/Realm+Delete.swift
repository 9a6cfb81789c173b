// Deleting the files of a realm.

extension Realm {
    /// Deletes the realm file at `path` and what belongs to it, except the lock file, which other
    /// processes may be waiting on. True when there was a realm file.
    ///
    /// Throws `.deleteOpenedRealm` when the realm is open in any process, and
    /// `.filePermissionDenied` or `.fileOperationFailed` when the system refuses.
    @discardableResult
    public static func deleteFiles(_ path: String) throws(RealmError) -> Bool {
        try deleteFiles(path, files: SystemCalls.shared)
    }

    static func deleteFiles(_ path: String, files: FileSystem) throws(RealmError) -> Bool {
        func inUse() -> RealmError {
            RealmError(
                .deleteOpenedRealm,
                "'\(path)' is open: close every realm before deleting its files",
                path: path)
        }
        // Realms opened as immutable hold no locks.
        if FileRegistry.shared.isOpen(path) { throw inUse() }
        var wasThere = false
        let isUnused = try LockFile.whileUnused(path, files: files) { () throws(RealmError) in
            wasThere = try FileOperations.remove(path, files)
            _ = try FileOperations.remove(path + ".note", files)
            _ = try FileOperations.remove(path + ".log", files)
            _ = try FileOperations.removeTree(path + ".management", files)
        }
        guard isUnused else { throw inUse() }
        return wasThere
    }
}
