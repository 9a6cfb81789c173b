// Collections with trees of their own: reading them everywhere, in snapshots and frozen realms, and
// finding texts in sets that are being filled.

import Testing

@testable import CoreSwift
@testable import TestSupport

private enum Hall {
    static let hall = ClassSchema(
        "Hall", primaryKey: "id",
        properties: [
            PropertySchema("id", .int, flags: [.primaryKey]),
            PropertySchema("numbers", .int, collection: .list),
            PropertySchema("texts", .string, collection: .list, flags: [.nullable]),
            PropertySchema("names", .string, collection: .set),
            PropertySchema("marks", .int, collection: .set, flags: [.nullable]),
            PropertySchema("ages", .int, collection: .dictionary),
            PropertySchema("halls", .object, collection: .list, linkTarget: "Hall"),
        ])

    static func filled(_ directory: TemporaryDirectory) throws -> Realm {
        let realm = try Realm.open(
            TestSchema.configuration(directory.file(), Schema([hall])))
        try realm.write { _ = try realm.create("Hall", primaryKey: .int(1)) }
        return realm
    }
}

extension Realm {
    fileprivate func list(_ name: String) throws -> RealmCollection {
        try #require(try find("Hall", primaryKey: .int(1))).collection(name)
    }
}

@Suite struct LargeCollectionTests {
    /// A list of integers whose leaves are of very different sizes.
    private func fill(_ realm: Realm, _ random: inout Random, count: Int) throws -> [Int64] {
        var model: [Int64] = []
        try realm.write {
            let numbers = try realm.list("numbers")
            for index in 0..<count {
                // Wide and narrow leaves, and some whose numbers are all the same.
                let value = index / 5000 % 3 == 0 ? 7 : Int64(random.below(index + 1))
                try numbers.insert(.int(value), at: index)
                model.append(value)
            }
        }
        try realm.write {
            let numbers = try realm.list("numbers")
            for _ in 0..<3 {
                let start = random.below(model.count - 3000)
                for _ in 0..<2500 {
                    try numbers.remove(at: start)
                    model.remove(at: start)
                }
                for _ in 0..<300 {
                    try numbers.insert(.int(-1), at: start)
                    model.insert(-1, at: start)
                }
            }
        }
        return model
    }

    @Test func `elements of a large list are found at any position, in any order`() throws {
        let directory = TemporaryDirectory()
        let realm = try Hall.filled(directory)
        var random = Random(TestSettings.seed("halls"))
        let model = try fill(realm, &random, count: 24_000)
        let numbers = try realm.list("numbers")
        for _ in 0..<4000 {
            let index = random.below(model.count)
            #expect(try numbers.get(index).intValue == model[index])
        }
        for index in model.indices { #expect(try numbers.get(index).intValue == model[index]) }
        #expect(errorCode { _ = try numbers.get(model.count) } == .indexOutOfBounds)
        #expect(errorCode { _ = try numbers.get(-1) } == .indexOutOfBounds)
        // A new version has leaves of its own.
        try realm.write { try numbers.set(.int(99), at: 12_000) }
        #expect(try numbers.get(12_000).intValue == 99)
        #expect(try numbers.get(11_999).intValue == model[11_999])
    }

    @Test func `several threads read the large list of a frozen realm`() async throws {
        let directory = TemporaryDirectory()
        let realm = try Hall.filled(directory)
        var random = Random(TestSettings.seed("frozen halls"))
        let model = try fill(realm, &random, count: 16_000)
        try realm.write {
            let texts = try realm.list("texts")
            for index in 0..<6000 {
                let value = index % 10 == 0 ? Value.null : .string("text \(index)")
                try value.withRaw { raw throws(RealmError) in try texts.insert(raw, at: index) }
            }
        }
        let frozen = try realm.freeze()
        try realm.write { try realm.list("numbers").removeAll() }
        struct Shared: @unchecked Sendable {
            let numbers: RealmCollection
            let texts: RealmCollection
        }
        let shared = Shared(numbers: try frozen.list("numbers"), texts: try frozen.list("texts"))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for seed in 0..<4 {
                group.addTask {
                    var random = Random(UInt64(seed))
                    for _ in 0..<2000 {
                        let index = random.below(model.count)
                        #expect(try shared.numbers.get(index).intValue == model[index])
                        let place = random.below(6000)
                        let text = try Value(shared.texts.get(place))
                        #expect(text == (place % 10 == 0 ? .null : .string("text \(place)")))
                    }
                }
            }
            try await group.waitForAll()
        }
        frozen.close()
        #expect(errorCode { _ = try shared.numbers.get(0) } == .invalidatedObject)
    }

