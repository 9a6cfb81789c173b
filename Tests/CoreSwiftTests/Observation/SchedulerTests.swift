import Testing

@testable import CoreSwift

@Suite struct SchedulerTests {
    @Test func aPlainSchedulerIsConfinedToItsThread() {
        let scheduler = Scheduler()
        #expect(scheduler.isOnThread)
        #expect(!scheduler.canDeliver)
        nonisolated(unsafe) var elsewhere = true
        nonisolated(unsafe) var same = true
        onAnotherThread {
            elsewhere = scheduler.isOnThread
            same = scheduler.isSame(as: Scheduler())
        }
        #expect(!elsewhere)
        #expect(!same)
        #expect(scheduler.isSame(as: Scheduler()))
    }

    @Test func withoutFunctionsNothingIsPossible() {
        let scheduler = Scheduler(
            Scheduler.Functions(),
            makeHandle: { OpaquePointer(Unmanaged.passUnretained($0).toOpaque()) },
            endHandle: { _ in })
        #expect(!scheduler.isOnThread)
        #expect(!scheduler.canDeliver)
        var ran = false
        scheduler.schedule { ran = true }
        scheduler.queue.performWork()
        #expect(!ran)
    }

    @Test func applicationsDecideAndAreFreedOnce() {
        let counts = UnsafeMutablePointer<Int>.allocate(capacity: 2)
        counts.initialize(repeating: 0, count: 2)
        defer { counts.deallocate() }
        var functions = Scheduler.Functions(userdata: counts)
        functions.free = { $0?.assumingMemoryBound(to: Int.self)[0] += 1 }
        functions.notify = { userdata, _ in userdata?.assumingMemoryBound(to: Int.self)[1] += 1 }
        functions.isOnThread = { _ in true }
        functions.canDeliver = { _ in true }
        var ended = 0
        var ran: [Int] = []
        do {
            let scheduler = Scheduler(
                functions,
                makeHandle: { OpaquePointer(Unmanaged.passUnretained($0).toOpaque()) },
                endHandle: { _ in ended += 1 })
            #expect(scheduler.isOnThread && scheduler.canDeliver)
            scheduler.schedule {
                ran.append(1)
                scheduler.schedule { ran.append(3) }
            }
            scheduler.schedule { ran.append(2) }
            #expect(counts[1] == 2)
            scheduler.queue.performWork()
            #expect(ran == [1, 2])
            scheduler.queue.performWork()
            scheduler.queue.performWork()
            #expect(ran == [1, 2, 3])
        }
        #expect(counts[0] == 1)
        #expect(ended == 1)
    }

    @Test func equalFunctionsNeedEqualUserdataOrConsent() {
        let a = UnsafeMutablePointer<Int>.allocate(capacity: 2)
        defer { a.deallocate() }
        func make(_ offset: Int, consent: Bool) -> Scheduler {
            var functions = Scheduler.Functions(userdata: a + offset)
            if consent { functions.isSameAs = { _, _ in true } }
            return Scheduler(
                functions,
                makeHandle: { OpaquePointer(Unmanaged.passUnretained($0).toOpaque()) },
                endHandle: { _ in })
        }
        #expect(make(0, consent: false).isSame(as: make(0, consent: false)))
        #expect(!make(0, consent: false).isSame(as: make(1, consent: false)))
        #expect(make(0, consent: true).isSame(as: make(1, consent: true)))
        #expect(!make(0, consent: true).isSame(as: make(0, consent: false)))
    }
}
