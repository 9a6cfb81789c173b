// What stays in memory when objects, results, observers and realms have gone: nothing that grows.

import Foundation
import RealmSwift

/// What the program has in memory.
private func residentBytes() -> Int {
    let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
    let pages = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
    return pages * Int(getpagesize())
}

private func use(_ realm: Realm, parts: Int) throws {
    let all = realm.objects(Row.self)
    // Each object has an accessor of its own, of 169 bytes and a handle of 64.
    var objects = 0
    while objects < 100_000 * parts { objects += Array(all).count }
    var found = 0
    for index in 0..<1000 * parts {
        let token = all.observe { _ in }
        found += all.where { $0.id == index }.count
        token.invalidate()
    }
    for index in 0..<20 * parts {
        let other = try Realm(
            configuration: .init(inMemoryIdentifier: "leaks-\(index)", objectTypes: [Row.self]))
        try other.write { _ = other.create(Row.self, value: ["id": found]) }
    }
}

/// A million objects, ten thousand observers and results, two hundred realms. Kept, each of the three would
/// take more than is allowed; the memory of the first tenth is what is used again.
func checkLeaks(_ realm: Realm) throws {
    try use(realm, parts: 1)
    let before = residentBytes()
    try use(realm, parts: 10)
    let grown = (residentBytes() - before) / 1024
    guard grown < 4096 else {
        print("error: \(grown) KiB stay in memory of objects, observers and realms that are gone")
        exit(1)
    }
    print("object API: \(max(grown, 0)) KiB stay of a million objects and what is around them")
}
