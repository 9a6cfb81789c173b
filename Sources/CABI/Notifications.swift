// Observing objects, collections and results. A token's handle keeps the registration, which keeps
// the userdata. Change sets are handles for the time of the callback; clones keep what is in them.

import CRealm
import CoreSwift

/// What a handle of a change set keeps.
final class ChangesObject<Changes: Sendable>: Sendable {
    let changes: Changes
    init(_ changes: Changes) { self.changes = changes }
}

final class KeyPathsObject {
    let filter: KeyPathFilter
    init(_ filter: KeyPathFilter) { self.filter = filter }
}

/// A handle for the time of `body`; nothing when the program released it itself.
private func withChanges<Changes: Sendable>(
    _ kind: HandleKind, _ changes: Changes, _ body: (OpaquePointer) -> Void
) {
    let handle = makeHandle(kind, ChangesObject(changes))
    body(handle)
    if HandleSlab.isHandle(UnsafeRawPointer(handle), kind) {
        realm_release(UnsafeMutableRawPointer(handle))
    }
}

/// Registers a callback: has `register` observe something and tell what changed, and returns a handle
/// of the token. The userdata go with the registration, or now if there is none.
private func observe<Changes: Sendable>(
    _ kind: HandleKind, _ userdata: UnsafeMutableRawPointer?,
    _ userdataFree: realm_free_userdata_func_t?,
    _ onChange: (@convention(c) (UnsafeMutableRawPointer?, OpaquePointer?) -> Void)?,
    _ register: (@escaping (Changes) -> Void) throws(RealmError) -> NotificationToken
) -> OpaquePointer? {
    let userdata = Userdata(userdata, userdataFree)
    return boundary(nil) { () throws(RealmError) in
        let token = try register { changes in
            withChanges(kind, changes) { onChange?(userdata.pointer, $0) }
        }
        return makeHandle(.notificationToken, token)
    }
}

private func filterHeld(_ handle: OpaquePointer?) throws(RealmError) -> KeyPathFilter? {
    guard let handle else { return nil }
    return try held(handle, .keyPathArray, as: KeyPathsObject.self).filter
}

/// Returns a new handle to a filter for notifications, made of key paths that start at a class:
/// names of properties with dots between them, `*` for all properties of a level. Names are the
/// public ones, where there are such; linking objects are properties, too. Without paths, changes of
/// elements are left out altogether. Fails: RLM_ERR_NO_SUCH_TABLE, RLM_ERR_INVALID_ARGUMENT for a
/// path that leads nowhere, RLM_ERR_LIMIT_EXCEEDED for wildcards that match too much.
@c @implementation
public func realm_create_key_path_array(
    _ realm: OpaquePointer?, _ object_class_key: realm_class_key_t, _ num_key_paths: Int,
    _ user_key_paths: UnsafeMutablePointer<UnsafePointer<CChar>?>?
) -> OpaquePointer? {
    boundary(nil) { () throws(RealmError) in
        let realm = try realmHeld(realm)
        var paths: [String] = []
        if let user_key_paths {
            for index in 0..<max(0, num_key_paths) {
                paths.append(try text(user_key_paths[index], "user_key_paths"))
            }
        }
        let filter = try realm.keyPaths(ClassKey(rawValue: object_class_key), paths)
        return makeHandle(.keyPathArray, KeyPathsObject(filter))
    }
}

/// In a callback of an object, a collection or results: returns a new handle to a frozen realm at the
/// version that this callback was told last, where what changed is as it was. Fails:
/// RLM_ERR_WRONG_TRANSACTION_STATE outside of such callbacks.
@c @implementation
public func realm_freeze_told(_ realm: OpaquePointer?) -> OpaquePointer? {
    boundary(nil, makeHandle(.realm, try realmHeld(realm).freezeTold()))
}

