// Introspection: the classes and properties that a realm shows, by key and by name.

import CRealm
import CoreSwift

extension Realm {
    /// The shown class with this key; `.noSuchTable` for others, and for classes that are not in
    /// the file.
    func shownClass(_ key: ClassKey) throws(RealmError) -> ClassSchema {
        try beginRead()
        guard key != .invalid, let found = schema.class_(key) else {
            throw RealmError(.noSuchTable, "no class of the realm has the key \(key)")
        }
        return found
    }
}

private func shownClass(
    _ realm: OpaquePointer?, _ key: realm_class_key_t
) throws(RealmError) -> ClassSchema {
    try realmHeld(realm).shownClass(ClassKey(key))
}

/// Byte by byte: Swift finds texts equal that look alike, callers in C do not.
private func isExact(_ a: String, _ b: String) -> Bool { a.utf8.elementsEqual(b.utf8) }

/// Copies `items` if `out` has room for all of them, and tells how many there are.
private func copyAll<T, U>(
    _ items: [T], _ out: UnsafeMutablePointer<U>?, _ max: Int,
    _ outCount: UnsafeMutablePointer<Int>?,
    _ convert: (T) -> U
) {
    outCount?.pointee = items.count
    // A capacity above Int.max arrives negative.
    guard let out, max >= items.count || max < 0 else { return }
    for (i, item) in items.enumerated() { out[i] = convert(item) }
}

/// Returns a new handle to the schema that the realm shows. It follows the changes of the realm's
/// schema as long as the realm lives; a clone stays as it is. Works on closed realms.
@c @implementation
public func realm_get_schema(_ realm: OpaquePointer?) -> OpaquePointer? {
    boundary(nil) { () throws(RealmError) in
        let realm = try realmHeld(realm)
        // The schema is no reason to keep the file open.
        let last = realm.schema
        let live = SchemaObject(live: { [weak realm] in realm?.schema ?? last })
        return makeHandle(.schema, live)
    }
}

/// The version of the schema that the realm saw last; UINT64_MAX if the file never got one.
/// Works on closed realms.
@c @implementation
public func realm_get_schema_version(_ realm: OpaquePointer?) -> UInt64 {
    boundary(0, try realmHeld(realm).schemaVersion)
}

/// How many classes the realm shows. Works on closed realms.
@c @implementation
public func realm_get_num_classes(_ realm: OpaquePointer?) -> Int {
    boundary(0, try realmHeld(realm).schema.classes.count)
}

/// The keys of the classes in the order of their names. `out_n` gets how many there are; the keys
/// are copied only if `max` is large enough for all of them. Works on closed realms.
@c @implementation
public func realm_get_class_keys(
    _ realm: OpaquePointer?, _ out_keys: UnsafeMutablePointer<realm_class_key_t>?, _ max: Int,
    _ out_n: UnsafeMutablePointer<Int>?
) -> Bool {
    succeeds { () throws(RealmError) in
        let classes = try realmHeld(realm).schema.classes
        copyAll(classes, out_keys, max, out_n) { $0.key.rawValue }
    }
}

/// Looks up a class by its name. An unknown name is no error: `out_found` is then false and
/// nothing else written. Works on closed realms.
@c @implementation
public func realm_find_class(
    _ realm: OpaquePointer?, _ name: UnsafePointer<CChar>?,
    _ out_found: UnsafeMutablePointer<Bool>?,
    _ out_class_info: UnsafeMutablePointer<realm_class_info_t>?
) -> Bool {
    succeeds { () throws(RealmError) in
        let realm = try realmHeld(realm)
        let name = try text(name, "name")
        let found = realm.schema.class_(named: name).flatMap { isExact($0.name, name) ? $0 : nil }
        out_found?.pointee = found != nil
        if let found { out_class_info?.pointee = found.info }
    }
}

/// Looks up a class by its public name (`realm_schema_set_class_public_name()`), or by its name if it
/// has none; as `realm_find_class()`.
@c @implementation
public func realm_find_class_by_public_name(
    _ realm: OpaquePointer?, _ public_name: UnsafePointer<CChar>?,
    _ out_found: UnsafeMutablePointer<Bool>?,
    _ out_class_info: UnsafeMutablePointer<realm_class_info_t>?
) -> Bool {
    succeeds { () throws(RealmError) in
        let realm = try realmHeld(realm)
        let name = try text(public_name, "public_name")
        let found = realm.schema.classes.first {
            isExact($0.publicName.isEmpty ? $0.name : $0.publicName, name)
        }
        out_found?.pointee = found != nil
        if let found { out_class_info?.pointee = found.info }
    }
}

/// Describes a class. Fails: RLM_ERR_NO_SUCH_TABLE.
@c @implementation
public func realm_get_class(
    _ realm: OpaquePointer?, _ key: realm_class_key_t,
    _ out_class_info: UnsafeMutablePointer<realm_class_info_t>?
) -> Bool {
    succeeds { () throws(RealmError) in
        let found = try shownClass(realm, key)
        out_class_info?.pointee = found.info
    }
}

