// What the commands that only look at a file ask of it, in terms of CoreSwift. Files are opened
// read-only; beside them a lock file appears, as with any program that uses them, because a writer
// must know that somebody reads.

import CoreSwift

/// The outcome of verifying a file.
struct CheckReport {
    /// Nil when the file is damaged.
    var statistics: RealmStatistics?
    /// The file could be opened: it is a realm, damaged or not.
    var isRealm: Bool
    /// One sentence each; empty when the file is sound.
    var faults: [String] = []
}

enum Inspection {
    /// Verifies the newest version. Throws what prevents looking at the file at all; damage is a
    /// result.
    static func check(_ path: String, key: [UInt8]) throws(RealmError) -> CheckReport {
        let realm: Realm
        do throws(RealmError) {
            realm = try open(path, key: key)
        } catch {
            guard error.code == .invalidDatabase else { throw error }
            return CheckReport(isRealm: false, faults: [error.message])
        }
        defer { realm.close() }
        do throws(RealmError) {
            let faults = try realm.check()
            let statistics = faults.isEmpty ? try realm.statistics() : nil
            return CheckReport(statistics: statistics, isRealm: true, faults: faults)
        } catch {
            guard error.code == .invalidDatabase else { throw error }
            return CheckReport(isRealm: true, faults: [error.message])
        }
    }

    /// Opens a file that must be there, with the schema it has; to write with the mode `automatic`.
    static func open(
        _ path: String, key: [UInt8], mode: SchemaMode = .readOnly
    ) throws(RealmError) -> Realm {
        // Opening creates what is missing and takes an empty file for a new one: not here.
        var status = stat()
        guard stat(path, &status) == 0 else {
            throw RealmError(
                errno == ENOENT ? .fileNotFound : .fileOperationFailed,
                String(cString: strerror(errno)))
        }
        if status.st_mode & S_IFMT == S_IFREG && status.st_size == 0 {
            throw RealmError(.invalidDatabase, "the file is empty")
        }
        var configuration = Configuration(path: path)
        configuration.encryptionKey = key
        configuration.schemaMode = mode
        do throws(RealmError) {
            return try Realm.open(configuration)
        } catch {
            // Where no lock file can be made nobody writes either.
            guard error.code == .filePermissionDenied, mode == .readOnly else { throw error }
            configuration.schemaMode = .immutable
            return try Realm.open(configuration)
        }
    }
}
