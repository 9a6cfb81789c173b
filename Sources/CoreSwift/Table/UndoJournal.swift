// What a write transaction needs to go back to a savepoint: for each change since then, what was
// there before it. Hears the changes at the door of the tables (`Change`), so it costs nothing where
// no savepoint stands, and what changed where one does. Going back: UndoJournal+Undo.swift.
//
// A step that brings back a whole object, property or list takes back what happens to it later, too:
// such changes need no steps of their own. The last few of these steps are remembered as `covers`, so
// that creating objects, or assigning a list, costs one step each.
//
// Invariants
//   1. `steps` are the changes since the oldest savepoint, in their order; `marks[i].start` is how
//      many there were when savepoint i was made. Marks ascend, ids too.
//   2. Texts in steps are copies in `arena`; those outlive the last savepoint only.
//   3. Each of `covers` is of a step that stands, and came after the savepoint that was made last:
//      behind a step nothing is left out that the steps before the next savepoint count on.

final class UndoJournal: ChangeListener {
    /// A value as it was, with all that was in it.
    indirect enum Kept {
        case value(RawValue)
        /// A collection in a mixed value, and its number: handles know it by that.
        case collection(CollectionType, number: CollectionNumber, [Element])
    }
    struct Element {
        /// Of a dictionary; else null.
        let key: RawValue
        let value: Kept
    }
    /// A collection as the change left it: that of a property, or the way to one in its elements.
    struct Place {
        let table: Table
        let key: ObjectKey
        let column: Int
        let path: [Int]
    }
    /// What takes a change back.
    enum Step {
        case delete(Table, ClosedRange<ObjectKey>)
        /// By column; nil for collections that were empty.
        case restore(Table, ObjectKey, [Kept?])
        case set(Table, ObjectKey, column: Int, Kept)
        case insert(Place, at: Int, Element)
        case replace(Place, at: Int, Kept)
        case remove(Place, at: Int)
        case move(Place, from: Int, to: Int)
        /// Of a collection that was emptied; whatever has come into it goes.
        case fill(Place, [Element])
    }

    /// What a step takes back wholly.
    private struct Cover {
        let table: Table
        let keys: ClosedRange<ObjectKey>
        /// -1: the objects with all they hold.
        let column: Int
    }

    private(set) var steps: [Step] = []
    private var marks: [(id: UInt64, start: Int, record: Int)] = []
    private var arena = ByteArena()
    private var covers: [Cover] = []
    /// The one that the next takes the place of, when there are as many as there may be.
    private var oldestCover = 0
    private static let coversMax = 8
    /// Steps whose memory is kept for the next savepoint.
    private static let stepsKept = 256

    deinit { arena.clear() }

    // MARK: Savepoints

    var isEmpty: Bool { marks.isEmpty }

    /// A new savepoint, newer than all others; all changes up to now have been told. `record`: how
    /// much of the transaction's record there is.
    func mark(_ id: UInt64, record: Int) {
        forgetCovers()
        marks.append((id, steps.count, record))
    }

    /// Those that stand, ascending.
    var savepoints: [UInt64] { marks.map(\.id) }
    var oldest: UInt64? { marks.first?.id }

    /// How many steps stood when a savepoint was made; nil when it has ended.
    func start(of id: UInt64) -> Int? { marks.last { $0.id == id }?.start }

    /// How much was recorded when a savepoint was made that stands.
    func record(of id: UInt64) -> Int { marks.last { $0.id == id }?.record ?? 0 }

    /// Ends the savepoints that were made after this one.
    func endAfter(_ id: UInt64) { marks.removeAll { $0.id > id } }

    /// Ends a savepoint with those made after it; what changed since is kept for older ones.
    func end(_ id: UInt64) {
        marks.removeAll { $0.id >= id }
        guard marks.isEmpty else { return }
        steps.removeAll(keepingCapacity: steps.capacity <= Self.stepsKept)
        forgetCovers()
        arena.restart()
    }

    /// The last step, which is taken out, unless there are no more than `start`.
    func pop(downTo start: Int) -> Step? {
        forgetCovers()
        return steps.count > start ? steps.removeLast() : nil
    }

    // MARK: Covers

    private func forgetCovers() {
        covers.removeAll(keepingCapacity: true)
        oldestCover = 0
    }

    /// Notes that the last step takes back what happens to the property of an object from now on;
    /// without a column, to objects of these keys.
    private func cover(_ table: Table, _ keys: ClosedRange<ObjectKey>, _ column: Int = -1) {
        let cover = Cover(table: table, keys: keys, column: column)
        if covers.count < Self.coversMax { return covers.append(cover) }
        covers[oldestCover] = cover
        oldestCover = (oldestCover + 1) % Self.coversMax
    }

