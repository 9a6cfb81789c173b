// Queries over collections, and collections in results: not supported until they are stored.

import CRealm

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
