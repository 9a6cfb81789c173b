// What a listener at the door of changes hears, as values of its own, and a plain model that makes the
// same changes: where it differs from the stored data, a change went past the door or was told wrong.

@testable import CoreSwift

/// A property or an element, with all that it holds.
indirect enum StoredValue: Equatable {
    case value(Value)
    /// Keys are those of a dictionary, else there are none.
    case collection(CollectionType, keys: [String], [StoredValue])

    init(_ raw: RawValue) throws(RealmError) {
        if let type = NestedCell.type(raw) {
            self = .collection(type, keys: [], [])
        } else {
            self = .value(try Value(raw))
        }
    }

    init(_ collection: StandingCollection) throws(RealmError) {
        var keys: [String] = []
        var values: [StoredValue] = []
        for index in 0..<collection.count {
            if collection.type == .dictionary {
                keys.append(String(decoding: try collection.key(index).bytes, as: UTF8.self))
            }
            values.append(try Self.element(collection, index))
        }
        self = .collection(collection.type, keys: keys, values)
    }

    static func element(
        _ collection: StandingCollection, _ index: Int
    ) throws(RealmError) -> StoredValue {
        if let nested = try collection.nested(index) { return try StoredValue(nested) }
        return try StoredValue(try collection.value(index))
    }

    /// The value of a property.
    init(_ table: Table, _ place: RowPlace, _ key: ObjectKey, _ column: Int) throws(RealmError) {
        if let collection = try StandingCollection(table, place, key, column) {
            self = try StoredValue(collection)
        } else {
            self = try StoredValue(try table.value(place, key, column))
        }
    }
}

/// A change as it was heard, with what was there before.
enum HeardChange {
    typealias Step = (index: Int, key: String?)

    case created(Link, [StoredValue])
    case deleted(Link, [StoredValue])
    case set(Link, column: Int, before: StoredValue, StoredValue)
    case added(Link, column: Int, delta: Int64)
    case inserted(Link, column: Int, [Step], at: Int, key: String?, StoredValue)
    case replaced(Link, column: Int, [Step], at: Int, before: StoredValue, StoredValue)
    case removed(Link, column: Int, [Step], at: Int, before: StoredValue)
    case moved(Link, column: Int, [Step], from: Int, to: Int)
    case cleared(Link, column: Int, [Step], before: StoredValue)

    /// The object that changes; its name, for messages, says the rest.
    var object: Link {
        switch self {
        case .created(let link, _), .deleted(let link, _), .set(let link, _, _, _),
            .added(let link, _, _), .inserted(let link, _, _, _, _, _),
            .replaced(let link, _, _, _, _, _), .removed(let link, _, _, _, _),
            .moved(let link, _, _, _, _), .cleared(let link, _, _, _):
            return link
        }
    }
}

/// Hears of changes and keeps them.
final class ChangeRecorder: ChangeListener {
    private(set) var heard: [HeardChange] = []
    private(set) var ranges: [ClosedRange<ObjectKey>] = []
    /// Links that went because their target did.
    private(set) var derivedCount = 0
    /// Collections that were cleared to be assigned as a whole.
    private(set) var assignedCount = 0
    private(set) var count = 0

    func takeHeard() -> [HeardChange] {
        defer { heard = [] }
        return heard
    }

    func hear(_ change: Change, in table: Table) throws(RealmError) {
        count += 1
        func name(_ key: ObjectKey) -> Link { Link(table.classKey, key) }
        switch change {
        case .created(let keys):
            ranges.append(keys)
            for key in keys { heard.append(.created(name(key), try Self.values(table, key))) }
        case .deleted(let key, _):
            heard.append(.deleted(name(key), try Self.values(table, key)))
        case .set(let key, let column, let value, let isDerived):
            if isDerived { derivedCount += 1 }
            let before = try Self.value(table, key, column)
            heard.append(.set(name(key), column: column, before: before, try StoredValue(value)))
        case .added(let key, let column, let delta):
            heard.append(.added(name(key), column: column, delta: delta))
        case .collection(let collection, let change):
            heard.append(
                try self.heard(name(collection.key), collection, change))
        }
    }

    private func heard(
        _ name: Link, _ collection: StandingCollection, _ change: CollectionChange
    ) throws(RealmError) -> HeardChange {
        let column = collection.column
        let path = collection.path.map { (index: $0.index, key: $0.key) }
        switch change {
        case .inserted(let index, let key, let value):
            return .inserted(
                name, column: column, path, at: index,
                key: key.map { String(decoding: $0.bytes, as: UTF8.self) }, try StoredValue(value))
        case .replaced(let index, let value, let isDerived):
            if isDerived { derivedCount += 1 }
            return .replaced(
                name, column: column, path, at: index,
                before: try StoredValue.element(collection, index), try StoredValue(value))
        case .removed(let index, let isDerived):
            if isDerived { derivedCount += 1 }
            return .removed(
                name, column: column, path, at: index,
                before: try StoredValue.element(collection, index))
        case .moved(let from, let to):
            return .moved(name, column: column, path, from: from, to: to)
        case .cleared(let isAssignment):
            if isAssignment { assignedCount += 1 }
            return .cleared(name, column: column, path, before: try StoredValue(collection))
        }
    }

