// Objects of which only the names of class and properties are known: those of migrations, of
// `dynamicObjects`, of classes that the program does not have.

import CoreSwift
import Foundation

/// An object whose properties are reached by name: `object["name"]`, or `object.name`.
@dynamicMemberLookup
public final class DynamicObject: Object {
    /// A property by name; values have the types of the file: `Int`, `String`, `DynamicObject`, `List` and
    /// so on.
    public subscript(dynamicMember name: String) -> Any? {
        get { self[name] }
        set(value) { self[name] = value }
    }

    /// A property by name: of a dynamic object each is one that its class does not declare.
    public func value(forUndefinedKey key: String) -> Any? { self[key] }

    /// Assigns a property by name.
    public func setValue(_ value: Any?, forUndefinedKey key: String) { self[key] = value }

    /// Dynamic objects are of no class of the program.
    public override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// Values of properties of which only the schema is known.
enum DynamicValues {
    static func get(_ object: ObjectBase, _ property: PropertySchema) -> Any? {
        let key = property.key.rawValue
        if property.isComputed {
            return LinkingObjects<DynamicObject>(object, dynamic: property)
        }
        if property.collection != .none {
            func make<T: RealmCollectionValue>(_ type: T.Type) -> Any {
                switch property.collection {
                case .set: MutableSet<T>._rlmGet(object, key)
                case .dictionary: Map<String, T>._rlmGet(object, key)
                case .list, .none: List<T>._rlmGet(object, key)
                }
            }
            if property.type == .object, property.collection == .dictionary {
                return make(DynamicObject?.self)
            }
            return make(valueType(property))
        }
        if property.type == .object {
            return ObjectBase.get(object, key, DynamicObject.self)
        }
        return object._rlmSession.any(object._rlmRead(key))
    }

    /// The Swift type for the values of a property.
    static func valueType(_ property: PropertySchema) -> any RealmCollectionValue.Type {
        func either<T: _RealmScalar>(_ type: T.Type) -> any RealmCollectionValue.Type {
            property.isNullable ? T?.self : type
        }
        switch property.type {
        case .int: return either(Int.self)
        case .bool: return either(Bool.self)
        case .string: return either(String.self)
        case .binary: return either(Data.self)
        case .timestamp: return either(Date.self)
        case .float: return either(Float.self)
        case .double: return either(Double.self)
        case .decimal128: return either(Decimal128.self)
        case .objectId: return either(ObjectId.self)
        case .uuid: return either(UUID.self)
        case .mixed: return AnyRealmValue.self
        case .object, .linkingObjects: return DynamicObject.self
        }
    }

    /// Writes a value to a property of a managed object.
    static func set(
        _ object: ObjectBase, _ property: PropertySchema, _ value: Any?, _ policy: _AddingPolicy
    ) {
        let session = object._rlmSession
        DynamicWriter(session: session, policy: policy).set(object, property, value ?? NSNull())
    }
}

/// Writes values of any type to objects of which only the schema is known.
struct DynamicWriter {
    let session: _RealmSession
    let policy: _AddingPolicy

    /// The object for a value: a dictionary, an array in the order of properties, or an object.
    func create(_ binding: _ClassBinding, _ value: Any) -> ObjectHandle {
        let values = values(binding.schema, value)
        let item = binding.schema
        let handle: ObjectHandle
        if let key = item.primaryKeyProperty {
            guard let given = values[key.name] else {
                misuse("Missing value for property '\(item.name).\(key.name)'")
            }
            handle = withRaw(key, item, given) { raw in
                session.create(item.key, raw, policy, item.name, given).handle
            }
        } else {
            handle = engine(.realm, try session.core.createObject(item.key))
        }
        fill(session.accessor(handle.clone(), DynamicObject.self), item, values)
        return handle
    }

    func fill(_ object: ObjectBase, _ item: ClassSchema, _ values: [String: Any]) {
        for property in item.properties where !property.isPrimaryKey {
            guard let value = values[property.name] else { continue }
            set(object, property, value)
        }
    }

    func values(_ item: ClassSchema, _ value: Any) -> [String: Any] {
        var result: [String: Any] = [:]
        switch ObjectValues(value, count: item.properties.count) {
        case .named(let values): return values
        case .object(let source):
            for property in item.properties {
                result[property.name] = source.valueIfPresent(property.name)
            }
        case .ordered(let values):
            for (property, value) in zip(item.properties, values) { result[property.name] = value }
        case nil: misuse("Invalid value '\(value)' to initialize object of type '\(item.name)'")
        }
        return result
    }

    private func withRaw<R>(
        _ property: PropertySchema, _ item: ClassSchema, _ value: Any, _ body: (RawValue) -> R
    ) -> R {
        if isNull(value) {
            if !property.isNullable { misuse("Must provide a non-nil value.") }
            return body(.null)
        }
        guard let converted = DynamicValues.valueType(property)._rlmConvert(value) else {
            misuse(
                "Invalid value '\(value)' of type '\(type(of: value))' for "
                    + "'\(PropertyType(property.type))' property '\(item.name).\(property.name)'.")
        }
        return converted._rlmWithRaw(session, policy, body)
    }

