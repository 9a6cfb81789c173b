// Lists: reading, changing, embedded objects. An index above the largest Int arrives negative and
// is out of bounds like others.

import CRealm
import CoreSwift

// MARK: - The list

/// Finds the same list in another realm of the file; `resolved` gets a new handle, or NULL if its
/// object is not there or was deleted here. Fails: RLM_ERR_CLOSED_REALM for the target,
/// RLM_ERR_ILLEGAL_OPERATION for a realm of another file; `resolved` is not written then.
@c @implementation
public func realm_list_resolve_in(
    _ list: OpaquePointer?, _ target_realm: OpaquePointer?,
    _ resolved: UnsafeMutablePointer<OpaquePointer?>?
) -> Bool {
    succeeds(try resolve(list, .list, target_realm, resolved))
}

/// Whether the list is there; false after the deletion of its object and when the realm was
/// closed. Never fails.
@c @implementation
public func realm_list_is_valid(_ list: OpaquePointer?) -> Bool {
    isValidCollection(list, .list)
}

/// Writes the number of elements. Fails: RLM_ERR_INVALIDATED_OBJECT, RLM_ERR_WRONG_THREAD.
@c @implementation
public func realm_list_size(_ list: OpaquePointer?, _ out_size: UnsafeMutablePointer<Int>?) -> Bool
{
    writeCount(list, .list, out_size)
}

/// Describes the property that holds the list. Fails: RLM_ERR_INVALIDATED_OBJECT.
@c @implementation
public func realm_list_get_property(
    _ list: OpaquePointer?, _ out_property_info: UnsafeMutablePointer<realm_property_info_t>?
) -> Bool {
    succeeds(try describeProperty(list, .list, out_property_info))
}

// MARK: - Reading

/// Reads the element at an index. Strings and binaries are borrowed as by `realm_get_value()`.
/// Fails: RLM_ERR_INDEX_OUT_OF_BOUNDS, RLM_ERR_INVALIDATED_OBJECT, RLM_ERR_WRONG_THREAD.
@c @implementation
public func realm_list_get(
    _ list: OpaquePointer?, _ index: Int, _ out_value: UnsafeMutablePointer<realm_value_t>?
) -> Bool {
    succeeds(list, .list) { list throws(RealmError) in
        let value = try list.get(index)
        out_value?.raw.pointee = value
    }
}

/// Finds the first element that equals a value: its index, or SIZE_MAX and false. Fails:
/// RLM_ERR_PROPERTY_TYPE_MISMATCH and RLM_ERR_PROPERTY_NOT_NULLABLE for values that cannot be
/// elements, RLM_ERR_INVALIDATED_OBJECT.
@c @implementation
public func realm_list_find(
    _ list: OpaquePointer?, _ value: UnsafePointer<realm_value_t>?,
    _ out_index: UnsafeMutablePointer<Int>?, _ out_found: UnsafeMutablePointer<Bool>?
) -> Bool {
    out_index?.pointee = notFound
    out_found?.pointee = false
    return succeeds { () throws(RealmError) in
        let value = try given(value, "value")
        let found = try withCollection(list, .list) { list throws(RealmError) in
            try list.check(value.raw.pointee)
            return try list.find(value.raw.pointee)
        }
        out_index?.write(found)
        out_found?.pointee = found != nil
    }
}

/// Returns a new handle to the object that the element at an index links to; `nil` without an
/// error for lists of other types. Fails: RLM_ERR_INDEX_OUT_OF_BOUNDS,
/// RLM_ERR_INVALIDATED_OBJECT.
@c @implementation
public func realm_list_get_linked_object(_ list: OpaquePointer?, _ index: Int) -> OpaquePointer? {
    boundary(list, .list, nil) { list throws(RealmError) in
        _ = try list.count()
        return try list.holdsObjects ? list.object(index)?.cHandle : nil
    }
}

// MARK: - Changing

/// Replaces the element at an index. Fails: RLM_ERR_INVALIDATED_OBJECT,
/// RLM_ERR_PROPERTY_TYPE_MISMATCH, RLM_ERR_PROPERTY_NOT_NULLABLE, RLM_ERR_WRONG_TRANSACTION_STATE,
/// RLM_ERR_INDEX_OUT_OF_BOUNDS, RLM_ERR_NO_SUCH_OBJECT for a link to an object that does not
/// exist, RLM_ERR_ILLEGAL_OPERATION for a link to an embedded one, RLM_ERR_LIMIT_EXCEEDED; checked
/// in this order.
@c @implementation
public func realm_list_set(_ list: OpaquePointer?, _ index: Int, _ value: realm_value_t) -> Bool {
    succeeds(list, .list) { list throws(RealmError) in try list.set(RawValue(value), at: index) }
}

/// Inserts an element before index, or behind the last one. Fails: as `realm_list_set()`.
@c @implementation
public func realm_list_insert(_ list: OpaquePointer?, _ index: Int, _ value: realm_value_t) -> Bool
{
    succeeds(list, .list) { list throws(RealmError) in try list.insert(RawValue(value), at: index) }
}

/// Moves an element so that it ends at index `to_index`. Fails: RLM_ERR_INVALIDATED_OBJECT,
/// RLM_ERR_WRONG_TRANSACTION_STATE, RLM_ERR_INDEX_OUT_OF_BOUNDS.
@c @implementation
public func realm_list_move(_ list: OpaquePointer?, _ from_index: Int, _ to_index: Int) -> Bool {
    succeeds(list, .list) { list throws(RealmError) in
        try list.move(from: from_index, to: to_index)
    }
}

