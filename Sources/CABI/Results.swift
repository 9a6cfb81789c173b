// Results: sizes, elements, refinement, aggregates.

import CRealm
import CoreSwift

/// The results of a handle, which must be over objects; others fail with `code`.
func resultsHeld(
    _ handle: OpaquePointer?, _ operation: String = "this call",
    _ code: ErrorCode = .illegalOperation
) throws(RealmError) -> Results {
    let results = try anyResultsHeld(handle)
    guard results.holdsValues else { return unsafeDowncast(results, to: Results.self) }
    throw unsafeDowncast(results, to: ValueResults.self).notDefined(operation, code)
}

/// Calls one of the two with the results of a handle: over objects, or over values.
@inline(__always)
func withResults<R>(
    _ handle: OpaquePointer?, _ objects: (Results) throws(RealmError) -> R,
    values: (ValueResults) throws(RealmError) -> R
) throws(RealmError) -> R {
    try borrow(handle, .results, as: AnyResults.self) { results throws(RealmError) in
        // The flag says which class it is.
        results.holdsValues
            ? try values(unsafeDowncast(results, to: ValueResults.self))
            : try objects(unsafeDowncast(results, to: Results.self))
    }
}

/// Calls `body` with the results of a handle, whatever they are over.
@inline(__always)
func withResults<R>(
    _ handle: OpaquePointer?, _ body: (AnyResults) throws(RealmError) -> R
) throws(RealmError) -> R {
    try borrow(handle, .results, as: AnyResults.self, body)
}

/// The same results, to make others of them.
func anyResultsHeld(_ handle: OpaquePointer?) throws(RealmError) -> AnyResults {
    try held(handle, .results, as: AnyResults.self)
}

// MARK: - Making results

/// Returns a new handle to live results of all objects of a class, by ascending object key.
/// Fails: RLM_ERR_NO_SUCH_TABLE, RLM_ERR_CLOSED_REALM.
@c @implementation
public func realm_object_find_all(_ realm: OpaquePointer?, _ class_key: realm_class_key_t)
    -> OpaquePointer?
{
    boundary(realm, nil) { realm throws(RealmError) in
        makeHandle(.results, try realm.results(ClassKey(class_key)))
    }
}

/// Returns a new handle to live results of the objects of a class that link to `object` through a
/// property. Fails: RLM_ERR_INVALIDATED_OBJECT, RLM_ERR_NO_SUCH_TABLE, RLM_ERR_INVALID_PROPERTY
/// for a property that does not link to the object's class.
@c @implementation
public func realm_get_backlinks(
    _ object: OpaquePointer?, _ source_table_key: realm_class_key_t,
    _ property_key: realm_property_key_t
) -> OpaquePointer? {
    boundary(nil) { () throws(RealmError) in
        let results = try objectHeld(object).backlinks(
            from: ClassKey(source_table_key), property: PropertyKey(property_key))
        return makeHandle(.results, results)
    }
}

// MARK: - Elements

/// Writes whether the results can still be used: not after their realm was closed or compacted,
/// nor those over values of a collection once its object was deleted.
@c @implementation
public func realm_results_is_valid(
    _ results: OpaquePointer?, _ out_is_valid: UnsafeMutablePointer<Bool>?
) -> Bool {
    succeeds { () throws(RealmError) in
        let isValid = try withResults(results) { $0.isValid }
        out_is_valid?.pointee = isValid
    }
}

/// Writes the number of elements. Fails: RLM_ERR_STALE_ACCESSOR, RLM_ERR_WRONG_THREAD.
@c @implementation
public func realm_results_count(
    _ results: OpaquePointer?, _ out_count: UnsafeMutablePointer<Int>?
) -> Bool {
    succeeds { () throws(RealmError) in
        let count = try withResults(results) { results throws(RealmError) in
            try results.count()
        }
        out_count?.pointee = count
    }
}

/// Writes the element at a position: an object as a link; null for an element of a snapshot
/// whose object is gone. Fails: RLM_ERR_INDEX_OUT_OF_BOUNDS, RLM_ERR_STALE_ACCESSOR.
@c @implementation
public func realm_results_get(
    _ results: OpaquePointer?, _ index: Int, _ out_value: UnsafeMutablePointer<realm_value_t>?
) -> Bool {
    succeeds { () throws(RealmError) in
        let value = try withResults(
            results, { results throws(RealmError) in try results.get(index) },
            values: { values throws(RealmError) in try values.get(index) })
        out_value?.raw.pointee = value
    }
}

