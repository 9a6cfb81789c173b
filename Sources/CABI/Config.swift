// Configuration: a plain holder of what `realm_open` needs. Nothing is checked against a file or
// against other settings before opening.

import CRealm
import CoreSwift

/// The object of a `realm_config_t`.
final class ConfigObject {
    /// All but path and key. Callbacks use what `userdata` keeps.
    var settings = Configuration(path: "")
    var path = CText("")
    /// Why there is no path, where one was given.
    var pathError: RealmError?
    var encryptionKey = KeyCopy()
    var disableFormatUpgrade = false
    var forceSyncHistory = false
    var fifoPath = CText("")

    /// By pointer: registering one userdata for several callbacks frees it once, with the config.
    private var userdata: [UnsafeMutableRawPointer?: Userdata] = [:]

    /// The first registration of a pointer decides how it is freed.
    func keep(_ pointer: UnsafeMutableRawPointer?, _ free: realm_free_userdata_func_t?) {
        if userdata[pointer] == nil { userdata[pointer] = Userdata(pointer, free) }
    }
}

@inline(__always)
private func config<R>(
    _ handle: OpaquePointer?, _ failure: R, _ body: (ConfigObject) throws(RealmError) -> R
) -> R {
    boundary(failure) { () throws(RealmError) -> R in
        try body(try held(handle, .config, as: ConfigObject.self))
    }
}

/// Returns a new handle to a configuration with the defaults that the functions below name.
@c @implementation
public func realm_config_new() -> OpaquePointer? {
    makeHandle(.config, ConfigObject())
}

// MARK: - File

/// Where the file is; empty by default. Borrowed until the path is set again or `config` ends.
@c @implementation
public func realm_config_get_path(_ config: OpaquePointer?) -> UnsafePointer<CChar>? {
    CABI.config(config, nil) { $0.path.pointer }
}

/// Sets where the file is.
@c @implementation
public func realm_config_set_path(_ config: OpaquePointer?, _ path: UnsafePointer<CChar>?) {
    CABI.config(config, ()) { config throws(RealmError) in
        do throws(RealmError) {
            config.path = CText(try text(path, "path"))
            config.pathError = nil
        } catch {
            // The path stays what it was. Where there is none, who would use it tells why: this function returns nothing.
            if config.path.pointer.pointee == 0 { config.pathError = error }
            throw error
        }
    }
}

/// Copies the encryption key to `out_key`, which has room for 64 bytes or is `nil`, and returns
/// its size: 64, or 0 without one.
@c @implementation
public func realm_config_get_encryption_key(
    _ config: OpaquePointer?, _ out_key: UnsafeMutablePointer<UInt8>?
) -> Int {
    CABI.config(config, 0) { config in
        if let out_key {
            for (i, byte) in config.encryptionKey.bytes.enumerated() { out_key[i] = byte }
        }
        return config.encryptionKey.bytes.count
    }
}

/// Sets the key of 64 bytes that everything in the file is encrypted with; size 0 sets none, the
/// default. Fails: RLM_ERR_INVALID_ENCRYPTION_KEY for another size; the old key stays.
@c @implementation
public func realm_config_set_encryption_key(
    _ config: OpaquePointer?, _ key: UnsafePointer<UInt8>?, _ key_size: Int
) -> Bool {
    CABI.config(config, false) { config throws(RealmError) in
        config.encryptionKey = try encryptionKey(key, key_size)
        return true
    }
}

/// Sets how many bytes of an encrypted file are kept decrypted in memory, 256 MB by default; 0 keeps
/// all that was read. Who opens the file first in a process decides. At least 1 MB is used. What was
/// evicted is decrypted again when it is needed: strings and binaries that were lent stay valid as
/// long as they would without it, for the program; a system call that is given one may fail with
/// EFAULT when more than the cache was read since the string was.
@c @implementation
public func realm_config_set_encryption_cache_size(_ config: OpaquePointer?, _ bytes: Int) {
    CABI.config(config, ()) { $0.settings.decryptedBytesMax = bytes < 0 ? .max : bytes }
}

/// How many bytes of an encrypted file are kept decrypted; 0: all that was read.
@c @implementation
public func realm_config_get_encryption_cache_size(_ config: OpaquePointer?) -> Int {
    CABI.config(config, 0) { $0.settings.decryptedBytesMax }
}

