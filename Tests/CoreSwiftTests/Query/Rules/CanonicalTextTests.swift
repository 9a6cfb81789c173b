// What canonical texts keep: every value of every type, beside every property, as what it is
// (QUERY_RULES V1). Each query is asked again by its canonical text (`RuleWorld.ask`).

import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite struct CanonicalTextTests {
    private func decimal(_ text: String) -> Value { .decimal128(Decimal128(text)!) }

    /// One value of each kind and the extremes of each.
    private func values(_ world: RuleWorld) throws -> [Value] {
        var values: [Value] = [
            .null, .bool(true), .bool(false), .int(0), .int(1), .int(5), .int(.min), .int(.max),
            .int(16_777_217), .int(-16_777_217), .int(9_007_199_254_740_993),
        ]
        for number: Double in [
            0, -0.0, 1.5, 0.1 + 0.2, 1e300, -1e300, .leastNonzeroMagnitude,
            .greatestFiniteMagnitude, .infinity,
            -.infinity, .nan, 9_007_199_254_740_994, 123_456_789_012_345_680,
        ] {
            values.append(.double(number))
        }
        for number: Float in [
            -0.0, 0.1, 16_777_216, .leastNonzeroMagnitude, .greatestFiniteMagnitude, .infinity,
            -.infinity,
            .nan,
        ] {
            values.append(.float(number))
        }
        values += [
            "0", "-0", "0.00", "1.10", "3", "1E+6144", "-1E-6176", "1E+20",
            "9999999999999999999999999999999999", "0.3000000000000000000000000000000001",
            "Infinity", "-Infinity", "NaN",
        ].map { decimal($0) }
        values += [
            "", "a", "5", " 5.50 ", "16777217", "it's", "say \"hi\"", "back\\slash", "tab\tline\n",
            "\u{0}\u{1}\u{7F}", "é\u{301}😀\u{FEFF}", "50%*?", "B64\"YQ==\"", "$0", "nan",
        ].map { .string($0) }
        values += [[], [0], [0x61, 0x62], [0x22, 0x5C], [0xFF, 0xFE], Array(0...255)].map {
            .binary($0)
        }
        for (seconds, nanoseconds) in [
            (0, 0), (100, 5), (-5, -1), (0, -1), (5, -1), (-5, 1), (.min, .min), (.max, .max),
            (1, 1_000_000_000), (0, 999_999_999),
        ] as [(Int64, Int32)] {
            values.append(.timestamp(Timestamp(seconds: seconds, nanoseconds: nanoseconds)))
        }
        values += [
            .objectId(try ObjectId(parsing: "0123456789abcdef01234567")),
            .uuid(try UUIDValue(parsing: "123e4567-e89b-12d3-a456-426614174000")),
        ]
        for (name, key) in [("Sailor", Value.string("Mia")), ("Vessel", .int(2))] {
            values.append(try world.value(.object(name, key)))
        }
        return values
    }

    /// Asks a query unless it is refused; the kinds of values do not go with all properties.
    private func ask(
        _ world: RuleWorld, _ text: String, _ arguments: [QueryArgument]
    ) throws -> Bool {
        do {
            _ = try world.query(text, arguments, "Vessel")
        } catch {
            return false
        }
        _ = try world.ask(text, arguments)
        return true
    }

    @Test func `V1: values of every kind beside properties of every kind`() throws {
        let world = try RuleWorld()
        let values = try values(world)
        let properties = [
            "tons", "draft", "beam", "price", "built", "seal", "active", "title", "cargo",
            "captain", "marks", "notes", "bag", "tons + 0", "beam + 0.5f", "price + 0",
            "berth.depth", "crew.wage", "title.@size", "draft * 2",
        ]
        var asked = 0
        for value in values {
            for property in properties {
                for op in ["==", "<", "CONTAINS"] {
                    if op == "CONTAINS", property.contains(" ") { continue }
                    if try ask(world, "\(property) \(op) $0", [.scalar(value)]) { asked += 1 }
                }
            }
        }
        #expect(asked > 900)
    }

    @Test func `V1: values of every kind in lists, with others beside them`() throws {
        let world = try RuleWorld()
        let values = try values(world)
        let properties = [
            "tons", "draft", "beam", "price", "built", "seal", "active", "title", "cargo", "bag",
            "notes",
        ]
        var asked = 0
        for (place, value) in values.enumerated() {
            let others = [value, .null, values[(place * 7 + 3) % values.count], .double(0.1)]
            for property in properties {
                for form in ["\(property) IN $0", "ANY \(property) == $0", "\(property) != ALL $0"]
                {
                    if try ask(world, form, [.list(others)]) { asked += 1 }
                }
            }
        }
        #expect(asked > 900)
    }

    @Test func `V1: values in ranges, arithmetic, functions, keys, objects and shapes`() throws {
        let world = try RuleWorld()
        let values = try values(world)
        var asked = 0
        for (place, value) in values.enumerated() {
            let scalar = QueryArgument.scalar(value)
            let other = QueryArgument.scalar(values[(place * 5 + 1) % values.count])
            for text in [
                "draft BETWEEN {$0, $1}", "price BETWEEN {$0, $0}", "beam BETWEEN {$0, draft}",
                "cargo BETWEEN {$0, $1}", "built BETWEEN {$0, $1}", "tons + $0 > draft",
                "beam + $0 == beam", "price * $0 > 1", "cast($0, 'String') == title",
                "cast(price + $0, 'String') == '2.20'", "ternary(id == 1, $0, $0) == cargo",
                "extras[$0] == $0", "marks[$0] == 2", "captain == obj('Sailor', $0)",
                "SELF == obj('Vessel', $0)", "spot GEOWITHIN geoCircle([$0, 1], $0)",
                "spot GEOWITHIN geoBox([0, $0], [$0, 9])", "marks.@max > $0",
                "SUBQUERY(crew, $s, $s.wage == $0 OR $s.age > SELF.tons).@count > 0",
                "NOT (title == $0 OR title != $1)", "title LIKE $0", "title MATCHES $0",
                "TRUEPREDICATE LIMIT($0)", "abs($0) == draft", "max({$0, $1}) == cargo",
            ] {
                if try ask(world, text, [scalar, other]) { asked += 1 }
            }
        }
        #expect(asked > 500)
    }

    @Test func `V1: literals keep their digits where decimals read them`() throws {
        let world = try RuleWorld()
        for text in [
            "price == 1.10", "price < 1.1000000000000000000000000000000001", "price == 1.10f",
            "price + 1.50 > 2", "cast(price + 1.50, 'String') == '2.60'",
            "price < 1.10000001234f", "price < 0x1FFFFFFFFFFFFFFFFFF",
            "tons < 0xFFFFFFFFFFFFFFFFFF",
            "draft < 123456789012345678901234567890", "beam < 16777217", "beam == 0.10000000149",
            "price < decimal(5.00)", "cargo == decimal(7)", "cargo == decimal(NaN)",
            "draft IN {decimal(1.5), 0.1, int(16777217), null}", "beam == int(16777217)",
            "tons == int(-7)", "built == timestamp(100:5)", "built < timestamp(5:1999999999)",
            "title == '\u{0}'", "title IN {\"a'b\", 'c\\\\d', B64\"/w==\"}", "marks[-1] == 3",
            "marks[-9223372036854775808] == null", "extras['\\u0000'] == null",
            "extras[B64\"/w==\"] == null", "cargo.boxes[*].kg == 3", "cargo['boxes'][0].kg == 3",
            "captain IN {O1, L2:-5, obj('Sailor', 'Mia'), null}", "cargo == L0:-1",
            "captain == obj('Sailor', B64\"TWlh\")",
        ] {
            _ = try world.ask(text)
        }
        // Other radices of format strings.
        let long = String(repeating: "7", count: 30)
        #expect(try world.formatIds("price < 0o\(long) AND tons < 0x\(long)") == [1, 4])
        #expect(try world.formatIds("draft < 0b1\(String(repeating: "0", count: 70))") == [1, 4])
        #expect(try world.formatIds("active == (0 + 1)") == [1])
        #expect(try world.ids("beam == $0", [.scalar(.int(2))]) == [4])
        for text in ["price == decimal()", "price == decimal(x)", "tons == int(1.5)"] {
            #expect(throws: RealmError.self) { try world.ids(text) }
        }
    }

    @Test func `V1, L8, L22: the extensions of literals have the values they spell`() throws {
        let world = try RuleWorld()
        world.check([
            ("L22", "price == decimal(1.1)", [1]), ("L22", "price IN {decimal(3.0)}", [4]),
            ("T3", "tons == int(5)", [1, 3]), ("L19", "built == timestamp(100:5)", [1]),
            ("L19", "built > timestamp(99:2000000000)", [1]),
            ("L8", "#tons == 5", [1, 3]),
            ("L8", "#'tons' == 5", [1, 3]), ("L8", "berth.#\"depth\" == 9", [1]),
            ("L8", "captain.@links.#Vessel.#'captain'.#id == 1", [1]),
            ("L8", "crew.@max.#age > 50", [3, 4]),
            ("L8", "TRUEPREDICATE SORT(berth.#name ASC, #'id' DESC) LIMIT(1)", [2]),
        ])
        world.refuse([
            ("L8", "# tons == 5", .invalidQueryString, "#"),
            ("L8", "#'nope' == 5", .invalidQuery, "nope"),
            ("L8", "#5 == 5", .invalidQueryString, "#"),
        ])
    }
}

