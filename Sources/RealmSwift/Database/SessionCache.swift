// Opening, and the realms that are open: again for the same file on the same thread, queue or actor gives
// the same one.

import CoreSwift
import Foundation

enum SessionCache {
    private struct Key: Hashable {
        let path: String
        let confinement: Confinement.Id
    }
    private struct Entry {
        weak var session: _RealmSession?
    }

    private static let lock = NSLock()
    nonisolated(unsafe) private static var open: [Key: Entry] = [:]

    /// The open realm, or a new one.
    static func open(
        _ configuration: Realm.Configuration, _ confinement: Confinement
    ) throws -> _RealmSession {
        try configuration.check()
        let path = try configuration.path()
        let key = Key(path: path, confinement: confinement.id)
        if let known = lock.withLock({ open[key]?.session }), !known.core.isClosed {
            try known.configuration.check(opensSame: configuration)
            return known
        }
        let infos = configuration.infos()
        let core = try openEngine(configuration, path, confinement, infos)
        let session = _RealmSession(core, configuration, confinement, infos)
        session.followSchema()
        lock.withLock {
            if open.count >= 64 { open = open.filter { $0.value.session != nil } }
            open[key] = Entry(session: session)
        }
        return session
    }

    /// Whether any realm of the file is open here.
    static func isOpen(_ path: String) -> Bool {
        lock.withLock {
            open.contains { $0.key.path == path && !($0.value.session?.core.isClosed ?? true) }
        }
    }

    private static func openEngine(
        _ configuration: Realm.Configuration, _ path: String, _ confinement: Confinement,
        _ infos: [ClassInfo]
    ) throws -> EngineRealm {
        try configuration.copySeed(to: path)
        let migration = MigrationRun(configuration, infos)
        let wanted = configuration.engineConfiguration(path, confinement, infos, migration)
        do throws(RealmError) {
            return try EngineRealm.open(wanted)
        } catch {
            migration.end()
            if let own = migration.error { throw own }
            guard configuration.deleteRealmIfMigrationNeeded, error.code == .schemaMismatch else {
                throw Realm.Error(error, path: path)
            }
        }
        do throws(RealmError) {
            _ = try EngineRealm.deleteFiles(path)
            return try EngineRealm.open(wanted)
        } catch {
            throw Realm.Error(error, path: path)
        }
    }
}
