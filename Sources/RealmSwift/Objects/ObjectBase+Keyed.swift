// Properties by name, descriptions, and the counterparts of objects in frozen and live realms.

import CoreSwift
import Foundation

extension ObjectBase {
    /// A property by name; also `self`, `realm`, `objectSchema` and `isInvalidated`.
    public final func value(forKey key: String) -> Any? {
        switch key {
        case "self": return self
        case "realm": return realm
        case "objectSchema": return objectSchema
        case "isInvalidated": return isInvalidated
        default: break
        }
        if let binding, slot != nil, binding.info.isDynamic || self is DynamicObject {
            let name = binding.key(key)
            return DynamicValues.get(self, name.property)
        }
        let property = classInfo.property(key)
        return unwrapped(property.wrapper.get(self, ClassInfo.address(self, property)))
    }

    /// The value; nil also where the class has no such property.
    final func valueIfPresent(_ name: String) -> Any? {
        if self is DynamicObject {
            guard let binding, let property = binding.schema.property(named: name) else {
                return nil
            }
            return DynamicValues.get(self, property) ?? NSNull()
        }
        guard let index = classInfo.byName[name] else { return nil }
        let property = classInfo.properties[index]
        return property.wrapper.get(self, ClassInfo.address(self, property))
    }

    /// Assigns a property by name.
    public final func setValue(_ value: Any?, forKey key: String) {
        if let binding, slot != nil, binding.info.isDynamic || self is DynamicObject {
            return DynamicValues.set(self, binding.key(key).property, value, .error)
        }
        let info = classInfo
        let property = info.property(key)
        let value: Any = value ?? NSNull()
        if let session, property.isPrimaryKey, session.core.isWritable {
            misuse("Primary key can't be changed after an object is inserted.")
        }
        if property.wrapper.set(self, ClassInfo.address(self, property), value) { return }
        if isNull(value) { misuse("Must provide a non-nil value.; '\(info.className).\(key)'") }
        misuse(
            "Invalid value '\(value)' of type '\(type(of: value))' for '\(property.typeName)' property "
                + "'\(info.className).\(key)'.")
    }

    /// A property of an object that is reached over links: `owner.name`. Behind collections it is that of all
    /// elements, or what an operator makes of them: `dogs.@sum.age`.
    public final func value(forKeyPath path: String) -> Any? { reached(from: self, by: path[...]) }

    /// Assigns a property of an object that is reached over links.
    public final func setValue(_ value: Any?, forKeyPath path: String) {
        guard let dot = path.lastIndex(of: ".") else { return setValue(value, forKey: path) }
        let owner = self.value(forKeyPath: String(path[..<dot])) as? ObjectBase
        owner?.setValue(value, forKey: String(path[path.index(after: dot)...]))
    }

    /// Assigns several properties by name.
    public final func setValuesForKeys(_ values: [String: Any]) {
        for (name, value) in values { setValue(value, forKey: name) }
    }

    /// Several properties by name; nil values are `NSNull`.
    public final func dictionaryWithValues(forKeys names: [String]) -> [String: Any] {
        Dictionary(
            names.map { ($0, value(forKey: $0) ?? NSNull()) }, uniquingKeysWith: { a, _ in a })
    }

    /// A list of which only the name is known.
    public final func dynamicList(_ name: String) -> List<DynamicObject> {
        List<DynamicObject>._rlmGet(self, dynamicKey(name, .list))
    }

    /// A set of which only the name is known.
    public final func dynamicMutableSet(_ name: String) -> MutableSet<DynamicObject> {
        MutableSet<DynamicObject>._rlmGet(self, dynamicKey(name, .set))
    }

    /// A map of which only the name is known.
    public final func dynamicMap(_ name: String) -> Map<String, DynamicObject?> {
        Map<String, DynamicObject?>._rlmGet(self, dynamicKey(name, .dictionary))
    }

    /// The same with keys of any type that keys can have.
    public final func dynamicMap<Key: _MapKey>(_ name: String) -> Map<Key, DynamicObject?> {
        Map<Key, DynamicObject?>._rlmGet(self, dynamicKey(name, .dictionary))
    }

    private func dynamicKey(_ name: String, _ collection: CollectionType) -> Int64 {
        guard let binding else { misuse("Only managed objects have properties by name alone.") }
        let found = binding.key(name)
        guard found.property.collection == collection else {
            misuse("Property '\(binding.info.className).\(name)' is no \(collection).")
        }
        return found.key
    }

