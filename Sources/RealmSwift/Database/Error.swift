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
            /// What has no other code.
            case fail = 1
            /// The system cannot read or write the file.
            case fileAccess = 2
            /// The program may not open the file.
            case filePermissionDenied = 3
            /// There is a file where a copy was to be written.
            case fileExists = 4
            /// There is no such file.
            case fileNotFound = 5
            /// The file is of an older format, and was opened read-only.
            case fileFormatUpgradeRequired = 6
            /// Another process has the file open with another version of the library.
            case incompatibleLockFile = 8
            /// No memory, or no place to map the file at.
            case addressSpaceExhausted = 9
            /// The file's classes are others than those of the program.
            case schemaMismatch = 10
            /// A realm of the file is open.
            case alreadyOpen = 12
            /// An argument that the operation does not take.
            case invalidInput = 13
            /// The disk is full.
            case outOfDiskSpace = 14
            /// Another way of opening the file is in use. Never thrown here: realms in memory have no file.
            case incompatibleSession = 15
            /// The file is of a newer format.
            case unsupportedFileFormatVersion = 16
            /// An operation on the file failed.
            case fileOperationFailed = 19
            /// No realm file, a damaged one, or one with another key.
            case invalidDatabase = 20
        }

        /// "io.realm".
        public static let errorDomain = "io.realm"

        /// What has no other code.
        public static let fail = Code.fail
        /// The system cannot read or write the file.
        public static let fileAccess = Code.fileAccess
        /// The program may not open the file.
        public static let filePermissionDenied = Code.filePermissionDenied
        /// There is a file where a copy was to be written.
        public static let fileExists = Code.fileExists
        /// There is no such file.
        public static let fileNotFound = Code.fileNotFound
        /// The file is of an older format, and was opened read-only.
        public static let fileFormatUpgradeRequired = Code.fileFormatUpgradeRequired
        /// Another process has the file open with another version of the library.
        public static let incompatibleLockFile = Code.incompatibleLockFile
        /// No memory, or no place to map the file at.
        public static let addressSpaceExhausted = Code.addressSpaceExhausted
        /// The file's classes are others than those of the program.
        public static let schemaMismatch = Code.schemaMismatch
        /// A realm of the file is open.
        public static let alreadyOpen = Code.alreadyOpen
        /// An argument that the operation does not take.
        public static let invalidInput = Code.invalidInput
        /// The disk is full.
        public static let outOfDiskSpace = Code.outOfDiskSpace
        /// The file is of a newer format.
        public static let unsupportedFileFormatVersion = Code.unsupportedFileFormatVersion
        /// An operation on the file failed.
        public static let fileOperationFailed = Code.fileOperationFailed
        /// No realm file, a damaged one, or one with another key.
        public static let invalidDatabase = Code.invalidDatabase
        /// Another way of opening the file is in use. Never thrown here: realms in memory have no file.
        public static let incompatibleSession = Code.incompatibleSession
        /// What an asynchronous call says that has neither a result nor an error.
        public static let callFailed = Error(.fail, "Call failed")

        /// What kind of error it is.
        public let code: Code
        let message: String
        let path: String?

        init(_ code: Code, _ message: String, path: String? = nil) {
            self.code = code
            self.message = message
            self.path = path
        }

        /// An error of a program's own making, for its tests: `Realm.Error(.fileNotFound)`. The message and the path are
        /// those that `NSError` has in its information.
        public init(_ code: Code, userInfo: [String: Any] = [:]) {
            self.init(
                code, userInfo[NSLocalizedDescriptionKey] as? String ?? "\(code)",
                path: userInfo[NSFilePathErrorKey] as? String)
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
        /// As `NSError` has it: the message and the path.
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

/// Whether two errors of any types have the same domain and code.
public func == (a: any Swift.Error, b: any Swift.Error) -> Bool {
    a._domain == b._domain && a._code == b._code
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
