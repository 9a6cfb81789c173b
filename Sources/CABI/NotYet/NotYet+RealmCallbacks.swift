// Callbacks of a realm as a whole: not supported until notifications are.

import CRealm

/// Has `callback` run after each local commit and whenever the realm moves to another version.
/// Returns a new handle that unregisters it. Not supported yet.
@c @implementation
public func realm_add_realm_changed_callback(
    _ realm: OpaquePointer?, _ callback: realm_on_realm_change_func_t?,
    _ userdata: UnsafeMutableRawPointer?, _ userdata_free: realm_free_userdata_func_t?
) -> OpaquePointer? {
    notYet("realm_add_realm_changed_callback", nil, userdata, userdata_free)
}

/// Has `callback` run once, when the realm reaches the version that is newest now. Returns a new
/// handle that unregisters it. Not supported yet.
@c @implementation
public func realm_add_realm_refresh_callback(
    _ realm: OpaquePointer?, _ callback: realm_on_realm_refresh_func_t?,
    _ userdata: UnsafeMutableRawPointer?, _ userdata_free: realm_free_userdata_func_t?
) -> OpaquePointer? {
    notYet("realm_add_realm_refresh_callback", nil, userdata, userdata_free)
}

/// Has `callback` run whenever the schema of the realm changes. Returns a new handle that
/// unregisters it. Not supported yet.
@c @implementation
public func realm_add_schema_changed_callback(
    _ realm: OpaquePointer?, _ callback: realm_on_schema_change_func_t?,
    _ userdata: UnsafeMutableRawPointer?, _ userdata_free: realm_free_userdata_func_t?
) -> OpaquePointer? {
    notYet("realm_add_schema_changed_callback", nil, userdata, userdata_free)
}
