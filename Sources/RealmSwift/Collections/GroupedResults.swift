// Objects in groups of equal values, and what is computed of each group by the engine.

import CoreSwift
public import Foundation

/// What is computed of the objects of a group: `.count`, `.sum(\.age)`, `.average(\.age)`, `.min(\.age)`,
/// `.max(\.age)`. Nil and NaN don't count.
public struct GroupAggregate<Element: ObjectBase, Value> {
    /// As the engine takes it.
    let text: String
    let value: (RawValue, _RealmSession) -> Value

    init(
        _ function: String, _ keyPath: AnyKeyPath,
        _ value: @escaping (RawValue, _RealmSession) -> Value
    ) {
        text = "\(function).\(KeyPathNames.name(keyPath))"
        self.value = value
    }
}

extension GroupAggregate where Value == Int {
    /// How many objects there are.
    public static var count: GroupAggregate { GroupAggregate(count: ()) }

    private init(count: Void) {
        text = "@count"
        value = { raw, _ in Int(raw.intValue) }
    }
}

extension GroupAggregate where Value: RealmCollectionValue, Value.PersistedType: AddableType {
    /// The sum of a property; zero of no values. One that the type of the property can't hold is misuse.
    public static func sum(_ keyPath: KeyPath<Element, Value>) -> GroupAggregate {
        GroupAggregate("@sum", keyPath) { raw, session in
            let sum = session.any(raw) ?? 0
            guard let value = Value._rlmConvert(sum) else {
                misuse(
                    "The sum of '\(KeyPathNames.name(keyPath))' is \(sum), which is no \(Value.self)."
                )
            }
            return value
        }
    }
}

extension GroupAggregate where Value == Double? {
    /// The mean of a property; nil of no values.
    public static func average<T: RealmCollectionValue>(
        _ keyPath: KeyPath<Element, T>
    ) -> GroupAggregate
    where T.PersistedType: AddableType {
        GroupAggregate("@avg", keyPath) { raw, session in
            raw.isNull ? nil : session.any(raw).flatMap { Double._rlmConvert($0) }
        }
    }
}

extension GroupAggregate {
    /// The least value of a property; nil of no values.
    public static func min<T: RealmCollectionValue>(
        _ keyPath: KeyPath<Element, T>
    ) -> GroupAggregate where Value == T?, T.PersistedType: MinMaxType {
        GroupAggregate("@min", keyPath) { raw, session in
            raw.isNull ? nil : T._rlmFrom(raw, session)
        }
    }

    /// The greatest value of a property; nil of no values.
    public static func max<T: RealmCollectionValue>(
        _ keyPath: KeyPath<Element, T>
    ) -> GroupAggregate where Value == T?, T.PersistedType: MinMaxType {
        GroupAggregate("@max", keyPath) { raw, session in
            raw.isNull ? nil : T._rlmFrom(raw, session)
        }
    }
}

/// The objects of results in groups with equal values. Groups come in the order of their first objects. They
/// are determined when they are asked for: what is read then follows the realm, arrays that were read don't.
///
///     let byCity = people.grouped(by: \.city)
///     for (city, count) in byCity.counts { … }
///     for (city, (count, mean)) in byCity.values(.count, .average(\.age)) { … }
public struct GroupedResults<Element: ObjectBase & RealmCollectionValue, Key> {
    /// What is grouped.
    public let results: Results<Element>
    /// As the engine takes them.
    let keyPaths: [String]
    fileprivate let key: (GroupTable, Int, _RealmSession) -> Key

    /// The realm of the objects.
    public var realm: Realm? { results.realm }
    /// The realm was closed or invalidated.
    public var isInvalidated: Bool { results.isInvalidated }
    /// They never change, and any thread may read them.
    public var isFrozen: Bool { results.isFrozen }

    /// The groups as they are now.
    public func freeze() -> GroupedResults {
        GroupedResults(results: results.freeze(), keyPaths: keyPaths, key: key)
    }

    /// The live groups; nil if the results are not there any more.
    public func thaw() -> GroupedResults? {
        results.thaw().map { GroupedResults(results: $0, keyPaths: keyPaths, key: key) }
    }

    private func table(_ aggregates: [String]) -> GroupTable {
        guard let objects = results.core as? EngineResults else {
            misuse("Only results of objects are grouped.")
        }
        return engine(.query) { () throws(RealmError) in
            try objects.grouped(
                by: keyPaths.map { engineKeyPath($0) }.joined(separator: ", "),
                aggregates.joined(separator: ", ")
            ).table()
        }
    }