/// Properties and classes with names that are no words of the language.
@Suite struct CanonicalNameTests {
    static let names = [
        "none", "Not", "ANY", "some", "all", "true", "null", "nan", "SELF", "in", "like", "limit",
        "obj", "subquery", "O12", "L1", "T5", "uuid", "oid", "a.b", "1st", "-x", "a-b", "it's",
        "say \"hi\"", "back\\slash", "two words", "tab\there", "line\nend", "π", "$x", "$K0", "$0",
        "@count", "#hash", "a(b)", "length", "anykey", "\u{1}", "decimal", "int", "size", "[*]",
    ]
    static let schema = Schema([
        ClassSchema(
            "odd class", primaryKey: "id",
            properties: [
                PropertySchema("id", .int, flags: [.primaryKey]),
                PropertySchema("link.to", .object, linkTarget: "odd class", flags: [.nullable]),
                PropertySchema("ob'jects", .object, collection: .list, linkTarget: "odd class"),
                PropertySchema("none of", .mixed, collection: .dictionary, flags: [.nullable]),
            ] + names.map { PropertySchema($0, .int) })
    ])

    private let directory = TemporaryDirectory()
    private let realm: Realm

    init() throws {
        var configuration = Configuration(path: directory.file())
        configuration.schema = Self.schema
        configuration.schemaVersion = 1
        configuration.isInMemory = true
        realm = try Realm.open(configuration)
        try realm.beginWrite()
        var last: DynamicObject?
        for id in [1, 2] {
            let object = try realm.create("odd class", primaryKey: .int(Int64(id)))
            for (place, name) in Self.names.enumerated() {
                try object.set(name, .int(Int64(place * id)))
            }
            if let last {
                try object.set("link.to", last.value)
                let list = try object.collection("ob'jects")
                try list.insert(.link(last.link.classKey, last.key), at: 0)
            }
            last = object
        }
        try realm.commit()
    }

