import Glibc
import Testing

@testable import CoreSwift
@testable import TestSupport

/// What may happen to a file, its names and its lock file from outside.
@Suite(.serialized) struct FilesAndNamesTests {
    private let directory = TemporaryDirectory()
    private static let key = FileCipherTests.key

    private func configuration(_ path: String, _ key: [UInt8]) -> Configuration {
        var configuration = CounterWorkload.configuration(path)
        configuration.encryptionKey = key
        return configuration
    }

    private func make(_ path: String, _ key: [UInt8], steps: Int = 60) throws {
        let realm = try Realm.open(configuration(path, key))
        for _ in 0..<steps { try CounterWorkload.step(realm) }
        realm.close()
    }

    // MARK: Copies

    /// Each copy is one version, while another process and this one go on writing.
    @Test func copiesOfALiveFileAreVersions() throws {
        let path = directory.file()
        let realm = try CounterWorkload.open(path)
        try CounterWorkload.step(realm)
        let children = try (0..<2).map { _ in
            try ChildProcess("count objects", path: path, number: 1_000_000)
        }
        var last: Int64 = 0
        for item in Campaign("live copies", seconds: 2, atLeast: 10) {
            let copy = directory.file("copy-\(item.number).realm")
            let key = item.number % 2 == 0 ? [] : Self.key
            _ = try realm.refresh()
            try realm.writeCopy(to: copy, encryptionKey: key)
            try CounterWorkload.step(realm)
            let copied = try Realm.open(configuration(copy, key))
            let value = try CounterWorkload.verify(copied)
            let now = try CounterWorkload.verify(realm)
            #expect(value > last && value < now)
            last = value
            #expect(try copied.check() == [])
            copied.close()
            for name in [copy, copy + ".lock"] { unlink(name) }
        }
        for child in children {
            child.kill()
            child.wait()
        }
        realm.close()
    }

    @Test(arguments: [[], FilesAndNamesTests.key])
    func copiesUnderOtherNamesAreFilesOfTheirOwn(key: [UInt8]) throws {
        let paths = ["a.realm", "b.realm", "ä b.realm"].map { directory.file($0) }
        try make(paths[0], key)
        for path in paths.dropFirst() {
            TestSettings.writeFile(path, TestSettings.readFile(paths[0]))
            TestSettings.writeFile(path + ".lock", TestSettings.readFile(paths[0] + ".lock"))
        }
        let realms = try paths.map { try Realm.open(configuration($0, key)) }
        for (index, realm) in realms.enumerated() {
            for _ in 0..<(index * 3) { try CounterWorkload.step(realm) }
        }
        for (index, realm) in realms.enumerated() {
            #expect(try CounterWorkload.verify(realm) == 60 + Int64(index * 3))
            #expect(try realm.check() == [])
            realm.close()
        }
    }

    // MARK: Moved and deleted

