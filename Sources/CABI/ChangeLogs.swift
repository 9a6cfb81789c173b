// The change log: its consumers by name, and reading it. Extensions.

import CKernels
import CRealm
import CoreSwift

/// Calls `callback` with each consumer of the change log, and the version that it has acknowledged.
@c @implementation
public func realm_change_log_get_consumers(
    _ realm: OpaquePointer?, _ callback: realm_change_log_consumer_func_t?,
    _ userdata: UnsafeMutableRawPointer?
) -> Bool {
    succeeds { () throws(RealmError) in
        for consumer in try realmHeld(realm).logConsumers {
            var name = consumer.name
            name.withUTF8 { bytes in
                bytes.withMemoryRebound(to: CChar.self) { bytes in
                    callback?(
                        userdata, realm_string_t(data: bytes.baseAddress, size: bytes.count),
                        consumer.acknowledged)
                }
            }
        }
    }
}

/// Keeps the log of the versions behind the one that this write transaction makes, with values, until
/// the consumer `name` has acknowledged them; also when the file is closed meanwhile. Does nothing for
/// one that is there. Fails: RLM_ERR_WRONG_TRANSACTION_STATE, RLM_ERR_INVALID_ARGUMENT for an empty or
/// very long name, RLM_ERR_LIMIT_EXCEEDED for more than 1,000 consumers.
@c @implementation
public func realm_change_log_add_consumer(
    _ realm: OpaquePointer?, _ name: UnsafePointer<CChar>?
) -> Bool {
    succeeds(try realmHeld(realm).addLogConsumer(try text(name, "name")))
}

/// Notes that the consumer is done with the log of `version` and those before it. Fails:
/// RLM_ERR_WRONG_TRANSACTION_STATE outside a write transaction, RLM_ERR_INVALID_ARGUMENT without such a
/// consumer, for less than it has acknowledged, and for versions to come.
@c @implementation
public func realm_change_log_acknowledge(
    _ realm: OpaquePointer?, _ name: UnsafePointer<CChar>?, _ version: UInt64
) -> Bool {
    succeeds(try realmHeld(realm).acknowledgeLog(try text(name, "name"), version))
}

/// Keeps nothing for the consumer any more. Fails: RLM_ERR_WRONG_TRANSACTION_STATE.
@c @implementation
public func realm_change_log_remove_consumer(
    _ realm: OpaquePointer?, _ name: UnsafePointer<CChar>?
) -> Bool {
    succeeds(try realmHeld(realm).removeLogConsumer(try text(name, "name")))
}

/// Calls `callback` with the operations that led from `from_version`, mostly one that was acknowledged,
/// to the version that the realm reads, in order, until it returns false. Each version begins with an
/// operation of its own. Behind an operation whose value is a list, set or dictionary come as many
/// elements as its `count` says, each with its own if it is one in turn. The operation of a version that
/// was applied (`realm_change_log_apply()`) has the origin as value. Fails: RLM_ERR_BAD_VERSION when the log does not reach back to `from_version`.
@c @implementation
public func realm_change_log_read(
    _ realm: OpaquePointer?, _ from_version: UInt64, _ callback: realm_change_log_func_t?,
    _ userdata: UnsafeMutableRawPointer?
) -> Bool {
    succeeds { () throws(RealmError) in
        let realm = try realmHeld(realm)
        let callback = try given(callback, "callback")
        try realm.readLog(from: from_version) { tell($0, callback, userdata) }
    }
}

private func tell(
    _ operation: LoggedOperation, _ callback: realm_change_log_func_t,
    _ userdata: UnsafeMutableRawPointer?
) -> Bool {
    var told = realm_change_log_operation_t()
    told.kind = realm_change_log_kind_e(rawValue: operation.kind.rawValue)
    told.is_derived = operation.isDerived
    told.version = operation.version
    told.class_key = operation.classKey.rawValue
    told.collection = realm_collection_type_e(rawValue: operation.collection.rawValue)
    told.first_object = operation.firstObject.rawValue
    told.last_object = operation.lastObject.rawValue
    told.property = operation.property.rawValue
    told.collection_number = operation.collectionNumber
    told.index = operation.index
    told.count = operation.count
    told.target = operation.destination
    told.key = operation.key.cValue
    told.value = operation.value.cValue
    return callback(userdata, &told)
}

