// Migrations: the program's block moves data from the old classes to the new ones.

import CoreSwift
public import Foundation

/// Called when a file has a lower schema version than the program asks for.
public typealias MigrationBlock =
    @Sendable (_ migration: Migration, _ oldSchemaVersion: UInt64) -> Void

/// An object of a migration; its properties are reached by name.
public typealias MigrationObject = DynamicObject

/// Called for each object of a class with the object as it was and as it will be.
public typealias MigrationObjectEnumerateBlock = (
    _ oldObject: MigrationObject?, _ newObject: MigrationObject?
) -> Void

/// A migration that is running: the file with its old classes, which can be read, and with the new ones.
public struct Migration {
    let old: _RealmSession
    let new: _RealmSession
    let target: EngineSchema

    /// The classes that the file had.
    public var oldSchema: Schema { Schema(old.core.schema) }
    /// The classes that the program asks for.
    public var newSchema: Schema { Schema(target) }

    /// Calls the block with each object of a class. Objects of a class that is new have no old
    /// object, those of a class that goes have no new one; objects that the block deletes are not met again.
    public func enumerateObjects(
        ofType typeName: String, _ block: MigrationObjectEnumerateBlock
    ) {
        let before = old.core.schema.class_(named: typeName)
        let after = new.core.schema.class_(named: typeName)
        guard let before else {
            guard let after else { return }
            for object in objects(new, after) { block(nil, object) }
            return
        }
        for object in objects(old, before) {
            guard let after, let handle = object.handle else {
                block(object, nil)
                continue
            }
            let key = handle.objectKey
            // Gone by now: an earlier call of the block deleted it.
            guard let found = try? new.core.object(after.key, key) else { continue }
            block(object, new.accessor(found, DynamicObject.self))
        }
    }

    private func objects(_ session: _RealmSession, _ item: ClassSchema) -> [DynamicObject] {
        engine(.realm) { () throws(RealmError) in
            let results = try session.core.results(item.key)
            var all: [DynamicObject] = []
            for index in 0..<(try results.count()) {
                all.append(session.accessor(try results.object(index), DynamicObject.self))
            }
            return all
        }
    }

    /// A new object of a class, with values as for `Object.init(value:)`.
    @discardableResult
    public func create(_ typeName: String, value: Any = [:] as [String: Any]) -> MigrationObject {
        new.createDynamic(typeName, value, .error)
    }

    /// Deletes an object of the new classes.
    public func delete(_ object: MigrationObject) {
        let handle = object.managedHandle("Can only delete an object from the Realm it belongs to.")
        engine(.realm, try handle.delete())
    }

    /// Deletes all objects of a class; of one that the program has not any more the class as well. False
    /// if the file has no such class.
    @discardableResult
    public func deleteData(forType typeName: String) -> Bool {
        engine(.realm) { () throws(RealmError) in
            if target.class_(named: typeName) != nil {
                try new.core.deleteObjects(of: typeName)
                return true
            }
            let wasThere = try new.core.removeClass(typeName)
            if wasThere { new.rebind() }
            return wasThere
        }
    }

    /// Gives the data of a property to one with another name. Call it outside of `enumerateObjects`.
    public func renameProperty(onType typeName: String, from oldName: String, to newName: String) {
        if let wanted = target.class_(named: typeName), wanted.property(named: newName) == nil {
            misuse("Renamed property '\(typeName).\(newName)' does not exist.")
        }
        engine(.realm, try new.core.renameProperty(typeName, oldName, to: newName, in: target))
        new.rebind()
    }
}

/// Calls the program's block for the engine.
final class MigrationRun {
    private let configuration: Realm.Configuration
    private let infos: [ClassInfo]
    private var sessions: [_RealmSession] = []

    init(_ configuration: Realm.Configuration, _ infos: [ClassInfo]) {
        self.configuration = configuration
        self.infos = infos
    }

    func run(
        _ old: EngineRealm, _ new: EngineRealm, _ target: EngineSchema
    ) throws(RealmError) -> Bool {
        guard let block = configuration.migrationBlock else { return true }
        // Only names lead to properties in a migration: the program's classes are not used.
        let migration = Migration(
            old: _RealmSession(old, configuration, nil, []),
            new: _RealmSession(new, configuration, nil, []), target: target)
        sessions = [migration.old, migration.new]
        block(migration, old.schemaVersion == .max ? 0 : old.schemaVersion)
        return true
    }

    func end() { sessions = [] }
}

/// The schema version of the file at a URL.
///
/// - Throws: `Realm.Error` where there is no realm file, or it cannot be read.
public func schemaVersionAtURL(_ fileURL: URL, encryptionKey: Data? = nil) throws -> UInt64 {
    return try asRealmError(fileURL.path) { () throws(RealmError) in
        guard
            let version = try EngineRealm.storedSchemaVersion(
                fileURL.path, encryptionKey: encryptionKey.map { [UInt8]($0) } ?? [])
        else {
            throw RealmError(
                .fileNotFound, "Cannot open file '\(fileURL.path)': there is no realm",
                path: fileURL.path)
        }
        return version
    }
}
