// Callbacks for changes of the schema: not supported until migrations are.

import CRealm

/// Has `callback` run whenever the schema of the realm changes. Returns a new handle that
/// unregisters it. Not supported yet.
@c @implementation
public func realm_add_schema_changed_callback(
    _ realm: OpaquePointer?, _ callback: realm_on_schema_change_func_t?,
    _ userdata: UnsafeMutableRawPointer?, _ userdata_free: realm_free_userdata_func_t?
) -> OpaquePointer? {
    notYet("realm_add_schema_changed_callback", nil, userdata, userdata_free)
}
