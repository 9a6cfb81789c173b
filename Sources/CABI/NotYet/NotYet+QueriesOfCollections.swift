// Queries over collections, and collections in results: not supported until they are stored.

import CRealm

/// As realm_query_parse(), over the objects of a list. Not supported yet.
@c @implementation
public func realm_query_parse_for_list(
    _ target_list: OpaquePointer?, _ query_string: UnsafePointer<CChar>?, _ num_args: Int,
    _ args: UnsafePointer<realm_query_arg_t>?
) -> OpaquePointer? {
    notYet("realm_query_parse_for_list", nil)
}

/// As realm_query_parse(), over the objects of a set. Not supported yet.
@c @implementation
public func realm_query_parse_for_set(
    _ target_set: OpaquePointer?, _ query_string: UnsafePointer<CChar>?, _ num_args: Int,
    _ args: UnsafePointer<realm_query_arg_t>?
) -> OpaquePointer? {
    notYet("realm_query_parse_for_set", nil)
}

/// Returns a new handle to the list at an index of results over mixed values. Not supported yet.
@c @implementation
public func realm_results_get_list(_ results: OpaquePointer?, _ index: Int) -> OpaquePointer? {
    notYet("realm_results_get_list", nil)
}

/// Returns a new handle to the dictionary at an index of results over mixed values. Not supported
/// yet.
@c @implementation
public func realm_results_get_dictionary(_ results: OpaquePointer?, _ index: Int) -> OpaquePointer?
{
    notYet("realm_results_get_dictionary", nil)
}
