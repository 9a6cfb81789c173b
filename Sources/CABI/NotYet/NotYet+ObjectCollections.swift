// Collections and embedded objects of an object: not supported until they are stored.

import CRealm

/// Finds the object that holds an embedded one; `parent` gets a new handle. Not supported yet.
@c @implementation
public func realm_object_get_parent(
    _ object: OpaquePointer?, _ parent: UnsafeMutablePointer<OpaquePointer?>?,
    _ class_key: UnsafeMutablePointer<realm_class_key_t>?
) -> Bool {
    notYet("realm_object_get_parent", false)
}

/// Sets a mixed property from JSON text. Not supported yet.
@c @implementation
public func realm_set_json(
    _ object: OpaquePointer?, _ property: realm_property_key_t, _ json_string: UnsafePointer<CChar>?
) -> Bool {
    notYet("realm_set_json", false)
}

/// Puts a new embedded object into a link property and returns a new handle to it. Not supported
/// yet.
@c @implementation
public func realm_set_embedded(_ object: OpaquePointer?, _ property: realm_property_key_t)
    -> OpaquePointer?
{
    notYet("realm_set_embedded", nil)
}

/// Puts an empty list into a mixed property and returns a new handle to it. Not supported yet.
@c @implementation
public func realm_set_list(_ object: OpaquePointer?, _ property: realm_property_key_t)
    -> OpaquePointer?
{
    notYet("realm_set_list", nil)
}

/// Puts an empty dictionary into a mixed property and returns a new handle to it. Not supported
/// yet.
@c @implementation
public func realm_set_dictionary(_ object: OpaquePointer?, _ property: realm_property_key_t)
    -> OpaquePointer?
{
    notYet("realm_set_dictionary", nil)
}

/// Returns a new handle to the list of a property. Not supported yet.
@c @implementation
public func realm_get_list(_ object: OpaquePointer?, _ property: realm_property_key_t)
    -> OpaquePointer?
{
    notYet("realm_get_list", nil)
}

/// Returns a new handle to the set of a property. Not supported yet.
@c @implementation
public func realm_get_set(_ object: OpaquePointer?, _ property: realm_property_key_t)
    -> OpaquePointer?
{
    notYet("realm_get_set", nil)
}

/// Returns a new handle to the dictionary of a property. Not supported yet.
@c @implementation
public func realm_get_dictionary(_ object: OpaquePointer?, _ property: realm_property_key_t)
    -> OpaquePointer?
{
    notYet("realm_get_dictionary", nil)
}
