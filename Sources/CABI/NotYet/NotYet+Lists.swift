// Lists: not supported until collections are stored.

import CRealm

/// Finds the same list in another realm of the file; `resolved` gets a new handle, or NULL if it
/// is not there. Not supported yet.
@c @implementation
public func realm_list_resolve_in(
    _ list: OpaquePointer?, _ target_realm: OpaquePointer?,
    _ resolved: UnsafeMutablePointer<OpaquePointer?>?
) -> Bool {
    notYet("realm_list_resolve_in", false)
}

/// Whether the owner of the list still exists. Not supported yet.
@c @implementation
public func realm_list_is_valid(_ list: OpaquePointer?) -> Bool {
    notYet("realm_list_is_valid", false)
}

/// Counts the elements. Not supported yet.
@c @implementation
public func realm_list_size(_ list: OpaquePointer?, _ out_size: UnsafeMutablePointer<Int>?) -> Bool
{
    notYet("realm_list_size", false)
}

/// Describes the property that holds the list. Not supported yet.
@c @implementation
public func realm_list_get_property(
    _ list: OpaquePointer?, _ out_property_info: UnsafeMutablePointer<realm_property_info_t>?
) -> Bool {
    notYet("realm_list_get_property", false)
}

/// Reads the element at an index. Not supported yet.
@c @implementation
public func realm_list_get(
    _ list: OpaquePointer?, _ index: Int, _ out_value: UnsafeMutablePointer<realm_value_t>?
) -> Bool {
    notYet("realm_list_get", false)
}

/// Finds an element by its value. Not supported yet.
@c @implementation
public func realm_list_find(
    _ list: OpaquePointer?, _ value: UnsafePointer<realm_value_t>?,
    _ out_index: UnsafeMutablePointer<Int>?, _ out_found: UnsafeMutablePointer<Bool>?
) -> Bool {
    notYet("realm_list_find", false)
}

/// Replaces the element at an index. Not supported yet.
@c @implementation
public func realm_list_set(_ list: OpaquePointer?, _ index: Int, _ value: realm_value_t) -> Bool {
    notYet("realm_list_set", false)
}

/// Inserts an element. Not supported yet.
@c @implementation
public func realm_list_insert(_ list: OpaquePointer?, _ index: Int, _ value: realm_value_t) -> Bool
{
    notYet("realm_list_insert", false)
}

/// Inserts an empty list and returns a new handle to it. Not supported yet.
@c @implementation
public func realm_list_insert_list(_ list: OpaquePointer?, _ index: Int) -> OpaquePointer? {
    notYet("realm_list_insert_list", nil)
}

/// Inserts an empty dictionary and returns a new handle to it. Not supported yet.
@c @implementation
public func realm_list_insert_dictionary(_ list: OpaquePointer?, _ index: Int) -> OpaquePointer? {
    notYet("realm_list_insert_dictionary", nil)
}

/// Replaces an element by an empty list and returns a new handle to it. Not supported yet.
@c @implementation
public func realm_list_set_list(_ list: OpaquePointer?, _ index: Int) -> OpaquePointer? {
    notYet("realm_list_set_list", nil)
}

/// Replaces an element by an empty dictionary and returns a new handle to it. Not supported yet.
@c @implementation
public func realm_list_set_dictionary(_ list: OpaquePointer?, _ index: Int) -> OpaquePointer? {
    notYet("realm_list_set_dictionary", nil)
}

/// Returns a new handle to the list inside a mixed element. Not supported yet.
@c @implementation
public func realm_list_get_list(_ list: OpaquePointer?, _ index: Int) -> OpaquePointer? {
    notYet("realm_list_get_list", nil)
}

/// Returns a new handle to the dictionary inside a mixed element. Not supported yet.
@c @implementation
public func realm_list_get_dictionary(_ list: OpaquePointer?, _ index: Int) -> OpaquePointer? {
    notYet("realm_list_get_dictionary", nil)
}

/// Moves an element to another index. Not supported yet.
@c @implementation
public func realm_list_move(_ list: OpaquePointer?, _ from_index: Int, _ to_index: Int) -> Bool {
    notYet("realm_list_move", false)
}

/// Inserts a new embedded object and returns a new handle to it. Not supported yet.
@c @implementation
public func realm_list_insert_embedded(_ list: OpaquePointer?, _ index: Int) -> OpaquePointer? {
    notYet("realm_list_insert_embedded", nil)
}

/// Replaces an element by a new embedded object and returns a new handle to it. Not supported
/// yet.
@c @implementation
public func realm_list_set_embedded(_ list: OpaquePointer?, _ index: Int) -> OpaquePointer? {
    notYet("realm_list_set_embedded", nil)
}

/// Returns a new handle to the object an element links to. Not supported yet.
@c @implementation
public func realm_list_get_linked_object(_ list: OpaquePointer?, _ index: Int) -> OpaquePointer? {
    notYet("realm_list_get_linked_object", nil)
}

/// Removes an element. Not supported yet.
@c @implementation
public func realm_list_erase(_ list: OpaquePointer?, _ index: Int) -> Bool {
    notYet("realm_list_erase", false)
}

/// Removes all elements; objects they link to stay. Not supported yet.
@c @implementation
public func realm_list_clear(_ list: OpaquePointer?) -> Bool {
    notYet("realm_list_clear", false)
}

/// Removes all elements and deletes the objects they link to. Not supported yet.
@c @implementation
public func realm_list_remove_all(_ list: OpaquePointer?) -> Bool {
    notYet("realm_list_remove_all", false)
}

/// Returns a new handle to live results over the list. Not supported yet.
@c @implementation
public func realm_list_to_results(_ list: OpaquePointer?) -> OpaquePointer? {
    notYet("realm_list_to_results", nil)
}
