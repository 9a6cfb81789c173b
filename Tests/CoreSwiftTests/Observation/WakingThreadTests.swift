// Threads that write, synchronously and not, and are woken by each other through the descriptors of their
// schedulers. To be run with the thread sanitizer as well.

import Glibc
import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite struct WakingThreadTests {
    private let directory = TemporaryDirectory()

    /// Performs what comes within so many milliseconds.
    private static func turn(_ descriptor: Int32, _ milliseconds: Int32) {
        var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        if poll(&ready, 1, milliseconds) > 0 { ThreadScheduler.ofThisThread.queue.performWork() }
    }

    private static func isReadable(_ descriptor: Int32) -> Bool {
        var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&ready, 1, 0) > 0
    }

    @Test func `each thread has one scheduler, which delivers once its descriptor was asked for`()
        throws
    {
        let scheduler = ThreadScheduler.ofThisThread
        #expect(scheduler === ThreadScheduler.ofThisThread && scheduler.isOnThread)
        #expect(scheduler.isSame(as: ThreadScheduler()))
        nonisolated(unsafe) var other: ThreadScheduler?
        onAnotherThread {
            let own = ThreadScheduler.ofThisThread
            other = own
            var ran = 0
            own.schedule { ran += 1 }
            own.queue.performWork()
            #expect(ran == 0 && !own.canDeliver)
            guard let descriptor = try? own.eventDescriptor() else { return }
            #expect(own.canDeliver && !Self.isReadable(descriptor))
            own.schedule { own.schedule { ran += 10 } }
            own.schedule { ran += 1 }
            #expect(Self.isReadable(descriptor))
            own.queue.performWork()
            #expect(ran == 1 && Self.isReadable(descriptor))
            own.queue.performWork()
            #expect(ran == 11 && !Self.isReadable(descriptor))
        }
        let ended = try #require(other)
        #expect(ended !== scheduler && !ended.isSame(as: scheduler) && !ended.isOnThread)
        #expect(ended.queue.isElsewhere && !scheduler.queue.isElsewhere)
    }

    /// What one of the threads does: opens, observes, writes, and follows the others until all is there.
    private func work(_ path: String, _ number: Int, each: Int, total: Int) throws {
        let descriptor = try ThreadScheduler.ofThisThread.eventDescriptor()
        let realm = try TestSchema.open(path)
        let dogs = try realm.objects("Dog")
        let handle = UnsafeRawPointer(Unmanaged.passUnretained(dogs).toOpaque())
        var seen = try dogs.count()
        let token = try dogs.observe(handle: handle) { changes in
            seen += changes.insertions.count - changes.deletions.count
        }
        var completed = 0
        func create(_ index: Int) throws {
            _ = try realm.create(
                "Dog", primaryKey: .int(Int64(number * each + index)), ["name": .string("x")])
        }
        for index in 0..<each {
            switch index % 3 {
            case 0:
                try realm.write { try create(index) }
                completed += 1
            case 1:
                try realm.beginWrite()
                try create(index)
                try realm.commitAsynchronously(allowsGrouping: true) { failure in
                    if let failure { Issue.record("\(failure)") }
                    completed += 1
                }
            default:
                try realm.writeAsynchronously {
                    do {
                        try create(index)
                        try realm.commitAsynchronously { _ in completed += 1 }
                    } catch {
                        Issue.record("\(error)")
                    }
                }
            }
            Self.turn(descriptor, 0)
        }
        var turns = 0
        while seen < total || completed < each, turns < 6000 {
            Self.turn(descriptor, 10)
            turns += 1
        }
        #expect(seen == total)
        #expect(completed == each)
        #expect(try dogs.count() == total)
        token.invalidate()
        realm.close()
        Self.turn(descriptor, 0)
    }

    @Test func `threads that write in all ways hear of each other`() throws {
        let path = directory.file()
        let threads = 3
        let each = TestSettings.number("REALM_RACE_STEPS", 60)
        onThreads(threads) { number in
            do {
                try work(path, number, each: each, total: threads * each)
            } catch {
                Issue.record("\(error)")
            }
        }
    }

    /// Publishes a version without changes, and has listeners look.
    private func publish(_ store: Store, tells: Bool) throws {
        let begun = try store.beginWrite(wait: true)
        let lease = try #require(begun)
        let payload = UnsafeRawBufferPointer(
            start: lease.base.payload, count: lease.base.payloadCount)
        let builder = try lease.prepareCommit(pages: 0, freed: [])
        store.unpin(try builder.publish(payload: payload, tells: tells).version)
        store.lockFile.wakeOwn(store.lockFile.waitingBit)
    }

    @Test func `the listener leaves a version to its maker in this process, if that tells all`()
        throws
    {
        let path = directory.file()
        let descriptor = try ThreadScheduler.ofThisThread.eventDescriptor()
        let realm = try TestSchema.open(path)
        let store = realm.file.store
        while Self.isReadable(descriptor) { Self.turn(descriptor, 0) }
        func isWoken(_ milliseconds: Int32) -> Bool {
            var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            return poll(&ready, 1, milliseconds) > 0
        }
        _ = try realm.refresh()
        for _ in 0..<3 {
            try publish(store, tells: true)
            #expect(!isWoken(30))
            // That of another: nobody else has realms look at it.
            try publish(store, tells: false)
            #expect(isWoken(5000))
            Self.turn(descriptor, 0)
            #expect(realm.version == store.newestVersion)
        }
        realm.close()
        Self.turn(descriptor, 0)
    }

    @Test func `realms are closed while others commit and wake them`() throws {
        let path = directory.file()
        let isDone = Counter()
        let writer = TestThread {
            do {
                let realm = try TestSchema.open(path)
                var number: Int64 = 0
                while isDone.value == 0 {
                    try realm.write {
                        _ = try realm.create(
                            "Dog", primaryKey: .int(number), ["name": .string("x")])
                    }
                    number += 1
                }
                realm.close()
            } catch {
                Issue.record("\(error)")
            }
        }
        onThreads(2) { _ in
            do {
                let descriptor = try ThreadScheduler.ofThisThread.eventDescriptor()
                for round in 0..<40 {
                    let realm = try TestSchema.open(path)
                    let dogs = try realm.objects("Dog")
                    let handle = UnsafeRawPointer(Unmanaged.passUnretained(dogs).toOpaque())
                    let token = try dogs.observe(handle: handle) { _ in
                        if round % 4 == 0 { realm.close() }
                    }
                    Self.turn(descriptor, 5)
                    if round % 3 == 0 { realm.close() }
                    token.invalidate()
                    realm.close()
                }
            } catch {
                Issue.record("\(error)")
            }
        }
        isDone.add()
        writer.join()
    }
}
