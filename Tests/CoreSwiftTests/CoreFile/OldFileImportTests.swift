// `OldFileImport`: the files of realm-core in Tests/Fixtures/realm-core become files of ours that hold the
// same, value by value.

import CoreSwift
import Glibc
import RealmCoreFile
import RealmImport
import Testing

@testable import TestSupport

/// What an import of a file has to give, in terms of `RealmDump`.
private struct ExpectedContents {
    let file: CoreFile
    private(set) var rows: [Int: [Int64: [CoreValue]]] = [:]
    private(set) var order: [Int: [Int64]] = [:]
    private(set) var objects: [String: [String: Dump]] = [:]
    private(set) var anonymous: [String: [Dump: Int]] = [:]

    init(_ path: String, key: [UInt8] = []) throws {
        file = try CoreFile(path, key: key)
        for index in file.tables.indices {
            try file.forEachObject(of: index) { key, values in
                rows[index, default: [:]][key] = values
                order[index, default: []].append(key)
            }
        }
        for (index, table) in file.tables.enumerated() where table.kind == .ordinary {
            guard let name = table.className else { continue }
            for values in rows[index]?.values ?? [:].values {
                let dump = try object(table, values)
                if let key = table.primaryKey {
                    objects[name, default: [:]][RealmDump.text(try value(values[key]))] = dump
                } else {
                    anonymous[name, default: [:]][dump, default: 0] += 1
                }
            }
        }
    }

    private func object(_ table: CoreTable, _ values: [CoreValue]) throws -> Dump {
        var members: [String: Dump] = [:]
        for (column, value) in zip(table.columns, values) { members[column.name] = try dump(value) }
        return .object(members)
    }

    private func dump(_ value: CoreValue) throws -> Dump {
        switch value {
        case .list(let values): return .list(try values.map(dump))
        case .set(let values): return .set(Set(try values.map(dump)))
        case .dictionary(let entries):
            var members: [String: Dump] = [:]
            for entry in entries {
                var key = entry.key
                if case .int(let number) = key { key = .string(String(number)) }
                members[RealmDump.text(try self.value(key))] = try dump(entry.value)
            }
            return .dictionary(members)
        case .link(let index, let key):
            let table = file.tables[index]
            let values = try #require(rows[index]?[key])
            if table.kind == .embedded { return try object(table, values) }
            let name = try #require(table.className)
            guard let primary = table.primaryKey else { return .value("link to \(name)") }
            return .value(name + " " + RealmDump.text(try self.value(values[primary])))
        default: return .value(RealmDump.text(try self.value(value)))
        }
    }

    private func value(_ value: CoreValue) throws -> Value {
        switch value {
        case .int(let value): .int(value)
        case .bool(let value): .bool(value)
        case .string(let value): .string(value)
        case .binary(let value): .binary(value)
        case .timestamp(let seconds, let nanoseconds):
            .timestamp(Timestamp(seconds: seconds, nanoseconds: nanoseconds))
        case .float(let value): .float(value)
        case .double(let value): .double(value)
        case .decimal(let high, let low): .decimal128(Decimal128(low: low, high: high))
        case .objectID(let bytes): .objectId(try ObjectId(bytes: bytes))
        case .uuid(let bytes): .uuid(try UUIDValue(bytes: bytes))
        case .null, .link, .list, .set, .dictionary: .null
        }
    }

    /// Links between objects without primary keys, which a dump does not tell apart: they keep their keys.
    func checkLinks(_ realm: Realm) throws {
        for (index, table) in file.tables.enumerated()
        where table.kind == .ordinary && table.primaryKey == nil {
            guard let name = table.className, let own = realm.schema.class_(named: name) else {
                continue
            }
            for (column, property) in table.columns.enumerated()
            where property.type == .link && property.collection == .none {
                guard let target = property.target, file.tables[target].kind == .ordinary,
                    file.tables[target].primaryKey == nil
                else { continue }
                let key = try #require(own.property(named: property.name)).key
                for old in order[index] ?? [] {
                    let handle = try realm.object(own.key, ObjectKey(rawValue: old))
                    defer { handle.release() }
                    let linked = try handle.linkedObject(key)
                    defer { linked?.release() }
                    var due: Int64?
                    if case .link(_, let old)? = rows[index]?[old]?[column] { due = old }
                    #expect(linked?.objectKey.rawValue == due)
                }
            }
        }
    }
}

