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
        // The lock file is beside the file that links lead to.
        let real: String
        do throws(RealmError) {
            real = try FileOperations.realPath(path, files)
        } catch {
            guard error.code == .fileNotFound else { throw error }
            return false
        }
        var wasThere = false
        try whileUnused(real, path, before: "deleting its files", files) { () throws(RealmError) in
            wasThere = try FileOperations.remove(real, files)
            let copy = Store.rekeyingSuffix
            for suffix in [
                Store.creationSuffix, copy, copy + Store.creationSuffix, copy + ".lock", ".note",
                ".log",
            ] {
                _ = try FileOperations.remove(real + suffix, files)
            }
            _ = try FileOperations.removeTree(real + ".management", files)
            // A link to the file leads to nothing now. A path with other names for directories in
            // it does so as well.
            _ = try FileOperations.remove(path, files)
        }
        return wasThere
    }
}
