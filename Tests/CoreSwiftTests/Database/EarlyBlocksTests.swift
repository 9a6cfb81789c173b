import Testing

@testable import CoreSwift
@testable import TestSupport

/// Long write transactions write full leaves before they commit. Nothing tells them from others but the
/// memory they take.
@Suite struct EarlyBlocksTests {
    private let directory = TemporaryDirectory()

    private static let schema = Schema([
        ClassSchema(
            "Thing",
            properties: [
                PropertySchema("number", .int, flags: [.indexed]),
                PropertySchema("name", .string),
                PropertySchema("data", .binary),
                PropertySchema("numbers", .int, collection: .list),
                PropertySchema("anything", .mixed, flags: [.nullable]),
                PropertySchema("next", .object, linkTarget: "Thing", flags: [.nullable]),
            ])
    ])

    private func open(
        _ name: String, pages: Int = 16, partPages: Int? = nil, key: [UInt8] = []
    ) throws -> Realm {
        var configuration = Configuration(path: directory.file(name))
        configuration.schema = Self.schema
        configuration.schemaVersion = 1
        configuration.encryptionKey = key
        configuration.pendingPagesMax = pages
        configuration.partPages = partPages
        configuration.decryptedBytesMin = 1 << 16
        configuration.decryptedBytesMax = 1 << 16
        return try Realm.open(configuration)
    }

    private func pending(_ realm: Realm) throws -> Int {
        let transaction = try #require(try realm.tablesForWriting().transaction)
        return transaction.pointee.memory.pointee.blocks.pageTotal
    }

    private func early(_ realm: Realm) throws -> Int {
        try realm.tablesForWriting().transaction?.pointee.earlyLease?.early.count ?? 0
    }

    /// Objects of all shapes; now and then one that has been written long ago is changed, read or deleted.
    private func fill(
        _ realm: Realm, _ count: Int, seed: UInt64, looks: (Int) throws -> Void = { _ in }
    ) throws {
        var random = Random(seed)
        var things: [DynamicObject] = []
        for number in 0..<count {
            let thing = try realm.create("Thing", ["number": .int(Int64(number))])
            try thing.set("name", .string(String(repeating: "n", count: random.below(60))))
            let length = random.below(100) == 0 ? 9000 : random.below(40)
            try thing.set("data", .binary([UInt8](repeating: UInt8(number % 256), count: length)))
            if random.below(5) == 0 {
                let numbers = try thing.collection("numbers")
                for value in 0..<(random.below(100) == 0 ? 3000 : random.below(6)) {
                    try numbers.insert(.int(Int64(value)), at: value)
                }
            }
            if random.below(20) == 0 {
                let property = realm.schema.classes[0].property(named: "anything")!
                let list = try thing.handle.setCollection(property.key, .list)
                try list.insert(.int(Int64(number)), at: 0)
            }
            if let other = things.randomElement(using: &random), random.below(3) == 0 {
                try thing.set("next", .link(other.link))
            }
            things.append(thing)
            if random.below(30) == 0 {
                let old = things[random.below(things.count)]
                try old.set("name", .string("changed when \(number) came"))
                let numbers = try old.collection("numbers")
                try numbers.insert(.int(-1), at: try numbers.count())
            }
            if random.below(60) == 0 {
                try things.remove(at: random.below(things.count)).delete()
            }
            try looks(number)
        }
    }

    @Test(arguments: [[], FileCipherTests.key])
    func `what is written early is what would have been written at the commit`(
        key: [UInt8]
    ) throws {
        var dumps: [RealmDump] = []
        var counts: [[Int]] = []
        for pages in [16, Int.max] {
            let realm = try open("\(pages).realm", pages: pages, partPages: 9, key: key)
            defer { realm.close() }
            var found: [Int] = []
            for round in 0..<3 {
                try realm.beginWrite()
                var most = 0
                try fill(realm, 8000, seed: UInt64(round)) { number in
                    guard number % 500 == 499 else { return }
                    most = max(most, try early(realm))
                    let query = try Query.parse(
                        "number == \(number)", arguments: [], schema: realm.schema,
                        classKey: realm.schema.classes[0].key)
                    let reader = SnapshotReader(tables: try realm.readTables())
                    found.append(try query.count(reader))
                }
                #expect((most > 0) == (pages == 16))
                try realm.tablesForWriting().checkInvariants()
                try realm.commit()
                #expect(try realm.check() == [])
            }
            dumps.append(try RealmDump(realm))
            counts.append(found)
        }
        #expect(counts[0] == counts[1] && counts[0].contains(3))
        // Not shown where they differ: that would be pages.
        #expect(same(dumps[0], dumps[1]))
    }

    private func same(_ one: RealmDump, _ other: RealmDump) -> Bool {
        one.objects == other.objects && one.anonymous == other.anonymous
    }

    private func length(_ name: String) -> Int {
        TestSettings.readFile(directory.file(name)).count
    }

    @Test func `memory does not grow with what is created`() throws {
        let realm = try open("memory.realm")
        defer { realm.close() }
        try realm.beginWrite()
        var most = 0
        for number in 0..<60_000 {
            _ = try realm.create("Thing", ["number": .int(Int64(number))])
            if number % 100 == 0 { most = max(most, try pending(realm)) }
        }
        #expect(most < 64, "\(most) pages")
        try realm.commit()
        #expect(try realm.check() == [])
        #expect(try realm.objectCount(realm.schema.classes[0].key) == 60_000)
    }

