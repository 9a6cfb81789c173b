// The example model of the query language's rules: vessels, sailors and harbors with every kind of
// property, four vessels whose values differ in what the rules tell apart. Tests of the rules and
// the fuzzers of query texts use it; the fuzzer's program is built without the test library.

@testable import CoreSwift

/// A property's value: a plain one, an object, or a collection.
indirect enum RuleItem {
    case value(Value)
    case object(String, Value)
    case list([RuleItem])
    case dictionary([(String, RuleItem)])
    case embedded([(String, RuleItem)])

    static func int(_ value: Int64) -> RuleItem { .value(.int(value)) }
    static func string(_ value: String) -> RuleItem { .value(.string(value)) }
    static var null: RuleItem { .value(.null) }
    static func ints(_ values: Int64...) -> RuleItem { .list(values.map { .int($0) }) }
    static func sailors(_ names: String...) -> RuleItem {
        .list(names.map { .sailor($0) })
    }
    static func sailor(_ name: String) -> RuleItem { .object("Sailor", .string(name)) }
}

/// The classes and objects.
class RuleModel {
    let realm: Realm

    static let schema: Schema = {
        let n: PropertyFlags = [.nullable]
        func links(_ name: String, _ collection: CollectionType) -> PropertySchema {
            PropertySchema(
                name, .object, collection: collection, linkTarget: "Sailor",
                flags: collection == .dictionary ? n : [])
        }
        return Schema([
            ClassSchema(
                "Vessel", primaryKey: "id",
                properties: [
                    PropertySchema("id", .int, flags: [.primaryKey]),
                    PropertySchema("title", .string, flags: n), PropertySchema("tons", .int),
                    PropertySchema("draft", .double, flags: n),
                    PropertySchema("beam", .float, flags: n),
                    PropertySchema("price", .decimal128, flags: n),
                    PropertySchema("built", .timestamp, flags: n),
                    PropertySchema("seal", .binary, flags: n),
                    PropertySchema("active", .bool, flags: n),
                    PropertySchema("cargo", .mixed, flags: n),
                    PropertySchema("berth", .object, linkTarget: "Harbor", flags: n),
                    PropertySchema("captain", .object, linkTarget: "Sailor", flags: n),
                    links("crew", .list), links("guests", .set), links("roster", .dictionary),
                    PropertySchema("marks", .int, collection: .list),
                    PropertySchema("notes", .string, collection: .list, flags: n),
                    PropertySchema("codes", .int, collection: .set),
                    PropertySchema("extras", .mixed, collection: .dictionary, flags: n),
                    PropertySchema("bag", .mixed, collection: .list, flags: n),
                    PropertySchema("log", .string, flags: n),
                    PropertySchema("spot", .object, linkTarget: "Point", flags: n),
                    PropertySchema("spots", .object, collection: .list, linkTarget: "Point"),
                    PropertySchema("weight_kg", .int, flags: n, publicName: "weight"),
                ]),
            ClassSchema(
                "Sailor", primaryKey: "name",
                properties: [
                    PropertySchema("name", .string, flags: [.primaryKey]),
                    PropertySchema("age", .int), PropertySchema("wage", .double, flags: n),
                    PropertySchema("boss", .object, linkTarget: "Sailor", flags: n),
                    PropertySchema("skills", .string, collection: .list),
                ],
                computedProperties: [
                    PropertySchema(
                        "ships", .linkingObjects, collection: .list, linkTarget: "Vessel",
                        linkOrigin: "crew")
                ]),
            ClassSchema(
                "Harbor", primaryKey: "name",
                properties: [
                    PropertySchema("name", .string, flags: [.primaryKey]),
                    PropertySchema("depth", .int, flags: n),
                ]),
            ClassSchema(
                "Point",
                properties: [
                    PropertySchema("type", .string),
                    PropertySchema("coordinates", .double, collection: .list),
                ], kind: .embedded),
        ])
    }()

