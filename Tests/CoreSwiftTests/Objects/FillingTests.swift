// Filling a new file by parts, with its indexes made at the end: what comes out is what ordinary transactions make.

import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite struct FillingTests {
    private static let schema = Schema([
        ClassSchema(
            "Item", primaryKey: "name",
            properties: [
                PropertySchema("name", .string, flags: [.primaryKey, .nullable]),
                PropertySchema("group", .int, flags: [.indexed, .nullable]),
                PropertySchema("label", .string, flags: [.indexed]),
                PropertySchema("text", .string, flags: [.fullTextIndexed]),
                PropertySchema("friend", .object, linkTarget: "Item", flags: [.nullable]),
                PropertySchema("friends", .object, collection: .list, linkTarget: "Item"),
                PropertySchema("numbers", .int, collection: .list),
                PropertySchema("reals", .double, collection: .list),
                PropertySchema("singles", .float, collection: .list),
                PropertySchema("bits", .bool, collection: .list, flags: [.nullable]),
                PropertySchema("words", .string, collection: .list),
                PropertySchema("any", .mixed, flags: [.nullable]),
            ])
    ])
    private static let count = 1500

    private let directory = TemporaryDirectory()

    private func opened(_ name: String, key: [UInt8] = []) throws -> Realm {
        var configuration = TestSchema.configuration(directory.file(name), Self.schema)
        configuration.encryptionKey = key
        return try Realm.open(configuration)
    }

    private func create(_ number: Int, _ name: Value, _ realm: Realm) throws -> ObjectHandle {
        let class_ = try #require(realm.schema.class_(named: "Item"))
        var (key, value) = (PropertyKey.invalid, RawValue.null)
        return try name.withRaw { raw throws(RealmError) in
            try realm.createObject(
                class_.key, key: ObjectKey(rawValue: Int64(number)), primaryKey: raw, 0, &key,
                &value)
        }
    }

    /// Long ones straddle the pieces that runs are written in; one is null.
    private func name(_ number: Int) -> Value {
        if number == 7 { return .null }
        return .string(
            "\(number * 7919 % 10007)-\(number)"
                + String(repeating: "n", count: number % 20 == 0 ? 480 : 6))
    }

    /// Gives object `number` values that are the same for the same seed, with links to earlier and later ones; lists
    /// at once or element by element.
    private func set(
        _ number: Int, _ object: ObjectHandle, seed: UInt64, inBulk: Bool
    ) throws {
        var random = Random(seed &+ UInt64(number))
        func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &random) }
        let realm = object.realm
        let class_ = try #require(realm.schema.class_(named: "Item"))
        func key(_ name: String) throws -> PropertyKey {
            try #require(class_.property(named: name)).key
        }
        func link() -> RawValue {
            .link(class_.key, ObjectKey(rawValue: Int64(below(Self.count))))
        }
        if below(3) > 0 { try object.setValue(try key("group"), .int(Int64(below(20)))) }
        for (property, words) in [("label", 40), ("text", 9)] {
            let key = try key(property)
            try Value.string("word\(below(words)) and more").withRaw { raw throws(RealmError) in
                try object.setValue(key, raw)
            }
        }
        if below(2) == 0 { try object.setValue(try key("friend"), link()) }
        if below(9) == 0 { try object.setValue(try key("any"), link()) }
        // Some of them twice.
        var friends = (0..<below(12)).map { _ in link() }
        friends += friends.prefix(below(3))
        // Of all widths, and at times too many for a cell.
        let most = 1 << below(40)
        let numbers = (0..<below(300)).map { _ in RawValue.int(Int64(below(most)) - 100) }
        let bits = (0..<below(9)).map { $0 == 3 ? RawValue.null : .bool($0 % 2 == 0) }
        for (name, values) in [
            ("friends", friends), ("numbers", numbers), ("bits", bits),
            ("reals", (0..<below(9)).map { .double(Double($0) / 3) }),
            ("singles", (0..<below(9)).map { .float(Float($0) / 3) }),
        ] {
            let key = try key(name)
            if inBulk {
                try append(key, values, to: object)
            } else {
                let list = try object.collection(key, .list)
                for (place, value) in values.enumerated() { try list.insert(value, at: place) }
            }
        }
        for word in 0..<below(3) {
            let key = try key("words")
            try Value.string("w\(word)").withRaw { raw throws(RealmError) in
                var raw = raw
                try object.append(key, 1, &raw)
            }
        }
    }

    /// Integers and links as numbers, others as values.
    private func append(
        _ key: PropertyKey, _ values: [RawValue], to object: ObjectHandle
    ) throws {
        let numbers = values.compactMap { value -> Int64? in
            switch ValueType(rawValue: value.type) {
            case .int: value.intValue
            case .link: value.linkTarget.rawValue
            default: nil
            }
        }
        if numbers.count == values.count {
            try numbers.withUnsafeBufferPointer {
                guard let start = $0.baseAddress else { return }
                try object.append(key, $0.count, numbers: start)
            }
        } else {
            try values.withUnsafeBufferPointer {
                if let start = $0.baseAddress { try object.append(key, $0.count, start) }
            }
        }
    }

    private func sameAnswers(_ a: Realm, _ b: Realm) throws {
        let dumps = (try RealmDump(a), try RealmDump(b))
        #expect(dumps.0.objects == dumps.1.objects && dumps.0.count == Self.count)
        for query in [
            "group == 3", "label == 'word7 and more'", "friend.group == 3", "@links.@count > 8",
            "text TEXT 'word3'", "name == null",
        ] {
            let counts = try [a, b].map { realm in
                let class_ = try #require(realm.schema.class_(named: "Item"))
                return try realm.results(class_.key).filter(query).count()
            }
            #expect(counts[0] == counts[1] && counts[0] > 0, "\(query)")
        }
    }

    @Test(
        "a file that was filled by parts is as one that was written by transactions",
        arguments: [[UInt8](), (0..<64).map { UInt8($0) }], [3000, TableSet.portionBytes])
    func likeTransactions(key: [UInt8], portionBytes: Int) throws {
        let seed = TestSettings.seed("FillingTests")
        let filled = try opened("filled.realm", key: key)
        defer { filled.close() }
        try filled.beginWrite()
        try filled.beginFilling()
        for number in 0..<Self.count {
            let object = try create(number, name(number), filled)
            try set(number, object, seed: seed, inBulk: true)
            object.release()
            if number % 97 == 96 { try filled.commitPart() }
        }
        // What waits for the indexes has no name.
        #expect(!TemporaryDirectory.names(directory.path).contains { $0.contains("index") })
        try filled.endFilling(portionBytes: portionBytes)
        #expect(try filled.check() == [])
        let ordinary = try opened("ordinary.realm")
        defer { ordinary.close() }
        try ordinary.write {
            let objects = try (0..<Self.count).map { try create($0, name($0), ordinary) }
            for (number, object) in objects.enumerated() {
                try set(number, object, seed: seed, inBulk: false)
                object.release()
            }
        }
        try sameAnswers(filled, ordinary)
        // From now on it is a file like others.
        try filled.write {
            #expect(
                errorCode { _ = try create(Self.count, name(3), filled) } == .objectAlreadyExists)
            try filled.object(
                try #require(filled.schema.class_(named: "Item")).key, ObjectKey(rawValue: 5)
            ).delete()
        }
        #expect(try filled.check() == [])
    }

    @Test(
        "many links between two objects, and values that are set again in a later part",
        arguments: [3000, TableSet.portionBytes])
    func manyLinksAndChanges(portionBytes: Int) throws {
        let realm = try opened("many.realm")
        defer { realm.close() }
        let class_ = try #require(realm.schema.class_(named: "Item"))
        func key(_ name: String) throws -> PropertyKey {
            try #require(class_.property(named: name)).key
        }
        let count = 300
        // More than wait in memory from one object to another; twice and once from others, before and behind it.
        let links = (0..<count).map { $0 == 100 ? 140_000 : 1 + $0 % 3 }
        try realm.beginWrite()
        try realm.beginFilling()
        for number in 0..<count {
            let object = try create(number, name(number), realm)
            defer { object.release() }
            let targets = [7] + Array(repeating: Int64(5), count: links[number]) + [9, 4]
            try targets.withUnsafeBufferPointer {
                try object.append(try key("friends"), $0.count, numbers: $0.baseAddress!)
            }
            try object.setValue(try key("group"), .int(Int64(number % 7)))
        }
        for _ in 0..<2 {
            try realm.commitPart()
            for number in stride(from: 0, to: count, by: 3) {
                let object = try realm.object(class_.key, ObjectKey(rawValue: Int64(number)))
                defer { object.release() }
                let old = number == 0 ? RawValue.null : .int(Int64(number % 7))
                // That of the part before comes back at last.
                for value in [.int(50), old] { try object.setValue(try key("group"), value) }
            }
        }
        try realm.endFilling(portionBytes: portionBytes)
        #expect(try realm.check() == [])
        func found(_ query: String) throws -> Int {
            try realm.results(class_.key).filter(query).count()
        }
        let total = links.reduce(0, +)
        #expect(try found("@links.Item.friends.@count == \(total)") == 1)
        #expect(try found("@links.Item.friends.@count == \(count)") == 3)
        #expect(try found("group == 50") == 0 && found("group == null") == 1)
        for group in 0..<7 {
            let expected = (1..<count).filter { $0 % 7 == group }.count
            #expect(try found("group == \(group)") == expected)
        }
    }

    @Test(
        "lists of numbers of each width are what was appended, empty and long ones, too",
        arguments: [
            [], [0], [127, -128], [128], [-129], [32767, -32768], [32768], [-32769],
            [2_147_483_647, -2_147_483_648], [2_147_483_648], [-2_147_483_649],
            [Int64.max, Int64.min], (0..<63).map { Int64($0) }, (0..<5000).map { Int64($0) << 20 },
        ])
    func widths(numbers: [Int64]) throws {
        let realm = try opened("widths.realm")
        defer { realm.close() }
        let key = try #require(realm.schema.class_(named: "Item")?.property(named: "numbers")).key
        try realm.write {
            let object = try create(1, .string("one"), realm)
            defer { object.release() }
            // Behind others it goes element by element.
            for _ in 0..<2 { try append(key, numbers.map { .int($0) }, to: object) }
            let list = try object.collection(key, .list)
            #expect(try list.count() == numbers.count * 2)
            for (place, number) in (numbers + numbers).enumerated() {
                #expect(try list.get(place).intValue == number)
            }
        }
        #expect(try realm.check() == [])
    }

    @Test("two objects with one primary key are an error at the end, in one part or in two")
    func duplicates() throws {
        for second in [1, 200] {
            let realm = try opened("\(second).realm")
            defer { realm.close() }
            try realm.beginWrite()
            try realm.beginFilling()
            for number in 0..<300 {
                try create(number, name(number == second ? 0 : number), realm).release()
                if number == 150 { try realm.commitPart() }
            }
            #expect(errorCode { try realm.endFilling() } == .objectAlreadyExists)
        }
    }

    @Test("what a file that is filled can't do is refused")
    func refusals() throws {
        let realm = try opened("a.realm")
        defer { realm.close() }
        #expect(errorCode { try realm.beginFilling() } == .wrongTransactionState)
        try realm.beginWrite()
        #expect(errorCode { try realm.commitPart() } == .illegalOperation)
        try realm.beginFilling()
        #expect(errorCode { try realm.beginFilling() } == .illegalOperation)
        let object = try create(0, name(0), realm)
        #expect(errorCode { try object.delete() } == .illegalOperation)
        object.release()
        try realm.commitPart()
        try realm.rollback()
        try realm.beginWrite()
        #expect(errorCode { try realm.endFilling() } == .illegalOperation)
        try realm.rollback()

        let other = try opened("b.realm")
        defer { other.close() }
        try other.write { try create(0, name(0), other).release() }
        try other.beginWrite()
        #expect(errorCode { try other.beginFilling() } == .illegalOperation)
        try other.rollback()
    }

    @Test("links are looked up again for classes of which that is asked")
    func lookedUp() throws {
        let realm = try opened("a.realm")
        defer { realm.close() }
        let class_ = try #require(realm.schema.class_(named: "Item"))
        let friend = try #require(class_.property(named: "friend")).key
        try realm.beginWrite()
        try realm.beginFilling()
        let object = try create(0, name(0), realm)
        defer { object.release() }
        try realm.checkLinks(to: class_.key)
        let link = RawValue.link(class_.key, ObjectKey(rawValue: 9))
        #expect(errorCode { try object.setValue(friend, link) } == .noSuchObject)
        try realm.rollback()
    }

    @Test("a realm is closed and its file gets a name, if nothing has it")
    func placing() throws {
        let path = directory.file("b.realm")
        let realm = try opened("a.realm")
        try realm.write { try create(0, name(0), realm).release() }
        TestSettings.writeFile(path, [1])
        #expect(errorCode { try realm.close(placingAs: path) } == .fileAlreadyExists)
        let again = try opened("a.realm")
        try again.close(placingAs: directory.file("c.realm"))
        #expect(Set(TemporaryDirectory.names(directory.path)) == ["b.realm", "c.realm"])
        let placed = try opened("c.realm")
        #expect(try placed.check() == [] && RealmDump(placed).count == 1)
        placed.close()
    }

    @Test("what is written beside an encrypted file comes back, and reads as nothing")
    func scratch() {
        let cipher = ScratchCipher()
        let plain = [UInt8](repeating: 65, count: 1000)
        var bytes = plain
        bytes.withUnsafeMutableBytes { cipher.apply($0.baseAddress!, 1000, at: 128) }
        #expect(Set(bytes).count > 100)
        // Each place has its own stream.
        var other = plain
        other.withUnsafeMutableBytes { cipher.apply($0.baseAddress!, 1000, at: 1152) }
        #expect(other != bytes)
        bytes.withUnsafeMutableBytes { cipher.apply($0.baseAddress! + 64, 936, at: 192) }
        bytes.withUnsafeMutableBytes { cipher.apply($0.baseAddress!, 64, at: 128) }
        #expect(bytes == plain)
    }
}
