// The file as a whole: compaction, copies, deletion, the schema version of a file that is not open.

import CRealm
import CoreSwift

/// Returns the schema version stored in the file of a configuration, of which only path and key
/// count, or UINT64_MAX when it has none or there is no file. Nothing is created or changed. Fails
/// with UINT64_MAX and the file errors of `realm_open()`.
@c @implementation
public func realm_get_persisted_schema_version(_ config: OpaquePointer?) -> UInt64 {
    boundary(.max) { () throws(RealmError) in
        let object = try held(config, .config, as: ConfigObject.self)
        defer { withExtendedLifetime(object) {} }
        let config = try object.configuration()
        return try Realm.storedSchemaVersion(
            config.path, encryptionKey: config.encryptionKey) ?? .max
    }
}

/// Moves the data of the file together and gives the rest back to the system. `did_compact` is
/// false when another realm, in this process or another, reads the file or writes it: what it reads
/// has to stay where it is, and moving it would make the file longer until the reader is done. Beside
/// a reader what is free at the end of the file is given back, and nothing beside a writer; neither
/// is waited for. Others who merely have the file open are no obstacle. Either way the read transaction of `realm` ends and **all its
/// objects, collections and results become invalid**. Fails: RLM_ERR_WRONG_TRANSACTION_STATE in a
/// write transaction and for frozen and read-only realms.
@c @implementation
public func realm_compact(
    _ realm: OpaquePointer?, _ did_compact: UnsafeMutablePointer<Bool>?
) -> Bool {
    succeeds { () throws(RealmError) in
        let did = try realmHeld(realm).compact()
        did_compact?.pointee = did
    }
}

/// Writes what the realm reads, in a write transaction with its changes, to the file of a
/// configuration, of which only path and key count; see `realm_convert_with_path()`.
@c @implementation
public func realm_convert_with_config(
    _ realm: OpaquePointer?, _ config: OpaquePointer?, _ merge_with_existing: Bool
) -> Bool {
    succeeds { () throws(RealmError) in
        let object = try held(config, .config, as: ConfigObject.self)
        defer { withExtendedLifetime(object) {} }
        let target = try object.configuration()
        try realmHeld(realm).convert(to: target, merging: merge_with_existing)
    }
}

/// Writes what the realm reads, in a write transaction with its changes, to a compact file at
/// `path`, encrypted if the key has data. The file appears only when it is complete and on stable
/// storage. With `merge_with_existing` a file that is there takes in what it lacks: classes are
/// added, and every object is created or found by its primary key and takes the values of `realm`,
/// in transactions of at most 1,000 objects. Fails: RLM_ERR_FILE_ALREADY_EXISTS when there is a
/// file and it is not to be merged with, RLM_ERR_FILE_NOT_FOUND when its directory is missing,
/// RLM_ERR_INVALID_ENCRYPTION_KEY; when merging, RLM_ERR_BROKEN_INVARIANT for a class without a
/// primary key named `_id`, RLM_ERR_ILLEGAL_OPERATION for the file of `realm` itself and
/// RLM_ERR_INVALID_SCHEMA_CHANGE for classes that differ, RLM_ERR_INVALID_DATABASE when the file that is
/// there needs another key.
@c @implementation
public func realm_convert_with_path(
    _ realm: OpaquePointer?, _ path: UnsafePointer<CChar>?, _ encryption_key: realm_binary_t,
    _ merge_with_existing: Bool
) -> Bool {
    succeeds { () throws(RealmError) in
        let key = try encryptionKey(encryption_key)
        defer { withExtendedLifetime(key) {} }
        var target = Configuration(path: try text(path, "path"))
        target.encryptionKey = key.bytes
        try realmHeld(realm).convert(to: target, merging: merge_with_existing)
    }
}

/// Encrypts the file at `path` with `new_key` instead of `old_key`; one without data stands for none, so
/// that this encrypts plain files and decrypts encrypted ones, too. The file is written anew beside its
/// place and is compact afterwards; it is changed as a whole or not at all. Nobody can open it
/// meanwhile. Fails: RLM_ERR_DELETE_OPENED_REALM when it is open in any process,
/// RLM_ERR_INVALID_DATABASE when `old_key` is not the file's, RLM_ERR_INVALID_ENCRYPTION_KEY for a key of a
/// wrong size, RLM_ERR_FILE_OPERATION_FAILED for a file with several names (hard links), which would keep
/// what they hold, RLM_ERR_FILE_NOT_FOUND and the other errors of files.
@c @implementation
public func realm_change_encryption_key(
    _ path: UnsafePointer<CChar>?, _ old_key: realm_binary_t, _ new_key: realm_binary_t
) -> Bool {
    succeeds { () throws(RealmError) in
        let (old, new) = (try encryptionKey(old_key), try encryptionKey(new_key))
        defer { withExtendedLifetime((old, new)) {} }
        try Realm.changeEncryptionKey(try text(path, "path"), from: old.bytes, to: new.bytes)
    }
}

/// Deletes a realm file and what belongs to it, except the lock file. `did_delete_realm` says
/// whether there was one; that there is none, or no directory, is no failure. Fails:
/// RLM_ERR_DELETE_OPENED_REALM when it is open in any process, RLM_ERR_FILE_PERMISSION_DENIED,
/// RLM_ERR_FILE_OPERATION_FAILED.
@c @implementation
public func realm_delete_files(
    _ realm_file_path: UnsafePointer<CChar>?, _ did_delete_realm: UnsafeMutablePointer<Bool>?
) -> Bool {
    did_delete_realm?.pointee = false
    return succeeds { () throws(RealmError) in
        let did = try Realm.deleteFiles(try text(realm_file_path, "realm_file_path"))
        did_delete_realm?.pointee = did
    }
}