/// Has `on_change` run soon and then after each change of an object. Returns a new handle that
/// unregisters it; releasing the object's handle ends it, too. With `key_path_array`, which is not
/// changed, only changes along its paths count. Fails: RLM_ERR_INVALIDATED_OBJECT,
/// RLM_ERR_WRONG_THREAD, RLM_ERR_WRONG_TRANSACTION_STATE for frozen and immutable realms and in a
/// write transaction that has changed something, RLM_ERR_INVALID_ARGUMENT for paths from another
/// class.
@c @implementation
public func realm_object_add_notification_callback(
    _ object: OpaquePointer?, _ userdata: UnsafeMutableRawPointer?,
    _ userdata_free: realm_free_userdata_func_t?, _ key_path_array: OpaquePointer?,
    _ on_change: realm_on_object_change_func_t?
) -> OpaquePointer? {
    observe(.objectChanges, userdata, userdata_free, on_change) { tell throws(RealmError) in
        try objectHeld(object).observe(try filterHeld(key_path_array), tell)
    }
}

/// Has `on_change` run soon and then after each change of a list, and of what its elements link to.
/// Otherwise as `realm_object_add_notification_callback()`.
@c @implementation
public func realm_list_add_notification_callback(
    _ list: OpaquePointer?, _ userdata: UnsafeMutableRawPointer?,
    _ userdata_free: realm_free_userdata_func_t?, _ key_path_array: OpaquePointer?,
    _ on_change: realm_on_collection_change_func_t?
) -> OpaquePointer? {
    observe(.collectionChanges, userdata, userdata_free, on_change) { tell throws(RealmError) in
        try held(list, .list, as: RealmCollection.self)
            .observe(try filterHeld(key_path_array), tell)
    }
}

/// Has `on_change` run soon and then after each change of a set, and of what its elements link to.
/// Otherwise as `realm_object_add_notification_callback()`.
@c @implementation
public func realm_set_add_notification_callback(
    _ set: OpaquePointer?, _ userdata: UnsafeMutableRawPointer?,
    _ userdata_free: realm_free_userdata_func_t?, _ key_path_array: OpaquePointer?,
    _ on_change: realm_on_collection_change_func_t?
) -> OpaquePointer? {
    observe(.collectionChanges, userdata, userdata_free, on_change) { tell throws(RealmError) in
        try held(set, .set, as: RealmCollection.self)
            .observe(try filterHeld(key_path_array), tell)
    }
}

/// Has `on_change` run soon and then after each change of a dictionary, and of what its values link
/// to. Otherwise as `realm_object_add_notification_callback()`.
@c @implementation
public func realm_dictionary_add_notification_callback(
    _ dictionary: OpaquePointer?, _ userdata: UnsafeMutableRawPointer?,
    _ userdata_free: realm_free_userdata_func_t?, _ key_path_array: OpaquePointer?,
    _ on_change: realm_on_dictionary_change_func_t?
) -> OpaquePointer? {
    observe(.dictionaryChanges, userdata, userdata_free, on_change) { tell throws(RealmError) in
        try held(dictionary, .dictionary, as: RealmCollection.self)
            .observeKeys(try filterHeld(key_path_array)) { tell(KeyTexts($0)) }
    }
}

/// Has `on_change` run soon and then after each change of results: of which objects or values they
/// are, of their order, and of what the objects link to. Results that are not valid tell once that
/// they are deleted. Otherwise as `realm_object_add_notification_callback()`; snapshots fail:
/// RLM_ERR_ILLEGAL_OPERATION.
@c @implementation
public func realm_results_add_notification_callback(
    _ results: OpaquePointer?, _ userdata: UnsafeMutableRawPointer?,
    _ userdata_free: realm_free_userdata_func_t?, _ key_path_array: OpaquePointer?,
    _ on_change: realm_on_collection_change_func_t?
) -> OpaquePointer? {
    observe(.collectionChanges, userdata, userdata_free, on_change) { tell throws(RealmError) in
        let found = try anyResultsHeld(results)
        let filter = try filterHeld(key_path_array)
        // Held, so it is not NULL.
        let handle = UnsafeRawPointer(results.unsafelyUnwrapped)
        return try found.observe(filter, handle: handle, tell)
    }
}
