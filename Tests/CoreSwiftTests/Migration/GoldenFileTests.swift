// Small files of every format and variant, as they were once written, with what they have to decode to.
// Tests/Fixtures/write makes those anew that are missing; files that are there stay as they are, so that
// what an older library wrote is read by all that follow.

import Glibc
import Testing

@testable import CoreSwift
@testable import TestSupport

/// A file in Tests/Fixtures/golden, and how it came to be.
struct GoldenFile: CustomTestStringConvertible {
    let name: String
    /// What its header, catalog and schema say of their formats.
    let headerFormat: UInt32
    let catalogFormat: UInt32
    var cipher: CipherKind?
    var contentsName: String?
    let make: (_ path: String) throws -> Void

    var testDescription: String { name }
    var key: [UInt8] { cipher == nil ? [] : Self.key }

    static let key = (0..<64).map { UInt8($0 * 7 % 251) }
    static let folder =
        String(
            #filePath.prefix(
                #filePath.count - "CoreSwiftTests/Migration/GoldenFileTests.swift".count))
        + "Fixtures/golden/"

    var file: String { Self.folder + name + ".realm" }
    /// What it holds, as text; some hold the same.
    var contents: String { Self.folder + (contentsName ?? name) + ".txt" }

    static let all: [GoldenFile] = [
        GoldenFile(name: "format-1", headerFormat: 1, catalogFormat: 1) { try sample($0) },
        // Commits that shared a sync: the slot does not follow from the version, and the root lists
        // what the others wrote.
        GoldenFile(name: "format-2", headerFormat: 2, catalogFormat: 1) { path in
            try sample(path)
            let realm = try Realm.open(Configuration(path: path))
            defer { realm.close() }
            for number in 0..<3 {
                try realm.beginWrite()
                _ = try realm.create("Event", ["kind": .int(Int64(100 + number))])
                try realm.tablesForWriting().commit(waits: false)
                try realm.rollback()
            }
        },
        GoldenFile(name: "migrated", headerFormat: 1, catalogFormat: 2) { path in
            try sample(path)
            let before = try Realm.open(Configuration(path: path))
            var classes = before.schema.classes
            before.close()
            let place = classes.firstIndex { $0.name == "Item" }!
            classes[place].properties.removeAll { ["note", "cargo"].contains($0.name) }
            classes[place].properties.append(
                PropertySchema("city", .string, defaultValue: .value(.string("Ulm"))))
            var configuration = Configuration(path: path)
            configuration.schema = Schema(classes)
            configuration.schemaVersion = 2
            configuration.migrate = { _, _, _ throws(RealmError) in true }
            try Realm.open(configuration).close()
        },
        GoldenFile(name: "change-log", headerFormat: 1, catalogFormat: 3) { try logged($0) },
        GoldenFile(name: "change-log-left-out", headerFormat: 1, catalogFormat: 4) { path in
            let (realm, events) = try loaded(path, 1000)
            defer { realm.close() }
            // Some have their values in the log of what touched them.
            try realm.beginWrite()
            for index in stride(from: 3, to: 24, by: 6) { try events[index].delete() }
            try events[29].set("kind", .int(7))
            try realm.commit()
        },
        GoldenFile(name: "change-log-before", headerFormat: 1, catalogFormat: 5) { path in
            let (realm, events) = try loaded(path, 2000)
            defer { realm.close() }
            // Numbers stand beside those of before, twice; then some objects are gone.
            for number in 0..<2 {
                try realm.beginWrite()
                for index in stride(from: 3, to: 24, by: 6) {
                    try events[index].set("kind", .int(Int64(number)))
                    try events[index + 1].set("kind", .int(Int64(-number)))
                }
                try realm.commit()
            }
            try realm.beginWrite()
            for index in [4, 9, 12] { try events[index].delete() }
            try realm.commit()
        },
        GoldenFile(name: "change-log-brief", headerFormat: 1, catalogFormat: 6) { path in
            let (realm, events) = try loaded(path, 3000)
            defer { realm.close() }
            let kind = try kindOfEvents(realm)
            // Integers of all lengths and sums, of keys here and there and in a row, twice.
            for number in 0..<2 {
                try realm.beginWrite()
                for (index, shift) in zip([0, 2, 5, 6, 7, 13], [0, 7, 14, 55, 56, 63]) {
                    try events[index].set("kind", .int(Int64(-1) << Int64(shift)))
                }
                try events[20 + number].handle.addInt(kind, .max)
                try realm.commit()
            }
            try realm.beginWrite()
            for index in [6, 8, 21] { try events[index].delete() }
            try realm.commit()
        },
        GoldenFile(name: "change-log-supplement", headerFormat: 1, catalogFormat: 7) {
            try touched($0, 4000)
        },
        // The record of the load has integers.
        GoldenFile(name: "change-log-integers", headerFormat: 1, catalogFormat: 8) {
            try touched($0, 5000)
        },
        GoldenFile(
            name: "aes-256-gcm", headerFormat: 2, catalogFormat: 1, cipher: .aes256GCM,
            contentsName: "format-1"
        ) { try sealed($0, .aes256GCM) { try sample($0) } },
        GoldenFile(
            name: "xchacha20-poly1305", headerFormat: 2, catalogFormat: 1,
            cipher: .xChaCha20Poly1305, contentsName: "format-1"
        ) { try sealed($0, .xChaCha20Poly1305) { try sample($0) } },
        GoldenFile(
            name: "change-log-encrypted", headerFormat: 2, catalogFormat: 3,
            cipher: .xChaCha20Poly1305, contentsName: "change-log"
        ) { try sealed($0, .xChaCha20Poly1305) { try logged($0) } },
    ]

    private static func sample(_ path: String) throws {
        try SampleFile.make(path, items: 12, tags: 10, scale: 12)
        let realm = try Realm.open(Configuration(path: path))
        _ = try realm.compact()
        realm.close()
    }

    private static func logged(_ path: String) throws {
        try sample(path)
        let realm = try Realm.open(Configuration(path: path))
        defer { realm.close() }
        try realm.beginWrite()
        try realm.addLogConsumer("reader")
        try realm.commit()
        for step in 0..<20 {
            try realm.beginWrite()
            try realm.find("Item", primaryKey: SampleFile.item(4))?.set(
                "note", .string("step \(step) " + String(repeating: "n", count: 90)))
            _ = try realm.create("Event", ["kind": .int(Int64(step))])
            if step == 7 { try realm.find("Item", primaryKey: SampleFile.item(6))?.delete() }
            try realm.commit()
        }
    }

    /// Behind them objects whose values the log leaves out.
    private static func loaded(
        _ path: String, _ first: Int64
    ) throws -> (realm: Realm, events: [DynamicObject]) {
        try logged(path)
        var configuration = Configuration(path: path)
        configuration.unwrittenObjectsMin = 8
        let realm = try Realm.open(configuration)
        try realm.beginWrite()
        let events = try (first..<first + 30).map {
            try realm.create("Event", ["kind": .int($0)])
        }
        try realm.commit()
        return (realm, events)
    }

    /// Behind that some of them get other integers, and some go.
    private static func touched(_ path: String, _ first: Int64) throws {
        let (realm, events) = try loaded(path, first)
        defer { realm.close() }
        for number in 0..<2 {
            try realm.beginWrite()
            for index in [3, 4, 9 + number] { try events[index].set("kind", .int(-1)) }
            try realm.commit()
        }
        try realm.beginWrite()
        for index in [4, 12] { try events[index].delete() }
        try events[20].set("kind", .int(.max))
        try realm.commit()
    }

    private static func kindOfEvents(_ realm: Realm) throws -> PropertyKey {
        let item = try #require(realm.schema.class_(named: "Event"))
        return try #require(item.property(named: "kind")).key
    }

    /// Makes a plain file elsewhere and seals it with a cipher that need not be this processor's choice.
    private static func sealed(
        _ path: String, _ cipher: CipherKind, _ make: (String) throws -> Void
    ) throws {
        let plain = path + ".plain"
        try make(plain)
        let source = try Store.open(
            path: plain, options: StoreOptions(), files: SystemCalls.shared)
        try TableSet.withNewest(source) { tables throws(RealmError) in
            let copy = TreeCopy(tables, keepsLog: true)
            try copy.measure()
            var options = StoreOptions(firstVersion: tables.version)
            options.encryptionKey = key
            options.cipher = cipher
            let store = try Store.open(path: path, options: options, files: SystemCalls.shared)
            if let lease = try store.beginWrite(wait: true) {
                let pin = try copy.publish(try lease.prepareCommit(pages: copy.pages, freed: []))
                store.unpin(pin.version)
            }
            try store.close()
        }
        try source.close()
        for name in [plain, plain + ".lock"] { unlink(name) }
    }

    /// What a file holds, a line each, in an order that does not change.
    static func text(_ realm: Realm) throws -> String {
        let dump = try RealmDump(realm)
        var lines: [String] = ["schema version \(realm.schemaVersion)"]
        for item in realm.schema.classes {
            for property in item.properties {
                lines.append(
                    "\(item.name).\(property.name): \(property.type), \(property.collection), "
                        + "\(property.linkTarget), flags \(property.flags.rawValue)")
            }
        }
        for (name, items) in dump.objects {
            for (key, object) in items { lines.append("\(name) \(key): \(object.text)") }
        }
        for (name, items) in dump.anonymous {
            for (object, count) in items { lines.append("\(name), \(count) times: \(object.text)") }
        }
        for consumer in try realm.logConsumers {
            lines.append("consumer \(consumer.name): \(consumer.acknowledged)")
            var operations: [String] = []
            try realm.readLog(from: consumer.acknowledged) { operation in
                operations.append(text(operation))
                return true
            }
            for (index, line) in operations.enumerated() {
                lines.append("log " + String(10_000 + index) + ": " + line)
            }
        }
        return lines.sorted().joined(separator: "\n") + "\n"
    }

    static func text(_ operation: LoggedOperation) -> String {
        "log \(operation.kind) \(operation.classKey) \(operation.firstObject) "
            + "\(operation.lastObject) \(operation.count) "
            + "\((try? Value(operation.value)).map { "\($0)" } ?? "-")"
    }
}

extension Dump {
    /// The whole value, members in order.
    var text: String {
        switch self {
        case .value(let text): text
        case .list(let items): "[" + items.map(\.text).joined(separator: ", ") + "]"
        case .set(let items): "{" + items.map(\.text).sorted().joined(separator: ", ") + "}"
        case .dictionary(let items), .object(let items):
            "("
                + items.map { "\($0): \($1.text)" }.sorted().joined(separator: ", ") + ")"
        }
    }
}

@Suite(.serialized) struct GoldenFileTests {
    private let directory = TemporaryDirectory()