extension Dump {
    /// Sets with one of equal values: ours hold one of several NaNs and one of the zeros.
    fileprivate var withEqualsMerged: Dump {
        switch self {
        case .value: return self
        case .list(let items): return .list(items.map(\.withEqualsMerged))
        case .dictionary(let items): return .dictionary(items.mapValues(\.withEqualsMerged))
        case .object(let items): return .object(items.mapValues(\.withEqualsMerged))
        case .set(let items):
            return .set(
                Set(
                    items.map { item in
                        guard case .value(let text) = item else { return item }
                        for type in ["float", "double"] where text.hasPrefix(type + "(") {
                            if text.contains("nan") { return .value(type + "(nan)") }
                            if text == type + "(-0.0)" { return .value(type + "(0.0)") }
                        }
                        return item
                    }))
        }
    }
}

@Suite struct OldFileImportTests {
    private static let samples = CoreFileSample.all.filter { $0.name != "deep" }

    private func files(_ directory: TemporaryDirectory) -> Set<String> {
        Set(TemporaryDirectory.names(directory.path))
    }

    @Test("an imported file holds what the old one does", arguments: samples)
    func values(_ sample: CoreFileSample) throws {
        let directory = TemporaryDirectory()
        let (old, new) = (directory.file("old.realm"), directory.file("new.realm"))
        let bytes = try sample.bytes()
        TestSettings.writeFile(old, bytes)
        let report = try OldFileImport.run(old, to: new, ImportOptions(key: sample.key))
        #expect(report.losses == [] && report.lossCount == 0)
        #expect(files(directory) == ["old.realm", "new.realm"])
        #expect(TestSettings.readFile(old) == bytes)

        let realm = try Realm.open(Configuration(path: new))
        defer { realm.close() }
        #expect(try realm.check() == [])
        let expected = try ExpectedContents(old, key: sample.key)
        let found = try RealmDump(realm)
        #expect(found.objects.mapValues { $0.count } == expected.objects.mapValues { $0.count })
        for (name, objects) in expected.objects {
            for (key, dump) in objects
            where found.objects[name]?[key]?.withEqualsMerged != dump.withEqualsMerged {
                let other = found.objects[name]?[key]?.description ?? "missing"
                Issue.record("\(name) \(key) is \(other.prefix(3000)), not \(dump)")
            }
        }
        for (name, objects) in expected.anonymous.mapValues(Self.merged) {
            let own = Self.merged(found.anonymous[name] ?? [:])
            let strangers = own.keys.filter { objects[$0] == nil }
            for dump in objects.keys where own[dump] != objects[dump] {
                let nearest = strangers.map { Self.differences(dump, $0) }.min {
                    $0.count < $1.count
                }
                Issue.record("\(name): an object is missing; the most similar: \(nearest ?? [])")
            }
            #expect(strangers.isEmpty)
        }
        #expect(found.anonymous.keys == expected.anonymous.keys)
        try expected.checkLinks(realm)
        let counts = Dictionary(uniqueKeysWithValues: report.classes.map { ($0.name, $0.objects) })
        for (index, table) in expected.file.tables.enumerated() where table.kind != .asymmetric {
            guard let name = table.className else { continue }
            #expect(counts[name] == expected.order[index]?.count ?? 0)
        }
    }

    private static func merged(_ objects: [Dump: Int]) -> [Dump: Int] {
        Dictionary(objects.map { ($0.withEqualsMerged, $1) }, uniquingKeysWith: +)
    }

    /// The members of objects that differ.
    private static func differences(_ due: Dump, _ found: Dump) -> [String] {
        guard case .object(let due) = due, case .object(let found) = found else { return [] }
        return due.keys.filter { due[$0] != found[$0] }.map {
            "\($0) is \(String(reflecting: found[$0]).prefix(300)), not "
                + String(reflecting: due[$0]).prefix(300)
        }
    }

    @Test("schema version, primary keys, indexes and kinds of classes come along")
    func schema() throws {
        let directory = TemporaryDirectory()
        let old = directory.file("old.realm")
        for name in ["format24_core", "format9", "holes"] {
            let new = directory.file(name)
            TestSettings.writeFile(old, try CoreFileSample(name: name).bytes())
            _ = try OldFileImport.run(old, to: new)
            let file = try CoreFile(old)
            let realm = try Realm.open(Configuration(path: new))
            defer { realm.close() }
            #expect(realm.schemaVersion == file.schemaVersion)
            var indexed = 0
            for table in file.tables where table.kind != .asymmetric {
                guard let name = table.className else { continue }
                let own = try #require(realm.schema.class_(named: name))
                #expect((own.kind == .embedded) == (table.kind == .embedded))
                #expect(own.primaryKey == table.primaryKey.map { table.columns[$0].name } ?? "")
                #expect(own.properties.map(\.name) == table.columns.map(\.name))
                for (property, column) in zip(own.properties, table.columns)
                where column.isIndexed && !property.isPrimaryKey {
                    #expect(property.flags.contains(.indexed))
                    indexed += 1
                }
                for (property, column) in zip(own.properties, table.columns)
                where column.isFullTextIndexed {
                    #expect(property.flags.contains(.fullTextIndexed))
                }
            }
            #expect(indexed > 0 || name == "format24_core")
        }
    }

