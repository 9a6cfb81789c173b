// The summary of changes from the change log: what came of the operations of some versions together.

extension ChangeSummary {
    /// What lies between two versions of one file, of which both are at hand: by the log of the newer
    /// one, or where that does not reach, by comparing them.
    static func make(from old: TableSet, to new: TableSet) throws(RealmError) -> ChangeSummary {
        if old.store === new.store, !new.isWriting, !old.isWriting,
            let logged = try logged(from: old.version, to: new)
        {
            return logged
        }
        return try VersionComparison(from: old, to: new).summary()
    }

    /// What led from a version to another, which is at hand, by its log alone; nil where the log does
    /// not reach that far, or a version in between changed the schema.
    static func logged(
        from version: UInt64, to new: TableSet
    ) throws(RealmError) -> ChangeSummary? {
        if version == new.version { return ChangeSummary() }
        guard let log = ChangeLog(new),
            var operations = try log.changes(from: version, to: new.version)?.withoutUnwritten
        else { return nil }
        var builder = SummaryBuilder(new)
        while let operation = try operations.next() {
            guard try builder.add(operation) else { return nil }
        }
        return builder.finish()
    }
}

private struct SummaryBuilder {
    private struct Column: Hashable {
        let classKey: ClassKey
        let column: Int
    }
    private struct Place: Hashable {
        let classKey: ClassKey
        let name: CollectionChanges.Name
    }

    private let tables: TableSet
    private var classes: [ClassKey: ClassChanges] = [:]
    /// Objects that were created and deleted on the way.
    private var vanished: [ClassKey: KeyRanges] = [:]
    private var columns: [Column: KeyRanges] = [:]
    private var collections: [Place: CollectionChanges] = [:]

    init(_ tables: TableSet) { self.tables = tables }

    /// False for one that says no more than that there was something.
    mutating func add(_ operation: ChangeOperation) throws(RealmError) -> Bool {
        switch operation {
        case .version, .initial: break
        case .schemaChanged: return false
        case .deleted(let classKey, let range):
            // What was created meanwhile is as if it had never been.
            var gone = KeyRanges()
            gone.insert(range)
            let known = classes[classKey, default: ClassChanges(classKey)]
            let made = known.inserted.intersection(gone)
            gone.subtract(made)
            classes[classKey]?.inserted.subtract(made)
            vanished[classKey, default: KeyRanges()].formUnion(made)
            classes[classKey, default: ClassChanges(classKey)].deleted.formUnion(gone)
        case .created(let classKey, let range):
            classes[classKey, default: ClassChanges(classKey)].inserted.insert(range)
        case .set(let classKey, let range, let column, _),
            .nulled(let classKey, let range, let column):
            columns[Column(classKey: classKey, column: column), default: KeyRanges()].insert(range)
        case .added(let classKey, let key, let column, _):
            columns[Column(classKey: classKey, column: column), default: KeyRanges()].insert(key)
        case .collection(let place, let operation, _): add(place, operation)
        }
        return true
    }

    private mutating func add(_ place: CollectionPlaceInLog, _ operation: CollectionOperation) {
        let column = Column(classKey: place.classKey, column: place.column)
        columns[column, default: KeyRanges()].insert(place.key)
        guard let property = property(column) else { return }
        let name = CollectionChanges.Name(
            key: place.key, property: property, number: place.number)
        let fresh = CollectionChanges(name: name, type: place.type, countBefore: place.countBefore)
        collections[Place(classKey: place.classKey, name: name), default: fresh].append(operation)
    }

    /// Nil for one that was dropped since.
    private func property(_ column: Column) -> PropertyKey? {
        guard let table = tables.table(column.classKey), column.column < table.columnCount,
            !table.columns[column.column].isVacated
        else { return nil }
        return table.columns[column.column].propertyKey
    }

    func finish() -> ChangeSummary {
        var classes = classes
        for (column, keys) in columns.sortedFew(by: { $0.key.column < $1.key.column }) {
            guard let property = property(column) else { continue }
            var item = classes[column.classKey] ?? ClassChanges(column.classKey)
            var left = keys
            left.subtract(item.inserted)
            left.subtract(item.deleted)
            left.subtract(vanished[column.classKey] ?? KeyRanges())
            if !left.isEmpty {
                item.properties.append(PropertyChanges(property: property, keys: left))
                item.modified.formUnion(left)
            }
            classes[column.classKey] = item
        }
        for (place, changes) in collections {
            guard classes[place.classKey]?.modified.contains(place.name.key) == true else {
                continue
            }
            classes[place.classKey]?.collections.append(changes)
        }
        var result = ChangeSummary()
        for key in classes.keys.sortedFew(by: { $0.rawValue < $1.rawValue }) {
            guard var item = classes[key], !item.isEmpty else { continue }
            item.collections.sortFew { $0.name < $1.name }
            result.classes.append(item)
        }
        return result
    }
}
