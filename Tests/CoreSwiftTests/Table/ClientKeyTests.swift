// Object keys with a client's number: objects that are made in several files never have one key, and a
// file that takes all of them is as good as one that made them.

import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite struct ClientKeyTests {
    private static let schema = Schema([
        ClassSchema(
            "Item",
            properties: [
                PropertySchema("rank", .int, flags: .indexed),
                PropertySchema("name", .string),
                PropertySchema("next", .object, linkTarget: "Item", flags: .nullable),
                PropertySchema("friends", .object, collection: .list, linkTarget: "Item"),
                PropertySchema("peers", .object, collection: .set, linkTarget: "Item"),
                PropertySchema(
                    "roles", .object, collection: .dictionary, linkTarget: "Item", flags: .nullable),
                PropertySchema("any", .mixed, flags: .nullable),
                PropertySchema("part", .object, linkTarget: "Part", flags: .nullable),
                PropertySchema("parts", .object, collection: .list, linkTarget: "Part"),
            ]),
        ClassSchema(
            "Part",
            properties: [
                PropertySchema("label", .string),
                PropertySchema("maker", .object, linkTarget: "Item", flags: .nullable),
            ], kind: .embedded),
        ClassSchema(
            "Known", primaryKey: "id",
            properties: [
                PropertySchema("id", .int, flags: .primaryKey), PropertySchema("rank", .int),
            ]),
    ])

    private func open(_ path: String, _ client: UInt32?) throws -> Realm {
        var configuration = TestSchema.configuration(path, Self.schema)
        configuration.clientNumber = client
        return try Realm.open(configuration)
    }

    private func key(_ client: Int64, _ number: Int64) -> ObjectKey {
        ObjectKey(rawValue: client << 36 + number)
    }

    private func create(_ realm: Realm, _ count: Int) throws -> [ObjectKey] {
        var keys: [ObjectKey] = []
        try realm.write {
            for number in 0..<count {
                keys.append(try realm.create("Item", ["rank": .int(Int64(number))]).key)
            }
        }
        return keys
    }

    @Test func `without a number keys are given from 0 on, whatever came from others`() throws {
        let directory = TemporaryDirectory()
        let theirs = try open(directory.file("theirs.realm"), 3)
        #expect(try create(theirs, 2) == [key(3, 0), key(3, 1)])
        let ours = try open(directory.file("ours.realm"), nil)
        #expect(try create(ours, 2) == [key(0, 0), key(0, 1)])
        try ours.write {
            let tables = try ours.tablesForWriting()
            let difference = try VersionDifference(from: tables, to: try theirs.readTables())
            var applier = LogApplier(tables)
            try applier.apply(difference.operations)
        }
        #expect(try ours.count("Item") == 2)
        #expect(try create(ours, 1) == [key(0, 2)])
        #expect(try ours.check() == [])
        ours.close()
        theirs.close()
    }

    @Test func `a file goes on with a client's keys after opening, rolling back and others' keys`()
        throws
    {
        let directory = TemporaryDirectory()
        let path = directory.file()
        let first = try open(path, nil)
        #expect(try create(first, 1) == [key(0, 0)])
        first.close()
        let most = Int64(ClientKeys.clientMax)
        let second = try open(path, ClientKeys.clientMax)
        let item = try #require(second.schema.class_(named: "Item"))
        let old = try second.object(item.key, key(0, 0))
        for _ in 0..<2 {
            try second.beginWrite()
            #expect(try second.create("Item").key == key(most, 0))
            try second.rollback()
        }
        #expect(old.isValid)
        old.release()
        #expect(try create(second, 2) == [key(most, 0), key(most, 1)])
        #expect(
            try second.create(known: -1) == IntegerKeys.indirectBase.advanced(by: Int(most << 36)))
        #expect(try second.create(known: 7) == ObjectKey(rawValue: 7))
        let compacted = try second.compact()
        #expect(compacted)
        second.close()
        // Nobody gives a number: the keys go on.
        let third = try open(path, nil)
        #expect(try create(third, 1) == [key(most, 2)])
        third.close()
        let fourth = try open(path, 1)
        #expect(try create(fourth, 1) == [key(1, 0)])
        fourth.close()
        let fifth = try open(path, ClientKeys.clientMax)
        #expect(try create(fifth, 1) == [key(most, 3)])
        #expect(try fifth.check() == [])
        #expect(
            errorCode { _ = try open(path, 1) } == .mismatchedConfig)
        fifth.close()
        #expect(errorCode { _ = try open(path, 0) } == .invalidArgument)
        #expect(errorCode { _ = try open(path, ClientKeys.clientMax + 1) } == .invalidArgument)
    }

    @Test func `a client that has no more keys is told`() throws {
        let directory = TemporaryDirectory()
        let realm = try open(directory.file(), 2)
        let item = try #require(realm.schema.class_(named: "Item"))
        try realm.beginWrite()
        try realm.tablesForWriting().table(item.key)?.state.nextKey = key(3, -1)
        #expect(try realm.create("Item").key == key(3, -1))
        try realm.commit()
        try realm.beginWrite()
        _ = try realm.create("Item")
        #expect(errorCode { try realm.commit() } == .limitExceeded)
        #expect(try realm.count("Item") == 1)
        #expect(try realm.check() == [])
        realm.close()
    }

    /// Two clients and a file that takes what both do.
    @Test func `a third file takes the logs of two clients, in whatever order they come`() throws {
        for item in Campaign("keys of clients", seconds: 3, atLeast: 3) {
            let directory = TemporaryDirectory()
            var random = item.random
            let numbers: [UInt32] = random.below(2) == 0 ? [2, 70] : [70, 2]
            var clients: [Realm] = []
            var programs: [RandomProgram] = []
            var seen: [UInt64] = []
            for (index, number) in numbers.enumerated() {
                let realm = try open(directory.file("\(number).realm"), number)
                try realm.write { try realm.tablesForWriting().addConsumer("upload") }
                seen.append(try #require(realm.version))
                clients.append(realm)
                var program = RandomProgram(realm, seed: item.seed &+ UInt64(index) &* 1000)
                program.leavesOut = ["Known"]
                programs.append(program)
            }
            let third = try open(directory.file("third.realm"), 9)
            var own = RandomProgram(third, seed: item.seed &+ 5000)
            own.leavesOut = ["Known"]
            for round in 0..<8 {
                let place = "seed \(item.seed), round \(round)"
                let which = random.below(2)
                let realm = clients[which]
                for _ in 0...random.below(3) {
                    try realm.beginWrite()
                    for _ in 0..<1 + random.below(120) { try programs[which].step() }
                    try realm.commit()
                }
                if round == 4 { try third.write { for _ in 0..<40 { try own.step() } } }
                let tables = try realm.readTables()
                let log = try #require(ChangeLog(tables))
                let operations = try #require(
                    try log.changes(from: seen[which], to: tables.version))
                seen[which] = tables.version
                try third.write {
                    let target = try third.tablesForWriting()
                    var applier = LogApplier(target, origin: UInt64(numbers[which]))
                    try applier.apply(operations)
                    try target.checkInvariants()
                }
                try holdsAll(third, clients, place)
            }
            for realm in clients + [third] {
                #expect(try realm.check() == [], "seed \(item.seed)")
                realm.close()
            }
        }
    }

    /// The third file has the objects of both clients and its own ones, and finds them.
    private func holdsAll(_ third: Realm, _ clients: [Realm], _ place: String) throws {
        let all = try NamedModel(try third.readTables()).objects
        var theirs: [String: [String: String]] = [:]
        for realm in clients {
            try theirs.merge(NamedModel(try realm.readTables()).objects) { _, _ in
                throw ToyFailure(description: "\(place): two clients made one object")
            }
        }
        #expect(all.filter { theirs[$0.key] != nil } == theirs, "\(place)")
        let item = try #require(third.schema.class_(named: "Item"))
        for text in [
            "rank > 5", "next.rank < 50", "ANY friends.rank > 20", "@links.@count > 1",
            "peers.@count > 0 SORT(rank ASC)", "part.maker != NULL",
        ] {
            let found = try keys(third, item.key, text).filter { key in
                theirs["Item \(key)"] != nil
            }
            var expected: Set<ObjectKey> = []
            for realm in clients {
                let key = try #require(realm.schema.class_(named: "Item")).key
                expected.formUnion(try keys(realm, key, text))
            }
            #expect(Set(found) == expected, "\(place): \(text)")
            #expect(found.count == expected.count, "\(place): \(text)")
        }
    }

    private func keys(_ realm: Realm, _ classKey: ClassKey, _ text: String) throws -> [ObjectKey] {
        let results = try realm.query(classKey, text).findAll()
        return try (0..<results.count()).map { try results.get($0).linkTarget }
    }

    @Test func `rows of a client are appended between those of others, and leaves get full`() throws
    {
        let directory = TemporaryDirectory()
        let path = directory.file()
        for client in [7, 1, 3] as [UInt32] {
            let realm = try open(path, client)
            _ = try create(realm, 300)
            realm.close()
        }
        for client in [3, 1, 7, 1, 3] as [UInt32] {
            let realm = try open(path, client)
            for _ in 0..<60 { _ = try create(realm, 50) }
            try realm.beginWrite()
            for _ in 0..<5000 { _ = try realm.create("Item") }
            try realm.tablesForWriting().checkInvariants()
            try realm.commit()
            #expect(try realm.check() == [])
            realm.close()
        }
        let mixed = try open(path, 1)
        let plain = try open(directory.file("plain.realm"), nil)
        for _ in 0..<15 {
            for _ in 0..<60 { _ = try create(plain, 50) }
        }
        let rows = 3 * 300 + 5 * 8000
        #expect(try mixed.count("Item") == rows)
        let leaves = Double(try self.leaves(mixed)) / Double(rows)
        let least = Double(try self.leaves(plain)) / Double(try plain.count("Item"))
        #expect(leaves < least * 1.5, "\(leaves) leaves per row, \(least) at best")
        mixed.close()
        plain.close()
    }

    private func leaves(_ realm: Realm) throws -> Int {
        let item = try #require(realm.schema.class_(named: "Item"))
        var leaves = try SnapshotReader(tables: try realm.readTables()).table(item.key).leaves()
        var count = 0
        while try leaves.next() != nil { count += 1 }
        return count
    }
}

extension Realm {
    fileprivate func create(known id: Int64) throws -> ObjectKey {
        var key = ObjectKey.invalid
        try write { key = try create("Known", primaryKey: .int(id)).key }
        return key
    }
}
