// The realm of the example: its classes, opening, and what is looked up.

import Foundation
import RealmSwift

class Airport: Object {
    @Persisted(primaryKey: true) var icao: String
    @Persisted(indexed: true) var iata: String?
    @Persisted var name: String
    @Persisted(indexed: true) var city: String
    @Persisted var subdivision: String
    @Persisted var elevation: Double  // feet above the sea
    @Persisted var latitude: Double
    @Persisted var longitude: Double
    @Persisted var timezone: String
    @Persisted var country: Country?
}

class Country: Object {
    @Persisted(primaryKey: true) var code: String
    @Persisted(indexed: true) var name: String
    @Persisted(originProperty: "country") var airports: LinkingObjects<Airport>
}

func openWorld(_ path: String) throws -> Realm {
    try Realm(
        configuration: .init(
            fileURL: URL(fileURLWithPath: path), schemaVersion: 1,
            objectTypes: [Airport.self, Country.self]))
}

struct Missing: Error, CustomStringConvertible {
    let description: String
}

extension Realm {
    func airport(_ icao: String) throws -> Airport {
        guard let found = object(ofType: Airport.self, forPrimaryKey: icao) else {
            throw Missing(description: "there is no airport \(icao)")
        }
        return found
    }

    /// The airports that link to a country.
    func airports(ofCountry code: String) throws -> LinkingObjects<Airport> {
        guard let country = object(ofType: Country.self, forPrimaryKey: code) else {
            throw Missing(description: "there is no country \(code)")
        }
        return country.airports
    }
}
