// Which objects of two files are the same: by primary key where their class has one, else by object
// key; embedded objects by where they are in their owners. Says what key an object of the newer file
// has, or is to get, in the older one.
//
// Invariant: no two objects of a class get one key, and one that is new gets a key that no object of
// the older file has.

/// A class of both files, with its properties by their columns.
struct ComparedClass {
    let old: Table
    let new: Table
    let columns: [(old: Int, new: Int)]

    /// The classes of both, which must be the same, with the same properties; their order is free.
    static func all(_ old: TableSet, _ new: TableSet) throws(RealmError) -> [ComparedClass] {
        func misfit(_ what: String) -> RealmError {
            RealmError(.schemaMismatch, "cannot compare: \(what)")
        }
        var result: [ComparedClass] = []
        for item in new.schema.classes {
            guard let first = old.schema.class_(named: item.name),
                let before = old.table(first.key), let after = new.table(item.key)
            else { throw misfit("class \(item.name) is in one of both only") }
            guard first.kind == item.kind, first.primaryKey == item.primaryKey else {
                throw misfit("class \(item.name) has another kind or primary key")
            }
            var columns: [(old: Int, new: Int)] = []
            for property in item.properties {
                let name = "property \(item.name).\(property.name)"
                guard let was = first.properties.first(where: { $0.name == property.name }) else {
                    throw misfit("\(name) is in one of both only")
                }
                guard was.type == property.type, was.collection == property.collection,
                    was.linkTarget == property.linkTarget, was.isNullable == property.isNullable
                else { throw misfit("\(name) has another type") }
                columns.append((was.key.column, property.key.column))
            }
            if let more = first.properties.first(where: { was in
                !item.properties.contains { $0.name == was.name }
            }) {
                throw misfit("property \(item.name).\(more.name) is in one of both only")
            }
            result.append(ComparedClass(old: before, new: after, columns: columns))
        }
        if let more = old.schema.classes.first(where: { new.schema.class_(named: $0.name) == nil })
        {
            throw misfit("class \(more.name) is in one of both only")
        }
        return result
    }
}

struct ObjectMatch {
    struct Pair {
        let old: ObjectKey
        let new: ObjectKey
    }

    /// The class key on the older side by that on the newer one.
    private var classes: [ClassKey: ClassKey] = [:]
    /// By class of the newer side; of classes that are not there, keys are the same.
    private var keys: [ClassKey: [ObjectKey: ObjectKey]] = [:]
    private var pairs: [ClassKey: [Pair]] = [:]

    init(_ compared: [ComparedClass]) throws(RealmError) {
        for pair in compared { classes[pair.new.classKey] = pair.old.classKey }
        for pair in compared where !pair.old.isEmbedded {
            try matchPrimaryKeys(pair)
            if keys[pair.new.classKey] != nil { try assignRest(pair) }
        }
        let embedded = Dictionary(
            uniqueKeysWithValues: compared.filter { $0.old.isEmbedded }.map {
                ($0.new.classKey, $0)
            })
        for key in embedded.keys { keys[key] = [:] }
        for pair in compared where !pair.old.isEmbedded && !embedded.isEmpty {
            guard pair.columns.contains(where: { owned(pair.new, $0.new, embedded) != nil })
            else { continue }
            try pair.new.forEachRow { key throws(RealmError) in
                let other = oldKey(pair.new.classKey, key)
                guard try pair.old.find(other) != nil else { return }
                try matchOwned(pair, other, key, embedded)
            }
        }
        for pair in embedded.values { try assignRest(pair) }
        for (classKey, map) in keys {
            pairs[classKey] = map.map { Pair(old: $0.value, new: $0.key) }
                .sortedFew { $0.old < $1.old }
        }
    }

    // MARK: Asking

    func oldKey(_ classKey: ClassKey, _ key: ObjectKey) -> ObjectKey {
        keys[classKey]?[key] ?? key
    }

    /// All objects of a class of the newer side, ascending by their keys on the older one; nil: the
    /// keys are the same.
    func newKeys(of classKey: ClassKey) -> [Pair]? { pairs[classKey] }