    @Test("a file that is there is not written over, and a failed import leaves nothing")
    func failures() throws {
        let directory = TemporaryDirectory()
        let (old, new) = (directory.file("old.realm"), directory.file("new.realm"))
        var bytes = try CoreFileSample(name: "alltypes").bytes()
        TestSettings.writeFile(old, bytes)
        TestSettings.writeFile(new, [1, 2, 3])
        func error(key: [UInt8] = []) -> RealmError? {
            do throws(RealmError) {
                _ = try OldFileImport.run(old, to: new, ImportOptions(newKey: key))
                return nil
            } catch {
                return error
            }
        }
        #expect(error()?.code == .fileAlreadyExists)
        #expect(TestSettings.readFile(new) == [1, 2, 3])
        unlink(new)
        #expect(error(key: [1, 2, 3])?.code == .invalidEncryptionKey)
        #expect(files(directory) == ["old.realm"])
        // Values of objects are damaged, which is found when some have been written: all texts end badly.
        for offset in stride(from: 4096, to: bytes.count - 8, by: 8)
        where bytes[offset..<offset + 4].allSatisfy({ $0 == 0x41 })
            && bytes[offset + 4] & 0x18 == 0x10
        {
            bytes[offset + 4] |= 0x18
        }
        TestSettings.writeFile(old, bytes)
        #expect(error()?.code == .invalidDatabase)
        #expect(files(directory) == ["old.realm"])
        unlink(old)
        #expect(error()?.code == .fileOperationFailed)
        #expect(files(directory) == [])
    }

    @Test(
        "objects keep their keys where they can, embedded ones, too; new ones get others",
        arguments: samples)
    func keys(_ sample: CoreFileSample) throws {
        let directory = TemporaryDirectory()
        let (old, new) = (directory.file("old.realm"), directory.file("new.realm"))
        TestSettings.writeFile(old, try sample.bytes())
        _ = try OldFileImport.run(old, to: new, ImportOptions(key: sample.key))
        let file = try CoreFile(old, key: sample.key)
        let realm = try Realm.open(Configuration(path: new))
        defer { realm.close() }
        for (index, table) in file.tables.enumerated() where table.kind != .asymmetric {
            guard let name = table.className, let own = realm.schema.class_(named: name) else {
                continue
            }
            var keys: Set<Int64> = []
            try file.forEachObject(of: index, columns: []) { (key, _) in keys.insert(key) }
            var hasKeys = 0
            for key in keys {
                do throws(RealmError) {
                    try realm.object(own.key, ObjectKey(rawValue: key)).release()
                    hasKeys += 1
                } catch {
                    continue
                }
            }
            // Integer primary keys are keys themselves; embedded objects without owner stay behind.
            if try realm.takesKeys(own.key) {
                #expect(try hasKeys == realm.objectCount(own.key))
                #expect(table.kind == .embedded || hasKeys == keys.count)
            }
            guard table.kind == .ordinary, table.primaryKey == nil else { continue }
            try realm.beginWrite()
            let next = try realm.createObject(own.key)
            #expect(!keys.contains(next.objectKey.rawValue))
            next.release()
            try realm.commit()
        }
        #expect(try realm.check() == [])
    }

    @Test("an import tells how far it is, and ends when it is told to")
    func progress() throws {
        let directory = TemporaryDirectory()
        let (old, new) = (directory.file("old.realm"), directory.file("new.realm"))
        TestSettings.writeFile(old, try CoreFileSample(name: "deep").bytes())
        var shares: [Double] = []
        _ = try OldFileImport.run(
            old, to: new,
            ImportOptions {
                shares.append($0)
                return true
            })
        #expect(shares.count > 10 && shares.last == 1)
        #expect(shares == shares.sorted() && shares.allSatisfy { $0 > 0 })
        unlink(new)
        do throws(RealmError) {
            _ = try OldFileImport.run(old, to: new, ImportOptions { $0 < 0.3 })
            Issue.record("the import was not ended")
        } catch {
            #expect(error.code == .operationAborted)
        }
        #expect(files(directory) == ["old.realm"])
    }

    @Test("the new file can be encrypted")
    func encrypted() throws {
        let directory = TemporaryDirectory()
        let (old, new) = (directory.file("old.realm"), directory.file("new.realm"))
        TestSettings.writeFile(old, try CoreFileSample(name: "migrated").bytes())
        let key = (0..<64).map { UInt8($0) }
        _ = try OldFileImport.run(old, to: new, ImportOptions(newKey: key))
        #expect(throws: RealmError.self) { try Realm.open(Configuration(path: new)) }
        #expect(try RealmDump(path: new, key: key).objects == ExpectedContents(old).objects)
    }
}