    private func copy(_ golden: GoldenFile) -> String {
        let path = directory.file(golden.name + ".realm")
        TestSettings.writeFile(path, TestSettings.readFile(golden.file))
        return path
    }

    private func configuration(_ golden: GoldenFile, _ path: String) -> Configuration {
        var configuration = Configuration(path: path)
        configuration.encryptionKey = golden.key
        return configuration
    }

    /// Not a test: writes what is missing, for Tests/Fixtures/write.
    @Test(.enabled(if: getenv("REALM_WRITE_GOLDEN") != nil))
    func writeThoseThatAreMissing() throws {
        mkdir(GoldenFile.folder, 0o755)
        for golden in GoldenFile.all where access(golden.file, F_OK) != 0 {
            let path = directory.file(golden.name + ".realm")
            try golden.make(path)
            TestSettings.writeFile(golden.file, TestSettings.readFile(path))
            let realm = try Realm.open(configuration(golden, path))
            defer { realm.close() }
            guard access(golden.contents, F_OK) != 0 else { continue }
            TestSettings.writeFile(golden.contents, Array(try GoldenFile.text(realm).utf8))
        }
    }

    @Test(arguments: GoldenFile.all)
    func theyDecodeToWhatTheyHeld(golden: GoldenFile) throws {
        if golden.cipher == .aes256GCM, !CipherKind.hasAES { return }
        let path = copy(golden)
        let expected = String(decoding: TestSettings.readFile(golden.contents), as: UTF8.self)
        #expect(!expected.isEmpty)
        #expect(Realm.check(path: path, encryptionKey: golden.key) == [])
        var configuration = configuration(golden, path)
        for mode in [SchemaMode.immutable, .readOnly, .automatic] {
            configuration.schemaMode = mode
            let realm = try Realm.open(configuration)
            #expect(try GoldenFile.text(realm) == expected, "\(mode)")
            realm.close()
        }
        // Work goes on.
        let realm = try Realm.open(configuration)
        try realm.beginWrite()
        let added = try realm.create("Event", ["kind": .int(-5)])
        try realm.commit()
        #expect(try added.get("kind") == .int(-5))
        try realm.beginWrite()
        try added.delete()
        try realm.commit()
        #expect(try realm.check() == [])
        let lines = Set(try GoldenFile.text(realm).split(separator: "\n"))
        let old = expected.split(separator: "\n")
        #expect(old.allSatisfy { lines.contains($0) || $0.hasPrefix("log ") })
        realm.close()
    }

