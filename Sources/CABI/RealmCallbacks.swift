// Callbacks of a realm as a whole. A token's handle keeps the registration; the registration keeps
// the userdata, and closing the realm ends it as well.

import CRealm
import CoreSwift

/// Has `callback` run after each commit of the realm, and whenever it moves to another version:
/// by `realm_refresh()`, `realm_begin_write()` or the scheduler. Callbacks run in the order in
/// which they were added. Returns a new handle that unregisters it, to be released before the
/// realm. Fails: RLM_ERR_WRONG_TRANSACTION_STATE for a frozen realm.
@c @implementation
public func realm_add_realm_changed_callback(
    _ realm: OpaquePointer?, _ callback: realm_on_realm_change_func_t?,
    _ userdata: UnsafeMutableRawPointer?, _ userdata_free: realm_free_userdata_func_t?
) -> OpaquePointer? {
    let userdata = Userdata(userdata, userdata_free)
    return boundary(nil) { () throws(RealmError) in
        let realm = try realmHeld(realm)
        let callback = try given(callback, "callback")
        let token = try realm.addChangeObserver { callback(userdata.pointer) }
        return makeHandle(.callbackToken, token)
    }
}

/// Has `callback` run once, when the realm reaches the version that is newest now, before the
/// callbacks of `realm_add_realm_changed_callback()`. Returns a new handle that unregisters it, to
/// be released before the realm; NULL without an error, after freeing the userdata, when the
/// realm is at the newest version, reads nothing yet or is frozen.
@c @implementation
public func realm_add_realm_refresh_callback(
    _ realm: OpaquePointer?, _ callback: realm_on_realm_refresh_func_t?,
    _ userdata: UnsafeMutableRawPointer?, _ userdata_free: realm_free_userdata_func_t?
) -> OpaquePointer? {
    let userdata = Userdata(userdata, userdata_free)
    return boundary(nil) { () throws(RealmError) in
        let realm = try realmHeld(realm)
        let callback = try given(callback, "callback")
        let token = try realm.addRefreshObserver { callback(userdata.pointer) }
        return token.map { makeHandle(.refreshToken, $0) }
    }
}
