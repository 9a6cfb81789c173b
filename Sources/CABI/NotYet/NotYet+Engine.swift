// Functions whose engine part is not there yet.

import CRealm

/// Not supported yet.
@c @implementation
public func realm_open(_ config: OpaquePointer?) -> OpaquePointer? {
    notYet("realm_open", nil)
}

/// Not supported yet.
@c @implementation
public func realm_close(_ realm: OpaquePointer?) -> Bool {
    notYet("realm_close", false)
}

/// Not supported yet.
@c @implementation
public func realm_is_closed(_ realm: OpaquePointer?) -> Bool {
    notYet("realm_is_closed", false)
}

/// Not supported yet.
@c @implementation
public func realm_get_persisted_schema_version(_ config: OpaquePointer?) -> UInt64 {
    notYet("realm_get_persisted_schema_version", 0)
}

/// Not supported yet.
@c @implementation
public func realm_compact(_ realm: OpaquePointer?, _ did_compact: UnsafeMutablePointer<Bool>?)
    -> Bool
{
    notYet("realm_compact", false)
}

/// Not supported yet.
@c @implementation
public func realm_convert_with_config(
    _ realm: OpaquePointer?, _ config: OpaquePointer?, _ merge_with_existing: Bool
) -> Bool {
    notYet("realm_convert_with_config", false)
}

/// Not supported yet.
@c @implementation
public func realm_convert_with_path(
    _ realm: OpaquePointer?, _ path: UnsafePointer<CChar>?, _ encryption_key: realm_binary_t,
    _ merge_with_existing: Bool
) -> Bool {
    notYet("realm_convert_with_path", false)
}

/// Not supported yet.
@c @implementation
public func realm_delete_files(
    _ realm_file_path: UnsafePointer<CChar>?, _ did_delete_realm: UnsafeMutablePointer<Bool>?
) -> Bool {
    notYet("realm_delete_files", false)
}

/// Not supported yet.
@c @implementation
public func realm_begin_read(_ realm: OpaquePointer?) -> Bool {
    notYet("realm_begin_read", false)
}

/// Not supported yet.
@c @implementation
public func realm_begin_write(_ realm: OpaquePointer?) -> Bool {
    notYet("realm_begin_write", false)
}

/// Not supported yet.
@c @implementation
public func realm_commit(_ realm: OpaquePointer?) -> Bool {
    notYet("realm_commit", false)
}

/// Not supported yet.
@c @implementation
public func realm_rollback(_ realm: OpaquePointer?) -> Bool {
    notYet("realm_rollback", false)
}

/// Not supported yet.
@c @implementation
public func realm_is_writable(_ realm: OpaquePointer?) -> Bool {
    notYet("realm_is_writable", false)
}

/// Not supported yet.
@c @implementation
public func realm_refresh(_ realm: OpaquePointer?, _ did_refresh: UnsafeMutablePointer<Bool>?)
    -> Bool
{
    notYet("realm_refresh", false)
}

/// Not supported yet.
@c @implementation
public func realm_freeze(_ realm: OpaquePointer?) -> OpaquePointer? {
    notYet("realm_freeze", nil)
}

/// Not supported yet.
@c @implementation
public func realm_get_version_id(
    _ realm: OpaquePointer?, _ out_found: UnsafeMutablePointer<Bool>?,
    _ out_version: UnsafeMutablePointer<realm_version_id_t>?
) -> Bool {
    notYet("realm_get_version_id", false)
}

/// Not supported yet.
@c @implementation
public func realm_get_num_versions(
    _ realm: OpaquePointer?, _ out_versions_count: UnsafeMutablePointer<UInt64>?
) -> Bool {
    notYet("realm_get_num_versions", false)
}

/// Not supported yet.
@c @implementation
public func realm_get_schema(_ realm: OpaquePointer?) -> OpaquePointer? {
    notYet("realm_get_schema", nil)
}

/// Not supported yet.
@c @implementation
public func realm_get_schema_version(_ realm: OpaquePointer?) -> UInt64 {
    notYet("realm_get_schema_version", 0)
}

/// Not supported yet.
@c @implementation
public func realm_get_num_classes(_ realm: OpaquePointer?) -> Int {
    notYet("realm_get_num_classes", 0)
}

/// Not supported yet.
@c @implementation
public func realm_get_class_keys(
    _ realm: OpaquePointer?, _ out_keys: UnsafeMutablePointer<realm_class_key_t>?, _ max: Int,
    _ out_n: UnsafeMutablePointer<Int>?
) -> Bool {
    notYet("realm_get_class_keys", false)
}

/// Not supported yet.
@c @implementation
public func realm_find_class(
    _ realm: OpaquePointer?, _ name: UnsafePointer<CChar>?,
    _ out_found: UnsafeMutablePointer<Bool>?,
    _ out_class_info: UnsafeMutablePointer<realm_class_info_t>?
) -> Bool {
    notYet("realm_find_class", false)
}

