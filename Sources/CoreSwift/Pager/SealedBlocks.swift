// Memory for the encrypted blocks of a commit until they are written: two pieces that commits use again and
// again, one of which is filled while the other is written, and memory of their own for blocks that a piece
// has no room for. Guarded by the writer.

final class SealedBlocks {
    /// A commit that has sealed so much writes it before it goes on, or while it does.
    static let pieceBytes = 512 << 10
    /// Up to here a commit is small: what it wrote stays decrypted.
    static let smallMax = 1 << 20

    private struct Piece {
        var memory: UnsafeMutableRawPointer?
        var used = 0
        var others: [UnsafeMutableRawPointer] = []
        var othersBytes = 0

        mutating func empty() {
            used = 0
            guard !others.isEmpty else { return }
            for other in others { other.deallocate() }
            others = []
            othersBytes = 0
        }
    }
    private var current = Piece()
    /// Written, or about to be.
    private var previous = Piece()
    /// Bytes taken since `reset`.
    private(set) var total = 0

    deinit {
        empty()
        current.memory?.deallocate()
        previous.memory?.deallocate()
    }

    var isFull: Bool { current.used + current.othersBytes >= Self.pieceBytes }

    /// For the next commit.
    func reset() {
        empty()
        total = 0
    }

    /// What was taken is written.
    func empty() {
        current.empty()
        previous.empty()
    }

    /// What was taken until now stays until the next turn; what was before the last one is written.
    func turn() {
        swap(&current, &previous)
        current.empty()
    }

    func take(_ bytes: Int) -> UnsafeMutableRawPointer {
        total += bytes
        if bytes > Self.pieceBytes - current.used {
            let other = UnsafeMutableRawPointer.allocate(byteCount: bytes, alignment: 64)
            current.others.append(other)
            current.othersBytes += bytes
            return other
        }
        let start =
            current.memory ?? .allocate(byteCount: Self.pieceBytes, alignment: 64)
        current.memory = start
        defer { current.used += bytes }
        return start + current.used
    }
}
