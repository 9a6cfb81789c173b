// Histories of schemas for the crash and fault campaigns: each commit is a migration or a change of
// objects.

@testable import CoreSwift

struct MigrationWorkload: CrashWorkload {
    enum Change {
        case schema(SchemaHistory, [SchemaHistory.Step])
        case objects(SchemaHistory, [SchemaHistory.Operation])
    }

    final class Session: CrashSession {
        let realm: Realm
        let isChecked: Bool
        private let evicted: EvictedBytes

        init(_ realm: Realm, isChecked: Bool, _ evicted: EvictedBytes) {
            self.realm = realm
            self.isChecked = isChecked
            self.evicted = evicted
        }

        var version: UInt64 { realm.version ?? 0 }

        func verify(_ model: SchemaHistory) throws {
            try model.verify(realm)
            guard isChecked else { return }
            let problems = try realm.check()
            guard problems.isEmpty else {
                throw ToyFailure(description: problems.joined(separator: "; "))
            }
        }

        func commit(_ change: Change) throws {
            switch change {
            case .schema(let model, let steps):
                let before = evictedSoFar
                defer { evicted.count += evictedSoFar - before }
                try realm.updateSchema(model.request(steps))
            case .objects(let model, let operations):
                try realm.write { try model.run(operations, realm) }
            }
        }

        private var evictedSoFar: Int {
            realm.file.store.mapping.cleartext?.statistics?.evictedBytes ?? 0
        }

        func close() throws { realm.close() }
    }

    var isChecked = true
    /// The file is swept, its space map has all shapes, and of an encrypted one eight pages are kept
    /// decrypted: a migration evicts what it reads and finds it again.
    var isTiny = false
    var key: [UInt8] = []
    /// Bytes that migrations evicted, in all sessions.
    let evicted = EvictedBytes()

    final class EvictedBytes {
        var count = 0
    }

    /// Small, as hundreds of images of it are compared.
    var emptyModel: SchemaHistory {
        var history = SchemaHistory()
        history.many = 100
        return history
    }

    func open(_ path: String, _ files: FileSystem) throws -> Session {
        var configuration = Configuration(path: path)
        configuration.encryptionKey = key
        if isTiny {
            configuration.spaceLimits = .tiny
            configuration.decryptedBytesMin = 8 * Page.size
            configuration.decryptedBytesMax = 8 * Page.size
        }
        let realm = try Realm.open(configuration, files: files)
        do { try realm.beginRead() } catch {
            realm.close()
            throw error
        }
        return Session(realm, isChecked: isChecked, evicted)
    }

    mutating func plan(
        _ model: SchemaHistory, _ random: inout Random
    ) -> (change: Change, result: SchemaHistory) {
        var result = model
        if model.owners.isEmpty || random.below(2) == 0 {
            let steps = result.changeSchema(&random)
            return (.schema(result, steps), result)
        }
        let operations = result.changeObjects(&random)
        return (.objects(result, operations), result)
    }
}

extension MigrationWorkload {
    static func crashImages(_ campaign: Campaign) -> String? {
        CrashCampaign.run(campaign) { _ in MigrationWorkload() }
    }

    /// How many images were examined.
    func crashImages(seed: UInt64, imagesPerEvent: Int) throws -> Int {
        try CrashCampaign(seed: seed, imagesPerEvent: imagesPerEvent) { _ in self }.run()
    }
}
