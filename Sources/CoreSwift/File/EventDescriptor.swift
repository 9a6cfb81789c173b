// A descriptor that poll() and its like wait for: readable from `set` to `clear`.

import CKernels
import Glibc

final class EventDescriptor: Sendable {
    let number: Int32

    init() throws(RealmError) {
        number = ck_event_descriptor()
        guard number >= 0 else {
            throw RealmError(
                .systemError,
                "an event descriptor can't be made: \(String(cString: strerror(errno)))")
        }
    }

    deinit { _ = close(number) }

    // Neither can fail: the counter stays far below its limit, and nothing is waited for.

    func set() {
        var one: UInt64 = 1
        _ = write(number, &one, 8)
    }

    func clear() {
        var count: UInt64 = 0
        _ = read(number, &count, 8)
    }
}