/// Returns a new handle to the object at a position; for an element of a snapshot whose object
/// is gone, a handle that is not valid. Fails: RLM_ERR_INDEX_OUT_OF_BOUNDS,
/// RLM_ERR_STALE_ACCESSOR.
@c @implementation
public func realm_results_get_object(_ results: OpaquePointer?, _ index: Int) -> OpaquePointer? {
    boundary(nil) { () throws(RealmError) in
        try withResults(
            results,
            { results throws(RealmError) in OpaquePointer(try results.object(index).slot) },
            values: { values throws(RealmError) in
                throw values.notDefined("reading an object", .indexOutOfBounds)
            })
    }
}

/// Writes the position of a link value. Values of another type and links to other classes are
/// not found, which is no failure: SIZE_MAX and false.
@c @implementation
public func realm_results_find(
    _ results: OpaquePointer?, _ value: UnsafeMutablePointer<realm_value_t>?,
    _ out_index: UnsafeMutablePointer<Int>?, _ out_found: UnsafeMutablePointer<Bool>?
) -> Bool {
    out_index?.pointee = notFound
    out_found?.pointee = false
    return succeeds { () throws(RealmError) in
        let value = try given(value, "value")
        let raw = value.raw.pointee
        let found = try withResults(results) { results throws(RealmError) in
            try results.find(raw)
        }
        out_index?.pointee = found ?? notFound
        out_found?.pointee = found != nil
    }
}

/// Writes the position of an object. Fails: RLM_ERR_STALE_ACCESSOR for an object that is gone,
/// RLM_ERR_OBJECT_TYPE_MISMATCH for one of another class or another file.
@c @implementation
public func realm_results_find_object(
    _ results: OpaquePointer?, _ value: OpaquePointer?, _ out_index: UnsafeMutablePointer<Int>?,
    _ out_found: UnsafeMutablePointer<Bool>?
) -> Bool {
    out_index?.pointee = notFound
    out_found?.pointee = false
    return succeeds { () throws(RealmError) in
        let object = try objectHeld(value)
        let found = try withResults(results) { results throws(RealmError) in
            try results.find(object)
        }
        out_index?.pointee = found ?? notFound
        out_found?.pointee = found != nil
    }
}

/// The collection that an element of results over mixed values is, or nothing.
private func nested(
    _ results: OpaquePointer?, _ index: Int, _ type: CollectionType
) -> OpaquePointer? {
    boundary(nil) { () throws(RealmError) in
        try withResults(
            results,
            { _ throws(RealmError) -> OpaquePointer? in
                throw RealmError(.illegalOperation, "objects are no lists or dictionaries")
            },
            values: { values throws(RealmError) -> OpaquePointer? in
                try values.nested(index, type)?.cHandle
            })
    }
}

/// Returns a new handle to the list at a position of results over mixed values; `nil` without an
/// error for an element of another kind. Fails: RLM_ERR_INDEX_OUT_OF_BOUNDS,
/// RLM_ERR_ILLEGAL_OPERATION for results over other values, RLM_ERR_STALE_ACCESSOR.
@c @implementation
public func realm_results_get_list(_ results: OpaquePointer?, _ index: Int) -> OpaquePointer? {
    nested(results, index, .list)
}

/// Returns a new handle to the dictionary at a position; as `realm_results_get_list()`.
@c @implementation
public func realm_results_get_dictionary(_ results: OpaquePointer?, _ index: Int) -> OpaquePointer?
{
    nested(results, index, .dictionary)
}

// MARK: - Refining