/// Sets a number for the upper bits of the keys that new objects get, so that objects made in several files
/// with different numbers never have one key (`realm_change_log_apply()`); 0, none, by default: keys
/// continue those of the file. It is not kept in the file: all who write to it give the same one, and one
/// that was given up must not come back. Opening fails with RLM_ERR_INVALID_ARGUMENT for more than 2^26 - 2,
/// and with RLM_ERR_MISMATCHED_CONFIG while the process has the file open with another one.
@c @implementation
public func realm_config_set_client_number(_ config: OpaquePointer?, _ number: UInt32) {
    CABI.config(config, ()) { $0.settings.clientNumber = number == 0 ? nil : number }
}

/// The number for the upper bits of object keys; 0: none.
@c @implementation
public func realm_config_get_client_number(_ config: OpaquePointer?) -> UInt32 {
    CABI.config(config, 0) { $0.settings.clientNumber ?? 0 }
}

/// A key among the arguments; one without data is none.
func encryptionKey(_ key: realm_binary_t) throws(RealmError) -> KeyCopy {
    key.data == nil ? KeyCopy() : try encryptionKey(key.data, key.size)
}

/// Checks the size of a key and copies it.
func encryptionKey(
    _ key: UnsafePointer<UInt8>?, _ size: Int
) throws(RealmError) -> KeyCopy {
    guard size != 0 else { return KeyCopy() }
    guard let key, size == 64 else {
        throw RealmError(
            .invalidEncryptionKey,
            key == nil
                ? "the encryption key is NULL and its size \(UInt(bitPattern: size))"
                : "an encryption key has 64 bytes, not \(UInt(bitPattern: size))")
    }
    return KeyCopy(Array(UnsafeBufferPointer(start: key, count: size)))
}

/// Whether the data lives only as long as some realm of the path is open; false by default.
@c @implementation
public func realm_config_get_in_memory(_ config: OpaquePointer?) -> Bool {
    CABI.config(config, false) { $0.settings.isInMemory }
}

/// Sets whether the data lives only as long as some realm of the path is open.
@c @implementation
public func realm_config_set_in_memory(_ config: OpaquePointer?, _ in_memory: Bool) {
    CABI.config(config, ()) { $0.settings.isInMemory = in_memory }
}

/// The directory for named pipes; empty by default. Kept for programs that set it; not used.
/// Borrowed until it is set again or `config` ends.
@c @implementation
public func realm_config_get_fifo_path(_ config: OpaquePointer?) -> UnsafePointer<CChar>? {
    CABI.config(config, nil) { $0.fifoPath.pointer }
}

/// Sets the directory for named pipes, which is not used.
@c @implementation
public func realm_config_set_fifo_path(_ config: OpaquePointer?, _ path: UnsafePointer<CChar>?) {
    CABI.config(config, ()) { config throws(RealmError) in
        config.fifoPath = CText(try text(path, "path"))
    }
}

/// Whether opening refuses files of an older format; false by default.
@c @implementation
public func realm_config_get_disable_format_upgrade(_ config: OpaquePointer?) -> Bool {
    CABI.config(config, false) { $0.disableFormatUpgrade }
}

/// Sets whether opening refuses files of an older format with
/// RLM_ERR_FILE_FORMAT_UPGRADE_REQUIRED instead of upgrading them.
@c @implementation
public func realm_config_set_disable_format_upgrade(_ config: OpaquePointer?, _ disable: Bool) {
    CABI.config(config, ()) { $0.disableFormatUpgrade = disable }
}

/// Whether the file exists and opening it would upgrade its format. False so far, as there is
/// one format only.
@c @implementation
public func realm_config_needs_file_format_upgrade(_ config: OpaquePointer?) -> Bool {
    CABI.config(config, false) { _ in false }
}

/// How many versions of the file may be alive at once; UINT64_MAX, no limit, by default.
@c @implementation
public func realm_config_get_max_number_of_active_versions(_ config: OpaquePointer?) -> UInt64 {
    CABI.config(config, 0) { $0.settings.versionsMax }
}

/// Sets how many versions of the file may be alive at once. With more, `realm_begin_write()`
/// fails with RLM_ERR_WRONG_TRANSACTION_STATE.
@c @implementation
public func realm_config_set_max_number_of_active_versions(
    _ config: OpaquePointer?, _ count: UInt64
) {
    CABI.config(config, ()) { $0.settings.versionsMax = count }
}

// MARK: - Schema

/// Returns a new handle to a copy of the schema, or `nil` without an error when none is set.
@c @implementation
public func realm_config_get_schema(_ config: OpaquePointer?) -> OpaquePointer? {
    CABI.config(config, nil) { config in
        config.settings.schema.map { makeHandle(.schema, SchemaObject($0)) }
    }
}

