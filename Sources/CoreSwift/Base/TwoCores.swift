// Work that two cores do faster than one: scans and sorts of many objects.

import CKernels

enum TwoCores {
    /// Whether the process may use a second core; asked once.
    static let areThere = ck_cores() > 1

    private final class Work {
        let body: (Int) -> Void
        init(_ body: @escaping (Int) -> Void) { self.body = body }
    }

    /// Calls `body` with 0 and with 1, at the same time if there is a second core, and returns when
    /// both calls have ended. Starting the second costs some 20 microseconds.
    static func run(_ body: (Int) -> Void) {
        guard areThere else {
            body(0)
            body(1)
            return
        }
        withoutActuallyEscaping(body) { body in
            let work = Work(body)
            ck_run_halves(
                { context, half in
                    guard let context else { return }
                    Unmanaged<Work>.fromOpaque(context).takeUnretainedValue().body(Int(half))
                }, Unmanaged.passUnretained(work).toOpaque())
            withExtendedLifetime(work) {}
        }
    }

    /// The same for calls that can fail; the first half's error counts first.
    static func run<T>(
        _ body: (Int) throws(RealmError) -> T
    ) throws(RealmError) -> (T, T) {
        let results = UnsafeMutablePointer<T?>.allocate(capacity: 2)
        results.initialize(repeating: nil, count: 2)
        defer {
            results.deinitialize(count: 2)
            results.deallocate()
        }
        try runThrowing { half throws(RealmError) in results[half] = try body(half) }
        guard let first = results[0], let second = results[1] else {
            throw RealmError(.runtime, "a half of the work did not end")
        }
        return (first, second)
    }

    /// Apart from the results' type, so that it is there once.
    @inline(never)
    private static func runThrowing(
        _ body: (Int) throws(RealmError) -> Void
    ) throws(RealmError) {
        let failures = UnsafeMutablePointer<RealmError?>.allocate(capacity: 2)
        failures.initialize(repeating: nil, count: 2)
        defer {
            failures.deinitialize(count: 2)
            failures.deallocate()
        }
        run { half in
            do throws(RealmError) { try body(half) } catch { failures[half] = error }
        }
        for half in 0..<2 {
            if let failure = failures[half] { throw failure }
        }
    }
}
