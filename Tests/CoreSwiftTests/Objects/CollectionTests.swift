// Lists, sets and dictionaries through handles, against plain Swift containers.

import Testing

@testable import CoreSwift
@testable import TestSupport

private enum Shelf {
    static let box = ClassSchema(
        "Box", primaryKey: "id",
        properties: [
            PropertySchema("id", .int, flags: [.primaryKey]),
            PropertySchema("numbers", .int, collection: .list),
            PropertySchema("words", .string, collection: .list, flags: [.nullable]),
            PropertySchema("unique", .int, collection: .set),
            PropertySchema("names", .string, collection: .set),
            PropertySchema("ages", .int, collection: .dictionary, flags: [.nullable]),
            PropertySchema("friends", .object, collection: .list, linkTarget: "Box"),
            PropertySchema("circle", .object, collection: .set, linkTarget: "Box"),
            PropertySchema(
                "roles", .object, collection: .dictionary, linkTarget: "Box", flags: [.nullable]),
            PropertySchema("times", .timestamp, collection: .list),
            PropertySchema("flags", .bool, collection: .list),
            PropertySchema("reals", .double, collection: .set),
        ])
    static let schema = Schema([box])

    static func open(_ path: String) throws -> Realm {
        try Realm.open(TestSchema.configuration(path, schema))
    }
}

extension RealmCollection {
    fileprivate func values() throws -> [Value] {
        try (0..<count()).map { try Value(get($0)) }
    }
    fileprivate func keys() throws -> [Value] {
        try (0..<count()).map { try Value(key($0)) }
    }
    fileprivate func put(_ value: Value, at index: Int) throws {
        try value.withRaw { raw throws(RealmError) in try insert(raw, at: index) }
    }
    fileprivate func put(_ value: Value) throws -> (index: Int, isNew: Bool) {
        try value.withRaw { raw throws(RealmError) in try insert(raw) }
    }
    fileprivate func put(_ key: String, _ value: Value) throws {
        try Value.string(key).withRaw { key throws(RealmError) in
            try value.withRaw { raw throws(RealmError) in
                _ = try insert(raw, key: key)
            }
        }
    }
}

/// What a box should hold.
private struct BoxModel: Equatable {
    var numbers: [Value] = []
    var words: [Value] = []
    var unique: Set<Int64> = []
    var names: Set<String> = []
    var ages: [String: Value] = [:]

    func check(_ object: DynamicObject, _ note: Comment) throws {
        #expect(try object.collection("numbers").values() == numbers, note)
        #expect(try object.collection("words").values() == words, note)
        #expect(
            try object.collection("unique").values() == unique.sorted().map { .int($0) }, note)
        let texts = names.sorted { $0.precedes($1) }
        #expect(try object.collection("names").values() == texts.map { .string($0) }, note)
        let dictionary = try object.collection("ages")
        let keys = ages.keys.sorted { $0.precedes($1) }
        #expect(try dictionary.keys() == keys.map { .string($0) }, note)
        #expect(try dictionary.values() == keys.map { ages[$0]! }, note)
    }
}

@Suite struct CollectionTests {
    @Test func `the empty text comes first, also when it was there alone`() throws {
        let directory = TemporaryDirectory()
        let realm = try Shelf.open(directory.file())
        try realm.write {
            let box = try realm.create("Box", primaryKey: .int(1))
            let names = try box.collection("names")
            let ages = try box.collection("ages")
            for text in ["", "0", "a"] {
                _ = try names.put(.string(text))
                try ages.put(text, .int(1))
            }
            #expect(try names.values() == [.string(""), .string("0"), .string("a")])
            #expect(try ages.keys() == [.string(""), .string("0"), .string("a")])
            #expect(try names.put(.string("0")).isNew == false)
        }
        #expect(try realm.check() == [])
    }

