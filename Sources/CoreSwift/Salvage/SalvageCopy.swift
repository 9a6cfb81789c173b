// Writes the rows that were found as objects of a new realm. Objects first, then their values, so that
// links find their targets; embedded objects with their owners.
//
// What can't be read is left out and reported, never guessed: a value stays null (or the zero of a
// required property), a list goes on with the next element that can be read, a link to an object that
// is lost is null or missing. Files may be forged so that what they hold has no end: there is a limit
// to how many elements are taken, and to how deep they are nested.

struct SalvageCopy {
    private let source: SalvageSource
    private let realm: Realm
    var report: SalvageReport
    /// By class key of the source: the class, and the objects that were made of its rows.
    private var targets: [ClassKey: Target] = [:]
    private var elementsLeft: UInt64

    private struct Target {
        let index: Int
        let schema: ClassSchema
        /// Keys in the source, ascending, and in the target.
        var keys: [ObjectKey] = []
        var made: [ObjectKey] = []
        /// Of an embedded class: rows that have been taken.
        var taken = Set<ObjectKey>()

        func counterpart(_ key: ObjectKey) -> ObjectKey? {
            let place = keys.partitionPoint { $0 < key }
            return place < keys.count && keys[place] == key ? made[place] : nil
        }
    }

    private static let objectsPerCommit = 50_000

    init(_ source: SalvageSource, into realm: Realm) {
        self.source = source
        self.realm = realm
        report = SalvageReport(version: source.version.number, source: source.source)
        elementsLeft = source.file.pages << UInt64(Page.shift) + 1 << 20
        for (index, item) in source.classes.enumerated() {
            guard let schema = realm.schema.class_(named: item.schema.name) else { continue }
            targets[item.schema.key] = Target(index: index, schema: schema)
            report.classes.append(
                SalvageReport.Class(
                    name: item.schema.name, isEmbedded: item.schema.kind == .embedded))
        }
    }

    mutating func run() throws(RealmError) {
        for index in source.classes.indices where !report.classes[index].isEmbedded {
            try forEachRow(index) { copy, item, leaf, row throws(RealmError) in
                try copy.create(item, leaf, row)
            }
        }
        for index in source.classes.indices where !report.classes[index].isEmbedded {
            try forEachRow(index) { copy, item, leaf, row throws(RealmError) in
                try copy.fill(item, leaf, row)
            }
        }
        for index in source.classes.indices {
            if let expected = source.classes[index].expected {
                report.classes[index].lost = max(0, expected - report.classes[index].recovered)
            }
        }
    }

    /// Calls `body` with the live rows of a class, within write transactions.
    private mutating func forEachRow(
        _ index: Int,
        _ body: (inout SalvageCopy, DamagedClass, SalvagedLeaf, Int) throws(RealmError) -> Void
    ) throws(RealmError) {
        let item = source.classes[index]
        try realm.beginWrite()
        var done = 0
        var next = ObjectKey.min
        for leaf in item.leaves {
            guard let view = try? item.admit(leaf.reference) else { continue }
            let rows = (0..<view.rows).filter {
                !view.isDead($0) && view.key($0) >= max(leaf.low, next)
                    && (view.key($0) < leaf.high || leaf.high == .max)
            }
            guard let last = rows.last else { continue }
            // Leaves of forged trees may overlap.
            let end = view.key(last)
            next = end == .max ? .max : end.advanced(by: 1)
            for row in rows {
                try body(&self, item, leaf, row)
                done += 1
                guard done == Self.objectsPerCommit else { continue }
                done = 0
                try realm.commit()
                try realm.beginWrite()
            }
        }
        try realm.commit()
    }

    // MARK: Objects

