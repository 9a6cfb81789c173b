// Handing realms, objects, collections and results to other threads.

import CRealm
import CoreSwift

private func referenceHeld(_ handle: OpaquePointer?) throws(RealmError) -> ThreadSafeReference {
    try held(handle, .threadSafeReference, as: ThreadSafeReference.self)
}

/// Returns a new handle that carries a realm, object, collection or results to another thread; it
/// may be passed to and released on any. Those of realms and results keep the file open, those of
/// results also its version. Fails: RLM_ERR_ILLEGAL_OPERATION for other handles,
/// RLM_ERR_INVALIDATED_OBJECT for a collection that is gone, RLM_ERR_STALE_ACCESSOR for results
/// that are, RLM_ERR_WRONG_THREAD, RLM_ERR_WRONG_TRANSACTION_STATE for a realm in a write
/// transaction and for results over a collection of an object created in one.
@c @implementation
public func realm_create_thread_safe_reference(_ handle: UnsafeRawPointer?) -> OpaquePointer? {
    boundary(nil) { () throws(RealmError) in
        guard let kind = HandleSlab.kind(of: handle), let name = kind.name, kind != .released
        else { throw HandleKind.notAHandle(handle) }
        let reference: ThreadSafeReference
        switch kind {
        case .realm: reference = try ThreadSafeReference(held(handle, kind, as: Realm.self))
        case .object:
            let slot = try HandleSlab.check(handle, .object)
            reference = try ThreadSafeReference(ObjectHandle(checked: slot))
        case .list, .set, .dictionary:
            reference = try ThreadSafeReference(held(handle, kind, as: RealmCollection.self))
        case .results: reference = try ThreadSafeReference(held(handle, kind, as: AnyResults.self))
        default:
            throw RealmError(.illegalOperation, "\(name) cannot be handed to another thread")
        }
        return makeHandle(.threadSafeReference, reference)
    }
}

/// Binds the referenced realm itself to `scheduler`, or to the calling thread if that is `nil`, and
/// returns a new handle to it; older handles must no longer be used on the old thread. Of a cached
/// realm, returns the one that this scheduler has already. Fails: RLM_ERR_ILLEGAL_OPERATION for
/// references to other things, and the second time.
@c @implementation
public func realm_from_thread_safe_reference(_ tsr: OpaquePointer?, _ scheduler: OpaquePointer?)
    -> OpaquePointer?
{
    boundary(nil) { () throws(RealmError) in
        let reference = try referenceHeld(tsr)
        let target = try scheduler == nil ? nil : heldScheduler(scheduler)
        return makeHandle(.realm, try reference.realm(target))
    }
}

/// Returns a new handle to the referenced object in `realm`, which is refreshed first if it is
/// older than the reference; one that is not valid when the object is not there. May be called
/// again. Fails: RLM_ERR_ILLEGAL_OPERATION for references to other things,
/// RLM_ERR_CLOSED_REALM, RLM_ERR_WRONG_THREAD.
@c @implementation
public func realm_object_from_thread_safe_reference(_ realm: OpaquePointer?, _ tsr: OpaquePointer?)
    -> OpaquePointer?
{
    boundary(nil) { () throws(RealmError) in
        let realm = try realmHeld(realm)
        return OpaquePointer(try referenceHeld(tsr).object(in: realm).slot)
    }
}

private func collection(
    _ realm: OpaquePointer?, _ tsr: OpaquePointer?, _ type: CollectionType
) -> OpaquePointer? {
    boundary(nil) { () throws(RealmError) in
        let realm = try realmHeld(realm)
        return try referenceHeld(tsr).collection(type, in: realm).cHandle
    }
}

/// Returns a new handle to the referenced list in `realm`; as
/// `realm_object_from_thread_safe_reference()`.
@c @implementation
public func realm_list_from_thread_safe_reference(_ realm: OpaquePointer?, _ tsr: OpaquePointer?)
    -> OpaquePointer?
{
    collection(realm, tsr, .list)
}

/// Returns a new handle to the referenced set in `realm`; as
/// `realm_object_from_thread_safe_reference()`.
@c @implementation
public func realm_set_from_thread_safe_reference(_ realm: OpaquePointer?, _ tsr: OpaquePointer?)
    -> OpaquePointer?
{
    collection(realm, tsr, .set)
}

/// Returns a new handle to the referenced dictionary in `realm`; as
/// `realm_object_from_thread_safe_reference()`.
@c @implementation
public func realm_dictionary_from_thread_safe_reference(
    _ realm: OpaquePointer?, _ tsr: OpaquePointer?
) -> OpaquePointer? {
    collection(realm, tsr, .dictionary)
}

/// Returns a new handle to results from the same source, with the same conditions and order, in
/// `realm`; as `realm_object_from_thread_safe_reference()`. Over the values of a collection that is
/// not there they are not valid, over its objects empty.
@c @implementation
public func realm_results_from_thread_safe_reference(_ realm: OpaquePointer?, _ tsr: OpaquePointer?)
    -> OpaquePointer?
{
    boundary(nil) { () throws(RealmError) in
        let realm = try realmHeld(realm)
        return makeHandle(.results, try referenceHeld(tsr).results(in: realm))
    }
}
