// Objects: creating, finding, reading, changing, deleting. The calls that programs make in loops
// are here; each checks its handle's tag and goes straight to the engine, without counting
// references.

import CRealm
import CoreSwift

extension ObjectHandle {
    @inline(__always) var cHandle: OpaquePointer? { OpaquePointer(slot) }
}

/// Whether there is something to do; throws for counts that no array has.
@inline(__always)
private func hasValues(_ count: Int) throws(RealmError) -> Bool {
    // A count above Int.max arrives negative.
    if count < 0 { throw RealmError(.invalidArgument, "num_values is larger than memory") }
    return count > 0
}

// MARK: - Counting and finding

/// Writes the number of objects of the class. Fails: RLM_ERR_NO_SUCH_TABLE, RLM_ERR_CLOSED_REALM.
@c @implementation
public func realm_get_num_objects(
    _ realm: OpaquePointer?, _ class_key: realm_class_key_t, _ out_count: UnsafeMutablePointer<Int>?
) -> Bool {
    boundary(realm, false) { realm throws(RealmError) in
        let count = try realm.objectCount(ClassKey(class_key))
        out_count?.pointee = count
        return true
    }
}

/// Returns a new handle to the object with this key. Fails: RLM_ERR_NO_SUCH_TABLE,
/// RLM_ERR_NO_SUCH_OBJECT.
@c @implementation
public func realm_get_object(
    _ realm: OpaquePointer?, _ class_key: realm_class_key_t, _ obj_key: realm_object_key_t
) -> OpaquePointer? {
    boundary(realm, nil) { realm throws(RealmError) in
        try realm.object(ClassKey(class_key), ObjectKey(obj_key)).cHandle
    }
}

/// Returns a new handle to the object with this primary key. `nil` without an error, and
/// `out_found` false, when there is none or the value cannot be a key of the class. Fails:
/// RLM_ERR_NO_SUCH_TABLE.
@c @implementation
public func realm_object_find_with_primary_key(
    _ realm: OpaquePointer?, _ class_key: realm_class_key_t, _ pk: realm_value_t,
    _ out_found: UnsafeMutablePointer<Bool>?
) -> OpaquePointer? {
    boundary(realm, nil) { realm throws(RealmError) in
        let found = try realm.findObject(ClassKey(class_key), primaryKey: RawValue(pk))
        out_found?.pointee = found != nil
        return found?.cHandle
    }
}

// MARK: - Creating and deleting

/// Returns a new handle to a new object with the defaults of its properties: null where null is
/// allowed, else zero, false, empty. Fails: RLM_ERR_NO_SUCH_TABLE, RLM_ERR_MISSING_PRIMARY_KEY for
/// a class with a primary key, RLM_ERR_ILLEGAL_OPERATION for an embedded class,
/// RLM_ERR_WRONG_TRANSACTION_STATE without a write transaction.
@c @implementation
public func realm_object_create(_ realm: OpaquePointer?, _ class_key: realm_class_key_t)
    -> OpaquePointer?
{
    boundary(realm, nil) { realm throws(RealmError) in
        try realm.createObject(ClassKey(class_key)).cHandle
    }
}

/// Returns a new handle to a new object with this primary key. Fails:
/// RLM_ERR_OBJECT_ALREADY_EXISTS when the key is taken, otherwise as
/// `realm_object_get_or_create_with_primary_key()`.
@c @implementation
public func realm_object_create_with_primary_key(
    _ realm: OpaquePointer?, _ class_key: realm_class_key_t, _ pk: realm_value_t
) -> OpaquePointer? {
    boundary(realm, nil) { realm throws(RealmError) in
        try realm.createObject(ClassKey(class_key), primaryKey: RawValue(pk)).cHandle
    }
}

/// Returns a new handle to the object with this primary key, creating it if need be; `did_create`
/// tells. Null is a key like another where the property allows it. Fails: RLM_ERR_NO_SUCH_TABLE,
/// RLM_ERR_UNEXPECTED_PRIMARY_KEY for a class without one, RLM_ERR_PROPERTY_NOT_NULLABLE,
/// RLM_ERR_PROPERTY_TYPE_MISMATCH, RLM_ERR_WRONG_TRANSACTION_STATE when creating without a write
/// transaction.
@c @implementation
public func realm_object_get_or_create_with_primary_key(
    _ realm: OpaquePointer?, _ class_key: realm_class_key_t, _ pk: realm_value_t,
    _ did_create: UnsafeMutablePointer<Bool>?
) -> OpaquePointer? {
    boundary(realm, nil) { realm throws(RealmError) in
        var created = false
        let handle = try realm.getOrCreateObject(
            ClassKey(class_key), primaryKey: RawValue(pk), created: &created)
        did_create?.pointee = created
        return handle.cHandle
    }
}