/// Sets the classes the realm is to have; copied. `nil`, the default, takes those of the file.
@c @implementation
public func realm_config_set_schema(_ config: OpaquePointer?, _ schema: OpaquePointer?) {
    CABI.config(config, ()) { config throws(RealmError) in
        config.settings.schema =
            schema == nil ? nil : try held(schema, .schema, as: SchemaObject.self).schema
    }
}

/// The version of the schema; UINT64_MAX, unspecified, by default.
@c @implementation
public func realm_config_get_schema_version(_ config: OpaquePointer?) -> UInt64 {
    CABI.config(config, 0) { $0.settings.schemaVersion }
}

/// Sets the version of the schema, which goes with every schema.
@c @implementation
public func realm_config_set_schema_version(_ config: OpaquePointer?, _ version: UInt64) {
    CABI.config(config, ()) { $0.settings.schemaVersion = version }
}

/// What opening does when the schema of the file differs; RLM_SCHEMA_MODE_AUTOMATIC by default.
@c @implementation
public func realm_config_get_schema_mode(_ config: OpaquePointer?) -> realm_schema_mode_e {
    CABI.config(config, RLM_SCHEMA_MODE_AUTOMATIC) {
        realm_schema_mode_e(rawValue: $0.settings.schemaMode.rawValue)
    }
}

/// Sets what opening does when the schema of the file differs. A number that is no mode changes
/// nothing and leaves RLM_ERR_INVALID_ARGUMENT as the thread's error.
@c @implementation
public func realm_config_set_schema_mode(_ config: OpaquePointer?, _ mode: realm_schema_mode_e) {
    CABI.config(config, ()) { config throws(RealmError) in
        guard let known = SchemaMode(rawValue: mode.rawValue) else {
            throw RealmError(.invalidArgument, "\(mode.rawValue) is not a schema mode")
        }
        config.settings.schemaMode = known
    }
}

/// What the realm shows beyond the requested schema; RLM_SCHEMA_SUBSET_MODE_STRICT by default.
@c @implementation
public func realm_config_get_schema_subset_mode(
    _ config: OpaquePointer?
) -> realm_schema_subset_mode_e {
    CABI.config(config, RLM_SCHEMA_SUBSET_MODE_STRICT) {
        realm_schema_subset_mode_e(rawValue: $0.settings.subsetMode.rawValue)
    }
}

/// Sets what the realm shows of classes and properties that the file has beyond the requested
/// schema: nothing, further classes, further properties, or both. A number that is no mode
/// changes nothing and leaves RLM_ERR_INVALID_ARGUMENT as the thread's error.
@c @implementation
public func realm_config_set_schema_subset_mode(
    _ config: OpaquePointer?, _ mode: realm_schema_subset_mode_e
) {
    CABI.config(config, ()) { config throws(RealmError) in
        guard let known = SchemaSubsetMode(rawValue: mode.rawValue) else {
            throw RealmError(.invalidArgument, "\(mode.rawValue) is not a schema subset mode")
        }
        config.settings.subsetMode = known
    }
}

/// Sets whether a migration that makes a class embedded mends objects that no or several objects
/// link to: those are then deleted or copied. Off by default.
@c @implementation
public func realm_config_set_automatic_backlink_handling(
    _ config: OpaquePointer?, _ enable: Bool
) {
    CABI.config(config, ()) { $0.settings.mendsBacklinks = enable }
}

// MARK: - Callbacks

/// Sets the function that moves the data when the schema version rises; `nil` removes it. A
/// userdata pointer is freed with `config`, by the function it was first registered with.
@c @implementation
public func realm_config_set_migration_function(
    _ config: OpaquePointer?, _ callback: realm_migration_func_t?,
    _ userdata: UnsafeMutableRawPointer?, _ userdata_free: realm_free_userdata_func_t?
) {
    register(config, userdata, userdata_free) { config in
        config.settings.migrate = callback.map { schemaCallback($0, userdata) }
    }
}

/// Sets the function that fills a file that has just got its first schema; `nil` removes it. It
/// runs inside the write transaction that makes the classes. Userdata as for migrations.
@c @implementation
public func realm_config_set_data_initialization_function(
    _ config: OpaquePointer?, _ callback: realm_data_initialization_func_t?,
    _ userdata: UnsafeMutableRawPointer?, _ userdata_free: realm_free_userdata_func_t?
) {
    register(config, userdata, userdata_free) { config in
        config.settings.initializeData = callback.map { initialization($0, userdata) }
    }
}