    /// How many groups there are.
    public var count: Int { table([]).count }

    /// The keys of the groups.
    public var keys: [Key] {
        let table = table([])
        let session = results.source.session
        return (0..<table.count).map { key(table, $0, session) }
    }

    /// What is computed of each group, in one pass over the objects.
    public func values<each Value>(
        _ aggregate: repeat GroupAggregate<Element, each Value>
    ) -> [(key: Key, value: (repeat each Value))] {
        var texts: [String] = []
        repeat texts.append((each aggregate).text)
        let table = table(texts)
        let session = results.source.session
        var rows: [(key: Key, value: (repeat each Value))] = []
        rows.reserveCapacity(table.count)
        for row in 0..<table.count {
            var column = keyPaths.count - 1
            func next<T>(_ aggregate: GroupAggregate<Element, T>) -> T {
                column += 1
                return aggregate.value(table.value(row, column), session)
            }
            rows.append((key(table, row, session), (repeat next(each aggregate))))
        }
        return rows
    }

    /// How many objects each group has.
    public var counts: [(key: Key, value: Int)] { values(.count) }

    /// The sum of a property in each group; zero of no values.
    public func sum<T: RealmCollectionValue>(
        of keyPath: KeyPath<Element, T>
    ) -> [(key: Key, value: T)]
    where T.PersistedType: AddableType { values(.sum(keyPath)) }

    /// The mean of a property in each group; nil of no values.
    public func average<T: RealmCollectionValue>(
        of keyPath: KeyPath<Element, T>
    ) -> [(key: Key, value: Double?)]
    where T.PersistedType: AddableType { values(.average(keyPath)) }

    /// The least value of a property in each group; nil of no values.
    public func min<T: RealmCollectionValue>(
        of keyPath: KeyPath<Element, T>
    ) -> [(key: Key, value: T?)]
    where T.PersistedType: MinMaxType { values(.min(keyPath)) }

    /// The greatest value of a property in each group; nil of no values.
    public func max<T: RealmCollectionValue>(
        of keyPath: KeyPath<Element, T>
    ) -> [(key: Key, value: T?)]
    where T.PersistedType: MinMaxType { values(.max(keyPath)) }

    /// Calls a block soon, and then after each change of the objects that are grouped, with the groups as they
    /// are then. With key paths, changes of other properties don't count: `["city", "age"]`.
    public func observe(
        keyPaths: [String]? = nil, on queue: DispatchQueue? = nil,
        _ block: @escaping (GroupedResults) -> Void
    ) -> NotificationToken {
        let (names, key) = (self.keyPaths, key)
        return results.observe(keyPaths: keyPaths, on: queue) { change in
            switch change {
            case .initial(let there), .update(let there, _, _, _):
                block(GroupedResults(results: there, keyPaths: names, key: key))
            case .error: break
            }
        }
    }
}

extension RealmCollection where Element: ObjectBase {
    /// Groups of the objects with the same value of a property, also of one behind links to one object.
    public func grouped<Key: RealmCollectionValue>(
        by keyPath: KeyPath<Element, Key>
    ) -> GroupedResults<Element, Key> {
        GroupedResults(results: _rlmResults, keyPaths: [KeyPathNames.name(keyPath)]) {
            table, row, session in
            Key._rlmFrom(table.value(row, 0), session)
        }
    }

    /// Groups of the objects with the same values of several properties; their keys are tuples.
    public func grouped<First: RealmCollectionValue, each Other: RealmCollectionValue>(
        by first: KeyPath<Element, First>, _ other: repeat KeyPath<Element, each Other>
    ) -> GroupedResults<Element, (First, repeat each Other)> {
        var names = [KeyPathNames.name(first)]
        repeat names.append(KeyPathNames.name(each other))
        return GroupedResults(results: _rlmResults, keyPaths: names) { table, row, session in
            var column = 0
            func next<T: RealmCollectionValue>(_ type: T.Type) -> T {
                column += 1
                return T._rlmFrom(table.value(row, column), session)
            }
            let head = First._rlmFrom(table.value(row, 0), session)
            return (head, repeat next((each Other).self))
        }
    }
}

@available(*, unavailable)
extension GroupedResults: @unchecked Sendable {}
