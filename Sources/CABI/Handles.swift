// What all handles have in common: release, clone, comparison. Object handles come first in each
// function: they are made and released in loops.

import CKernels
import CRealm
import CoreSwift

/// Ends any handle; what it registered is unregistered. NULL, a handle released before and a
/// work queue are ignored.
@c @implementation
public func realm_release(_ ptr: UnsafeMutableRawPointer?) {
    guard let ptr else { return }
    if HandleSlab.isHandle(ptr, .object) {
        ObjectHandle(checked: ptr).release()
        return
    }
    guard let kind = HandleSlab.kind(of: ptr) else { return }
    switch kind {
    case .workQueue, .released: return
    case .list, .set, .dictionary: HandleSlab.releaseHolding(ptr)
    case .realm:
        // The kind says which class it is.
        HandleSlab.held(by: ptr)?._withUnsafeGuaranteedRef {
            unsafeDowncast($0, to: Realm.self).prepareForRelease()
        }
        HandleSlab.releaseHolding(ptr)
    case .results:
        HandleSlab.held(by: ptr)?._withUnsafeGuaranteedRef {
            let results = unsafeDowncast($0, to: AnyResults.self)
            results.endObservation(handle: ptr)
            results.realm.prepareForRelease()
        }
        HandleSlab.releaseHolding(ptr)
    default:
        if kind.name != nil { HandleSlab.releaseHolding(ptr) }
    }
}

/// Returns a new handle to the same realm, object, collection, results, groups or query, or to a copy of
/// the same schema, scheduler, error or change set. Fails: RLM_ERR_NOT_CLONABLE for other kinds.
@c @implementation
public func realm_clone(_ handle: UnsafeRawPointer?) -> UnsafeMutableRawPointer? {
    boundary(nil) { () throws(RealmError) in
        guard let kind = HandleSlab.kind(of: handle), let name = kind.name, kind != .released,
            let handle
        else { throw HandleKind.notAHandle(handle) }
        switch kind {
        case .schema:
            let schema = try held(handle, kind, as: SchemaObject.self).schema
            return UnsafeMutableRawPointer(makeHandle(.schema, SchemaObject(schema)))
        case .query:
            let copy = QueryObject(try held(handle, kind, as: QueryObject.self).query)
            return UnsafeMutableRawPointer(makeHandle(.query, copy))
        case .object:
            let slot = UnsafeMutableRawPointer(mutating: handle)
            return ObjectHandle(checked: slot).clone().slot
        case .results:
            // Refinements never change results: a clone may share them.
            return UnsafeMutableRawPointer(
                makeHandle(kind, try held(handle, kind, as: AnyResults.self)))
        case .list, .set, .dictionary:
            let copy = try held(handle, kind, as: RealmCollection.self).copy()
            return copy.cHandle.map { UnsafeMutableRawPointer($0) }
        case .realm, .scheduler, .asyncError, .objectChanges, .collectionChanges,
            .dictionaryChanges, .groups:
            let object = try held(handle, kind, as: AnyObject.self)
            return UnsafeMutableRawPointer(makeHandle(kind, object))
        default:
            throw RealmError(.notClonable, "\(name) cannot be cloned")
        }
    }
}

/// Whether two handles stand for the same thing; never fails.
///
/// - Realms: the same instance. Objects and collections: the same one in the same instance.
/// - Schemas: the same classes, with the same properties in the same order; public names and keys
///   do not count.
/// - Schedulers: the same thread. Errors: the same code and message.
/// - Other kinds: the same handle.
@c @implementation
public func realm_equals(_ a: UnsafeRawPointer?, _ b: UnsafeRawPointer?) -> Bool {
    if a == b { return true }
    guard let a, let b, let kind = HandleSlab.kind(of: a), kind == HandleSlab.kind(of: b) else {
        return false
    }
    do throws(RealmError) {
        switch kind {
        case .object:
            return ObjectHandle(checked: UnsafeMutableRawPointer(mutating: a))
                .isEqual(ObjectHandle(checked: UnsafeMutableRawPointer(mutating: b)))
        case .realm:
            return try held(a, kind, as: Realm.self) === held(b, kind, as: Realm.self)
        case .list, .set, .dictionary:
            return try held(a, kind, as: RealmCollection.self)
                .isEqual(try held(b, kind, as: RealmCollection.self))
        case .schema:
            return try held(a, kind, as: SchemaObject.self).schema
                .describesSame(as: try held(b, kind, as: SchemaObject.self).schema)
        case .scheduler:
            return try heldScheduler(a).isSame(as: try heldScheduler(b))
        case .asyncError:
            return try held(a, kind, as: ErrorRecord.self)
                .equals(try held(b, kind, as: ErrorRecord.self))
        default:
            return false
        }
    } catch {
        return false
    }
}

/// Whether a realm, object, collection, results or groups belongs to a frozen realm, closed or not; false
/// for other handles.
@c @implementation
public func realm_is_frozen(_ handle: UnsafeRawPointer?) -> Bool {
    do throws(RealmError) {
        switch HandleSlab.kind(of: handle) {
        case .realm?: return try held(handle, .realm, as: Realm.self).isFrozen
        case .results?: return try held(handle, .results, as: AnyResults.self).realm.isFrozen
        case .groups?: return try held(handle, .groups, as: GroupedResults.self).realm.isFrozen
        case .object?:
            let slot = try HandleSlab.check(handle, .object)
            return ObjectHandle(checked: slot).realm.isFrozen
        case let kind? where kind.isCollection:
            return try held(handle, kind, as: RealmCollection.self).realm.isFrozen
        default: return false
        }
    } catch {
        return false
    }
}

/// Frees memory that a function handed over as "to be freed with realm_free()", or that came from
/// malloc(). NULL is ignored.
@c @implementation
public func realm_free(_ buffer: UnsafeMutableRawPointer?) {
    ck_free(buffer)
}

extension HandleKind {
    static func notAHandle(_ pointer: UnsafeRawPointer?) -> RealmError {
        let found = pointer == nil ? "NULL" : HandleSlab.kind(of: pointer)?.name
        return RealmError(
            .invalidArgument, "expected a handle, got \(found ?? "a pointer that is no handle")")
    }
}