    /// Notes where calls that write several blocks begin and end, and how many have zeros behind the blocks.
    private final class WatchedFiles: PassingFileSystem {
        var written: [Range<Int64>] = []
        var zeroCount = 0

        override func write(
            _ descriptor: Int32, _ vectors: UnsafeBufferPointer<IOVector>, _ offset: Int64
        ) -> Int {
            let count = super.write(descriptor, vectors, offset)
            if count > 0 { written.append(offset..<offset + Int64(count)) }
            if let end = vectors.last, UnsafeRawPointer(end.base) == OpenFile.zeros {
                zeroCount += 1
            }
            return count
        }
    }

    /// Kernels keep the bytes of a call in folios as large as place and length allow, and the first reader takes a page
    /// fault for each of them.
    @Test(arguments: [9, 128])
    func `what is written early ends where parts of the file do`(pages: Int) throws {
        let part = Int64(pages) << Int64(Page.shift)
        let files = WatchedFiles(SystemCalls.shared)
        var configuration = Configuration(path: directory.file("parts.realm"))
        configuration.schema = Self.schema
        configuration.schemaVersion = 1
        configuration.partPages = pages
        configuration.pendingPagesMax = pages == 9 ? 9 : 192
        let realm = try Realm.open(configuration, files: files)
        defer { realm.close() }
        files.written = []
        try realm.beginWrite()
        var random = Random(2)
        for number in 0..<60_000 {
            let length = random.below(80)
            let data = [UInt8](repeating: UInt8(number % 256), count: length)
            _ = try realm.create(
                "Thing",
                ["number": .int(Int64(number)), "name": .string("n"), "data": .binary(data)])
        }
        let early = files.written
        #expect(early.count > 5)
        // Where a part lies in two free runs, the first ends before it does.
        let ending = early.filter { $0.upperBound % part == 0 }
        #expect(2 * ending.count >= early.count, "\(early)")
        #expect(early.allSatisfy { $0.count <= part })
        // Leaves have four pages, of which up to three do not fit.
        #expect(4 * files.zeroCount > early.count, "\(files.zeroCount) of \(early.count)")
        files.written = []
        try realm.commit()
        // Of a run of the commit all but the last call, and but for what two runs share.
        for (call, next) in zip(files.written, files.written.dropFirst())
        where call.upperBound == next.lowerBound {
            #expect(call.upperBound % part == 0)
        }
        #expect(try realm.check() == [])
        #expect(try realm.objects("Thing").filter("name == 'n'").count() >= 60_000)
    }

    /// Leaves with deleted rows wait for the commit; a portion may have no others.
    @Test func `a portion of no block leaves what was written before as it is`() throws {
        let realm = try open("nothing.realm")
        defer { realm.close() }
        try realm.beginWrite()
        var things: [DynamicObject] = []
        for number in 0..<20_000 {
            things.append(try realm.create("Thing", ["number": .int(Int64(number))]))
        }
        let lease = try #require(try realm.tablesForWriting().transaction?.pointee.earlyLease)
        let early = lease.early
        #expect(early.count > 0)
        let pages = lease.store.filePages
        #expect(lease.writeEarly(pages: 8) { _ in } == [])
        #expect(lease.early == early && lease.store.filePages == pages)
        for (number, thing) in things.enumerated() {
            #expect(try thing.get("number") == .int(Int64(number)))
        }
        try realm.commit()
        #expect(try realm.check() == [])
    }

    @Test(arguments: [[], FileCipherTests.key])
    func `a rollback gives the file its length back`(key: [UInt8]) throws {
        let realm = try open("rollback.realm", key: key)
        defer { realm.close() }
        try realm.write { try fill(realm, 500, seed: 1) }
        let bytes = length("rollback.realm")
        let dump = try RealmDump(realm)
        for round in 0..<3 {
            try realm.beginWrite()
            try fill(realm, 8000, seed: UInt64(round))
            #expect(try early(realm) > 0)
            #expect(length("rollback.realm") > bytes)
            try realm.rollback()
            #expect(length("rollback.realm") == bytes)
            #expect(same(try RealmDump(realm), dump))
        }
        try realm.write { try fill(realm, 4000, seed: 9) }
        #expect(try realm.check() == [])
    }

    /// Of another process, or here of another opening, nobody sees them.
    @Test func `pages of deleted early blocks are free at the commit`() throws {
        let realm = try open("deleted.realm")
        defer { realm.close() }
        try realm.write { try fill(realm, 500, seed: 1) }
        let before = try realm.file.store.statistics()
        for round in 0..<4 {
            try realm.beginWrite()
            let savepoint = try realm.savepoint()
            try fill(realm, 6000, seed: UInt64(round))
            #expect(try early(realm) > 0)
            try realm.rollback(to: savepoint)
            try realm.commit()
            #expect(try realm.check() == [])
        }
        let after = try realm.file.store.statistics()
        #expect(after.filePages - after.freePages - after.pendingPages < before.filePages + 8)
    }
}