    // MARK: Frozen and live

    final func frozenCopy() -> Self {
        guard let handle, let session else { misuse("Unmanaged objects cannot be frozen.") }
        _rlmCheckValid()
        if isFrozen { return self }
        if session.core.isWritable {
            misuse("Cannot freeze an object in the same write transaction as it was created in.")
        }
        return counterpart(handle, session.frozen())
            ?? { misuse("Object has been deleted or invalidated.") }()
    }

    final func thawedCopy() -> Self? {
        guard let handle, let session else { misuse("Unmanaged objects cannot be thawed.") }
        if !isFrozen { return self }
        return counterpart(handle, session.live())
    }

    private func counterpart(_ handle: ObjectHandle, _ other: _RealmSession) -> Self? {
        let found = engine(.object, try handle.resolved(in: other.core))
        guard let found else { return nil }
        func make<T: ObjectBase>(_ type: T.Type) -> T { other.accessor(found, type) }
        return make(Self.self)
    }

    /// The object as it is now: it never changes, and any thread may read it.
    public final func freeze() -> Self { frozenCopy() }

    /// The live object in the realm of the calling thread; nil if it was deleted. Of a live object itself.
    public final func thaw() -> Self? { thawedCopy() }
}

// MARK: - Descriptions

extension ObjectBase: CustomStringConvertible, CustomDebugStringConvertible {
    final func text(depth: Int) -> String {
        let schema = objectSchema
        if depth == 0 { return "<Maximum depth exceeded>" }
        var result = "\(schema.className) {\n"
        for property in schema.properties where property.type != .linkingObjects {
            let value = value(forKey: property.name)
            let shown = Descriptions.text(value, depth: depth - 1)
            result +=
                "\t\(property.name) = \(shown.replacingOccurrences(of: "\n", with: "\n\t"));\n"
        }
        return result + "}"
    }
}

enum Descriptions {
    /// More elements than these are not shown.
    static let elementsMax = 100
    private static let textMax = 512
    private static let bytesMax = 24

    static func text(_ value: Any?, depth: Int) -> String {
        guard let value = value.flatMap({ unwrapped($0) }) else { return "(null)" }
        switch value {
        case let object as ObjectBase: return object.text(depth: depth)
        case let collection as any _DescribedCollection: return collection._rlmText(depth)
        case let text as String:
            return text.count > textMax ? text.prefix(textMax) + "…" : text
        case let bytes as Data:
            let start = bytes.prefix(bytesMax).map { String(format: "%02x", $0) }.joined()
            let rest = bytes.count > bytesMax ? "…" : ""
            return "<\(start)\(rest) — \(bytes.count) total bytes>"
        default: return "\(value)"
        }
    }

    /// `Results<Dog> <0x…> (\n\t[0] …\n)`.
    static func collection(
        _ name: String, _ address: String, _ count: Int, depth: Int, _ element: (Int) -> String
    ) -> String {
        if depth == 0 { return "<Maximum depth exceeded>" }
        var lines: [String] = []
        for index in 0..<min(count, elementsMax) {
            lines.append("\t" + element(index).replacingOccurrences(of: "\n", with: "\n\t"))
        }
        var text = "\(name) <\(address)> (\n" + lines.joined(separator: ",\n")
        if count > elementsMax { text += "\n\t... \(count - elementsMax) objects skipped." }
        return text + "\n)"
    }
}

/// A collection that can be shown inside an object.
public protocol _DescribedCollection {
    func _rlmText(_ depth: Int) -> String
}

/// What a path of names leads to from an object or a collection.
func reached(from start: Any, by path: Substring) -> Any? {
    var found: Any? = start
    var rest = path
    while !rest.isEmpty {
        guard let value = found.flatMap({ unwrapped($0) }) else { return nil }
        if let collection = value as? any RealmCollection {
            return collection.value(forKeyPath: String(rest))
        }
        if let map = value as? any RealmKeyedCollection {
            return map.value(forKeyPath: String(rest))
        }
        let name = rest.prefix { $0 != "." }
        guard let object = value as? ObjectBase else {
            misuse("Invalid property name '\(name)' for class '\(type(of: value))'.")
        }
        found = object.value(forKey: String(name))
        rest = rest.dropFirst(name.count + 1)
    }
    return found
}
