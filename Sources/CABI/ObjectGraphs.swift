// Whole objects with what they link to and contain: from JSON text, to it, and into other realms.
// Extensions; see docs/JSON.md.

import CKernels
import CRealm
import CoreSwift

func policy(_ update: realm_update_policy_e) throws(RealmError) -> UpdatePolicy {
    guard let policy = UpdatePolicy(rawValue: update.rawValue) else {
        throw RealmError(.invalidArgument, "\(update.rawValue) is no update policy")
    }
    return policy
}

/// Creates an object, with all that is nested in it, from JSON text, or updates the one with its
/// primary key as `update` says. Returns a new handle. The text is an object with values by
/// property name (internal or public), or an array of all values in the order of the properties.
/// Missing values are taken from `realm_schema_set_default()`, else are null; an object that is
/// there keeps them. Text stands for types that JSON lacks: ISO 8601, base64, hexadecimal digits,
/// UUIDs, decimals; or MongoDB's extended JSON. `flags` has bits of realm_json_flags_e. Fails, and
/// changes nothing: RLM_ERR_MALFORMED_JSON, RLM_ERR_NO_SUCH_TABLE, RLM_ERR_INVALID_PROPERTY,
/// RLM_ERR_PROPERTY_TYPE_MISMATCH, RLM_ERR_PROPERTY_NOT_NULLABLE, RLM_ERR_MISSING_PROPERTY_VALUE,
/// RLM_ERR_MISSING_PRIMARY_KEY, RLM_ERR_OBJECT_ALREADY_EXISTS, RLM_ERR_NO_SUCH_OBJECT for links,
/// RLM_ERR_READ_ONLY_PROPERTY, RLM_ERR_INVALID_DICTIONARY_KEY, RLM_ERR_LIMIT_EXCEEDED for more than
/// 1,000 levels, RLM_ERR_ILLEGAL_OPERATION for embedded classes, RLM_ERR_WRONG_TRANSACTION_STATE.
@c @implementation
public func realm_object_create_from_json(
    _ realm: OpaquePointer?, _ class_key: realm_class_key_t, _ json: UnsafePointer<CChar>?,
    _ update: realm_update_policy_e, _ flags: Int32
) -> OpaquePointer? {
    boundary(nil) { () throws(RealmError) in
        let realm = try realmHeld(realm)
        let tree = try JSONReader.read(try cBytes(json, "json"))
        return try realm.createObject(
            ClassKey(class_key), from: tree, update: try policy(update),
            ignoresUnknown: flags & Int32(RLM_JSON_IGNORE_UNKNOWN.rawValue) != 0
        ).cHandle
    }
}

/// Gives a property the value that new objects get which are created from JSON or copied without
/// one. The value is JSON text as for `realm_object_create_from_json()`, NULL takes the default
/// away; it is checked when it is used. Defaults belong to the schema that a realm is opened with
/// and are not stored. Fails: RLM_ERR_NO_SUCH_TABLE, RLM_ERR_INVALID_PROPERTY,
/// RLM_ERR_MALFORMED_JSON, RLM_ERR_ILLEGAL_OPERATION for the schema of an open realm.
@c @implementation
public func realm_schema_set_default(
    _ schema: OpaquePointer?, _ class_name: UnsafePointer<CChar>?,
    _ property_name: UnsafePointer<CChar>?, _ json: UnsafePointer<CChar>?
) -> Bool {
    succeeds { () throws(RealmError) in
        let value = json == nil ? nil : try JSONReader.read(try cBytes(json, "json"))
        try changeProperty(schema, class_name, property_name) { property in
            property.defaultValue = value
            property.computedDefault = nil
        }
    }
}

