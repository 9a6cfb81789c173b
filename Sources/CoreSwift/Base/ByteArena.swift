// Memory for copies of texts that others borrow: what a write transaction hands out, what savepoints
// keep.

/// Copies of bytes that end together, in chunks.
struct ByteArena {
    private var chunks: [UnsafeMutableRawPointer] = []
    private var used = 0
    private var capacity = 0

    mutating func copy(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawPointer {
        if chunks.isEmpty || used + bytes.count > capacity {
            capacity = max(bytes.count + 1, min(capacity * 2, 1 << 20), 4096)
            chunks.append(.allocate(byteCount: capacity, alignment: 16))
            used = 0
        }
        let target = chunks[chunks.count - 1] + used
        if let start = bytes.baseAddress { memcpy(target, start, bytes.count) }
        used += bytes.count
        return UnsafeRawPointer(target)
    }

    /// As `clear`, but a little memory stays for the next copies.
    mutating func restart() {
        used = 0
        if chunks.count == 1, capacity <= 1 << 14 { return }
        clear()
    }

    mutating func clear() {
        for chunk in chunks { chunk.deallocate() }
        chunks = []
        used = 0
        capacity = 0
    }
}
