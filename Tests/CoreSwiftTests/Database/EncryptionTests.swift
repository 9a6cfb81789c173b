import Glibc
import Testing

@testable import CoreSwift
@testable import TestSupport

/// Encrypted realms: what their files show, what is refused, and what damage is found.
@Suite struct EncryptionTests {
    private let directory = TemporaryDirectory()
    static let key = FileCipherTests.key
    static let otherKey = [UInt8](repeating: 0xAB, count: 64)

    static func configuration(_ path: String, _ key: [UInt8] = key) -> Configuration {
        var configuration = MaintenanceTests.configuration(path)
        configuration.encryptionKey = key
        return configuration
    }

    private func make(_ count: Int, _ key: [UInt8] = key) throws -> String {
        let path = directory.file()
        let realm = try Realm.open(Self.configuration(path, key))
        try MaintenanceTests.fill(realm, 0..<count)
        realm.close()
        return path
    }

    static func options(_ key: [UInt8]) -> StoreOptions {
        var options = StoreOptions()
        options.encryptionKey = key
        return options
    }

    static func contains(_ bytes: [UInt8], _ text: String) -> Bool {
        let wanted = Array(text.utf8)
        var start = 0
        while let first = bytes[start...].firstIndex(of: wanted[0]) {
            if bytes[first...].starts(with: wanted) { return true }
            start = first + 1
        }
        return false
    }

    @Test func aRealmIsReadBackWithItsKeyAndShowsNothingOfItsData() throws {
        let path = try make(5000)
        let bytes = TestSettings.readFile(path)
        for text in ["Person", "person 1", "note", "long 7", "friend"] {
            #expect(!Self.contains(bytes, text), "\(text) can be read in the file")
            #expect(!Self.contains(TestSettings.readFile(path + ".lock"), text))
        }
        let plain = directory.file("plain.realm")
        let realm = try Realm.open(Self.configuration(path))
        try MaintenanceTests.expectFilled(realm, 0..<5000)
        #expect(try realm.check() == [])
        try realm.writeCopy(to: plain)
        #expect(Self.contains(TestSettings.readFile(plain), "person 1"))
        realm.close()
    }

    @Test func keysAndFilesThatDoNotGoTogetherAreRefusedEachWithItsReason() throws {
        func error(_ path: String, _ key: [UInt8]) -> RealmError? {
            do {
                try Realm.open(Self.configuration(path, key)).close()
                return nil
            } catch {
                return error
            }
        }
        let path = try make(10)
        let before = TestSettings.readFile(path)
        let none = error(path, [])
        #expect(none?.code == .invalidDatabase)
        #expect(none?.message.contains("encrypted, and no key was given") == true)
        let wrong = error(path, Self.otherKey)
        #expect(wrong?.code == .invalidDatabase)
        #expect(wrong?.message.contains("another key") == true)
        let short = error(path, Array(Self.key.dropLast()))
        #expect(short?.code == .invalidEncryptionKey)
        #expect(short?.message.contains("64 bytes, not 63") == true)
        #expect(TestSettings.readFile(path) == before)
        let plain = directory.file("plain.realm")
        let realm = try Realm.open(MaintenanceTests.configuration(plain))
        try MaintenanceTests.fill(realm, 0..<10)
        realm.close()
        let needless = error(plain, Self.key)
        #expect(needless?.code == .invalidDatabase)
        #expect(needless?.message.contains("not encrypted") == true)
        #expect(error(path, Self.key) == nil && error(plain, []) == nil)
        // The same for those that open files without a realm.
        #expect(Realm.check(path: path).count == 1)
        #expect(Realm.check(path: path, encryptionKey: Self.otherKey).count == 1)
        #expect(Realm.check(path: path, encryptionKey: Self.key) == [])
        #expect(try Realm.storedSchemaVersion(path, encryptionKey: Self.key) == 1)
        #expect(throws: RealmError.self) { try Realm.storedSchemaVersion(path) }
    }

