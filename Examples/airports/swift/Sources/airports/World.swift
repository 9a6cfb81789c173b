// The realm of the example: its schema, opening, and the import.

import CoreSwift
import Foundation

let schema = Schema([
    ClassSchema(
        "Airport", primaryKey: "icao",
        properties: [
            PropertySchema("icao", .string, flags: .primaryKey),
            PropertySchema("iata", .string, flags: [.nullable, .indexed]),
            PropertySchema("name", .string),
            PropertySchema("city", .string, flags: .indexed),
            PropertySchema("subdivision", .string),
            PropertySchema("elevation", .double),  // feet above the sea
            PropertySchema("latitude", .double),
            PropertySchema("longitude", .double),
            PropertySchema("timezone", .string),
            PropertySchema("country", .object, linkTarget: "Country", flags: .nullable),
        ]),
    ClassSchema(
        "Country", primaryKey: "code",
        properties: [
            PropertySchema("code", .string, flags: .primaryKey),
            PropertySchema("name", .string, flags: .indexed),
        ]),
])

func openWorld(_ path: String) throws(RealmError) -> Realm {
    var configuration = Configuration(path: path)
    configuration.schema = schema
    configuration.schemaVersion = 1
    return try Realm.open(configuration)
}

/// Commits what `body` does, or undoes it when it throws.
func write(_ realm: Realm, _ body: () throws(RealmError) -> Void) throws(RealmError) {
    try realm.beginWrite()
    do throws(RealmError) {
        try body()
        try realm.commit()
    } catch {
        if realm.isWritable { try realm.rollback() }
        throw error
    }
}

extension DynamicObject {
    /// A text property; a dash for null.
    func text(_ name: String) throws(RealmError) -> String {
        if case .string(let text) = try get(name) { return text }
        return "–"
    }

    func number(_ name: String) throws(RealmError) -> Double {
        if case .double(let number) = try get(name) { return number }
        return 0
    }
}

extension Realm {
    func airport(_ icao: String) throws(RealmError) -> DynamicObject {
        guard let found = try find("Airport", primaryKey: .string(icao)) else {
            throw RealmError(.noSuchObject, "there is no airport \(icao)")
        }
        return found
    }

    /// The airports that link to a country.
    func airports(ofCountry code: String) throws(RealmError) -> Results {
        guard let country = try find("Country", primaryKey: .string(code)) else {
            throw RealmError(.noSuchObject, "there is no country \(code)")
        }
        return try airports(of: country)
    }

    func airports(of country: DynamicObject) throws(RealmError) -> Results {
        let link = try property("country")
        return try country.handle.backlinks(from: link.owner, property: link.key)
    }

    /// The keys of the class Airport and of one of its properties.
    func property(_ name: String) throws(RealmError) -> (owner: ClassKey, key: PropertyKey) {
        guard let airport = schema.class_(named: "Airport"),
            let property = airport.property(named: name)
        else { throw RealmError(.invalidProperty, "class Airport has no property '\(name)'") }
        return (airport.key, property.key)
    }
}

extension Results {
    func element(_ index: Int) throws(RealmError) -> DynamicObject {
        DynamicObject(try object(index))
    }

    func average(_ name: String) throws(RealmError) -> Double {
        try average(try realm.property(name).key).value.doubleValue
    }

    func maximum(_ name: String) throws(RealmError) -> Double {
        try maximum(try realm.property(name).key).value.doubleValue
    }

    func sum(_ name: String) throws(RealmError) -> Double {
        try sum(try realm.property(name).key).value.doubleValue
    }
}
