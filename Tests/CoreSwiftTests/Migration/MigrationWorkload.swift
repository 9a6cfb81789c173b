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

        init(_ realm: Realm, isChecked: Bool) {
            self.realm = realm
            self.isChecked = isChecked
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
            case .schema(let model, let steps): try realm.updateSchema(model.request(steps))
            case .objects(let model, let operations):
                try realm.write { try model.run(operations, realm) }
            }
        }

        func close() throws { realm.close() }
    }

    var isChecked = true
    /// Small, as hundreds of images of it are compared.
    var emptyModel: SchemaHistory {
        var history = SchemaHistory()
        history.many = 100
        return history
    }

    func open(_ path: String, _ files: FileSystem) throws -> Session {
        let realm = try Realm.open(Configuration(path: path), files: files)
        do { try realm.beginRead() } catch {
            realm.close()
            throw error
        }
        return Session(realm, isChecked: isChecked)
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