/// Not supported yet.
@c @implementation
public func realm_get_class(
    _ realm: OpaquePointer?, _ key: realm_class_key_t,
    _ out_class_info: UnsafeMutablePointer<realm_class_info_t>?
) -> Bool {
    notYet("realm_get_class", false)
}

/// Not supported yet.
@c @implementation
public func realm_get_class_properties(
    _ realm: OpaquePointer?, _ key: realm_class_key_t,
    _ out_properties: UnsafeMutablePointer<realm_property_info_t>?, _ max: Int,
    _ out_n: UnsafeMutablePointer<Int>?
) -> Bool {
    notYet("realm_get_class_properties", false)
}

/// Not supported yet.
@c @implementation
public func realm_get_property_keys(
    _ realm: OpaquePointer?, _ key: realm_class_key_t,
    _ out_col_keys: UnsafeMutablePointer<realm_property_key_t>?, _ max: Int,
    _ out_n: UnsafeMutablePointer<Int>?
) -> Bool {
    notYet("realm_get_property_keys", false)
}

/// Not supported yet.
@c @implementation
public func realm_get_property(
    _ realm: OpaquePointer?, _ class_key: realm_class_key_t, _ key: realm_property_key_t,
    _ out_property_info: UnsafeMutablePointer<realm_property_info_t>?
) -> Bool {
    notYet("realm_get_property", false)
}

/// Not supported yet.
@c @implementation
public func realm_find_property(
    _ realm: OpaquePointer?, _ class_key: realm_class_key_t, _ name: UnsafePointer<CChar>?,
    _ out_found: UnsafeMutablePointer<Bool>?,
    _ out_property_info: UnsafeMutablePointer<realm_property_info_t>?
) -> Bool {
    notYet("realm_find_property", false)
}

/// Not supported yet.
@c @implementation
public func realm_find_property_by_public_name(
    _ realm: OpaquePointer?, _ class_key: realm_class_key_t, _ public_name: UnsafePointer<CChar>?,
    _ out_found: UnsafeMutablePointer<Bool>?,
    _ out_property_info: UnsafeMutablePointer<realm_property_info_t>?
) -> Bool {
    notYet("realm_find_property_by_public_name", false)
}

/// Not supported yet.
@c @implementation
public func realm_find_primary_key_property(
    _ realm: OpaquePointer?, _ class_key: realm_class_key_t,
    _ out_found: UnsafeMutablePointer<Bool>?,
    _ out_property_info: UnsafeMutablePointer<realm_property_info_t>?
) -> Bool {
    notYet("realm_find_primary_key_property", false)
}

/// Not supported yet.
@c @implementation
public func realm_object_find_all(_ realm: OpaquePointer?, _ class_key: realm_class_key_t)
    -> OpaquePointer?
{
    notYet("realm_object_find_all", nil)
}

/// Not supported yet.
@c @implementation
public func realm_get_backlinks(
    _ object: OpaquePointer?, _ source_table_key: realm_class_key_t,
    _ property_key: realm_property_key_t
) -> OpaquePointer? {
    notYet("realm_get_backlinks", nil)
}

/// Not supported yet.
@c @implementation
public func realm_query_parse(
    _ realm: OpaquePointer?, _ target_table: realm_class_key_t,
    _ query_string: UnsafePointer<CChar>?, _ num_args: Int,
    _ args: UnsafePointer<realm_query_arg_t>?
) -> OpaquePointer? {
    notYet("realm_query_parse", nil)
}

/// Not supported yet.
@c @implementation
public func realm_query_get_description(_ query: OpaquePointer?) -> UnsafePointer<CChar>? {
    notYet("realm_query_get_description", nil)
}

/// Not supported yet.
@c @implementation
public func realm_query_append_query(
    _ query: OpaquePointer?, _ query_string: UnsafePointer<CChar>?, _ num_args: Int,
    _ args: UnsafePointer<realm_query_arg_t>?
) -> OpaquePointer? {
    notYet("realm_query_append_query", nil)
}

/// Not supported yet.
@c @implementation
public func realm_query_parse_for_results(
    _ target_results: OpaquePointer?, _ query_string: UnsafePointer<CChar>?, _ num_args: Int,
    _ args: UnsafePointer<realm_query_arg_t>?
) -> OpaquePointer? {
    notYet("realm_query_parse_for_results", nil)
}

/// Not supported yet.
@c @implementation
public func realm_query_count(_ query: OpaquePointer?, _ out_count: UnsafeMutablePointer<Int>?)
    -> Bool
{
    notYet("realm_query_count", false)
}

/// Not supported yet.
@c @implementation
public func realm_query_find_first(
    _ query: OpaquePointer?, _ out_value: UnsafeMutablePointer<realm_value_t>?,
    _ out_found: UnsafeMutablePointer<Bool>?
) -> Bool {
    notYet("realm_query_find_first", false)
}

