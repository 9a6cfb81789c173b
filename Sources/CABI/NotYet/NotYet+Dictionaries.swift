// Dictionaries: not supported until collections are stored.

import CRealm

/// Finds the same dictionary in another realm of the file; `resolved` gets a new handle, or NULL
/// if it is not there. Not supported yet.
@c @implementation
public func realm_dictionary_resolve_in(
    _ dictionary: OpaquePointer?, _ target_realm: OpaquePointer?,
    _ resolved: UnsafeMutablePointer<OpaquePointer?>?
) -> Bool {
    notYet("realm_dictionary_resolve_in", false)
}

/// Whether the owner of the dictionary still exists. Not supported yet.
@c @implementation
public func realm_dictionary_is_valid(_ dictionary: OpaquePointer?) -> Bool {
    notYet("realm_dictionary_is_valid", false)
}

/// Counts the elements. Not supported yet.
@c @implementation
public func realm_dictionary_size(
    _ dictionary: OpaquePointer?, _ out_size: UnsafeMutablePointer<Int>?
) -> Bool {
    notYet("realm_dictionary_size", false)
}

/// Describes the property that holds the dictionary. Not supported yet.
@c @implementation
public func realm_dictionary_get_property(
    _ dictionary: OpaquePointer?, _ out_info: UnsafeMutablePointer<realm_property_info_t>?
) -> Bool {
    notYet("realm_dictionary_get_property", false)
}

/// Reads the value of a key. Not supported yet.
@c @implementation
public func realm_dictionary_find(
    _ dictionary: OpaquePointer?, _ key: realm_value_t,
    _ out_value: UnsafeMutablePointer<realm_value_t>?, _ out_found: UnsafeMutablePointer<Bool>?
) -> Bool {
    notYet("realm_dictionary_find", false)
}

/// Reads the element at an index. Not supported yet.
@c @implementation
public func realm_dictionary_get(
    _ dictionary: OpaquePointer?, _ index: Int, _ out_key: UnsafeMutablePointer<realm_value_t>?,
    _ out_value: UnsafeMutablePointer<realm_value_t>?
) -> Bool {
    notYet("realm_dictionary_get", false)
}

/// Inserts an element. Not supported yet.
@c @implementation
public func realm_dictionary_insert(
    _ dictionary: OpaquePointer?, _ key: realm_value_t, _ value: realm_value_t,
    _ out_index: UnsafeMutablePointer<Int>?, _ out_inserted: UnsafeMutablePointer<Bool>?
) -> Bool {
    notYet("realm_dictionary_insert", false)
}

/// Inserts a new embedded object and returns a new handle to it. Not supported yet.
@c @implementation
public func realm_dictionary_insert_embedded(_ dictionary: OpaquePointer?, _ key: realm_value_t)
    -> OpaquePointer?
{
    notYet("realm_dictionary_insert_embedded", nil)
}

/// Inserts an empty list and returns a new handle to it. Not supported yet.
@c @implementation
public func realm_dictionary_insert_list(_ dictionary: OpaquePointer?, _ key: realm_value_t)
    -> OpaquePointer?
{
    notYet("realm_dictionary_insert_list", nil)
}

/// Inserts an empty dictionary and returns a new handle to it. Not supported yet.
@c @implementation
public func realm_dictionary_insert_dictionary(_ dictionary: OpaquePointer?, _ key: realm_value_t)
    -> OpaquePointer?
{
    notYet("realm_dictionary_insert_dictionary", nil)
}

/// Returns a new handle to the list inside a mixed element. Not supported yet.
@c @implementation
public func realm_dictionary_get_list(_ dictionary: OpaquePointer?, _ key: realm_value_t)
    -> OpaquePointer?
{
    notYet("realm_dictionary_get_list", nil)
}

/// Returns a new handle to the dictionary inside a mixed element. Not supported yet.
@c @implementation
public func realm_dictionary_get_dictionary(_ dictionary: OpaquePointer?, _ key: realm_value_t)
    -> OpaquePointer?
{
    notYet("realm_dictionary_get_dictionary", nil)
}

/// Returns a new handle to the object an element links to. Not supported yet.
@c @implementation
public func realm_dictionary_get_linked_object(_ dictionary: OpaquePointer?, _ key: realm_value_t)
    -> OpaquePointer?
{
    notYet("realm_dictionary_get_linked_object", nil)
}

/// Removes an element. Not supported yet.
@c @implementation
public func realm_dictionary_erase(
    _ dictionary: OpaquePointer?, _ key: realm_value_t, _ out_erased: UnsafeMutablePointer<Bool>?
) -> Bool {
    notYet("realm_dictionary_erase", false)
}

/// Gives a new handle to live results over the keys, and their count. Not supported yet.
@c @implementation
public func realm_dictionary_get_keys(
    _ dictionary: OpaquePointer?, _ out_size: UnsafeMutablePointer<Int>?,
    _ out_keys: UnsafeMutablePointer<OpaquePointer?>?
) -> Bool {
    notYet("realm_dictionary_get_keys", false)
}

/// Whether there is a value for a key. Not supported yet.
@c @implementation
public func realm_dictionary_contains_key(
    _ dictionary: OpaquePointer?, _ key: realm_value_t, _ found: UnsafeMutablePointer<Bool>?
) -> Bool {
    notYet("realm_dictionary_contains_key", false)
}

/// Finds the index of a value. Not supported yet.
@c @implementation
public func realm_dictionary_contains_value(
    _ dictionary: OpaquePointer?, _ value: realm_value_t, _ index: UnsafeMutablePointer<Int>?
) -> Bool {
    notYet("realm_dictionary_contains_value", false)
}

/// Removes all elements; objects they link to stay. Not supported yet.
@c @implementation
public func realm_dictionary_clear(_ dictionary: OpaquePointer?) -> Bool {
    notYet("realm_dictionary_clear", false)
}

/// Returns a new handle to live results over the dictionary. Not supported yet.
@c @implementation
public func realm_dictionary_to_results(_ dictionary: OpaquePointer?) -> OpaquePointer? {
    notYet("realm_dictionary_to_results", nil)
}
