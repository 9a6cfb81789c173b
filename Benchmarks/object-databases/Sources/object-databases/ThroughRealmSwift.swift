import Foundation
import RealmSwift

final class Row: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var age: Int
    @Persisted var name: String
    @Persisted var score: Double
}

func runRealmSwift(_ file: URL, count: Int, commits: Int) throws -> Times {
    var times = Times()
    let realm = try Realm(configuration: .init(fileURL: file, objectTypes: [Row.self]))
    times.insert = try measure(count) {
        try realm.write {
            for id in 0..<count {
                let row = Row()
                row.id = id
                row.age = id % 100
                row.name = "row \(id % 1000)"
                row.score = Double(id)
                realm.add(row)
            }
        }
    }
    var sum = 0
    times.find = measure(count) {
        for index in 0..<count {
            sum += realm.object(ofType: Row.self, forPrimaryKey: index * 7919 % count)!.age
        }
    }
    let all = realm.objects(Row.self)
    var length = 0
    times.loop = measure(count) {
        for row in all {
            sum += row.age
            length += row.name.utf8.count
        }
    }
    check(sum == 2 * (count / 100 * 4950) && length > 0, "RealmSwift reads other values")
    times.update = try measure(count) {
        try realm.write { for row in all { row.age = (row.age + 1) % 100 } }
    }
    var calls = 0
    let young = all.where { $0.age < 50 }.sorted(byKeyPath: "name")
    let token = young.observe { _ in calls += 1 }
    turn(until: { calls == 1 })
    times.observe = try measure(commits) {
        for commit in 0..<commits {
            try realm.write {
                realm.object(ofType: Row.self, forPrimaryKey: commit * 100 + 10)!.age = commit % 40
            }
            turn(until: { calls == 2 + commit })
        }
    }
    token.invalidate()
    return times
}
