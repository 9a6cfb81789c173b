// What a caller gets back in its callbacks, and how it wants to be told that none will come.

import CRealm

/// A userdata pointer that is freed exactly once: when the last holder lets go.
final class Userdata: @unchecked Sendable {
    let pointer: UnsafeMutableRawPointer?
    private let free: realm_free_userdata_func_t?

    init(_ pointer: UnsafeMutableRawPointer?, _ free: realm_free_userdata_func_t?) {
        self.pointer = pointer
        self.free = free
    }

    deinit { free?(pointer) }
}
