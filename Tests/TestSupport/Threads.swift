// Work on threads of its own.

import Foundation

/// Counts from several threads.
final class Counter: @unchecked Sendable {
    private let lock = NSLock()
    private var count = 0
    func add() { lock.withLock { count += 1 } }
    var value: Int { lock.withLock { count } }
}

private final class Work {
    let body: () -> Void
    init(_ body: @escaping () -> Void) { self.body = body }
}

private func start(_ body: @escaping () -> Void) -> pthread_t {
    var thread = pthread_t()
    let work = Unmanaged.passRetained(Work(body))
    let made = pthread_create(
        &thread, nil,
        { raw in
            if let raw { Unmanaged<Work>.fromOpaque(raw).takeRetainedValue().body() }
            return nil
        }, work.toOpaque())
    precondition(made == 0)
    return thread
}

/// Runs `body` on a thread of its own and waits for its end, exit hooks included.
@discardableResult
func onAnotherThread<R>(_ body: @escaping () -> R) -> R {
    var result: R?
    pthread_join(start { result = body() }, nil)
    return result!
}

/// Runs beside the test until somebody waits for it.
final class TestThread {
    private let thread: pthread_t

    init(_ body: @escaping () -> Void) { thread = start(body) }

    func join() { pthread_join(thread, nil) }
}

/// Runs `body` with the numbers below `count`, each on a thread of its own, and waits for all.
func onThreads(_ count: Int, _ body: @escaping (Int) -> Void) {
    let threads = (0..<count).map { number in TestThread { body(number) } }
    for thread in threads { thread.join() }
}
