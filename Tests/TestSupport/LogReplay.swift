// Applies the operations of a change log to a plain model of the version before.

@testable import CoreSwift

extension StoredValue {
    init(_ value: LogValue) throws(RealmError) {
        guard let type = value.collection else {
            self = .value(try Value(try value.scalar()))
            return
        }
        var keys: [String] = []
        var values: [StoredValue] = []
        var elements = try value.elements()
        while let (key, element) = try elements.next() {
            if let key { keys.append(String(decoding: key, as: UTF8.self)) }
            values.append(try StoredValue(element))
        }
        self = .collection(type, keys: keys, values)
    }
}

extension ReplayModel {
    /// Does what an operation of a log with values says. Throws where it does not fit.
    mutating func apply(_ operation: ChangeOperation, _ tables: TableSet) throws {
        func misfit(_ why: String) -> ToyFailure {
            ToyFailure(description: "\(why): \(operation)")
        }
        func all(_ range: ClosedRange<ObjectKey>) -> [ObjectKey] {
            var keys = KeyRanges()
            keys.insert(range)
            return keys.keys
        }
        switch operation {
        case .version(_, let hasValues, _):
            if !hasValues { throw misfit("no values") }
        case .schemaChanged: throw misfit("the schema stayed")
        case .deleted(let classKey, let range):
            for key in all(range) {
                guard objects.removeValue(forKey: Link(classKey, key)) != nil else {
                    throw misfit("\(key) is not there")
                }
            }
        case .created(let classKey, let range):
            for key in all(range) {
                guard objects[Link(classKey, key)] == nil else { throw misfit("\(key) is there") }
                objects[Link(classKey, key)] = try Self.fresh(tables, classKey)
            }
        case .initial(let classKey, let key, let column, let value):
            guard objects[Link(classKey, key)] != nil else { throw misfit("not there") }
            objects[Link(classKey, key)]?[column] = try StoredValue(value)
        case .set(let classKey, let range, let column, let value):
            guard let value, objects[Link(classKey, range.lowerBound)] != nil else {
                throw misfit("not there")
            }
            objects[Link(classKey, range.lowerBound)]?[column] = try StoredValue(value)
        case .nulled(let classKey, let range, let column):
            for key in all(range) {
                guard case .value(.link)? = objects[Link(classKey, key)]?[column] else {
                    throw misfit("no link")
                }
                objects[Link(classKey, key)]?[column] = .value(.null)
            }
        case .added(let classKey, let key, let column, let delta):
            guard case .value(.int(let number))? = objects[Link(classKey, key)]?[column] else {
                throw misfit("no number")
            }
            objects[Link(classKey, key)]?[column] = .value(.int(number &+ delta))
        case .collection(let place, let operation, let value):
            let link = Link(place.classKey, place.key)
            let steps = try place.steps().map { (index: $0.index, key: $0.key) }
            let new = try value.map { value throws(RealmError) in try StoredValue(value) }
            guard var values = objects[link],
                Self.edit(
                    &values[place.column], steps[...],
                    { operation.apply(&$0, &$1, new, place) })
            else { throw misfit("\(String(describing: objects[link]?[place.column]))") }
            objects[link] = values
        }
    }

    private static func fresh(_ tables: TableSet, _ classKey: ClassKey) throws -> [StoredValue] {
        guard let table = tables.table(classKey) else {
            throw ToyFailure(description: "no class \(classKey)")
        }
        return try (0..<table.columnCount).map { column in
            let info = table.columns[column]
            if info.kind == .collection { return .collection(info.collection, keys: [], []) }
            return try StoredValue(table.absent(info))
        }
    }
}

extension CollectionOperation {
    /// To the keys (of a dictionary) and values of a collection.
    fileprivate func apply(
        _ keys: inout [String], _ values: inout [StoredValue], _ new: StoredValue?,
        _ place: CollectionPlaceInLog
    ) -> Bool {
        let isDictionary = place.type == .dictionary
        switch kind {
        case .inserted:
            guard let new, count == 1, index <= values.count else { return false }
            values.insert(new, at: index)
            if isDictionary { keys.insert(key ?? "", at: index) }
        case .replaced:
            guard let new, count == 1, index < values.count, !isDictionary || keys[index] == key
            else { return false }
            values[index] = new
        case .removed:
            guard count == 1, index < values.count, !isDictionary || keys[index] == key else {
                return false
            }
            values.remove(at: index)
            if isDictionary { keys.remove(at: index) }
        case .moved:
            guard max(index, destination) < values.count else { return false }
            values.insert(values.remove(at: index), at: destination)
        case .cleared:
            guard count == values.count else { return false }
            values = []
            keys = []
        }
        return true
    }
}

extension ChangeSummary {
    /// Properties and collections in it; for messages and comparisons.
    var facts: Set<String> {
        var result: Set<String> = []
        for item in classes {
            item.inserted.forEach { result.insert("\(item.classKey) +\($0)") }
            item.deleted.forEach { result.insert("\(item.classKey) -\($0)") }
            for property in item.properties {
                property.keys.forEach {
                    result.insert("\(item.classKey) \($0).\(property.property)")
                }
            }
        }
        return result
    }
}