// MARK: Changes as bytes

/// Memory of the C allocator, for the caller to free.
private func copyForC(
    _ bytes: [UInt8], _ out_size: UnsafeMutablePointer<Int>?
) throws(RealmError) -> UnsafeMutablePointer<UInt8>? {
    guard let memory = ck_malloc(bytes.count) else {
        throw RealmError(.outOfMemory, "no memory for \(bytes.count) bytes of changes")
    }
    bytes.withUnsafeBytes { bytes in
        if let start = bytes.baseAddress { memory.copyMemory(from: start, byteCount: bytes.count) }
    }
    out_size?.pointee = bytes.count
    return memory.assumingMemoryBound(to: UInt8.self)
}

private func changes(
    _ start: UnsafePointer<UInt8>?, _ size: Int
) throws(RealmError) -> [UInt8] {
    Array(UnsafeBufferPointer(start: try given(start, "changes"), count: size))
}

/// Compares two realms of this thread, of one file or of two; frozen ones stand for older versions.
/// Returns what leads from `older` to `newer`, as bytes for `realm_change_log_apply()`, to be freed with
/// realm_free(). Of two files those objects are the same that have one primary key, without one those that have
/// one object key. Of a write transaction what it has changed counts. Fails: RLM_ERR_SCHEMA_MISMATCH where a
/// class or property is not the same in both.
@c @implementation
public func realm_change_log_compare(
    _ older: OpaquePointer?, _ newer: OpaquePointer?, _ out_size: UnsafeMutablePointer<Int>?
) -> UnsafeMutablePointer<UInt8>? {
    boundary(nil, try copyForC(try realmHeld(older).changes(to: try realmHeld(newer)), out_size))
}

/// Returns the change log from `from_version` to the version that the realm reads, as bytes for
/// `realm_change_log_apply()`, to be freed with realm_free(). What is to be applied has values: those that are
/// kept for a consumer. Fails: RLM_ERR_BAD_VERSION when the log does not reach back to `from_version`.
@c @implementation
public func realm_change_log_export(
    _ realm: OpaquePointer?, _ from_version: UInt64, _ out_size: UnsafeMutablePointer<Int>?
) -> UnsafeMutablePointer<UInt8>? {
    boundary(nil, try copyForC(try realmHeld(realm).changes(from: from_version), out_size))
}

/// Does in the write transaction what such bytes say, in bulk. Objects, properties and elements are found by
/// what identifies them; the realm is as the one was that the changes lead from, as far as they touch it.
/// `origin`, a number, is recorded with the commit: the operation of its version in the change log has it as
/// value. Fails: RLM_ERR_WRONG_TRANSACTION_STATE outside a write transaction, or in one that changed something
/// before while that is recorded; RLM_ERR_INVALID_ARGUMENT for other bytes, and where a change does not fit
/// what is there: nothing of them is done then; RLM_ERR_SCHEMA_MISMATCH for changes of a realm
/// with another schema.
@c @implementation
public func realm_change_log_apply(
    _ realm: OpaquePointer?, _ start: UnsafePointer<UInt8>?, _ size: Int, _ origin: UInt64
) -> Bool {
    succeeds(try realmHeld(realm).apply(changes: try changes(start, size), origin: origin))
}

/// Calls `callback` with the operations in such bytes, as `realm_change_log_read()` does with those of the
/// log, for a realm with the same schema. Fails: RLM_ERR_INVALID_ARGUMENT for other bytes,
/// RLM_ERR_SCHEMA_MISMATCH.
@c @implementation
public func realm_change_log_read_changes(
    _ realm: OpaquePointer?, _ start: UnsafePointer<UInt8>?, _ size: Int,
    _ callback: realm_change_log_func_t?, _ userdata: UnsafeMutableRawPointer?
) -> Bool {
    succeeds { () throws(RealmError) in
        let realm = try realmHeld(realm)
        let callback = try given(callback, "callback")
        try realm.readChanges(try changes(start, size)) { tell($0, callback, userdata) }
    }
}
