// Work on a thread of its own that nobody waits for.

import CKernels

enum ApartThread {
    private final class Work {
        let body: () -> Void
        init(_ body: @escaping () -> Void) { self.body = body }
    }

    /// Calls `body` on a new thread and returns at once; throws when there can be none.
    static func run(_ body: @escaping () -> Void) throws(RealmError) {
        let work = Unmanaged.passRetained(Work(body))
        let isRunning = ck_run_apart(
            { context in
                guard let context else { return }
                Unmanaged<Work>.fromOpaque(context).takeRetainedValue().body()
            }, work.toOpaque())
        guard isRunning else {
            work.release()
            throw RealmError(.systemError, "the system has no thread to spare")
        }
    }
}
