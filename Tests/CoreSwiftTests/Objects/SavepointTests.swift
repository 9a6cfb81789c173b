// Savepoints: what is taken back is as it was, for readers, handles and links.

import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite struct SavepointTests {
    private let directory = TemporaryDirectory()

    private func open() throws -> Realm {
        try Realm.open(TestSchema.configuration(directory.file(), ChangeDoorTests.schema))
    }

    // MARK: Random programs

    /// Savepoints in savepoints, of which some are rolled back to and some released.
    @Test func `what random programs changed since a savepoint is taken back`() throws {
        for item in Campaign("savepoints", seconds: 3, atLeast: 12) {
            try takesBack(seed: item.seed)
        }
    }

    private func takesBack(seed: UInt64) throws {
        let directory = TemporaryDirectory()
        let realm = try Realm.open(
            TestSchema.configuration(directory.file(), ChangeDoorTests.schema))
        var program = RandomProgram(realm, seed: seed)
        for transaction in 0..<6 {
            try realm.beginWrite()
            let tables = try realm.tablesForWriting()
            var standing: [(savepoint: Savepoint, model: ReplayModel)] = []
            for step in 0..<(40 + program.random.below(160)) {
                switch program.random.below(14) {
                case 0 where standing.count < 5:
                    standing.append((try realm.savepoint(), try ReplayModel(tables)))
                case 1 where !standing.isEmpty:
                    let index = program.random.below(standing.count)
                    try realm.rollback(to: standing[index].savepoint)
                    standing.removeSubrange((index + 1)...)
                    let stored = try ReplayModel(tables)
                    try #require(
                        stored == standing[index].model,
                        """
                        seed \(seed), transaction \(transaction), step \(step): \
                        \(stored.differences(standing[index].model))
                        """)
                case 2 where !standing.isEmpty:
                    let index = program.random.below(standing.count)
                    try realm.release(standing[index].savepoint)
                    standing.removeSubrange(index...)
                default: try program.step()
                }
            }
            if let first = standing.first, program.random.below(2) == 0 {
                try realm.rollback(to: first.savepoint)
                #expect(try ReplayModel(tables) == first.model)
            }
            if program.random.below(4) == 0 { try realm.rollback() } else { try realm.commit() }
            let problems = try realm.check()
            try #require(problems.isEmpty, "seed \(seed), transaction \(transaction): \(problems)")
        }
    }

    // MARK: Identities

    private func append(_ object: DynamicObject, to list: RealmCollection) throws {
        try Value.link(object.link).withRaw { raw throws(RealmError) in
            try list.insert(raw, at: try list.count())
        }
    }

    @Test func `deleted objects come back with keys, owned objects and links to them`() throws {
        let realm = try open()
        try realm.write {
            let leaf = try realm.create("Leaf", ["text": .string("leaf")])
            let other = try realm.create("Leaf", ["text": .string("other")])
            let node = try realm.create(
                "Node",
                json: """
                    {"name": "n", "part": {"label": "l", "screw": {"turns": 2}},
                     "parts": [{"label": "a"}, {"label": "b"}]}
                    """)
            try leaf.set("node", .link(node.link))
            let list = try other.collection("leaves")
            for target in [other, leaf, other, leaf, leaf] { try append(target, to: list) }
            let before = try [node, leaf, other].map { try $0.handle.json() }
            let key = leaf.handle.objectKey
            let part = try #require(try node.linked("part"))
            let screw = try #require(try part.linked("screw"))
            let second = try #require(try node.collection("parts").object(1))
            defer { second.release() }

            let savepoint = try realm.savepoint()
            for _ in 0..<2 {
                try leaf.delete()
                try node.delete()
                #expect(!leaf.isValid && !node.isValid && !screw.isValid && !second.isValid)
                #expect(try list.count() == 2)
                try realm.rollback(to: savepoint)
                #expect(leaf.isValid && node.isValid && part.isValid && screw.isValid)
                #expect(second.isValid)
                #expect(leaf.handle.objectKey == key)
                #expect(try [node, leaf, other].map { try $0.handle.json() } == before)
                #expect(try list.count() == 5)
                #expect(try list.get(3).linkTarget == key)
                #expect(try realm.find("Node", primaryKey: .string("n"))?.link == node.link)
            }
            try realm.release(savepoint)
        }
        #expect(try realm.check() == [])
    }

    @Test func `embedded objects that were replaced are those of before`() throws {
        let realm = try open()
        try realm.write {
            let node = try realm.create(
                "Node",
                json: #"{"name": "n", "part": {"label": "l"}, "partMap": {"k": {"label": "m"}}}"#)
            let part = try #require(try node.linked("part"))
            let before = try node.handle.json()
            let savepoint = try realm.savepoint()
            _ = try realm.create(
                "Node",
                json: #"{"name": "n", "part": {"label": "x"}, "partMap": {"k": {"label": "y"}}}"#,
                update: .all)
            #expect(!part.isValid)
            #expect(try realm.count("Part") == 2)
            try realm.rollback(to: savepoint)
            #expect(part.isValid)
            #expect(try node.handle.json() == before)
            #expect(try realm.count("Part") == 2)
        }
        #expect(try realm.check() == [])
    }

    @Test func `handles of nested collections follow them back`() throws {
        let realm = try open()
        try realm.write {
            let node = try realm.create(
                "Node", json: #"{"name": "n", "anys": [1, [2, {"k": [3]}]], "any": {"a": [1]}}"#)
            let list = try node.collection("anys")
            let inner = try list.nested(1, .list)
            let dictionary = try inner.nested(1, .dictionary)
            let any = try node.handle.collection(
                try #require(realm.schema.class_(named: "Node")?.property(named: "any")).key,
                .dictionary)
            let before = try node.handle.json()
            let savepoint = try realm.savepoint()
            try inner.remove(at: 0)
            try list.set(.int(5), at: 1)
            try node.set("any", .int(1))
            #expect(!inner.isValid && !dictionary.isValid && !any.isValid)
            try realm.rollback(to: savepoint)
            #expect(inner.isValid && dictionary.isValid && any.isValid)
            #expect(try inner.count() == 2)
            #expect(try dictionary.count() == 1)
            try inner.move(from: 0, to: 1)
            try realm.rollback(to: savepoint)
            try list.removeAll()
            try realm.rollback(to: savepoint)
            #expect(inner.isValid && dictionary.isValid)
            #expect(try node.handle.json() == before)
        }
        #expect(try realm.check() == [])
    }

    @Test func `created objects are gone, and their keys can be given again`() throws {
        let realm = try open()
        try realm.write {
            let savepoint = try realm.savepoint()
            let all = try realm.create(
                "All", json: #"{"id": 5, "intL": [1, 2], "stringD": {"k": "v"}}"#)
            let node = try realm.create("Node", json: #"{"name": "n", "next": {"name": "m"}}"#)
            try realm.rollback(to: savepoint)
            #expect(!all.isValid && !node.isValid)
            for name in ["All", "Node"] { #expect(try realm.count(name) == 0) }
            _ = try realm.create("Node", json: #"{"name": "m"}"#)
            _ = try realm.create("All", json: #"{"id": 5}"#)
            try realm.release(savepoint)
        }
        #expect(try realm.count("Node") == 1)
        #expect(try realm.check() == [])
    }

    // MARK: What a savepoint costs, and its end

    @Test func `a savepoint among many objects keeps what changed since, and no more`() throws {
        let realm = try open()
        try realm.beginWrite()
        for number in 0..<20_000 {
            let key = try #require(realm.schema.class_(named: "Leaf")).key
            try realm.createObject(key).release()
            if number == 10_000 { #expect(try realm.tablesForWriting().journal == nil) }
        }
        let savepoint = try realm.savepoint()
        for number in 0..<3 {
            _ = try realm.create("Leaf", ["text": .string("\(number)")])
        }
        _ = try realm.create("Node", primaryKey: .string("n"))
        let tables = try realm.tablesForWriting()
        try tables.tellCreated()
        #expect(try #require(tables.journal).steps.count <= 7)
        try realm.rollback(to: savepoint)
        #expect(try realm.count("Leaf") == 20_000)
        try realm.release(savepoint)
        #expect(tables.journal == nil)
        try realm.commit()
        #expect(try realm.check() == [])
    }

    /// A step that brings back the whole of something is the only one for it.
    @Test func `what comes after a creation or an assignment needs no steps`() throws {
        let realm = try open()
        try realm.beginWrite()
        let old = try realm.create("Node", json: #"{"name": "old", "anys": [1, [2]]}"#)
        let tables = try realm.tablesForWriting()
        let before = try ReplayModel(tables)
        let savepoint = try realm.savepoint()
        func steps() throws -> Int {
            try tables.tellCreated()
            return try #require(tables.journal).steps.count
        }
        let list = try old.collection("anys")
        try list.removeAll()
        for number in 0..<50 { try list.insert(.int(Int64(number)), at: number / 2) }
        #expect(try steps() == 1)
        let new = try realm.create("Node", primaryKey: .string("new"))
        let leaf = try realm.create("Leaf", ["text": .string("leaf")])
        #expect(try steps() == 3)
        try new.set("any", .link(leaf.link))
        try append(leaf, to: try leaf.collection("leaves"))
        try leaf.set("text", .string("other"))
        for number in 0..<5 { try old.set("count", .int(Int64(number))) }
        #expect(try steps() == 4)
        // Another savepoint needs all again.
        let inner = try realm.savepoint()
        try list.remove(at: 3)
        try new.set("any", .int(1))
        #expect(try steps() == 6)
        try realm.release(inner)
        try list.remove(at: 3)
        #expect(try steps() == 7)
        try realm.rollback(to: savepoint)
        #expect(try ReplayModel(tables) == before)
        try realm.rollback()
    }

    /// That a list was cleared says nothing of the list around it.
    @Test func `what is cleared within a list leaves the steps of the list`() throws {
        let realm = try open()
        try realm.beginWrite()
        let node = try realm.create("Node", json: #"{"name": "n", "anys": [1, [2, [3]], 4]}"#)
        let before = try node.handle.json()
        let savepoint = try realm.savepoint()
        let list = try node.collection("anys")
        let inner = try list.nested(1, .list)
        try inner.nested(1, .list).removeAll()
        try list.insert(.int(0), at: 0)
        try inner.removeAll()
        try list.insert(.int(-1), at: 0)
        try inner.insert(.int(5), at: 0)
        for _ in 0..<3 { try list.remove(at: 0) }
        try list.remove(at: 0)
        try realm.rollback(to: savepoint)
        #expect(try node.handle.json() == before)
        #expect(inner.isValid)
        try realm.rollback()
    }

    /// They are there again while the links to them are taken back.
    @Test func `objects created and deleted since are gone, with the links to them`() throws {
        let realm = try open()
        try realm.beginWrite()
        let old = try realm.create("Leaf", ["text": .string("old")])
        let node = try realm.create("Node", json: #"{"name": "n", "parts": [{"label": "a"}]}"#)
        let tables = try realm.tablesForWriting()
        let before = try ReplayModel(tables)
        let savepoint = try realm.savepoint()
        let new = try realm.create("Leaf", ["text": .string("new")])
        let list = try old.collection("leaves")
        for target in [new, old, new] { try append(target, to: list) }
        try old.set("node", .link(node.link))
        try old.set("any", .link(new.link))
        let parts = try node.collection("parts")
        for _ in 0..<3 { try parts.insertEmbedded(at: 1).release() }
        // Others that are covered, so that those of before are not any more.
        for number in 0..<20 { _ = try realm.create("Node", primaryKey: .string("\(number)")) }
        try parts.remove(at: 2)
        try new.delete()
        try node.delete()
        #expect(try list.count() == 1)
        try realm.rollback(to: savepoint)
        #expect(try ReplayModel(tables) == before)
        try realm.rollback()
        #expect(try realm.check() == [])
    }

    /// The tables are told once, not at each savepoint, and forget it when no other comes.
    @Test func `savepoints in a row do not ask all tables, and leave the fast ways open`() throws {
        let realm = try open()
        try realm.beginWrite()
        let key = try #require(realm.schema.class_(named: "Leaf")).key
        try realm.createObject(key).release()
        let table = try #require(try realm.tablesForWriting().table(key))
        let rows = table.state.appendRows
        #expect(rows > 0)
        for _ in 0..<100 {
            let savepoint = try realm.savepoint()
            #expect(table.state.appendRows == 0)
            try realm.createObject(key).release()
            try realm.release(savepoint)
            #expect(table.state.changes.isHeard)
        }
        for _ in 0..<100 { try realm.createObject(key).release() }
        #expect(!table.state.changes.isHeard && table.state.appendRows == rows)
        try realm.tablesForWriting().checkInvariants()
        try realm.commit()
        #expect(try realm.count("Leaf") == 201)
    }

    @Test func `savepoints end with their transaction, by release and by older ones`() throws {
        let realm = try open()
        func fails(_ code: ErrorCode, _ body: () throws -> Void) {
            #expect { try body() } throws: { ($0 as? RealmError)?.code == code }
        }
        fails(.wrongTransactionState) { _ = try realm.savepoint() }
        try realm.beginWrite()
        let first = try realm.savepoint()
        let second = try realm.savepoint()
        let third = try realm.savepoint()
        try realm.release(second)
        fails(.illegalOperation) { try realm.rollback(to: third) }
        fails(.illegalOperation) { try realm.release(second) }
        let fourth = try realm.savepoint()
        try realm.rollback(to: first)
        fails(.illegalOperation) { try realm.rollback(to: fourth) }
        try realm.commit()
        fails(.wrongTransactionState) { try realm.rollback(to: first) }
        try realm.beginWrite()
        fails(.illegalOperation) { try realm.rollback(to: first) }
        fails(.illegalOperation) { try realm.release(first) }
        try realm.rollback()
    }

    @Test func `work that throws half-way leaves nothing`() throws {
        let realm = try open()
        try realm.write {
            _ = try realm.create("Node", json: #"{"name": "a"}"#)
            #expect(throws: RealmError.self) {
                try realm.atomically { () throws(RealmError) in
                    _ = try realm.create("Node", json: #"{"name": "b"}"#)
                    throw RealmError(.callback, "stop")
                }
            }
            #expect(try realm.count("Node") == 1)
            try realm.atomically { () throws(RealmError) in
                _ = try realm.create("Node", json: #"{"name": "c"}"#)
            }
        }
        #expect(try realm.count("Node") == 2)
        #expect(try realm.check() == [])
    }
}
