// Dictionaries: their keys ascend by bytes, so that an index is a place in the order of keys.

import CRealm
import CoreSwift

/// A key to look for: text without data stands for the empty key. Calls `body` with nil for what
/// is no string.
@inline(__always)
private func withKey<R>(
    _ key: realm_value_t, _ body: (RawValue?) throws(RealmError) -> R
) throws(RealmError) -> R {
    let raw = RawValue(key)
    guard raw.type == ValueType.string.rawValue else { return try body(nil) }
    if !raw.isNull { return try body(raw) }
    return try withUnsafePointer(to: 0) { empty throws(RealmError) in
        try body(.string(UnsafeRawPointer(empty), 0))
    }
}

/// The answer of `body`, or `absent` when the dictionary is gone.
private func ifThere<R>(
    _ absent: R, _ body: () throws(RealmError) -> R
) throws(RealmError) -> R {
    do throws(RealmError) {
        return try body()
    } catch {
        if error.code == .invalidatedObject { return absent }
        throw error
    }
}

// MARK: - The dictionary

/// Finds the same dictionary in another realm of the file; as `realm_list_resolve_in()`.
@c @implementation
public func realm_dictionary_resolve_in(
    _ dictionary: OpaquePointer?, _ target_realm: OpaquePointer?,
    _ resolved: UnsafeMutablePointer<OpaquePointer?>?
) -> Bool {
    succeeds(try resolve(dictionary, .dictionary, target_realm, resolved))
}

/// Whether the dictionary is there; false after the deletion of its object and when the realm was
/// closed. Never fails.
@c @implementation
public func realm_dictionary_is_valid(_ dictionary: OpaquePointer?) -> Bool {
    isValidCollection(dictionary, .dictionary)
}

/// Writes the number of elements. Fails: RLM_ERR_INVALIDATED_OBJECT, RLM_ERR_WRONG_THREAD.
@c @implementation
public func realm_dictionary_size(
    _ dictionary: OpaquePointer?, _ out_size: UnsafeMutablePointer<Int>?
) -> Bool {
    writeCount(dictionary, .dictionary, out_size)
}

/// Describes the property that holds the dictionary. Fails: RLM_ERR_INVALIDATED_OBJECT.
@c @implementation
public func realm_dictionary_get_property(
    _ dictionary: OpaquePointer?, _ out_info: UnsafeMutablePointer<realm_property_info_t>?
) -> Bool {
    succeeds(try describeProperty(dictionary, .dictionary, out_info))
}

// MARK: - Reading

/// Reads the value of a key; without such a key, also because it is no string, `out_found` is
/// false and no value written. Fails: RLM_ERR_INVALIDATED_OBJECT, RLM_ERR_WRONG_THREAD.
@c @implementation
public func realm_dictionary_find(
    _ dictionary: OpaquePointer?, _ key: realm_value_t,
    _ out_value: UnsafeMutablePointer<realm_value_t>?, _ out_found: UnsafeMutablePointer<Bool>?
) -> Bool {
    succeeds { () throws(RealmError) in
        let value = try withCollection(dictionary, .dictionary) { dictionary throws(RealmError) in
            try withKey(key) { key throws(RealmError) -> RawValue? in
                guard let key, let index = try dictionary.find(key: key) else { return nil }
                return try dictionary.get(index)
            }
        }
        if let value { out_value?.raw.pointee = value }
        out_found?.pointee = value != nil
    }
}

/// Reads the key and value at an index. Strings and binaries are borrowed as by
/// `realm_get_value()`. Fails: RLM_ERR_INDEX_OUT_OF_BOUNDS, RLM_ERR_INVALIDATED_OBJECT,
/// RLM_ERR_WRONG_THREAD.
@c @implementation
public func realm_dictionary_get(
    _ dictionary: OpaquePointer?, _ index: Int, _ out_key: UnsafeMutablePointer<realm_value_t>?,
    _ out_value: UnsafeMutablePointer<realm_value_t>?
) -> Bool {
    succeeds(dictionary, .dictionary) { dictionary throws(RealmError) in
        let key = try dictionary.key(index)
        let value = try dictionary.get(index)
        out_key?.raw.pointee = key
        out_value?.raw.pointee = value
    }
}

/// Returns a new handle to the object that the value of a key links to; `nil` without an error
/// for a missing key, a null or other value, and a dictionary that is gone. Fails:
/// RLM_ERR_INVALID_ARGUMENT for a key that is no string.
@c @implementation
public func realm_dictionary_get_linked_object(_ dictionary: OpaquePointer?, _ key: realm_value_t)
    -> OpaquePointer?
{
    boundary(dictionary, .dictionary, nil) { dictionary throws(RealmError) in
        try withKey(key) { text throws(RealmError) in
            try ifThere(nil) { () throws(RealmError) in
                try dictionary.object(key: text ?? RawValue(key))?.cHandle
            }
        }
    }
}