/// Returns a new handle to the elements that satisfy the query's conditions, in the order they
/// have; the query's own ordering clauses are not used, and it stays usable. Results over values
/// take queries over values of the same type, in collections of the same class. A query over a
/// collection or made of results finds only what is there: it filters all objects of the class, which
/// then come in the order of the collection, and results of the same source. Fails:
/// RLM_ERR_ILLEGAL_OPERATION for results with a limit or of another source than the query's, for a
/// query of another file, and for results over values and any other query,
/// RLM_ERR_INVALID_PROPERTY for a query of another class, RLM_ERR_STALE_ACCESSOR, RLM_ERR_CLOSED_REALM when nobody has the query's file open any more.
@c @implementation
public func realm_results_filter(_ results: OpaquePointer?, _ query: OpaquePointer?)
    -> OpaquePointer?
{
    boundary(nil) { () throws(RealmError) in
        let query = try queryHeld(query).query
        return makeHandle(.results, try anyResultsHeld(results).filteredFirst(by: query))
    }
}

/// Texts for objects are refused by results over values, whatever is wrong with them.
private func checkNamesSelf(
    _ text: String, _ results: AnyResults, _ operation: String
) throws(RealmError) {
    guard results.holdsValues, !Query.namesSelf(text) else { return }
    throw unsafeDowncast(results, to: ValueResults.self).notDefined(operation, .invalidTableRef)
}

/// Returns a new handle to the elements sorted by "path DIRECTION, path DIRECTION, ...";
/// directions are ASC, ASCENDING, DESC and DESCENDING. Equal elements keep their order. Values that
/// are no objects are sorted by "SELF DIRECTION", mixed ones also by what lies in them
/// ("SELF.name ASC"). Fails: RLM_ERR_INVALID_QUERY_STRING, RLM_ERR_INVALID_QUERY for an unknown
/// property, RLM_ERR_INVALID_SORT_DESCRIPTOR, RLM_ERR_INVALID_TABLE_REF for results over values and
/// a text without SELF, RLM_ERR_STALE_ACCESSOR.
@c @implementation
public func realm_results_sort(
    _ results: OpaquePointer?, _ sort_string: UnsafePointer<CChar>?
) -> OpaquePointer? {
    boundary(nil) { () throws(RealmError) in
        let by = try text(sort_string, "sort_string")
        let results = try anyResultsHeld(results)
        try checkNamesSelf(by, results, "a sort without SELF")
        return makeHandle(.results, try results.sorted(by))
    }
}

/// Returns a new handle to the first element of each combination of the values at "path, path,
/// ..."; elements whose path crosses a null link are left out. Fails: as `realm_results_sort()`.
@c @implementation
public func realm_results_distinct(
    _ results: OpaquePointer?, _ distinct_string: UnsafePointer<CChar>?
) -> OpaquePointer? {
    boundary(nil) { () throws(RealmError) in
        let by = try text(distinct_string, "distinct_string")
        let results = try anyResultsHeld(results)
        try checkNamesSelf(by, results, "a distinct without SELF")
        return makeHandle(.results, try results.distinct(by))
    }
}

/// Returns a new handle to the first `max_count` elements. Fails: RLM_ERR_STALE_ACCESSOR.
@c @implementation
public func realm_results_limit(_ results: OpaquePointer?, _ max_count: Int) -> OpaquePointer? {
    boundary(nil) { () throws(RealmError) in
        // Sizes above Int.max arrive negative: no limit.
        let count = max_count < 0 ? Int.max : max_count
        return makeHandle(.results, try anyResultsHeld(results).limited(count))
    }
}

/// Returns a new handle to the elements behind the first `count`; as OFFSET in a query, behind a
/// limit it leaves out the first of what the limit leaves. Such results can't be filtered. Fails:
/// RLM_ERR_STALE_ACCESSOR.
@c @implementation
public func realm_results_offset(_ results: OpaquePointer?, _ count: Int) -> OpaquePointer? {
    boundary(nil) { () throws(RealmError) in
        // Sizes above Int.max arrive negative: nothing is left.
        let count = count < 0 ? Int.max : count
        return makeHandle(.results, try anyResultsHeld(results).offset(count))
    }
}

/// Returns a new handle to the elements as they are now: none come, go or move any more; values
/// stay live. Results over values, not objects, stay live altogether. Fails: RLM_ERR_STALE_ACCESSOR.
@c @implementation
public func realm_results_snapshot(_ results: OpaquePointer?) -> OpaquePointer? {
    boundary(nil, makeHandle(.results, try anyResultsHeld(results).snapshot()))
}

