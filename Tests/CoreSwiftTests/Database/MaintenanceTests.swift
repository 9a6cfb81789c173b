// Compaction, copies, statistics, deleting files.

import Glibc
import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite struct MaintenanceTests {
    static let schema = Schema([
        ClassSchema(
            "Person", primaryKey: "_id",
            properties: [
                PropertySchema("_id", .int, flags: [.primaryKey]),
                PropertySchema("name", .string, flags: [.indexed]),
                PropertySchema("note", .string, flags: [.nullable]),
                PropertySchema("friend", .object, linkTarget: "Person", flags: [.nullable]),
            ])
    ])

    static func configuration(_ path: String) -> Configuration {
        var configuration = Configuration(path: path)
        configuration.schema = schema
        configuration.schemaVersion = 1
        return configuration
    }

    static func fill(_ realm: Realm, _ ids: Range<Int>) throws {
        try realm.beginWrite()
        for id in ids {
            let person = try realm.create(
                "Person", primaryKey: .int(Int64(id)),
                ["name": .string("person \(id)"), "note": .string("note \(id &* 7919)")])
            if id % 1000 == 7 {
                try person.set("note", .string(String(repeating: "long \(id) ", count: 1000)))
            }
            if id % 3 == 0, id > 0 {
                let friend = try #require(
                    try realm.find("Person", primaryKey: .int(Int64(id / 2))))
                try person.set("friend", .link(friend.link))
            }
        }
        try realm.commit()
    }

    static func expectFilled(_ realm: Realm, _ ids: Range<Int>) throws {
        #expect(try realm.objectCount(realm.schema.class_(named: "Person")!.key) == ids.count)
        for id in stride(from: ids.lowerBound, to: ids.upperBound, by: 7) {
            let person = try #require(try realm.find("Person", primaryKey: .int(Int64(id))))
            #expect(try person.get("name") == .string("person \(id)"))
            let note =
                id % 1000 == 7
                ? String(repeating: "long \(id) ", count: 1000) : "note \(id &* 7919)"
            #expect(try person.get("note") == .string(note))
        }
    }

    static func size(_ path: String) -> Int {
        var info = stat()
        return stat(path, &info) == 0 ? Int(info.st_size) : -1
    }

    @Test func compactionShrinksTheFileToAboutItsLiveSize() throws {
        let directory = TemporaryDirectory()
        let path = directory.file()
        let realm = try Realm.open(Self.configuration(path))
        try Self.fill(realm, 0..<8_000)
        try realm.beginWrite()
        for id in 2000..<8_000 {
            try realm.find("Person", primaryKey: .int(Int64(id)))?.delete()
        }
        try realm.commit()
        let before = Self.size(path)
        #expect(try realm.compact())
        let after = Self.size(path)
        let statistics = try realm.statistics()
        let live = statistics.classes.reduce(0) {
            $0 + $1.rowBytes + $1.externalBytes + $1.indexBytes
        }
        #expect(after < before / 3)
        #expect(after <= live + live / 16 + 16 * 4096, "\(after) bytes for \(live)")
        #expect(statistics.fileBytes == after)
        #expect(try realm.check() == [])
        try Self.expectFilled(realm, 0..<2000)
        realm.close()
        #expect(Realm.check(path: path) == [])
    }

    @Test func compactionIsRefusedWhileSomebodyReads() throws {
        let directory = TemporaryDirectory()
        let path = directory.file()
        let realm = try Realm.open(Self.configuration(path))
        try Self.fill(realm, 0..<100)
        let other = try Realm.open(Self.configuration(path))
        #expect(try realm.compact())
        try other.beginRead()
        let version = realm.file.store.newestVersion
        #expect(try !realm.compact())
        #expect(realm.file.store.newestVersion == version)
        let frozen = try other.freeze()
        other.close()
        #expect(try !realm.compact())
        frozen.close()
        #expect(try realm.compact())
        try realm.beginWrite()
        #expect(throws: RealmError.self) { try realm.compact() }
        try realm.rollback()
    }

    /// By another realm here, or by another process, which has the file open by itself.
    @Test(arguments: [false, true])
    func `the free end of a file is given back while somebody reads`(elsewhere: Bool) throws {
        let directory = TemporaryDirectory()
        let path = directory.file()
        let realm = try Realm.open(Self.configuration(path))
        try Self.fill(realm, 0..<100)
        try Self.leaveFreeEnd(realm)
        let other = try Realm.open(Self.configuration(path))
        let frozen = elsewhere ? nil : try other.freeze()
        let store = elsewhere ? try Self.openElsewhere(path) : nil
        let pin = try store?.pinNewest()
        other.close()
        let before = Self.size(path)
        #expect(try !realm.compact())
        #expect(Self.size(path) <= before - 38 * Page.size)
        // Once is enough.
        let version = realm.file.store.newestVersion
        #expect(try !realm.compact())
        #expect(realm.file.store.newestVersion == version)
        let person = try #require(try realm.find("Person", primaryKey: .int(3)))
        #expect(try person.get("note") == .string("note \(3 * 7919)"))
        if let frozen { #expect(try frozen.find("Person", primaryKey: .int(99)) != nil) }
        #expect(try realm.check() == [])
        frozen?.close()
        if let pin { store?.unpin(pin.version) }
        try store?.close()
        #expect(try realm.compact())
        realm.close()
        #expect(Realm.check(path: path) == [])
    }

    /// Forty free pages, too few for commits to cut them off; the objects are what they were.
    static func leaveFreeEnd(_ realm: Realm) throws {
        let note = String(repeating: "n", count: 40 * Page.size)
        for text in [note, "short", "note \(3 * 7919)"] {
            try realm.write {
                try realm.find("Person", primaryKey: .int(3))?.set("note", .string(text))
            }
        }
    }

    private static func openElsewhere(_ path: String) throws -> Store {
        try Store.open(
            path: path, options: configuration(path).storeOptions, files: SystemCalls.shared)
    }

    @Test func handlesAreInvalidAfterCompaction() throws {
        let directory = TemporaryDirectory()
        let realm = try Realm.open(Self.configuration(directory.file()))
        try Self.fill(realm, 0..<100)
        let person = try #require(try realm.find("Person", primaryKey: .int(3)))
        #expect(person.isValid)
        _ = try realm.compact()
        #expect(!person.isValid)
    }

    @Test func aCopyHoldsTheSnapshotAndUncommittedChanges() throws {
        let directory = TemporaryDirectory()
        let path = directory.file()
        let realm = try Realm.open(Self.configuration(path))
        try Self.fill(realm, 0..<3000)
        try realm.writeCopy(to: directory.file("copy"))
        #expect(Realm.check(path: directory.file("copy")) == [])
        #expect(throws: RealmError.self) { try realm.writeCopy(to: directory.file("copy")) }
        do {
            try realm.writeCopy(to: directory.path + "/missing/copy")
            Issue.record("no error")
        } catch {
            #expect(error.code == .fileNotFound)
        }
        try realm.beginWrite()
        for id in 3000..<4000 {
            _ = try realm.create(
                "Person", primaryKey: .int(Int64(id)),
                ["name": .string("person \(id)"), "note": .string("note \(id &* 7919)")])
        }
        try realm.find("Person", primaryKey: .int(3007))!.set(
            "note", .string(String(repeating: "long 3007 ", count: 1000)))
        try realm.writeCopy(to: directory.file("copy2"))
        try realm.rollback()
        #expect(Realm.check(path: directory.file("copy2")) == [])
        let copy = try Realm.open(Self.configuration(directory.file("copy2")))
        try Self.expectFilled(copy, 0..<4000)
        #expect(access(directory.file("copy2") + ".lock", F_OK) == 0)
        copy.close()
        try Self.expectFilled(realm, 0..<3000)
    }

    @Test func shouldCompactIsAskedByTheFirstOpening() throws {
        let directory = TemporaryDirectory()
        let path = directory.file()
        var realm = try Realm.open(Self.configuration(path))
        try Self.fill(realm, 0..<8_000)
        try realm.beginWrite()
        for id in 1000..<8_000 {
            try realm.find("Person", primaryKey: .int(Int64(id)))?.delete()
        }
        try realm.commit()
        realm.close()
        let before = Self.size(path)
        var configuration = Self.configuration(path)
        var asked: [(UInt64, UInt64)] = []
        configuration.shouldCompact = { total, used throws(RealmError) in
            asked.append((total, used))
            return true
        }
        realm = try Realm.open(configuration)
        let second = try Realm.open(configuration)
        #expect(asked.count == 1)
        #expect(asked.first.map { Int($0.0) == before && $0.1 < $0.0 } ?? false)
        #expect(Self.size(path) < before / 4)
        try Self.expectFilled(realm, 0..<1000)
        second.close()
        realm.close()
    }

    @Test func deletingFilesNeedsThemClosed() throws {
        let directory = TemporaryDirectory()
        let path = directory.file()
        #expect(try !Realm.deleteFiles(path))
        #expect(try !Realm.deleteFiles(directory.path + "/missing/x.realm"))
        let realm = try Realm.open(Self.configuration(path))
        do {
            try Realm.deleteFiles(path)
            Issue.record("no error")
        } catch {
            #expect(error.code == .deleteOpenedRealm)
        }
        // Another opening of the file, as by another process.
        realm.close()
        let store = try Store.open(
            path: path, options: StoreOptions(), files: SystemCalls.shared)
        #expect(throws: RealmError.self) { try Realm.deleteFiles(path) }
        try store.close()
        TestSettings.writeFile(path + ".note", [1])
        mkdir(path + ".management", 0o755)
        TestSettings.writeFile(path + ".management/a", [1])
        mkdir(path + ".management/b", 0o755)
        TestSettings.writeFile(path + ".management/b/c", [1])
        #expect(try Realm.deleteFiles(path))
        for name in [path, path + ".note", path + ".management"] {
            #expect(access(name, F_OK) != 0, "\(name)")
        }
        #expect(access(path + ".lock", F_OK) == 0)
        #expect(try !Realm.deleteFiles(path))
    }
}