    /// A value as the older side has it.
    func translated(_ value: RawValue) -> RawValue {
        guard value.type == ValueType.link.rawValue, !value.isNull else { return value }
        let target = value.linkClass
        return .link(classes[target] ?? target, oldKey(target, value.linkTarget))
    }

    // MARK: Matching

    private mutating func matchPrimaryKeys(_ pair: ComparedClass) throws(RealmError) {
        let column = pair.new.primaryKeyColumn
        guard column >= 0 else { return }
        // Most integers are the object keys themselves.
        if pair.old.hasIntegerKey, pair.new.hasIntegerKey,
            try pair.old.liveKeys(from: IntegerKeys.indirectBase).isEmpty,
            try pair.new.liveKeys(from: IntegerKeys.indirectBase).isEmpty
        {
            return
        }
        var map: [ObjectKey: ObjectKey] = [:]
        try pair.new.forEachRow { key throws(RealmError) in
            guard let place = try pair.new.find(key) else { return }
            let value = try pair.new.value(place, key, column)
            if let known = try pair.old.findPrimaryKey(value) {
                map[key] = known
            } else if pair.old.hasIntegerKey, let direct = IntegerKeys.direct(value) {
                map[key] = direct
            }
        }
        keys[pair.new.classKey] = map
    }

    private func owned(
        _ table: Table, _ column: Int, _ embedded: [ClassKey: ComparedClass]
    ) -> ComparedClass? {
        let info = table.columns[column]
        return info.valueKind == .link ? embedded[info.linkTarget] : nil
    }

    /// Matches what two objects own that are the same.
    private mutating func matchOwned(
        _ pair: ComparedClass, _ old: ObjectKey, _ new: ObjectKey,
        _ embedded: [ClassKey: ComparedClass]
    ) throws(RealmError) {
        for column in pair.columns {
            guard let child = owned(pair.new, column.new, embedded) else { continue }
            let before = try children(pair.old, old, column.old)
            let after = try children(pair.new, new, column.new)
            let pairs =
                pair.new.columns[column.new].collection == .list
                ? try matchList(child, before, after, embedded) : Self.match(before, after)
            for (was, now) in pairs {
                keys[child.new.classKey, default: [:]][now] = was
                try matchOwned(child, was, now, embedded)
            }
        }
    }

    /// Embedded objects of a property; of a dictionary with their keys.
    private func children(
        _ table: Table, _ key: ObjectKey, _ column: Int
    ) throws(RealmError) -> [(name: String, key: ObjectKey)] {
        guard let place = try table.find(key) else { return [] }
        let info = table.columns[column]
        var result: [(name: String, key: ObjectKey)] = []
        guard info.kind == .collection else {
            let value = try table.value(place, key, column)
            return value.isNull ? [] : [("", value.linkTarget)]
        }
        guard var view = try CollectionView(table, place, column, info.collection) else {
            return []
        }
        for index in 0..<view.count {
            let value = try view.value(index)
            if value.isNull { continue }
            var name = ""
            if info.collection == .dictionary {
                name = String(decoding: try view.value(index, 0).bytes, as: UTF8.self)
            }
            result.append((name, value.linkTarget))
        }
        return result
    }

    /// Who is who in two lists: by object key, as in copies of one file, or by place, as in files that were made
    /// apart, whose keys say nothing; whichever finds more of the same values. Where nothing differs, place by place,
    /// nothing has to move.
    private func matchList(
        _ pair: ComparedClass, _ old: [(name: String, key: ObjectKey)],
        _ new: [(name: String, key: ObjectKey)], _ embedded: [ClassKey: ComparedClass]
    ) throws(RealmError) -> [(ObjectKey, ObjectKey)] {
        let byKey = Self.match(old, new)
        let byPlace = zip(old, new).map { ($0.key, $1.key) }
        if byPlace.allSatisfy(==) { return byKey }
        let placed = try alike(pair, byPlace, embedded)
        let keyed = try alike(pair, byKey, embedded)
        if placed != keyed { return placed > keyed ? byPlace : byKey }
        guard old.count == new.count, placed == old.count else { return byKey }
        for (was, now) in byPlace where try !isSame(pair, was, now, embedded) { return byKey }
        return byPlace
    }

