// What opening, writing and copying throw. It is a structure around an `NSError` and not an enumeration, so
// that `catch let error as NSError` matches it on Linux, too.

import CoreSwift
public import Foundation

extension Realm {
    /// An error of a realm.
    ///
    /// ```swift
    /// do {
    ///     let realm = try Realm()
    /// } catch Realm.Error.fileAccess {
    ///     // by code
    /// } catch let error as NSError {
    ///     // or with the text that says what is wrong with which file
    /// }
    /// ```
    public struct Error: Swift.Error, CustomNSError, LocalizedError, Sendable {
        /// What went wrong. The numbers are those of `NSError.code`.
        public enum Code: Int, Sendable {
            case fail = 1
            case fileAccess = 2
            case filePermissionDenied = 3
            case fileExists = 4
            case fileNotFound = 5
            case fileFormatUpgradeRequired = 6
            case incompatibleLockFile = 8
            case addressSpaceExhausted = 9
            case schemaMismatch = 10
            case alreadyOpen = 12
            case invalidInput = 13
            case outOfDiskSpace = 14
            case unsupportedFileFormatVersion = 16
            case fileOperationFailed = 19
            case invalidDatabase = 20
        }

        /// "io.realm".
        public static let errorDomain = "io.realm"

        public static let fail = Code.fail
        public static let fileAccess = Code.fileAccess
        public static let filePermissionDenied = Code.filePermissionDenied
        public static let fileExists = Code.fileExists
        public static let fileNotFound = Code.fileNotFound
        public static let fileFormatUpgradeRequired = Code.fileFormatUpgradeRequired
        public static let incompatibleLockFile = Code.incompatibleLockFile
        public static let addressSpaceExhausted = Code.addressSpaceExhausted
        public static let schemaMismatch = Code.schemaMismatch
        public static let alreadyOpen = Code.alreadyOpen
        public static let invalidInput = Code.invalidInput
        public static let outOfDiskSpace = Code.outOfDiskSpace
        public static let unsupportedFileFormatVersion = Code.unsupportedFileFormatVersion
        public static let fileOperationFailed = Code.fileOperationFailed
        public static let invalidDatabase = Code.invalidDatabase
        /// The same as `fail`.
        public static let callFailed = Code.fail

        public let code: Code
        let message: String
        let path: String?

        init(_ code: Code, _ message: String, path: String? = nil) {
            self.code = code
            self.message = message
            self.path = path
        }

        /// From an error of the engine.
        init(_ error: RealmError, path: String? = nil) {
            self.init(Self.code(error.code), error.message, path: error.path ?? path)
        }

        private static func code(_ code: ErrorCode) -> Code {
            switch code {
            case .systemError: .fileAccess
            case .filePermissionDenied: .filePermissionDenied
            case .fileAlreadyExists: .fileExists
            case .fileNotFound: .fileNotFound
            case .fileFormatUpgradeRequired: .fileFormatUpgradeRequired
            case .incompatibleLockFile: .incompatibleLockFile
            case .addressSpaceExhausted, .outOfMemory: .addressSpaceExhausted
            case .schemaMismatch, .schemaValidationFailed, .invalidSchemaVersion,
                .migrationFailed, .invalidSchemaChange:
                .schemaMismatch
            case .deleteOpenedRealm: .alreadyOpen
            case .invalidArgument, .invalidEncryptionKey, .invalidQueryString, .invalidQuery,
                .invalidQueryArg:
                .invalidInput
            case .outOfDiskSpace: .outOfDiskSpace
            case .unsupportedFileFormatVersion: .unsupportedFileFormatVersion
            case .fileOperationFailed: .fileOperationFailed
            case .invalidDatabase, .decryptionFailed: .invalidDatabase
            default: .fail
            }
        }

        public var errorCode: Int { code.rawValue }
        public var errorUserInfo: [String: Any] {
            var info: [String: Any] = [NSLocalizedDescriptionKey: message]
            if let path { info[NSFilePathErrorKey] = path }
            return info
        }
        public var userInfo: [String: Any] { errorUserInfo }
        public var errorDescription: String? { message }
        public var localizedDescription: String { message }
        /// The file that the error is about.
        public var fileURL: URL? { path.map { URL(fileURLWithPath: $0) } }
    }
}

extension Realm.Error: Hashable {
    public static func == (a: Self, b: Self) -> Bool { a.code == b.code }
    public func hash(into hasher: inout Hasher) { hasher.combine(code) }
}

extension Realm.Error: CustomStringConvertible {
    public var description: String { message }
}

/// For `catch Realm.Error.fileAccess`.
public func ~= (code: Realm.Error.Code, error: any Swift.Error) -> Bool {
    (error as? Realm.Error)?.code == code
}

extension Realm.Error: _ObjectiveCBridgeable {
    public func _bridgeToObjectiveC() -> NSError {
        NSError(domain: Self.errorDomain, code: code.rawValue, userInfo: errorUserInfo)
    }

    public static func _forceBridgeFromObjectiveC(_ source: NSError, result: inout Self?) {
        _ = _conditionallyBridgeFromObjectiveC(source, result: &result)
    }

    public static func _conditionallyBridgeFromObjectiveC(
        _ source: NSError, result: inout Self?
    ) -> Bool {
        guard source.domain == errorDomain, let code = Code(rawValue: source.code) else {
            result = nil
            return false
        }
        result = Self(
            code, source.localizedDescription,
            path: source.userInfo[NSFilePathErrorKey] as? String)
        return true
    }

    public static func _unconditionallyBridgeFromObjectiveC(_ source: NSError?) -> Self {
        var result: Self?
        if let source { _ = _conditionallyBridgeFromObjectiveC(source, result: &result) }
        return result ?? Self(.fail, source?.localizedDescription ?? "Unknown error")
    }
}
