// The door of changes: what a listener hears is all that happens.

import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite struct ChangeDoorTests {
    /// Every kind of property, with indexes and without.
    static var schema: Schema {
        var indexed = CreationSchema.all
        indexed.name = "Indexed"
        let types: Set<PropertyType> = [.int, .bool, .string, .timestamp, .objectId, .uuid]
        for index in indexed.properties.indices
        where types.contains(indexed.properties[index].type)
            && indexed.properties[index].collection == .none
            && !indexed.properties[index].isPrimaryKey
        {
            indexed.properties[index].flags.insert(
                indexed.properties[index].name == "stringN" ? .fullTextIndexed : .indexed)
        }
        return Schema(CreationSchema.schema.classes + [indexed])
    }

    private func open(_ directory: TemporaryDirectory) throws -> Realm {
        try Realm.open(TestSchema.configuration(directory.file(), Self.schema))
    }

    @Test func `replaying what was heard of random programs gives the stored data`() throws {
        for item in Campaign("door of changes", seconds: 4, atLeast: 4) {
            try replays(seed: item.seed)
        }
    }

    private func replays(seed: UInt64) throws {
        let directory = TemporaryDirectory()
        let realm = try open(directory)
        var program = RandomProgram(realm, seed: seed)
        var model = try ReplayModel(try realm.readTables())
        let recorder = ChangeRecorder()
        for transaction in 0..<12 {
            try realm.beginWrite()
            let tables = try realm.tablesForWriting()
            let before = model
            if program.random.below(3) == 0 {
                // Fast paths first, and a listener that comes later.
                for _ in 0..<program.random.below(60) {
                    try program.step()
                    try tables.checkInvariants()
                }
                try tables.add(recorder)
                model = try ReplayModel(tables)
            } else {
                try tables.add(recorder)
            }
            for _ in 0..<(20 + program.random.below(200)) {
                try program.step()
                if program.random.below(8) == 0 { try tables.checkInvariants() }
                if program.random.below(30) == 0 { try takesBack(realm, &program) }
                guard program.random.below(60) == 0 else { continue }
                try tables.tellCreated()
                for change in recorder.takeHeard() { try model.replay(change) }
                let stored = try ReplayModel(tables)
                #expect(stored == model, "\(stored.differences(model))")
            }
            if program.random.below(5) == 0 {
                try realm.rollback()
                _ = recorder.takeHeard()
                model = before
            } else {
                try realm.commit()
                for change in recorder.takeHeard() { try model.replay(change) }
            }
            try tables.checkInvariants()
            let stored = try ReplayModel(try realm.readTables())
            try #require(
                stored == model,
                "seed \(seed), transaction \(transaction): \(stored.differences(model))")
        }
        #expect(recorder.derivedCount > 0)
        #expect(try realm.check() == [])
    }

    /// Changes that are undone at once, which listeners hear both ways.
    private func takesBack(_ realm: Realm, _ program: inout RandomProgram) throws {
        let savepoint = try realm.savepoint()
        for _ in 0..<(1 + program.random.below(12)) { try program.step() }
        try realm.rollback(to: savepoint)
        try realm.release(savepoint)
    }

    @Test func `objects created in a row are told as one range, with the values they got`() throws {
        let directory = TemporaryDirectory()
        let realm = try open(directory)
        let recorder = ChangeRecorder()
        try realm.write {
            let tables = try realm.tablesForWriting()
            try tables.add(recorder)
            for number in 0..<5000 {
                let leaf = try realm.create("Leaf", ["text": .string("leaf \(number)")])
                _ = leaf
            }
            _ = try realm.create("Node", primaryKey: .string("n"))
        }
        #expect(recorder.ranges == [0...4999, 0...0])
        #expect(recorder.heard.count == 5001)
    }

    @Test func `a collection that is given as a whole is told as assigned`() throws {
        let directory = TemporaryDirectory()
        let realm = try open(directory)
        let recorder = ChangeRecorder()
        try realm.write {
            let node = try realm.create("Node", json: #"{"name":"a","anys":[1,2],"any":[1]}"#)
            try realm.tablesForWriting().add(recorder)
            _ = try realm.create(
                "Node", json: #"{"name":"a","anys":[3],"any":[4]}"#, update: .all)
            #expect(recorder.assignedCount == 2)
            try node.collection("anys").removeAll()
        }
        #expect(recorder.assignedCount == 2)
    }

    @Test func `several listeners hear the same, each from when it came until it went`() throws {
        let directory = TemporaryDirectory()
        let realm = try open(directory)
        let first = ChangeRecorder()
        let second = ChangeRecorder()
        try realm.write {
            let tables = try realm.tablesForWriting()
            let node = try realm.create("Node", primaryKey: .string("n"))
            try tables.add(first)
            try node.set("weight", .double(1))
            try tables.add(second)
            try node.set("weight", .double(2))
            try tables.remove(first)
            try node.set("weight", .double(3))
            try tables.remove(second)
            try node.set("weight", .double(4))
        }
        #expect(first.count == 2)
        #expect(second.count == 2)
        #expect(try realm.find("Node", primaryKey: .string("n"))?.get("weight") == .double(4))
    }

    @Test func `a transaction that only reads collections has nothing to commit`() throws {
        let directory = TemporaryDirectory()
        let realm = try open(directory)
        try realm.write {
            let node = try realm.create("Node", primaryKey: .string("n"))
            let list = try node.collection("anys")
            for number in 0..<3000 { try list.insert(.int(Int64(number)), at: number) }
        }
        try realm.beginWrite()
        let node = try #require(try realm.find("Node", primaryKey: .string("n")))
        #expect(try node.collection("anys").get(2999).intValue == 2999)
        let table = try #require(try realm.tablesForWriting().table(node.handle.classKey))
        #expect(!table.state.openCollections.isEmpty)
        #expect(!table.state.changes.isDirty)
        try realm.tablesForWriting().settle()
        #expect(!table.state.changes.isDirty)
        try node.collection("anys").set(.int(1), at: 0)
        #expect(table.state.changes.isDirty)
        try realm.commit()
        #expect(try node.collection("anys").get(0).intValue == 1)
    }
}
