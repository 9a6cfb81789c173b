import Glibc
import Testing

@testable import CoreSwift
@testable import TestSupport

/// Every system call of a workload on objects fails once, in turn: the error is reported or
/// overcome, nothing acknowledged is lost, and trying again succeeds.
@Suite struct ObjectFaultTests {
    private let directory = TemporaryDirectory()

    private func open(
        _ path: String, _ files: RecordingFileSystem, _ workload: ObjectWorkload,
        _ errors: inout [RealmError]
    ) throws -> ObjectSession {
        for _ in 0..<2 {
            do { return try workload.open(path, files) } catch let error as RealmError {
                errors.append(error)
            }
        }
        return try workload.open(path, files)
    }

    private func run(
        _ files: RecordingFileSystem, _ path: String, seed: UInt64, keepsLog: Bool, isLong: Bool
    ) throws -> [RealmError] {
        var errors: [RealmError] = []
        var random = Random(seed)
        var workload = ObjectWorkload(&random)
        // Checking reads the file and would meet the fault itself.
        workload.isChecked = false
        workload.keepsLog = keepsLog
        workload.isLong = isLong
        var model = workload.emptyModel
        for _ in 0..<2 {
            var session = try open(path, files, workload, &errors)
            for _ in 0..<4 {
                let (change, result) = workload.plan(model, &random)
                var attempts = 0
                while true {
                    attempts += 1
                    guard attempts < 4 else {
                        throw ToyFailure(description: "never succeeds: \(errors)")
                    }
                    do {
                        try session.commit(change)
                    } catch let error as RealmError {
                        errors.append(error)
                        // Either the realm goes on as before, or it has to be opened again and
                        // shows the commit or not.
                        if (try? session.verify(model)) == nil
                            || error.message.contains("opened again")
                        {
                            try session.close()
                            session = try open(path, files, workload, &errors)
                        }
                        if (try? session.verify(result)) == nil {
                            try session.verify(model)
                            continue
                        }
                    }
                    model = result
                    try session.verify(model)
                    break
                }
            }
            try session.close()
        }
        let session = try open(path, files, workload, &errors)
        try session.verify(model)
        try session.close()
        let problems = Realm.check(path: path, encryptionKey: workload.key)
        guard problems.isEmpty else {
            throw ToyFailure(description: problems.joined(separator: "; "))
        }
        return errors
    }

    @Test(arguments: [EIO, ENOSPC, EINTR], [false, true])
    func everyCallMayFailOnce(code: Int32, keepsLog: Bool) throws {
        try failEachCall(code, keepsLog: keepsLog, isLong: false)
    }

    @Test(arguments: [EIO, ENOSPC])
    func `each call of transactions that write before they commit may fail`(code: Int32) throws {
        try failEachCall(code, keepsLog: false, isLong: true)
    }

    private func failEachCall(_ code: Int32, keepsLog: Bool, isLong: Bool) throws {
        var number = 1
        var reported = 0
        while true {
            let path = directory.file("fault-\(code)-\(keepsLog)-\(isLong)-\(number).realm")
            let files = RecordingFileSystem()
            files.isRecording = false
            files.faults[number] = .error(code)
            do {
                let errors = try run(
                    files, path, seed: UInt64(30 + code), keepsLog: keepsLog, isLong: isLong)
                if !errors.isEmpty { reported += 1 }
                if code == EINTR || files.calls < number {
                    #expect(errors.isEmpty, "\(files.lastFault): \(errors)")
                }
            } catch {
                Issue.record("call \(number) (\(files.lastFault)) failing with \(code): \(error)")
                return
            }
            unlink(path)
            unlink(path + ".lock")
            if files.calls < number { break }
            number += 1
        }
        print("object faults: \(number - 1) calls failed with \(code), \(reported) reported")
        #expect(number > 50)
    }
}