    private mutating func create(
        _ item: DamagedClass, _ leaf: SalvagedLeaf, _ row: Int
    ) throws(RealmError) {
        guard var target = targets[item.schema.key] else { return }
        let view = try item.admit(leaf.reference)
        let key = view.key(row)
        let handle: ObjectHandle
        do throws(RealmError) {
            if let primary = item.schema.primaryKeyProperty {
                let value = try item.table.value(RowPlace(view, row), key, primary.key.column)
                handle = try realm.createObject(target.schema.key, primaryKey: value)
            } else {
                handle = try realm.createObject(target.schema.key)
            }
        } catch {
            guard Self.isAboutData(error) else { throw error }
            report.lose("\(item.schema.name), object \(key): \(error.message)")
            return
        }
        // Not copied while it grows.
        targets[item.schema.key] = nil
        target.keys.append(key)
        target.made.append(handle.objectKey)
        targets[item.schema.key] = target
        handle.release()
        report.classes[target.index].recovered += 1
    }

    private mutating func fill(
        _ item: DamagedClass, _ leaf: SalvagedLeaf, _ row: Int
    ) throws(RealmError) {
        let key = try item.admit(leaf.reference).key(row)
        guard let target = targets[item.schema.key], let made = target.counterpart(key) else {
            return
        }
        let handle = try realm.object(target.schema.key, made)
        defer { handle.release() }
        try fill(handle, item, target.schema, leaf, row, depth: 0)
    }

    /// Sets all properties of an object but its primary key.
    private mutating func fill(
        _ handle: ObjectHandle, _ item: DamagedClass, _ target: ClassSchema, _ leaf: SalvagedLeaf,
        _ row: Int, depth: Int
    ) throws(RealmError) {
        for property in item.schema.properties where property.name != item.schema.primaryKey {
            guard let own = target.property(named: property.name) else { continue }
            do throws(RealmError) {
                let view = try item.admit(leaf.reference)
                let value = try item.table.value(
                    RowPlace(view, row), view.key(row), property.key.column)
                let owner = Owner(item: item, property: property, key: view.key(row))
                try set(handle, own, value, owner, depth)
            } catch {
                guard Self.isAboutData(error) else { throw error }
                let index = targets[item.schema.key]?.index ?? 0
                report.classes[index].valuesLost += 1
                let key = (try? item.admit(leaf.reference).key(row)) ?? .invalid
                report.lose(
                    "\(item.schema.name).\(property.name), object \(key): \(error.message)")
            }
        }
    }

    /// Whose value it is, for reports.
    private struct Owner {
        let item: DamagedClass
        let property: PropertySchema
        let key: ObjectKey

        var name: String { "\(item.schema.name).\(property.name), object \(key)" }
    }

    private mutating func set(
        _ handle: ObjectHandle, _ own: PropertySchema, _ value: RawValue, _ owner: Owner,
        _ depth: Int
    ) throws(RealmError) {
        let column = owner.property.key.column
        let info = owner.item.table.columns[column]
        if info.kind == .collection {
            let view = CollectionView(
                owner.item.table, column, ElementLayout(info, column: column), value.bytes)
            if view.count == 0 { return }
            return try fill(
                try handle.collection(own.key, own.collection), view, owner, depth + 1)
        }
        if let type = NestedCell.type(value) {
            guard let view = CollectionView(owner.item.table, column, value, type) else { return }
            return try fill(try handle.setCollection(own.key, type), view, owner, depth + 1)
        }
        guard value.type == ValueType.link.rawValue else {
            return try handle.setValue(own.key, value)
        }
        if let embedded = try take(value, owner, depth) {
            let made = try handle.createEmbedded(own.key)
            defer { made.release() }
            return try fill(
                made, embedded.item, embedded.schema, embedded.leaf, embedded.row,
                depth: depth + 1)
        }
        if let link = counterpart(value, owner) { try handle.setValue(own.key, link) }
    }

    // MARK: Links

    /// The link to the object that was made of the target; nil, reported, where that is lost.
    private mutating func counterpart(_ link: RawValue, _ owner: Owner) -> RawValue? {
        guard let target = targets[link.linkClass],
            let made = target.counterpart(link.linkTarget)
        else {
            if let own = targets[owner.item.schema.key] {
                report.classes[own.index].linksLost += 1
            }
            report.lose("\(owner.name): the object that it links to is lost")
            return nil
        }
        return .link(target.schema.key, made)
    }

    private struct Embedded {
        let item: DamagedClass
        let schema: ClassSchema
        let leaf: SalvagedLeaf
        let row: Int
    }