    /// Whether two embedded objects have the same values, with all that they hold. Recursion ends with the depth of
    /// embedded objects.
    private func isSame(
        _ pair: ComparedClass, _ old: ObjectKey, _ new: ObjectKey,
        _ embedded: [ClassKey: ComparedClass]
    ) throws(RealmError) -> Bool {
        guard let was = try pair.old.find(old), let now = try pair.new.find(new) else {
            return false
        }
        var left = LogBytes()
        defer { left.deallocate() }
        var right = LogBytes()
        defer { right.deallocate() }
        for column in pair.columns {
            guard let child = owned(pair.new, column.new, embedded) else {
                left.removeAll()
                right.removeAll()
                try left.value(pair.old, was, old, column.old, orDefault: false)
                try right.value(pair.new, now, new, column.new, orDefault: false, self)
                guard left.buffer.elementsEqual(right.buffer) else { return false }
                continue
            }
            let before = try children(pair.old, old, column.old)
            let after = try children(pair.new, new, column.new)
            guard before.map(\.name) == after.map(\.name) else { return false }
            for (was, now) in zip(before, after)
            where try !isSame(child, was.key, now.key, embedded) {
                return false
            }
        }
        return true
    }

    /// How many pairs have the same values; collections and embedded objects are left out.
    private func alike(
        _ pair: ComparedClass, _ objects: [(ObjectKey, ObjectKey)],
        _ embedded: [ClassKey: ComparedClass]
    ) throws(RealmError) -> Int {
        let columns = pair.columns.filter {
            let kind = pair.new.columns[$0.new].kind
            return kind != .collection && kind != .mixed
                && owned(pair.new, $0.new, embedded) == nil
        }
        var result = 0
        for (old, new) in objects {
            guard let was = try pair.old.find(old), let now = try pair.new.find(new) else {
                continue
            }
            var isSame = true
            for column in columns where isSame {
                let value = try pair.new.value(now, new, column.new)
                isSame = RawIdentity.isSame(
                    try pair.old.value(was, old, column.old), translated(value))
            }
            if isSame { result += 1 }
        }
        return result
    }

    /// Those with the same key are the same, if they are in the same place of a dictionary; the others
    /// in their order.
    private static func match(
        _ old: [(name: String, key: ObjectKey)], _ new: [(name: String, key: ObjectKey)]
    ) -> [(ObjectKey, ObjectKey)] {
        var names: [ObjectKey: ByteText] = [:]
        for item in old { names[item.key] = ByteText(item.name) }
        var result: [(ObjectKey, ObjectKey)] = []
        var rest: [ByteText: [ObjectKey]] = [:]
        let same = Set(new.filter { names[$0.key] == ByteText($0.name) }.map(\.key))
        for item in old.reversed() where !same.contains(item.key) {
            rest[ByteText(item.name), default: []].append(item.key)
        }
        for item in new {
            if same.contains(item.key) {
                result.append((item.key, item.key))
            } else if let other = rest[ByteText(item.name)]?.popLast() {
                result.append((other, item.key))
            }
        }
        return result
    }

    /// Gives keys to the objects that the older side does not have: their own, if it is free.
    private mutating func assignRest(_ pair: ComparedClass) throws(RealmError) {
        let keepsKeys = pair.old.hasIntegerKey == pair.new.hasIntegerKey
        var map = keys[pair.new.classKey] ?? [:]
        keys[pair.new.classKey] = nil
        var next = pair.old.state.nextKey
        try pair.new.forEachRow { key throws(RealmError) in
            if map[key] != nil { return }
            if keepsKeys, try pair.old.find(key) == nil {
                map[key] = key
                return
            }
            while true {
                let candidate = next
                next = next.advanced(by: 1)
                if try pair.old.find(candidate) == nil, try pair.new.find(candidate) == nil {
                    map[key] = candidate
                    return
                }
            }
        }
        keys[pair.new.classKey] = map
    }
}

extension Table {
    /// Calls `body` with the keys of all rows, ascending; of a settled table.
    fileprivate func forEachRow(
        _ body: (ObjectKey) throws(RealmError) -> Void
    ) throws(RealmError) {
        var cursor = RowCursor(try NodeList(self).leaves())
        try cursor.start()
        while let key = cursor.key {
            try body(key)
            try cursor.advance()
        }
    }
}
