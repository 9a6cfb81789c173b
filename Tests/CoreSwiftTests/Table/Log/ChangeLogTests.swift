// The change log: what it says is what happened, it is kept as long as somebody needs it, and it is
// small.

import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite struct ChangeLogTests {
    /// `leftOut`: from so many objects of a class on that a commit creates, their values are not in the log.
    private func open(_ directory: TemporaryDirectory, leftOut: Int? = nil) throws -> Realm {
        var configuration = TestSchema.configuration(directory.file(), ChangeDoorTests.schema)
        configuration.unwrittenObjectsMin = leftOut
        return try Realm.open(configuration)
    }

    /// A transaction of random changes, some of them taken back; false if all were.
    private func transact(
        _ realm: Realm, _ program: inout RandomProgram, _ steps: Int,
        _ body: (TableSet) throws -> Void = { _ in }
    ) throws -> Bool {
        try realm.beginWrite()
        try body(try realm.tablesForWriting())
        for _ in 0..<steps {
            try program.step()
            if program.random.below(8) == 0 { try realm.tablesForWriting().checkInvariants() }
            if program.random.below(12) == 0 {
                let savepoint = try realm.savepoint()
                for _ in 0...program.random.below(12) { try program.step() }
                if program.random.below(3) > 0 { try realm.rollback(to: savepoint) }
                try realm.release(savepoint)
            }
            if program.random.below(20) == 0 { try realm.tablesForWriting().settle() }
        }
        if program.random.below(6) == 0 {
            try realm.rollback()
            return false
        }
        try realm.commit()
        return true
    }

    // MARK: What it says

    @Test func `the log of random programs with values, replayed, gives the version after`() throws
    {
        for item in Campaign("change log, values", seconds: 4, atLeast: 4) {
            let directory = TemporaryDirectory()
            var random = item.random
            let realm = try open(directory, leftOut: [nil, 1, 2, 6][random.below(4)])
            var program = RandomProgram(realm, seed: item.seed)
            _ = try transact(realm, &program, 100)
            try realm.write { try realm.tablesForWriting().addConsumer("audit") }
            var model = try ReplayModel(try realm.readTables())
            var seen = try #require(realm.version)
            let path = directory.file("mirror.realm")
            try realm.writeCopy(to: path)
            let mirror = try Realm.open(
                TestSchema.configuration(path, ChangeDoorTests.schema))
            for transaction in 0..<8 {
                var between: [UInt64: ReplayModel] = [:]
                for _ in 0...program.random.below(3) {
                    _ = try transact(realm, &program, 1 + program.random.below(80))
                    between[try #require(realm.version)] = try ReplayModel(realm.readTables())
                }
                let tables = try realm.readTables()
                let log = try #require(ChangeLog(tables))
                let before = seen
                for (version, expected) in between {
                    var older = model
                    var operations = try #require(try log.changes(from: seen, to: version))
                    while let operation = try operations.next() {
                        try older.apply(operation, tables)
                    }
                    try #require(
                        older == expected,
                        "seed \(item.seed), to \(version): \(expected.differences(older))")
                }
                var operations = try #require(try log.changes(from: seen, to: tables.version))
                while let operation = try operations.next() {
                    try model.apply(operation, tables)
                }
                seen = tables.version
                let stored = try ReplayModel(tables)
                try #require(
                    stored == model,
                    "seed \(item.seed), \(transaction): \(stored.differences(model))")
                try follows(mirror, log, from: before, tables)
                guard program.random.below(2) == 0 else { continue }
                try realm.write { try realm.tablesForWriting().acknowledge("audit", seen) }
            }
            #expect(try realm.check() == [])
            realm.close()
            #expect(try mirror.check() == [])
            mirror.close()
        }
    }

    /// The log, applied to another file, makes it equal.
    private func follows(
        _ mirror: Realm, _ log: ChangeLog, from version: UInt64, _ tables: TableSet
    ) throws {
        let operations = try #require(try log.changes(from: version, to: tables.version))
        try mirror.write {
            var applier = LogApplier(try mirror.tablesForWriting())
            try applier.apply(operations)
            try mirror.tablesForWriting().checkInvariants()
        }
        let copy = try mirror.readTables()
        let summary = try VersionComparison(from: copy, to: tables).summary()
        try #require(summary.isEmpty, "\(summary)")
        let model = try ReplayModel(copy)
        let stored = try ReplayModel(tables)
        try #require(stored == model, "\(stored.differences(model))")
    }

    @Test func `the log of random programs tells what a comparison of the versions tells`() throws {
        for item in Campaign("change log, summary", seconds: 4, atLeast: 4) {
            let directory = TemporaryDirectory()
            let realm = try open(directory)
            var program = RandomProgram(realm, seed: item.seed)
            _ = try transact(realm, &program, 100)
            var before = try realm.freeze()
            let need = try LogNeed(realm.file.store, from: try #require(before.version))
            for transaction in 0..<8 {
                for _ in 0...program.random.below(3) {
                    _ = try transact(realm, &program, 1 + program.random.below(80))
                }
                let after = try realm.freeze()
                let old = try before.readTables()
                let new = try after.readTables()
                let place = "seed \(item.seed), transaction \(transaction)"
                let summary = try #require(
                    try ChangeSummary.logged(from: old.version, to: new), "\(place)")
                let check = SummaryCheck(
                    before: try ReplayModel(old), after: try ReplayModel(new),
                    schema: after.schema, isLog: true)
                let problems = check.problems(summary)
                try #require(problems == [], "\(place)")
                let compared = try VersionComparison(from: old, to: new).summary()
                let reborn = Set(
                    summary.classes.flatMap { item in
                        item.inserted.intersection(item.deleted).keys.map {
                            Link(item.classKey, $0)
                        }
                    })
                let missing = compared.facts.subtracting(summary.facts).filter { fact in
                    !reborn.contains { fact.hasPrefix("\($0.classKey) \($0.objectKey).") }
                }
                try #require(missing.isEmpty, "\(place)")
                need.move(to: new.version)
                before.close()
                before = after
            }
            need.end()
            before.close()
            realm.close()
        }
    }

    @Test func `objects created behind all others are a range, however they were filled`() throws {
        let directory = TemporaryDirectory()
        let realm = try CreationSchema.open(directory.file())
        try realm.write { _ = try realm.create("Leaf", ["text": .string("first")]) }
        let need = try LogNeed(realm.file.store, from: try #require(realm.version))
        let from = try #require(realm.version)
        let leaf = try #require(realm.schema.class_(named: "Leaf"))
        let first = DynamicObject(try realm.object(leaf.key, ObjectKey(rawValue: 0)))
        try realm.write {
            for number in 0..<5000 {
                let leaf = try realm.create("Leaf", ["text": .string("leaf \(number)")])
                guard number % 1000 == 0 else { continue }
                try leaf.collection("leaves").insert(.link(leaf.link.classKey, leaf.key), at: 0)
            }
            try first.set("text", .string("changed"))
        }
        let tables = try realm.readTables()
        let log = try #require(ChangeLog(tables))
        var operations = try #require(try log.changes(from: from, to: tables.version))
        var created: [ClosedRange<ObjectKey>] = []
        var set: [ClosedRange<ObjectKey>] = []
        while let operation = try operations.next() {
            switch operation {
            case .created(_, let range): created.append(range)
            case .set(_, let range, _, _): set.append(range)
            case .version: break
            default: Issue.record("\(operation)")
            }
        }
        #expect(created == [ObjectKey(rawValue: 1)...ObjectKey(rawValue: 5000)])
        #expect(set == [ObjectKey(rawValue: 0)...ObjectKey(rawValue: 0)])
        need.end()
    }

    @Test func `a damaged log is an error or other operations, and never more`() throws {
        let directory = TemporaryDirectory()
        let realm = try open(directory, leftOut: 2)
        try realm.write { try realm.tablesForWriting().addConsumer("audit") }
        var program = RandomProgram(realm, seed: 5)
        var logs: [[UInt8]] = []
        var supplements = 0
        while logs.count < 12 {
            // Values that are left out are added by transactions before the one that acknowledges.
            guard try transact(realm, &program, 10) else { continue }
            let tables = try realm.readTables()
            let log = try #require(tables.catalog.log)
            if log.tail.isEmpty { continue }
            logs.append(log.tail)
            try log.tail.withUnsafeBytes {
                var records = LogRecords($0)
                while let record = try records.next() {
                    supplements += RecordHead.isSupplement(record.log) ? 1 : 0
                }
            }
            if logs.count % 4 > 0 { continue }
            try realm.write {
                try realm.tablesForWriting().acknowledge("audit", tables.version)
            }
        }
        #expect(supplements > 3)
        for item in Campaign("damaged change logs", seconds: 1, atLeast: 300) {
            var random = item.random
            var log = logs[random.below(logs.count)]
            for _ in 0...random.below(3) where !log.isEmpty {
                let place = random.below(log.count)
                switch random.below(3) {
                case 0: log[place] ^= 1 << UInt8(random.below(8))
                case 1: log.removeSubrange(place..<min(log.count, place + 1 + random.below(4)))
                default: log.insert(UInt8(random.below(256)), at: place)
                }
            }
            log.withUnsafeBytes { bytes in
                do {
                    var records = LogRecords(bytes)
                    while let record = try records.next() {
                        try UnwrittenValues(nil).note(record.version, record.log)
                        var operations = ChangeOperations([record])
                        while let operation = try operations.next() {
                            guard case .collection(let place, _, _) = operation else { continue }
                            _ = try place.steps()
                        }
                    }
                } catch {
                    #expect((error as? RealmError)?.code == .invalidDatabase)
                }
            }
        }
    }

    // MARK: Its size

    /// All that the newest version added to the log, heads included.
    private func recordBytes(_ realm: Realm) throws -> Int {
        let tables = try realm.readTables()
        let log = try #require(ChangeLog(tables))
        var result = 0
        for record in try log.records(from: tables.version - 1, to: tables.version) {
            var head = LogBytes()
            defer { head.deallocate() }
            head.number(record.version)
            head.number(record.log.count)
            result += head.count + record.log.count
        }
        return result
    }

    /// Whatever integers, of objects whose keys are less than 2^20 apart; of those that are further apart integers of six
    /// digits. Also where the log leaves out what the objects were created with.
    @Test(
        arguments: [(false, nil), (true, nil), (true, 50)] as [(Bool, Int?)],
        [
            (1 << 20 - 1, [.min, .max - 11, 123_456, 1_764_547_200_000, .min, -1]),
            (1 << 55, [-987_654, 123_456]),
        ]
            as [(Int64, [Int64])])
    func `a commit that sets one integer takes at most 40 bytes, and 12 per further one`(
        log: (hasValues: Bool, leftOut: Int?), keys: (step: Int64, values: [Int64])
    ) throws {
        let (hasValues, leftOut) = log
        let (step, values) = keys
        let directory = TemporaryDirectory()
        var configuration = TestSchema.configuration(directory.file(), CreationSchema.schema)
        configuration.unwrittenObjectsMin = leftOut
        let realm = try Realm.open(configuration)
        let base: Int64 = 1 << 40
        try realm.write { if hasValues { try realm.tablesForWriting().addConsumer("c") } }
        try realm.write {
            for number in 0..<100 {
                _ = try realm.create("All", primaryKey: .int(base + Int64(number) * step))
            }
        }
        #expect(
            try realm.readTables().catalog.log?.unwritten.reduce(0) { $0 + $1.keys.count }
                == (leftOut == nil ? hasValues ? 0 : nil : 100))
        let need = try LogNeed(realm.file.store, from: try #require(realm.version))
        func set(_ count: Int, _ property: String, _ value: Int64) throws -> Int {
            try realm.write {
                for number in 0..<count {
                    let object = try #require(
                        try realm.find("All", primaryKey: .int(base + Int64(number) * step)))
                    try object.set(property, .int(value &+ Int64(number)))
                }
            }
            return try recordBytes(realm)
        }
        for property in ["int", "intN"] {
            for value in values {
                for further in [0, 10, 99] {
                    let bytes = try set(1 + further, property, value)
                    #expect(
                        bytes > 0 && bytes <= 40 + 12 * further,
                        "\(further), \(property), \(value)")
                }
            }
        }
        need.end()
    }

    // MARK: How long it is kept

    private func touch(_ realm: Realm, _ number: Int, text: Int = 10) throws {
        try realm.write {
            _ = try realm.create(
                "Leaf", ["text": .string("\(number)" + String(repeating: "x", count: text))])
        }
    }

    @Test func `without anybody who needs it there is no log, and the catalog keeps its format`()
        throws
    {
        let directory = TemporaryDirectory()
        let realm = try CreationSchema.open(directory.file())
        try touch(realm, 0)
        #expect(try realm.readTables().catalog.log == nil)
        let plain = try realm.readTables().catalog.encoded()
        #expect(plain.first == 1)
        let from = try #require(realm.version)
        let need = try LogNeed(realm.file.store, from: from)
        try touch(realm, 1)
        #expect(try realm.readTables().catalog.encoded().first == 8)
        #expect(try ChangeSummary.logged(from: from, to: try realm.readTables()) != nil)
        need.end()
        try touch(realm, 2)
        #expect(try realm.readTables().catalog.log == nil)
        #expect(try realm.readTables().catalog.encoded().first == 1)
        #expect(!realm.file.store.lockFile.mayNeedLog)
        #expect(try realm.check() == [])
    }

    @Test func `what all who need the log have seen is dropped`() throws {
        let directory = TemporaryDirectory()
        let realm = try CreationSchema.open(directory.file())
        try touch(realm, 0)
        let start = try #require(realm.version)
        let first = try LogNeed(realm.file.store, from: start)
        let second = try LogNeed(realm.file.store, from: start)
        for number in 0..<300 { try touch(realm, number, text: 50) }
        let log = try #require(ChangeLog(try realm.readTables()))
        #expect(log.oldest == start)
        first.move(to: start + 200)
        try touch(realm, 0)
        #expect(try realm.readTables().catalog.log?.from == start)
        second.move(to: start + 100)
        try touch(realm, 0)
        let tables = try realm.readTables()
        #expect(tables.catalog.log?.from == start + 100)
        #expect(try ChangeSummary.logged(from: start + 99, to: tables) == nil)
        let summary = try #require(try ChangeSummary.logged(from: start + 100, to: tables))
        #expect(summary.classes.first?.inserted.count == 202)
        #expect(try realm.check() == [])
        first.end()
        second.end()
    }

    @Test
    func
        `a consumer finds all since it acknowledged, over closing, compaction and thousands of commits`()
        throws
    {
        let directory = TemporaryDirectory()
        let path = directory.file()
        var realm = try CreationSchema.open(path)
        try realm.write { try realm.tablesForWriting().addConsumer("audit") }
        let start = try #require(realm.version)
        for number in 0..<3000 { try touch(realm, number, text: 400) }
        let entries = try #require(try realm.readTables().catalog.log).entries
        #expect(entries.count <= 2 * LogDirectory.entriesMax)
        #expect(entries.contains { $0.level > 0 })
        #expect(try realm.check() == [])
        realm.close()
        realm = try CreationSchema.open(path)
        #expect(try realm.compact())
        #expect(try realm.check() == [])
        let statistics = try #require(try realm.statistics().changeLog)
        #expect(statistics.from == start && statistics.bytes > 3000 * 400)
        #expect(statistics.consumers == [ChangeConsumer(name: "audit", acknowledged: start)])
        var tables = try realm.readTables()
        let log = try #require(ChangeLog(tables))
        var operations = try #require(try log.changes(from: start, to: tables.version))
        #expect(operations.versionCount == 3000)
        var texts = 0
        while let operation = try operations.next() {
            if case .initial = operation { texts += 1 }
        }
        #expect(texts == 3000)
        for step in [1, 700, 1500, 2999] {
            let version = start + UInt64(step)
            try realm.write { try realm.tablesForWriting().acknowledge("audit", version) }
            tables = try realm.readTables()
            let rest = try #require(ChangeLog(tables))
            try #require(try rest.changes(from: version - 1, to: tables.version) == nil)
            let left = try #require(try rest.changes(from: version, to: tables.version))
            #expect(left.versionCount == 3000 - step)
            #expect(try realm.check() == [])
        }
        let copy = directory.file("copy.realm")
        try realm.writeCopy(to: copy)
        let other = try CreationSchema.open(copy)
        #expect(try other.readTables().catalog.log == nil)
        #expect(try other.check() == [])
        other.close()
        try realm.write { try realm.tablesForWriting().removeConsumer("audit") }
        #expect(try realm.readTables().catalog.log == nil)
        #expect(try realm.check() == [])
    }

    @Test func `a transaction that ran when the log was asked for is not in it`() throws {
        let directory = TemporaryDirectory()
        let realm = try CreationSchema.open(directory.file())
        try touch(realm, 0)
        try realm.beginWrite()
        let from = try #require(realm.version)
        _ = try realm.create("Leaf", ["text": .string("a")])
        let before = try realm.file.store.pin(version: from)
        let need = try LogNeed(realm.file.store, from: from)
        try realm.commit()
        try touch(realm, 1)
        let tables = try realm.readTables()
        #expect(try ChangeSummary.logged(from: from, to: tables) == nil)
        #expect(try ChangeSummary.logged(from: from + 1, to: tables)?.classes.count == 1)
        try TableSet.with(before, realm.file.store) { old throws(RealmError) in
            let summary = try ChangeSummary.make(from: old, to: tables)
            #expect(summary.classes.first?.inserted.count == 2)
        }
        need.end()
    }

    @Test func `needs of another process are heard, and end with it`() throws {
        let directory = TemporaryDirectory()
        let path = directory.file()
        let realm = try CreationSchema.open(path)
        try touch(realm, 0)
        let from = try #require(realm.version)
        let other = try Store.open(path: path, options: StoreOptions(), files: SystemCalls.shared)
        let need = try LogNeed(other, from: from)
        try touch(realm, 1)
        #expect(try ChangeSummary.logged(from: from, to: try realm.readTables()) != nil)
        try other.close()
        need.end()
        try touch(realm, 2)
        #expect(try realm.readTables().catalog.log == nil)
    }

    @Test func `commits that share a sync are told by the versions that they made`() throws {
        let directory = TemporaryDirectory()
        let realm = try CreationSchema.open(directory.file())
        try realm.write { try realm.tablesForWriting().addConsumer("audit") }
        var versions = [try #require(realm.version)]
        for number in 0..<24 {
            try realm.beginWrite()
            // In the tail of the catalog, and as blocks.
            let text = String(repeating: "x", count: number % 3 == 0 ? 2000 : 10)
            _ = try realm.create("Leaf", ["text": .string(text)])
            // The last of a group waits for the sync of all.
            try realm.commit(waits: number % 5 == 4 || number == 23)
            versions.append(try #require(realm.version))
        }
        #expect(zip(versions, versions.dropFirst()).allSatisfy { $1 == $0 + 1 })
        let tables = try realm.readTables()
        let log = try #require(ChangeLog(tables))
        var operations = try #require(try log.changes(from: versions[0], to: tables.version))
        var told: [UInt64] = []
        while let operation = try operations.next() {
            if case .version(let version, _, _) = operation { told.append(version) }
            #expect(operations.version == told.last)
        }
        #expect(told == Array(versions.dropFirst()))
        // Between any two of them, too.
        for (first, from) in versions.enumerated() {
            for (last, to) in versions.enumerated().dropFirst(first) {
                var some = try #require(try log.changes(from: from, to: to))
                var created = 0
                while let operation = try some.next() {
                    if case .created = operation { created += 1 }
                }
                #expect(created == last - first)
            }
        }
        for version in versions.dropFirst(10) {
            try realm.write { try realm.tablesForWriting().acknowledge("audit", version) }
            let left = try #require(
                try ChangeSummary.logged(from: version, to: try realm.readTables()))
            let index = try #require(versions.firstIndex(of: version))
            #expect(left.classes.first?.inserted.count ?? 0 == versions.count - 1 - index)
        }
        #expect(try realm.check() == [])
    }

    @Test func `who only needs the log does not keep a file from being compacted`() throws {
        let directory = TemporaryDirectory()
        let path = directory.file()
        let realm = try CreationSchema.open(path)
        for number in 0..<50 { try touch(realm, number, text: 3000) }
        let from = try #require(realm.version)
        let other = try Store.open(
            path: path, options: StoreOptions(), files: SystemCalls.shared)
        let need = try LogNeed(other, from: from)
        for number in 0..<50 { try touch(realm, number, text: 3000) }
        #expect(try realm.compact())
        let summary = try #require(
            try ChangeSummary.logged(from: from, to: try realm.readTables()))
        #expect(summary.classes.first?.inserted.count == 50)
        #expect(try realm.check() == [])
        // Who reads a version does.
        let pin = try other.pinNewest()
        for number in 0..<50 { try touch(realm, number, text: 3000) }
        #expect(try !realm.compact())
        other.unpin(pin.version)
        #expect(try realm.compact())
        need.end()
        try other.close()
        realm.close()
    }

    @Test func `a change of the schema is told as such, and versions are compared`() throws {
        let directory = TemporaryDirectory()
        let path = directory.file()
        var realm = try CreationSchema.open(path)
        try realm.write { try realm.tablesForWriting().addConsumer("audit") }
        try touch(realm, 0)
        let from = try #require(realm.version)
        realm.close()
        let more = ClassSchema("More", properties: [PropertySchema("a", .int)])
        let schema = Schema(CreationSchema.schema.classes + [more])
        realm = try Realm.open(TestSchema.configuration(path, schema))
        let tables = try realm.readTables()
        let log = try #require(ChangeLog(tables))
        var operations = try #require(try log.changes(from: from, to: tables.version))
        var isTold = false
        if case .schemaChanged? = try operations.next() { isTold = true }
        #expect(isTold)
        #expect(try ChangeSummary.logged(from: from, to: tables) == nil)
        #expect(try realm.check() == [])
    }

    @Test func `consumers are added, acknowledge and go by name; else errors say what is wrong`()
        throws
    {
        let directory = TemporaryDirectory()
        let realm = try CreationSchema.open(directory.file())
        try touch(realm, 0)
        let reading = try realm.readTables()
        #expect(throws: RealmError.self) { try reading.addConsumer("a") }
        try realm.write {
            let tables = try realm.tablesForWriting()
            #expect(throws: RealmError.self) { try tables.addConsumer("") }
            #expect(throws: RealmError.self) {
                try tables.addConsumer(String(repeating: "n", count: 256))
            }
            #expect(throws: RealmError.self) { try tables.acknowledge("a", tables.version) }
            try tables.addConsumer("a")
        }
        let version = try #require(realm.version)
        #expect(reading.consumers == [ChangeConsumer(name: "a", acknowledged: version)])
        try realm.write {
            let tables = try realm.tablesForWriting()
            #expect(throws: RealmError.self) { try tables.acknowledge("a", version - 1) }
            #expect(throws: RealmError.self) { try tables.acknowledge("a", version + 1) }
            try tables.acknowledge("a", version)
        }
        try realm.beginWrite()
        try realm.tablesForWriting().removeConsumer("a")
        try realm.rollback()
        #expect(reading.consumers.count == 1)
    }
}
