// Giving space back while a file is in use, without a call. Whoever commits often deletes and changes
// much that lies anywhere, and free pages in the middle of a file can't be given back. So when free pages are
// many, each commit moves a few blocks from the end of the file to free pages before them, and
// writes them with its own: a *sweep*. What is free at the end then is cut off.
//
// Here is when, and down to where; which blocks lie there the trees know (TableSet+Sweep.swift). Guarded by
// the writer lock. Nothing of it is stored: who opens the file anew begins anew.
//
// Large blocks need as much room in one piece, which a file of many small holes has not. A sweep that meets such
// ones is followed by one that makes room: it moves what stands in the emptiest range of pages elsewhere, and
// nothing comes to stand there while it goes on. The sweep behind it finds one hole.
//
// What it costs follows what commits write. A step moves at most as many pages as the commit writes,
// or `stepPagesMin`, and looks at `stepNodes` nodes. A sweep that has been through all trees is followed by the
// next one only when commits have written half as much as the file holds.

/// How far the walk through the trees got: nodes are counted in their parents, so commits in between
/// may have it miss some, which the next sweep finds.
struct SweepPosition {
    /// Of the class among those of the schema.
    var ordinal = 0
    /// 0: the rows, 1...: the indexes.
    var tree = 0
    /// By level: the child to go on with. Empty: at the beginning of the tree.
    var path: [Int] = []
}

struct SpaceSweep {
    static let stepPagesMin = 64
    static let stepNodes = 192
    /// Of larger blocks a sweep asks whether there is a hole for them.
    static let looseBlockPagesMax = 16

    /// Blocks that reach behind this page are moved, and the file is cut down to it; 0: none was ever begun.
    private(set) var boundary: UInt64 = 0
    /// The sweep empties these pages, instead of those behind the boundary.
    private(set) var clearing: Range<UInt64>?
    /// Blocks behind the boundary that there was no hole for: how many pages the largest has, and all.
    private var missed: (largest: UInt64, pages: UInt64) = (0, 0)
    /// The walk goes on from here; nil: there is none.
    var position: SweepPosition?
    /// Pages that the sweep may still move; it ends where it finds no better places.
    private(set) var allowance = 0
    /// Pages that were moved since the file was opened.
    private(set) var movedPages = 0
    /// What large commits have lately written: they need as much again.
    private var recent: UInt64 = 0
    /// Pages that have to be written before another sweep begins.
    private var rest: UInt64 = 0

    var isWalking: Bool { position != nil }
    /// A step of the walk, perhaps the last one, is in the commit that is being made.
    var isMoving = false
    /// Where the file is to end, if a commit shall take the lowest pages: also behind the walk, until its end is
    /// cut off.
    func ceiling(_ space: SpaceMap) -> UInt64? {
        isMoving || (boundary > 0 && space.pageCount > boundary) ? boundary : nil
    }

    func moves(_ block: BlockReference) -> Bool {
        let end = block.end
        if let clearing { return block.page < clearing.upperBound && end > clearing.lowerBound }
        return end > boundary
    }

    /// A block of so many pages stays where it is, as there is no hole for it.
    mutating func noteMissed(_ pages: Int) {
        if clearing != nil { return }
        missed = (max(missed.largest, UInt64(pages)), missed.pages + UInt64(pages))
    }

    mutating func noteMoved(_ pages: Int) {
        allowance -= pages
        movedPages += pages
    }

    /// A commit wrote so many pages, and this is the map now. Begins a sweep, or moves its end.
    mutating func note(written: UInt64, _ space: SpaceMap) {
        recent = max(written, recent - recent / 8)
        rest -= min(rest, written)
        let pending = space.pendingPages
        let used = space.usedPages
        // An eighth more than what is used, and room for the next commits; but one that writes everything
        // anew has to make the file longer each time.
        let least = space.limits.sweepPagesMin
        let target = used + max(used / 8, least / 2) + max(pending, min(recent, used / 4))
        boundary = boundary == 0 ? 0 : max(boundary, target)
        if isWalking {
            let isDone = space.endOfUse <= boundary
            if isDone { missed = (0, 0) }
            if isDone || allowance <= 0 { end(used) }
            return
        }
        guard rest == 0, space.pageCount > target + max(used / 16, least / 2) else { return }
        boundary = target
        if missed.largest > 0 {
            let wanted = max(missed.largest, min(missed.pages, used / 4))
            clearing =
                space.emptiest(wanted, below: boundary)
                ?? space.emptiest(missed.largest, below: boundary)
            missed = (0, 0)
        }
        position = SweepPosition()
        allowance = Int(clamping: 2 * used) + Self.stepPagesMin
    }

    /// The walk has been through all trees.
    mutating func end(_ used: UInt64) {
        position = nil
        let least = UInt64(Self.stepPagesMin)
        if clearing != nil {
            // What was moved is free when nobody reads it any more, mostly a commit later.
            clearing = nil
            rest = least
        } else {
            rest = max(missed.largest > 0 ? used / 16 : used / 4, 4 * least)
        }
    }
}