/// As `realm_schema_set_default()` with a function that is asked for each new object, on the thread
/// of its realm and in its write transaction, which it must not change. Creating fails with
/// RLM_ERR_CALLBACK when it returns NULL, and with RLM_ERR_MALFORMED_JSON when the text is none.
/// `userdata_free` is called once, when no realm or configuration uses the schema any more, on
/// whatever thread that is.
@c @implementation
public func realm_schema_set_default_func(
    _ schema: OpaquePointer?, _ class_name: UnsafePointer<CChar>?,
    _ property_name: UnsafePointer<CChar>?, _ func: realm_default_func_t?,
    _ userdata: UnsafeMutableRawPointer?, _ userdata_free: realm_free_userdata_func_t?
) -> Bool {
    let userdata = Userdata(userdata, userdata_free)
    return succeeds { () throws(RealmError) in
        let make = try given(`func`, "func")
        let computed = ComputedDefault { () throws(RealmError) in
            guard let json = make(userdata.pointer) else {
                throw RealmError(.callback, "the function for a default reported failure")
            }
            defer { ck_free(json) }
            return try JSONReader.read(try cBytes(json, "json"))
        }
        try changeProperty(schema, class_name, property_name) { $0.computedDefault = computed }
    }
}

private func changeProperty(
    _ schema: OpaquePointer?, _ class_name: UnsafePointer<CChar>?,
    _ property_name: UnsafePointer<CChar>?, _ change: (inout PropertySchema) -> Void
) throws(RealmError) {
    let object = try held(schema, .schema, as: SchemaObject.self)
    let className = try text(class_name, "class_name")
    let name = try text(property_name, "property_name")
    try object.change(class: className) { class_ throws(RealmError) in
        guard let place = class_.properties.firstIndex(where: { $0.name == name }) else {
            throw RealmError(
                .invalidProperty, "class \(className) has no stored property '\(name)'")
        }
        change(&class_.properties[place])
    }
}

/// Returns the object as JSON text that `realm_object_create_from_json()` reads back, to be freed
/// with `realm_free()`. Stored properties stand in the order of the class under their public names,
/// embedded objects in their place. Linked objects are nested `link_depth` links deep, each once;
/// others are named by their primary key, or as `{"$link":{"table":class,"key":key}}`; cycles of
/// objects without one use `"$id"` and `{"$ref":id}`. Timestamps are ISO 8601 text, binaries base64,
/// decimals text; in mixed values, and with RLM_JSON_EXTENDED everywhere, MongoDB's extended JSON.
/// Fails: RLM_ERR_INVALIDATED_OBJECT, RLM_ERR_LIMIT_EXCEEDED for more than 200 links.
@c @implementation
public func realm_object_to_json(
    _ object: OpaquePointer?, _ link_depth: Int, _ flags: Int32
) -> UnsafeMutablePointer<CChar>? {
    boundary(nil) { () throws(RealmError) in
        var options = JSONOptions()
        options.linkDepth = link_depth
        options.isExtended = flags & Int32(RLM_JSON_EXTENDED.rawValue) != 0
        return copyForC(try objectHeld(object).json(options))
    }
}

/// Copies an object, with all that it links to and contains, into `target`, which may be its own
/// realm; returns a new handle there. Every object is copied once, whatever cycles there are. Objects
/// whose primary key the target has are treated as `update` says; within one file, those that are
/// linked to stay as they are. Others are always new. Properties that only the target has take their
/// defaults. Fails, and changes nothing: RLM_ERR_SCHEMA_MISMATCH when the target lacks a class or
/// property or has another type for it, RLM_ERR_MISSING_PROPERTY_VALUE for a property without
/// default, RLM_ERR_OBJECT_ALREADY_EXISTS, RLM_ERR_ILLEGAL_OPERATION for embedded objects,
/// RLM_ERR_WRONG_TRANSACTION_STATE unless the target is in a write transaction,
/// RLM_ERR_INVALIDATED_OBJECT.
@c @implementation
public func realm_object_copy_to(
    _ object: OpaquePointer?, _ target: OpaquePointer?, _ update: realm_update_policy_e
) -> OpaquePointer? {
    boundary(nil) { () throws(RealmError) in
        let source = try objectHeld(object)
        return try source.copy(to: try realmHeld(target), update: try policy(update)).cHandle
    }
}
