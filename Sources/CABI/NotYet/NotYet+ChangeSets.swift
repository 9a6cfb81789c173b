// Change sets: no notification makes one yet.

import CRealm

/// Whether the object was deleted. Not supported yet.
@c @implementation
public func realm_object_changes_is_deleted(_ changes: OpaquePointer?) -> Bool {
    notYet("realm_object_changes_is_deleted", false)
}

/// How many properties were written. Not supported yet.
@c @implementation
public func realm_object_changes_get_num_modified_properties(_ changes: OpaquePointer?) -> Int {
    notYet("realm_object_changes_get_num_modified_properties", 0)
}

/// Copies at most `max` keys of written properties; returns how many, or with `out_modified` NULL
/// the total. Not supported yet.
@c @implementation
public func realm_object_changes_get_modified_properties(
    _ changes: OpaquePointer?, _ out_modified: UnsafeMutablePointer<realm_property_key_t>?,
    _ max: Int
) -> Int {
    notYet("realm_object_changes_get_modified_properties", 0)
}

/// Counts deleted, inserted, modified and moved elements. Not supported yet.
@c @implementation
public func realm_collection_changes_get_num_changes(
    _ changes: OpaquePointer?, _ out_num_deletions: UnsafeMutablePointer<Int>?,
    _ out_num_insertions: UnsafeMutablePointer<Int>?,
    _ out_num_modifications: UnsafeMutablePointer<Int>?,
    _ out_num_moves: UnsafeMutablePointer<Int>?,
    _ out_collection_was_cleared: UnsafeMutablePointer<Bool>?,
    _ out_collection_was_deleted: UnsafeMutablePointer<Bool>?
) {
    notYet("realm_collection_changes_get_num_changes", ())
}

/// Counts runs of deleted, inserted and modified indices, and moves. Not supported yet.
@c @implementation
public func realm_collection_changes_get_num_ranges(
    _ changes: OpaquePointer?, _ out_num_deletion_ranges: UnsafeMutablePointer<Int>?,
    _ out_num_insertion_ranges: UnsafeMutablePointer<Int>?,
    _ out_num_modification_ranges: UnsafeMutablePointer<Int>?,
    _ out_num_moves: UnsafeMutablePointer<Int>?
) {
    notYet("realm_collection_changes_get_num_ranges", ())
}

/// Copies indices of deleted, inserted, modified and moved elements, as many as there is room
/// for. Not supported yet.
@c @implementation
public func realm_collection_changes_get_changes(
    _ changes: OpaquePointer?, _ out_deletion_indices: UnsafeMutablePointer<Int>?,
    _ max_deletion_indices: Int, _ out_insertion_indices: UnsafeMutablePointer<Int>?,
    _ max_insertion_indices: Int, _ out_modification_indices: UnsafeMutablePointer<Int>?,
    _ max_modification_indices: Int, _ out_modification_indices_after: UnsafeMutablePointer<Int>?,
    _ max_modification_indices_after: Int,
    _ out_moves: UnsafeMutablePointer<realm_collection_move_t>?, _ max_moves: Int
) {
    notYet("realm_collection_changes_get_changes", ())
}

/// Copies runs of deleted, inserted and modified indices, and moves, as many as there is room
/// for. Not supported yet.
@c @implementation
public func realm_collection_changes_get_ranges(
    _ changes: OpaquePointer?, _ out_deletion_ranges: UnsafeMutablePointer<realm_index_range_t>?,
    _ max_deletion_ranges: Int, _ out_insertion_ranges: UnsafeMutablePointer<realm_index_range_t>?,
    _ max_insertion_ranges: Int,
    _ out_modification_ranges: UnsafeMutablePointer<realm_index_range_t>?,
    _ max_modification_ranges: Int,
    _ out_modification_ranges_after: UnsafeMutablePointer<realm_index_range_t>?,
    _ max_modification_ranges_after: Int,
    _ out_moves: UnsafeMutablePointer<realm_collection_move_t>?, _ max_moves: Int
) {
    notYet("realm_collection_changes_get_ranges", ())
}

/// Counts deleted, inserted and modified keys. Not supported yet.
@c @implementation
public func realm_dictionary_get_changes(
    _ changes: OpaquePointer?, _ out_deletions_size: UnsafeMutablePointer<Int>?,
    _ out_insertion_size: UnsafeMutablePointer<Int>?,
    _ out_modification_size: UnsafeMutablePointer<Int>?,
    _ out_was_deleted: UnsafeMutablePointer<Bool>?
) {
    notYet("realm_dictionary_get_changes", ())
}

/// Copies deleted, inserted and modified keys. Not supported yet.
@c @implementation
public func realm_dictionary_get_changed_keys(
    _ changes: OpaquePointer?, _ deletions: UnsafeMutablePointer<realm_value_t>?,
    _ deletions_size: UnsafeMutablePointer<Int>?,
    _ insertions: UnsafeMutablePointer<realm_value_t>?,
    _ insertions_size: UnsafeMutablePointer<Int>?,
    _ modifications: UnsafeMutablePointer<realm_value_t>?,
    _ modification_size: UnsafeMutablePointer<Int>?,
    _ collection_was_cleared: UnsafeMutablePointer<Bool>?
) {
    notYet("realm_dictionary_get_changed_keys", ())
}
