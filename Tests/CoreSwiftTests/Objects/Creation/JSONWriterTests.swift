// Objects as JSON text, and back.

import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite struct JSONWriterTests {
    private let directory = TemporaryDirectory()

    private func open(_ name: String) throws -> Realm {
        try CreationSchema.open(directory.file(name))
    }

    private func json(_ object: DynamicObject, depth: Int = 0, extended: Bool = false) throws
        -> String
    {
        var options = JSONOptions()
        options.linkDepth = depth
        options.isExtended = extended
        return try object.handle.json(options)
    }

    @Test func `each type has its text, plain and extended`() throws {
        let realm = try open("one")
        try realm.write {
            let object = try realm.create(
                "All",
                from: [
                    "id": 1, "int": -5, "string": "a\"\\\n\u{1}é", "binary": "AAEC",
                    "timestamp": "1969-12-31T23:59:58.25Z", "float": 0.1, "double": -1e300,
                    "decimal": "1.50", "uuid": "123e4567-e89b-12d3-a456-426614174000",
                    "intL": [1, .null], "decimalD": ["k": "NaN"], "doubleS": [0.5, "-Infinity"],
                ])
            let text = try json(object)
            for piece in [
                #""id":1,"int":-5,"#, #""string":"a\"\\\n\u0001é""#, #""binary":"AAEC""#,
                #""timestamp":"1969-12-31T23:59:58.25Z""#, #""float":0.1,"#, #""double":-1e+300,"#,
                #""decimal":"1.50""#, #""uuid":"123e4567-e89b-12d3-a456-426614174000""#,
                #""intL":[1,null]"#, #""decimalD":{"k":"NaN"}"#, #""doubleS":["-Infinity",0.5]"#,
                #""objectId":"0123456789abcdef01234567""#, #""boolN":null"#,
            ] {
                #expect(text.contains(piece), "\(piece)")
            }
            let extended = try json(object, extended: true)
            for piece in [
                #""binary":{"$binary":{"base64":"AAEC","subType":"00"}}"#,
                #""timestamp":{"$date":"1969-12-31T23:59:58.25Z"}"#,
                #""decimal":{"$numberDecimal":"1.50"}"#, #""float":{"$numberFloat":"0.1"}"#,
                #"[{"$numberDouble":"-Infinity"},0.5]"#,
                #""objectId":{"$oid":"0123456789abcdef01234567"}"#,
            ] {
                #expect(extended.contains(piece), "\(piece)")
            }
            let other = try open("other")
            try other.write {
                for source in [text, extended] {
                    let copy = try other.create("All", json: source, update: .all)
                    #expect(try json(copy) == text)
                }
            }
        }
    }

    @Test func `extreme values come back as they were`() throws {
        let realm = try open("one")
        let values: [Value] = [
            .int(.min), .int(.max), .double(.greatestFiniteMagnitude),
            .double(.leastNonzeroMagnitude),
            .double(-0.0), .double(0.1 + 0.2), .double(.nan), .double(1), .double(1e22),
            .float(.greatestFiniteMagnitude), .float(.leastNonzeroMagnitude), .float(1),
            .float(.infinity),
            .timestamp(Timestamp(seconds: .min, nanoseconds: -999_999_999)),
            .timestamp(Timestamp(seconds: .max, nanoseconds: 999_999_999)),
            .timestamp(Timestamp(seconds: -62_167_219_200)),
            .timestamp(Timestamp(seconds: 253_402_300_799)),
            .timestamp(Timestamp(seconds: 0, nanoseconds: -1)), .timestamp(Timestamp(seconds: 0)),
            .decimal128(Decimal128("-9.999999999999999999999999999999999E+6144")!),
            .decimal128(Decimal128("1E-6176")!), .decimal128(.infinity),
            .decimal128(Decimal128("0E+5")!),
            .string("\0\u{7F}\u{FFFF}😀e\u{301}"), .string(""), .binary([]), .binary([255]),
            .bool(true),
            .objectId(ObjectId(high: .max, low: .max)), .uuid(UUIDValue(high: 0, low: 0)), .null,
        ]
        try realm.write {
            let node = try realm.create("Node", from: ["name": "a"])
            for value in values {
                try node.set("any", value)
                let text = try json(node)
                _ = try realm.create("Node", json: text, update: .modified)
                var raw = RawValue.null
                try node.handle.getValue(
                    realm.schema.class_(named: "Node")!.property(named: "any")!.key, &raw)
                let isSame = try value.withRaw { raw.isIdentical(to: $0) }
                #expect(isSame, "\(text)")
            }
        }
    }

    @Test func `links are keys, or objects in each other down to a depth`() throws {
        let realm = try open("one")
        try realm.write {
            let node = try realm.create(
                "Node",
                json: """
                    {"name":"a","next":{"name":"b","next":{"name":"c","next":"a"}},"others":["c","a"],
                     "any":[{"$link":{"table":"Node","key":"b"}}],"part":{"label":"p","maker":"c"},
                     "leaf":{"text":"l"}}
                    """)
            func has(_ depth: Int, _ pieces: [String]) throws {
                let text = try json(node, depth: depth)
                for piece in pieces {
                    #expect(text.contains(piece), "\(depth): \(piece) in \(text)")
                }
            }
            let mixed = #""any":[{"$link":{"table":"Node","key":"b"}}]"#
            try has(
                0,
                [#""next":"b""#, #""others":["c","a"]"#, #""maker":"c""#, #""howMany":3"#, mixed])
            try has(0, [#""leaf":{"$link":{"table":"Leaf","key":0}}"#])
            try has(
                1,
                [#""next":{"name":"b","next":"c","#, #""others":[{"name":"c","next":"a""#, mixed])
            try has(1, [#""maker":"c""#, #""leaf":{"text":"l","#])
            try has(
                2, [#""next":{"name":"b","next":{"name":"c","next":"a""#, #""others":["c","a"]"#])
            #expect(try json(node, depth: 200) == json(node, depth: 2))
            #expect(errorCode { _ = try json(node, depth: 201) } == .limitExceeded)
            #expect(errorCode { _ = try json(node, depth: -1) } == .limitExceeded)
        }
    }

    @Test func `cycles of objects without primary key come back through identifiers`() throws {
        let realm = try open("one")
        let other = try open("other")
        try realm.write {
            let leaf = try realm.create(
                "Leaf",
                json: """
                    {"$id":"x","text":"a","next":{"$id":"y","text":"b","next":{"$ref":"x"}},
                     "leaves":[{"$ref":"y"},{"text":"c"},{"$ref":"x"}]}
                    """)
            let text = try json(leaf, depth: 9)
            #expect(
                text.hasPrefix(
                    #"{"$id":"1","text":"a","next":{"$id":"2","text":"b","next":{"$ref":"1"}"#))
            try other.write {
                let copy = try other.create("Leaf", json: text)
                #expect(try json(copy, depth: 9) == text)
                #expect(try other.count("Leaf") == 3)
            }
        }
        #expect(try other.check() == [])
    }
}