    /// Not what a step takes back anyhow.
    func needs(_ key: ObjectKey, _ column: Int, in table: Table) -> Bool {
        for cover in covers
        where cover.table == table && cover.keys.contains(key)
            && (cover.column == column || cover.column < 0)
        {
            return false
        }
        return true
    }

    // MARK: Hearing

    func hear(_ change: Change, in table: Table) throws(RealmError) {
        switch change {
        case .created(let keys):
            steps.append(.delete(table, keys))
            cover(table, keys)
        case .deleted(let key, _):
            // Also of objects that are covered: others may be linked to them until then, and what
            // takes that back wants them to be there.
            guard let place = try table.find(key) else { return }
            var values: [Kept?] = []
            for column in 0..<table.columnCount {
                let isVacated = table.columns[column].isVacated
                values.append(isVacated ? nil : try value(table, place, key, column))
            }
            steps.append(.restore(table, key, values))
        case .set(let key, let column, let new, _):
            guard let place = try table.find(key) else { return }
            let old = try table.value(place, key, column)
            // A collection in the place of one of the same type is that one.
            if let type = NestedCell.type(old), NestedCell.type(new) == type { return }
            guard let kept = try value(table, place, key, column) else { return }
            steps.append(.set(table, key, column: column, kept))
            cover(table, key...key, column)
        case .added(let key, let column, _):
            guard let place = try table.find(key) else { return }
            steps.append(
                .set(table, key, column: column, .value(try table.value(place, key, column))))
            cover(table, key...key, column)
        case .collection(let collection, let change): try hear(change, of: collection, table)
        }
    }

    private func hear(
        _ change: CollectionChange, of collection: StandingCollection, _ table: Table
    ) throws(RealmError) {
        let place = Place(
            table: table, key: collection.key, column: collection.column,
            path: collection.path.map(\.index))
        switch change {
        case .inserted(let index, _, _): steps.append(.remove(place, at: index))
        case .replaced(let index, _, _):
            steps.append(.replace(place, at: index, try element(collection, index).value))
        case .removed(let index, _):
            steps.append(.insert(place, at: index, try element(collection, index)))
        case .moved(let from, let to): steps.append(.move(place, from: to, to: from))
        case .cleared:
            steps.append(.fill(place, try elements(collection)))
            // Not of collections in others: what is around them changes, too. And a mixed property
            // may come to hold something else, which has a step of its own.
            if place.path.isEmpty, table.isCollection(collection.column) {
                cover(table, collection.key...collection.key, collection.column)
            }
        }
    }

    // MARK: Keeping

    /// What a property holds; nil for an empty collection, which new rows have.
    private func value(
        _ table: Table, _ place: RowPlace, _ key: ObjectKey, _ column: Int
    ) throws(RealmError) -> Kept? {
        let isCollection = table.isCollection(column)
        let old = isCollection ? RawValue.null : try table.value(place, key, column)
        guard isCollection || NestedCell.type(old) != nil else { return .value(keep(old)) }
        guard let collection = try StandingCollection(table, place, key, column) else { return nil }
        if isCollection {
            return collection.count == 0
                ? nil : .collection(collection.type, number: .none, try elements(collection))
        }
        return .collection(
            collection.type, number: NestedCell.number(old), try elements(collection))
    }

    private func elements(_ collection: StandingCollection) throws(RealmError) -> [Element] {
        var result: [Element] = []
        result.reserveCapacity(collection.count)
        for index in 0..<collection.count { result.append(try element(collection, index)) }
        return result
    }

    /// Recursion ends with the depth that collections in mixed values can have.
    private func element(
        _ collection: StandingCollection, _ index: Int
    ) throws(RealmError) -> Element {
        let key = collection.type == .dictionary ? keep(try collection.key(index)) : RawValue.null
        let value = try collection.value(index)
        guard let nested = try collection.nested(index) else {
            return Element(key: key, value: .value(keep(value)))
        }
        return Element(
            key: key,
            value: .collection(
                nested.type, number: NestedCell.number(value), try elements(nested)))
    }

    /// The value with a copy of its text.
    private func keep(_ value: RawValue) -> RawValue {
        guard !value.isNull,
            value.type == ValueType.string.rawValue || value.type == ValueType.binary.rawValue
        else { return value }
        var result = value
        result.word0 = UInt64(UInt(bitPattern: arena.copy(value.bytes)))
        return result
    }
}
