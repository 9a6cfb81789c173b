// Groups of results against a dictionary: random values of every type, keys and aggregates over every path,
// from every kind of results, also in write transactions; and by hand what random cases don't say.

import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite struct GroupTests {
    private static let types: [(String, PropertyType)] = [
        ("int", .int), ("bool", .bool), ("float", .float), ("double", .double),
        ("string", .string), ("binary", .binary), ("date", .timestamp), ("decimal", .decimal128),
        ("id", .objectId), ("uuid", .uuid), ("mixed", .mixed),
    ]
    private static let schema: Schema = {
        var properties: [PropertySchema] = []
        for (name, type) in types {
            properties.append(PropertySchema(name, type, flags: [.nullable]))
            if type != .mixed { properties.append(PropertySchema("needed_\(name)", type)) }
        }
        properties.append(
            PropertySchema("next", .object, linkTarget: "Item", flags: [.nullable]))
        properties.append(PropertySchema("others", .object, collection: .list, linkTarget: "Item"))
        properties.append(PropertySchema("none", .int))
        return Schema([ClassSchema("Item", properties: properties)])
    }()

    /// Values that are all exact in sums, whatever their order.
    private static func pool(_ type: PropertyType, _ wide: Bool) -> [Value] {
        switch type {
        case .int:
            return [0, 1, -3, 7, wide ? .max : 99, wide ? .min : 250].map { Value.int($0) }
        case .bool: return [.bool(true), .bool(false)]
        case .float: return [0.5, -0.0, 0, 1.5, .nan, -.infinity].map { Value.float($0) }
        case .double: return [0.5, -0.0, 0, 1e10, -7.25, .nan].map { Value.double($0) }
        case .string:
            return ["", "a", "é", "e\u{301}", "long enough for the heap"].map { .string($0) }
        case .binary: return [.binary([]), .binary([0]), .binary([0, 0]), .binary([255])]
        case .timestamp:
            return [
                .timestamp(Timestamp(seconds: 5)),
                .timestamp(Timestamp(seconds: 5, nanoseconds: 1)),
                .timestamp(Timestamp(seconds: -5, nanoseconds: -1)),
            ]
        case .decimal128:
            return ["1", "1.0", "-2.5", "NaN", "1E+10"].map { .decimal128(Decimal128($0) ?? .nan) }
        case .objectId: return [.objectId(.zero), .objectId(ObjectId(high: 1, low: 2))]
        case .uuid: return [.uuid(.zero), .uuid(UUIDValue(high: 1, low: 2))]
        default:
            return [
                .int(1), .double(1), .float(1), .decimal128(Decimal128("1.0") ?? .nan),
                .double(2.5), .string("a"),
                .binary([97]), .bool(true), .double(.nan), .uuid(.zero),
                .timestamp(Timestamp(seconds: 5)),
            ]
        }
    }

    /// What is equal for groups is the same here.
    private static func normal(_ value: Value, isMixed: Bool) -> Value {
        let number: Double
        switch value {
        case .float(let float): number = Double(float)
        case .double(let double): number = double
        case .int(let int):
            if !isMixed { return value }
            number = Double(int)
        case .decimal128(let decimal): number = decimal.doubleValue
        // By bytes, where Swift takes the two ways to write é for one.
        case .string(let text): return .string("\(Array(text.utf8))")
        default: return value
        }
        return number.isNaN ? .string("not a number") : .double(number + 0)
    }

    private struct World {
        let realm: Realm
        var random: Random
        let wide: Bool

        mutating func value(_ type: PropertyType, nullable: Bool) -> Value {
            if nullable, random.below(5) == 0 { return .null }
            let pool = GroupTests.pool(type, wide)
            return pool[random.below(pool.count)]
        }

        /// New values in some properties of an object.
        mutating func fill(_ object: DynamicObject, _ others: [ObjectKey], all: Bool) throws {
            for (name, type) in GroupTests.types {
                if all || random.below(3) == 0 { try object.set(name, value(type, nullable: true)) }
                if type != .mixed, all || random.below(3) == 0 {
                    try object.set("needed_\(name)", value(type, nullable: false))
                }
            }
            if let key = others.isEmpty || random.below(4) == 0
                ? nil : others[random.below(min(others.count, 9))]
            {
                try object.set("next", .link(Link(object.handle.classKey, key)))
            } else {
                try object.set("next", .null)
            }
        }

        mutating func keyPath() -> String {
            let (name, type) = GroupTests.types[random.below(GroupTests.types.count)]
            let plain = type != .mixed && random.below(2) == 0 ? "needed_\(name)" : name
            switch random.below(8) {
            case 0: return "next"
            case 1: return "next.\(plain)"
            case 2: return "next.next.\(plain)"
            default: return plain
            }
        }

        mutating func aggregate() -> String {
            if random.below(3) == 0 { return "@count" }
            let path = keyPath()
            let name = path.split(separator: ".").last.map(String.init) ?? ""
            if name == "next" { return "@count" }
            let type = GroupTests.types.first { name.hasSuffix($0.0) }?.1 ?? .int
            let isNumber = [.int, .float, .double, .decimal128, .mixed].contains(type)
            let words = isNumber ? ["@min", "@max", "@sum", "@avg"] : ["@min", "@max"]
            return "\(words[random.below(words.count)]).\(path)"
        }
    }

    private static func value(_ object: DynamicObject?, _ path: String) throws -> Value {
        var current = object
        var names = path.split(separator: ".").map(String.init)
        while names.count > 1, let object = current {
            current = try object.linked(names.removeFirst())
        }
        guard let current else { return .null }
        return try current.get(names[0])
    }

    private static func isMixed(_ path: String) -> Bool { path.hasSuffix("mixed") }

    private static func compare(_ a: Value, _ b: Value) throws -> Int {
        try a.withRaw { x throws(RealmError) in
            try b.withRaw { y throws(RealmError) in ValueOrder.compare(x, y) }
        }
    }

    /// What an aggregate of these values is, none of them null or NaN.
    private static func computed(_ word: String, _ path: String, _ values: [Value]) throws -> Value
    {
        let name = path.split(separator: ".").last.map(String.init) ?? ""
        if word == "@min" || word == "@max" {
            var best: Value?
            for value in values {
                guard let found = best else {
                    best = value
                    continue
                }
                let order = try compare(value, found)
                if word == "@min" ? order < 0 : order > 0 { best = value }
            }
            return best ?? .null
        }
        let isAverage = word == "@avg"
        if name.hasSuffix("int") {
            var total: Int128 = 0
            for case .int(let number) in values { total += Int128(number) }
            if isAverage {
                return values.isEmpty ? .null : .double(Double(total) / Double(values.count))
            }
            return .int(Int64(truncatingIfNeeded: total))
        }
        if name.hasSuffix("double") || name.hasSuffix("float") {
            var total = 0.0
            for value in values {
                if case .double(let number) = value { total += number }
                if case .float(let number) = value { total += Double(number) }
            }
            if isAverage { return values.isEmpty ? .null : .double(total / Double(values.count)) }
            return .double(total)
        }
        var total = Decimal128.zero
        var count = 0
        for value in values {
            try value.withRaw { raw throws(RealmError) in
                guard ValueOrder.family(raw) == .number else { return }
                total = total + ValueTest.decimal(raw)
                count += 1
            }
        }
        if isAverage { return count == 0 ? .null : .decimal128(total / Decimal128(Int64(count))) }
        return .decimal128(total)
    }

    private static func isNaN(_ value: Value) throws -> Bool {
        try value.withRaw { raw throws(RealmError) in ValueTest.isNaN(raw) }
    }

    /// The rows that the groups must be: of the objects in the order of the results.
    private static func model(
        _ results: Results, _ keys: [String], _ aggregates: [String]
    ) throws -> [[Value]] {
        var members: [[Value]: [DynamicObject]] = [:]
        var order: [[Value]] = []
        let realm = results.realm
        for key in try results.keys() {
            guard let object = try realm.find(results.classKey, key: key) else { continue }
            let group = try keys.map { normal(try value(object, $0), isMixed: isMixed($0)) }
            if members[group] == nil { order.append(group) }
            members[group, default: []].append(object)
        }
        return try order.map { group in
            let objects = members[group] ?? []
            return try group
                + aggregates.map { aggregate in
                    if aggregate == "@count" { return .int(Int64(objects.count)) }
                    let dot = aggregate.firstIndex(of: ".") ?? aggregate.endIndex
                    let path = String(aggregate[aggregate.index(after: dot)...])
                    let values = try objects.map { try value($0, path) }.filter {
                        try $0 != .null && !isNaN($0)
                    }
                    return normal(
                        try computed(String(aggregate[..<dot]), path, values),
                        isMixed: isMixed(path))
                }
        }
    }

    private static func rows(
        _ groups: GroupedResults, _ keys: [String], _ aggregates: [String]
    ) throws -> [[Value]] {
        let table = try groups.table()
        return try (0..<table.count).map { row in
            try (0..<table.columnCount).map { column in
                let path = column < keys.count ? keys[column] : aggregates[column - keys.count]
                return normal(try Value(table.value(row, column)), isMixed: isMixed(path))
            }
        }
    }

    private static func expectSame(_ world: inout World, _ results: Results) throws {
        let keys = (0...world.random.below(3)).map { _ in world.keyPath() }
        let aggregates = (0..<world.random.below(5)).map { _ in world.aggregate() }
        let groups = try results.grouped(
            by: keys.joined(separator: ", "), aggregates.joined(separator: " ,"))
        let found = try rows(groups, keys, aggregates)
        let expected = try model(results, keys, aggregates)
        #expect(found == expected, "\(groups.description)")
    }

    @Test(arguments: [1, 2, 3, 4]) func groupsAreThoseOfADictionary(_ round: UInt64) throws {
        let seed = TestSettings.seed("groupsAreThoseOfADictionary", 17_000 + round)
        let directory = TemporaryDirectory()
        let realm = try Realm.open(TestSchema.configuration(directory.file(), Self.schema))
        defer { realm.close() }
        var world = World(realm: realm, random: Random(seed), wide: round % 2 == 0)
        let item = try realm.objects("Item").classKey
        let count = round == 4 ? 2600 : 300
        var keys: [ObjectKey] = []
        try realm.write {
            for _ in 0..<count {
                let object = try realm.create("Item")
                try world.fill(object, keys, all: true)
                keys.append(object.handle.objectKey)
            }
            for index in stride(from: 9, to: count, by: 13) {
                try realm.find(item, key: keys[index])?.delete()
            }
            let list = try realm.find(item, key: keys[0])?.collection("others")
            for index in [5, 3, 5, 8, 3, 1] {
                let link = Value.link(Link(item, keys[index]))
                try link.withRaw { raw throws(RealmError) in try list?.insert(raw, at: 0) }
            }
        }
        let all = try realm.objects("Item")
        let snapshot = try all.snapshot()
        let list = try #require(
            realm.find(item, key: keys[0])?.collection("others").results() as? Results)
        let sources: [Results] = try [
            all, all.filter("needed_bool == true"), all.filter("needed_int < 5 LIMIT(50)"),
            all.sorted("needed_string ASC, double DESC"), all.distinct("next, string"),
            all.sorted("date DESC").limited(40), all.filter("FALSEPREDICATE"), snapshot, list,
        ]
        let tests = round == 4 ? 2 : 12
        for results in sources { for _ in 0..<tests { try Self.expectSame(&world, results) } }
        // The same groups go on while objects change, appear and go.
        let kept = try all.grouped(by: "needed_string", "@count, @sum.double")
        _ = try kept.table()
        try realm.beginWrite()
        for change in 0..<(round == 4 ? 3 : 12) {
            let object = try realm.find(item, key: keys[world.random.below(8)])
            if let object { try world.fill(object, Array(keys[..<5]), all: false) }
            if change % 4 == 1 { try world.fill(try realm.create("Item"), [], all: true) }
            if change == 6 { try realm.find(item, key: keys[7])?.delete() }
            #expect(
                try Self.rows(kept, ["needed_string"], ["@count", "@sum.double"])
                    == Self.model(all, ["needed_string"], ["@count", "@sum.double"]))
            for results in [all, sources[1], snapshot] { try Self.expectSame(&world, results) }
        }
        try realm.commit()
        for results in sources { try Self.expectSame(&world, results) }
        let frozen = try kept.resolved(in: realm.freeze())
        let before = try Self.rows(frozen, ["needed_string"], ["@count", "@sum.double"])
        try realm.write { try all.deleteAll() }
        #expect(try kept.table().count == 0)
        #expect(
            try Self.rows(frozen, ["needed_string"], ["@count", "@sum.double"]) == before
                && !before.isEmpty)
    }

    @Test func largeClassesAreGroupedInHalves() throws {
        let schema = Schema([
            ClassSchema(
                "Row",
                properties: [
                    PropertySchema("age", .int), PropertySchema("score", .double),
                    PropertySchema("part", .int, flags: [.nullable]), PropertySchema("on", .bool),
                ])
        ])
        let directory = TemporaryDirectory()
        let realm = try Realm.open(TestSchema.configuration(directory.file(), schema))
        defer { realm.close() }
        let count = 130_000
        var random = Random(5)
        struct Sum: Equatable {
            var count = 0
            var score = 0.0
        }
        var expected: [Int: Sum] = [:]
        var least: [Int: Int] = [:]
        var pairs: [[Int]: Int] = [:]
        var order: [Int] = []
        let owner = try #require(realm.schema.class_(named: "Row"))
        let keys = owner.properties.map(\.key)
        var gone: [ObjectKey] = []
        try realm.write {
            for row in 0..<count {
                // Some groups begin in the second half alone.
                let age = random.below(row < 90_000 ? 90 : 100) - 3
                let part = random.below(9) == 0 ? nil : random.below(300)
                let score = Double(random.below(4000)) / 4
                let isOn = random.below(2) == 0
                let object = try realm.createObject(owner.key)
                try object.setValue(keys[0], .int(Int64(age)))
                try object.setValue(keys[1], .double(score))
                try object.setValue(keys[2], part.map { .int(Int64($0)) } ?? .null)
                try object.setValue(keys[3], .bool(isOn))
                if row % 1000 == 7 {
                    gone.append(object.objectKey)
                } else {
                    if expected[age] == nil { order.append(age) }
                    expected[age, default: Sum()].count += 1
                    expected[age, default: Sum()].score += score
                    if let part { least[age] = min(least[age] ?? .max, part) }
                    pairs[[isOn ? 1 : 0, part ?? -1], default: 0] += 1
                }
                object.release()
            }
            for key in gone { try realm.find(owner.key, key: key)?.delete() }
        }
        let all = try realm.objects("Row")
        let table = try all.grouped(by: "age", "@count, @avg.score, @min.part, @sum.score").table()
        #expect(table.count == order.count)
        for (row, age) in order.enumerated() {
            let sum = try #require(expected[age])
            #expect(table.value(row, 0).intValue == Int64(age))
            #expect(table.value(row, 1).intValue == Int64(sum.count))
            #expect(table.value(row, 2).doubleValue == sum.score / Double(sum.count))
            #expect(table.value(row, 3).intValue == Int64(least[age] ?? -1))
            #expect(table.value(row, 4).doubleValue == sum.score)
        }
        let found = try all.grouped(by: "on, part", "@count").table()
        #expect(found.count == pairs.count)
        for row in 0..<found.count {
            let part = found.value(row, 1).isNull ? -1 : Int(found.value(row, 1).intValue)
            let isOn = found.value(row, 0).boolValue ? 1 : 0
            #expect(Int(found.value(row, 2).intValue) == pairs[[isOn, part]])
        }
        // Without anything to add up, and of one group.
        let counts = try all.grouped(by: "age", "@count, @max.score").table()
        #expect(
            (0..<counts.count).allSatisfy {
                counts.value($0, 1).intValue == table.value($0, 1).intValue
            })
    }

    @Test func textsOfGroupsAreChecked() throws {
        let directory = TemporaryDirectory()
        let realm = try Realm.open(TestSchema.configuration(directory.file(), Self.schema))
        defer { realm.close() }
        let all = try realm.objects("Item")
        func code(_ keys: String, _ aggregates: String) -> ErrorCode? {
            errorCode { _ = try all.grouped(by: keys, aggregates) }
        }
        #expect(code("", "@count") == .invalidQueryString)
        #expect(code("nothing", "") == .invalidQuery)
        #expect(code("others", "") == .invalidSortDescriptor)
        #expect(code("others.int", "") == .invalidSortDescriptor)
        #expect(code("int", "count") == .invalidQueryString)
        #expect(code("int", "@count,") == .invalidQueryString)
        #expect(code("int", "@median.int") == .invalidQueryString)
        #expect(code("int", "@sum") == .invalidQueryString)
        #expect(code("int", "@sum.nothing") == .invalidQuery)
        #expect(code("int", "@sum.string") == .illegalOperation)
        #expect(code("int", "@avg.date") == .illegalOperation)
        #expect(code("int", "@min.next") == .illegalOperation)
        #expect(code("int", "@max.bool, @min.id") == nil)
        #expect(code("none", "@sum.none") == .invalidQueryString)
        #expect(code("next.#none", "@sum.#none, @min.#'double'") == nil)
        let groups = try all.filter("int > 1").grouped(
            by: "next.string,int", "@count,  @avg.next.double")
        #expect(groups.description == "int > 1 | GROUP(next.string, int: @count, @avg.next.double)")
        #expect(
            try groups.explain().hasSuffix(
                "\nthen: GROUP(next.string, int: @count, @avg.next.double)"))
        do {
            _ = try all.grouped(by: "nothing", "")
        } catch {
            #expect(error.message.hasSuffix("(in the paths of groups)"), "\(error.message)")
        }
        realm.close()
        #expect(errorCode { _ = try groups.table() } == .staleAccessor)
    }

    /// Many different values: numbers that are not dense grow their tables.
    @Test func thereMayBeAsManyGroupsAsObjects() throws {
        let directory = TemporaryDirectory()
        let realm = try Realm.open(TestSchema.configuration(directory.file()))
        defer { realm.close() }
        try realm.write {
            for number in 0..<5000 {
                _ = try realm.create(
                    "Dog", primaryKey: .int(Int64(number * 1_000_003)),
                    ["name": .string("\(number)"), "age": .int(3)])
            }
        }
        let dogs = try realm.objects("Dog")
        for keys in ["id", "name", "name, id, age"] {
            let table = try dogs.grouped(by: keys, "@count, @sum.id, @max.age").table()
            #expect(table.count == 5000)
            let first = table.columnCount - 3
            for row in 0..<5000 {
                #expect(table.value(row, first).intValue == 1)
                #expect(table.value(row, first + 1).intValue == Int64(row * 1_000_003))
                #expect(table.value(row, first + 2).intValue == 3)
            }
        }
        #expect(try dogs.grouped(by: "age", "").table().count == 1)
    }
}
