// Changing the schema of a file: migrations, and open realms that take over another schema.

import CRealm
import CoreSwift

/// Calls back with handles that the callback borrows.
func schemaCallback(
    _ function:
        @escaping (
            UnsafeMutableRawPointer?, OpaquePointer?, OpaquePointer?, OpaquePointer?
        ) -> Bool,
    _ userdata: UnsafeMutableRawPointer?
) -> SchemaRequest.Migration {
    { old, new, target in
        let handles = [
            makeHandle(.realm, old), makeHandle(.realm, new),
            makeHandle(.schema, SchemaObject(target)),
        ]
        defer { for handle in handles { realm_release(UnsafeMutableRawPointer(handle)) } }
        return function(userdata, handles[0], handles[1], handles[2])
    }
}

/// Has an open realm take over a schema with version 0, as opening with it in the realm's schema
/// mode does, without callbacks. What the realm shows is the new schema then. Fails, and the realm
/// goes on with the one it had: RLM_ERR_WRONG_TRANSACTION_STATE in a write transaction, which is
/// rolled back; RLM_ERR_INVALID_SCHEMA_VERSION for a file that has a higher version, and the other
/// errors of `realm_open()` about schemas. A frozen realm writes nothing:
/// RLM_ERR_INVALID_SCHEMA_CHANGE when the schema doesn't fit what it shows.
@c @implementation
public func realm_update_schema(_ realm: OpaquePointer?, _ schema: OpaquePointer?) -> Bool {
    succeeds { () throws(RealmError) in
        let realm = try realmHeld(realm)
        let target = try held(schema, .schema, as: SchemaObject.self).schema
        try realm.updateSchema(SchemaRequest(target, version: 0))
    }
}

/// Has an open realm take over a schema with a version, as opening with it in the realm's schema mode
/// does. `migration_func` is called when the version rises, `data_init_func` when the file had none;
/// both may be NULL. With `is_in_transaction` all of it becomes part of the write transaction that
/// is open, which goes on, and is rolled back on an error. Fails as `realm_update_schema()`, and:
/// RLM_ERR_CALLBACK when a callback returns false, RLM_ERR_MIGRATION_FAILED,
/// RLM_ERR_ILLEGAL_COMBINATION for a migration callback in a mode that never migrates.
@c @implementation
public func realm_update_schema_advanced(
    _ realm: OpaquePointer?, _ schema: OpaquePointer?, _ version: UInt64,
    _ migration_func: realm_migration_func_t?, _ migration_func_userdata: UnsafeMutableRawPointer?,
    _ data_init_func: realm_data_initialization_func_t?,
    _ data_init_func_userdata: UnsafeMutableRawPointer?, _ is_in_transaction: Bool
) -> Bool {
    do throws(RealmError) {
        let realm = try realmHeld(realm)
        let target = try held(schema, .schema, as: SchemaObject.self).schema
        var request = SchemaRequest(target, version: version)
        request.migrate = migration_func.map { schemaCallback($0, migration_func_userdata) }
        request.initializeData = data_init_func.map {
            initialization($0, data_init_func_userdata)
        }
        try realm.updateSchema(request, isInTransaction: is_in_transaction)
        return true
    } catch {
        LastError.setOpening(error)
        return false
    }
}

/// Calls back with a handle that the callback borrows.
func initialization(
    _ function: @escaping (UnsafeMutableRawPointer?, OpaquePointer?) -> Bool,
    _ userdata: UnsafeMutableRawPointer?
) -> (Realm) throws(RealmError) -> Bool {
    { realm in
        let handle = makeHandle(.realm, realm)
        defer { realm_release(UnsafeMutableRawPointer(handle)) }
        return function(userdata, handle)
    }
}