    static func value(
        _ table: Table, _ key: ObjectKey, _ column: Int
    ) throws(RealmError) -> StoredValue {
        guard let place = try table.find(key) else {
            throw RealmError(.noSuchObject, "object \(key) was told of and is not there")
        }
        return try StoredValue(table, place, key, column)
    }

    static func values(_ table: Table, _ key: ObjectKey) throws(RealmError) -> [StoredValue] {
        var result: [StoredValue] = []
        for column in 0..<table.columnCount { result.append(try value(table, key, column)) }
        return result
    }
}

/// The objects of a realm as plain values.
struct ReplayModel: Equatable {
    var objects: [Link: [StoredValue]] = [:]

    /// All that is stored. The tables are settled for it in a write transaction.
    init(_ tables: TableSet) throws {
        for item in tables.schema.classes {
            let reader = try SnapshotReader(tables: tables).table(item.key)
            var leaves = reader.leaves()
            while let leaf = try leaves.next() {
                for row in 0..<leaf.rows where !leaf.isDead(row) {
                    let key = leaf.key(row)
                    objects[Link(item.key, key)] = try ChangeRecorder.values(
                        reader.table, key)
                }
            }
        }
    }

    private func mismatch(_ change: HeardChange) -> ToyFailure {
        ToyFailure(description: "heard \(change), object is \(objects[change.object] ?? [])")
    }

    /// Makes the change; throws when what was there before is not what was heard.
    mutating func replay(_ change: HeardChange) throws {
        let name = change.object
        switch change {
        case .created(_, let values):
            guard objects[name] == nil else { throw mismatch(change) }
            objects[name] = values
        case .deleted(_, let values):
            guard objects[name] == values else { throw mismatch(change) }
            objects[name] = nil
        case .set(_, let column, let before, let value):
            guard objects[name]?[column] == before else { throw mismatch(change) }
            objects[name]?[column] = value
        case .added(_, let column, let delta):
            guard case .value(.int(let number))? = objects[name]?[column] else {
                throw mismatch(change)
            }
            objects[name]?[column] = .value(.int(number &+ delta))
        case .inserted(_, let column, let path, let index, let key, let value):
            try edit(change, column, path) { keys, values in
                guard index <= values.count else { return false }
                values.insert(value, at: index)
                if let key { keys.insert(key, at: index) }
                return true
            }
        case .replaced(_, let column, let path, let index, let before, let value):
            try edit(change, column, path) { _, values in
                guard index < values.count, values[index] == before else { return false }
                values[index] = value
                return true
            }
        case .removed(_, let column, let path, let index, let before):
            try edit(change, column, path) { keys, values in
                guard index < values.count, values[index] == before else { return false }
                values.remove(at: index)
                if !keys.isEmpty { keys.remove(at: index) }
                return true
            }
        case .moved(_, let column, let path, let from, let to):
            try edit(change, column, path) { _, values in
                guard max(from, to) < values.count else { return false }
                values.insert(values.remove(at: from), at: to)
                return true
            }
        case .cleared(_, let column, let path, let before):
            try edit(change, column, path) { keys, values in
                guard case .collection(_, let oldKeys, let old) = before, old == values,
                    oldKeys == keys
                else { return false }
                keys = []
                values = []
                return true
            }
        }
    }

    private mutating func edit(
        _ change: HeardChange, _ column: Int, _ path: [HeardChange.Step],
        _ body: (inout [String], inout [StoredValue]) -> Bool
    ) throws {
        guard var values = objects[change.object],
            Self.edit(&values[column], path[...], body)
        else { throw mismatch(change) }
        objects[change.object] = values
    }

    static func edit(
        _ value: inout StoredValue, _ path: ArraySlice<HeardChange.Step>,
        _ body: (inout [String], inout [StoredValue]) -> Bool
    ) -> Bool {
        guard case .collection(let type, var keys, var values) = value else { return false }
        if let step = path.first {
            guard step.index < values.count,
                step.key == (type == .dictionary ? keys[step.index] : nil),
                edit(&values[step.index], path.dropFirst(), body)
            else { return false }
        } else {
            guard body(&keys, &values) else { return false }
        }
        value = .collection(type, keys: keys, values)
        return true
    }

    /// Where two models differ, for messages.
    func differences(_ other: ReplayModel) -> [String] {
        Set(objects.keys).union(other.objects.keys).filter { objects[$0] != other.objects[$0] }
            .prefix(3).map {
                "\($0): \(String(describing: objects[$0])) and "
                    + "\(String(describing: other.objects[$0]))"
            }
    }
}