    /// Fills an empty realm. `indexed`: with indexes of all kinds.
    init(path: String, indexed: Bool = false) throws {
        var configuration = Configuration(path: path)
        configuration.schema = indexed ? Self.indexedSchema : Self.schema
        configuration.schemaVersion = 1
        configuration.isInMemory = true
        realm = try Realm.open(configuration)
        try realm.beginWrite()
        for (name, depth) in [("Oslo", Value.int(9)), ("Bergen", .null), ("Hull", .int(4))] {
            try realm.create("Harbor", primaryKey: .string(name)).set("depth", depth)
        }
        for (name, age, wage, skills) in [
            ("Mia", 30, Value.double(10.5), ["cook", "sail"]), ("Jo", 20, .null, ["cook", "cook"]),
            ("Ann", 45, .double(9), []), ("Bob", 62, .double(20), ["dive"]),
        ] {
            let sailor = try realm.create("Sailor", primaryKey: .string(name))
            try sailor.set("age", .int(Int64(age)))
            try sailor.set("wage", wage)
            try set(sailor, "skills", .list(skills.map { .string($0) }))
        }
        for (name, boss) in [("Jo", "Mia"), ("Ann", "Mia"), ("Bob", "Ann")] {
            try set(realm.find("Sailor", primaryKey: .string(name))!, "boss", .sailor(boss))
        }
        for (id, row) in Self.vessels {
            try add(id, row)
        }
        try realm.commit()
    }

    /// The same classes with indexes, full-text ones among them.
    static let indexedSchema: Schema = {
        var classes = schema.classes
        for place in classes.indices {
            for column in classes[place].properties.indices {
                let name = classes[place].properties[column].name
                if ["title", "tons", "built", "active", "cargo", "depth", "age"].contains(name) {
                    classes[place].properties[column].flags.insert(.indexed)
                } else if name == "log" {
                    classes[place].properties[column].flags.insert(.fullTextIndexed)
                }
            }
        }
        return Schema(classes)
    }()

    private static let vessels: [(Int64, [(String, RuleItem)])] = [
        (
            1,
            [
                ("title", .string("Starling")), ("tons", .int(5)), ("draft", .value(.double(1.5))),
                ("beam", .value(.float(0.1))), ("price", .value(.decimal128(Decimal128("1.1")!))),
                ("built", .value(.timestamp(Timestamp(seconds: 100, nanoseconds: 5)))),
                ("seal", .value(.binary([0x61, 0x62]))), ("active", .value(.bool(true))),
                (
                    "cargo",
                    .dictionary([
                        (
                            "boxes",
                            .list([
                                .dictionary([("kg", .int(3))]), .dictionary([("kg", .int(1))]),
                            ])
                        ), ("name", .string("x")),
                    ])
                ), ("berth", .object("Harbor", .string("Oslo"))), ("captain", .sailor("Mia")),
                ("crew", .sailors("Jo", "Ann", "Jo")), ("guests", .sailors("Mia")),
                ("roster", .dictionary([("cook", .sailor("Jo")), ("mate", .sailor("Ann"))])),
                ("marks", .ints(1, 2, 3)),
                ("notes", .list([.string("a"), .null, .string("bcd")])), ("codes", .ints(3, 1)),
                ("extras", .dictionary([("color", .string("red")), ("kg", .int(7))])),
                ("bag", .list([.int(1), .value(.double(2.5)), .string("x")])),
                ("weight_kg", .int(7)),
            ]
        ),
        (
            2,
            [
                ("title", .string("Éclair")), ("tons", .int(-7)),
                ("draft", .value(.double(.nan))),
                ("built", .value(.timestamp(Timestamp(seconds: -5, nanoseconds: -1)))),
                ("active", .value(.bool(false))), ("cargo", .int(7)),
                ("berth", .object("Harbor", .string("Bergen"))), ("captain", .sailor("Jo")),
            ]
        ),
        (
            3,
            [
                ("tons", .int(5)), ("cargo", .string("text")), ("crew", .sailors("Bob")),
                ("guests", .sailors("Jo", "Bob")), ("roster", .dictionary([("cook", .null)])),
                ("marks", .ints(2)), ("notes", .list([.null])), ("codes", .ints(2)),
                ("extras", .dictionary([("kg", .null)])),
                ("bag", .list([.null, .value(.bool(false))])),
            ]
        ),
        (
            4,
            [
                ("title", .string("")), ("tons", .int(1000)), ("draft", .value(.double(-0.0))),
                ("beam", .value(.float(2))), ("price", .value(.decimal128(Decimal128("3")!))),
                ("seal", .value(.binary([]))),
                ("cargo", .list([.int(1), .ints(1, 2), .int(3)])),
                ("berth", .object("Harbor", .string("Hull"))), ("captain", .sailor("Ann")),
                ("crew", .sailors("Mia", "Bob")), ("marks", .ints(5, 5)),
                ("notes", .list([.string("a")])), ("codes", .ints(5)),
                (
                    "extras",
                    .dictionary([
                        ("color", .string("blue")), ("deep", .dictionary([("x", .int(1))])),
                    ])
                ),
                (
                    "bag",
                    .list([
                        .value(.bool(true)), .string("zz"),
                        .value(.decimal128(Decimal128("9.5")!)),
                    ])
                ),
            ]
        ),
    ]

