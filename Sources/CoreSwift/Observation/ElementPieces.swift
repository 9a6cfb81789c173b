// Follows the elements of a collection through operations, one after another: where each was before,
// and what is new. A sequence of pieces, runs of elements that were neighbours before; in blocks, so
// that many operations on a long list do not move all pieces each time.

struct ElementPieces {
    struct Piece {
        /// Position of the first element before; -1: they are new.
        var start: Int
        var count: Int
        var isReplaced = false
        var isMoved = false

        var isNew: Bool { start < 0 }
    }

    private struct Block {
        var pieces: [Piece]
        var count: Int
    }

    private static let piecesMax = 256

    let countBefore: Int
    private var blocks: [Block]
    /// All elements went by a clearing, and none came since.
    private(set) var isCleared = false

    init(count: Int) {
        countBefore = count
        blocks = [
            Block(pieces: count > 0 ? [Piece(start: 0, count: count)] : [], count: count)
        ]
    }

    init(_ changes: CollectionChanges) throws(RealmError) {
        self.init(count: changes.countBefore)
        for operation in changes.operations { try apply(operation) }
    }

    var count: Int { blocks.reduce(0) { $0 + $1.count } }

    var pieces: [Piece] { blocks.flatMap { $0.pieces } }

    mutating func apply(_ operation: CollectionOperation) throws(RealmError) {
        let size = count
        var isSound = operation.index >= 0 && operation.count >= 0
        switch operation.kind {
        case .inserted: isSound = isSound && operation.index <= size
        case .removed, .replaced: isSound = isSound && operation.index + operation.count <= size
        case .moved:
            isSound = isSound && operation.index < size && operation.destination < size
            isSound = isSound && operation.destination >= 0
        case .cleared: break
        }
        guard isSound else {
            throw RealmError(
                .invalidDatabase,
                "a change of \(operation.count) elements at \(operation.index) of a collection of \(size)"
            )
        }
        switch operation.kind {
        case .inserted:
            isCleared = false
            insert([Piece(start: -1, count: operation.count)], at: operation.index)
        case .removed: _ = remove(operation.index, operation.count)
        case .replaced:
            var pieces = remove(operation.index, operation.count)
            for index in pieces.indices { pieces[index].isReplaced = true }
            insert(pieces, at: operation.index)
        case .moved:
            var pieces = remove(operation.index, 1)
            for index in pieces.indices { pieces[index].isMoved = true }
            insert(pieces, at: operation.destination)
        case .cleared:
            blocks = [Block(pieces: [], count: 0)]
            isCleared = !operation.isAssignment
        }
    }

    /// The block and the piece that begin at a position, where a piece is cut if need be.
    private mutating func cut(at index: Int) -> (block: Int, piece: Int) {
        var left = index
        var block = 0
        while block < blocks.count - 1, left > blocks[block].count {
            left -= blocks[block].count
            block += 1
        }
        var piece = 0
        while left > 0 {
            let found = blocks[block].pieces[piece]
            if left >= found.count {
                left -= found.count
                piece += 1
                continue
            }
            var rest = found
            rest.count -= left
            if !rest.isNew { rest.start += left }
            blocks[block].pieces[piece].count = left
            blocks[block].pieces.insert(rest, at: piece + 1)
            return (block, piece + 1)
        }
        return (block, piece)
    }

    private mutating func insert(_ pieces: [Piece], at index: Int) {
        let (block, piece) = cut(at: index)
        blocks[block].pieces.insert(contentsOf: pieces.filter { $0.count > 0 }, at: piece)
        blocks[block].count += pieces.reduce(0) { $0 + $1.count }
        split(block)
    }

    private mutating func split(_ block: Int) {
        guard blocks[block].pieces.count > Self.piecesMax else { return }
        let all = blocks[block].pieces
        var parts: [Block] = []
        for start in stride(from: 0, to: all.count, by: Self.piecesMax / 2) {
            let part = Array(all[start..<min(start + Self.piecesMax / 2, all.count)])
            parts.append(Block(pieces: part, count: part.reduce(0) { $0 + $1.count }))
        }
        blocks.replaceSubrange(block...block, with: parts)
    }

