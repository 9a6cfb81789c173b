// Giving a file another encryption key, its first one, or none. Everything in a file is sealed with keys
// that come from its header, so all of it is written anew: to a file beside it, which then takes its place.

extension Realm {
    /// Encrypts the file at `path` with `newKey` instead of `oldKey`; an empty one stands for none. The
    /// file is compact afterwards, and has the change log that it had. It is either changed as a whole, when this
    /// returns, or not at all; meanwhile nobody can open it.
    ///
    /// Throws `.deleteOpenedRealm` when the realm is open in any process, `.fileNotFound` and the other errors
    /// of files, also for one with several names (hard links), `.invalidDatabase` when the old key is not the file's, `.invalidEncryptionKey` for keys of a wrong
    /// size.
    public static func changeEncryptionKey(
        _ path: String, from oldKey: [UInt8], to newKey: [UInt8]
    ) throws(RealmError) {
        try changeEncryptionKey(path, from: oldKey, to: newKey, files: SystemCalls.shared)
    }

    static func changeEncryptionKey(
        _ path: String, from oldKey: [UInt8], to newKey: [UInt8], files: FileSystem
    ) throws(RealmError) {
        for key in [oldKey, newKey] where !key.isEmpty { try FileCipher.checkSize(key) }
        let real = try FileOperations.realPath(path, files)
        try whileUnused(
            real, path, before: "changing the key of its file", files
        ) { () throws(RealmError) in try rewrite(real, from: oldKey, to: newKey, files) }
    }

    /// With the file held against everybody else, so it is read without locks.
    private static func rewrite(
        _ path: String, from oldKey: [UInt8], to newKey: [UInt8], _ files: FileSystem
    ) throws(RealmError) {
        var options = StoreOptions()
        options.immutable = true
        options.create = false
        options.encryptionKey = oldKey
        let temporary = path + Store.rekeyingSuffix
        let store = try Store.open(path: path, options: options, files: files)
        do throws(RealmError) {
            // Left by a process that died.
            _ = try FileOperations.remove(temporary, files)
            let status = try store.file.status()
            guard status.links <= 1 else {
                throw RealmError(
                    .fileOperationFailed,
                    "'\(path)' has \(status.links) names (hard links), of which the others would keep what it holds"
                        + " under the old key: remove those first", path: path)
            }
            try OpenFile(temporary, .create, files).takeAccess(of: status)
            try TableSet.withNewest(store) { tables throws(RealmError) in
                try write(
                    tables, to: temporary, key: newKey, keepsLog: true, files)
            }
            try store.close()
            try FileOperations.replace(temporary, as: path, files)
            // What fails from here on is no failure: the file has the new key.
            try? FileOperations.syncName(path, files)
        } catch {
            // Best effort: the error that matters is the first one.
            try? store.close()
            _ = try? FileOperations.remove(temporary, files)
            _ = try? FileOperations.remove(temporary + ".lock", files)
            throw error
        }
    }
}
