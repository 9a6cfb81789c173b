// Opening, and the realms that are open: again for the same file on the same thread, queue or actor gives
// the same one.

import CRuntime
import CoreSwift
import Foundation

enum SessionCache {
    private struct Key: Hashable {
        let path: String
        let confinement: Confinement.Id
    }
    private static let lock = NSLock()
    /// Sessions take themselves out before their memory goes, under the lock.
    @exclusivity(unchecked) nonisolated(unsafe) private static var open:
        [Key: Unmanaged<_RealmSession>] = [:]

    /// The session of a key, unless it is going.
    private static func find(_ key: Key) -> _RealmSession? {
        lock.withLock {
            guard let known = open[key], crt_try_retain(known.toOpaque()) else { return nil }
            return known.takeRetainedValue()
        }
    }

    /// The sessions of a thread, queue or actor.
    static func all(_ confinement: Confinement.Id) -> [_RealmSession] {
        let keys = lock.withLock { open.keys.filter { $0.confinement == confinement } }
        return keys.compactMap { find($0) }
    }

    /// A session goes.
    static func forget(_ session: _RealmSession) {
        let address = Unmanaged.passUnretained(session).toOpaque()
        lock.withLock {
            guard let key = session.cacheKey?.base as? Key, open[key]?.toOpaque() == address else {
                return
            }
            open[key] = nil
        }
    }

    /// The open realm, or a new one.
    static func open(
        _ configuration: Realm.Configuration, _ confinement: Confinement
    ) throws -> _RealmSession {
        try configuration.check()
        let path = try configuration.path()
        let key = Key(path: path, confinement: confinement.id)
        if let known = find(key), !known.core.isClosed {
            try known.configuration.check(opensSame: configuration)
            return known
        }
        let infos = try configuration.infos()
        let core = try openEngine(configuration, path, confinement, infos)
        let session = _RealmSession(core, configuration, confinement, infos)
        session.followSchema()
        session.cacheKey = key
        lock.withLock { open[key] = Unmanaged.passUnretained(session) }
        return session
    }

    /// Whether any realm of the file is open here.
    static func isOpen(_ path: String) -> Bool {
        let keys = lock.withLock { open.keys.filter { $0.path == path } }
        return keys.contains { find($0).map { !$0.core.isClosed } ?? false }
    }

    private static func openEngine(
        _ configuration: Realm.Configuration, _ path: String, _ confinement: Confinement,
        _ infos: [ClassInfo]
    ) throws -> EngineRealm {
        configuration.makeFolder()
        try configuration.copySeed(to: path)
        let migration = MigrationRun(configuration, infos)
        let wanted = configuration.engineConfiguration(path, confinement, infos, migration)
        do throws(RealmError) {
            return try EngineRealm.open(wanted)
        } catch {
            migration.end()
            guard configuration.deleteRealmIfMigrationNeeded, error.code == .schemaMismatch else {
                throw Realm.Error(error, path: path)
            }
        }
        return try asRealmError(path) { () throws(RealmError) in
            _ = try EngineRealm.deleteFiles(path)
            return try EngineRealm.open(wanted)
        }
    }
}
