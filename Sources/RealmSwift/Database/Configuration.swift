// What a program says when it opens a realm.

import CoreSwift
public import Foundation

extension Realm {
    /// Where a realm is and what it has in it.
    public struct Configuration: Sendable {
        /// What `Realm()` opens. Set it before the first realm is opened.
        public static var defaultConfiguration: Configuration {
            get { lock.withLock { shared } }
            set { lock.withLock { shared = newValue } }
        }
        private static let lock = NSLock()
        @exclusivity(unchecked) nonisolated(unsafe) private static var shared = Configuration()

        /// The realm file; nil of realms that are only in memory.
        public var fileURL: URL? {
            didSet {
                filePath = fileURL?.path
                if fileURL != nil { inMemoryIdentifier = nil }
            }
        }
        /// Of `fileURL`, which takes a microsecond to say it.
        private var filePath: String?
        /// The name of a realm whose data lives as long as somebody has it open.
        public var inMemoryIdentifier: String? {
            didSet { if inMemoryIdentifier != nil { fileURL = nil } }
        }
        /// The 64 bytes that the file is encrypted with.
        public var encryptionKey: Data?
        /// How many bytes of an encrypted file are kept decrypted; 0: all that were read.
        public var encryptionCacheBytes = EngineConfiguration(path: "").decryptedBytesMax
        /// The realm can be opened where the file cannot be written; writing is misuse.
        public var readOnly = false
        /// The version of the classes; a file with a lower one is migrated.
        public var schemaVersion: UInt64 = 0
        /// Moves data to the present classes when the file has a lower schema version.
        public var migrationBlock: MigrationBlock?
        /// A file whose classes do not fit is deleted instead of migrated.
        public var deleteRealmIfMigrationNeeded = false
        /// Called with the bytes of the file and those in use when it is opened first in the program; true
        /// has it compacted.
        public var shouldCompactOnLaunch: (@Sendable (Int, Int) -> Bool)?
        /// The classes of the realm; nil: all of the program.
        public var objectTypes: [ObjectBase.Type]? {
            get { types }
            set {
                types = newValue
                for type in newValue ?? []
                where !(type is Object.Type) && !(type is EmbeddedObject.Type) {
                    misuse("Can't add non-Object type '\(type)' to a schema.")
                }
            }
        }
        nonisolated(unsafe) private var types: [ObjectBase.Type]?
        /// Opening for writing fails while more versions than this are kept; nil: any number.
        public var maximumNumberOfActiveVersions: UInt?
        /// Told while the file is migrated how much is done, from 0 to 1.
        public var migrationProgress: (@Sendable (Double) -> Void)?
        /// A file that is copied to the realm's place where there is none yet.
        public var seedFilePath: URL?

        /// - Parameters: see the properties; without a URL and an identifier the file is the default one.
        public init(
            fileURL: URL? = Configuration.defaultURL, inMemoryIdentifier: String? = nil,
            encryptionKey: Data? = nil, readOnly: Bool = false, schemaVersion: UInt64 = 0,
            migrationBlock: MigrationBlock? = nil, deleteRealmIfMigrationNeeded: Bool = false,
            shouldCompactOnLaunch: (@Sendable (Int, Int) -> Bool)? = nil,
            objectTypes: [ObjectBase.Type]? = nil, seedFilePath: URL? = nil
        ) {
            self.fileURL = inMemoryIdentifier == nil ? fileURL : nil
            filePath = self.fileURL?.path
            self.inMemoryIdentifier = inMemoryIdentifier
            self.encryptionKey = encryptionKey
            self.readOnly = readOnly
            self.schemaVersion = schemaVersion
            self.migrationBlock = migrationBlock
            self.deleteRealmIfMigrationNeeded = deleteRealmIfMigrationNeeded
            self.shouldCompactOnLaunch = shouldCompactOnLaunch
            self.seedFilePath = seedFilePath
            self.objectTypes = objectTypes
        }

        /// `default.realm` in the folder of the program's data: `$REALM_DEFAULT_DIRECTORY`, or the
        /// program's name in `$XDG_DATA_HOME` or `~/.local/share`.
        public static var defaultURL: URL {
            let environment = ProcessInfo.processInfo.environment
            if let folder = environment["REALM_DEFAULT_DIRECTORY"], !folder.isEmpty {
                return URL(fileURLWithPath: folder).appendingPathComponent("default.realm")
            }
            let data =
                environment["XDG_DATA_HOME"].flatMap { $0.isEmpty ? nil : URL(fileURLWithPath: $0) }
                ?? FileManager.default.homeDirectoryForCurrentUser
                .appendingPathComponent(".local/share")
            return data.appendingPathComponent(ProcessInfo.processInfo.processName)
                .appendingPathComponent("default.realm")
        }

        // MARK: Checks

        /// Settings that can't be right are misuse.
        func check() throws {
            if let filePath, filePath.isEmpty { try refuse("Realm path must not be empty") }
            if let inMemoryIdentifier, inMemoryIdentifier.isEmpty {
                try refuse("In-memory identifier must not be empty")
            }
            if let encryptionKey, encryptionKey.count != 64 {
                try refuse("Encryption key must be exactly 64 bytes long")
            }
            if readOnly, deleteRealmIfMigrationNeeded {
                try refuse("Cannot set `readOnly` when `deleteRealmIfMigrationNeeded` is set.")
            }
            if readOnly, shouldCompactOnLaunch != nil {
                try refuse("Cannot set `readOnly` when `shouldCompactOnLaunch` is set.")
            }
        }

