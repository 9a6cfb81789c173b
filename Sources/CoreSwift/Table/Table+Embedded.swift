// Embedded objects: rows that belong to exactly one owner, which links to them. They are created
// in the place that owns them and deleted when it lets go of them.

/// An embedded object, as its owner names it.
struct OwnedObject {
    let table: Table
    let key: ObjectKey
}

extension Table {
    /// The embedded object that a value of this table owns.
    func ownedObject(_ value: RawValue) -> OwnedObject? {
        guard value.type == ValueType.link.rawValue,
            let target = state.tables[value.linkClass.index], target.state.isEmbedded
        else { return nil }
        return OwnedObject(table: target, key: value.linkTarget)
    }

    /// Links to embedded objects change by creating the object in its place; the only value that
    /// can be assigned is null, which deletes it.
    func clearEmbedded(
        _ place: RowPlace, _ key: ObjectKey, _ index: Int, _ value: RawValue, _ target: Table
    ) throws(RealmError) -> RowPlace {
        guard value.isNull else {
            throw RealmError(
                .illegalOperation,
                "property \(named(column: index)) holds an embedded "
                    + "object; it is created in its place, not assigned")
        }
        try willSet(place, key, index, .null)
        let old = try self.value(place, key, index)
        if old.isNull { return place }
        let changed = try store(place, key, index, state.columns[index], .null)
        try target.deleteRow(old.linkTarget, isOwned: true)
        return try find(key) ?? changed
    }

    /// A new embedded object in a link property; one that was there is deleted.
    func createEmbedded(_ key: ObjectKey, _ index: Int) throws(RealmError) -> ObjectKey {
        let info = state.columns[index]
        guard let target = state.tables[info.linkTarget.index],
            let before = try find(key)
        else {
            throw RealmError(
                .invalidatedObject,
                "object \(key) of \(named) is not there")
        }
        let old = try value(before, key, index)
        let (child, _) = try target.createSequential()
        // Creating it may have moved the row.
        guard let place = try find(key) else { return child }
        let link = RawValue.link(info.linkTarget, child)
        try willSet(place, key, index, link)
        _ = try store(place, key, index, info, link)
        if !old.isNull { try target.deleteRow(old.linkTarget, isOwned: true) }
        return child
    }

    /// The owner of an embedded object: its class and key.
    func owner(of key: ObjectKey) throws(RealmError) -> (classKey: ClassKey, key: ObjectKey)? {
        for (source, column) in state.incoming {
            guard let table = state.tables[source.index] else { continue }
            let sources = try table.sources(of: key, in: state.classKey, column: column)
            if let first = sources.first { return (source, first) }
        }
        return nil
    }
}
