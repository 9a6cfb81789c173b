import Glibc
import Testing

@testable import CoreSwift
@testable import TestSupport

/// Every system call of what programs do with whole files fails once, in turn, plain and encrypted:
/// opening, asynchronous commits, copies, other keys, migrations, checks. The error has the right code, nothing
/// acknowledged is lost, and a second try succeeds.
@Suite struct OperationFaultTests {
    private let directory = TemporaryDirectory()
    private static let key = [UInt8](repeating: 9, count: 64)

    /// What a call can fail with, and the code that programs get; nil: it is overcome.
    private static let faults: [(Fault, ErrorCode?)] = [
        (.error(EIO), .fileOperationFailed), (.error(ENOSPC), .outOfDiskSpace),
        (.error(EDQUOT), .outOfDiskSpace), (.error(ENOMEM), .outOfMemory),
        (.error(EINTR), nil), (.short, nil),
    ]

    private func configuration(_ key: [UInt8], version: UInt64 = 1) -> Configuration {
        var configuration = MaintenanceTests.configuration(directory.file())
        configuration.encryptionKey = key
        configuration.schemaVersion = version
        return configuration
    }

    private func open(
        _ key: [UInt8], version: UInt64 = 1, _ files: FileSystem = SystemCalls.shared
    ) throws(RealmError) -> Realm {
        try Realm.open(configuration(key, version: version), files: files)
    }

    private func expectWhole(_ key: [UInt8], _ comment: Comment) throws {
        #expect(Realm.check(path: directory.file(), encryptionKey: key) == [], comment)
        let realm = try open(key)
        try MaintenanceTests.expectFilled(realm, 0..<60)
        realm.close()
    }

