// The change log: its consumers by name, and reading it. Extensions.

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
/// very long name.
@c @implementation
public func realm_change_log_add_consumer(
    _ realm: OpaquePointer?, _ name: UnsafePointer<CChar>?
) -> Bool {
    succeeds { () throws(RealmError) in
        try realmHeld(realm).addLogConsumer(try text(name, "name"))
    }
}

/// Notes that the consumer is done with the log of `version` and those before it. Fails:
/// RLM_ERR_WRONG_TRANSACTION_STATE outside a write transaction, RLM_ERR_INVALID_ARGUMENT without such a
/// consumer, for less than it has acknowledged, and for versions to come.
@c @implementation
public func realm_change_log_acknowledge(
    _ realm: OpaquePointer?, _ name: UnsafePointer<CChar>?, _ version: UInt64
) -> Bool {
    succeeds { () throws(RealmError) in
        try realmHeld(realm).acknowledgeLog(try text(name, "name"), version)
    }
}

/// Keeps nothing for the consumer any more. Fails: RLM_ERR_WRONG_TRANSACTION_STATE.
@c @implementation
public func realm_change_log_remove_consumer(
    _ realm: OpaquePointer?, _ name: UnsafePointer<CChar>?
) -> Bool {
    succeeds { () throws(RealmError) in
        try realmHeld(realm).removeLogConsumer(try text(name, "name"))
    }
}

/// Calls `callback` with the operations that led from `from_version`, mostly one that was acknowledged,
/// to the version that the realm reads, in order, until it returns false. Each version begins with an
/// operation of its own. Behind an operation whose value is a list, set or dictionary come as many
/// elements as its `count` says, each with its own if it is one in turn. Fails: RLM_ERR_BAD_VERSION when
/// the log does not reach back to `from_version`.
@c @implementation
public func realm_change_log_read(
    _ realm: OpaquePointer?, _ from_version: UInt64, _ callback: realm_change_log_func_t?,
    _ userdata: UnsafeMutableRawPointer?
) -> Bool {
    succeeds { () throws(RealmError) in
        let realm = try realmHeld(realm)
        guard let callback else {
            throw RealmError(.invalidArgument, "callback must not be NULL")
        }
        try realm.readLog(from: from_version) { operation in
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
    }
}