    @Test(arguments: [[], FilesAndNamesTests.key])
    func aFileThatIsMovedWhileOpenStaysUsableAndIsNotSplit(key: [UInt8]) throws {
        let path = directory.file()
        let moved = directory.file("moved.realm")
        try make(path, key)
        let realm = try Realm.open(configuration(path, key))
        #expect(rename(path, moved) == 0)
        for _ in 0..<5 { try CounterWorkload.step(realm) }
        #expect(try CounterWorkload.verify(realm) == 65)
        // In another process it would have another lock file: as the store sees it.
        var options = StoreOptions()
        options.encryptionKey = key
        options.create = false
        for name in [path, moved] {
            do throws(RealmError) {
                try Store.open(path: name, options: options, files: SystemCalls.shared).close()
                Issue.record("opened \(name)")
            } catch {
                #expect(
                    [.incompatibleSession, .fileNotFound, .incompatibleLockFile].contains(
                        error.code), "\(error.message)")
            }
        }
        realm.close()
        let again = try Realm.open(configuration(moved, key))
        #expect(try CounterWorkload.verify(again) == 65)
        again.close()
    }

    @Test(arguments: [[], FilesAndNamesTests.key])
    func aFileThatIsDeletedWhileOpenStaysUsableAndDoesNotComeBack(key: [UInt8]) throws {
        let path = directory.file()
        try make(path, key)
        let realm = try Realm.open(configuration(path, key))
        #expect(unlink(path) == 0)
        for _ in 0..<5 { try CounterWorkload.step(realm) }
        #expect(try CounterWorkload.verify(realm) == 65)
        realm.close()
        #expect(access(path, F_OK) != 0)
        let fresh = try Realm.open(configuration(path, key))
        #expect(try CounterWorkload.verify(fresh) == 0)
        fresh.close()
    }

    // MARK: Lock files

    @Test(arguments: [[], FilesAndNamesTests.key])
    func lockFilesMayBeMissingOrLeftOverOrAnything(key: [UInt8]) throws {
        let path = directory.file()
        let lock = path + ".lock"
        try make(path, key)
        // Left by processes that were killed while they read, wrote and waited.
        let children = try (0..<3).map { _ in try ChildProcess("pin", path: path) }
        if key.isEmpty { try ChildProcess.waitFor(path + ".ready") }
        for child in children {
            child.kill()
            child.wait()
        }
        let left = TestSettings.readFile(lock)
        // Of another file, as on the machine that the realm was copied from.
        let other = directory.file("other.realm")
        try make(other, [])
        let foreign = TestSettings.readFile(other + ".lock")
        var random = Random(9)
        let noise = (0..<70_000).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        var torn = left
        for index in stride(from: 0, to: torn.count, by: 3) { torn[index] = 0xFF }
        var steps: Int64 = 60
        for content in [nil, left, foreign, [], [1, 2, 3], noise, torn, Array(left.prefix(200))] {
            unlink(lock)
            if let content { TestSettings.writeFile(lock, content) }
            let realm = try Realm.open(configuration(path, key))
            try CounterWorkload.step(realm)
            steps += 1
            #expect(try CounterWorkload.verify(realm) == steps)
            // Nobody is taken for a reader who is none.
            #expect(try realm.liveVersionCount() == 1)
            #expect(try realm.check() == [])
            realm.close()
        }
    }

    // MARK: Read-only

    /// A file system on which nothing can be written or made.
    private final class ReadOnlyMedia: PassingFileSystem {
        override func open(_ path: String, _ access: FileAccess) -> Int32 {
            access == .readOnly ? super.open(path, access) : -EROFS
        }
        override func write(
            _ descriptor: Int32, _ source: UnsafeRawPointer, _ count: Int, _ offset: Int64
        ) -> Int { Int(-EROFS) }
        override func truncate(_ descriptor: Int32, _ bytes: Int64) -> Int32 { -EROFS }
        override func remove(_ path: String) -> Int32 { -EROFS }
    }

    @Test(arguments: [[], FilesAndNamesTests.key])
    func readOnlyMediaCanBeReadAndSayWhyNothingElseCan(key: [UInt8]) throws {
        let path = directory.file()
        try make(path, key)
        unlink(path + ".lock")
        let media = ReadOnlyMedia(SystemCalls.shared)
        var configuration = configuration(path, key)
        configuration.schemaMode = .immutable
        let realm = try Realm.open(configuration, files: media)
        let entries = try RealmDump(realm).objects["Entry"]
        #expect(entries?.count == Int(CounterWorkload.kept))
        #expect(try realm.check() == [])
        realm.close()
        for mode in [SchemaMode.readOnly, .automatic] {
            configuration.schemaMode = mode
            do throws(RealmError) {
                try Realm.open(configuration, files: media).close()
                Issue.record("opened in mode \(mode) without a lock file")
            } catch {
                #expect(error.code == .filePermissionDenied, "\(mode): \(error.message)")
            }
        }
        #expect(access(path + ".lock", F_OK) != 0)
    }

    @Test func lookingForAMissingFileDoesNotMakeOne() throws {
        let path = directory.file("missing.realm")
        for mode in [SchemaMode.immutable, .readOnly] {
            var configuration = Configuration(path: path)
            configuration.schemaMode = mode
            do throws(RealmError) {
                try Realm.open(configuration).close()
                Issue.record("opened a file that is not there")
            } catch {
                #expect(error.code == .fileNotFound)
            }
        }
        #expect(!Realm.check(path: path).isEmpty)
        #expect(try Realm.storedSchemaVersion(path) == nil)
        #expect(throws: RealmError.self) {
            _ = try Salvage.run(path, to: directory.file("out.realm"))
        }
        #expect(!TestSettings.exists(path) && !TestSettings.exists(directory.file("out.realm")))
    }
}

extension TestSettings {
    static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }
}
