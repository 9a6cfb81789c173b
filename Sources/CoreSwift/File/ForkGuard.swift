// What fork() does to open files: the child shares the open file descriptions and with them the
// locks of its parent, but none of its threads. Working on in the child would corrupt the reader
// table; merely keeping the descriptors open would keep the parent's locks alive after the parent
// died. So the child closes the descriptors that hold locks at once (which releases nothing as long
// as the parent has them) and every store compares the fork generation before it does anything.

import CKernels
import Glibc

enum ForkGuard {
    /// Grows by one in every forked child; unchanged in a process that did not fork.
    static var generation: UInt64 { ck_load_relaxed_u64(state.generation) }

    static func register(_ descriptor: Int32) { change(from: -1, to: descriptor) }
    static func forget(_ descriptor: Int32) { change(from: descriptor, to: -1) }

    // A fixed table, because the child must not allocate. Files beyond it work, but their locks
    // live on in forked children until those exit.
    private static let capacity = 2048

    private struct State {
        let generation: UnsafeMutablePointer<UInt64>
        let descriptors: UnsafeMutablePointer<UInt64>
    }

    private static let state: State = {
        let state = State(
            generation: .allocate(capacity: 1), descriptors: .allocate(capacity: capacity))
        state.generation.initialize(to: 0)
        state.descriptors.initialize(repeating: UInt64.max, count: capacity)
        pthread_atfork(nil, nil) { ForkGuard.inChild() }
        return state
    }()

    private static func inChild() {
        let state = Self.state
        ck_store_relaxed_u64(state.generation, ck_load_relaxed_u64(state.generation) + 1)
        for index in 0..<capacity {
            let value = ck_load_relaxed_u64(state.descriptors + index)
            guard value != UInt64.max else { continue }
            _ = Glibc.close(Int32(truncatingIfNeeded: value))
            ck_store_relaxed_u64(state.descriptors + index, UInt64.max)
        }
    }

    private static func change(from old: Int32, to new: Int32) {
        let old = old < 0 ? UInt64.max : UInt64(old)
        let new = new < 0 ? UInt64.max : UInt64(new)
        for index in 0..<capacity where ck_cas_u64(state.descriptors + index, old, new) { return }
    }
}
