import Glibc
import Testing

@testable import CoreSwift
@testable import TestSupport

/// Every system call of a workload fails once, in turn: the error is reported or overcome, nothing
/// acknowledged is lost, and trying again succeeds.
@Suite struct FaultTests {
    private let directory = TemporaryDirectory()

    private func attempt(
        _ path: String, _ options: StoreOptions, _ files: FileSystem
    ) throws(RealmError) -> Store {
        let store = try Store.open(path: path, options: options, files: files)
        store.unpin(try store.pinNewest().version)
        return store
    }

    private func reopen(
        _ path: String, _ options: StoreOptions, _ files: FileSystem, _ errors: inout [RealmError]
    ) throws -> Store {
        for _ in 0..<2 {
            do {
                return try attempt(path, options, files)
            } catch {
                errors.append(error)
            }
        }
        return try attempt(path, options, files)
    }

    /// Opens, commits, pins, closes, opens again; after each error tries again. Returns the errors.
    private func workload(
        _ files: RecordingFileSystem, _ path: String, encrypted: Bool
    ) throws -> [RealmError] {
        var errors: [RealmError] = []
        var model: ToyModel = [:]
        var random = Random(11)
        var version: UInt64 = 1
        var options = StoreOptions()
        options.spaceLimits = .tiny
        options.reservedBytes = 64 << 20
        options.sharedSealingPagesMin = 1
        if encrypted { options.encryptionKey = FileCipherTests.key }
        for session in 0..<2 {
            var store = try reopen(path, options, files, &errors)
            for step in 0..<4 {
                let changes = ToyClient.randomChanges(&random, UInt64(session * 10 + step + 1))
                var next = model
                for (leaf, stamp) in changes { next[leaf] = stamp }
                var attempts = 0
                while true {
                    attempts += 1
                    guard attempts < 4 else { throw ToyFailure(description: "never succeeds") }
                    do {
                        var copy = model
                        let pin = try ToyClient.commit(store, &copy, changes)
                        guard pin.version == version + 1 else {
                            throw ToyFailure(description: "version \(pin.version) after \(version)")
                        }
                        version = pin.version
                        model = copy
                        try ToyClient.verify(store, pin, model)
                        store.unpin(pin.version)
                        break
                    } catch let error as RealmError {
                        errors.append(error)
                        if (try? store.pinNewest()) != nil {
                            // Still usable: nothing has changed.
                            guard store.newestVersion == version else {
                                throw ToyFailure(description: "failed commit became visible")
                            }
                            let pin = try store.pin(version: version)
                            try ToyClient.verify(store, pin, model)
                            continue
                        }
                        try? store.close()
                        store = try reopen(path, options, files, &errors)
                        // The failed commit may be there or not.
                        let pin = try store.pinNewest()
                        if pin.version == version + 1 {
                            try ToyClient.verify(store, pin, next)
                            version += 1
                            model = next
                            break
                        }
                        try ToyClient.verify(store, pin, model)
                    }
                }
            }
            do { try store.close() } catch { errors.append(error) }
        }
        let store = try reopen(path, options, files, &errors)
        let pin = try store.pinNewest()
        guard pin.version == version else {
            throw ToyFailure(description: "version \(pin.version) instead of \(version)")
        }
        try ToyClient.verify(store, pin, model)
        return errors
    }

    private func campaign(_ fault: Fault, overcome: Bool, code: ErrorCode? = nil) throws {
        for encrypted in [false, true] {
            try campaign(fault, overcome: overcome, code: code, encrypted: encrypted)
        }
    }

    private func campaign(
        _ fault: Fault, overcome: Bool, code: ErrorCode?, encrypted: Bool
    ) throws {
        var number = 1
        var reported = 0
        while true {
            let path = directory.file("fault-\(number).realm")
            let files = RecordingFileSystem()
            files.isRecording = false
            files.faults[number] = fault
            let errors: [RealmError]
            do {
                errors = try workload(files, path, encrypted: encrypted)
            } catch {
                Issue.record("call \(number) (\(files.lastFault)) failing: \(error)")
                return
            }
            unlink(path)
            unlink(path + ".lock")
            if files.calls < number { break }
            if overcome {
                #expect(errors.isEmpty, "call \(number) (\(files.lastFault)): \(errors)")
            }
            if let code, let first = errors.first {
                #expect(first.code == code, "call \(number) (\(files.lastFault)): \(errors)")
            }
            reported += errors.isEmpty ? 0 : 1
            number += 1
        }
        print("faults: \(number - 1) calls failed with \(fault), \(reported) reported")
        #expect(number > 50)
        #expect(overcome || reported > number / 2)
    }