    @Test func `a list keeps order, duplicates and nulls, through commits and reopening`() throws {
        let directory = TemporaryDirectory()
        let path = directory.file()
        do {
            let realm = try Shelf.open(path)
            try realm.write {
                let box = try realm.create("Box", primaryKey: .int(1))
                let words = try box.collection("words")
                for (index, word) in ["b", "a", "b"].enumerated() {
                    try words.put(.string(word), at: index)
                }
                try words.put(.null, at: 1)
                #expect(
                    try words.values() == [.string("b"), .null, .string("a"), .string("b")])
            }
            realm.close()
        }
        let realm = try Shelf.open(path)
        let words = try realm.find("Box", primaryKey: .int(1))!.collection("words")
        #expect(try words.values() == [.string("b"), .null, .string("a"), .string("b")])
        #expect(errorCode { _ = try words.get(4) } == .indexOutOfBounds)
        #expect(errorCode { try words.put(.string("x"), at: 0) } == .wrongTransactionState)
        #expect(errorCode { try words.put(.int(1), at: 0) } == .propertyTypeMismatch)
        let problems = try realm.check()
        #expect(problems == [])
    }

    @Test func `random changes give what plain containers give`() throws {
        for item in Campaign("collections", seconds: 8, atLeast: 2) {
            try run(item, steps: 120)
        }
    }

    private func run(_ item: Campaign.Case, steps: Int) throws {
        let directory = TemporaryDirectory()
        let path = directory.file()
        var random = item.random
        var realm = try Shelf.open(path)
        var committed: [Int64: BoxModel] = [:]
        var models = committed
        for step in 0..<steps {
            let note: Comment = "seed \(item.seed), step \(step)"
            try realm.beginWrite()
            for _ in 0..<random.below(20) + 1 {
                try change(realm, &models, &random)
            }
            if let box = realm.schema.class_(named: "Box") {
                try realm.readTables().table(box.key)?.checkOpenCollections()
            }
            if random.below(10) == 0 {
                // Reading in the transaction must not disturb it.
                for (key, model) in models {
                    let object = try #require(try realm.find("Box", primaryKey: .int(key)))
                    try model.check(object, note)
                }
            }
            if random.below(5) == 0 {
                try realm.rollback()
                models = committed
            } else {
                try realm.commit()
                committed = models
            }
            if random.below(10) == 0 {
                realm.close()
                realm = try Shelf.open(path)
            }
            for (key, model) in models {
                let object = try #require(try realm.find("Box", primaryKey: .int(key)))
                try model.check(object, note)
            }
            if step % 16 == 0 { #expect(try realm.check() == [], note) }
        }
        #expect(try realm.check() == [])
    }

    private func change(
        _ realm: Realm, _ models: inout [Int64: BoxModel], _ random: inout Random
    ) throws {
        let key = Int64(random.below(8))
        guard var model = models[key] else {
            _ = try realm.create("Box", primaryKey: .int(key))
            models[key] = BoxModel()
            return
        }
        let object = try realm.find("Box", primaryKey: .int(key))!
        if random.below(61) == 0 {
            try object.delete()
            models[key] = nil
            return
        }
        defer { models[key] = model }
        // Now and then many at once, so that trees come to be and go.
        let times = random.below(20) == 0 ? random.below(5901) + 100 : 3
        switch random.below(9) {
        case 0, 1:
            let list = try object.collection("numbers")
            for _ in 0..<times {
                let value = Value.int(number(&random))
                let index = random.below(model.numbers.count + 1)
                try list.put(value, at: index)
                model.numbers.insert(value, at: index)
            }
        case 2:
            let list = try object.collection("numbers")
            for _ in 0..<times where !model.numbers.isEmpty {
                let index = random.below(model.numbers.count)
                let other = random.below(model.numbers.count)
                switch random.below(3) {
                case 0:
                    try list.move(from: index, to: other)
                    model.numbers.insert(model.numbers.remove(at: index), at: other)
                case 1:
                    var raw = RawValue.int(number(&random))
                    if random.below(2) == 0 { raw = .int(3) }
                    try list.set(raw, at: index)
                    model.numbers[index] = .int(raw.intValue)
                default:
                    try list.remove(at: index)
                    model.numbers.remove(at: index)
                }
            }
        case 3:
            let list = try object.collection("words")
            for _ in 0..<times {
                let index = random.below(model.words.count + 1)
                let value = random.below(10) == 0 ? Value.null : .string(word(&random))
                try list.put(value, at: index)
                model.words.insert(value, at: index)
            }
        case 4:
            let list = try object.collection("words")
            for _ in 0..<times where !model.words.isEmpty {
                let index = random.below(model.words.count)
                try list.remove(at: index)
                model.words.remove(at: index)
            }
            if random.below(10) == 0 {
                try list.removeAll()
                model.words = []
            }
        case 5:
            let set = try object.collection("unique")
            for _ in 0..<times {
                let value = Int64(random.below(9001))
                if random.below(3) == 0 {
                    #expect(try set.remove(.int(value)) == (model.unique.remove(value) != nil))
                } else {
                    #expect(try set.put(.int(value)).isNew == model.unique.insert(value).inserted)
                }
            }
        case 6:
            let set = try object.collection("names")
            for _ in 0..<times {
                let value = word(&random)
                if random.below(3) == 0, let old = model.names.randomElement() {
                    let isGone = try Value.string(old).withRaw { raw throws(RealmError) in
                        try set.remove(raw)
                    }
                    #expect(isGone)
                    model.names.remove(old)
                } else {
                    #expect(
                        try set.put(.string(value)).isNew == model.names.insert(value).inserted)
                }
            }
        default:
            let dictionary = try object.collection("ages")
            for _ in 0..<times {
                let name = "k\(random.below(4001))"
                if random.below(4) == 0 {
                    let isGone = try Value.string(name).withRaw { raw throws(RealmError) in
                        try dictionary.remove(key: raw)
                    }
                    #expect(isGone == (model.ages.removeValue(forKey: name) != nil))
                } else {
                    let value =
                        random.below(10) == 0 ? Value.null : .int(number(&random))
                    try dictionary.put(name, value)
                    model.ages[name] = value
                }
            }
        }
    }

    private func number(_ random: inout Random) -> Int64 {
        switch random.below(6) {
        case 0: return Int64(bitPattern: random.next())
        case 1: return Int64(random.below(70001)) - 35000
        default: return Int64(random.below(201))
        }
    }

    private func word(_ random: inout Random) -> String {
        let length = random.below(41)
        switch length {
        case 0: return ""
        case 1: return String(repeating: "long ", count: random.below(1901) + 100)
        default: return "word-\(random.below(length * 300))"
        }
    }
}
