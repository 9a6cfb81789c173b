// An input of the fuzzers of query texts: bytes that say what is asked, of what, with which
// arguments.
//
//     byte 0      what is asked, a letter of `QueryFuzzInput.targets`; other bytes count, too
//     byte 1      where in the pool the arguments begin
//     the rest    the text
//
// The corpus keeps inputs as lines: printable ASCII as it is, all other bytes and the backslash as
// `\xHH`.

@testable import CoreSwift

struct QueryFuzzInput {
    /// Objects of a class, by text or by format string, or the values of a collection of the first
    /// vessel.
    enum Target {
        case objects(String)
        case formatted(String)
        case values(String)
    }

    static let targets: [(letter: UInt8, target: Target)] = [
        (UInt8(ascii: "V"), .objects("Vessel")), (UInt8(ascii: "S"), .objects("Sailor")),
        (UInt8(ascii: "F"), .formatted("Vessel")), (UInt8(ascii: "G"), .formatted("Sailor")),
        (UInt8(ascii: "m"), .values("marks")), (UInt8(ascii: "n"), .values("notes")),
        (UInt8(ascii: "b"), .values("bag")), (UInt8(ascii: "e"), .values("extras")),
    ]

    let bytes: [UInt8]
    let target: Target
    let text: [UInt8]
    let arguments: [QueryArgument]

    /// Nil for inputs without a text.
    init?(_ bytes: [UInt8], _ model: RuleModel) {
        guard bytes.count >= 2 else { return nil }
        self.bytes = bytes
        let known = Self.targets.first { $0.letter == bytes[0] }
        target = (known ?? Self.targets[Int(bytes[0]) % Self.targets.count]).target
        text = Array(bytes[2...])
        let pool = Self.pool(model)
        let start = Int(bytes[1] % 64)
        if case .formatted = target {
            arguments = Self.placeholders(text).enumerated().map { index, isKeyPath in
                isKeyPath
                    ? .scalar(.string(Self.paths[(start + index) % Self.paths.count]))
                    : pool[(start + index) % pool.count]
            }
        } else {
            arguments = pool.indices.map { pool[(start + $0) % pool.count] }
        }
    }

    static let paths = [
        "tons", "title", "berth.depth", "crew.age", "marks.@count", "weight", "captain", "active",
        "crew.@max.age", "extras", "nope", "",
    ]

    private static func pool(_ model: RuleModel) -> [QueryArgument] {
        let sailor = model.realm.schema.class_(named: "Sailor")?.key ?? ClassKey(rawValue: 0)
        return [
            .scalar(.int(5)), .scalar(.string("Starling")), .scalar(.double(1.5)), .scalar(.null),
            .scalar(.bool(true)), .list([.int(5), .null, .string("a"), .double(0.5)]),
            .scalar(.string("tons")), .scalar(.timestamp(Timestamp(seconds: 100, nanoseconds: 5))),
            .scalar(.decimal128(Decimal128("1.1") ?? .nan)), .scalar(.binary([0x61, 0x62])),
            .scalar(.link(Link(sailor, ObjectKey(rawValue: 0)))), .list([]),
            .scalar(.int(.min)), .scalar(.double(.nan)), .scalar(.double(-.infinity)),
            .scalar(.float(0.1)), .scalar(.string("")), .scalar(.string("berth.depth")),
            .scalar(.objectId(ObjectId(high: 1, low: 2))),
            .scalar(.uuid(UUIDValue(high: 1, low: 2))), .list([.int(1), .int(9)]),
            .scalar(.string("geoCircle([1, 2], 0.5)")), .scalar(.string("int")), .scalar(.int(0)),
        ]
    }

    /// The places of a format string that take an argument; true: a key path.
    private static func placeholders(_ text: [UInt8]) -> [Bool] {
        var found: [Bool] = []
        var quote: UInt8 = 0
        var offset = 0
        while offset < text.count {
            let byte = text[offset]
            offset += 1
            if quote != 0 {
                if byte == UInt8(ascii: "\\") { offset += 1 }
                if byte == quote { quote = 0 }
            } else if byte == UInt8(ascii: "'") || byte == UInt8(ascii: "\"") {
                quote = byte
            } else if byte == UInt8(ascii: "%"), offset < text.count {
                found.append(text[offset] == UInt8(ascii: "K"))
                offset += 1
            }
        }
        return found
    }

    // MARK: Lines of the corpus

    static func decode(line: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        var offset = 0
        while offset < line.count {
            if line[offset] == UInt8(ascii: "\\"), offset + 3 < line.count,
                let code = UInt8(
                    String(decoding: line[(offset + 2)...(offset + 3)], as: UTF8.self), radix: 16)
            {
                bytes.append(code)
                offset += 4
            } else {
                bytes.append(line[offset])
                offset += 1
            }
        }
        return bytes
    }
}
