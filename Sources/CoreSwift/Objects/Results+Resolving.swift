// The counterparts of objects and results in another realm of the same file: how they get from a
// live realm to a frozen one, and back. Called by the C ABI; `Realm.freeze` makes the frozen realm.

extension ObjectHandle {
    /// The same object in `target`; nil when it is not there, also because it was deleted here.
    package func resolved(in target: Realm) throws(RealmError) -> ObjectHandle? {
        let tables = try target.readTables()
        try realm.checkSameFile(target)
        guard isValid, let table = tables.table(classKey), let place = try table.find(objectKey)
        else { return nil }
        return ObjectHandle.make(target.session, table, objectKey, place)
    }
}

extension Realm {
    func checkSameFile(_ other: Realm) throws(RealmError) {
        // By path, too: a file that was closed may have been opened anew.
        guard file !== other.file && path != other.path else { return }
        throw RealmError(
            .illegalOperation,
            "'\(path)' and '\(other.path)' are different files: nothing of one is in the other")
    }
}
