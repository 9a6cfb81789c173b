import Foundation
import Glibc
import Testing

@testable import CoreSwift
@testable import TestSupport

/// What fork() finds locked stays locked in the child: it must not wait for it.
///
/// Each test has a process of its own: a forked child keeps the files of all tests that run at the time open, and
/// with them their locks.
@Suite struct ForkTests {
    /// Waits for the child at most ten seconds; its exit code, or nil when it hung.
    private static func outcome(_ child: pid_t) -> Int32? {
        for _ in 0..<1000 {
            var status: Int32 = 0
            if waitpid(child, &status, WNOHANG) == child { return status }
            usleep(10_000)
        }
        kill(child, SIGKILL)
        var status: Int32 = 0
        _ = waitpid(child, &status, 0)
        return nil
    }

    @Test func aChildOpensRealmsThoughTheRegistryWasLockedAtTheFork() async {
        await #expect(processExitsWith: .success) { try Self.openInChild() }
    }

    private static func openInChild() throws {
        let directory = TemporaryDirectory()
        let path = directory.file("slow")
        let started = DispatchSemaphore(value: 0)
        let mayGoOn = DispatchSemaphore(value: 0)
        let ended = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            let files = RecordingFileSystem()
            files.isRecording = false
            files.beforeOpen = { path in
                guard path.hasSuffix(".lock") else { return }
                files.beforeOpen = nil
                started.signal()
                mayGoOn.wait()
            }
            let realm = try? Realm.open(SampleFile.configuration(path), files: files)
            realm?.close()
            ended.signal()
        }
        started.wait()
        // The other thread holds the registry's lock now.
        let child = forkProcess()
        if child == 0 {
            do {
                let realm = try Realm.open(SampleFile.configuration(directory.file("own")))
                try realm.beginWrite()
                try realm.commit()
                realm.close()
                _exit(0)
            } catch {
                _exit(1)
            }
        }
        #expect(outcome(child) == 0)
        mayGoOn.signal()
        ended.wait()
    }

    @Test func aChildIsRefusedThoughTheStoreWasLockedAtTheFork() async {
        await #expect(processExitsWith: .success) { try Self.useStoreInChild() }
    }

    private static func useStoreInChild() throws {
        let directory = TemporaryDirectory()
        let store = try Store.open(
            path: directory.file(), options: StoreOptions(), files: SystemCalls.shared)
        let pin = try store.pinNewest()
        store.mutex.lock()
        let child = forkProcess()
        if child == 0 {
            var code: Int32 = 0
            if (try? store.pinNewest()) != nil { code |= 1 }
            if (try? store.beginWrite(wait: true)) != nil { code |= 2 }
            store.unpin(pin.version)
            if (try? store.close()) == nil { code |= 4 }
            _exit(code)
        }
        store.mutex.unlock()
        #expect(outcome(child) == 0)
        store.unpin(pin.version)
        try store.close()
    }

    @Test func `a child with a copy of a long transaction writes nothing`() async {
        await #expect(processExitsWith: .success) { try Self.copyTransaction() }
    }

    private static func copyTransaction() throws {
        let directory = TemporaryDirectory()
        var configuration = SampleFile.configuration(directory.file())
        configuration.pendingPagesMax = 8
        let realm = try Realm.open(configuration)
        let key = realm.schema.class_(named: "Event")!.key
        func create(_ numbers: Range<Int>) throws {
            for number in numbers {
                _ = try realm.create("Event", ["kind": .int(Int64(number))])
            }
        }
        try realm.beginWrite()
        var pipes: [Int32] = [0, 0]
        try #require(pipe(&pipes) == 0)
        let child = forkProcess()
        if child == 0 {
            // Until the parent has written.
            var byte: UInt8 = 0
            _ = read(pipes[0], &byte, 1)
            try? create(500_000..<560_000)
            try? realm.rollback()
            realm.close()
            _exit(0)
        }
        try create(0..<60_000)
        let early = try realm.tablesForWriting().transaction?.pointee.earlyLease?.early.count
        #expect((early ?? 0) > 0)
        var byte: UInt8 = 1
        #expect(write(pipes[1], &byte, 1) == 1)
        #expect(outcome(child) == 0)
        try realm.commit()
        #expect(try realm.check() == [])
        #expect(try realm.objectCount(key) == 60_000)
        realm.close()
    }

    @Test func aChildIsRefusedAndTheParentGoesOn() async {
        await #expect(processExitsWith: .success) { try Self.goOnBesideChild() }
    }

    private static func goOnBesideChild() throws {
        let directory = TemporaryDirectory()
        let store = try Store.open(
            path: directory.file(), options: StoreOptions(), files: SystemCalls.shared)
        _ = try VersionedWorkload.commitNext(store)
        let held = try store.pinNewest()
        let child = forkProcess()
        if child == 0 {
            var code: Int32 = 0
            if (try? store.pinNewest()) != nil { code += 1 }
            if (try? store.beginWrite(wait: false)) != nil { code += 2 }
            try? store.close()
            _exit(code)
        }
        #expect(outcome(child) == 0)
        // The parent goes on undisturbed.
        #expect(try VersionedWorkload.commitNext(store) == 3)
        try ToyClient.verify(store, held, VersionedWorkload.model(2))
        #expect(store.liveVersionCount() == 2)
    }
}