    /// The embedded object that a link leads to; nil of other links, and of those whose target is lost
    /// or has an owner already.
    private mutating func take(
        _ link: RawValue, _ owner: Owner, _ depth: Int
    ) throws(RealmError) -> Embedded? {
        guard var target = targets[link.linkClass], target.schema.kind == .embedded,
            depth < ElementLayout.depthMax
        else { return nil }
        let item = source.classes[target.index]
        let key = link.linkTarget
        guard !target.taken.contains(key), let leaf = item.leaf(of: key),
            let view = try? item.admit(leaf.reference), let row = view.row(of: key),
            !view.isDead(row)
        else { return nil }
        targets[link.linkClass] = nil
        target.taken.insert(key)
        targets[link.linkClass] = target
        report.classes[target.index].recovered += 1
        return Embedded(item: item, schema: target.schema, leaf: leaf, row: row)
    }

    // MARK: Collections

    private mutating func fill(
        _ collection: RealmCollection, _ elements: CollectionView, _ owner: Owner, _ depth: Int
    ) throws(RealmError) {
        var elements = elements
        var lost = 0
        var reason = ""
        for index in 0..<elements.count {
            guard elementsLeft > 0, depth <= ElementLayout.depthMax else {
                lost += elements.count - index
                reason = "more elements than the file can hold"
                break
            }
            elementsLeft -= 1
            do throws(RealmError) {
                try add(&elements, index, to: collection, owner, depth)
            } catch {
                guard Self.isAboutData(error) else { throw error }
                lost += 1
                if reason.isEmpty { reason = error.message }
            }
        }
        if lost == 0 { return }
        if let own = targets[owner.item.schema.key] {
            report.classes[own.index].collectionsCut += 1
            report.classes[own.index].elementsLost += lost
        }
        report.lose("\(owner.name): \(lost) of \(elements.count) elements are lost: \(reason)")
    }

    private mutating func add(
        _ elements: inout CollectionView, _ index: Int, to collection: RealmCollection,
        _ owner: Owner, _ depth: Int
    ) throws(RealmError) {
        guard elements.layout.type == .dictionary else {
            let value = try elements.value(index)
            return try add(value, elements, to: collection, key: nil, owner, depth)
        }
        let key = try Value(try elements.value(index, 0))
        try key.withRaw { key throws(RealmError) in
            let value = try elements.value(index)
            try add(value, elements, to: collection, key: key, owner, depth)
        }
    }

    private mutating func add(
        _ value: RawValue, _ elements: CollectionView, to collection: RealmCollection,
        key: RawValue?, _ owner: Owner, _ depth: Int
    ) throws(RealmError) {
        if let type = NestedCell.type(value) {
            guard let inner = CollectionView(elements.table, elements.column, value, type) else {
                return
            }
            let made =
                if let key {
                    try collection.insertNested(type, key: key, takesAnyKey: true)
                } else {
                    try collection.insertNested(type, at: try collection.count())
                }
            return try fill(made, inner, owner, depth + 1)
        }
        var value = value
        if value.type == ValueType.link.rawValue {
            if let embedded = try take(value, owner, depth) {
                let made =
                    if let key {
                        try collection.insertEmbedded(key: key)
                    } else {
                        try collection.insertEmbedded(at: try collection.count())
                    }
                defer { made.release() }
                return try fill(
                    made, embedded.item, embedded.schema, embedded.leaf, embedded.row,
                    depth: depth + 1)
            }
            guard let link = counterpart(value, owner) else { return }
            value = link
        }
        if let key {
            _ = try collection.insert(value, key: key, takesAnyKey: true)
        } else if elements.layout.type == .set {
            _ = try collection.insert(value)
        } else {
            try collection.insert(value, at: try collection.count())
        }
    }

    /// Whether an error says that something of the damaged file can't be had, or can't be a value of the
    /// new one; others are about writing that.
    private static func isAboutData(_ error: RealmError) -> Bool {
        switch error.code {
        case .invalidDatabase, .objectAlreadyExists, .limitExceeded: true
        default:
            error.code.rawValue >= ErrorCode.invalidArgument.rawValue
                && error.code.rawValue < ErrorCode.invalidArgument.rawValue + 1000
        }
    }
}
