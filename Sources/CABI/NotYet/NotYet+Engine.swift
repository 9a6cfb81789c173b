// Functions whose engine part is not there yet.

import CRealm

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
public func realm_results_resolve_in(_ results: OpaquePointer?, _ target_realm: OpaquePointer?)
    -> OpaquePointer?
{
    notYet("realm_results_resolve_in", nil)
}
