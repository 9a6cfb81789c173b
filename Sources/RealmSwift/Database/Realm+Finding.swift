// Objects of a realm by their class and by their primary key.

import CoreSwift
import CRuntime
public import Foundation

extension Realm {
    /// All objects of a class.
    public func objects<Element: RealmFetchable>(_ type: Element.Type) -> Results<Element> {
        let own = type as? ObjectBase.Type
        guard let objectType = own ?? (type as? any ProjectionType.Type)?.root else {
            misuse("Object type '\(type)' not managed by the Realm")
        }
        if objectType is EmbeddedObject.Type {
            misuse("Embedded objects cannot be queried directly: '\(type)'")
        }
        let key = session.binding(objectType).classKey
        let found = engine(.query, try core.results(key))
        return Results(found, session)
    }

    /// All objects of a class by its name.
    public func dynamicObjects(_ typeName: String) -> Results<DynamicObject> {
        let key = session.binding(named: typeName).classKey
        return Results(
            engine(.query, try core.results(key)), session)
    }

    /// The object with a primary key; nil if there is none. A key of another type than the class's is misuse.
    public func object<Element: Object, KeyType>(
        ofType type: Element.Type, forPrimaryKey key: KeyType
    ) -> Element? {
        guard let found = find(session.binding(type), key) else { return nil }
        return session.accessor(found, type)
    }

    /// The object with a primary key, of a class by its name.
    public func dynamicObject(ofType typeName: String, forPrimaryKey key: Any) -> DynamicObject? {
        find(session.binding(named: typeName), key).map {
            session.accessor($0, DynamicObject.self)
        }
    }

    private func find<Key>(_ binding: _ClassBinding, _ key: Key) -> ObjectHandle? {
        guard binding.primaryKey != -1, let index = binding.info.primaryKey else {
            misuseOfKeyless(binding)
        }
        let type = binding.info.properties[index].valueType
        guard let value = type._rlmConvert(key) as? any RealmCollectionValue else {
            misuseOfKey(key, binding)
        }
        return value._rlmWithRaw(session, .error) { raw in
            engine(.query) { () throws(RealmError) in
                try core.findObject(binding.classKey, primaryKey: raw)
            }
        }
    }

    private func misuseOfKeyless(_ binding: _ClassBinding) -> Never {
        misuse("'\(binding.info.className)' does not have a primary key")
    }

    private func misuseOfKey(_ key: Any, _ binding: _ClassBinding) -> Never {
        let property = binding.info.primaryKey.map { binding.info.properties[$0].typeName } ?? ""
        let shown = unwrapped(key).map { "\($0)" } ?? "nil"
        misuse(
            "Invalid value '\(shown)' of type '\(Swift.type(of: key))' for '\(property)' property "
                + "'\(binding.info.className).\(binding.schema.primaryKey)'.")
    }
}

// The usual types of keys, without what is generic: asking the runtime for types takes longer than finding.

extension Realm {
    /// The object with a primary key that is an integer.
    public func object<Element: Object>(
        ofType type: Element.Type, forPrimaryKey key: Int
    ) -> Element? { object(type, .int(Int64(key)), key) }

    /// The object with a primary key that is an integer or nil.
    public func object<Element: Object>(
        ofType type: Element.Type, forPrimaryKey key: Int?
    ) -> Element? { object(type, key.map { .int(Int64($0)) } ?? .null, key as Any) }

    /// The object with a primary key that is a text.
    public func object<Element: Object>(
        ofType type: Element.Type, forPrimaryKey key: String
    ) -> Element? { key._rlmWithRaw(session, .error) { object(type, $0, key) } }

    /// The object with a primary key that is a text or nil.
    public func object<Element: Object>(
        ofType type: Element.Type, forPrimaryKey key: String?
    ) -> Element? {
        guard let key else { return object(type, .null, String?.none as Any) }
        return object(ofType: type, forPrimaryKey: key)
    }

    /// The object with a primary key that is an object id.
    public func object<Element: Object>(
        ofType type: Element.Type, forPrimaryKey key: ObjectId
    ) -> Element? { object(type, .objectId(key.core), key) }

    /// The object with a primary key that is an object id or nil.
    public func object<Element: Object>(
        ofType type: Element.Type, forPrimaryKey key: ObjectId?
    ) -> Element? { object(type, key.map { .objectId($0.core) } ?? .null, key as Any) }

    /// The object with a primary key that is a UUID.
    public func object<Element: Object>(
        ofType type: Element.Type, forPrimaryKey key: UUID
    ) -> Element? { key.withRawValue { object(type, $0, key) } }

    /// The object with a primary key that is a UUID or nil.
    public func object<Element: Object>(
        ofType type: Element.Type, forPrimaryKey key: UUID?
    ) -> Element? {
        guard let key else { return object(type, .null, UUID?.none as Any) }
        return object(ofType: type, forPrimaryKey: key)
    }

    @inline(__always)
    private func object<Element: Object>(
        _ type: Element.Type, _ raw: RawValue, _ key: @autoclosure () -> Any
    ) -> Element? {
        guard let plan = session.plan(type) else {
            let binding = session.binding(type)
            guard let found = found(binding.plan, raw) else { return missing(binding, raw, key()) }
            return session.accessor(found, type)
        }
        guard let found = found(plan, raw) else {
            return missing(session.binding(type), raw, key())
        }
        return plan.accessor(found, type) ?? session.accessor(found, type)
    }

    @inline(__always)
    private func found(
        _ plan: UnsafeMutablePointer<crt_plan>, _ raw: RawValue
    ) -> ObjectHandle? {
        engine(
            .query, try core.findObject(ClassKey(rawValue: plan.pointee.class_key), primaryKey: raw)
        )
    }

    /// Nothing was found: there is no such object, or none can have such a key, which is misuse.
    @inline(never)
    private func missing<Element: Object>(
        _ binding: _ClassBinding, _ raw: RawValue, _ key: Any
    ) -> Element? {
        guard binding.primaryKey != -1,
            let property = binding.schema.property(named: binding.schema.primaryKey)
        else { misuseOfKeyless(binding) }
        let type: ValueType? =
            switch property.type {
            case .int: .int
            case .string: .string
            case .objectId: .objectId
            case .uuid: .uuid
            default: nil
            }
        let fits = raw.isNull ? property.isNullable : raw.type == type?.rawValue
        if !fits { misuseOfKey(key, binding) }
        return nil
    }
}
