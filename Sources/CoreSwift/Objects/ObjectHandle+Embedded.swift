// Embedded objects: made in the place that owns them, and their way back to the owner.

extension ObjectHandle {
    /// A new embedded object in a link property; one that was there is deleted.
    package func createEmbedded(_ propertyKey: PropertyKey) throws(RealmError) -> ObjectHandle {
        _ = try row()
        let table = table
        let column = try Self.column(table, propertyKey)
        let info = table.columns[column]
        guard info.kind == .link else {
            throw RealmError(
                .propertyTypeMismatch,
                "property \(table.named(column: column)) is no link to one object")
        }
        guard let target = table.table(info.linkTarget),
            target.isEmbedded
        else {
            throw RealmError(
                .illegalOperation,
                "property \(table.named(column: column)) links to objects that are not "
                    + "embedded; create them on their own")
        }
        guard session.pointee.status == .writing else { throw realm.notWriting() }
        let key = try table.createEmbedded(objectKey, column)
        return try realm.object(info.linkTarget, key)
    }

    /// The object that owns this embedded one; `.topLevelObject` for objects of other classes.
    package func parent() throws(RealmError) -> ObjectHandle {
        // Of objects that were deleted, too.
        if !realm.isClosed, realm.schema.class_(classKey)?.kind == .topLevel {
            throw RealmError(.topLevelObject, "\(named) is not embedded")
        }
        guard isValid else { throw RealmError(.noSuchObject, "\(named) was deleted") }
        _ = try row()
        guard table.isEmbedded else {
            throw RealmError(
                .topLevelObject, "objects of \(table.named) are not embedded")
        }
        guard let owner = try table.owner(of: objectKey) else {
            throw RealmError(
                .invalidDatabase,
                "embedded object \(objectKey) of \(table.named) has no owner")
        }
        return try realm.object(owner.classKey, owner.key)
    }
}
