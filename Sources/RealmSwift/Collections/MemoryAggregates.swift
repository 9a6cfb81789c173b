// Aggregates of what the engine has no column for: unmanaged collections, and properties that are reached over
// links. The rules are the engine's: null is left out, integers stay integers, decimals win over doubles.

import CoreSwift
import Foundation

extension AggregateKind {
    /// The aggregate of values; nil where there is none.
    func of(_ values: [Any?]) -> Any? {
        let values = values.compactMap { $0.flatMap { unwrapped($0) } }
        switch self {
        case .minimum: return values.min { Self.less($0, $1) }
        case .maximum: return values.max { Self.less($0, $1) }
        case .sum: return Self.sum(values)
        case .average:
            guard !values.isEmpty else { return nil }
            if let sum = Self.sum(values) as? Decimal128 {
                return sum / Self.decimal(values.count)
            }
            return values.reduce(0.0) { $0 + (number($1) ?? 0) } / Double(values.count)
        }
    }

    private static func decimal(_ value: Any) -> Decimal128 {
        Decimal128._rlmConvert(value) ?? Decimal128()
    }

    private static func sum(_ values: [Any]) -> Any {
        if values.contains(where: { $0 is Decimal128 }) {
            return values.reduce(decimal(0)) { $0 + decimal($1) }
        }
        let integers = values.compactMap { integer($0) }
        if integers.count == values.count, !values.contains(where: { $0 is Double || $0 is Float })
        {
            return Int(integers.reduce(0, &+))
        }
        return values.reduce(0.0) { $0 + (number($1) ?? 0) }
    }

    private static func less(_ a: Any, _ b: Any) -> Bool {
        if let a = a as? Date, let b = b as? Date { return a < b }
        if let a = a as? Decimal128 ?? Decimal128._rlmConvert(a),
            let b = b as? Decimal128 ?? Decimal128._rlmConvert(b)
        {
            return a < b
        }
        return (number(a) ?? 0) < (number(b) ?? 0)
    }
}

extension RealmCollection {
    /// The aggregate of an unmanaged collection, or of a property over links, element by element.
    func aggregateInMemory<T: _HasPersistedType>(
        _ kind: AggregateKind, _ property: String?
    ) -> T? {
        let values = Array(self).map { element -> Any? in
            guard let property, property != "self" else {
                return (element as? any _StoredForm)?._rlmStored ?? element
            }
            return (element as? ObjectBase)?.value(forKeyPath: property)
        }
        return kind.of(values).flatMap { T._rlmConvert($0) }
    }
}

/// The sum of nothing.
func zero<T: _HasPersistedType>(_ type: T.Type = T.self) -> T {
    guard let zero = T._rlmConvert(0) else {
        misuse("Could not convert value '0' to type '\(T.self)'.")
    }
    return zero
}

/// A value that stands for another one: a custom type, or an enumeration.
protocol _StoredForm {
    var _rlmStored: Any { get }
}
extension AnyRealmValue: _StoredForm {
    var _rlmStored: Any { content ?? NSNull() }
}