        /// Misuse where a realm that is open was opened otherwise.
        func check(opensSame other: Configuration) throws {
            func clash(_ what: String) throws -> Never {
                try refuse(
                    "Realm at path '\((try? path()) ?? "")' already opened with different \(what)")
            }
            if readOnly != other.readOnly { try clash("read permissions") }
            if encryptionKey != other.encryptionKey { try clash("encryption key") }
            if schemaVersion != other.schemaVersion { try clash("schema version") }
            if isInMemory != other.isInMemory { try clash("inMemory settings") }
            if types == nil, other.types == nil { return }
            // As a rule it is the same list.
            if let types, let others = other.types, types.count == others.count,
                zip(types, others).allSatisfy({ $0 == $1 })
            {
                return
            }
            let mine = types.map { Set($0.map { ObjectIdentifier($0) }) }
            if mine != other.types.map({ Set($0.map { ObjectIdentifier($0) }) }) {
                try clash("schema")
            }
        }

        var isInMemory: Bool { inMemoryIdentifier != nil }

        /// The place of the file.
        func path() throws -> String {
            if let inMemoryIdentifier {
                let name =
                    inMemoryIdentifier.addingPercentEncoding(
                        withAllowedCharacters: .alphanumerics) ?? inMemoryIdentifier
                return FileManager.default.temporaryDirectory
                    .appendingPathComponent("\(name).inmemory.realm").path
            }
            return filePath ?? Self.defaultURL.path
        }

        /// The folder of the default realm is made where it is not there yet, also for other files in it.
        func makeFolder() {
            let folder = Self.defaultURL.deletingLastPathComponent()
            guard !isInMemory,
                fileURL == nil || fileURL?.deletingLastPathComponent().path == folder.path
            else { return }
            try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        }

        func infos() throws -> [ClassInfo] {
            try ClassScan.infos(types ?? ClassScan.defaults(), isExplicit: types != nil)
        }

        func copySeed(to path: String) throws {
            guard let seedFilePath, !isInMemory, !FileManager.default.fileExists(atPath: path)
            else {
                return
            }
            do {
                try FileManager.default.copyItem(atPath: seedFilePath.path, toPath: path)
            } catch {
                throw Realm.Error(
                    .fileNotFound,
                    "The seed file '\(seedFilePath.path)' cannot be copied to '\(path)': \(error)",
                    path: seedFilePath.path)
            }
        }

        func engineConfiguration(
            _ path: String, _ confinement: Confinement, _ infos: [ClassInfo],
            _ migration: MigrationRun
        ) -> EngineConfiguration {
            var result = EngineConfiguration(path: path)
            result.encryptionKey = encryptionKey.map { [UInt8]($0) } ?? []
            result.decryptedBytesMax = encryptionCacheBytes
            result.schema = EngineSchema(infos.map { $0.schema })
            result.schemaVersion = schemaVersion
            if readOnly { result.schemaMode = .readOnly }
            result.isInMemory = isInMemory
            result.scheduler = confinement.scheduler
            if let maximumNumberOfActiveVersions {
                result.versionsMax = UInt64(maximumNumberOfActiveVersions)
            }
            if let shouldCompactOnLaunch {
                result.shouldCompact = { total, used throws(RealmError) in
                    shouldCompactOnLaunch(Int(total), Int(used))
                }
            }
            if let migrationProgress {
                result.schemaProgress = { part in
                    migrationProgress(part)
                    return true
                }
            }
            if migrationBlock != nil, !readOnly {
                result.migrate = { old, new, target throws(RealmError) in
                    try migration.run(old, new, target)
                }
            }
            return result
        }
    }
}

extension Realm.Configuration: CustomStringConvertible, Equatable {
    public var description: String {
        """
        Realm.Configuration {
        \tfileURL = \(fileURL?.absoluteString ?? "(null)");
        \tinMemoryIdentifier = \(inMemoryIdentifier ?? "(null)");
        \tencryptionKey = \(encryptionKey == nil ? "(null)" : "(set)");
        \treadOnly = \(readOnly ? 1 : 0);
        \tschemaVersion = \(schemaVersion);
        \tmigrationBlock = \(migrationBlock == nil ? "(null)" : "(set)");
        \tdeleteRealmIfMigrationNeeded = \(deleteRealmIfMigrationNeeded ? 1 : 0);
        }
        """
    }

    /// Whether the settings are the same; blocks have no equality and are not compared.
    public static func == (a: Self, b: Self) -> Bool {
        a.fileURL == b.fileURL && a.inMemoryIdentifier == b.inMemoryIdentifier
            && a.encryptionKey == b.encryptionKey && a.readOnly == b.readOnly
            && a.schemaVersion == b.schemaVersion
            && a.deleteRealmIfMigrationNeeded == b.deleteRealmIfMigrationNeeded
            && a.maximumNumberOfActiveVersions == b.maximumNumberOfActiveVersions
            && a.seedFilePath == b.seedFilePath
            && a.objectTypes.map { $0.map { ObjectIdentifier($0) } }
                == b.objectTypes.map { $0.map { ObjectIdentifier($0) } }
    }
}