/// Writes whether there is such a key: false for keys that are no strings, and when the
/// dictionary is gone. Fails: RLM_ERR_WRONG_THREAD.
@c @implementation
public func realm_dictionary_contains_key(
    _ dictionary: OpaquePointer?, _ key: realm_value_t, _ found: UnsafeMutablePointer<Bool>?
) -> Bool {
    succeeds { () throws(RealmError) in
        let isThere = try withCollection(dictionary, .dictionary) { dictionary throws(RealmError) in
            try withKey(key) { key throws(RealmError) in
                try ifThere(false) { () throws(RealmError) in
                    guard let key else { return false }
                    return try dictionary.find(key: key) != nil
                }
            }
        }
        found?.pointee = isThere
    }
}

/// Finds the index of the first element with an equal value, or SIZE_MAX; values that cannot be
/// elements are not found. Fails: RLM_ERR_INVALIDATED_OBJECT, RLM_ERR_WRONG_THREAD.
@c @implementation
public func realm_dictionary_contains_value(
    _ dictionary: OpaquePointer?, _ value: realm_value_t, _ index: UnsafeMutablePointer<Int>?
) -> Bool {
    index?.pointee = notFound
    return succeeds(dictionary, .dictionary) { dictionary throws(RealmError) in
        let found = try dictionary.findIfFitting(RawValue(value))
        index?.write(found)
    }
}

// MARK: - Changing

/// Inserts or replaces the value of a key; writes the index of the key, and whether it is new. An
/// embedded object that was there is deleted. Fails: RLM_ERR_INVALID_ARGUMENT for a key that is no
/// string, RLM_ERR_INVALID_DICTIONARY_KEY for one that is null, begins with `$` or contains `.`,
/// RLM_ERR_PROPERTY_TYPE_MISMATCH, RLM_ERR_PROPERTY_NOT_NULLABLE, RLM_ERR_INVALIDATED_OBJECT,
/// RLM_ERR_WRONG_TRANSACTION_STATE, RLM_ERR_NO_SUCH_OBJECT for a link to an object that does not
/// exist, RLM_ERR_ILLEGAL_OPERATION for a link to an embedded one.
@c @implementation
public func realm_dictionary_insert(
    _ dictionary: OpaquePointer?, _ key: realm_value_t, _ value: realm_value_t,
    _ out_index: UnsafeMutablePointer<Int>?, _ out_inserted: UnsafeMutablePointer<Bool>?
) -> Bool {
    succeeds(dictionary, .dictionary) { dictionary throws(RealmError) in
        let place = try dictionary.insert(RawValue(value), key: RawValue(key))
        out_index?.pointee = place.index
        out_inserted?.pointee = place.isNew
    }
}

/// Puts a new embedded object at a key, which deletes one that was there, and returns a new handle
/// to it. In a dictionary of objects that are not embedded, a fresh object is created. Fails: as
/// `realm_dictionary_insert()`; RLM_ERR_INVALID_TABLE_REF for dictionaries of other values,
/// RLM_ERR_MISSING_PRIMARY_KEY for objects that have one.
@c @implementation
public func realm_dictionary_insert_embedded(_ dictionary: OpaquePointer?, _ key: realm_value_t)
    -> OpaquePointer?
{
    boundary(dictionary, .dictionary, nil) { dictionary throws(RealmError) in
        try dictionary.insertEmbedded(key: RawValue(key)).cHandle
    }
}

/// Removes a key with its value; `out_erased` is false when it was not there, or is no string.
/// Fails: RLM_ERR_INVALID_DICTIONARY_KEY, RLM_ERR_INVALIDATED_OBJECT,
/// RLM_ERR_WRONG_TRANSACTION_STATE.
@c @implementation
public func realm_dictionary_erase(
    _ dictionary: OpaquePointer?, _ key: realm_value_t, _ out_erased: UnsafeMutablePointer<Bool>?
) -> Bool {
    succeeds(dictionary, .dictionary) { dictionary throws(RealmError) in
        let isErased = try dictionary.remove(key: RawValue(key))
        out_erased?.pointee = isErased
    }
}

