// Collections and embedded objects of an object: not supported until they are stored.

import CRealm

/// Sets a mixed property from JSON text. Not supported yet.
@c @implementation
public func realm_set_json(
    _ object: OpaquePointer?, _ property: realm_property_key_t, _ json_string: UnsafePointer<CChar>?
) -> Bool {
    notYet("realm_set_json", false)
}
