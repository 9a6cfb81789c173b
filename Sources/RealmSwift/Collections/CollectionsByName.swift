// What collections give and take by the names of properties: key-value coding with its operators.

import CoreSwift
import Foundation

extension RealmCollection {
    /// A property of each element, `NSNull` for nil; also `self` and `@count`.
    public func value(forKey key: String) -> Any? {
        if key == "@count" { return count }
        if key == "self" { return Array(self) }
        return each { $0.value(forKey: key) }
    }

    /// The same over links, `owner.name`, and with an operator in front: `@count`, `@min.age`, `@max.age`,
    /// `@sum.age`, `@avg.age`, `@unionOfObjects.name`, `@distinctUnionOfObjects.name`, and for properties that are
    /// collections `@unionOfArrays.tags`, `@distinctUnionOfArrays.tags`.
    public func value(forKeyPath path: String) -> Any? {
        guard path.hasPrefix("@"), path != "@count" else {
            guard path.contains(".") else { return value(forKey: path) }
            return each { $0.value(forKeyPath: path) }
        }
        let parts = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        let name = parts[0]
        guard parts.count > 1, !parts[1].isEmpty else {
            misuse("Missing key path for KVC collection operator \(name) in key path '\(path)'.")
        }
        if parts.count > 2 {
            misuse("Nested key paths are not supported yet for KVC collection operators.")
        }
        let property = parts[1]
        func aggregate(_ kind: AggregateKind) -> Any? {
            let found: AnyRealmValue? = self.aggregate(kind, property)
            return found?.content
        }
        switch name {
        case "@min": return aggregate(.minimum)
        case "@max": return aggregate(.maximum)
        case "@sum": return aggregate(.sum) ?? 0
        case "@avg": return aggregate(.average)
        case "@unionOfObjects": return values(property)
        case "@distinctUnionOfObjects": return distinct(values(property))
        case "@unionOfArrays": return members(property)
        case "@distinctUnionOfArrays": return distinct(members(property))
        default:
            misuse("Unsupported KVC collection operator found in key path '\(path)'.")
        }
    }

    /// Assigns a property of all elements.
    public func setValue(_ value: Any?, forKey key: String) {
        checkWritable()
        for element in self { (element as? ObjectBase)?.setValue(value, forKey: key) }
    }

    /// Assigns a property that is reached from each element over links.
    public func setValue(_ value: Any?, forKeyPath path: String) {
        checkWritable()
        for element in self { (element as? ObjectBase)?.setValue(value, forKeyPath: path) }
    }

    private func each(_ value: (ObjectBase) -> Any?) -> [Any] {
        var values: [Any] = []
        for element in self { values.append((element as? ObjectBase).flatMap(value) ?? NSNull()) }
        return values
    }

    /// The values of a property that are not nil.
    private func values(_ property: String) -> [Any] {
        each { $0.value(forKey: property) }.filter { !($0 is NSNull) }
    }

    /// The elements of a property that is a collection, of all objects.
    private func members(_ property: String) -> [Any] {
        values(property).flatMap { anyElements($0) ?? [] }
    }

    /// Each value once, in the order in which they come first.
    private func distinct(_ values: [Any]) -> [Any] {
        var seen: Set<AnyHashable> = []
        return values.filter { value in
            guard let value = value as? AnyHashable else { return true }
            return seen.insert(value).inserted
        }
    }
}

// What realm-swift's lists, sets and maps give: objects. Where the type is open, what all collections give is taken.

extension List {
    /// A property of each element, `NSNull` for nil.
    @_disfavoredOverload
    public func value(forKey key: String) -> [AnyObject] { asObjects(value(forKey: key)) }

    /// The same over links.
    @_disfavoredOverload
    public func value(forKeyPath path: String) -> [AnyObject] { asObjects(value(forKeyPath: path)) }
}

extension MutableSet {
    /// A property of each element, `NSNull` for nil.
    @_disfavoredOverload
    public func value(forKey key: String) -> [AnyObject] { asObjects(value(forKey: key)) }
}

extension Map {
    /// The value of a key as an object.
    @_disfavoredOverload
    public func value(forKey key: String) -> AnyObject? {
        (value(forKey: key) as Any?).map { $0 as AnyObject }
    }

    /// What is reached from the value of a key, as an object.
    @_disfavoredOverload
    public func value(forKeyPath path: String) -> AnyObject? {
        (value(forKeyPath: path) as Any?).map { $0 as AnyObject }
    }
}

/// The values of a list; misuse for what is none.
private func asObjects(_ values: Any?) -> [AnyObject] {
    guard let values = values as? [Any] else {
        misuse("'\(values ?? NSNull())' is no list of values.")
    }
    return values.map { $0 as AnyObject }
}
