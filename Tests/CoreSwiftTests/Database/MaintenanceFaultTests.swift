import Glibc
import Testing

@testable import CoreSwift
@testable import TestSupport

/// Every system call of copying, compacting and deleting fails once, in turn: the error is reported
/// or overcome, the realm is unharmed, and nothing unfinished has a final name.
@Suite struct MaintenanceFaultTests {
    private let directory = TemporaryDirectory()
    private static let codes = [EIO, ENOSPC, EDQUOT, EINTR]

    private func failing(_ number: Int, with code: Int32) -> RecordingFileSystem {
        let files = RecordingFileSystem()
        files.isRecording = false
        files.faults[number] = .error(code)
        return files
    }

    /// Calls `attempt` with n = 1, 2, … until it makes fewer than n calls; counts errors.
    private func campaign(
        _ name: String, _ code: Int32, callsMin: Int,
        _ attempt: (Int) throws -> (calls: Int, fault: String, error: RealmError?)
    ) throws {
        var number = 1
        var reported = 0
        while true {
            let (calls, fault, error) = try attempt(number)
            if let error {
                reported += 1
                #expect(!error.message.isEmpty)
                #expect(code != EINTR, "\(name), \(fault): \(error.message)")
                if code == ENOSPC || code == EDQUOT {
                    #expect(error.code == .outOfDiskSpace, "\(fault): \(error.message)")
                }
            }
            if calls < number { break }
            number += 1
        }
        print("\(name): \(number - 1) calls failed with \(code), \(reported) reported")
        #expect(number > callsMin)
        #expect(code == EINTR || reported > number / 2)
    }

    private func outcome(_ body: () throws(RealmError) -> Void) -> RealmError? {
        do throws(RealmError) {
            try body()
            return nil
        } catch {
            return error
        }
    }

    private func names() -> [String] {
        var names: [String] = []
        _ = SystemCalls.shared.list(directory.path, &names)
        return names.sorted()
    }

    @Test(arguments: codes)
    func aCopyThatFailsLeavesNothingUnderItsName(code: Int32) throws {
        let realm = try Realm.open(MaintenanceTests.configuration(directory.file()))
        try MaintenanceTests.fill(realm, 0..<300)
        let target = directory.file("copy.realm")
        try campaign("copy", code, callsMin: 25) { number in
            let files = failing(number, with: code)
            let error = outcome { () throws(RealmError) in
                try realm.writeCopy(to: target, files: files)
            }
            if error == nil {
                #expect(Realm.check(path: target) == [], "\(files.lastFault)")
                let copy = try Realm.open(MaintenanceTests.configuration(target))
                try MaintenanceTests.expectFilled(copy, 0..<300)
                copy.close()
                unlink(target)
                unlink(target + ".lock")
            }
            // What can't be removed stays, but under a name of its own.
            let isRemoval = files.lastFault.hasPrefix("remove")
            #expect(access(target, F_OK) != 0, "\(files.lastFault)")
            for name in names() where !name.hasPrefix("test.realm") {
                #expect(isRemoval && name != "copy.realm", "\(name), \(files.lastFault)")
                unlink(directory.file(name))
            }
            return (files.calls, files.lastFault, error)
        }
        #expect(try realm.check() == [])
        try MaintenanceTests.expectFilled(realm, 0..<300)
        realm.close()
    }

    @Test(arguments: codes)
    func aCompactionOfAnEncryptedFileThatFailsLeavesTheRealmAsItWas(code: Int32) throws {
        try failCompactions(code, key: [UInt8](repeating: 9, count: 64))
    }

    @Test(arguments: codes)
    func aCompactionThatFailsLeavesTheRealmAsItWas(code: Int32) throws {
        try failCompactions(code, key: [])
    }

