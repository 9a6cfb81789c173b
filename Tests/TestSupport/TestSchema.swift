// Classes that several suites use, and short ways to open realms with them.

@testable import CoreSwift

enum TestSchema {
    static let dog = ClassSchema(
        "Dog", primaryKey: "id",
        properties: [
            PropertySchema("id", .int, flags: [.primaryKey]),
            PropertySchema("name", .string),
            PropertySchema("age", .int, flags: [.nullable]),
            PropertySchema("owner", .object, linkTarget: "Person", flags: [.nullable]),
        ])
    static let person = ClassSchema(
        "Person", primaryKey: "name",
        properties: [
            PropertySchema("name", .string, flags: [.primaryKey]),
            PropertySchema("born", .timestamp, flags: [.nullable, .indexed]),
            PropertySchema("photo", .binary, flags: [.nullable]),
        ])
    static let note = ClassSchema("Note", properties: [PropertySchema("text", .string)])

    static let all = Schema([dog, person, note])

    static func configuration(
        _ path: String, _ schema: Schema? = all, version: UInt64 = 1
    ) -> Configuration {
        var configuration = Configuration(path: path)
        configuration.schema = schema
        if schema != nil { configuration.schemaVersion = version }
        return configuration
    }

    static func open(_ path: String) throws -> Realm { try Realm.open(configuration(path)) }
}

extension Realm {
    /// Runs `body` in a write transaction; an error rolls it back.
    func write(_ body: () throws -> Void) throws {
        try beginWrite()
        do {
            try body()
        } catch {
            try rollback()
            throw error
        }
        try commit()
    }
}

/// The code of the error that `body` throws, or nil.
func errorCode(_ body: () throws -> Void) -> ErrorCode? {
    do {
        try body()
        return nil
    } catch let error as RealmError {
        return error.code
    } catch {
        return .unknown
    }
}

extension DynamicObject {
    /// A list, set or dictionary of the object.
    func collection(_ name: String) throws -> RealmCollection {
        guard let property = realm.schema.class_(handle.classKey)?.property(named: name) else {
            throw RealmError(.invalidProperty, "no property \(name)")
        }
        return try handle.collection(property.key, property.collection)
    }
}