/// Removes all elements; embedded objects are deleted, others stay. Fails:
/// RLM_ERR_INVALIDATED_OBJECT, RLM_ERR_WRONG_TRANSACTION_STATE.
@c @implementation
public func realm_dictionary_clear(_ dictionary: OpaquePointer?) -> Bool {
    succeeds(dictionary, .dictionary) { dictionary throws(RealmError) in
        try dictionary.removeAll()
    }
}

// MARK: - Collections in mixed values

/// The list or dictionary that `body` finds, or makes, in a dictionary of mixed values; others fail
/// with `code`.
private func nested(
    _ handle: OpaquePointer?, _ key: realm_value_t, _ code: ErrorCode, makes: Bool = false,
    _ body: (RealmCollection) throws(RealmError) -> RealmCollection
) -> OpaquePointer? {
    boundary(handle, .dictionary, nil) { dictionary throws(RealmError) in
        guard RawValue(key).type == ValueType.string.rawValue else {
            throw RealmError(.invalidArgument, "the key of a dictionary must be a string")
        }
        return try nested(in: dictionary, makes: makes, code, "dictionaries", body)
    }
}

/// Puts an empty list at a key, unless there is a list, which then stays as it is, and returns a
/// new handle to it. Fails: RLM_ERR_INVALID_ARGUMENT for a key that is no string,
/// RLM_ERR_INVALID_DICTIONARY_VALUE for dictionaries of other than mixed values,
/// RLM_ERR_INVALID_DICTIONARY_KEY, RLM_ERR_INVALIDATED_OBJECT, RLM_ERR_WRONG_TRANSACTION_STATE,
/// RLM_ERR_LIMIT_EXCEEDED for more than 100 collections in one another.
@c @implementation
public func realm_dictionary_insert_list(_ dictionary: OpaquePointer?, _ key: realm_value_t)
    -> OpaquePointer?
{
    nested(dictionary, key, .invalidDictionaryValue, makes: true) { dictionary throws(RealmError) in
        try dictionary.insertNested(.list, key: RawValue(key))
    }
}

/// Puts an empty dictionary at a key, unless there is one; as `realm_dictionary_insert_list()`.
@c @implementation
public func realm_dictionary_insert_dictionary(_ dictionary: OpaquePointer?, _ key: realm_value_t)
    -> OpaquePointer?
{
    nested(dictionary, key, .invalidDictionaryValue, makes: true) { dictionary throws(RealmError) in
        try dictionary.insertNested(.dictionary, key: RawValue(key))
    }
}

/// Returns a new handle to the list at a key; one that is not valid for other values and missing
/// keys. Fails: RLM_ERR_INVALID_ARGUMENT for a key that is no string, RLM_ERR_INVALID_PROPERTY for
/// dictionaries of other than mixed values, RLM_ERR_INVALIDATED_OBJECT.
@c @implementation
public func realm_dictionary_get_list(_ dictionary: OpaquePointer?, _ key: realm_value_t)
    -> OpaquePointer?
{
    nested(dictionary, key, .invalidProperty) { dictionary throws(RealmError) in
        try withKey(key) { text throws(RealmError) in
            try dictionary.nested(key: text ?? RawValue(key), .list)
        }
    }
}

/// Returns a new handle to the dictionary at a key; as `realm_dictionary_get_list()`.
@c @implementation
public func realm_dictionary_get_dictionary(_ dictionary: OpaquePointer?, _ key: realm_value_t)
    -> OpaquePointer?
{
    nested(dictionary, key, .invalidProperty) { dictionary throws(RealmError) in
        try withKey(key) { text throws(RealmError) in
            try dictionary.nested(key: text ?? RawValue(key), .dictionary)
        }
    }
}

// MARK: - Results

/// Gives a new handle to live results over the keys in their order, and how many there are. Fails:
/// RLM_ERR_INVALIDATED_OBJECT, RLM_ERR_WRONG_THREAD.
@c @implementation
public func realm_dictionary_get_keys(
    _ dictionary: OpaquePointer?, _ out_size: UnsafeMutablePointer<Int>?,
    _ out_keys: UnsafeMutablePointer<OpaquePointer?>?
) -> Bool {
    succeeds { () throws(RealmError) in
        let keys = try held(dictionary, .dictionary, as: RealmCollection.self).keyResults()
        let count = try keys.count()
        out_size?.pointee = count
        out_keys?.pointee = makeHandle(.results, keys)
    }
}

/// Returns a new handle to live results over the values, in the order of their keys. Fails:
/// RLM_ERR_INVALIDATED_OBJECT, RLM_ERR_WRONG_THREAD.
@c @implementation
public func realm_dictionary_to_results(_ dictionary: OpaquePointer?) -> OpaquePointer? {
    boundary(nil, try collectionResults(dictionary, .dictionary))
}