/// Not supported yet.
@c @implementation
public func realm_query_find_all(_ query: OpaquePointer?) -> OpaquePointer? {
    notYet("realm_query_find_all", nil)
}

/// Not supported yet.
@c @implementation
public func realm_query_delete_all(_ query: OpaquePointer?) -> Bool {
    notYet("realm_query_delete_all", false)
}

/// Not supported yet.
@c @implementation
public func realm_results_is_valid(
    _ results: OpaquePointer?, _ out_is_valid: UnsafeMutablePointer<Bool>?
) -> Bool {
    notYet("realm_results_is_valid", false)
}

/// Not supported yet.
@c @implementation
public func realm_results_count(_ results: OpaquePointer?, _ out_count: UnsafeMutablePointer<Int>?)
    -> Bool
{
    notYet("realm_results_count", false)
}

/// Not supported yet.
@c @implementation
public func realm_results_filter(_ results: OpaquePointer?, _ query: OpaquePointer?)
    -> OpaquePointer?
{
    notYet("realm_results_filter", nil)
}

/// Not supported yet.
@c @implementation
public func realm_results_sort(_ results: OpaquePointer?, _ sort_string: UnsafePointer<CChar>?)
    -> OpaquePointer?
{
    notYet("realm_results_sort", nil)
}

/// Not supported yet.
@c @implementation
public func realm_results_distinct(
    _ results: OpaquePointer?, _ distinct_string: UnsafePointer<CChar>?
) -> OpaquePointer? {
    notYet("realm_results_distinct", nil)
}

/// Not supported yet.
@c @implementation
public func realm_results_limit(_ results: OpaquePointer?, _ max_count: Int) -> OpaquePointer? {
    notYet("realm_results_limit", nil)
}

/// Not supported yet.
@c @implementation
public func realm_results_get(
    _ results: OpaquePointer?, _ index: Int, _ out_value: UnsafeMutablePointer<realm_value_t>?
) -> Bool {
    notYet("realm_results_get", false)
}

/// Not supported yet.
@c @implementation
public func realm_results_find(
    _ results: OpaquePointer?, _ value: UnsafeMutablePointer<realm_value_t>?,
    _ out_index: UnsafeMutablePointer<Int>?, _ out_found: UnsafeMutablePointer<Bool>?
) -> Bool {
    notYet("realm_results_find", false)
}

/// Not supported yet.
@c @implementation
public func realm_results_get_object(_ results: OpaquePointer?, _ index: Int) -> OpaquePointer? {
    notYet("realm_results_get_object", nil)
}

/// Not supported yet.
@c @implementation
public func realm_results_get_query(_ results: OpaquePointer?) -> OpaquePointer? {
    notYet("realm_results_get_query", nil)
}

/// Not supported yet.
@c @implementation
public func realm_results_find_object(
    _ results: OpaquePointer?, _ value: OpaquePointer?, _ out_index: UnsafeMutablePointer<Int>?,
    _ out_found: UnsafeMutablePointer<Bool>?
) -> Bool {
    notYet("realm_results_find_object", false)
}

/// Not supported yet.
@c @implementation
public func realm_results_delete_all(_ results: OpaquePointer?) -> Bool {
    notYet("realm_results_delete_all", false)
}

/// Not supported yet.
@c @implementation
public func realm_results_snapshot(_ results: OpaquePointer?) -> OpaquePointer? {
    notYet("realm_results_snapshot", nil)
}

/// Not supported yet.
@c @implementation
public func realm_results_resolve_in(_ results: OpaquePointer?, _ target_realm: OpaquePointer?)
    -> OpaquePointer?
{
    notYet("realm_results_resolve_in", nil)
}

/// Not supported yet.
@c @implementation
public func realm_results_min(
    _ results: OpaquePointer?, _ property: realm_property_key_t,
    _ out_min: UnsafeMutablePointer<realm_value_t>?, _ out_found: UnsafeMutablePointer<Bool>?
) -> Bool {
    notYet("realm_results_min", false)
}

/// Not supported yet.
@c @implementation
public func realm_results_max(
    _ results: OpaquePointer?, _ property: realm_property_key_t,
    _ out_max: UnsafeMutablePointer<realm_value_t>?, _ out_found: UnsafeMutablePointer<Bool>?
) -> Bool {
    notYet("realm_results_max", false)
}

/// Not supported yet.
@c @implementation
public func realm_results_sum(
    _ results: OpaquePointer?, _ property: realm_property_key_t,
    _ out_sum: UnsafeMutablePointer<realm_value_t>?, _ out_found: UnsafeMutablePointer<Bool>?
) -> Bool {
    notYet("realm_results_sum", false)
}

/// Not supported yet.
@c @implementation
public func realm_results_average(
    _ results: OpaquePointer?, _ property: realm_property_key_t,
    _ out_average: UnsafeMutablePointer<realm_value_t>?, _ out_found: UnsafeMutablePointer<Bool>?
) -> Bool {
    notYet("realm_results_average", false)
}