/// Deletes the object; links to it become null. The handle stays and has to be released. Fails:
/// RLM_ERR_INVALIDATED_OBJECT when it was deleted before, RLM_ERR_WRONG_TRANSACTION_STATE.
@c @implementation
public func realm_object_delete(_ object: OpaquePointer?) -> Bool {
    succeeds(try objectHeld(object).delete())
}

// MARK: - Identity

/// Whether the object exists; false after its deletion, after the rollback of its creation, and
/// when the realm was closed or compacted. Never fails.
@c @implementation
public func realm_object_is_valid(_ object: OpaquePointer?) -> Bool {
    guard let object, HandleSlab.isHandle(UnsafeRawPointer(object), .object) else { return false }
    return ObjectHandle(checked: UnsafeMutableRawPointer(object)).isValid
}

/// The object's key, also of an object that was deleted.
@c @implementation
public func realm_object_get_key(_ object: OpaquePointer?) -> realm_object_key_t {
    boundary(-1, try objectHeld(object).objectKey.rawValue)
}

/// The key of the object's class, also of an object that was deleted.
@c @implementation
public func realm_object_get_table(_ object: OpaquePointer?) -> realm_class_key_t {
    boundary(ClassKey.invalid.rawValue, try objectHeld(object).classKey.rawValue)
}

/// The object as a link value, also of an object that was deleted.
@c @implementation
public func realm_object_as_link(_ object: OpaquePointer?) -> realm_link_t {
    let none = realm_link_t(
        target_table: ClassKey.invalid.rawValue, target: ObjectKey.invalid.rawValue)
    return boundary(none) { () throws(RealmError) in
        let handle = try objectHeld(object)
        return realm_link_t(
            target_table: handle.classKey.rawValue, target: handle.objectKey.rawValue)
    }
}

/// Finds the same object in another realm of the file, live or frozen; `resolved` gets a new
/// handle, or NULL if it is not there or was deleted here. Fails: RLM_ERR_CLOSED_REALM for the
/// target, RLM_ERR_ILLEGAL_OPERATION for a realm of another file; `resolved` is not written then.
@c @implementation
public func realm_object_resolve_in(
    _ live_object: OpaquePointer?, _ target_realm: OpaquePointer?,
    _ resolved: UnsafeMutablePointer<OpaquePointer?>?
) -> Bool {
    succeeds { () throws(RealmError) in
        let handle = try objectHeld(live_object)
        let resolved = try given(resolved, "resolved")
        resolved.pointee = try handle.resolved(in: try realmHeld(target_realm))?.cHandle
    }
}

// MARK: - Reading

/// Reads a property. Strings and binaries are borrowed: they live until the realm moves to another
/// version, ends its transaction or is closed. Fails: RLM_ERR_INVALIDATED_OBJECT,
/// RLM_ERR_WRONG_THREAD, RLM_ERR_INVALID_PROPERTY.
@c @implementation
public func realm_get_value(
    _ object: OpaquePointer?, _ property: realm_property_key_t,
    _ out_value: UnsafeMutablePointer<realm_value_t>?
) -> Bool {
    succeeds(try objectHeld(object).getValue(PropertyKey(property), out_value?.raw))
}

/// Reads several properties; as `realm_get_value()`. After a failure, values before the one that
/// failed are written.
@c @implementation
public func realm_get_values(
    _ object: OpaquePointer?, _ num_values: Int, _ properties: UnsafePointer<realm_property_key_t>?,
    _ out_values: UnsafeMutablePointer<realm_value_t>?
) -> Bool {
    succeeds { () throws(RealmError) in
        let handle = try objectHeld(object)
        guard try hasValues(num_values) else { return }
        let properties = try given(properties, "properties")
        try handle.getValues(num_values, properties.propertyKeys, out_values?.raw)
    }
}

/// Reads the property at a position in the class's stored properties; of a list or dictionary only
/// the type. Fails: as `realm_get_value()`, also for sets; RLM_ERR_INVALID_PROPERTY when there is no such position.
@c @implementation
public func realm_get_value_by_property_index(
    _ object: OpaquePointer?, _ prop_index: Int, _ out_value: UnsafeMutablePointer<realm_value_t>?
) -> Bool {
    succeeds { () throws(RealmError) in
        let handle = try objectHeld(object)
        try handle.checkValid()
        let properties = handle.realm.schema.class_(handle.classKey)?.properties ?? []
        guard properties.indices.contains(prop_index) else {
            throw RealmError(
                .invalidProperty,
                "the class has \(properties.count) stored properties, \(prop_index) is no index")
        }
        let property = properties[prop_index]
        let mark: ValueType
        switch property.collection {
        case .list: mark = .list
        case .dictionary: mark = .dictionary
        case .set, .none:
            return try handle.getValue(property.key, out_value?.raw)
        }
        out_value?.raw.pointee = RawValue(word0: 0, word1: 0, type: mark)
    }
}