    @Test func aCipherThatTheProcessorCannotDoIsAnErrorAndTheOtherOneWorks() throws {
        let path = directory.file()
        var options = Self.options(Self.key)
        options.cipher = .xChaCha20Poly1305
        options.hasAES = false
        var store = try Store.open(path: path, options: options, files: SystemCalls.shared)
        var model: ToyModel = [:]
        try ToyClient.commit(store, &model, [1: 1, 2: 2])
        try store.close()
        store = try Store.open(path: path, options: options, files: SystemCalls.shared)
        try ToyClient.verify(store, try store.pinNewest(), model)
        try store.close()
        guard CipherKind.hasAES else { return }
        let other = directory.file("aes.realm")
        try Store.open(
            path: other, options: Self.options(Self.key), files: SystemCalls.shared
        ).close()
        #expect {
            _ = try Store.open(path: other, options: options, files: SystemCalls.shared)
        } throws: {
            ($0 as? RealmError)?.code == .notSupported
        }
    }

    @Test func realmsOfOneFileNeedTheSameKey() throws {
        let path = try make(10)
        let realm = try Realm.open(Self.configuration(path))
        for key in [[], Self.otherKey] {
            #expect {
                _ = try Realm.open(Self.configuration(path, key))
            } throws: {
                ($0 as? RealmError)?.code == .mismatchedConfig
            }
        }
        try Realm.open(Self.configuration(path)).close()
        realm.close()
    }

    @Test func copiesAreEncryptedAsTheirKeySays() throws {
        let path = try make(3000)
        let realm = try Realm.open(Self.configuration(path))
        for (name, key) in [("a", []), ("b", Self.key), ("c", Self.otherKey)] {
            let copy = directory.file(name)
            try realm.writeCopy(to: copy, encryptionKey: key)
            let other = try Realm.open(Self.configuration(copy, key))
            try MaintenanceTests.expectFilled(other, 0..<3000)
            #expect(try other.check() == [])
            // A copy of a copy, back to what it was.
            try other.writeCopy(to: copy + "2", encryptionKey: Self.key)
            other.close()
            let back = try Realm.open(Self.configuration(copy + "2"))
            try MaintenanceTests.expectFilled(back, 0..<3000)
            back.close()
        }
        realm.close()
    }

    @Test func aRealmMergesIntoAnEncryptedOne() throws {
        let path = try make(100)
        let target = directory.file("target.realm")
        let other = try Realm.open(Self.configuration(target, Self.otherKey))
        try MaintenanceTests.fill(other, 0..<50)
        other.close()
        let realm = try Realm.open(Self.configuration(path))
        #expect(throws: RealmError.self) {
            try realm.convert(to: Self.configuration(target, Self.key), merging: true)
        }
        try realm.convert(to: Self.configuration(target, Self.otherKey), merging: true)
        realm.close()
        let merged = try Realm.open(Self.configuration(target, Self.otherKey))
        try MaintenanceTests.expectFilled(merged, 0..<100)
        merged.close()
    }

    @Test func aFileGetsAnotherKeyWithItsChangeLogAndPermissions() throws {
        let path = try make(2000, [])
        var realm = try Realm.open(Self.configuration(path, []))
        try realm.beginWrite()
        try realm.addLogConsumer("audit")
        try realm.commit()
        let version = try #require(realm.version)
        try MaintenanceTests.fill(realm, 2000..<2003)
        #expect {
            try Realm.changeEncryptionKey(path, from: [], to: Self.key)
        } throws: {
            ($0 as? RealmError)?.code == .deleteOpenedRealm
        }
        realm.close()
        chmod(path, 0o640)
        try Realm.changeEncryptionKey(path, from: [], to: Self.key)
        try Realm.changeEncryptionKey(path, from: Self.key, to: Self.otherKey)
        #expect(!Self.contains(TestSettings.readFile(path), "person 1"))
        var info = stat()
        #expect(stat(path, &info) == 0 && info.st_mode & 0o777 == 0o640)
        realm = try Realm.open(Self.configuration(path, Self.otherKey))
        try MaintenanceTests.expectFilled(realm, 0..<2003)
        #expect(try realm.check() == [])
        var created = 0
        try realm.readLog(from: version) { _ in
            created += 1
            return true
        }
        #expect(created >= 3)
        try MaintenanceTests.fill(realm, 2003..<2010)
        realm.close()
        try Realm.changeEncryptionKey(path, from: Self.otherKey, to: [])
        #expect(Self.contains(TestSettings.readFile(path), "person 1"))
        #expect(Realm.check(path: path) == [])
    }

    @Test func aFileWhoseKeyCouldNotBeChangedIsAsItWas() throws {
        let source = try make(300)
        let bytes = TestSettings.readFile(source)
        var number = 1
        var failures = 0
        while true {
            let path = directory.file("rekeyed-\(number).realm")
            TestSettings.writeFile(path, bytes)
            let files = RecordingFileSystem()
            files.isRecording = false
            files.faults[number] = .error(EIO)
            var isChanged = true
            do {
                try Realm.changeEncryptionKey(
                    path, from: Self.key, to: Self.otherKey, files: files)
            } catch {
                isChanged = false
                failures += 1
                #expect(TestSettings.readFile(path) == bytes, "\(files.lastFault)")
            }
            let key = isChanged ? Self.otherKey : Self.key
            #expect(
                Realm.check(path: path, encryptionKey: key) == [], "\(files.lastFault)")
            #expect(access(path + Store.rekeyingSuffix, F_OK) != 0, "\(files.lastFault)")
            unlink(path)
            unlink(path + ".lock")
            if files.calls < number { break }
            number += 1
        }
        #expect(failures > 15)
    }

    @Test func compactionKeepsAFileEncrypted() throws {
        let path = try make(4000)
        let realm = try Realm.open(Self.configuration(path))
        try realm.beginWrite()
        for id in 1000..<4000 { try realm.find("Person", primaryKey: .int(Int64(id)))?.delete() }
        try realm.commit()
        let before = MaintenanceTests.size(path)
        #expect(try realm.compact())
        #expect(MaintenanceTests.size(path) < before / 2)
        #expect(try realm.check() == [])
        realm.close()
        let again = try Realm.open(Self.configuration(path))
        try MaintenanceTests.expectFilled(again, 0..<1000)
        again.close()
        #expect(!Self.contains(TestSettings.readFile(path), "person 1"))
    }

    @Test func largeCommitsAndLargeValuesAreWrittenInPieces() throws {
        let path = directory.file()
        let realm = try Realm.open(Self.configuration(path))
        try realm.beginWrite()
        let large = String(repeating: "0123456789", count: 900_000)
        for id in 0..<3 {
            _ = try realm.create(
                "Person", primaryKey: .int(Int64(id)),
                ["name": .string("n\(id)"), "note": .string(large + "\(id)")])
        }
        for id in 3..<60_000 {
            _ = try realm.create(
                "Person", primaryKey: .int(Int64(id)), ["name": .string("person \(id)")])
        }
        try realm.commit()
        realm.close()
        let again = try Realm.open(Self.configuration(path))
        for id in 0..<3 {
            let person = try again.find("Person", primaryKey: .int(Int64(id)))
            #expect(try person?.get("note") == .string(large + "\(id)"))
        }
        #expect(
            try again.find("Person", primaryKey: .int(59_999))?.get("name")
                == .string("person 59999"))
        #expect(try again.check() == [])
        again.close()
    }
}
