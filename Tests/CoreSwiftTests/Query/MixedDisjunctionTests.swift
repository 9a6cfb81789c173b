// Many values of a mixed property in one condition: `m == 1 OR m == "a" OR …`, and lists behind IN.

import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite struct MixedDisjunctionTests {
    private static let item = ClassSchema(
        "Item",
        properties: [
            PropertySchema("m", .mixed, flags: [.nullable, .indexed]),
            PropertySchema("plain", .mixed, flags: [.nullable]),
            PropertySchema("double", .double, flags: [.nullable]),
            PropertySchema("float", .float, flags: [.nullable]),
        ])

    private static func value(_ random: inout Random) -> (value: Value, text: String) {
        let number = random.below(40)
        switch random.below(8) {
        case 0: return (.double(Double(number) / 4), "\(Double(number) / 4)")
        case 1:
            return (.decimal128(Decimal128("\(number).5") ?? .nan), "decimal(\(number).5)")
        case 2: return (.string("s\(number)"), "'s\(number)'")
        case 3: return (.bool(number & 1 == 0), number & 1 == 0 ? "true" : "false")
        case 4: return (.null, "NULL")
        default: return (.int(Int64(number)), "\(number)")
        }
    }

    @Test("what one of many comparisons finds, all together find", arguments: [0, 1, 2, 3])
    func disjunctions(_ seed: UInt64) throws {
        let directory = TemporaryDirectory()
        let realm = try Realm.open(
            TestSchema.configuration(directory.file(), Schema([Self.item])))
        var random = Random(seed)
        try realm.write {
            for _ in 0..<600 {
                let value = Self.value(&random).value
                _ = try realm.create("Item", ["m": value, "plain": value])
            }
        }
        for count in [1, 2, 3, 5, 17, 40] {
            let members = (0..<count).map { _ in Self.value(&random).text }
            for name in ["m", "plain"] {
                var expected = Set<Int64>()
                for member in members {
                    try expected.formUnion(keys(realm, "\(name) == \(member)"))
                }
                let one = members.map { "\(name) == \($0)" }.joined(separator: " OR ")
                #expect(try keys(realm, one) == expected, "\(one)")
                let list = members.joined(separator: ", ")
                #expect(try keys(realm, "\(name) IN {\(list)}") == expected, "\(list)")
                let all = try keys(realm, "TRUEPREDICATE")
                #expect(try keys(realm, "NOT (\(one))") == all.subtracting(expected), "\(one)")
            }
        }
    }

    /// Numbers that are rounded when they meet those of another type, beside those that are not.
    private static func number(_ random: inout Random) -> (value: Value, text: String) {
        let text = "\(random.below(30)).\(["1", "25", "3", "1000000000000001"][random.below(4)])"
        switch random.below(5) {
        case 0: return (.float(Float(text) ?? 0), text)
        case 1: return (.double(Double(text) ?? 0), text)
        case 2, 3: return (.decimal128(Decimal128(text) ?? .nan), "decimal(\(text))")
        default: return (.int(Int64(random.below(30))), "\(random.below(30))")
        }
    }

    @Test(
        "of numbers of all types, each finds in a list what it finds alone", arguments: [0, 1, 2])
    func numbers(_ seed: UInt64) throws {
        let directory = TemporaryDirectory()
        let realm = try Realm.open(
            TestSchema.configuration(directory.file(), Schema([Self.item])))
        var random = Random(seed)
        try realm.write {
            for _ in 0..<1500 {
                let value = Self.number(&random).value
                var number = Double(random.below(30)) + [0.1, 0.25, 0.3][random.below(3)]
                if random.below(20) == 0 { number = .nan }
                _ = try realm.create(
                    "Item",
                    [
                        "m": value, "plain": value, "double": .double(number),
                        "float": .float(Float(number)),
                    ])
            }
        }
        for count in [15, 16, 60] {
            let members = (0..<count).map { _ in Self.number(&random).text }
            let list = members.joined(separator: ", ")
            for name in ["m", "plain", "double", "float"] {
                var expected = Set<Int64>()
                for member in members {
                    try expected.formUnion(keys(realm, "\(name) == \(member)"))
                }
                #expect(!expected.isEmpty)
                #expect(try keys(realm, "\(name) IN {\(list)}") == expected, "\(name): \(list)")
                let all = try keys(realm, "TRUEPREDICATE")
                #expect(
                    try keys(realm, "\(name) == NONE {\(list)}") == all.subtracting(expected),
                    "\(name): \(list)")
            }
        }
    }

    private func keys(_ realm: Realm, _ query: String) throws -> Set<Int64> {
        let found = try realm.objects("Item").filter(query)
        return Set(try (0..<found.count()).map { try found.get($0).linkTarget.rawValue })
    }
}