/// Describes the properties of a class: stored ones in the order of the schema, then computed
/// ones. `out_n` gets how many there are; they are copied only if `max` is large enough for all
/// of them. Fails: RLM_ERR_NO_SUCH_TABLE.
@c @implementation
public func realm_get_class_properties(
    _ realm: OpaquePointer?, _ key: realm_class_key_t,
    _ out_properties: UnsafeMutablePointer<realm_property_info_t>?, _ max: Int,
    _ out_n: UnsafeMutablePointer<Int>?
) -> Bool {
    succeeds { () throws(RealmError) in
        let found = try shownClass(realm, key)
        copyAll(found.properties + found.computedProperties, out_properties, max, out_n) {
            $0.info
        }
    }
}

/// The keys of the properties of a class, in the same order and with the same rule for the copy
/// as `realm_get_class_properties()`. Fails: RLM_ERR_NO_SUCH_TABLE.
@c @implementation
public func realm_get_property_keys(
    _ realm: OpaquePointer?, _ key: realm_class_key_t,
    _ out_col_keys: UnsafeMutablePointer<realm_property_key_t>?, _ max: Int,
    _ out_n: UnsafeMutablePointer<Int>?
) -> Bool {
    succeeds { () throws(RealmError) in
        let found = try shownClass(realm, key)
        copyAll(found.properties + found.computedProperties, out_col_keys, max, out_n) {
            $0.key.rawValue
        }
    }
}

/// Describes a property, stored or computed. Fails: RLM_ERR_NO_SUCH_TABLE,
/// RLM_ERR_INVALID_PROPERTY.
@c @implementation
public func realm_get_property(
    _ realm: OpaquePointer?, _ class_key: realm_class_key_t, _ key: realm_property_key_t,
    _ out_property_info: UnsafeMutablePointer<realm_property_info_t>?
) -> Bool {
    succeeds { () throws(RealmError) in
        let class_ = try shownClass(realm, class_key)
        let key = PropertyKey(key)
        let all = class_.properties + class_.computedProperties
        guard key != .invalid, let found = all.first(where: { $0.key == key }) else {
            throw RealmError(
                .invalidProperty, "class '\(class_.name)' has no property with this key")
        }
        out_property_info?.pointee = found.info
    }
}

private func find(
    _ realm: OpaquePointer?, _ classKey: realm_class_key_t,
    _ outFound: UnsafeMutablePointer<Bool>?,
    _ outInfo: UnsafeMutablePointer<realm_property_info_t>?,
    _ find: (ClassSchema) throws(RealmError) -> PropertySchema?
) -> Bool {
    succeeds { () throws(RealmError) in
        let found = try find(try shownClass(realm, classKey))
        outFound?.pointee = found != nil
        if let found { outInfo?.pointee = found.info }
    }
}

/// Looks up a property, stored or computed, by its name. An unknown name is no error: `out_found`
/// is then false and nothing else written. Fails: RLM_ERR_NO_SUCH_TABLE.
@c @implementation
public func realm_find_property(
    _ realm: OpaquePointer?, _ class_key: realm_class_key_t, _ name: UnsafePointer<CChar>?,
    _ out_found: UnsafeMutablePointer<Bool>?,
    _ out_property_info: UnsafeMutablePointer<realm_property_info_t>?
) -> Bool {
    find(realm, class_key, out_found, out_property_info) { class_ throws(RealmError) in
        let name = try text(name, "name")
        return class_.property(named: name).flatMap { isExact($0.name, name) ? $0 : nil }
    }
}

/// Looks up a property by its public name, which is its name where it has none. Otherwise as
/// `realm_find_property()`.
@c @implementation
public func realm_find_property_by_public_name(
    _ realm: OpaquePointer?, _ class_key: realm_class_key_t,
    _ public_name: UnsafePointer<CChar>?, _ out_found: UnsafeMutablePointer<Bool>?,
    _ out_property_info: UnsafeMutablePointer<realm_property_info_t>?
) -> Bool {
    find(realm, class_key, out_found, out_property_info) { class_ throws(RealmError) in
        let name = try text(public_name, "public_name")
        return (class_.properties + class_.computedProperties).first {
            isExact($0.publicName.isEmpty ? $0.name : $0.publicName, name)
        }
    }
}

/// Finds the primary key property of a class; `out_found` is false when it has none. Fails:
/// RLM_ERR_NO_SUCH_TABLE.
@c @implementation
public func realm_find_primary_key_property(
    _ realm: OpaquePointer?, _ class_key: realm_class_key_t,
    _ out_found: UnsafeMutablePointer<Bool>?,
    _ out_property_info: UnsafeMutablePointer<realm_property_info_t>?
) -> Bool {
    find(realm, class_key, out_found, out_property_info) { $0.primaryKeyProperty }
}
