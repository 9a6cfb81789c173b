// Looks up positions of an index one after another, best in ascending order: as long as they are in
// the leaf found last, no descent is needed. The tree must not change meanwhile.

struct IndexCursor {
    private let tree: IndexTree
    private var leaf: IndexLeaf?
    /// What the leaf covers; nil: to the edge of the tree. Separators lie in the branches.
    private var low: IndexPosition?
    private var high: IndexPosition?

    init(_ tree: IndexTree) { self.tree = tree }

    /// Whether the tree has exactly this entry.
    mutating func contains(_ position: IndexPosition) throws(RealmError) -> Bool {
        if tree.isEmpty { return false }
        let leaf = try leaf(covering: position)
        let index = leaf.lowerBound(position)
        return index < leaf.count && leaf.key(index) == position.key
            && leaf.isEqual(index, position.bytes, position.count)
    }

    private mutating func leaf(covering position: IndexPosition) throws(RealmError) -> IndexLeaf {
        if let leaf, low.map({ compare($0, position) <= 0 }) ?? true,
            high.map({ compare(position, $0) < 0 }) ?? true
        {
            return leaf
        }
        low = nil
        high = nil
        var place = UnsafeRawPointer(tree.rootPlace)
        for level in stride(from: tree.depth, to: 0, by: -1) {
            let branch = try tree.branch(place, level)
            let child = branch.child(covering: position)
            if child > 0 { low = branch.separator(child) }
            if child + 1 < branch.count { high = branch.separator(child + 1) }
            place = branch.reference(child)
        }
        let found = try tree.leaf(place)
        leaf = found
        return found
    }
}
