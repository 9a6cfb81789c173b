// Lists: not supported until collections are stored.

import CRealm

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
