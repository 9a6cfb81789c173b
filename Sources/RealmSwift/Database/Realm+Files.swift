// Files of realms: copies, deletion, migration, keys.

import CoreSwift
public import Foundation

extension Realm {
    /// Writes a compact copy of the realm to a new file; in a write transaction with its changes.
    ///
    /// - Throws: `Realm.Error`, `fileExists` where the file is there already.
    public func writeCopy(toFile fileURL: URL, encryptionKey: Data? = nil) throws {
        try asRealmError(fileURL.path) { () throws(RealmError) in
            try core.writeCopy(
                to: fileURL.path, encryptionKey: encryptionKey.map { [UInt8]($0) } ?? [])
        }
    }

    /// Writes a copy of the realm to the file of a configuration; where there is one already, it takes the objects
    /// over: those with a primary key that is there get the values of this realm.
    public func writeCopy(configuration: Configuration) throws {
        let path = try configuration.path()
        var target = EngineConfiguration(path: path)
        target.encryptionKey = configuration.encryptionKey.map { [UInt8]($0) } ?? []
        try asRealmError(path, try core.convert(to: target, merging: true))
    }

    /// Whether there is a file for a configuration.
    public static func fileExists(for configuration: Configuration) -> Bool {
        guard let path = try? configuration.path() else { return false }
        return FileManager.default.fileExists(atPath: path)
    }

    /// Deletes the files of a realm that is not open; false if there were none.
    ///
    /// - Throws: `Realm.Error.alreadyOpen` while a realm of the file is open.
    @discardableResult
    public static func deleteFiles(for configuration: Configuration) throws -> Bool {
        let path = try configuration.path()
        return try asRealmError(path, try EngineRealm.deleteFiles(path))
    }

    /// Encrypts the file of a configuration with another key, its first one, or none; all of it is written anew.
    /// The configuration has the key that the file has now.
    ///
    /// - Throws: `Realm.Error`, `alreadyOpen` while a realm of the file is open, in any process.
    public static func changeEncryptionKey(
        for configuration: Configuration = .defaultConfiguration, to newKey: Data?
    ) throws {
        let path = try configuration.path()
        try asRealmError(path) { () throws(RealmError) in
            try EngineRealm.changeEncryptionKey(
                path, from: configuration.encryptionKey.map { [UInt8]($0) } ?? [],
                to: newKey.map { [UInt8]($0) } ?? [])
        }
    }

    /// Migrates the file of a configuration, if that is needed, without opening it for use.
    ///
    /// - Throws: `Realm.Error.alreadyOpen` while a realm of the file is open.
    public static func performMigration(
        for configuration: Configuration = .defaultConfiguration
    ) throws {
        let path = try configuration.path()
        if SessionCache.isOpen(path) {
            throw Error(.alreadyOpen, "Cannot migrate Realms that are already open.", path: path)
        }
        let realm = try Realm(configuration: configuration)
        realm.core.close()
    }

    /// 64 random bytes to encrypt a file with.
    public static func generateEncryptionKey() -> Data {
        var generator = SystemRandomNumberGenerator()
        return Data((0..<64).map { _ in UInt8.random(in: 0...255, using: &generator) })
    }
}
