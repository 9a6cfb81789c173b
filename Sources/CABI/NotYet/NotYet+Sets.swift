// Sets: not supported until collections are stored.

import CRealm

/// Finds the same set in another realm of the file; `resolved` gets a new handle, or NULL if it
/// is not there. Not supported yet.
@c @implementation
public func realm_set_resolve_in(
    _ set: OpaquePointer?, _ target_realm: OpaquePointer?,
    _ resolved: UnsafeMutablePointer<OpaquePointer?>?
) -> Bool {
    notYet("realm_set_resolve_in", false)
}

/// Whether the owner of the set still exists. Not supported yet.
@c @implementation
public func realm_set_is_valid(_ set: OpaquePointer?) -> Bool {
    notYet("realm_set_is_valid", false)
}

/// Counts the elements. Not supported yet.
@c @implementation
public func realm_set_size(_ set: OpaquePointer?, _ out_size: UnsafeMutablePointer<Int>?) -> Bool {
    notYet("realm_set_size", false)
}

/// Describes the property that holds the set. Not supported yet.
@c @implementation
public func realm_set_get_property(
    _ set: OpaquePointer?, _ out_property_info: UnsafeMutablePointer<realm_property_info_t>?
) -> Bool {
    notYet("realm_set_get_property", false)
}

/// Reads the element at an index. Not supported yet.
@c @implementation
public func realm_set_get(
    _ set: OpaquePointer?, _ index: Int, _ out_value: UnsafeMutablePointer<realm_value_t>?
) -> Bool {
    notYet("realm_set_get", false)
}

/// Finds an element by its value. Not supported yet.
@c @implementation
public func realm_set_find(
    _ set: OpaquePointer?, _ value: realm_value_t, _ out_index: UnsafeMutablePointer<Int>?,
    _ out_found: UnsafeMutablePointer<Bool>?
) -> Bool {
    notYet("realm_set_find", false)
}

/// Inserts an element. Not supported yet.
@c @implementation
public func realm_set_insert(
    _ set: OpaquePointer?, _ value: realm_value_t, _ out_index: UnsafeMutablePointer<Int>?,
    _ out_inserted: UnsafeMutablePointer<Bool>?
) -> Bool {
    notYet("realm_set_insert", false)
}

/// Removes an element. Not supported yet.
@c @implementation
public func realm_set_erase(
    _ set: OpaquePointer?, _ value: realm_value_t, _ out_erased: UnsafeMutablePointer<Bool>?
) -> Bool {
    notYet("realm_set_erase", false)
}

/// Removes all elements; objects they link to stay. Not supported yet.
@c @implementation
public func realm_set_clear(_ set: OpaquePointer?) -> Bool {
    notYet("realm_set_clear", false)
}

/// Removes all elements and deletes the objects they link to. Not supported yet.
@c @implementation
public func realm_set_remove_all(_ set: OpaquePointer?) -> Bool {
    notYet("realm_set_remove_all", false)
}

/// Returns a new handle to live results over the set. Not supported yet.
@c @implementation
public func realm_set_to_results(_ set: OpaquePointer?) -> OpaquePointer? {
    notYet("realm_set_to_results", nil)
}
