// Values that the change log leaves out: where who reads it finds them. Random programs are in
// `ChangeLogTests`, forged files in `HostileForge`.

import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite struct UnwrittenValuesTests {
    /// While nobody touches objects that a large transaction created, their values are those of the version that is
    /// read; who touches one writes those of before.
    @Test func `the log of large transactions has the values that it left out`() throws {
        let directory = TemporaryDirectory()
        var configuration = TestSchema.configuration(directory.file(), ChangeDoorTests.schema)
        configuration.unwrittenObjectsMin = 200
        let realm = try Realm.open(configuration)
        try realm.write { try realm.addLogConsumer("audit") }
        let start = try #require(realm.version)
        var models: [UInt64: ReplayModel] = [start: try ReplayModel(realm.readTables())]
        func commit(_ body: (TableSet) throws -> Void) throws {
            try realm.write { try body(try realm.tablesForWriting()) }
            models[try #require(realm.version)] = try ReplayModel(realm.readTables())
        }
        func verify() throws {
            let tables = try realm.readTables()
            let log = try #require(ChangeLog(tables))
            for (version, expected) in models where version >= log.oldest {
                var model = try #require(models[log.oldest])
                var operations = try #require(try log.changes(from: log.oldest, to: version))
                while let operation = try operations.next() { try model.apply(operation, tables) }
                #expect(model == expected, "\(version)")
            }
            #expect(try realm.check() == [])
        }
        func unwritten() throws -> [UnwrittenObjects] {
            try realm.readTables().catalog.log?.unwritten ?? []
        }
        var program = RandomProgram(realm, seed: 11)
        // Many of a class at once, with values of all kinds.
        func createMany() throws {
            try realm.beginWrite()
            let item = try #require(
                ChangeDoorTests.schema.classes.first {
                    $0.kind == .topLevel && $0.primaryKeyProperty == nil
                })
            let key = try #require(realm.schema.class_(named: item.name)).key
            for _ in 0..<500 { try realm.createObject(key).release() }
            for _ in 0..<200 { try program.step() }
            try realm.commit()
            models[try #require(realm.version)] = try ReplayModel(realm.readTables())
        }
        try createMany()
        let first = try unwritten()
        try #require(!first.isEmpty)
        let sent = try realm.changes(from: start)
        let classKey = first[0].classKey
        let keys = first[0].keys.keys
        try verify()
        // One that is touched has its values of before in the log of that.
        try commit { tables in
            let table = try #require(tables.table(classKey))
            try table.deleteRow(keys[50], isOwned: table.isEmbedded)
        }
        #expect(try unwritten().first?.keys.contains(keys[50]) == false)
        #expect(try unwritten().first?.keys.contains(keys[51]) == true)
        try verify()
        // Too many pieces: the shortest are written.
        try commit { tables in
            let table = try #require(tables.table(classKey))
            for index in stride(from: 0, to: keys.count, by: 2) where index != 50 {
                if try table.find(keys[index]) != nil {
                    try table.deleteRow(keys[index], isOwned: table.isEmbedded)
                }
            }
        }
        #expect(try unwritten().runs == UnwrittenObjects.touchedRunsMax)
        try verify()
        try createMany()
        #expect(try !unwritten().isEmpty)
        try verify()
        // Opened again, the file says the same; bytes that were made in between do, too.
        let path = directory.file("mirror.realm")
        let mirror = try Realm.open(TestSchema.configuration(path, ChangeDoorTests.schema))
        try mirror.write { try mirror.apply(changes: sent, origin: 1) }
        let sentVersion = try #require(models.keys.sorted().dropFirst().first)
        #expect(try ReplayModel(mirror.readTables()) == models[sentVersion])
        mirror.close()
        try realm.write { try realm.acknowledgeLog("audit", try #require(realm.version) - 1) }
        #expect(try unwritten().allSatisfy { $0.version >= realm.version! - 1 })
        try realm.write { try realm.removeLogConsumer("audit") }
        #expect(try unwritten().isEmpty)
        #expect(try realm.check() == [])
        realm.close()
    }

    /// What a version did to objects that the one before created, and what the log then says of these.
    @Test func `values of few bytes are told when they are set`() throws {
        let directory = TemporaryDirectory()
        let item = ClassSchema(
            "Item",
            properties: [
                PropertySchema("number", .int),
                PropertySchema("other", .int, flags: [.nullable]), PropertySchema("none", .int),
                PropertySchema("weight", .double), PropertySchema("name", .string),
                PropertySchema("next", .object, linkTarget: "Item", flags: [.nullable]),
            ])
        let realm = try Realm.open(TestSchema.configuration(directory.file(), Schema([item])))
        let path = directory.file("mirror.realm")
        let mirror = try Realm.open(TestSchema.configuration(path, Schema([item])))
        try realm.write { try realm.addLogConsumer("audit") }
        let start = try #require(realm.version)
        var models: [UInt64: ReplayModel] = [start: try ReplayModel(realm.readTables())]
        func commit(_ body: () throws -> Void) throws {
            try realm.write(body)
            models[try #require(realm.version)] = try ReplayModel(realm.readTables())
        }
        let number = try #require(realm.schema.class_(named: "Item")?.property(named: "number")).key
        var items: [DynamicObject] = []
        func load() throws {
            try commit {
                for number in 0..<300 {
                    let item = try realm.create(
                        "Item",
                        [
                            "number": .int(Int64(number)), "name": .string("name \(number)"),
                            // Zero is another value than that of a new object.
                            "other": number % 3 == 0 ? .null : .int(Int64(number % 3 - 1) << 40),
                            "weight": .double(Double(number)),
                        ])
                    if number % 2 == 1, let last = items.last {
                        try item.set("next", .link(last.link))
                    }
                    items.append(item)
                }
            }
        }
        func isLeftOut(_ index: Int) throws -> Bool {
            try realm.readTables().catalog.log?.unwritten.contains {
                $0.keys.contains(items[index].key)
            } == true
        }
        func verify() throws {
            let tables = try realm.readTables()
            let log = try #require(ChangeLog(tables))
            for (version, expected) in models {
                for from in [start, version - 1] {
                    guard var model = models[from] else { continue }
                    var operations = try #require(try log.changes(from: from, to: version))
                    while let operation = try operations.next() {
                        try model.apply(operation, tables)
                    }
                    #expect(model == expected, "\(from) to \(version)")
                }
            }
            #expect(try realm.check() == [])
        }
        try load()
        try commit { try items[5].set("number", .int(-5)) }
        try commit { try items[5].set("number", .int(-55)) }
        #expect(try isLeftOut(5))
        try commit {
            try items[5].set("other", .int(7))
            try items[6].handle.addInt(number, 1000)
            try items[7].set("next", .null)
            try items[10].set("other", .null)
            try items[12].set("none", .int(1))
        }
        try verify()
        try commit { for index in 3..<30 { try items[index].set("weight", .double(-1)) } }
        try verify()
        // The link of 9 to it is nulled.
        try commit { try items[8].delete() }
        #expect(try !isLeftOut(8) && isLeftOut(9))
        try verify()
        // A text: the whole object is written once, and numbers no more.
        try commit { try items[5].set("name", .string("five")) }
        #expect(try !isLeftOut(5))
        try commit { try items[5].set("number", .int(5)) }
        try commit {
            try items[6].set("name", .string("six"))
            try items[6].set("number", .int(6))
            try items[10].set("number", .int(10_000))
        }
        #expect(try !isLeftOut(6) && isLeftOut(10))
        try verify()
        try load()
        // Here and there: of many runs the longest stay.
        try commit {
            for index in stride(from: 301, to: 590, by: 2) {
                try items[index].set("name", .string(""))
            }
        }
        let left = try #require(try realm.readTables().catalog.log?.unwritten)
        #expect(left.runs == UnwrittenObjects.touchedRunsMax)
        #expect(try isLeftOut(595) && isLeftOut(200))
        try commit { for index in 300..<600 { try items[index].set("number", .int(1)) } }
        try verify()
        let changes = try realm.changes(from: start)
        try mirror.write { try mirror.apply(changes: changes, origin: 1) }
        #expect(try ReplayModel(mirror.readTables()) == models[try #require(realm.version)])
        realm.close()
        mirror.close()
    }

    /// Two objects with the same key, one after the other, both left out: what happens to the second one says nothing
    /// of the first.
    @Test func `a key that is used again is another object`() throws {
        let directory = TemporaryDirectory()
        let item = ClassSchema(
            "Item", primaryKey: "id",
            properties: [
                PropertySchema("id", .int, flags: [.primaryKey]), PropertySchema("number", .int),
            ])
        let realm = try Realm.open(TestSchema.configuration(directory.file(), Schema([item])))
        try realm.write { try realm.addLogConsumer("audit") }
        let start = try #require(realm.version)
        let before = try ReplayModel(realm.readTables())
        func load(_ ids: Range<Int64>, _ number: Int64) throws {
            try realm.write {
                for id in ids {
                    _ = try realm.create("Item", primaryKey: .int(id), ["number": .int(number)])
                }
            }
        }
        func object(_ id: Int64) throws -> DynamicObject {
            try #require(try realm.find("Item", primaryKey: .int(id)))
        }
        try load(0..<300, 1)
        let loaded = try #require(realm.version)
        let model = try ReplayModel(realm.readTables())
        try realm.write {
            for id in 10..<20 { try object(Int64(id)).set("number", .int(2)) }
        }
        try realm.write { for id in 0..<300 { try object(Int64(id)).delete() } }
        try load(0..<300, 3)
        let again = try #require(realm.version)
        let reloaded = try ReplayModel(realm.readTables())
        try realm.write { for id in 0..<300 { try object(Int64(id)).set("number", .int(4)) } }
        let newest = try #require(realm.version)
        let last = try ReplayModel(realm.readTables())
        for (to, expected) in [(loaded, model), (again, reloaded), (newest, last)] {
            let tables = try realm.readTables()
            var replayed = before
            var operations = try #require(try ChangeLog(tables)?.changes(from: start, to: to))
            while let operation = try operations.next() { try replayed.apply(operation, tables) }
            #expect(replayed == expected)
        }
        #expect(try realm.check() == [])
        realm.close()
    }

    /// A change of the schema writes the values of all; those that were told before stand.
    @Test func `what was told of values outlasts a change of the schema`() throws {
        let directory = TemporaryDirectory()
        var item = ClassSchema(
            "Item", properties: [PropertySchema("number", .int), PropertySchema("other", .int)])
        let path = directory.file()
        let realm = try Realm.open(TestSchema.configuration(path, Schema([item])))
        try realm.write { try realm.addLogConsumer("audit") }
        let start = try #require(realm.version)
        var items: [DynamicObject] = []
        try realm.write {
            for number in 1...300 {
                items.append(
                    try realm.create(
                        "Item", ["number": .int(Int64(number)), "other": .int(Int64(-number))]))
            }
        }
        let loaded = try #require(realm.version)
        try realm.write { for index in 10..<20 { try items[index].set("number", .int(0)) } }
        try realm.write { for index in 15..<25 { try items[index].set("number", .int(99)) } }
        try realm.write { try items[16].delete() }
        realm.close()
        item.properties.append(PropertySchema("more", .int))
        let later = try Realm.open(TestSchema.configuration(path, Schema([item]), version: 2))
        #expect(try later.readTables().catalog.log?.unwritten == [])
        let log = try #require(ChangeLog(try later.readTables()))
        var operations = try #require(try log.changes(from: start, to: loaded))
        var values: [[Int64: Int64]] = [[:], [:]]
        while let operation = try operations.next() {
            guard case .initial(_, let key, let column, let value) = operation else { continue }
            let known = values[column].updateValue(
                try value.scalar().intValue, forKey: key.rawValue)
            #expect(known == nil)
        }
        #expect(values.map(\.count) == [300, 300])
        for (key, number) in values[0] { #expect(values[1][key] == -number) }
        #expect(values[0].values.sorted() == Array(1...300))
        #expect(try later.check() == [])
        later.close()
    }

    /// Who wants to be notified has the log kept as well, and it still leaves the values out.
    @Test func `values stay where the log finds them when the last consumer goes`() throws {
        let directory = TemporaryDirectory()
        let item = ClassSchema("Item", properties: [PropertySchema("number", .int)])
        let realm = try Realm.open(
            TestSchema.configuration(directory.file(), Schema([item])))
        try realm.write { try realm.addLogConsumer("audit") }
        let start = try #require(realm.version)
        let before = try ReplayModel(realm.readTables())
        let need = try LogNeed(realm.file.store, from: start)
        var created: [DynamicObject] = []
        try realm.write {
            for number in 1...300 {
                created.append(try realm.create("Item", ["number": .int(Int64(number))]))
            }
        }
        let loaded = try #require(realm.version)
        let model = try ReplayModel(realm.readTables())
        try realm.write { try realm.removeLogConsumer("audit") }
        try realm.write { try created[0].set("number", .int(-5)) }
        try realm.write { try created[1].delete() }
        func replayed() throws -> ReplayModel {
            let tables = try realm.readTables()
            let log = try #require(ChangeLog(tables))
            var replayed = before
            var operations = try #require(try log.changes(from: start, to: loaded))
            while let operation = try operations.next() { try replayed.apply(operation, tables) }
            return replayed
        }
        #expect(try replayed() == model)
        #expect(try realm.check() == [])
        need.end()
        try realm.write { try created[2].set("number", .int(7)) }
        #expect(try realm.readTables().catalog.log == nil)
        realm.close()
    }

    /// Keys as a forged record may have them.
    @Test func `the greatest keys are an error and end nothing`() throws {
        let greatest = ObjectKey(rawValue: .max)
        for first in [Int64.max - 10, .max, 0] {
            let keys = KeyRanges(ranges: [ObjectKey(rawValue: first)...greatest])
            var cursor = UnwrittenValues(nil).cursor(3, ClassKey(rawValue: 1), keys)
            #expect(throws: RealmError.self) { try cursor.next() }
        }
    }
}
