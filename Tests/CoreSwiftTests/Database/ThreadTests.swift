// Realms of one file on several threads: each has its snapshot, writers take turns, nobody sees
// half a transaction.

import Foundation
import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite struct ThreadTests {
    let directory = TemporaryDirectory()

    @Test func snapshotsAreWholeWhileOthersWrite() throws {
        let path = directory.file()
        let accounts: Int64 = 300
        let setUp = try TestSchema.open(path)
        try setUp.write {
            for id in 0..<accounts {
                _ = try setUp.create("Dog", primaryKey: .int(id), ["age": .int(100)])
            }
        }
        let rounds = TestSettings.number("REALM_THREAD_ROUNDS", 150)
        let failures = Counter()
        let transfers = Counter()
        DispatchQueue.concurrentPerform(iterations: 6) { thread in
            do {
                let realm = try TestSchema.open(path)
                defer { realm.close() }
                var random = Random(UInt64(thread) &+ 99)
                for _ in 0..<rounds {
                    if thread < 2 {
                        try realm.beginWrite()
                        let from = Int64(random.below(Int(accounts)))
                        let to = Int64(random.below(Int(accounts)))
                        try move(realm, from: from, to: to, &random)
                        if random.below(5) == 0 {
                            try realm.rollback()
                        } else {
                            try realm.commit()
                            transfers.add()
                        }
                    } else {
                        _ = try realm.refresh()
                        var sum: Int64 = 0
                        for id in 0..<accounts {
                            guard
                                case .int(let age)? = try realm.find("Dog", primaryKey: .int(id))?
                                    .get("age")
                            else {
                                failures.add()
                                continue
                            }
                            sum += age
                        }
                        if sum != accounts * 100 { failures.add() }
                    }
                }
            } catch {
                Issue.record("thread \(thread): \(error)")
            }
        }
        #expect(failures.value == 0)
        #expect(transfers.value > 0)
        _ = try setUp.refresh()
        #expect(setUp.version == 3 + UInt64(transfers.value))
        #expect(try setUp.liveVersionCount() == 1)
    }

    private func move(
        _ realm: Realm, from: Int64, to: Int64, _ random: inout Random
    ) throws {
        guard from != to, let a = try realm.find("Dog", primaryKey: .int(from)),
            let b = try realm.find("Dog", primaryKey: .int(to)),
            case .int(let x) = try a.get("age"), case .int(let y) = try b.get("age")
        else { return }
        let amount = Int64(random.below(1000))
        try a.set("age", .int(x - amount))
        try b.set("age", .int(y + amount))
        // Text of changing length makes leaves open and seal as well.
        try a.set("name", .string(String(repeating: "n", count: random.below(60))))
    }

    @Test func openingAndClosingOnManyThreadsSharesOneFile() throws {
        let path = directory.file()
        let opened = Counter()
        DispatchQueue.concurrentPerform(iterations: 8) { thread in
            do {
                for round in 0..<40 {
                    let realm = try TestSchema.open(path)
                    let id = Int64(thread * 1000 + round)
                    try realm.write {
                        _ = try realm.create("Dog", primaryKey: .int(id))
                    }
                    #expect(try realm.find("Dog", primaryKey: .int(id)) != nil)
                    realm.close()
                    opened.add()
                }
            } catch {
                Issue.record("thread \(thread): \(error)")
            }
        }
        #expect(opened.value == 320)
        let realm = try TestSchema.open(path)
        let dogs = try #require(realm.schema.class_(named: "Dog")).key
        #expect(try realm.objectCount(dogs) == 320)
    }
}