    /// Whether the record of the load has them, or a record behind it that sets others.
    @Test(
        arguments: GoldenFile.all.filter {
            $0.catalogFormat >= 4 && $0.name.hasPrefix("change-log")
        })
    func integersOfLoadsAreTheSameInTheLogWhenTheyWereSet(golden: GoldenFile) throws {
        let realm = try Realm.open(configuration(golden, copy(golden)))
        let consumer = try #require(try realm.logConsumers.first)
        func log() throws -> [String] {
            var told: [String] = []
            try realm.readLog(from: consumer.acknowledged) { operation in
                told.append(GoldenFile.text(operation))
                return true
            }
            return told
        }
        let before = try log()
        let results = try realm.objects("Event")
        let events = try (0..<results.count()).map { index in
            try #require(
                try realm.find(results.classKey, key: try results.get(index).linkTarget))
        }
        try #require(events.count > 20 && before.count > 40)
        for value in [-98, -99] as [Int64] {
            try realm.beginWrite()
            for event in events { try event.set("kind", .int(value)) }
            try realm.commit()
        }
        let after = try log()
        // Values of one version in another order.
        #expect(after.prefix(before.count).sorted() == before.sorted())
        #expect(after.count == before.count + 2 * (1 + events.count))
        #expect(try realm.check() == [])
        realm.close()
    }

