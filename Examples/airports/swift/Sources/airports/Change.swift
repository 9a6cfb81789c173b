// Writing: a transaction, a rollback, and what another instance sees of them.

import CoreSwift

func change(_ path: String) throws(RealmError) {
    let first = try openWorld(path)
    let second = try openWorld(path)
    defer {
        second.close()
        first.close()
    }
    func show(_ who: String, _ realm: Realm) throws(RealmError) {
        let lima = try realm.airport("SPJC")
        let name = who + String(repeating: " ", count: 16 - who.count)
        print(
            "  \(name) SPJC: \(try lima.text("name")), "
                + "\(rounded(try lima.number("elevation"))) feet")
    }

    print("\nTwo instances of \(path)")
    try show("first", first)
    try show("second", second)

    print("The first one commits a new name and elevation")
    try write(first) { () throws(RealmError) in
        let lima = try first.airport("SPJC")
        try lima.set("name", .string("Jorge Chávez International Airport"))
        try lima.set("elevation", .double(112))
    }
    try show("first", first)
    try show("second, before", second)
    _ = try second.refresh()
    try show("second, after", second)

    print("The first one deletes the airports of Iceland, and rolls that back")
    try first.beginWrite()
    let iceland = try first.airports(ofCountry: "IS")
    try iceland.deleteAll()
    print("  in the transaction: \(try iceland.count()) airports")
    try first.rollback()
    print("  after the rollback: \(try first.airports(ofCountry: "IS").count()) airports")
}
