// Dictionaries: not supported until collections are stored.

import CRealm

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