/// In a migration, gives the data of property `old_name` of the file to `new_name`. If the class has
/// that property already, as the new schema does, what it holds is lost. `schema`, the new one, stays
/// as it is. Needs a write transaction. Fails: RLM_ERR_NO_SUCH_TABLE for a class that the file or
/// `schema` lacks, RLM_ERR_INVALID_PROPERTY when the file has no property `old_name`,
/// RLM_ERR_ILLEGAL_OPERATION when `schema` still has it, when the two are of different types, or
/// the new one is required and the old one is not; RLM_ERR_WRONG_TRANSACTION_STATE.
@c @implementation
public func realm_schema_rename_property(
    _ realm: OpaquePointer?, _ schema: OpaquePointer?, _ object_type: UnsafePointer<CChar>?,
    _ old_name: UnsafePointer<CChar>?, _ new_name: UnsafePointer<CChar>?
) -> Bool {
    succeeds(
        try realmHeld(realm).renameProperty(
            try text(object_type, "object_type"), try text(old_name, "old_name"),
            to: try text(new_name, "new_name"),
            in: try held(schema, .schema, as: SchemaObject.self).schema))
}

/// In a migration, has class `old_name` of the file go on as `new_name` of the new schema, with its
/// objects, the links to them and its indexes. The new class must have no objects yet. Properties of
/// other classes that link to it keep their links. Needs a write transaction. Fails:
/// RLM_ERR_NO_SUCH_TABLE when the file has no class `old_name` or `schema` no `new_name`,
/// RLM_ERR_ILLEGAL_OPERATION when `schema` still has `old_name` or the new class has objects;
/// RLM_ERR_WRONG_TRANSACTION_STATE.
@c @implementation
public func realm_schema_rename_class(
    _ realm: OpaquePointer?, _ schema: OpaquePointer?, _ old_name: UnsafePointer<CChar>?,
    _ new_name: UnsafePointer<CChar>?
) -> Bool {
    succeeds(
        try realmHeld(realm).renameClass(
            try text(old_name, "old_name"), to: try text(new_name, "new_name"),
            in: try held(schema, .schema, as: SchemaObject.self).schema))
}

/// Deletes a class of the file and its objects; `*table_deleted` says whether it was there. For
/// migrations: classes that the new schema lacks stay in the file otherwise. Fails, in this order:
/// RLM_ERR_INVALID_SCHEMA_CHANGE when the realm shows the class, RLM_ERR_WRONG_TRANSACTION_STATE,
/// RLM_ERR_CROSS_TABLE_LINK_TARGET when other classes link to it.
@c @implementation
public func realm_remove_table(
    _ realm: OpaquePointer?, _ table_name: UnsafePointer<CChar>?,
    _ table_deleted: UnsafeMutablePointer<Bool>?
) -> Bool {
    table_deleted?.pointee = false
    return succeeds { () throws(RealmError) in
        let isDeleted = try realmHeld(realm).removeClass(try text(table_name, "table_name"))
        table_deleted?.pointee = isDeleted
    }
}

/// Deletes all objects of a class of the file, also of one that the realm does not show, with the
/// embedded objects they own; links to them become null. The class stays. Needs a write transaction.
/// Fails: RLM_ERR_NO_SUCH_TABLE, RLM_ERR_WRONG_TRANSACTION_STATE.
@c @implementation
public func realm_delete_class_objects(
    _ realm: OpaquePointer?, _ class_name: UnsafePointer<CChar>?
) -> Bool {
    succeeds(try realmHeld(realm).deleteObjects(of: try text(class_name, "class_name")))
}

/// Has `callback` run whenever the schema of the realm has changed: after `realm_update_schema()`, and
/// when the realm moves to a version whose schema another realm changed. It borrows the schema.
/// Returns a new handle that unregisters it, to be released before the realm.
@c @implementation
public func realm_add_schema_changed_callback(
    _ realm: OpaquePointer?, _ callback: realm_on_schema_change_func_t?,
    _ userdata: UnsafeMutableRawPointer?, _ userdata_free: realm_free_userdata_func_t?
) -> OpaquePointer? {
    let userdata = Userdata(userdata, userdata_free)
    return boundary(nil) { () throws(RealmError) in
        let realm = try realmHeld(realm)
        let callback = try given(callback, "callback")
        let token = try realm.addSchemaObserver { [weak realm] in
            guard let realm else { return }
            let handle = makeHandle(.schema, SchemaObject(realm.schema))
            defer { realm_release(UnsafeMutableRawPointer(handle)) }
            callback(userdata.pointer, handle)
        }
        return makeHandle(.callbackToken, token)
    }
}
