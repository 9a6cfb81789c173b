// Where blocks that are written with one another go.

/// Pages taken for them.
struct PageTaker {
    private struct Piece {
        var run: SpaceRun
        var used: UInt64 = 0
        var rest: UInt64 { run.count - used }
    }
    /// Pages taken, and how many of each piece hold blocks.
    private var pieces: [Piece]
    /// No place was found for all of them.
    private let isScattered: Bool
    private let placement: Placement
    private var current = 0
    /// Pages that the blocks are likely to need, and those that have blocks.
    private let expected: UInt64
    private(set) var used: UInt64 = 0

    init(_ space: SpaceMap, _ expected: UInt64, _ placement: Placement = .anywhere) {
        self.expected = expected
        self.placement = placement
        pieces = space.reserve(expected, placement).map { Piece(run: $0) }
        isScattered = pieces.isEmpty
    }

    var count: Int { pieces.count }

    /// The first of so many pages, one behind the other.
    mutating func take(_ count: Int, _ space: SpaceMap) -> UInt64 {
        let count = UInt64(count)
        if pieces.isEmpty || pieces[current].rest < count {
            if !isScattered, let fitting = pieces.firstIndex(where: { $0.rest >= count }) {
                current = fitting
            } else {
                // The estimate was short or the pieces too small: one more run.
                let rest = isScattered ? expected - min(expected, used) : count
                current = pieces.count
                pieces.append(Piece(run: space.reserveWhole(count, of: rest, placement)))
            }
        }
        let page = pieces[current].run.page + pieces[current].used
        pieces[current].used += count
        used += count
        return page
    }

    /// Whether so many pages behind the last block were taken with it.
    func has(_ count: UInt64) -> Bool { !pieces.isEmpty && pieces[current].rest >= count }

    /// What has blocks stays taken, the rest is free again.
    func settle(_ space: SpaceMap) {
        for piece in pieces { space.settle(piece.run, used: piece.used) }
    }

    /// All is free again.
    func giveBack(_ space: SpaceMap) {
        for piece in pieces { space.settle(piece.run, used: 0) }
    }
}
