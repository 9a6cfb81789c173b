import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite struct ResultsTests {
    private let directory = TemporaryDirectory()
    private let realm: Realm

    init() throws {
        var configuration = Configuration(path: directory.file())
        configuration.schemaVersion = 1
        configuration.schema = Schema([
            ClassSchema(
                "Person", primaryKey: "id",
                properties: [
                    PropertySchema("id", .int, flags: [.primaryKey]),
                    PropertySchema("name", .string),
                    PropertySchema("age", .int, flags: [.nullable]),
                    PropertySchema("score", .double),
                    PropertySchema("born", .timestamp, flags: [.nullable]),
                    PropertySchema("active", .bool),
                    PropertySchema("team", .object, linkTarget: "Team", flags: [.nullable]),
                ]),
            ClassSchema(
                "Team", primaryKey: "name",
                properties: [PropertySchema("name", .string, flags: [.primaryKey])]),
        ])
        realm = try Realm.open(configuration)
        try realm.beginWrite()
        let teams = try ["red", "blue"].map { try realm.create("Team", primaryKey: .string($0)) }
        for index in 0..<3000 {
            let person = try realm.create(
                "Person", primaryKey: .int(Int64(index)),
                [
                    "name": .string("n\(index % 10)"), "score": .double(Double(index) / 2),
                    "age": index % 7 == 0 ? .null : .int(Int64(index % 50)),
                    "active": .bool(index % 2 == 0),
                    "born": .timestamp(Timestamp(seconds: Int64(index), nanoseconds: 1)),
                ])
            if index % 3 != 0 { try person.set("team", .link(teams[index % 2].link)) }
        }
        try realm.commit()
    }

    private func key(_ name: String) -> PropertyKey {
        realm.schema.class_(named: "Person")!.property(named: name)!.key
    }

    /// Ids of all elements, by position.
    private func ids(_ results: Results) throws -> [Int64] {
        try (0..<results.count()).map { try results.get($0).linkTarget.rawValue }
    }

    @Test func classResultsStandInOrderOfKeys() throws {
        let all = try realm.objects("Person")
        #expect(try all.count() == 3000)
        #expect(try ids(all) == Array(0..<3000))
        for index in [2999, 0, 1500, 1499] {
            #expect(try all.dynamicObject(index).get("id") == .int(Int64(index)))
        }
        for index in [3000, -1] {
            #expect(errorCode { _ = try all.dynamicObject(index) } == .indexOutOfBounds)
        }
        #expect(throws: RealmError.self) { try all.get(3000) }
        #expect(throws: RealmError.self) { try all.object(-1) }
        #expect(try all.find(2000 as ObjectKey) == 2000)
        #expect(try all.find(5000 as ObjectKey) == nil)
    }

    @Test func resultsFollowTheOwnWriteTransaction() throws {
        let all = try realm.objects("Person")
        let old = try all.filter("age >= 40 AND age < 42")
        let before = try old.count()
        try realm.beginWrite()
        let person = try #require(try realm.find("Person", primaryKey: .int(1)))
        try person.set("age", .int(41))
        #expect(try old.count() == before + 1)
        #expect(try ids(old).contains(1))
        try person.set("age", .int(3))
        #expect(try old.count() == before)
        try person.set("age", .int(40))
        #expect(try ids(old).contains(1))
        try realm.find("Person", primaryKey: .int(0))?.delete()
        #expect(try all.count() == 2999)
        #expect(try all.get(0).linkTarget.rawValue == 1)
        try realm.rollback()
        #expect(try old.count() == before)
        #expect(try ids(old).count == before)
        #expect(try all.get(0).linkTarget.rawValue == 0)
    }

    @Test func refinementsStack() throws {
        let all = try realm.objects("Person")
        let young = try all.filter("age < 10").filter("active == true")
        #expect(
            try ids(young)
                == (0..<3000).filter { $0 % 7 != 0 && $0 % 50 < 10 && $0 % 2 == 0 })
        let sorted = try young.sorted("age DESC, id ASC")
        let chosen = (0..<3000).filter { $0 % 7 != 0 && $0 % 50 < 10 && $0 % 2 == 0 }
        let ordered = chosen.sorted { a, b in
            a % 50 != b % 50 ? a % 50 > b % 50 : a < b
        }
        let model = ordered.map { Int64($0) }
        #expect(try sorted.get(0).linkTarget.rawValue == model[0])
        #expect(try ids(sorted) == model)
        #expect(try ids(sorted.limited(5)) == Array(model.prefix(5)))
        #expect(try ids(sorted.limited(5).limited(9)).count == 5)
        let ages: [Int64] = [8, 6, 4, 2, 0]
        let firsts = ages.compactMap { age in model.first { $0 % 50 == age } }
        #expect(try ids(sorted.distinct("age")) == firsts)
        #expect(
            try ids(sorted.limited(5).filter("id < 1000")) == model.prefix(5).filter { $0 < 1000 })
        #expect(try ids(sorted.filter("age == 4")) == model.filter { $0 % 50 == 4 })
        #expect(try all.limited(0).count() == 0)
        let again = try sorted.limited(20).sorted("id ASC")
        #expect(try ids(again) == Array(model.prefix(20)).sorted())
    }

    @Test func sortedResultsGrowAsTheyAreRead() throws {
        let sorted = try realm.objects("Person").sorted("score DESC")
        for index in 0..<3000 {
            #expect(try sorted.get(index).linkTarget.rawValue == Int64(2999 - index))
        }
        #expect(throws: RealmError.self) { try sorted.get(3000) }
    }

    @Test func snapshotsKeepTheirElements() throws {
        let young = try realm.objects("Person").filter("age == 1")
        let snapshot = try young.snapshot()
        let keys = try ids(young)
        try realm.beginWrite()
        try realm.find("Person", primaryKey: .int(keys[0]))?.delete()
        try realm.find("Person", primaryKey: .int(keys[1]))?.set("age", .int(9))
        #expect(try young.count() == keys.count - 2)
        #expect(try snapshot.count() == keys.count)
        #expect(try snapshot.get(0).isNull)
        #expect(try snapshot.get(1).linkTarget.rawValue == keys[1])
        let gone = DynamicObject(try snapshot.object(0))
        #expect(!gone.isValid)
        #expect(throws: RealmError.self) { try gone.get("age") }
        try snapshot.deleteAll()
        #expect(try snapshot.count() == keys.count)
        #expect(try young.count() == 0)
        try realm.rollback()
        #expect(try young.count() == keys.count)
    }

    @Test func backlinksAreResults() throws {
        let red = try #require(try realm.find("Team", primaryKey: .string("red")))
        let person = realm.schema.class_(named: "Person")!.key
        let members = try red.handle.backlinks(from: person, property: key("team"))
        let numbers = Array(0..<3000).filter { $0 % 3 != 0 && $0 % 2 == 0 }
        let model: [Int64] = numbers.map { Int64($0) }
        let young = model.filter { $0 % 7 != 0 && $0 % 50 == 8 }
        #expect(try members.count() == model.count)
        #expect(try ids(members) == model)
        #expect(try members.filter("age == 8").count() == young.count)
        let text = Array("age == 8".utf8)
        let query = try text.withUnsafeBufferPointer {
            try members.query().and($0, arguments: [])
        }
        #expect(try query.count() == young.count)
        try realm.beginWrite()
        try realm.find("Person", primaryKey: .int(2))?.set("team", .null)
        #expect(try members.count() == model.count - 1)
        #expect(try ids(members).first == 4)
        try realm.find("Person", primaryKey: .int(4))?.set("team", .null)
        #expect(try ids(members).first == 8)
        try red.delete()
        #expect(try members.count() == 0)
        #expect(members.isValid)
        try realm.rollback()
        #expect(throws: RealmError.self) {
            try red.handle.backlinks(from: person, property: key("name"))
        }
    }

    @Test func aggregatesLeaveOutNulls() throws {
        let all = try realm.objects("Person")
        let persons = Array(0..<3000).filter { $0 % 7 != 0 }
        let ages: [Int] = persons.map { $0 % 50 }
        let total = ages.reduce(0, +)
        #expect(try all.aggregate(.sum, key("age")).value.intValue == Int64(total))
        #expect(
            try all.aggregate(.average, key("age")).value.doubleValue
                == Double(total) / Double(ages.count))
        #expect(try all.aggregate(.minimum, key("age")).value.intValue == 0)
        #expect(try all.aggregate(.maximum, key("age")).value.intValue == 49)
        #expect(try all.aggregate(.sum, key("score")).value.doubleValue == 0.25 * 3000 * 2999)
        #expect(try all.aggregate(.maximum, key("score")).value.doubleValue == 1499.5)
        #expect(try all.aggregate(.minimum, key("born")).value.seconds == 0)
        let some = try all.filter("age == 3")
        #expect(try some.aggregate(.sum, key("age")).value.intValue == 3 * Int64(try some.count()))
        let none = try all.filter("age == 1000")
        #expect(try none.aggregate(.sum, key("age")).value.intValue == 0)
        #expect(try none.aggregate(.sum, key("age")).found == false)
        #expect(try none.aggregate(.maximum, key("age")).value.isNull)
        #expect(throws: RealmError.self) { try all.aggregate(.sum, key("name")) }
        #expect(throws: RealmError.self) { try all.aggregate(.sum, PropertyKey(rawValue: 99)) }
    }

    @Test func bulkReadsGiveWhatSingleReadsGive() throws {
        let all = try realm.objects("Person")
        let sorted = try all.sorted("name DESC, id DESC")
        for results in [all, sorted] {
            let count = try results.count()
            var ages = [Int64](repeating: -1, count: count)
            var nulls = [UInt8](repeating: 9, count: count)
            var scores = [Double](repeating: -1, count: count)
            var keys = [ObjectKey](repeating: -1, count: count)
            var texts = [TextReference](
                repeating: TextReference(start: nil, count: 0), count: count)
            #expect(
                try results.readIntegers(
                    key("age"), from: 0, count: .max, into: &ages, isNull: &nulls) == count)
            #expect(
                try results.readDoubles(
                    key("score"), from: 0, count: count, into: &scores, isNull: nil) == count)
            #expect(try results.readKeys(from: 0, count: count, into: &keys) == count)
            #expect(
                try results.readTexts(key("name"), from: 0, count: count, into: &texts) == count)
            for index in stride(from: 0, to: count, by: 7) {
                let object = DynamicObject(try results.object(index))
                #expect(object.key == keys[index])
                let age = try object.get("age")
                #expect(age == (nulls[index] == 1 ? .null : .int(ages[index])))
                #expect(try object.get("score") == .double(scores[index]))
                let text = String(
                    decoding: UnsafeRawBufferPointer(
                        start: texts[index].start, count: texts[index].count), as: UTF8.self)
                #expect(try object.get("name") == .string(text))
            }
            #expect(try results.readKeys(from: count - 1, count: 10, into: &keys) == 1)
            #expect(try results.readKeys(from: count, count: 10, into: &keys) == 0)
        }
    }

    @Test func deleteAllDeletesExactlyTheElements() throws {
        let all = try realm.objects("Person")
        let some = try all.filter("age == 3").limited(4)
        let keys = try ids(some)
        #expect(throws: RealmError.self) { try some.deleteAll() }
        try realm.beginWrite()
        try some.deleteAll()
        #expect(try all.count() == 3000 - keys.count)
        #expect(try some.count() == 4)
        try all.deleteAll()
        #expect(try all.count() == 0)
        try realm.rollback()
        #expect(try ids(some) == keys)
    }

    @Test func resultsOfAClosedRealmAreStale() throws {
        let all = try realm.objects("Person")
        let young = try all.filter("age < 10")
        _ = try young.count()
        realm.close()
        #expect(!all.isValid)
        let error = #expect(throws: RealmError.self) { try young.count() }
        #expect(error?.code == .staleAccessor)
    }

    @Test func liveQueriesExecuteOnTheCurrentState() throws {
        let person = realm.schema.class_(named: "Person")!.key
        let query = try realm.query(person, "age == 3 SORT(id DESC) LIMIT(2)")
        #expect(try query.count() == 2)
        #expect(try query.findFirst()?.objectKey == 2953)
        #expect(try ids(query.findAll()) == [2953, 2903])
        let none = try realm.query(person, "age == 3 LIMIT(0)")
        #expect(try none.count() == 0)
        #expect(try none.findFirst()?.objectKey == 3)
        #expect(try realm.query(person, "age == 99").findFirst() == nil)
    }

    /// A handle that is pointed at another element is like one that was made for it.
    @Test func handlesArePointedAtOtherElements() throws {
        let all = try realm.objects("Person")
        let listed = try realm.objects("Person").filter("active == true").snapshot()
        for results in [all, listed] {
            let handle = try results.object(0)
            defer { handle.release() }
            var pointed = 0
            for index in 0..<(try results.count()) {
                let made = try results.object(index)
                defer { made.release() }
                guard try results.point(handle, at: index) else { continue }
                pointed += 1
                #expect(handle.isEqual(made) && handle.isValid)
                #expect(
                    try DynamicObject(handle.clone()).get("id")
                        == DynamicObject(made.clone()).get("id"))
            }
            #expect(pointed > 900)
        }
        let team = try realm.objects("Team").object(0)
        defer { team.release() }
        _ = try all.object(5).release()
        // Of another class, another realm, observed, far away, behind the end, in a transaction.
        #expect(try !all.point(team, at: 5))
        let other = try Realm.open(Configuration(path: directory.file()))
        let foreign = try other.objects("Person").object(5)
        defer { foreign.release() }
        #expect(other !== realm ? try !all.point(foreign, at: 5) : true)
        let handle = try all.object(5)
        defer { handle.release() }
        #expect(try !all.point(handle, at: 3000) && handle.objectKey.rawValue == 5)
        #expect(try !all.point(handle, at: -1) && handle.objectKey.rawValue == 5)
        handle.noteObserved()
        #expect(try !all.point(handle, at: 6) && handle.objectKey.rawValue == 5)
        let free = try all.object(5)
        defer { free.release() }
        #expect(try all.point(free, at: 6) && free.objectKey.rawValue == 6)
        try realm.beginWrite()
        #expect(try !all.point(free, at: 7) && free.objectKey.rawValue == 6)
        try realm.rollback()
        let frozen = try realm.freeze()
        let cold = try frozen.objects("Person")
        let icy = try cold.object(5)
        defer { icy.release() }
        #expect(try !cold.point(icy, at: 6) && icy.objectKey.rawValue == 5)
    }
}
