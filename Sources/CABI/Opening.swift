// Opening and closing realms.

import CRealm
import CoreSwift

extension ConfigObject {
    /// What the engine needs of this configuration. Callbacks run only while it opens.
    func configuration() throws(RealmError) -> Configuration {
        if let pathError { throw pathError }
        var made = settings
        made.path = String(cString: path.pointer)
        made.encryptionKey = encryptionKey.bytes
        return made
    }
}

/// Returns a new handle to a realm for the file that `config` names; `config` may be released or
/// changed afterwards. The file is created if it is missing, and its schema compared with the
/// requested one. Fails, and leaves the file as it was:
///
/// - RLM_ERR_ILLEGAL_COMBINATION for settings that exclude each other, such as a schema without
///   a version; RLM_ERR_MISMATCHED_CONFIG when the file is open in this process with others;
/// - RLM_ERR_FILE_NOT_FOUND, RLM_ERR_FILE_PERMISSION_DENIED, RLM_ERR_FILE_OPERATION_FAILED,
///   RLM_ERR_INVALID_DATABASE, RLM_ERR_UNSUPPORTED_FILE_FORMAT_VERSION and others of their
///   category, with the path, for the file;
/// - RLM_ERR_SCHEMA_VALIDATION_FAILED for a schema that breaks the rules, RLM_ERR_INVALID_NAME
///   for names that are too long;
/// - RLM_ERR_SCHEMA_MISMATCH, RLM_ERR_INVALID_SCHEMA_VERSION and RLM_ERR_INVALID_SCHEMA_CHANGE
///   when the schema of the file differs in a way that the schema mode does not allow;
/// - RLM_ERR_CALLBACK when a callback of the configuration reports failure.
@c @implementation
public func realm_open(_ config: OpaquePointer?) -> OpaquePointer? {
    do throws(RealmError) {
        let config = try held(config, .config, as: ConfigObject.self)
        let key = config.encryptionKey
        defer { withExtendedLifetime(key) {} }
        return makeHandle(.realm, try Realm.open(try config.configuration()))
    } catch {
        LastError.setOpening(error)
        return nil
    }
}

/// Closes the realm behind a handle and all its clones, and rolls back its write transaction.
/// What was made from it becomes invalid; handles still have to be released. Closing again does
/// nothing. Other realms of the file are not concerned.
@c @implementation
public func realm_close(_ realm: OpaquePointer?) -> Bool {
    succeeds(try realmHeld(realm).close())
}

/// Whether the realm was closed.
@c @implementation
public func realm_is_closed(_ realm: OpaquePointer?) -> Bool {
    boundary(true, try realmHeld(realm).isClosed)
}
