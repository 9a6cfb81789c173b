import Dispatch
import Foundation
import GRDB

private struct Record: Codable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "row"
    var id: Int
    var age: Int
    var name: String
    var score: Double
}

func runGRDB(_ file: URL, count: Int, commits: Int) throws -> Times {
    var times = Times()
    var configuration = GRDB.Configuration()
    // A commit is on stable storage when it returns, as those of the others are.
    configuration.prepareDatabase { try $0.execute(sql: "PRAGMA synchronous = FULL") }
    let pool = try DatabasePool(path: file.path, configuration: configuration)
    try pool.write { database in
        try database.create(table: "row") { table in
            table.primaryKey("id", .integer)
            table.column("age", .integer).notNull()
            table.column("name", .text).notNull()
            table.column("score", .double).notNull()
        }
    }
    times.insert = try measure(count) {
        try pool.write { database in
            for id in 0..<count {
                try Record(id: id, age: id % 100, name: "row \(id % 1000)", score: Double(id))
                    .insert(database)
            }
        }
    }
    var sum = 0
    times.find = try measure(count) {
        try pool.read { database in
            for index in 0..<count {
                sum += try Record.fetchOne(database, key: index * 7919 % count)!.age
            }
        }
    }
    var length = 0
    times.loop = try measure(count) {
        try pool.read { database in
            let rows = try Record.fetchCursor(database)
            while let row = try rows.next() {
                sum += row.age
                length += row.name.utf8.count
            }
        }
    }
    check(sum == 2 * (count / 100 * 4950) && length > 0, "GRDB reads other values")
    times.update = try measure(count) {
        try pool.write { database in
            for var row in try Record.fetchAll(database) {
                row.age = (row.age + 1) % 100
                try row.update(database, columns: ["age"])
            }
        }
    }
    var calls = 0
    let observer = ValueObservation.tracking { database in
        try Record.filter(Column("age") < 50).order(Column("name")).fetchAll(database)
    }.start(in: pool, scheduling: .async(onQueue: .main)) { error in
        check(false, "GRDB: \(error)")
    } onChange: { _ in
        calls += 1
    }
    turn(until: { calls >= 1 })
    times.observe = try measure(commits) {
        for commit in 0..<commits {
            let before = calls
            try pool.write { database in
                var row = try Record.fetchOne(database, key: commit * 100 + 10)!
                row.age = commit % 40
                try row.update(database, columns: ["age"])
            }
            turn(until: { calls > before })
        }
    }
    observer.cancel()
    try pool.close()
    return times
}