/// Returns a new handle to results over the same source, with the same conditions and order, in
/// another realm of the file, live or frozen; those of a snapshot are determined anew. Fails:
/// RLM_ERR_STALE_ACCESSOR, RLM_ERR_CLOSED_REALM for the target, RLM_ERR_ILLEGAL_OPERATION for a
/// realm of another file, RLM_ERR_NO_SUCH_TABLE when its version lacks the class.
@c @implementation
public func realm_results_resolve_in(_ results: OpaquePointer?, _ target_realm: OpaquePointer?)
    -> OpaquePointer?
{
    boundary(nil) { () throws(RealmError) in
        let target = try realmHeld(target_realm)
        return makeHandle(.results, try anyResultsHeld(results).resolved(in: target))
    }
}

/// Returns a new handle to a query with the conditions of the results; sort, distinct and limit
/// are not part of it. Of results over values that have no conditions, the query finds nothing.
/// Fails: RLM_ERR_STALE_ACCESSOR.
@c @implementation
public func realm_results_get_query(_ results: OpaquePointer?) -> OpaquePointer? {
    boundary(nil, makeHandle(.query, QueryObject(try anyResultsHeld(results).query())))
}

/// Deletes exactly the objects that are elements. Of results over values, and over the values of
/// a dictionary, the elements leave their collection; no object is deleted. Fails: RLM_ERR_WRONG_TRANSACTION_STATE without
/// a write transaction, RLM_ERR_STALE_ACCESSOR.
@c @implementation
public func realm_results_delete_all(_ results: OpaquePointer?) -> Bool {
    succeeds(try anyResultsHeld(results).deleteAll())
}

// MARK: - Aggregates

private func aggregate(
    _ results: OpaquePointer?, _ kind: AggregateKind, _ property: realm_property_key_t,
    _ out: UnsafeMutablePointer<realm_value_t>?, _ out_found: UnsafeMutablePointer<Bool>?
) -> Bool {
    succeeds { () throws(RealmError) in
        let (value, found) = try withResults(results) { results throws(RealmError) in
            try results.aggregate(kind, PropertyKey(property))
        }
        out?.raw.pointee = value
        out_found?.pointee = found
    }
}

/// Writes the smallest value of a property, or of the values themselves; nulls and NaN do not count. Without any value, null
/// and false. Fails: RLM_ERR_INVALID_PROPERTY, RLM_ERR_ILLEGAL_OPERATION for other types than
/// numbers and timestamps, RLM_ERR_STALE_ACCESSOR.
@c @implementation
public func realm_results_min(
    _ results: OpaquePointer?, _ property_key: realm_property_key_t,
    _ out_min: UnsafeMutablePointer<realm_value_t>?, _ out_found: UnsafeMutablePointer<Bool>?
) -> Bool {
    aggregate(results, .minimum, property_key, out_min, out_found)
}

/// Writes the largest value of a property; as `realm_results_min()`.
@c @implementation
public func realm_results_max(
    _ results: OpaquePointer?, _ property_key: realm_property_key_t,
    _ out_max: UnsafeMutablePointer<realm_value_t>?, _ out_found: UnsafeMutablePointer<Bool>?
) -> Bool {
    aggregate(results, .maximum, property_key, out_max, out_found)
}

/// Writes the sum of a property: an integer that wraps around for integers, else a double;
/// nulls and NaN do not count. `out_found` is false for empty results only. Fails:
/// RLM_ERR_INVALID_PROPERTY, RLM_ERR_ILLEGAL_OPERATION for other types than numbers,
/// RLM_ERR_STALE_ACCESSOR.
@c @implementation
public func realm_results_sum(
    _ results: OpaquePointer?, _ property_key: realm_property_key_t,
    _ out_sum: UnsafeMutablePointer<realm_value_t>?, _ out_found: UnsafeMutablePointer<Bool>?
) -> Bool {
    aggregate(results, .sum, property_key, out_sum, out_found)
}

/// Writes the average of a property as a double; nulls and NaN do not count. Without any value,
/// null and false. Fails: as `realm_results_sum()`.
@c @implementation
public func realm_results_average(
    _ results: OpaquePointer?, _ property_key: realm_property_key_t,
    _ out_average: UnsafeMutablePointer<realm_value_t>?,
    _ out_found: UnsafeMutablePointer<Bool>?
) -> Bool {
    aggregate(results, .average, property_key, out_average, out_found)
}
