// Values from before that the change log leaves out, of few bytes and no integers: each stands in one record, as long as
// one process writes. What they are is in `UnwrittenValuesTests`.

import Testing

@testable import CoreSwift
@testable import TestSupport

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

@Suite struct ToldObjectsTests {
    private let directory = TemporaryDirectory()
    private let files = RecordingFileSystem()

    private static let schema = Schema([
        ClassSchema(
            "Item", primaryKey: "id",
            properties: [
                PropertySchema("id", .int, flags: [.primaryKey]), PropertySchema("number", .double),
                PropertySchema("other", .double, flags: [.nullable]),
            ])
    ])

    private func open() throws -> Realm {
        try Realm.open(TestSchema.configuration(directory.file(), Self.schema), files: files)
    }

    /// Objects whose values the log leaves out.
    private func load(_ realm: Realm, from first: Int64 = 0) throws -> [DynamicObject] {
        var items: [DynamicObject] = []
        try realm.write {
            for number in 0..<300 as Range<Int64> {
                items.append(
                    try realm.create(
                        "Item", primaryKey: .int(first + number),
                        ["number": .double(Double(number))]))
            }
        }
        return items
    }

    /// What the newest version tells of values from before: "key.column = value".
    private func told(_ realm: Realm) throws -> [String] {
        let tables = try realm.readTables()
        let log = try #require(ChangeLog(tables))
        var operations = ChangeOperations(
            try log.records(from: tables.version - 1, to: tables.version))
        var result: [String] = []
        while let found = try operations.nextBefore() {
            let value = try found.value.scalar()
            result.append(
                "\(found.key.rawValue).\(found.column) = \(value.isNull ? "null" : "\(Int(value.doubleValue))")"
            )
        }
        return result
    }

    @Test func `a value from before is told with the commit that sets it first`() throws {
        let realm = try open()
        let other = try open()
        try realm.write { try realm.addLogConsumer("audit") }
        let items = try load(realm)
        try realm.write { for index in 10..<13 { try items[index].set("number", .double(-1)) } }
        #expect(try told(realm) == ["10.1 = 10", "11.1 = 11", "12.1 = 12"])
        // Another realm of the process, and another transaction that is taken back.
        try other.write {
            try #require(try other.find("Item", primaryKey: .int(11))).set("number", .double(-2))
        }
        #expect(try told(other) == [])
        try realm.beginWrite()
        try items[13].set("number", .double(-1))
        try realm.rollback()
        try realm.write { for index in 11..<14 { try items[index].set("number", .double(-3)) } }
        #expect(try told(realm) == ["13.1 = 13"])
        // Another property.
        try realm.write { try items[11].set("other", .double(5)) }
        #expect(try told(realm) == ["11.2 = null"])
        try realm.write { try items[11].set("other", .null) }
        #expect(try told(realm) == [])
        // Far apart in the words of bits, and all.
        try realm.write {
            for index in [0, 63, 64, 299] { try items[index].set("number", .double(-4)) }
        }
        #expect(try told(realm) == ["0.1 = 0", "63.1 = 63", "64.1 = 64", "299.1 = 299"])
        try realm.write { for item in items { try item.set("number", .double(-5)) } }
        #expect(try told(realm).count == 300 - 8)
        // Objects of a further transaction are others.
        let more = try load(realm, from: 300)
        try realm.write {
            for item in [items[0], more[0], more[1]] { try item.set("number", .double(-6)) }
        }
        #expect(try told(realm) == ["300.1 = 0", "301.1 = 1"])
        #expect(try realm.check() == [])
        realm.close()
        other.close()
    }

    /// What is remembered belongs to one log: that of the commit that wrote the values.
    @Test func `what is not in the log is told again`() throws {
        let realm = try open()
        try realm.write { try realm.addLogConsumer("audit") }
        let start = try #require(realm.version)
        let before = try ReplayModel(realm.readTables())
        let items = try load(realm)
        let loaded = try #require(realm.version)
        let model = try ReplayModel(realm.readTables())
        try realm.write { try items[1].set("number", .double(-1)) }
        // A commit that fails.
        files.writesFailWith = ENOSPC
        #expect(throws: RealmError.self) {
            try realm.write {
                for index in 1..<4 { try items[index].set("number", .double(-2)) }
            }
        }
        files.writesFailWith = nil
        try realm.write { for index in 1..<4 { try items[index].set("number", .double(-3)) } }
        #expect(try told(realm).suffix(2) == ["2.1 = 2", "3.1 = 3"])
        // Another process writes, of which this one knows nothing.
        let known = realm.file.store.writerMemory
        #expect(known != nil)
        realm.file.store.writerMemory = nil
        try realm.write { try items[9].set("number", .double(-4)) }
        realm.file.store.writerMemory = known
        try realm.write { for index in 3..<5 { try items[index].set("number", .double(-5)) } }
        #expect(try told(realm) == ["3.1 = -3", "4.1 = 4"])
        // The log has the values that the objects were created with, whatever is told again.
        let tables = try realm.readTables()
        var replayed = before
        var operations = try #require(try ChangeLog(tables)?.changes(from: start, to: loaded))
        while let operation = try operations.next() { try replayed.apply(operation, tables) }
        #expect(replayed == model)
        #expect(try realm.check() == [])
        realm.close()
    }

    /// What a forged catalog may say: of these objects values are told again, and nothing ends.
    @Test func `keys of forged catalogs are told again and end nothing`() {
        func objects(_ range: ClosedRange<Int64>) -> UnwrittenObjects {
            let low = ObjectKey(rawValue: range.lowerBound)
            let high = ObjectKey(rawValue: range.upperBound)
            return UnwrittenObjects(
                version: 3, classKey: ClassKey(rawValue: 1), keys: KeyRanges(ranges: [low...high]))
        }
        let told = ToldObjects()
        let some = objects(100...299)
        #expect(told.add(some.keys, of: some, 0) == some.keys)
        #expect(told.add(some.keys, of: some, 0).isEmpty)
        // One version and class twice.
        for range in [0...9, 90...109, 290...310, 500...510] as [ClosedRange<Int64>] {
            let other = objects(range)
            #expect(told.add(other.keys, of: other, 0) == other.keys)
        }
        // More objects than memory has bits.
        let all = objects(0...(.max - 1))
        let few = objects(7...8).keys
        for _ in 0..<2 { #expect(told.add(few, of: all, 1) == few) }
    }
}
