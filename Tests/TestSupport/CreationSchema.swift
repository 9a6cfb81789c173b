// Classes with a property of every kind, for creation from values, copies and JSON.

@testable import CoreSwift

enum CreationSchema {
    /// Every type, required (`int`), nullable (`intN`), as list, set and dictionary.
    static var all: ClassSchema {
        var properties = [PropertySchema("id", .int, flags: [.primaryKey])]
        for (name, type) in types {
            properties += [
                PropertySchema(name, type, defaultValue: defaults[name]),
                PropertySchema(name + "N", type, flags: [.nullable]),
                PropertySchema(name + "L", type, collection: .list, flags: [.nullable]),
                PropertySchema(name + "S", type, collection: .set),
                PropertySchema(name + "D", type, collection: .dictionary, flags: [.nullable]),
            ]
        }
        return ClassSchema("All", primaryKey: "id", properties: properties)
    }

    static let types: [(String, PropertyType)] = [
        ("int", .int), ("bool", .bool), ("string", .string), ("binary", .binary),
        ("timestamp", .timestamp), ("float", .float), ("double", .double),
        ("decimal", .decimal128), ("objectId", .objectId), ("uuid", .uuid),
    ]

    /// So that objects of `All` need not be given everything.
    static let defaults: [String: ValueTree] = [
        "int": 7, "bool": true, "string": "fallback", "binary": "AQI=",
        "timestamp": "2000-01-01", "float": 1.5, "double": 2.5, "decimal": "3.50",
        "objectId": "0123456789abcdef01234567", "uuid": "00000000-0000-0000-0000-000000000001",
    ]

    static let node = ClassSchema(
        "Node", primaryKey: "name",
        properties: [
            PropertySchema("name", .string, flags: [.primaryKey]),
            PropertySchema("next", .object, linkTarget: "Node", flags: [.nullable]),
            PropertySchema("others", .object, collection: .list, linkTarget: "Node"),
            PropertySchema("circle", .object, collection: .set, linkTarget: "Node"),
            PropertySchema(
                "roles", .object, collection: .dictionary, linkTarget: "Node", flags: [.nullable]),
            PropertySchema("weight", .double, flags: [.nullable]),
            PropertySchema("any", .mixed, flags: [.nullable]),
            PropertySchema("anys", .mixed, collection: .list, flags: [.nullable]),
            PropertySchema("anySet", .mixed, collection: .set, flags: [.nullable]),
            PropertySchema("anyMap", .mixed, collection: .dictionary, flags: [.nullable]),
            PropertySchema("part", .object, linkTarget: "Part", flags: [.nullable]),
            PropertySchema("parts", .object, collection: .list, linkTarget: "Part"),
            PropertySchema(
                "partMap", .object, collection: .dictionary, linkTarget: "Part",
                flags: [.nullable]),
            PropertySchema("leaf", .object, linkTarget: "Leaf", flags: [.nullable]),
            PropertySchema("count", .int, publicName: "howMany", defaultValue: 3),
        ],
        computedProperties: [
            PropertySchema(
                "previous", .linkingObjects, collection: .list, linkTarget: "Node",
                linkOrigin: "next")
        ])
    static let part = ClassSchema(
        "Part",
        properties: [
            PropertySchema("label", .string),
            PropertySchema("size", .int, defaultValue: 1),
            PropertySchema("screw", .object, linkTarget: "Screw", flags: [.nullable]),
            PropertySchema("maker", .object, linkTarget: "Node", flags: [.nullable]),
        ], kind: .embedded)
    static let screw = ClassSchema(
        "Screw", properties: [PropertySchema("turns", .int)], kind: .embedded)
    /// Without primary key; links to its kind.
    static let leaf = ClassSchema(
        "Leaf",
        properties: [
            PropertySchema("text", .string, defaultValue: ""),
            PropertySchema("next", .object, linkTarget: "Leaf", flags: [.nullable]),
            PropertySchema("node", .object, linkTarget: "Node", flags: [.nullable]),
            PropertySchema("leaves", .object, collection: .list, linkTarget: "Leaf"),
            PropertySchema("part", .object, linkTarget: "Part", flags: [.nullable]),
            PropertySchema("any", .mixed, flags: [.nullable]),
        ])

    static var schema: Schema { Schema([all, node, part, screw, leaf]) }

    static func open(_ path: String) throws -> Realm {
        try Realm.open(TestSchema.configuration(path, schema))
    }
}

extension Realm {
    func count(_ className: String) throws -> Int {
        try objectCount(schema.class_(named: className)!.key)
    }
}
