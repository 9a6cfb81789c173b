// Groups of results with what is computed of each: an extension.

import CRealm
import CoreSwift

/// Returns a new handle to the groups of the elements of results that have the same values at the
/// paths `keys` ("path, path, ..."), and what is computed of each group: `aggregates` is "@count, @min.path,
/// @max.path, @sum.path, @avg.path" in any number and order; NULL or "": nothing. Paths go over links to
/// one object; behind a null link is null. Keys are equal as for `realm_results_distinct()`, and null is
/// a key. Live as results are: each call sees the groups that there are now, of an unchanged realm
/// those that it found before. Fails: RLM_ERR_INVALID_QUERY_STRING for texts of another form,
/// RLM_ERR_INVALID_QUERY for an unknown property, RLM_ERR_INVALID_SORT_DESCRIPTOR for a path through a
/// collection, RLM_ERR_ILLEGAL_OPERATION for aggregates that are not defined for the property and for
/// results over values, RLM_ERR_STALE_ACCESSOR.
@c @implementation
public func realm_results_group(
    _ results: OpaquePointer?, _ keys: UnsafePointer<CChar>?, _ aggregates: UnsafePointer<CChar>?
) -> OpaquePointer? {
    boundary(nil) { () throws(RealmError) in
        let results = try resultsHeld(results, "grouping")
        let computed = aggregates == nil ? "" : try text(aggregates, "aggregates")
        return makeHandle(.groups, try results.grouped(by: try text(keys, "keys"), computed))
    }
}

private func groupsHeld(_ handle: OpaquePointer?) throws(RealmError) -> GroupedResults {
    try held(handle, .groups, as: GroupedResults.self)
}

/// Writes the number of groups, and of values of each: its keys and then its aggregates, as they
/// were given. Fails: RLM_ERR_STALE_ACCESSOR, RLM_ERR_WRONG_THREAD.
@c @implementation
public func realm_groups_count(
    _ groups: OpaquePointer?, _ out_count: UnsafeMutablePointer<Int>?,
    _ out_num_values: UnsafeMutablePointer<Int>?
) -> Bool {
    succeeds { () throws(RealmError) in
        let groups = try groupsHeld(groups)
        out_num_values?.pointee = groups.grouping.columnCount
        let table = try groups.table()
        out_count?.pointee = table.count
    }
}

/// Writes the values of `count` groups from position `first` on, group by group, of fewer at the end;
/// `out_count` gets how many groups were there. Groups come in the order of their first elements.
/// Counts are integers; a sum, average, minimum or maximum is what `realm_results_sum()` and the others
/// give of such elements, and minimum and maximum are defined for all types but links. Strings and binaries
/// are borrowed until the groups are asked after a change of the realm, or their handle is released.
/// Fails: RLM_ERR_INDEX_OUT_OF_BOUNDS for positions that no array has, RLM_ERR_STALE_ACCESSOR.
@c @implementation
public func realm_groups_get_values(
    _ groups: OpaquePointer?, _ first: Int, _ count: Int,
    _ out_values: UnsafeMutablePointer<realm_value_t>?, _ out_count: UnsafeMutablePointer<Int>?
) -> Bool {
    out_count?.pointee = 0
    return succeeds { () throws(RealmError) in
        let groups = try groupsHeld(groups)
        guard first >= 0, count >= 0 else {
            throw RealmError(.indexOutOfBounds, "cannot read \(count) groups from index \(first)")
        }
        let table = try groups.table()
        guard let out_values else {
            guard count == 0 else {
                throw RealmError(.invalidArgument, "the output array must not be NULL")
            }
            return
        }
        let written = table.read(from: first, count: count, into: out_values.raw)
        out_count?.pointee = written
    }
}

/// Returns a new handle to the results that are grouped. To be told when groups may have changed, observe
/// these with the properties that are grouped by and computed of as key paths.
@c @implementation
public func realm_groups_get_results(_ groups: OpaquePointer?) -> OpaquePointer? {
    boundary(nil, makeHandle(.results, try groupsHeld(groups).results))
}

/// Returns a new handle to the same groups in another realm of the file, live or frozen; see
/// `realm_results_resolve_in()`.
@c @implementation
public func realm_groups_resolve_in(_ groups: OpaquePointer?, _ target_realm: OpaquePointer?)
    -> OpaquePointer?
{
    boundary(nil) { () throws(RealmError) in
        let target = try realmHeld(target_realm)
        return makeHandle(.groups, try groupsHeld(groups).resolved(in: target))
    }
}

/// Returns how the groups would be found now, as text for people, to be freed with `realm_free()`: what
/// `realm_results_explain()` says of the results, and the grouping in canonical text, such as
/// "GROUP(dept.name: @count, @avg.score)". Fails: RLM_ERR_STALE_ACCESSOR.
@c @implementation
public func realm_groups_explain(_ groups: OpaquePointer?) -> UnsafeMutablePointer<CChar>? {
    boundary(nil, copyForC(try groupsHeld(groups).explain()))
}