/// Returns a new handle to the object a link points to, or `nil` without an error for a null
/// link. A mixed property that holds a link will do; null in a mixed or string property is a null
/// link. Fails: RLM_ERR_INVALID_TABLE_REF for a property that is no link, or a mixed one that
/// holds something else, RLM_ERR_INVALID_PROPERTY, RLM_ERR_INVALIDATED_OBJECT.
@c @implementation
public func realm_get_linked_object(_ object: OpaquePointer?, _ property: realm_property_key_t)
    -> OpaquePointer?
{
    boundary(nil, try objectHeld(object).linkedObject(PropertyKey(property))?.cHandle)
}

// MARK: - Changing

/// Writes a property. Fails: RLM_ERR_INVALIDATED_OBJECT, RLM_ERR_INVALID_PROPERTY,
/// RLM_ERR_PROPERTY_NOT_NULLABLE, RLM_ERR_PROPERTY_TYPE_MISMATCH, RLM_ERR_MODIFY_PRIMARY_KEY for
/// another value of the primary key, RLM_ERR_WRONG_TRANSACTION_STATE, RLM_ERR_NO_SUCH_OBJECT for
/// a link to an object that does not exist, RLM_ERR_NO_SUCH_TABLE and RLM_ERR_ILLEGAL_OPERATION
/// for a link in a mixed value to an unknown or embedded class, RLM_ERR_LIMIT_EXCEEDED.
/// `is_default` has no effect.
@c @implementation
public func realm_set_value(
    _ object: OpaquePointer?, _ property: realm_property_key_t, _ new_value: realm_value_t,
    _ is_default: Bool
) -> Bool {
    succeeds(try objectHeld(object).setValue(PropertyKey(property), RawValue(new_value)))
}

/// Writes several properties. Keys and types of all are checked before anything is written; later
/// failures may leave earlier values written. Of several values for one property the last counts.
/// Fails: as `realm_set_value()`.
@c @implementation
public func realm_set_values(
    _ object: OpaquePointer?, _ num_values: Int, _ properties: UnsafePointer<realm_property_key_t>?,
    _ values: UnsafePointer<realm_value_t>?, _ is_default: Bool
) -> Bool {
    succeeds { () throws(RealmError) in
        let handle = try objectHeld(object)
        guard try hasValues(num_values) else { return }
        guard let properties, let values else {
            throw RealmError(.invalidArgument, "properties and values must not be NULL")
        }
        try handle.setValues(num_values, properties.propertyKeys, values.raw)
    }
}

/// Creates an object with values in one call, or none: what fails leaves nothing of it. Returns a new
/// handle. `primary_key` is NULL for classes without one; its property is not among `properties`.
/// Properties that are not named are null, or zero of their type where they can't be. Fails: as
/// `realm_object_create_with_primary_key()`, `realm_object_create()` and `realm_set_values()`.
@c @implementation
public func realm_object_create_with_values(
    _ realm: OpaquePointer?, _ class_key: realm_class_key_t,
    _ primary_key: UnsafePointer<realm_value_t>?, _ num_values: Int,
    _ properties: UnsafePointer<realm_property_key_t>?, _ values: UnsafePointer<realm_value_t>?
) -> OpaquePointer? {
    boundary(realm, nil) { realm throws(RealmError) in
        let key = primary_key.map { RawValue($0.pointee) }
        guard try hasValues(num_values) else {
            return if let key {
                try realm.createObject(ClassKey(class_key), primaryKey: key).cHandle
            } else {
                try realm.createObject(ClassKey(class_key)).cHandle
            }
        }
        guard let properties, let values else {
            throw RealmError(.invalidArgument, "properties and values must not be NULL")
        }
        return try realm.createObject(
            ClassKey(class_key), primaryKey: key, num_values, properties.propertyKeys,
            values.raw
        ).cHandle
    }
}

/// Adds to an integer property, or to a mixed one that holds an integer, wrapping around. Fails:
/// RLM_ERR_ILLEGAL_OPERATION for null or another type of property or value, otherwise as
/// `realm_set_value()`.
@c @implementation
public func realm_object_add_int(
    _ object: OpaquePointer?, _ property_key: realm_property_key_t, _ value: Int64
) -> Bool {
    succeeds(try objectHeld(object).addInt(PropertyKey(property_key), value))
}

/// Returns the object as one line of JSON, to be freed with `realm_free()`. Links show the
/// primary key of their target, or its object key; embedded objects stand in their place. Fails: RLM_ERR_INVALIDATED_OBJECT; RLM_ERR_LIMIT_EXCEEDED with
/// more than a hundred embedded objects in one another.
@c @implementation
public func realm_object_to_string(_ object: OpaquePointer?) -> UnsafeMutablePointer<CChar>? {
    boundary(nil, copyForC(try objectHeld(object).jsonText()))
}
