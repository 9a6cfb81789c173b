// Reading: look-ups, sorted lists, counts, averages.

import CoreSwift

private func airportTable() -> TextTable {
    TextTable("ICAO", "IATA", "name", "city", "country", ">feet")
}

private func add(_ airport: DynamicObject, to table: inout TextTable) throws(RealmError) {
    table.add(
        try airport.text("icao"), try airport.text("iata"), try airport.text("name"),
        try airport.text("city"), try airport.linked("country")?.text("name") ?? "–",
        rounded(try airport.number("elevation")))
}

private func show(
    _ airports: Results, sorted order: String, limit: Int = 8
) throws(RealmError) {
    let sorted = try airports.sorted(order)
    let count = try sorted.count()
    var table = airportTable()
    for index in 0..<min(count, limit) { try add(try sorted.element(index), to: &table) }
    table.show()
    if count > limit { print("  and \(count - limit) more") }
}

private func showCountries(_ realm: Realm, limit: Int = 8) throws(RealmError) {
    let countries = try realm.objects("Country")
    var tallies: [(name: String, airports: Int, average: Double, highest: Double)] = []
    for index in 0..<(try countries.count()) {
        let country = try countries.element(index)
        let airports = try realm.airports(of: country)
        tallies.append(
            (
                try country.text("name"), try airports.count(), try airports.average("elevation"),
                try airports.maximum("elevation")
            ))
    }
    tallies.sort { $0.airports > $1.airports }
    var table = TextTable("country", ">airports", ">average feet", ">highest")
    for tally in tallies.prefix(limit) {
        table.add(
            tally.name, grouped(tally.airports), rounded(tally.average), rounded(tally.highest))
    }
    table.show()
}

func explore(_ path: String) throws(RealmError) {
    let realm = try openWorld(path)
    defer { realm.close() }
    let airports = try realm.objects("Airport")
    print("\nCoreSwift, opened \(path)\n\nBy key")
    var table = airportTable()
    for icao in ["SPJC", "LFPG", "KJFK", "RJTT", "BIKF"] {
        try add(try realm.airport(icao), to: &table)
    }
    table.show()

    print("\nThe highest airports of Peru")
    let peru = try realm.airports(ofCountry: "PE")
    try show(peru, sorted: "elevation DESC, icao ASC")
    print("  on average they lie at \(rounded(try peru.average("elevation"))) feet")

    print("\nThe airports of Iceland by name")
    try show(try realm.airports(ofCountry: "IS"), sorted: "name ASC")

    print("\nCountries by number of airports")
    try showCountries(realm)

    print("\nHow many airports ...")
    table = TextTable("condition", ">airports")
    for condition in [
        "elevation > 10000", "elevation < 0", "name CONTAINS[c] 'international'",
        "timezone BEGINSWITH 'Europe/'", "latitude > 66.5622", "iata != nil",
        "city == 'London' AND iata != nil", "NOT (latitude BETWEEN {-60, 60})",
    ] {
        table.add(condition, grouped(try airports.filter(condition).count()))
    }
    table.add("all", grouped(try airports.count()))
    table.show()
}

/// One line that is the same for every program that reads the same data.
func summary(_ path: String) throws(RealmError) {
    let realm = try openWorld(path)
    defer { realm.close() }
    let airports = try realm.objects("Airport")
    let sum = try airports.sum("elevation")
    let north = try airports.maximum("latitude")
    print(
        "\(try airports.count()) airports, \(try realm.objects("Country").count()) countries, "
            + "\(try realm.airports(ofCountry: "PE").count()) in Peru, elevations "
            + "\(decimal(sum, 1)), northernmost \(decimal(north, 4)), SPJC "
            + (try realm.airport("SPJC").text("name")))
}
