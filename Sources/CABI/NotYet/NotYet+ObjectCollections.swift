// Collections and embedded objects of an object: not supported until they are stored.

import CRealm

/// Sets a mixed property from JSON text. Not supported yet.
@c @implementation
public func realm_set_json(
    _ object: OpaquePointer?, _ property: realm_property_key_t, _ json_string: UnsafePointer<CChar>?
) -> Bool {
    notYet("realm_set_json", false)
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
