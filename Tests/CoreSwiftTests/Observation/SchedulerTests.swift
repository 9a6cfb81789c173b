import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite struct SchedulerTests {
    @Test func aThreadSchedulerIsConfinedToItsThread() {
        let scheduler = ThreadScheduler()
        #expect(scheduler.isOnThread)
        #expect(!scheduler.canDeliver)
        nonisolated(unsafe) var elsewhere = true
        nonisolated(unsafe) var same = true
        onAnotherThread {
            elsewhere = scheduler.isOnThread
            same = scheduler.isSame(as: ThreadScheduler())
        }
        #expect(!elsewhere)
        #expect(!same)
        #expect(scheduler.isSame(as: ThreadScheduler()))
    }

    /// One that decides nothing but what it must.
    private final class Plain: Scheduler {
        let isOnThread = true
        let canDeliver = false
        func schedule(_ work: @escaping WorkQueue.Work) {}
    }

    @Test func `schedulers of other kinds are the same as no other`() {
        let (plain, thread) = (Plain(), ThreadScheduler())
        #expect(plain.isSame(as: plain) && thread.isSame(as: thread))
        #expect(!plain.isSame(as: Plain()))
        #expect(!plain.isSame(as: thread) && !thread.isSame(as: plain))
    }

    @Test func `a realm belongs where its scheduler says`() throws {
        final class Gate: Scheduler, @unchecked Sendable {
            let isOpen = Lock()
            private var opened = false
            var isOnThread: Bool {
                get { isOpen.withLock { opened } }
                set { isOpen.withLock { opened = newValue } }
            }
            let canDeliver = false
            func schedule(_ work: @escaping WorkQueue.Work) {}
        }
        let directory = TemporaryDirectory()
        var configuration = TestSchema.configuration(directory.file())
        let gate = Gate()
        gate.isOnThread = true
        configuration.scheduler = gate
        nonisolated(unsafe) let realm = try Realm.open(configuration)
        nonisolated(unsafe) var codes: [ErrorCode?] = []
        func ask() {
            do throws(RealmError) {
                try realm.beginRead()
                codes.append(nil)
            } catch {
                codes.append(error.code)
            }
        }
        onAnotherThread { ask() }
        gate.isOnThread = false
        ask()
        gate.isOnThread = true
        ask()
        gate.isOnThread = false
        // The thread that was the realm's last is not asked for again.
        ask()
        onAnotherThread { ask() }
        #expect(codes == [nil, .wrongThread, nil, nil, .wrongThread])
        gate.isOnThread = true
        realm.close()
    }

    @Test func `what a queue has runs in order, and what the work adds with the next call`() {
        let queue = WorkQueue()
        var ran: [Int] = []
        queue.add {
            ran.append(1)
            queue.add { ran.append(3) }
        }
        queue.add { ran.append(2) }
        queue.performWork()
        #expect(ran == [1, 2])
        queue.performWork()
        queue.performWork()
        #expect(ran == [1, 2, 3])
    }

    @Test func `a companion is made once and ends with its scheduler`() {
        final class Companion {}
        weak var kept: Companion?
        do {
            let scheduler = ThreadScheduler()
            let first = scheduler.companion { Companion() }
            kept = first as? Companion
            #expect(scheduler.companion { Companion() } === first)
        }
        #expect(kept == nil)
    }
}