/// Inserts a new embedded object before index, or behind the last element, and returns a new
/// handle to it. Fails: RLM_ERR_INVALIDATED_OBJECT, RLM_ERR_WRONG_TRANSACTION_STATE,
/// RLM_ERR_INDEX_OUT_OF_BOUNDS, RLM_ERR_ILLEGAL_OPERATION for lists that hold none.
@c @implementation
public func realm_list_insert_embedded(_ list: OpaquePointer?, _ index: Int) -> OpaquePointer? {
    boundary(list, .list, nil) { list throws(RealmError) in
        try list.insertEmbedded(at: index).cHandle
    }
}

/// Replaces an element by a new embedded object, which deletes the old one, and returns a new
/// handle to it. Fails: as `realm_list_insert_embedded()`.
@c @implementation
public func realm_list_set_embedded(_ list: OpaquePointer?, _ index: Int) -> OpaquePointer? {
    boundary(list, .list, nil) { list throws(RealmError) in
        try list.setEmbedded(at: index).cHandle
    }
}

/// Removes an element; an embedded object is deleted with it, others stay. Fails:
/// RLM_ERR_INVALIDATED_OBJECT, RLM_ERR_WRONG_TRANSACTION_STATE, RLM_ERR_INDEX_OUT_OF_BOUNDS.
@c @implementation
public func realm_list_erase(_ list: OpaquePointer?, _ index: Int) -> Bool {
    succeeds(list, .list) { list throws(RealmError) in try list.remove(at: index) }
}

/// Removes all elements; embedded objects are deleted, others stay. Fails:
/// RLM_ERR_INVALIDATED_OBJECT, RLM_ERR_WRONG_TRANSACTION_STATE.
@c @implementation
public func realm_list_clear(_ list: OpaquePointer?) -> Bool {
    succeeds(list, .list) { list throws(RealmError) in try list.removeAll() }
}

/// Removes all elements and deletes the objects that a list of objects links to. Fails: as
/// `realm_list_clear()`.
@c @implementation
public func realm_list_remove_all(_ list: OpaquePointer?) -> Bool {
    succeeds(list, .list) { list throws(RealmError) in try list.deleteAll() }
}

// MARK: - Collections in mixed elements

/// The list or dictionary that `body` finds, or makes, in a list of mixed values.
private func nested(
    _ handle: OpaquePointer?, makes: Bool = false,
    _ body: (RealmCollection) throws(RealmError) -> RealmCollection
) -> OpaquePointer? {
    boundary(handle, .list, nil) { list throws(RealmError) in
        try nested(in: list, makes: makes, .illegalOperation, "lists", body)
    }
}

/// Inserts an empty list before index, or behind the last element, and returns a new handle to it.
/// Fails: RLM_ERR_ILLEGAL_OPERATION for lists of other than mixed values,
/// RLM_ERR_INVALIDATED_OBJECT, RLM_ERR_WRONG_TRANSACTION_STATE, RLM_ERR_INDEX_OUT_OF_BOUNDS,
/// RLM_ERR_LIMIT_EXCEEDED for more than 100 collections in one another.
@c @implementation
public func realm_list_insert_list(_ list: OpaquePointer?, _ index: Int) -> OpaquePointer? {
    nested(list, makes: true) { list throws(RealmError) in
        try list.insertNested(.list, at: index)
    }
}

/// Inserts an empty dictionary and returns a new handle to it; as `realm_list_insert_list()`.
@c @implementation
public func realm_list_insert_dictionary(_ list: OpaquePointer?, _ index: Int) -> OpaquePointer? {
    nested(list, makes: true) { list throws(RealmError) in
        try list.insertNested(.dictionary, at: index)
    }
}

/// Replaces an element by an empty list, unless it is a list, which then stays as it is, and
/// returns a new handle to it. Fails: as `realm_list_insert_list()`.
@c @implementation
public func realm_list_set_list(_ list: OpaquePointer?, _ index: Int) -> OpaquePointer? {
    nested(list, makes: true) { list throws(RealmError) in
        try list.setNested(.list, at: index)
    }
}

/// Replaces an element by an empty dictionary, unless it is one; as `realm_list_set_list()`.
@c @implementation
public func realm_list_set_dictionary(_ list: OpaquePointer?, _ index: Int) -> OpaquePointer? {
    nested(list, makes: true) { list throws(RealmError) in
        try list.setNested(.dictionary, at: index)
    }
}

/// Returns a new handle to the list that an element is; one that is not valid for other elements
/// and bad indexes. Fails: RLM_ERR_ILLEGAL_OPERATION for lists of other than mixed values,
/// RLM_ERR_INVALIDATED_OBJECT.
@c @implementation
public func realm_list_get_list(_ list: OpaquePointer?, _ index: Int) -> OpaquePointer? {
    nested(list) { list throws(RealmError) in try list.nested(index, .list) }
}

/// Returns a new handle to the dictionary that an element is; as `realm_list_get_list()`.
@c @implementation
public func realm_list_get_dictionary(_ list: OpaquePointer?, _ index: Int) -> OpaquePointer? {
    nested(list) { list throws(RealmError) in try list.nested(index, .dictionary) }
}

/// Returns a new handle to live results over the elements, in their order. Fails:
/// RLM_ERR_INVALIDATED_OBJECT, RLM_ERR_WRONG_THREAD.
@c @implementation
public func realm_list_to_results(_ list: OpaquePointer?) -> OpaquePointer? {
    boundary(nil, try collectionResults(list, .list))
}