    private mutating func remove(_ index: Int, _ count: Int) -> [Piece] {
        var removed: [Piece] = []
        var left = count
        var (block, piece) = cut(at: index)
        while left > 0 {
            guard piece < blocks[block].pieces.count else {
                block += 1
                piece = 0
                continue
            }
            var found = blocks[block].pieces[piece]
            if found.count <= left {
                blocks[block].pieces.remove(at: piece)
            } else {
                var rest = found
                rest.count -= left
                if !rest.isNew { rest.start += left }
                blocks[block].pieces[piece] = rest
                found.count = left
            }
            blocks[block].count -= found.count
            left -= found.count
            removed.append(found)
        }
        if blocks.count > 1 { blocks.removeAll { $0.pieces.isEmpty } }
        if blocks.isEmpty { blocks = [Block(pieces: [], count: 0)] }
        return removed
    }
}

extension ElementPieces {
    /// What observers are told. `tellsMoves`: moves are told as such, besides. `isModified` says of an
    /// element that stayed, by its position now, whether what it leads to has changed; nil: nothing
    /// has.
    func changes(
        tellsMoves: Bool, isModified: ((Int) throws(RealmError) -> Bool)?
    ) throws(RealmError) -> ElementChanges {
        var result = ElementChanges()
        var kept: [Range<Int>] = []
        let pieces = pieces
        let isBack = Self.movedBack(pieces)
        var position = 0
        for (index, piece) in pieces.enumerated() {
            let now = position..<position + piece.count
            position += piece.count
            if piece.isNew || (piece.isMoved && !isBack[index]) {
                result.insertions.append(now)
                if tellsMoves, !piece.isNew {
                    result.moves.append(.init(from: piece.start, to: now.lowerBound))
                }
                continue
            }
            let before = piece.start..<piece.start + piece.count
            kept.append(before)
            if piece.isReplaced {
                result.modifications.append(before)
                result.modificationsAfter.append(now)
            } else if let isModified {
                for offset in 0..<piece.count where try isModified(now.lowerBound + offset) {
                    result.modifications.append(before.lowerBound + offset)
                    result.modificationsAfter.append(now.lowerBound + offset)
                }
            }
        }
        var stayed = IndexRanges()
        for range in kept { stayed.append(range) }
        result.deletions = stayed.complement(below: countBefore)
        result.moves.sortFew { $0.from < $1.from }
        result.wasCleared = isCleared && !result.deletions.isEmpty
        return result
    }

    /// Of each piece that was moved, whether it is where it was among those that were not.
    private static func movedBack(_ pieces: [Piece]) -> [Bool] {
        var result = [Bool](repeating: false, count: pieces.count)
        guard pieces.contains(where: { $0.isMoved }) else { return result }
        // The least position before of the pieces that stayed behind each one.
        var next = Int.max
        var following = [Int](repeating: .max, count: pieces.count)
        for index in pieces.indices.reversed() {
            following[index] = next
            if !pieces[index].isNew, !pieces[index].isMoved { next = pieces[index].start }
        }
        var last = -1
        for (index, piece) in pieces.enumerated() where !piece.isNew {
            if !piece.isMoved {
                last = piece.start
            } else if piece.start > last, piece.start < following[index] {
                result[index] = true
                last = piece.start
            }
        }
        return result
    }

    /// The position before of each element that is there now; nil of those that came.
    var origins: [Int?] {
        var result: [Int?] = []
        result.reserveCapacity(count)
        for piece in pieces {
            for offset in 0..<piece.count {
                result.append(piece.isNew ? nil : piece.start + offset)
            }
        }
        return result
    }

    /// Positions before of elements that got other values.
    var replaced: Set<Int> {
        var result = Set<Int>()
        for piece in pieces where piece.isReplaced && !piece.isNew {
            for offset in 0..<piece.count { result.insert(piece.start + offset) }
        }
        return result
    }
}
