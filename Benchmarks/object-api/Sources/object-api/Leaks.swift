// What stays in memory when objects, results, observers and realms have gone: nothing that grows.

import Foundation
import RealmSwift

/// What the program has in memory.
private func residentBytes() -> Int {
    let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
    let pages = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
    return pages * Int(getpagesize())
}

private struct Load {
    var objects: Int
    var tokens: Int
    var realms: Int
}

private func use(_ realm: Realm, _ load: Load) throws {
    let all = realm.objects(Row.self)
    // Each object has an accessor of its own, of 169 bytes and a handle of 64.
    var objects = 0
    while objects < load.objects { objects += Array(all).count }
    var found = 0
    for index in 0..<load.tokens {
        let token = all.observe { _ in }
        found += all.where { $0.id == index }.count
        token.invalidate()
    }
    for index in 0..<load.realms {
        let other = try Realm(
            configuration: .init(inMemoryIdentifier: "leaks-\(index)", objectTypes: [Row.self]))
        try other.write { _ = other.create(Row.self, value: ["id": found]) }
    }
}

/// A million objects, ten thousand observers and results, two hundred realms; with `isLong` a million observers and a
/// hundred thousand realms. Kept, each of the three would take more than is allowed; the memory of the first tenth is what
/// is used again.
func checkLeaks(_ realm: Realm, isLong: Bool) throws {
    let load =
        isLong
        ? Load(objects: 1_000_000, tokens: 1_000_000, realms: 100_000)
        : Load(objects: 1_000_000, tokens: 10_000, realms: 200)
    try use(
        realm, Load(objects: load.objects / 10, tokens: load.tokens / 10, realms: load.realms / 10))
    let before = residentBytes()
    try use(realm, load)
    let grown = (residentBytes() - before) / 1024
    guard grown < 4096 else {
        print("error: \(grown) KiB stay in memory of objects, observers and realms that are gone")
        exit(1)
    }
    print(
        "object API: \(max(grown, 0)) KiB stay of \(load.objects) objects, \(load.tokens) observers and "
            + "results, \(load.realms) realms")
}
