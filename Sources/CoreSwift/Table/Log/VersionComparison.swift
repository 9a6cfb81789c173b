// Compares two versions by their trees: what both share is skipped unread, so the cost follows what
// differs. Gives what the change log would have told, as far as the versions show it: values that
// were set to what they were are no changes, and how a list got from one content to the other is
// found out (`CollectionComparison`). It stands in where a log is missing, and checks it in tests.
//
// Properties are told apart by their keys. One that is new or gone is a change of the schema, not of
// objects.

import CKernels

struct VersionComparison {
    let old: TableSet
    let new: TableSet

    /// Both must stay as they are meanwhile; a write transaction is settled. Objects of two files are
    /// the same if their keys are; `VersionDifference` looks closer.
    init(from old: TableSet, to new: TableSet) throws(RealmError) {
        self.old = old
        self.new = new
        if old.isWriting { try old.settle() }
        if new.isWriting { try new.settle() }
    }

    func summary() throws(RealmError) -> ChangeSummary {
        var result = ChangeSummary()
        result.changesSchema = old.stored != new.stored
        var keys = Set(old.schema.classes.map(\.key))
        keys.formUnion(new.schema.classes.map(\.key))
        for key in keys.sortedFew(by: { $0.rawValue < $1.rawValue }) {
            let changes = try changes(of: key)
            if !changes.isEmpty { result.classes.append(changes) }
        }
        return result
    }

    /// The changes of one class.
    func changes(of key: ClassKey) throws(RealmError) -> ClassChanges {
        var walk = ClassComparison(
            key, old.table(key), new.table(key), Comparing(sharesBlocks: old.store === new.store))
        try walk.run()
        return walk.result
    }
}

/// The comparison of one class. Keys in it are those of the older side.
struct ClassComparison {
    /// A property that both versions have.
    private struct Column {
        let index: Int
        /// Its place on the newer side.
        let newIndex: Int
        let property: PropertyKey
        let isCollection: Bool
        let isMixed: Bool
        var keys = KeyRanges()
    }

    private let old: Table?
    private let new: Table?
    private let how: Comparing
    private var columns: [Column] = []
    private(set) var result: ClassChanges
    private(set) var collections: CollectionComparison

    private init(_ key: ClassKey, _ how: Comparing, _ old: Table?, _ new: Table?) {
        self.old = old
        self.new = new
        self.how = how
        result = ClassChanges(key)
        collections = CollectionComparison(how)
    }

    /// Of a class whose columns are known, by property of the older side.
    init(_ pair: ComparedClass, _ how: Comparing) {
        self.init(pair.old.classKey, how, pair.old, pair.new)
        columns = pair.columns.map { column in
            let info = pair.old.columns[column.old]
            return Column(
                index: column.old, newIndex: column.new, property: info.propertyKey,
                isCollection: info.kind == .collection, isMixed: info.kind == .mixed)
        }
    }

    /// Of two versions of one class: of columns that both have.
    init(_ key: ClassKey, _ old: Table?, _ new: Table?, _ how: Comparing) {
        self.init(key, how, old, new)
        guard let old, let new else { return }
        for index in 0..<min(old.columnCount, new.columnCount) {
            let before = old.columns[index]
            let after = new.columns[index]
            guard before.propertyKey == after.propertyKey, !before.isVacated, !after.isVacated
            else { continue }
            columns.append(
                Column(
                    index: index, newIndex: index, property: after.propertyKey,
                    isCollection: after.kind == .collection, isMixed: after.kind == .mixed))
        }
    }

    mutating func run() throws(RealmError) {
        var before: RowCursor
        var after: RowCursor
        switch (old, new) {
        case (let old?, let new?):
            if how.sharesBlocks, old.state.tree.root == new.state.tree.root { return }
            if let keys = how.match?.newKeys(of: new.classKey) {
                before = RowCursor(try NodeList(old).leaves())
                after = RowCursor(new, keys)
            } else {
                var first = NodeList(old)
                var second = NodeList(new)
                try NodeList.reduce(&first, &second, sharesBlocks: how.sharesBlocks)
                before = RowCursor(first)
                after = RowCursor(second)
            }
        case (let old?, nil):
            before = RowCursor(try NodeList(old).leaves())
            after = RowCursor(nil)
        case (nil, let new?):
            before = RowCursor(nil)
            after = RowCursor(try NodeList(new).leaves())
        case (nil, nil): return
        }
        try before.start()
        try after.start()
        while true {
            if let key = before.key, let other = after.key, key == other {
                try compare(before, after, key)
                try before.advance()
                try after.advance()
            } else if let key = before.key, after.key.map({ key < $0 }) ?? true {
                result.deleted.insert(key)
                try before.advance()
            } else if let key = after.key {
                result.inserted.insert(key)
                try after.advance()
            } else {
                break
            }
        }
        for column in columns where !column.keys.isEmpty {
            result.properties.append(PropertyChanges(property: column.property, keys: column.keys))
        }
        result.collections = collections.found.map(\.changes).sortedFew { $0.name < $1.name }
    }

