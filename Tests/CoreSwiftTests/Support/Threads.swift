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

/// Runs `body` on a thread of its own and waits for its end, exit hooks included.
@discardableResult
func onAnotherThread<R>(_ body: @escaping () -> R) -> R {
    var result: R?
    var thread = pthread_t()
    let work = Unmanaged.passRetained(Work { result = body() })
    let made = pthread_create(
        &thread, nil,
        { raw in
            if let raw { Unmanaged<Work>.fromOpaque(raw).takeRetainedValue().body() }
            return nil
        }, work.toOpaque())
    precondition(made == 0)
    pthread_join(thread, nil)
    return result!
}

/// Runs beside the test until somebody waits for it.
final class TestThread {
    private var thread = pthread_t()

    init(_ body: @escaping () -> Void) {
        let work = Unmanaged.passRetained(Work(body))
        let made = pthread_create(
            &thread, nil,
            { raw in
                if let raw { Unmanaged<Work>.fromOpaque(raw).takeRetainedValue().body() }
                return nil
            }, work.toOpaque())
        precondition(made == 0)
    }

    func join() { pthread_join(thread, nil) }
}
