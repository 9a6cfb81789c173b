// Objects in groups: keys and values with the types of the properties, live and frozen.

import Foundation
import Testing

@_spi(RealmSwiftTesting) @testable import RealmSwift

@Suite struct GroupTests {
    private func filled() throws -> Realm {
        let realm = try Realm(configuration: memory())
        try realm.write {
            for (name, age) in [("Ann", 2), ("Bob", 1), ("Abe", 2), ("Cleo", 3), ("Bea", 1)] {
                realm.create(Dog.self, value: ["name": name, "age": age] as [String: Any])
            }
            let dogs = realm.objects(Dog.self)
            dogs[0].best = dogs[3]
            dogs[1].best = dogs[3]
        }
        return realm
    }

    @Test func groupsHaveTheTypesOfTheirProperties() throws {
        let realm = try filled()
        let dogs = realm.objects(Dog.self)
        let byAge = dogs.grouped(by: \.age)
        #expect(byAge.count == 3 && byAge.keys == [2, 1, 3])
        #expect(byAge.counts.map { "\($0.key): \($0.value)" } == ["2: 2", "1: 2", "3: 1"])
        let sums: [Int] = byAge.sum(of: \.age).map(\.value)
        #expect(sums == [4, 2, 3])
        let means: [Double?] = byAge.average(of: \.age).map(\.value)
        #expect(means == [2, 1, 3])
        let all = byAge.values(.count, .average(\.age), .max(\.age), .min(\.age))
        for (age, (count, mean, most, least)) in all {
            #expect(
                count == (age == 3 ? 1 : 2) && mean == Double(age) && most == age && least == age)
        }
        #expect(all.count == 3)
        let friends: [String?] = dogs.grouped(by: \.best?.name).keys
        #expect(friends == ["Cleo", nil])
        #expect(dogs.sorted(by: \.age).grouped(by: \.age).keys == [1, 2, 3])
        #expect(dogs.where { $0.age > 1 }.grouped(by: \.age).min(of: \.age).map(\.key) == [2, 3])
        let pairs = dogs.grouped(by: \.age, \.best?.name)
        #expect(
            pairs.counts.map { "\($0.key.0) \($0.key.1 ?? "-") \($0.value)" }
                == ["2 Cleo 1", "1 Cleo 1", "2 - 1", "3 - 1", "1 - 1"])
    }

    @Test func groupsFollowTheRealmAndFrozenOnesDoNot() throws {
        let realm = try filled()
        let byAge = realm.objects(Dog.self).grouped(by: \.age)
        let frozen = byAge.freeze()
        try realm.write {
            realm.create(Dog.self, value: ["name": "New", "age": 0] as [String: Any])
            #expect(byAge.keys == [2, 1, 3, 0])
            realm.delete(realm.objects(Dog.self).where { $0.age == 3 })
        }
        #expect(byAge.keys == [2, 1, 0] && frozen.keys == [2, 1, 3])
        #expect(frozen.isFrozen && frozen.thaw()?.keys == [2, 1, 0])
        realm.invalidate()
        #expect(byAge.isInvalidated)
    }

    @MainActor @Test func observersAreGivenTheGroups() async throws {
        let realm = try filled()
        let log = Log()
        let token = realm.objects(Dog.self).grouped(by: \.age).observe(keyPaths: ["age"]) {
            groups in
            log.add(groups.counts.map { "\($0.key):\($0.value)" }.joined(separator: " "))
        }
        #expect(try await log.wait(1) == ["2:2 1:2 3:1"])
        try realm.write { realm.objects(Dog.self)[1].age = 3 }
        #expect(try await log.wait(2).last == "2:2 3:2 1:1")
        token.invalidate()
    }
}