    /// An object that is in both.
    private mutating func compare(
        _ before: RowCursor, _ after: RowCursor, _ key: ObjectKey
    ) throws(RealmError) {
        guard let old, let new, let first = before.place, let second = after.place else { return }
        var isModified = false
        for position in columns.indices {
            let column = columns[position]
            let was = try old.value(first, key, column.index)
            var now = try new.value(second, after.newKey(key), column.newIndex)
            if let match = how.match { now = match.translated(now) }
            if RawIdentity.isSame(was, now), how.sharesBlocks || !holdsCollection(column, now) {
                continue
            }
            var differs = true
            if holdsCollection(column, now),
                column.isCollection || RawIdentity.isKept(was, now, inOneFile: how.sharesBlocks)
            {
                let name = CollectionChanges.Name(
                    key: key, property: column.property,
                    number: column.isMixed ? NestedCell.number(now) : .none)
                differs = try collections.compare(
                    view(old, was, column.index), view(new, now, column.newIndex), name)
            }
            if differs {
                columns[position].keys.insert(key)
                isModified = true
            }
        }
        if isModified { result.modified.insert(key) }
    }

    private func holdsCollection(_ column: Column, _ value: RawValue) -> Bool {
        column.isCollection || (column.isMixed && NestedCell.type(value) != nil)
    }

    private func view(_ table: Table, _ value: RawValue, _ column: Int) -> CollectionView {
        let info = table.state.columns[column]
        if info.kind == .collection {
            return CollectionView(table, column, ElementLayout(info, column: column), value.bytes)
        }
        let type = NestedCell.type(value) ?? .list
        return CollectionView(
            table, column, ElementLayout(nested: type, column: column), NestedCell.cell(value))
    }
}

/// Whether two stored values are one and the same.
enum RawIdentity {
    /// By type and bytes: a double is not the integer of the same value, and NaN is NaN. Cells of
    /// collections are the same if their bytes are, which name the blocks of their trees.
    static func isSame(_ a: RawValue, _ b: RawValue) -> Bool {
        if a.isNull || b.isNull { return a.isNull && b.isNull }
        guard a.type == b.type else { return false }
        switch ValueType(rawValue: a.type) {
        case .string, .binary, .list, .dictionary:
            guard a.word1 == b.word1 else { return false }
            if a.word0 == b.word0 || a.word1 == 0 { return true }
            let first = a.bytes
            let second = b.bytes
            guard let left = first.baseAddress, let right = second.baseAddress else { return false }
            return ck_memcmp(left, right, first.count) == 0
        case .int, .double: return a.word0 == b.word0
        case .bool: return a.boolValue == b.boolValue
        case .float:
            return UInt32(truncatingIfNeeded: a.word0) == UInt32(truncatingIfNeeded: b.word0)
        case .timestamp: return a.seconds == b.seconds && a.nanoseconds == b.nanoseconds
        case .objectId:
            return a.word0 == b.word0
                && UInt32(truncatingIfNeeded: a.word1) == UInt32(truncatingIfNeeded: b.word1)
        case .link: return a.linkClass == b.linkClass && a.linkTarget == b.linkTarget
        case .decimal128, .uuid: return a.word0 == b.word0 && a.word1 == b.word1
        case .null, nil: return true
        }
    }

    /// Whether both are one collection in a mixed value, whatever is in it by now. `inOneFile`: of
    /// different files nobody knows, and those of one type are taken for one.
    static func isKept(_ a: RawValue, _ b: RawValue, inOneFile: Bool) -> Bool {
        guard let type = NestedCell.type(a), NestedCell.type(b) == type else { return false }
        return !inOneFile || NestedCell.number(a) == NestedCell.number(b)
    }
}

/// The live rows of leaves, in the order of their keys; or those of a table, in the order of the keys
/// that they have in another file.
struct RowCursor {
    private let list: NodeList?
    private var nextLeaf = 0
    private var leaf: LeafView?
    private var row = -1
    /// Nil behind the last row.
    private(set) var key: ObjectKey?
    private var others: (table: Table, keys: [ObjectMatch.Pair])?
    private var found: RowPlace?

    init(_ list: NodeList?) { self.list = list }

    /// `keys` ascend by the key in the other file.
    init(_ table: Table, _ keys: [ObjectMatch.Pair]) {
        list = nil
        others = (table, keys)
    }

    var place: RowPlace? {
        if others != nil { return found }
        return leaf.map { RowPlace($0, row) }
    }

    /// What the row's own key is, where `key` is that of the other file.
    func newKey(_ key: ObjectKey) -> ObjectKey { others?.keys[row].new ?? key }

    mutating func start() throws(RealmError) { try advance() }

    mutating func advance() throws(RealmError) {
        if let others {
            row += 1
            key = row < others.keys.count ? others.keys[row].old : nil
            found = key == nil ? nil : try others.table.find(others.keys[row].new)
            return
        }
        guard let list else { return }
        while true {
            row += 1
            if let leaf, row < leaf.rows {
                if leaf.isDead(row) { continue }
                key = leaf.key(row)
                return
            }
            guard nextLeaf < list.places.count else {
                key = nil
                leaf = nil
                return
            }
            leaf = LeafView(try list.table.leaf(list.places[nextLeaf]))
            nextLeaf += 1
            row = -1
        }
    }
}