    @Test(arguments: GoldenFile.all)
    func theyAreOfTheFormatsTheyStandFor(golden: GoldenFile) throws {
        if golden.cipher == .aes256GCM, !CipherKind.hasAES { return }
        let file = try DamagedFile(copy(golden), key: golden.key, SystemCalls.shared)
        let newest = try #require(try file.versions { _ in true }.first)
        guard case .header(let slot) = newest.origin else {
            Issue.record("no header slot")
            return
        }
        #expect((file.raw + FileHeader.slotOffset(slot)).u32(8) == golden.headerFormat)
        #expect((file.raw + FileHeader.slotOffset(slot)).u32(16) == golden.cipher?.rawValue ?? 0)
        #expect(newest.root.payload.u32(0) == golden.catalogFormat)
        #expect((newest.catalog.log != nil) == (golden.catalogFormat >= 3))
    }

    /// What earlier libraries exported of the change logs of these files (`changes-N.bytes`, N is the format).
    @Test(
        arguments: zip(
            1...4,
            [
                "change-log", "change-log-left-out", "change-log-before", "change-log-supplement",
            ]))
    func changesAsBytesOfEarlierFormatsAreRead(format: Int, name: String) throws {
        let golden = GoldenFile.all.first { $0.name == name }!
        let bytes = TestSettings.readFile(GoldenFile.folder + "changes-\(format).bytes")
        try #require(bytes.count > 8 && bytes[8] == UInt8(format))
        let realm = try Realm.open(configuration(golden, copy(golden)))
        let consumer = try #require(try realm.logConsumers.first)
        var logged: [String] = []
        try realm.readLog(from: consumer.acknowledged) { operation in
            logged.append(GoldenFile.text(operation))
            return true
        }
        var read: [String] = []
        try realm.readChanges(bytes) { operation in
            read.append(GoldenFile.text(operation))
            return true
        }
        #expect(read == logged && logged.count > 40)
        realm.close()
    }

