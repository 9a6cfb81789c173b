// Goes through the entries of an index from a position on, leaf by leaf, and stays where the caller stops: scans
// that ask for one range after another descend once. The tree must not change meanwhile.

struct IndexSweep {
    private let tree: IndexTree
    /// Branches from the root down and the next child to visit in each.
    private var path: [(branch: IndexBranch, next: Int)] = []
    /// Entries ascend, so no sound tree has more leaves than entries.
    private var leavesLeft = 0
    /// Nil behind the last entry.
    private(set) var leaf: IndexLeaf?
    /// The entry of the leaf that comes next; up to its count.
    var entry = 0

    init(_ tree: IndexTree) { self.tree = tree }

    /// Goes to the first entry that is not below `position`.
    mutating func seek(_ position: IndexPosition) throws(RealmError) {
        path.removeAll(keepingCapacity: true)
        leaf = nil
        leavesLeft = tree.count
        if tree.isEmpty { return }
        var place = UnsafeRawPointer(tree.rootPlace)
        for level in stride(from: tree.depth, to: 0, by: -1) {
            let branch = try tree.branch(place, level)
            let child = branch.child(covering: position)
            path.append((branch, child + 1))
            place = branch.reference(child)
        }
        let found = try tree.leaf(place)
        leaf = found
        entry = found.lowerBound(position)
    }

    /// Goes to the first entry of the following leaf.
    mutating func nextLeaf() throws(RealmError) {
        leaf = nil
        entry = 0
        leavesLeft -= 1
        guard leavesLeft >= 0 else { throw tree.nodes.endless() }
        while let top = path.last {
            guard top.next < top.branch.count else {
                path.removeLast()
                continue
            }
            path[path.count - 1].next += 1
            var place = top.branch.reference(top.next)
            for level in stride(from: top.branch.level - 1, to: 0, by: -1) {
                let branch = try tree.branch(place, level)
                path.append((branch, 1))
                place = branch.reference(0)
            }
            leaf = try tree.leaf(place)
            return
        }
    }
}
