// Memory for texts that functions make of values while a row is tested. Texts stay where they are
// until the arena is cut back, which the evaluator does after each test; pieces are kept.

/// Used by one thread.
final class TextArena {
    private var pieces: [UnsafeMutableRawBufferPointer] = []
    private var current = 0
    private var used = 0
    private static let pieceBytesMin = 4096

    deinit {
        for piece in pieces { piece.deallocate() }
    }

    /// A place in the arena.
    struct Mark {
        fileprivate var piece: Int
        fileprivate var used: Int
    }

    var mark: Mark { Mark(piece: current, used: used) }

    /// Forgets the texts made since a mark.
    @inline(__always)
    func cut(to mark: Mark) {
        current = mark.piece
        used = mark.used
    }

    /// Room for `count` bytes; never without address.
    func reserve(_ count: Int) -> UnsafeMutableRawPointer {
        while current < pieces.count {
            let piece = pieces[current]
            if piece.count &- used >= count, let start = piece.baseAddress {
                defer { used &+= count }
                return start + used
            }
            current &+= 1
            used = 0
        }
        let piece = UnsafeMutableRawBufferPointer.allocate(
            byteCount: max(count, Self.pieceBytesMin), alignment: 1)
        pieces.append(piece)
        used = count
        // Safe: the piece has at least `pieceBytesMin` bytes and so an address.
        return piece.baseAddress.unsafelyUnwrapped
    }

    /// A string value with these bytes.
    func string(_ bytes: UnsafeRawBufferPointer) -> RawValue {
        let target = reserve(bytes.count)
        if let source = bytes.baseAddress {
            target.copyMemory(from: source, byteCount: bytes.count)
        }
        return .string(target, bytes.count)
    }

    func string(_ text: String) -> RawValue {
        var text = text
        return text.withUTF8 { string(UnsafeRawBufferPointer($0)) }
    }
}