    @Test func everyCallMayFailWithAnInputOutputError() throws {
        try campaign(.error(EIO), overcome: false)
    }

    @Test func everyCallMayFailForLackOfSpace() throws {
        try campaign(.error(ENOSPC), overcome: false, code: .outOfDiskSpace)
    }

    @Test func everyCallMayFailForLackOfQuota() throws {
        try campaign(.error(EDQUOT), overcome: false, code: .outOfDiskSpace)
    }

    @Test func everyCallMayBeInterrupted() throws {
        try campaign(.error(EINTR), overcome: true)
    }

    @Test func everyReadAndWriteMayBeShort() throws {
        try campaign(.short, overcome: true)
    }

    @Test func aFullDiskIsAnErrorUntilThereIsSpaceAgain() throws {
        let files = RecordingFileSystem()
        let store = try Store.open(
            path: directory.file(), options: StoreOptions(), files: files)
        var model: ToyModel = [:]
        for stamp in 1...20 as ClosedRange<UInt64> {
            let pin = try ToyClient.commit(store, &model, [Int(stamp): stamp])
            store.unpin(pin.version)
        }
        let held = try store.pinNewest()
        let heldModel = model
        files.writesFailWith = ENOSPC
        for _ in 0..<5 {
            do {
                try ToyClient.commit(store, &model, [1: 100, 2: 100, 3: 100])
                Issue.record("a full disk went unnoticed")
            } catch let error as RealmError {
                #expect(error.code == .outOfDiskSpace)
            }
            #expect(store.newestVersion == held.version)
            try ToyClient.verify(store, held, heldModel)
        }
        files.writesFailWith = nil
        let pin = try ToyClient.commit(store, &model, [1: 100, 2: 100, 3: 100])
        try ToyClient.verify(store, pin, model)
        try ToyClient.verify(store, held, heldModel)
    }

    @Test func aLeaseSurvivesACommitThatFoundNoSpace() throws {
        let files = RecordingFileSystem()
        let store = try Store.open(
            path: directory.file(), options: StoreOptions(), files: files)
        var model: ToyModel = [:]
        store.unpin(try ToyClient.commit(store, &model, [1: 1]).version)
        guard let lease = try store.beginWrite(wait: true) else { return }
        files.writesFailWith = ENOSPC
        #expect(throws: RealmError.self) {
            try ToyClient.commit(lease, &model, [1: 2, 5: 2])
        }
        files.writesFailWith = nil
        let pin = try ToyClient.commit(lease, &model, [1: 2, 5: 2])
        #expect(pin.version == 3)
        try ToyClient.verify(store, pin, model)
    }

    @Test func afterAFailedSyncTheStoreRefusesWorkUntilReopened() throws {
        let files = RecordingFileSystem()
        var store = try Store.open(
            path: directory.file(), options: StoreOptions(), files: files)
        var model: ToyModel = [:]
        let pin = try ToyClient.commit(store, &model, [1: 1, 2: 1])
        files.killAtSync = files.syncCount + 1
        var lost = model
        #expect(throws: RealmError.self) { try ToyClient.commit(store, &lost, [1: 2]) }
        files.revive()
        #expect(store.newestVersion == 2)
        do {
            _ = try store.beginWrite(wait: true)
            Issue.record("the store should refuse")
        } catch {
            #expect(error.message.contains("opened again"))
        }
        // What was pinned stays readable.
        try ToyClient.verify(store, pin, model)
        try store.close()
        store = try Store.open(path: directory.file(), options: StoreOptions(), files: files)
        let again = try store.pinNewest()
        if again.version == 2 {
            try ToyClient.verify(store, again, model)
        } else {
            lost[1] = 2
            try ToyClient.verify(store, again, lost)
        }
    }
}