/// Sets the function that is asked, with the size of the file and of what is in use, whether to
/// compact it before it is opened; `nil` removes it. Userdata as for migrations.
@c @implementation
public func realm_config_set_should_compact_on_launch_function(
    _ config: OpaquePointer?, _ callback: realm_should_compact_on_launch_func_t?,
    _ userdata: UnsafeMutableRawPointer?, _ userdata_free: realm_free_userdata_func_t?
) {
    register(config, userdata, userdata_free) { config in
        config.settings.shouldCompact = nil
        guard let callback else { return }
        config.settings.shouldCompact = { total, used throws(RealmError) in
            let wanted = callback(userdata, total, used)
            if LastError.hasUserCodeError { throw RealmError.failedCallback }
            return wanted
        }
    }
}

/// Sets the function that is told how much of a change of the schema is done, from 0 to 1, while a file
/// is opened: indexes that are built, defaults that are written, data that is dropped. Returning false
/// ends the opening with RLM_ERR_CALLBACK and undoes everything. `nil` removes it. Userdata as for
/// migrations.
@c @implementation
public func realm_config_set_schema_progress_function(
    _ config: OpaquePointer?, _ callback: realm_schema_progress_func_t?,
    _ userdata: UnsafeMutableRawPointer?, _ userdata_free: realm_free_userdata_func_t?
) {
    register(config, userdata, userdata_free) { config in
        config.settings.schemaProgress = callback.map { callback in { callback(userdata, $0) } }
    }
}

/// Sets the function that is asked whether to go on, fifty times a second while opening waits for another
/// writer of the file, as a change of the schema does. Returning true ends the opening with
/// RLM_ERR_CALLBACK, and changes nothing. `nil` removes it. Userdata as for migrations.
@c @implementation
public func realm_config_set_gives_up_function(
    _ config: OpaquePointer?, _ callback: realm_gives_up_func_t?,
    _ userdata: UnsafeMutableRawPointer?, _ userdata_free: realm_free_userdata_func_t?
) {
    register(config, userdata, userdata_free) { config in
        config.settings.givesUpOpening = callback.map { callback in { callback(userdata) } }
    }
}

private func register(
    _ handle: OpaquePointer?, _ userdata: UnsafeMutableRawPointer?,
    _ free: realm_free_userdata_func_t?, _ body: (ConfigObject) -> Void
) {
    boundary(()) { () throws(RealmError) in
        let config: ConfigObject
        do throws(RealmError) {
            config = try held(handle, .config, as: ConfigObject.self)
        } catch {
            free?(userdata)
            throw error
        }
        config.keep(userdata, free)
        body(config)
    }
}

// MARK: - Instances

/// Sets which thread the realm belongs to. `nil`, the default, is the thread that opens it.
@c @implementation
public func realm_config_set_scheduler(_ config: OpaquePointer?, _ scheduler: OpaquePointer?) {
    CABI.config(config, ()) { config throws(RealmError) in
        config.settings.scheduler = scheduler == nil ? nil : try heldScheduler(scheduler)
    }
}

/// Whether an opening may return a realm that is open already; false by default.
@c @implementation
public func realm_config_get_cached(_ config: OpaquePointer?) -> Bool {
    CABI.config(config, false) { $0.settings.isCached }
}

/// Sets whether an opening may return a realm of the same path and scheduler that was opened
/// with this setting before.
@c @implementation
public func realm_config_set_cached(_ config: OpaquePointer?, _ cached: Bool) {
    CABI.config(config, ()) { $0.settings.isCached = cached }
}

/// Whether new versions and notifications arrive through the scheduler; true by default.
@c @implementation
public func realm_config_get_automatic_change_notifications(_ config: OpaquePointer?) -> Bool {
    CABI.config(config, false) { $0.settings.notifiesAutomatically }
}

/// Sets whether new versions and notifications arrive through the scheduler, or only when the
/// realm is refreshed or begins to write.
@c @implementation
public func realm_config_set_automatic_change_notifications(
    _ config: OpaquePointer?, _ enable: Bool
) {
    CABI.config(config, ()) { $0.settings.notifiesAutomatically = enable }
}

// MARK: - Kept for programs that set it

/// Whether synchronisation history was asked for; false by default.
@c @implementation
public func realm_config_get_force_sync_history(_ config: OpaquePointer?) -> Bool {
    CABI.config(config, false) { $0.forceSyncHistory }
}

/// Asks for synchronisation history, which local files do not have: it is ignored.
@c @implementation
public func realm_config_set_force_sync_history(_ config: OpaquePointer?, _ enable: Bool) {
    CABI.config(config, ()) { $0.forceSyncHistory = enable }
}

/// Takes part in no audit: the factory is ignored. Returns true.
@c @implementation
public func realm_config_set_audit_factory(
    _ config: OpaquePointer?, _ factory: UnsafeMutableRawPointer?
) -> Bool {
    CABI.config(config, false) { _ in true }
}
