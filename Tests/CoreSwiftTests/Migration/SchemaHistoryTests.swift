// Random histories of schemas (`SchemaHistory`): beside a model, with crashes at every write, and with
// every system call failing once.

import Glibc
import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite(.serialized) struct SchemaHistoryTests {
    private let directory = TemporaryDirectory()

    @Test func objectsAreWhatTheModelSays() throws {
        for item in Campaign("schema histories", seconds: 6, atLeast: 4) {
            let directory = TemporaryDirectory()
            do {
                try run(directory.file(), item.random)
            } catch {
                Issue.record("seed \(item.seed): \(error)")
                return
            }
        }
    }

    private func run(_ path: String, _ random: Random) throws {
        var random = random
        var history = SchemaHistory()
        for _ in 0..<12 {
            let steps = history.changeSchema(&random)
            let realm = try Realm.open(configuration(path, history, steps))
            try history.verify(realm)
            for _ in 0..<2 {
                let before = history
                try realm.beginWrite()
                let operations = history.changeObjects(&random)
                try history.run(operations, realm)
                if random.below(5) == 0 {
                    try realm.rollback()
                    history = before
                } else {
                    try realm.commit()
                }
                try history.verify(realm)
            }
            try realm.readTables().checkInvariants()
            let problems = try realm.check()
            guard problems.isEmpty else {
                throw ToyFailure(description: problems.joined(separator: "; "))
            }
            realm.close()
        }
    }

    @Test func everyCrashImageHasTheSchemaAndObjectsOfACommit() {
        let failure = MigrationWorkload.crashImages(
            Campaign("migration crash images", seconds: 6, atLeast: 1))
        if let failure { Issue.record("\(failure)") }
    }

    @Test func `migrations that evict what they read survive crashes`() {
        var evicted = 0
        let failure = CrashTally.run(
            Campaign("crash images of migrations with tiny limits", seconds: 4, atLeast: 3)
        ) { item in
            var workload = MigrationWorkload()
            workload.isTiny = true
            // Plain ones are swept as well.
            if item.number % 4 != 3 { workload.key = [UInt8](repeating: 3, count: 64) }
            let images = try workload.crashImages(seed: item.seed, imagesPerEvent: 3)
            evicted += workload.evicted.count
            return images
        }
        if let failure { Issue.record("\(failure)") }
        #expect(evicted > 0)
    }

    /// A file with objects is migrated while one system call fails: either nothing happened, or all.
    @Test(arguments: [EIO, ENOSPC])
    func everyCallMayFailOnceWhileAFileIsMigrated(code: Int32) throws {
        var random = Random(UInt64(code))
        var before = SchemaHistory()
        let path = directory.file("faults.realm")
        var session = try MigrationWorkload().open(path, SystemCalls.shared)
        for _ in 0..<4 {
            let steps = before.changeSchema(&random)
            try session.commit(.schema(before, steps))
            let operations = before.changeObjects(&random)
            try session.commit(.objects(before, operations))
        }
        try session.close()
        var after = before
        let steps = after.changeSchema(&random)
        let bytes = try FileBytes(path)
        var number = 1
        var failed = 0
        while true {
            try bytes.write(to: path)
            let files = RecordingFileSystem()
            files.isRecording = false
            files.faults[number] = .error(code)
            do {
                let realm = try Realm.open(configuration(path, after, steps), files: files)
                realm.close()
            } catch {
                failed += 1
                #expect(error.code != .unknown, "\(error)")
            }
            session = try MigrationWorkload().open(path, SystemCalls.shared)
            let isDone = session.realm.schemaVersion == after.version
            do {
                try session.verify(isDone ? after : before)
                try session.close()
            } catch {
                Issue.record("call \(number) (\(files.lastFault)) failing with \(code): \(error)")
                return
            }
            if files.calls < number { break }
            number += 1
        }
        #expect(number > 15 && failed > 5)
    }

    private func configuration(
        _ path: String, _ history: SchemaHistory, _ steps: [SchemaHistory.Step]
    ) -> Configuration {
        var configuration = Configuration(path: path)
        configuration.schema = history.schema
        configuration.schemaVersion = history.version
        configuration.migrate = history.request(steps).migrate
        return configuration
    }
}

/// The bytes of a file, to begin anew with.
private struct FileBytes {
    private let bytes: [UInt8]

    init(_ path: String) throws {
        guard let file = fopen(path, "r") else { throw ToyFailure(description: "no \(path)") }
        defer { fclose(file) }
        fseek(file, 0, SEEK_END)
        let count = ftell(file)
        rewind(file)
        bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, used in
            used = fread(buffer.baseAddress, 1, count, file)
        }
    }

    func write(to path: String) throws {
        unlink(path)
        unlink(path + ".lock")
        guard let file = fopen(path, "w") else { throw ToyFailure(description: "no \(path)") }
        defer { fclose(file) }
        guard fwrite(bytes, 1, bytes.count, file) == bytes.count else {
            throw ToyFailure(description: "cannot write \(path)")
        }
    }
}