    /// The n-th call of `attempt` fails, for n = 1, 2, … until there are fewer. Each attempt begins with the
    /// same file; `after` gets the error.
    private func campaign(
        _ name: String, keys: [[UInt8]] = [[], key], callsMin: Int,
        attempt: ([UInt8], RecordingFileSystem) throws(RealmError) -> Void,
        after: ([UInt8], RealmError?, Comment) throws -> Void
    ) throws {
        var cases = 0
        var reported = 0
        for key in keys {
            let path = directory.file()
            unlink(path)
            let realm = try open(key)
            try MaintenanceTests.fill(realm, 0..<60)
            realm.close()
            let bytes = TestSettings.readFile(path)
            for (fault, code) in Self.faults {
                var number = 1
                while true {
                    TestSettings.writeFile(path, bytes)
                    let files = RecordingFileSystem()
                    files.isRecording = false
                    files.faults[number] = fault
                    var failure: RealmError?
                    do throws(RealmError) { try attempt(key, files) } catch { failure = error }
                    files.faults = [:]
                    let comment: Comment =
                        "\(name), \(fault), \(files.lastFault): \(failure?.message ?? "")"
                    if let failure {
                        reported += 1
                        // Address space is asked for again, in smaller pieces, whatever the reason.
                        #expect(
                            failure.code == code && code != nil
                                || failure.code == .addressSpaceExhausted
                                    && files.lastFault.hasPrefix("reserve"),
                            comment)
                    }
                    try after(key, failure, comment)
                    if files.calls < number { break }
                    number += 1
                    cases += 1
                }
                #expect(number > callsMin, "\(name)")
            }
        }
        TestSettings.say("\(name): \(cases) calls failed, \(reported) reported")
        #expect(reported > cases / 4)
    }

    @Test func `opening and reading`() throws {
        try campaign("opening", callsMin: 10) { key, files throws(RealmError) in
            let realm = try open(key, files)
            defer { realm.close() }
            _ = try realm.find("Person", primaryKey: .int(5))?.get("name")
        } after: { key, _, comment in
            try expectWhole(key, comment)
        }
    }

    @Test func `another key`() throws {
        let other = [UInt8](repeating: 4, count: 64)
        try campaign("re-key", callsMin: 30) { key, files throws(RealmError) in
            try Realm.changeEncryptionKey(
                directory.file(), from: key, to: other, files: files)
        } after: { key, failure, comment in
            let isDone = Realm.check(path: directory.file(), encryptionKey: other) == []
            // What fails behind the renaming is no failure.
            #expect(isDone == (failure == nil), comment)
            if !isDone {
                try expectWhole(key, comment)
                try Realm.changeEncryptionKey(directory.file(), from: key, to: other)
            }
            try expectWhole(other, comment)
            #expect(access(directory.file() + Store.rekeyingSuffix, F_OK) != 0 || !isDone)
            unlink(directory.file() + Store.rekeyingSuffix)
        }
    }

    @Test func `copies with another key`() throws {
        let target = directory.file("copy.realm")
        try campaign("copy", callsMin: 25) { key, files throws(RealmError) in
            let realm = try open(key)
            defer { realm.close() }
            try realm.writeCopy(
                to: target, encryptionKey: key.isEmpty ? Self.key : [], files: files)
        } after: { key, failure, comment in
            #expect((access(target, F_OK) == 0) == (failure == nil), comment)
            if failure == nil {
                #expect(
                    Realm.check(path: target, encryptionKey: key.isEmpty ? Self.key : []) == [],
                    comment)
                unlink(target)
            }
        }
    }

    @Test func migrations() throws {
        func migrated(_ key: [UInt8], _ files: FileSystem) throws(RealmError) -> Realm {
            var configuration = configuration(key, version: 2)
            var classes = MaintenanceTests.schema.classes
            classes[0].properties.append(PropertySchema("age", .int))
            configuration.schema = Schema(classes)
            return try Realm.open(configuration, files: files)
        }
        try campaign("migration", callsMin: 12) { key, files throws(RealmError) in
            try migrated(key, files).close()
        } after: { key, _, comment in
            let realm = try migrated(key, SystemCalls.shared)
            #expect(realm.schema.class_(named: "Person")?.properties.count == 5, comment)
            try MaintenanceTests.expectFilled(realm, 0..<60)
            realm.close()
            #expect(Realm.check(path: directory.file(), encryptionKey: key) == [], comment)
        }
    }

    @Test func checks() throws {
        try campaign("check", callsMin: 8) { key, files throws(RealmError) in
            let problems = Realm.check(
                path: directory.file(), encryptionKey: key, files: files)
            // It tells of errors in words.
            for problem in problems {
                let codes: [(String, ErrorCode)] = [
                    ("(\(EIO))", .fileOperationFailed), ("(\(ENOSPC))", .outOfDiskSpace),
                    ("(\(EDQUOT))", .outOfDiskSpace), ("(\(ENOMEM))", .outOfMemory),
                    ("no address space", .addressSpaceExhausted),
                ]
                let code = codes.first { problem.contains($0.0) }?.1 ?? .invalidDatabase
                throw RealmError(code, problem)
            }
        } after: { key, _, comment in
            try expectWhole(key, comment)
        }
    }

    /// Those that were called back without an error are there; the others whole or not at all.
    @Test func `asynchronous commits`() throws {
        var completed = 0
        try campaign("asynchronous commits", callsMin: 12) { key, files throws(RealmError) in
            completed = 0
            let realm = try open(key, files)
            defer { realm.close() }
            do {
                for round in 0..<3 {
                    let group = try BlockGroup(realm)
                    for id in round * 4..<round * 4 + 4 {
                        try group.commit(allowsGrouping: round != 1) {
                            _ = try realm.create("Person", primaryKey: .int(Int64(1000 + id)), [:])
                        }
                    }
                    try group.drain()
                    completed = round * 4 + 4
                }
            } catch let error as RealmError {
                throw error
            } catch {
                throw RealmError(.runtime, "\(error)")
            }
        } after: { key, _, comment in
            let realm = try open(key)
            var found = 0
            for id in 0..<12 {
                let isThere = try realm.find("Person", primaryKey: .int(Int64(1000 + id))) != nil
                #expect(isThere || id >= completed, comment)
                if isThere { found += 1 }
            }
            let person = try #require(realm.schema.class_(named: "Person"))
            #expect(try realm.objectCount(person.key) == 60 + found, comment)
            realm.close()
            #expect(Realm.check(path: directory.file(), encryptionKey: key) == [], comment)
        }
    }
}
