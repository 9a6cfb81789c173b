// Memory for the encrypted blocks of a commit until they are written: a piece that commits use again and
// again, and pieces of their own for blocks that it has no room for. Guarded by the writer.

final class SealedBlocks {
    /// A commit that has sealed so much writes it before it goes on.
    private static let bytesMax = 4 << 20
    /// Up to here a commit is small: what it wrote stays decrypted.
    static let smallMax = 1 << 20

    private var piece: UnsafeMutableRawPointer?
    private var used = 0
    private var others: [UnsafeMutableRawPointer] = []
    private var othersBytes = 0
    /// Bytes taken since `reset`.
    private(set) var total = 0

    deinit {
        dropOthers()
        piece?.deallocate()
    }

    var isFull: Bool { used + othersBytes >= Self.bytesMax }

    /// For the next commit.
    func reset() {
        empty()
        total = 0
    }

    /// What was taken is written.
    func empty() {
        used = 0
        if !others.isEmpty { dropOthers() }
    }

    func take(_ bytes: Int) -> UnsafeMutableRawPointer {
        total += bytes
        if bytes > Self.bytesMax - used {
            let other = UnsafeMutableRawPointer.allocate(byteCount: bytes, alignment: 64)
            others.append(other)
            othersBytes += bytes
            return other
        }
        let start =
            piece ?? UnsafeMutableRawPointer.allocate(byteCount: Self.bytesMax, alignment: 64)
        piece = start
        defer { used += bytes }
        return start + used
    }

    private func dropOthers() {
        for other in others { other.deallocate() }
        others = []
        othersBytes = 0
    }
}
