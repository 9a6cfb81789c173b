// Reading: look-ups, sorted lists, counts, averages.

import Foundation
import RealmSwift

private func airportTable() -> TextTable {
    TextTable("ICAO", "IATA", "name", "city", "country", ">feet")
}

private func add(_ airport: Airport, to table: inout TextTable) {
    table.add(
        airport.icao, airport.iata ?? "–", airport.name, airport.city, airport.country?.name ?? "–",
        rounded(airport.elevation))
}

private func show(_ airports: Results<Airport>, limit: Int = 8) {
    var table = airportTable()
    for airport in airports.prefix(limit) { add(airport, to: &table) }
    table.show()
    if airports.count > limit { print("  and \(airports.count - limit) more") }
}

private func showCountries(_ realm: Realm, limit: Int = 8) {
    let countries = realm.objects(Country.self).sorted { $0.airports.count > $1.airports.count }
    var table = TextTable("country", ">airports", ">average feet", ">highest")
    for country in countries.prefix(limit) {
        let airports = country.airports
        table.add(
            country.name, grouped(airports.count),
            rounded(airports.average(of: \.elevation) ?? 0),
            rounded(airports.max(of: \.elevation) ?? 0))
    }
    table.show()
}

func explore(_ path: String) throws {
    let realm = try openWorld(path)
    let airports = realm.objects(Airport.self)
    print("\nRealmSwift, opened \(path)\n\nBy key")
    var table = airportTable()
    for icao in ["SPJC", "LFPG", "KJFK", "RJTT", "BIKF"] {
        add(try realm.airport(icao), to: &table)
    }
    table.show()

    print("\nThe highest airports of Peru")
    let peru = try realm.airports(ofCountry: "PE")
    show(peru.sorted(by: [SortDescriptor(keyPath: "elevation", ascending: false), "icao"]))
    print("  on average they lie at \(rounded(peru.average(of: \.elevation) ?? 0)) feet")

    print("\nThe airports of Iceland by name")
    show(try realm.airports(ofCountry: "IS").sorted(by: \.name))

    print("\nCountries by number of airports")
    showCountries(realm)

    print("\nHow many airports ...")
    table = TextTable("condition", ">airports")
    let conditions: [(String, (Query<Airport>) -> Query<Bool>)] = [
        ("elevation > 10000", { $0.elevation > 10000 }),
        ("elevation < 0", { $0.elevation < 0 }),
        (
            "name contains 'international'",
            { $0.name.contains("international", options: .caseInsensitive) }
        ),
        ("timezone starts with 'Europe/'", { $0.timezone.starts(with: "Europe/") }),
        ("north of the arctic circle", { $0.latitude > 66.5622 }),
        ("iata != nil", { $0.iata != nil }),
        ("in London, with a code", { $0.city == "London" && $0.iata != nil }),
        ("beyond 60 degrees", { !$0.latitude.contains(-60...60) }),
    ]
    for (text, condition) in conditions {
        table.add(text, grouped(airports.where(condition).count))
    }
    table.add("all", grouped(airports.count))
    table.show()
}

/// One line that is the same for every program that reads the same data.
func summary(_ path: String) throws {
    let realm = try openWorld(path)
    let airports = realm.objects(Airport.self)
    let north = airports.max(of: \.latitude) ?? 0
    print(
        "\(airports.count) airports, \(realm.objects(Country.self).count) countries, "
            + "\(try realm.airports(ofCountry: "PE").count) in Peru, elevations "
            + "\(decimal(airports.sum(of: \.elevation), 1)), northernmost \(decimal(north, 4)), SPJC "
            + (try realm.airport("SPJC").name))
}