    func set(_ object: ObjectBase, _ property: PropertySchema, _ value: Any) {
        guard let binding = object.binding else { return }
        let key = property.key.rawValue
        if property.isComputed {
            misuse(
                "Linking objects property '\(binding.schema.name).\(property.name)' is read only.")
        }
        guard property.collection == .none else {
            let known = isNull(value) ? [Any]() : value
            let isDone: Bool
            if property.type == .object {
                isDone = setObjects(object, property, known)
            } else {
                let target = DynamicValues.get(object, property) as? any _AssignableCollection
                isDone = target?._rlmAssign(known, policy) ?? true
            }
            guard isDone else {
                misuse(
                    "Invalid value '\(value)' of type '\(type(of: value))' for "
                        + "'\(property.collection)' property '\(binding.schema.name).\(property.name)'."
                )
            }
            return
        }
        if property.type != .object {
            return withRaw(property, binding.schema, value) { raw in write(object, key, raw) }
        }
        guard let value = unwrapped(value) else { return write(object, key, .null) }
        let target = session.binding(named: property.linkTarget)
        if let linked = value as? ObjectBase, linked.session === session, linked.slot != nil,
            target.schema.kind != .embedded
        {
            return write(object, key, session.link(linked, policy))
        }
        guard target.schema.kind == .embedded else {
            let made = create(target, value)
            defer { made.release() }
            return write(object, key, .link(made.classKey, made.objectKey))
        }
        let made = engine(
            .object,
            try ObjectHandle(checked: object.slot.unsafelyUnwrapped).createEmbedded(property.key))
        fill(
            session.accessor(made, DynamicObject.self), target.schema, values(target.schema, value))
    }

    /// Writes the elements of a collection of objects: objects of the realm, or what objects are made from. False where
    /// the value is no collection.
    private func setObjects(_ object: ObjectBase, _ property: PropertySchema, _ value: Any) -> Bool
    {
        let target = session.binding(named: property.linkTarget)
        let isEmbedded = target.schema.kind == .embedded
        /// The object for an element, unless it is embedded: those are made in their places.
        func linked(_ value: Any) -> DynamicObject {
            if let known = value as? ObjectBase, known.session === session,
                let handle = known.handle, handle.isValid
            {
                return session.accessor(handle.clone(), DynamicObject.self)
            }
            return session.accessor(create(target, value), DynamicObject.self)
        }
        func fillEmbedded(_ made: ObjectHandle, _ values: [String: Any]) {
            fill(session.accessor(made, DynamicObject.self), target.schema, values)
        }
        switch DynamicValues.get(object, property) {
        case let list as List<DynamicObject>:
            guard let elements = anyElements(value) else { return false }
            guard isEmbedded else { return list._rlmAssign(elements.map(linked), policy) }
            // The values may be those of the elements that go.
            let all = elements.map { values(target.schema, $0) }
            list.removeAll()
            let collection = list.managed
            for (index, values) in all.enumerated() {
                fillEmbedded(
                    collection.call(try collection.core.insertEmbedded(at: index)), values)
            }
        case let set as MutableSet<DynamicObject>:
            guard let elements = anyElements(value) else { return false }
            return set._rlmAssign(elements.map(linked), policy)
        case let map as Map<String, DynamicObject?>:
            guard let entries = anyEntries(value) else { return false }
            guard isEmbedded else {
                // Keys may differ in bytes alone, which texts of Swift don't tell apart: the last one counts, as elsewhere.
                return map._rlmAssign(
                    Dictionary(
                        entries.map { ($0, unwrapped($1).map(linked) as Any) },
                        uniquingKeysWith: { _, last in last }),
                    policy)
            }
            let all = entries.map { ($0, unwrapped($1).map { values(target.schema, $0) }) }
            map.removeAll()
            let collection = map.managed
            for (key, values) in all {
                guard let values else {
                    map.updateValue(nil, forKey: key)
                    continue
                }
                key._rlmWithRaw(session, .error) { raw in
                    fillEmbedded(
                        collection.call { () throws(RealmError) in
                            try collection.core.insertEmbedded(key: raw)
                        }, values)
                }
            }
        default: return false
        }
        return true
    }

    /// In migrations primary keys can be written as well: the engine knows.
    private func write(_ object: ObjectBase, _ key: Int64, _ raw: RawValue) {
        engine(
            .object,
            try ObjectHandle(checked: object.slot.unsafelyUnwrapped).setValue(
                CoreSwift.PropertyKey(rawValue: key), raw))
    }
}

/// The entries of what can be assigned to a map; nil for what has no keys of texts.
private func anyEntries(_ value: Any) -> [(String, Any)]? {
    if let values = value as? [String: Any] { return values.map { ($0.key, $0.value) } }
    if let values = value as? Map<String, DynamicObject?> {
        return values.map { ($0.key, $0.value as Any) }
    }
    if let values = value as? NSDictionary {
        return values.compactMap { key, value in (key as? String).map { ($0, value) } }
    }
    if let values = value as? [Any], values.isEmpty { return [] }
    guard let values = (value as? any _AssignableCollection)?._rlmContent as? [String: Any] else {
        return nil
    }
    return values.map { ($0.key, $0.value) }
}
