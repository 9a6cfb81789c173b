// The run loops of threads other than the main one, by which their realms are told of new versions. A realm may
// be opened before the loop runs, as on Apple's platforms: it is told from the moment that it does.

import CRuntime
import CoreSwift
import Foundation

/// The run loop of a thread, as long as the thread is there, or a scheduler for it.
///
/// Threads whose loops never run pay for one waiting block: not for wakers, listeners and timers.
final class ThreadLoop: @unchecked Sendable {
    private let loop = RunLoop.current
    private let core = crt_current_run_loop()
    private let lock = NSLock()
    /// Under `lock`.
    @exclusivity(unchecked) private var runs = false
    // Of the thread.
    @exclusivity(unchecked) private var isAsked = false
    @exclusivity(unchecked) private weak var keeper: Keeper?

    /// The loop runs, or did: whatever it is given it does the next time.
    var isRunning: Bool { lock.withLock { runs } }

    /// That of the calling thread.
    static var current: ThreadLoop {
        if let known = crt_thread_note() {
            return Unmanaged<ThreadLoop>.fromOpaque(known).takeUnretainedValue()
        }
        let made = ThreadLoop()
        // The thread's dictionary goes with the thread.
        Thread.current.threadDictionary["io.realm.loop"] = made
        crt_set_thread_note(Unmanaged.passUnretained(made).toOpaque())
        return made
    }

    private init() {}

    /// Notes whether the loop runs, and has it say when it does: nothing else tells that here on Linux.
    /// On the thread.
    func look() {
        if isRunning { return }
        if RunLoop.current.currentMode != nil { return begin() }
        guard !isAsked else { return }
        isAsked = true
        loop.perform(inModes: [.common]) { ThreadLoop.current.begin() }
    }

    /// The loop runs: from now on the engine tells the thread's realms of new versions.
    private func begin() {
        let isFirst = lock.withLock {
            defer { runs = true }
            return !runs
        }
        guard isFirst else { return }
        if let keeper {
            keeper.stay()
        } else {
            // The loop ends if nothing else is in it, which it looks at when it wakes.
            crt_wake_run_loop(core)
        }
        let id = Confinement.Id.thread(ObjectIdentifier(ThreadScheduler.ofThisThread))
        for session in SessionCache.all(id) where !session.core.isClosed {
            do throws(RealmError) {
                try session.core.askScheduler()
            } catch {
                // There is nobody to throw it at, as where a realm cannot follow.
                CoreSwift.Log.currentSink.log(.notification, .error, error.message)
            }
        }
    }

    /// For a scheduler. On the thread.
    func makeKeeper() -> Keeper {
        let made = Keeper(self)
        keeper = made
        if isRunning { made.stay() }
        return made
    }

    /// Gives the loop work, and keeps it from ending for want of any while there is a realm: loops end that have
    /// neither sources nor timers.
    final class Keeper: @unchecked Sendable {
        private let owner: ThreadLoop
        @exclusivity(unchecked) private var timer: Timer?

        fileprivate init(_ owner: ThreadLoop) { self.owner = owner }

        deinit {
            timer?.invalidate()
            crt_wake_run_loop(owner.core)
        }

        fileprivate func stay() {
            guard timer == nil else { return }
            let made = Timer(fire: .distantFuture, interval: 0, repeats: false) { _ in }
            owner.loop.add(made, forMode: .common)
            timer = made
        }

        /// On any thread.
        func perform(_ work: @escaping @Sendable () -> Void) {
            owner.loop.perform(work)
            crt_wake_run_loop(owner.core)
        }
    }
}
