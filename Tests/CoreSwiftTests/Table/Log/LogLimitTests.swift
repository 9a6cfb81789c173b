// The log that is kept for those who only want to be notified has a limit, whatever it consists of.

import Testing

@testable import CoreSwift

@Suite struct LogLimitTests {
    @Test(arguments: [500, 4000])
    func `segments behind blocks of entries count for the limit`(_ changed: Int) throws {
        let directory = TemporaryDirectory()
        var configuration = TestSchema.configuration(directory.file(), CreationSchema.schema)
        configuration.isInMemory = true
        let realm = try Realm.open(configuration)
        try realm.write {
            for number in 0..<8000 { _ = try realm.create("All", primaryKey: .int(Int64(number))) }
        }
        let objects = try (0..<8000).map {
            try #require(try realm.find("All", primaryKey: .int(Int64($0))))
        }
        let start = try #require(realm.version)
        let need = try LogNeed(realm.file.store, from: start)
        let limit = LogDirectory.notifiedPagesMax << Page.shift
        var random = Random(7)
        var commits = 0
        var bytesMax = 0
        var from = start
        // Goes on until the oldest went three times.
        var drops = 0
        while drops < 3, commits < 10_000 {
            try realm.write {
                var number = random.below(8000)
                for _ in 0..<changed {
                    number = (number + 1 + random.below(200)) % 8000
                    try objects[number].set("int", .int(Int64(commits)))
                }
            }
            commits += 1
            guard let log = try realm.readTables().catalog.log, commits % 8 == 0 else { continue }
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
