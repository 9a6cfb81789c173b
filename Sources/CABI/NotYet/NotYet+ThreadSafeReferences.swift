// Handing realms and objects to other threads: not supported yet.

import CRealm

/// Returns a new handle that carries a realm, object, collection or results to another thread.
/// Not supported yet.
@c @implementation
public func realm_create_thread_safe_reference(_ handle: UnsafeRawPointer?) -> OpaquePointer? {
    notYet("realm_create_thread_safe_reference", nil)
}

/// Binds the referenced realm to `scheduler` and returns a new handle to it. Not supported yet.
@c @implementation
public func realm_from_thread_safe_reference(_ tsr: OpaquePointer?, _ scheduler: OpaquePointer?)
    -> OpaquePointer?
{
    notYet("realm_from_thread_safe_reference", nil)
}

/// Returns a new handle to the referenced object in `realm`. Not supported yet.
@c @implementation
public func realm_object_from_thread_safe_reference(_ realm: OpaquePointer?, _ tsr: OpaquePointer?)
    -> OpaquePointer?
{
    notYet("realm_object_from_thread_safe_reference", nil)
}

/// Returns a new handle to the referenced list in `realm`. Not supported yet.
@c @implementation
public func realm_list_from_thread_safe_reference(_ realm: OpaquePointer?, _ tsr: OpaquePointer?)
    -> OpaquePointer?
{
    notYet("realm_list_from_thread_safe_reference", nil)
}

/// Returns a new handle to the referenced set in `realm`. Not supported yet.
@c @implementation
public func realm_set_from_thread_safe_reference(_ realm: OpaquePointer?, _ tsr: OpaquePointer?)
    -> OpaquePointer?
{
    notYet("realm_set_from_thread_safe_reference", nil)
}

/// Returns a new handle to the referenced dictionary in `realm`. Not supported yet.
@c @implementation
public func realm_dictionary_from_thread_safe_reference(
    _ realm: OpaquePointer?, _ tsr: OpaquePointer?
) -> OpaquePointer? {
    notYet("realm_dictionary_from_thread_safe_reference", nil)
}

/// Returns a new handle to the referenced results in `realm`. Not supported yet.
@c @implementation
public func realm_results_from_thread_safe_reference(_ realm: OpaquePointer?, _ tsr: OpaquePointer?)
    -> OpaquePointer?
{
    notYet("realm_results_from_thread_safe_reference", nil)
}