    // MARK: Filling

    /// Creates a vessel in the write transaction that runs.
    func add(_ id: Int64, _ row: [(String, RuleItem)]) throws {
        let vessel = try realm.create("Vessel", primaryKey: .int(id))
        for (name, item) in row { try set(vessel, name, item) }
    }

    private func property(_ object: DynamicObject, _ name: String) -> PropertySchema {
        realm.schema.class_(object.handle.classKey)!.property(named: name)!
    }

    func value(_ item: RuleItem) throws -> Value {
        switch item {
        case .value(let value): return value
        case .object(let name, let key):
            let object = try realm.find(name, primaryKey: key)!
            return .link(
                Link(object.handle.classKey, object.handle.objectKey))
        default: return .null
        }
    }

    private func set(_ object: DynamicObject, _ name: String, _ item: RuleItem) throws {
        let property = property(object, name)
        switch item {
        case .value, .object: try object.set(name, value(item))
        case .list(let items):
            if property.collection == .none {
                try fill(object.handle.setCollection(property.key, .list), items)
            } else {
                try fill(
                    object.handle.collection(property.key, property.collection), items)
            }
        case .dictionary(let entries):
            if property.collection == .none {
                try fill(object.handle.setCollection(property.key, .dictionary), entries)
            } else {
                try fill(
                    object.handle.collection(property.key, .dictionary), entries)
            }
        case .embedded(let entries):
            let child = try DynamicObject(object.handle.createEmbedded(property.key))
            for (name, item) in entries { try set(child, name, item) }
        }
    }

    private func fill(_ list: RealmCollection, _ items: [RuleItem]) throws {
        for (index, item) in items.enumerated() {
            switch item {
            case .list(let inner): try fill(list.insertNested(.list, at: index), inner)
            case .dictionary(let inner): try fill(list.insertNested(.dictionary, at: index), inner)
            case .embedded(let inner):
                let child = try DynamicObject(list.insertEmbedded(at: index))
                for (name, item) in inner { try set(child, name, item) }
            default:
                try value(item).withRaw { raw throws(RealmError) in
                    if list.type == .set {
                        _ = try list.insert(raw)
                    } else {
                        try list.insert(raw, at: index)
                    }
                }
            }
        }
    }

    private func fill(_ dictionary: RealmCollection, _ entries: [(String, RuleItem)]) throws {
        for (name, item) in entries {
            var bytes = Array(name.utf8)
            let count = bytes.count
            bytes.append(0)
            try bytes.withUnsafeBytes { buffer in
                let key = RawValue.string(buffer.baseAddress!, count)
                switch item {
                case .list(let inner): try fill(dictionary.insertNested(.list, key: key), inner)
                case .dictionary(let inner):
                    try fill(dictionary.insertNested(.dictionary, key: key), inner)
                default:
                    try value(item).withRaw { raw throws(RealmError) in
                        _ = try dictionary.insert(raw, key: key)
                    }
                }
            }
        }
    }
}