    private func ask(_ text: String, _ arguments: [QueryArgument]) throws -> [ObjectKey] {
        _ = try realm.readTables()
        let key = realm.schema.classes[0].key
        let snapshot = SnapshotReader(tables: try realm.readTables())
        let query = try Query.parse(
            text, arguments: arguments, schema: realm.schema, classKey: key)
        let found = try query.findAll(snapshot)
        let canonical = query.description
        do {
            let again = try Query.parse(canonical, schema: realm.schema, classKey: key)
            #expect(try again.findAll(snapshot) == found, "\(text) as \(canonical)")
            #expect(again.description == canonical, "\(text)")
        } catch {
            Issue.record("\(text) as \(canonical): \(error)")
        }
        return found
    }

    /// A name behind `#`.
    private func escaped(_ name: String) -> String {
        "#\""
            + name.unicodeScalars.map {
                $0.value < 0x20 || "\"\\".unicodeScalars.contains($0)
                    ? "\\u00" + ($0.value < 16 ? "0" : "") + String($0.value, radix: 16)
                    : String($0)
            }.joined() + "\""
    }

    @Test func `L8, V1: names that are no words can be written, and are`() throws {
        for (place, name) in Self.names.enumerated() where place > 0 {
            let value = QueryArgument.scalar(.int(Int64(place)))
            let name = escaped(name)
            for text in [
                "\(name) == $0", "$0 IN {0, $0} AND \(name) == $0", "ALL {$0} == \(name)",
            ] where !text.hasPrefix("$0 IN") {
                #expect(try ask(text, [value]) == [1], "\(text)")
            }
            #expect(try ask("#'link.to'.\(name) == $0", [value]) == [2], "\(name)")
            #expect(try ask("ANY #'ob\\'jects'.\(name) == $0", [value]) == [2], "\(name)")
            #expect(try ask("#'ob\\'jects'.@max.\(name) == $0", [value]) == [2], "\(name)")
            #expect(
                try ask(
                    "SUBQUERY(#\"ob'jects\", $x, $x.\(name) == $0 AND \(name) == $0).@sum.\(name) "
                        + "== $0", [value]) == [2], "\(name)")
            #expect(
                try ask(
                    "@links.odd\\ class.#'link.to'.\(name) == $0", [.scalar(.int(Int64(place * 2)))]
                )
                    == [1], "\(name)")
            #expect(
                try ask("TRUEPREDICATE SORT(#'link.to'.\(name) ASC, \(name) DESC)", []) == [2, 1],
                "\(name)")
        }
    }

    @Test func `N8, V1: names and keys that arguments have`() throws {
        for (place, name) in Self.names.enumerated() where place > 0 {
            let key = QueryArgument.scalar(.string(name))
            let value = QueryArgument.scalar(.int(Int64(place)))
            #expect(try ask("#'none of'[$0] == $1", [key, value]) == [], "\(name)")
            // Words with an @ are themselves there, and points separate names.
            if name.contains(".") || name.hasPrefix("@") { continue }
            #expect(try ask("$K0 == $1", [key, value]) == [1], "\(name)")
            #expect(try ask("#'none of'.$K0 == $1", [key, value]) == [], "\(name)")
        }
    }
}
