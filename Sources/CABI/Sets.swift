// Sets: their elements ascend, so that an index is a place in the order of values.

import CRealm
import CoreSwift

/// Finds the same set in another realm of the file; as `realm_list_resolve_in()`.
@c @implementation
public func realm_set_resolve_in(
    _ set: OpaquePointer?, _ target_realm: OpaquePointer?,
    _ resolved: UnsafeMutablePointer<OpaquePointer?>?
) -> Bool {
    succeeds(try resolve(set, .set, target_realm, resolved))
}

/// Whether the set is there; false after the deletion of its object and when the realm was
/// closed. Never fails.
@c @implementation
public func realm_set_is_valid(_ set: OpaquePointer?) -> Bool {
    isValidCollection(set, .set)
}

/// Writes the number of elements. Fails: RLM_ERR_INVALIDATED_OBJECT, RLM_ERR_WRONG_THREAD.
@c @implementation
public func realm_set_size(_ set: OpaquePointer?, _ out_size: UnsafeMutablePointer<Int>?) -> Bool {
    writeCount(set, .set, out_size)
}

/// Describes the property that holds the set. Fails: RLM_ERR_INVALIDATED_OBJECT.
@c @implementation
public func realm_set_get_property(
    _ set: OpaquePointer?, _ out_property_info: UnsafeMutablePointer<realm_property_info_t>?
) -> Bool {
    succeeds(try describeProperty(set, .set, out_property_info))
}

/// Reads the element at an index; as `realm_list_get()`.
@c @implementation
public func realm_set_get(
    _ set: OpaquePointer?, _ index: Int, _ out_value: UnsafeMutablePointer<realm_value_t>?
) -> Bool {
    succeeds(set, .set) { set throws(RealmError) in
        let value = try set.get(index)
        out_value?.raw.pointee = value
    }
}

/// Finds an element by its value: its index, or SIZE_MAX and false. Values that cannot be
/// elements are not found. Fails: RLM_ERR_INVALIDATED_OBJECT, RLM_ERR_WRONG_THREAD.
@c @implementation
public func realm_set_find(
    _ set: OpaquePointer?, _ value: realm_value_t, _ out_index: UnsafeMutablePointer<Int>?,
    _ out_found: UnsafeMutablePointer<Bool>?
) -> Bool {
    out_index?.pointee = notFound
    out_found?.pointee = false
    return succeeds(set, .set) { set throws(RealmError) in
        let found = try set.findIfFitting(RawValue(value))
        out_index?.write(found)
        out_found?.pointee = found != nil
    }
}

/// Inserts an element unless an equal one is there; writes its index, and whether it is new.
/// Fails: RLM_ERR_PROPERTY_TYPE_MISMATCH, RLM_ERR_PROPERTY_NOT_NULLABLE,
/// RLM_ERR_INVALIDATED_OBJECT, RLM_ERR_WRONG_TRANSACTION_STATE, RLM_ERR_NO_SUCH_OBJECT for a link
/// to an object that does not exist, RLM_ERR_ILLEGAL_OPERATION for a list or dictionary.
@c @implementation
public func realm_set_insert(
    _ set: OpaquePointer?, _ value: realm_value_t, _ out_index: UnsafeMutablePointer<Int>?,
    _ out_inserted: UnsafeMutablePointer<Bool>?
) -> Bool {
    succeeds(set, .set) { set throws(RealmError) in
        let place = try set.insert(RawValue(value))
        out_index?.pointee = place.index
        out_inserted?.pointee = place.isNew
    }
}

/// Removes an element; `out_erased` is false when it was not there, or cannot be an element.
/// Fails: RLM_ERR_INVALIDATED_OBJECT, RLM_ERR_WRONG_TRANSACTION_STATE.
@c @implementation
public func realm_set_erase(
    _ set: OpaquePointer?, _ value: realm_value_t, _ out_erased: UnsafeMutablePointer<Bool>?
) -> Bool {
    succeeds(set, .set) { set throws(RealmError) in
        let isErased = try set.remove(RawValue(value))
        out_erased?.pointee = isErased
    }
}

/// Removes all elements; objects they link to stay. Fails: RLM_ERR_INVALIDATED_OBJECT,
/// RLM_ERR_WRONG_TRANSACTION_STATE.
@c @implementation
public func realm_set_clear(_ set: OpaquePointer?) -> Bool {
    succeeds(set, .set) { set throws(RealmError) in try set.removeAll() }
}

/// Removes all elements and deletes the objects that a set of objects links to. Fails: as
/// `realm_set_clear()`.
@c @implementation
public func realm_set_remove_all(_ set: OpaquePointer?) -> Bool {
    succeeds(set, .set) { set throws(RealmError) in try set.deleteAll() }
}

/// Returns a new handle to live results over the elements, in their order. Fails:
/// RLM_ERR_INVALIDATED_OBJECT, RLM_ERR_WRONG_THREAD.
@c @implementation
public func realm_set_to_results(_ set: OpaquePointer?) -> OpaquePointer? {
    boundary(nil, try collectionResults(set, .set))
}
