// Filling the file.

import CoreSwift
import Foundation

/// Fills the file at `path` from the text that export.py writes.
func importAirports(_ path: String, from data: String) throws {
    let lines = try String(contentsOfFile: data, encoding: .utf8).split(separator: "\n")
    let realm = try openWorld(path)
    defer { realm.close() }
    let progress = Progress("importing", total: lines.count)
    var countries: [Substring: DynamicObject] = [:]
    try write(realm) { () throws(RealmError) in
        for (index, line) in lines.enumerated() {
            let fields = line.split(separator: "\t", omittingEmptySubsequences: false)
            guard fields.count == 11 else {
                throw RealmError(
                    .invalidArgument, "\(data): line \(index + 1) has \(fields.count) fields")
            }
            let country: DynamicObject
            if let known = countries[fields[5]] {
                country = known
            } else {
                country = try realm.create(
                    "Country", primaryKey: .string(String(fields[5])),
                    ["name": .string(String(fields[6]))])
                countries[fields[5]] = country
            }
            _ = try realm.create(
                "Airport", primaryKey: .string(String(fields[0])),
                [
                    "iata": fields[1].isEmpty ? .null : .string(String(fields[1])),
                    "name": .string(String(fields[2])),
                    "city": .string(String(fields[3])),
                    "subdivision": .string(String(fields[4])),
                    "elevation": .double(Double(fields[7]) ?? 0),
                    "latitude": .double(Double(fields[8]) ?? 0),
                    "longitude": .double(Double(fields[9]) ?? 0),
                    "timezone": .string(String(fields[10])),
                    "country": .link(country.link),
                ])
            progress.show(index + 1)
        }
    }
    let count = grouped(lines.count)
    print("\(count) airports in \(countries.count) countries, committed to \(path)")
}
