// Writing: a transaction, a rollback, and what a frozen realm keeps of the state before them.

import Foundation
import RealmSwift

func change(_ path: String) throws {
    let realm = try openWorld(path)
    let before = realm.freeze()
    func show(_ who: String, _ realm: Realm) throws {
        let lima = try realm.airport("SPJC")
        let name = who.padding(toLength: 16, withPad: " ", startingAt: 0)
        print("  \(name) SPJC: \(lima.name), \(rounded(lima.elevation)) feet")
    }

    print("\nA live and a frozen realm of \(path)")
    try show("live", realm)
    try show("frozen", before)

    print("A transaction commits a new name and elevation")
    try realm.write {
        let lima = try realm.airport("SPJC")
        lima.name = "Jorge Chávez International Airport"
        lima.elevation = 112
    }
    try show("live", realm)
    try show("frozen", before)

    print("Another one deletes the airports of Iceland, and is rolled back")
    let iceland = try realm.airports(ofCountry: "IS")
    realm.beginWrite()
    realm.delete(iceland)
    print("  in the transaction: \(iceland.count) airports")
    realm.cancelWrite()
    print("  after the rollback: \(iceland.count) airports")
}
