// Change notifications: not supported yet.

import CRealm

/// Returns a new handle to a filter for notifications, made of key paths that start at a class.
/// Not supported yet.
@c @implementation
public func realm_create_key_path_array(
    _ realm: OpaquePointer?, _ object_class_key: realm_class_key_t, _ num_key_paths: Int,
    _ user_key_paths: UnsafeMutablePointer<UnsafePointer<CChar>?>?
) -> OpaquePointer? {
    notYet("realm_create_key_path_array", nil)
}

/// Has `on_change` run after changes of an object. Returns a new handle that unregisters it. Not
/// supported yet.
@c @implementation
public func realm_object_add_notification_callback(
    _ object: OpaquePointer?, _ userdata: UnsafeMutableRawPointer?,
    _ userdata_free: realm_free_userdata_func_t?, _ key_path_array: OpaquePointer?,
    _ on_change: realm_on_object_change_func_t?
) -> OpaquePointer? {
    notYet("realm_object_add_notification_callback", nil, userdata, userdata_free)
}

/// Has `on_change` run after changes of a list. Returns a new handle that unregisters it. Not
/// supported yet.
@c @implementation
public func realm_list_add_notification_callback(
    _ list: OpaquePointer?, _ userdata: UnsafeMutableRawPointer?,
    _ userdata_free: realm_free_userdata_func_t?, _ key_path_array: OpaquePointer?,
    _ on_change: realm_on_collection_change_func_t?
) -> OpaquePointer? {
    notYet("realm_list_add_notification_callback", nil, userdata, userdata_free)
}

/// Has `on_change` run after changes of a set. Returns a new handle that unregisters it. Not
/// supported yet.
@c @implementation
public func realm_set_add_notification_callback(
    _ set: OpaquePointer?, _ userdata: UnsafeMutableRawPointer?,
    _ userdata_free: realm_free_userdata_func_t?, _ key_path_array: OpaquePointer?,
    _ on_change: realm_on_collection_change_func_t?
) -> OpaquePointer? {
    notYet("realm_set_add_notification_callback", nil, userdata, userdata_free)
}

/// Has `on_change` run after changes of a dictionary. Returns a new handle that unregisters it.
/// Not supported yet.
@c @implementation
public func realm_dictionary_add_notification_callback(
    _ dictionary: OpaquePointer?, _ userdata: UnsafeMutableRawPointer?,
    _ userdata_free: realm_free_userdata_func_t?, _ key_path_array: OpaquePointer?,
    _ on_change: realm_on_dictionary_change_func_t?
) -> OpaquePointer? {
    notYet("realm_dictionary_add_notification_callback", nil, userdata, userdata_free)
}

/// Has `on_change` run after changes of results. Returns a new handle that unregisters it. Not
/// supported yet.
@c @implementation
public func realm_results_add_notification_callback(
    _ results: OpaquePointer?, _ userdata: UnsafeMutableRawPointer?,
    _ userdata_free: realm_free_userdata_func_t?, _ key_path_array: OpaquePointer?,
    _ on_change: realm_on_collection_change_func_t?
) -> OpaquePointer? {
    notYet("realm_results_add_notification_callback", nil, userdata, userdata_free)
}
