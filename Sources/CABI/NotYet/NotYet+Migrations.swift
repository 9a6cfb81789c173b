// Changing the schema of a file: not supported until migrations are.

import CRealm

/// Gives an open realm another schema of version 0. Not supported yet.
@c @implementation
public func realm_update_schema(_ realm: OpaquePointer?, _ schema: OpaquePointer?) -> Bool {
    notYet("realm_update_schema", false)
}

/// Gives an open realm another schema, with version and callbacks as at opening. Not supported
/// yet.
@c @implementation
public func realm_update_schema_advanced(
    _ realm: OpaquePointer?, _ schema: OpaquePointer?, _ version: UInt64,
    _ migration_func: realm_migration_func_t?, _ migration_func_userdata: UnsafeMutableRawPointer?,
    _ data_init_func: realm_data_initialization_func_t?,
    _ data_init_func_userdata: UnsafeMutableRawPointer?, _ is_in_transaction: Bool
) -> Bool {
    notYet("realm_update_schema_advanced", false)
}

/// Inside a migration, gives the data of an old property to a new one. Not supported yet.
@c @implementation
public func realm_schema_rename_property(
    _ realm: OpaquePointer?, _ schema: OpaquePointer?, _ object_type: UnsafePointer<CChar>?,
    _ old_name: UnsafePointer<CChar>?, _ new_name: UnsafePointer<CChar>?
) -> Bool {
    notYet("realm_schema_rename_property", false)
}

/// Inside a migration, deletes a class and its objects. Not supported yet.
@c @implementation
public func realm_remove_table(
    _ realm: OpaquePointer?, _ table_name: UnsafePointer<CChar>?,
    _ table_deleted: UnsafeMutablePointer<Bool>?
) -> Bool {
    notYet("realm_remove_table", false)
}