    @Test(arguments: 0..<4)
    func `a set of texts stays in order whatever its texts have in common`(seed: Int) throws {
        let directory = TemporaryDirectory()
        let realm = try Hall.filled(directory)
        var random = Random(TestSettings.seed("names") &+ UInt64(seed))
        let beginnings = ["", "user-profile-", "user-profile-0000", "zz", "\0", "\0\0"]
        var model: Set<String> = []
        for round in 0..<4 {
            try realm.beginWrite()
            let names = try realm.list("names")
            for _ in 0..<1500 {
                // At first all texts begin alike; later ones stand before and behind.
                let beginning = beginnings[random.below(round < 1 ? 1 : beginnings.count)]
                var text = round == 0 ? "user-profile-" : beginning
                text += String(random.below(4000))
                if random.below(200) == 0 { text += String(repeating: "long", count: 900) }
                let isThere = model.contains(text)
                if random.below(3) == 0 {
                    let isGone = try Value.string(text).withRaw { raw throws(RealmError) in
                        try names.remove(raw)
                    }
                    #expect(isGone == isThere)
                    model.remove(text)
                } else {
                    let isNew = try Value.string(text).withRaw { raw throws(RealmError) in
                        try names.insert(raw).isNew
                    }
                    #expect(isNew != isThere)
                    model.insert(text)
                }
            }
            if round == 2 {
                try realm.rollback()
                return
            }
            try realm.commit()
            let sorted = model.sorted { $0.precedes($1) }
            let kept = try realm.list("names")
            #expect(
                try (0..<kept.count()).map { try Value(kept.get($0)) }
                    == sorted.map { .string($0) })
            for text in sorted.prefix(100) {
                let index = try Value.string(text).withRaw { raw throws(RealmError) in
                    try kept.find(raw)
                }
                #expect(index == sorted.firstIndex(of: text))
            }
        }
        #expect(try realm.check() == [])
    }

    @Test func `texts that took the place of others are found`() throws {
        let directory = TemporaryDirectory()
        let realm = try Hall.filled(directory)
        try realm.write {
            // Large once, so that the dictionary is not searched in a cell.
            let ages = try realm.list("ages")
            func put(_ key: String) throws -> Bool {
                try Value.string(key).withRaw { raw throws(RealmError) in
                    try ages.insert(.int(1), key: raw).isNew
                }
            }
            for index in 0..<300 { #expect(try put("many-\(index)")) }
            try ages.removeAll()
            for key in ["x", "y", "z"] {
                #expect(try put(key))
                #expect(try !put(key))
                #expect(try ages.count() == 1)
                try ages.remove(at: 0)
            }
            for key in ["a1", "a2", "b1", "b2"] {
                #expect(try put(key))
                #expect(try !put(key))
                if try ages.count() > 2 { try ages.remove(at: 0) }
            }
            #expect(try put("a3"))
            #expect(try !put("b1"))
        }
        #expect(try realm.check() == [])
    }

    @Test func `keys in ascending and descending order find their places`() throws {
        let directory = TemporaryDirectory()
        let realm = try Hall.filled(directory)
        try realm.write {
            let ages = try realm.list("ages")
            let marks = try realm.list("marks")
            _ = try marks.insert(.null)
            for index in 0..<3000 {
                // From the middle outwards.
                let number = index % 2 == 0 ? 5000 + index : 5000 - index
                try Value.string("key-\(number)").withRaw { key throws(RealmError) in
                    _ = try ages.insert(.int(Int64(number)), key: key)
                }
                #expect(try marks.insert(.int(Int64(number) - 5000)).isNew)
            }
            #expect(try marks.get(0).isNull)
            for index in 1..<3000 {
                #expect(try marks.get(index).intValue < marks.get(index + 1).intValue)
            }
        }
        let ages = try realm.list("ages")
        #expect(try ages.count() == 3000)
        for number in stride(from: 2002, to: 7998, by: 2) {
            let index = try Value.string("key-\(number)").withRaw { key throws(RealmError) in
                try ages.find(key: key)
            }
            if let index { #expect(try ages.get(index).intValue == Int64(number)) }
        }
        #expect(try realm.check() == [])
    }

    @Test func `links to one object are counted over commits`() throws {
        let directory = TemporaryDirectory()
        let realm = try Hall.filled(directory)
        var random = Random(TestSettings.seed("counted"))
        try realm.write {
            for id in 2..<12 { _ = try realm.create("Hall", primaryKey: .int(Int64(id))) }
        }
        let owner = try #require(realm.schema.class_(named: "Hall"))
        let property = try #require(owner.property(named: "halls")).key
        var models = [[Int64]](repeating: [], count: 12)
        for round in 0..<12 {
            try realm.write {
                for _ in 0..<60 {
                    let id = random.below(11) + 1
                    let hall = try #require(try realm.find("Hall", primaryKey: .int(Int64(id))))
                    let list = try hall.collection("halls")
                    // Few targets, so that one list holds them several times.
                    let target = Int64(random.below(3) + 1)
                    if random.below(5) < 3 || models[id].isEmpty {
                        try list.insert(
                            .link(owner.key, ObjectKey(rawValue: target)),
                            at: models[id].count)
                        models[id].append(target)
                    } else {
                        let index = random.below(models[id].count)
                        try list.remove(at: index)
                        models[id].remove(at: index)
                    }
                }
            }
            for target in 1..<4 as Range<Int64> {
                let hall = try #require(try realm.find("Hall", primaryKey: .int(target)))
                let holders = try hall.handle.backlinks(from: owner.key, property: property)
                let expected = models.indices.flatMap { id in
                    models[id].filter { $0 == target }.map { _ in Int64(id) }
                }
                #expect(try holders.count() == expected.count, "round \(round)")
                #expect(
                    try (0..<holders.count()).map { try holders.get($0).linkTarget.rawValue }
                        == expected)
            }
            #expect(try realm.check() == [], "round \(round)")
        }
    }
}