    /// It cuts off the free end of the file, or not; the reader keeps what it has.
    @Test(arguments: codes)
    func `a compaction beside a reader fails without harm`(code: Int32) throws {
        let path = directory.file()
        let configuration = MaintenanceTests.configuration(path)
        var realm = try Realm.open(configuration)
        try MaintenanceTests.fill(realm, 0..<100)
        try MaintenanceTests.leaveFreeEnd(realm)
        realm.close()
        let bytes = TestSettings.readFile(path)
        try campaign("compaction beside a reader", code, callsMin: 3) { number in
            TestSettings.writeFile(path, bytes)
            let files = failing(.max, with: code)
            realm = try Realm.open(configuration, files: files)
            let reader = try realm.freeze()
            files.resetCalls()
            files.faults = [number: .error(code)]
            let error = outcome { () throws(RealmError) in
                let isDone = try realm.compact()
                #expect(!isDone)
            }
            let calls = files.calls
            files.faults = [:]
            try MaintenanceTests.expectFilled(reader, 0..<100)
            reader.close()
            realm.close()
            #expect(Realm.check(path: path) == [], "\(files.lastFault)")
            if error == nil, !files.lastFault.hasPrefix("truncate") {
                let cut = bytes.count - 38 * Page.size
                #expect(MaintenanceTests.size(path) <= cut, "\(files.lastFault)")
            }
            realm = try Realm.open(configuration)
            try MaintenanceTests.expectFilled(realm, 0..<100)
            realm.close()
            return (calls, files.lastFault, error)
        }
    }

    private func failCompactions(_ code: Int32, key: [UInt8]) throws {
        let path = directory.file()
        var configuration = MaintenanceTests.configuration(path)
        configuration.encryptionKey = key
        var realm = try Realm.open(configuration)
        try MaintenanceTests.fill(realm, 0..<1500)
        try realm.write {
            for id in 0..<1000 {
                try realm.find("Person", primaryKey: .int(Int64(id)))?.delete()
            }
        }
        realm.close()
        let bytes = TestSettings.readFile(path)
        try campaign(key.isEmpty ? "compaction" : "compaction, encrypted", code, callsMin: 8) {
            number in
            TestSettings.writeFile(path, bytes)
            let files = failing(.max, with: code)
            realm = try Realm.open(configuration, files: files)
            files.resetCalls()
            files.faults = [number: .error(code)]
            let error = outcome { () throws(RealmError) in
                let isDone = try realm.compact()
                #expect(isDone)
            }
            let calls = files.calls
            files.faults = [:]
            // The realm goes on, or says that it has to be opened again.
            let unusable = outcome { () throws(RealmError) in
                let problems = try realm.check()
                #expect(problems == [], "\(files.lastFault)")
            }
            if let unusable {
                #expect(error != nil && unusable.message.contains("opened again"))
            }
            realm.close()
            #expect(Realm.check(path: path, encryptionKey: key) == [], "\(files.lastFault)")
            realm = try Realm.open(configuration)
            #expect(try realm.compact())
            try MaintenanceTests.expectFilled(realm, 1000..<1500)
            realm.close()
            // A file that could not be cut off is as good, only longer.
            #expect(
                MaintenanceTests.size(path) < bytes.count / 2
                    || files.lastFault.hasPrefix("truncate"))
            return (calls, files.lastFault, error)
        }
    }

    @Test(arguments: codes, [false, true])
    func aDeletionThatFailsCanBeTriedAgain(code: Int32, isEncrypted: Bool) throws {
        let path = directory.file()
        var configuration = MaintenanceTests.configuration(path)
        configuration.encryptionKey = isEncrypted ? [UInt8](repeating: 9, count: 64) : []
        let key = configuration.encryptionKey
        try campaign("deletion", code, callsMin: 8) { number in
            let realm = try Realm.open(configuration)
            try MaintenanceTests.fill(realm, 0..<20)
            realm.close()
            TestSettings.writeFile(path + ".note", [1])
            mkdir(path + ".management", 0o755)
            TestSettings.writeFile(path + ".management/a", [1])
            let files = failing(number, with: code)
            let error = outcome { () throws(RealmError) in
                _ = try Realm.deleteFiles(path, files: files)
            }
            if error != nil {
                // Whole or gone.
                if access(path, F_OK) == 0 {
                    #expect(Realm.check(path: path, encryptionKey: key) == [], "\(files.lastFault)")
                }
                try Realm.deleteFiles(path)
            }
            #expect(names().filter { !$0.hasSuffix(".lock") } == [], "\(files.lastFault)")
            return (files.calls, files.lastFault, error)
        }
    }
}
