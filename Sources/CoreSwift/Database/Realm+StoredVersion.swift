// The schema version of a file that need not be open.

extension Realm {
    /// The program's schema version stored in the file at `path`; nil if it was never given one,
    /// or if there is no file. Creates and changes nothing.
    public static func storedSchemaVersion(
        _ path: String, encryptionKey: [UInt8] = []
    ) throws(RealmError) -> UInt64? {
        if !encryptionKey.isEmpty { try FileCipher.checkSize(encryptionKey) }
        let files = SystemCalls.shared
        guard try FileOperations.exists(path, files) else { return nil }
        // An empty file is as good as none: opening would make it a realm.
        if try OpenFile(path, .readOnly, files).status().bytes == 0 { return nil }
        var options = StoreOptions()
        options.encryptionKey = encryptionKey
        options.readOnly = true
        options.create = false
        let store = try Store.open(path: path, options: options, files: files)
        let version: UInt64
        do throws(RealmError) {
            version = try TableSet.withNewest(store) { $0.schemaVersion }
        } catch {
            try store.close()
            throw error
        }
        try store.close()
        return version == Catalog.unversioned ? nil : version
    }
}
