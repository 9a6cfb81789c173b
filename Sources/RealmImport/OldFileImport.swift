// A file of realm-core becomes a file of ours: `realm import`, and the functions for it in the languages.

import CoreSwift
import RealmCoreFile

public enum OldFileImport {
    /// Imports `source`, which is only read, into the new file `path`. On an error there is no new file.
    ///
    /// Throws `.fileAlreadyExists` when there is something at `path`, `.invalidDatabase` for files that are
    /// damaged, none of realm-core, or encrypted with another key, `.invalidEncryptionKey` for keys of a wrong
    /// length, `.unsupportedFileFormatVersion`, `.fileOperationFailed` for files that can't be read or
    /// are in use, and `.operationAborted` when `progress` said so.
    public static func run(
        _ source: String, to path: String, _ options: ImportOptions = ImportOptions()
    ) throws(RealmError) -> ImportReport {
        for key in [options.key, options.newKey] where !key.isEmpty && key.count != 64 {
            throw RealmError(
                .invalidEncryptionKey, "an encryption key has 64 bytes, not \(key.count)")
        }
        guard !NewFile.isTaken(path) else {
            throw RealmError(.fileAlreadyExists, "'\(path)': can't import into it, the file exists")
        }
        let file: CoreFile
        do throws(CoreFileError) {
            file = try CoreFile(source, key: options.key, evenInUse: options.evenInUse)
        } catch {
            throw Self.error(error)
        }
        let old = OldSchema(file)
        if let report = try copy(file, old, path, options, isFilling: true) { return report }
        // A value or object that the new file can't hold: object by object shows which.
        guard let report = try copy(file, old, path, options, isFilling: false) else {
            throw RealmError(.runtime, "'\(path)': the import ended without a result")
        }
        return report
    }

    /// More of the file than this is free: then it is copied, else it gets its name as it is.
    private static let freeShareMax = 0.1

    /// Nil where it is to be done again without `isFilling`.
    private static func copy(
        _ file: CoreFile, _ old: OldSchema, _ path: String, _ options: ImportOptions,
        isFilling: Bool
    ) throws(RealmError) -> ImportReport? {
        let temporary = NewFile.temporaryName(path)
        defer { NewFile.remove(temporary) }
        var configuration = Configuration(path: temporary)
        configuration.encryptionKey = options.newKey
        configuration.schema = old.schema
        configuration.schemaVersion = file.schemaVersion ?? 0
        configuration.notifiesAutomatically = false
        let realm = try Realm.open(configuration)
        defer { realm.close() }
        let session = try ImportSession(
            file, realm, old, isFilling: isFilling, options.progress)
        do throws(CoreFileError) {
            try session.copy()
            try file.checkUnchanged()
        } catch {
            if session.wantsCare { return nil }
            // What failed in the new file stopped the reading of the old one.
            throw session.failure ?? Self.error(error)
        }
        let sizes = try realm.fileStatistics()
        let free = Double(sizes.freeBytes + sizes.pendingBytes)
        if free > Double(sizes.fileBytes) * freeShareMax {
            try realm.writeCopy(to: path, encryptionKey: options.newKey)
        } else {
            try realm.close(placingAs: path)
        }
        // Nobody can stop it any more.
        _ = options.progress?(1)
        return session.report
    }

    private static func error(_ error: CoreFileError) -> RealmError {
        let code: ErrorCode =
            switch error.code {
            case .unreadable, .inUse: .fileOperationFailed
            case .unsupported: .unsupportedFileFormatVersion
            case .notRealm, .damaged, .wrongKey: .invalidDatabase
            case .misuse: .invalidArgument
            }
        return RealmError(code, error.message)
    }
}
