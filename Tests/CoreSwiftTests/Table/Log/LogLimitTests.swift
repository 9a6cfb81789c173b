// The log that is kept for those who only want to be notified has a limit, whatever it consists of.

import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite struct LogLimitTests {
    /// The log names the keys of dictionaries, so that long ones make much of it at little cost.
    @Test(arguments: [1500, 5000, 100_000])
    func `segments behind blocks of entries count for the limit`(_ keyBytes: Int) throws {
        let directory = TemporaryDirectory()
        var configuration = TestSchema.configuration(directory.file(), CreationSchema.schema)
        configuration.isInMemory = true
        let realm = try Realm.open(configuration)
        try realm.write { _ = try realm.create("All", primaryKey: .int(1)) }
        let object = try #require(try realm.find("All", primaryKey: .int(1)))
        let entries = try object.collection("intD")
        let key = Value.string(String(repeating: "k", count: keyBytes))
        let start = try #require(realm.version)
        let need = try LogNeed(realm.file.store, from: start)
        let limit = LogDirectory.notifiedPagesMax << Page.shift
        var commits = 0
        var bytesMax = 0
        var from = start
        // Goes on until the oldest went three times.
        var drops = 0
        while drops < 3, commits < 10_000 {
            try realm.write {
                try key.withRaw { key throws(RealmError) in
                    try Value.int(Int64(commits)).withRaw { value throws(RealmError) in
                        _ = try entries.insert(value, key: key)
                    }
                }
            }
            commits += 1
            guard let log = try realm.readTables().catalog.log,
                keyBytes > 50_000 || commits % 8 == 0
            else { continue }
            bytesMax = max(bytesMax, try blockBytes(realm))
            if log.from > from { drops += 1 }
            from = log.from
        }
        #expect(drops == 3)
        #expect(bytesMax <= limit && bytesMax > limit - limit / 16)
        // What is left is not much less.
        #expect(try blockBytes(realm) > limit - limit / 8)
        let log = try #require(try realm.readTables().catalog.log)
        #expect(log.entries.contains { $0.level > 0 })
        let tables = try realm.readTables()
        let rest = try #require(try ChangeLog(tables)?.changes(from: from, to: tables.version))
        #expect(rest.versionCount == Int(tables.version - from))
        need.end()
        try realm.write { _ = try realm.create("All", primaryKey: .int(-1)) }
        #expect(try realm.readTables().catalog.log == nil)
        #expect(try realm.check() == [])
    }

    private func blockBytes(_ realm: Realm) throws -> Int {
        try #require(try realm.statistics().changeLog).bytes
    }
}
