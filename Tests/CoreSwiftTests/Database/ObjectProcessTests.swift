import Glibc
import Testing

@testable import CoreSwift
@testable import TestSupport

/// Work on objects that keeps a rule which every process can check: a counter, and an entry for
/// each of its last values.
enum CounterWorkload {
    static let kept: Int64 = 40

    static func open(_ path: String) throws -> Realm { try Realm.open(configuration(path)) }

    static func configuration(_ path: String) -> Configuration {
        var configuration = Configuration(path: path)
        configuration.schemaVersion = 1
        configuration.schema = Schema([
            ClassSchema(
                "Counter", primaryKey: "id",
                properties: [
                    PropertySchema("id", .int, flags: [.primaryKey]),
                    PropertySchema("value", .int),
                ]),
            ClassSchema(
                "Entry", primaryKey: "id",
                properties: [
                    PropertySchema("id", .int, flags: [.primaryKey]),
                    PropertySchema("text", .string, flags: [.indexed]),
                    PropertySchema(
                        "counter", .object, linkTarget: "Counter", flags: [.nullable]),
                ]),
        ])
        return configuration
    }

    static func step(_ realm: Realm) throws {
        try realm.beginWrite()
        let counter =
            try realm.find("Counter", primaryKey: .int(1))
            ?? realm.create("Counter", primaryKey: .int(1))
        guard case .int(let value) = try counter.get("value") else { return }
        try counter.set("value", .int(value + 1))
        _ = try realm.create(
            "Entry", primaryKey: .int(value),
            ["text": .string(text(value)), "counter": .link(counter.link)])
        try realm.find("Entry", primaryKey: .int(value - kept))?.delete()
        try realm.commit()
    }

    static func text(_ value: Int64) -> String {
        "entry \(value % 7) " + String(repeating: "z", count: Int(value % 300))
    }

    /// The counter's value, when everything fits it.
    static func verify(_ realm: Realm) throws -> Int64 {
        _ = try realm.refresh()
        func fail(_ what: String) -> ToyFailure {
            ToyFailure(description: "version \(realm.version ?? 0): \(what)")
        }
        guard let counter = try realm.find("Counter", primaryKey: .int(1)) else { return 0 }
        guard case .int(let value) = try counter.get("value") else { throw fail("no value") }
        let first = max(0, value - kept)
        let entries = try realm.objects("Entry")
        guard try entries.count() == Int(value - first) else {
            throw fail("\(try entries.count()) entries at \(value)")
        }
        for id in first..<value {
            guard let entry = try realm.find("Entry", primaryKey: .int(id)),
                try entry.get("text") == .string(text(id)),
                try entry.linked("counter")?.get("value") == .int(value)
            else { throw fail("entry \(id) is not as it should be") }
        }
        if value > 0 {
            let last = text(value - 1)
            guard try entries.filter("text == '\(last)'").count() == 1 else {
                throw fail("the index does not find '\(last)'")
            }
        }
        return value
    }
}

@Suite struct ObjectProcessTests {
    private let directory = TemporaryDirectory()

    @Test func killedProcessesLeaveObjectsIndexesAndLinksWhole() throws {
        let realm = try CounterWorkload.open(directory.file())
        var last: Int64 = 0
        for item in Campaign("object storm", seconds: 2, atLeast: 3) {
            var random = item.random
            let children = try (0..<3).map { index in
                try ChildProcess(
                    index == 2 ? "watch objects" : "count objects", path: directory.file(),
                    number: 1_000_000)
            }
            usleep(UInt32(150_000 + random.below(250_000)))
            try CounterWorkload.step(realm)
            for child in children {
                child.kill()
                usleep(UInt32(random.below(2000)))
            }
            for child in children { #expect(child.wait() == -Int(SIGKILL)) }
            let value = try CounterWorkload.verify(realm)
            #expect(value > last)
            last = value
            #expect(try realm.check() == [])
        }
        print("object storm: counted to \(last)")
        #expect(try realm.liveVersionCount() == 1)
        realm.close()
    }

    @Test func severalProcessesCountTogether() throws {
        let realm = try CounterWorkload.open(directory.file())
        let children = try (0..<3).map { _ in
            try ChildProcess("count objects", path: directory.file(), number: 60)
        }
        for _ in 0..<60 { try CounterWorkload.step(realm) }
        for child in children { #expect(child.wait() == 0) }
        #expect(try CounterWorkload.verify(realm) == 240)
        #expect(try realm.check() == [])
        realm.close()
    }
}
