import Testing

@testable import CoreSwift
@testable import TestSupport

/// Files that are used at random give space back by and by, without a call.
@Suite struct SweepTests {
    private let directory = TemporaryDirectory()

    private func pages(_ realm: Realm) throws -> (file: Int, copy: Int) {
        let path = directory.file("copy.realm")
        _ = try Realm.deleteFiles(path)
        try realm.writeCopy(to: path)
        let copy = try Store.open(path: path, options: StoreOptions(), files: SystemCalls.shared)
        defer { try? copy.close() }
        return (try realm.file.store.statistics().filePages, try copy.statistics().filePages)
    }

    @Test func `swept files hold what they held, and are small`() throws {
        let campaign = Campaign("sweeps", seconds: 2, atLeast: 2)
        var moved = 0
        for item in campaign {
            var random = Random(item.seed)
            var workload = ObjectWorkload(&random, spaceLimits: .tiny)
            workload.keepsLog = random.below(3) == 0
            let path = directory.file("\(item.number).realm")
            var session = try workload.open(path, SystemCalls.shared)
            var model = workload.emptyModel
            for step in 1...160 {
                let (change, result) = workload.plan(model, &random)
                if !(change.first?.isCompaction ?? false) {
                    try session.commit(change)
                    model = result
                }
                if step % 40 == 0 {
                    try session.verify(model)
                    moved += session.realm.file.store.sweep.movedPages
                    try session.close()
                    session = try workload.open(path, SystemCalls.shared)
                }
            }
            try session.close()
            _ = try Realm.deleteFiles(path)
        }
        print("sweeps: \(moved) pages moved")
        #expect(moved > 0)
    }

    private static let schema = Schema([
        ClassSchema(
            "Thing",
            properties: [
                PropertySchema("name", .string, flags: [.indexed]),
                PropertySchema("data", .binary),
                PropertySchema("numbers", .int, collection: .list),
                PropertySchema("anything", .mixed, flags: [.nullable]),
            ])
    ])

    private func open(_ name: String, key: [UInt8] = []) throws -> Realm {
        var configuration = Configuration(path: directory.file(name))
        configuration.schema = Self.schema
        configuration.schemaVersion = 1
        configuration.encryptionKey = key
        return try Realm.open(configuration)
    }

    /// Blocks of every kind stand behind those that are deleted; small commits bring them forward.
    @Test(arguments: [false, true])
    func `small commits give back what a large deletion left`(isEncrypted: Bool) throws {
        let key = isEncrypted ? [UInt8](repeating: 7, count: 64) : []
        let realm = try open("large.realm", key: key)
        let observer = try open("large.realm", key: key)
        let thingKey = realm.schema.classes[0].key
        try realm.beginWrite()
        var things: [DynamicObject] = []
        for number in 0..<3000 {
            let thing = try realm.create("Thing", ["name": .string("thing \(number)")])
            let count = number % 40 == 0 ? 30_000 : 500
            try thing.set("data", .binary([UInt8](repeating: UInt8(number % 251), count: count)))
            let numbers = try thing.collection("numbers")
            for value in 0..<(number % 500 == 0 ? 4000 : 2) {
                try numbers.insert(.int(Int64(number + value)), at: value)
            }
            things.append(thing)
        }
        try realm.commit()
        let full = try realm.file.store.statistics().filePages
        let frozen = try realm.freeze()
        try realm.beginWrite()
        for thing in things[..<2600] { try thing.delete() }
        let kept = Array(things[2600...])
        try realm.commit()
        for number in 0..<60 {
            try realm.beginWrite()
            try kept[number].set("data", .binary([1, UInt8(number)]))
            try realm.commit()
        }
        // The frozen realm holds them.
        #expect(try realm.file.store.statistics().filePages >= full)
        #expect(try frozen.objectCount(thingKey) == 3000)
        frozen.close()
        // One that only looks keeps nothing for long.
        for number in 60..<300 {
            try realm.beginWrite()
            try kept[number % 400].set("data", .binary([2, UInt8(number % 251)]))
            try realm.commit()
            if number % 20 == 0 { _ = try observer.refresh() }
        }
        _ = try observer.refresh()
        let size = try pages(realm)
        print("swept: \(full) pages, then \(size.file), a copy \(size.copy)")
        #expect(Double(size.file) < 1.5 * Double(size.copy) + 64)
        #expect(try observer.objectCount(thingKey) == 400)
        #expect(try realm.check().isEmpty)
        for (number, thing) in kept.enumerated() where number % 100 == 0 {
            let count = (2600 + number) % 500 == 0 ? 4000 : 2
            #expect(try thing.collection("numbers").count() == count)
        }
    }
}
