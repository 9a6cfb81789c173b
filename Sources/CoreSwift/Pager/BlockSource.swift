// What readers touch of an open file: raw memory, so that reading involves neither reference
// counting nor locks. The state belongs to a `Store` and stays at one address until the store is
// deallocated; whoever reads keeps the store alive.

/// The mapped file and the table of blocks that passed the gate.
struct BlockSourceState {
    /// Start of the reserved address range; page n of the file is at `base + n * Page.size`.
    var base: UnsafeRawPointer
    /// Pages that may be read now (at offset 8, see `mappedPages` below). Grows and (when the file gives back its tail) shrinks; access
    /// with relaxed atomics.
    var mappedPages: UInt64
    /// Per page: first half of the check value of the block that starts there and passed the gate
    /// (content hash and structural check), 0 = none. Access with atomics; changed by
    /// `PageMapping.mark` and `clear` only.
    var verified: UnsafeMutablePointer<UInt64>
}

typealias BlockSource = UnsafeMutablePointer<BlockSourceState>

extension UnsafeMutablePointer where Pointee == BlockSourceState {
    /// Address of `mappedPages`, for atomic access.
    @inline(__always) var mappedPages: UnsafeMutablePointer<UInt64> {
        (UnsafeMutableRawPointer(self) + 8).assumingMemoryBound(to: UInt64.self)
    }
}
