// Filling the file.

import Foundation
import RealmSwift

/// Fills the file at `path` from the text that export.py writes.
func importAirports(_ path: String, from data: String) throws {
    let lines = try String(contentsOfFile: data, encoding: .utf8).split(separator: "\n")
    let realm = try openWorld(path)
    let progress = Progress("importing", total: lines.count)
    var countries: [Substring: Country] = [:]
    try realm.write {
        for (index, line) in lines.enumerated() {
            let fields = line.split(separator: "\t", omittingEmptySubsequences: false)
            guard fields.count == 11 else {
                throw Missing(description: "\(data): line \(index + 1) has \(fields.count) fields")
            }
            let country = countries[fields[5]] ?? Country()
            if country.realm == nil {
                country.code = String(fields[5])
                country.name = String(fields[6])
                countries[fields[5]] = country
            }
            let airport = Airport()
            airport.icao = String(fields[0])
            airport.iata = fields[1].isEmpty ? nil : String(fields[1])
            airport.name = String(fields[2])
            airport.city = String(fields[3])
            airport.subdivision = String(fields[4])
            airport.elevation = Double(fields[7]) ?? 0
            airport.latitude = Double(fields[8]) ?? 0
            airport.longitude = Double(fields[9]) ?? 0
            airport.timezone = String(fields[10])
            // A country that is new is added with the airport.
            airport.country = country
            realm.add(airport)
            progress.show(index + 1)
        }
    }
    let count = grouped(lines.count)
    print("\(count) airports in \(countries.count) countries, committed to \(path)")
}