    // MARK: Formats to come

    private func error(_ bytes: [UInt8], _ key: [UInt8] = []) -> RealmError? {
        let path = directory.file("newer.realm")
        TestSettings.replaceFile(path, bytes)
        unlink(path + ".lock")
        var configuration = Configuration(path: path)
        configuration.encryptionKey = key
        do throws(RealmError) {
            try Realm.open(configuration).close()
            return nil
        } catch {
            return error
        }
    }

    private func expectRefused(_ error: RealmError?, _ words: String) {
        #expect(error?.code == .unsupportedFileFormatVersion, "\(words): \(error?.message ?? "-")")
        #expect(error?.message.contains(words) == true, "\(words): \(error?.message ?? "-")")
    }

    @Test func newerHeadersAreRefusedByTheirFormat() throws {
        for name in ["format-1", "aes-256-gcm"] {
            let golden = GoldenFile.all.first { $0.name == name }!
            var bytes = TestSettings.readFile(golden.file)
            bytes.withUnsafeMutableBytes { buffer in
                guard let base = buffer.baseAddress else { return }
                for slot in [base, base + Page.size] where UnsafeRawPointer(slot).u64(0) != 0 {
                    slot.put(UInt32(3), 8)
                    if golden.cipher == nil {
                        slot.put(UInt64(0), 496)
                        slot.put(UInt64(0), 504)
                        let check = ContentHash.of(
                            slot, count: FileHeader.slotBytes, seed0: 0, seed1: 0)
                        slot.put(check.low, 496)
                        slot.put(check.high, 504)
                    } else {
                        var plain = [UInt8](UnsafeRawBufferPointer(start: slot, count: 88))
                        plain += [UInt8](repeating: 0, count: 40)
                        let check = plain.withUnsafeBytes {
                            ContentHash.of($0.baseAddress!, count: 128, seed0: 0, seed1: 0)
                        }
                        slot.put(check.low, 88)
                    }
                }
            }
            expectRefused(error(bytes, golden.key), "file format 3")
            let path = directory.file("newer.realm")
            let target = directory.file("salvaged.realm")
            do throws(RealmError) {
                _ = try Salvage.run(path, key: golden.key, to: target, targetKey: [])
                Issue.record("salvage took it")
            } catch {
                expectRefused(error, "file format 3")
            }
        }
    }

    @Test func newerCatalogsAreRefusedByTheirFormat() throws {
        let golden = GoldenFile.all.first { $0.name == "change-log" }!
        let bytes = TestSettings.readFile(golden.file)
        let surgeon = try FileSurgeon(bytes)
        surgeon.memory.put(UInt32(9), surgeon.payload)
        surgeon.reseal()
        expectRefused(error(surgeon.bytes), "catalog has format 9")
    }

    @Test func newerCiphersAreRefusedByTheirNumber() throws {
        let golden = GoldenFile.all.first { $0.name == "xchacha20-poly1305" }!
        var bytes = TestSettings.readFile(golden.file)
        bytes.withUnsafeMutableBytes { buffer in
            guard let base = buffer.baseAddress else { return }
            for slot in [base, base + Page.size] where UnsafeRawPointer(slot).u64(0) != 0 {
                slot.put(UInt32(3), 16)
                var plain = [UInt8](UnsafeRawBufferPointer(start: slot, count: 88))
                plain += [UInt8](repeating: 0, count: 40)
                let check = plain.withUnsafeBytes {
                    ContentHash.of($0.baseAddress!, count: 128, seed0: 0, seed1: 0)
                }
                slot.put(check.low, 88)
            }
        }
        expectRefused(error(bytes, golden.key), "cipher 3")
    }
}
