// The nodes of a tree of rows as a list: for threads that divide the leaves among them, and to compare trees.

import CKernels

/// The nodes of a tree of rows at one level, in order, as the places of their references.
struct NodeList {
    let table: Table
    private(set) var places: [UnsafeRawPointer]
    private(set) var level: Int

    init(_ table: Table) {
        self.table = table
        places = table.state.tree.isEmpty ? [] : [UnsafeRawPointer(table.state.tree.rootPlace)]
        level = table.state.tree.depth
    }

    /// The leaves below; only branches are read.
    func leaves() throws(RealmError) -> NodeList {
        var list = self
        while list.level > 0 { try list.descend() }
        return list
    }

    /// The branches above the leaves; of a tree that is a leaf, that leaf.
    func branches() throws(RealmError) -> NodeList {
        var list = self
        while list.level > 1 { try list.descend() }
        return list
    }

    private mutating func descend() throws(RealmError) {
        var children: [UnsafeRawPointer] = []
        for place in places {
            let node = try table.branch(place, level)
            for child in 0..<RowBranch.count(node) {
                children.append(RowBranch.reference(node, child))
            }
            guard children.count <= table.blocksMax else { throw table.state.nodes.endless() }
        }
        places = children
        level -= 1
    }

    /// How many leaves ahead the directory of a leaf is sent for, and how many what a column holds.
    private static let (directoryAhead, dataAhead) = (12, 6)

    /// Calls `body` with the leaves below a branch of `branches`, of which a column will be read.
    @inline(__always)
    func forEachLeaf(
        _ index: Int, ahead column: Int, _ body: (LeafView) throws(RealmError) -> Void
    ) throws(RealmError) {
        guard level > 0 else { return try body(leaf(index)) }
        let node = try table.branch(places[index], 1)
        let count = RowBranch.count(node)
        let nodes = table.state.nodes
        let tag = table.state.tree.leafTag
        if count > 0, nodes.resolved(RowBranch.reference(node, 0), tag) == nil {
            nodes.readAhead(0..<count) { RowBranch.reference(node, $0) }
        }
        let bounds =
            LeafLayout.directoryOffset + table.state.columnCount * LeafLayout.entrySize
            + column * LeafLayout.boundsSize
        let entry = LeafLayout.directoryOffset + column * LeafLayout.entrySize
        // Leaves that were found when their columns were sent for.
        let known = UnsafeMutablePointer<UnsafeRawPointer?>.allocate(capacity: count)
        known.initialize(repeating: nil, count: count)
        defer { known.deallocate() }
        for child in -Self.directoryAhead..<count {
            let far = child &+ Self.directoryAhead
            if far < count, let leaf = nodes.address(RowBranch.reference(node, far)) {
                ck_prefetch(leaf)
                ck_prefetch(leaf + entry)
                ck_prefetch(leaf + bounds)
            }
            let near = child &+ Self.dataAhead
            if near >= 0, near < count,
                let leaf = nodes.resolved(RowBranch.reference(node, near), tag)
            {
                known[near] = leaf
                if let data = LeafView(leaf).column(column)?.data {
                    // Some lines: with these the processor sees where it goes.
                    for line in 0..<8 { ck_prefetch(data + line &* 64) }
                }
            }
            guard child >= 0 else { continue }
            let leaf =
                if let leaf = known[child] { leaf } else {
                    try table.leaf(RowBranch.reference(node, child))
                }
            try body(LeafView(leaf))
        }
    }

    func leaf(_ index: Int) throws(RealmError) -> LeafView {
        LeafView(try table.leaf(places[index]))
    }

    /// The leaf, if it was read before; nil behind the last one.
    @inline(__always) func known(_ index: Int) -> LeafView? {
        guard index < places.count else { return nil }
        return table.state.nodes.resolved(places[index], table.state.tree.leafTag)
            .map { LeafView($0) }
    }

    /// Has the kernel read these leaves, as far as that was not done before.
    func readAhead(_ numbers: Range<Int>) {
        table.state.nodes.readAhead(numbers) { places[$0] }
    }

    /// Leaves of both, without those that both trees have.
    static func reduce(
        _ first: inout NodeList, _ second: inout NodeList, sharesBlocks: Bool
    ) throws(RealmError) {
        while true {
            if first.level > second.level, !first.places.isEmpty {
                try first.descend()
            } else if second.level > first.level, !second.places.isEmpty {
                try second.descend()
            } else {
                if sharesBlocks, first.level == second.level { drop(&first, &second) }
                if first.level == 0 && second.level == 0 { return }
                if first.level > 0 { try first.descend() }
                if second.level > 0 { try second.descend() }
            }
        }
    }

    private static func drop(_ first: inout NodeList, _ second: inout NodeList) {
        if first.places.isEmpty || second.places.isEmpty { return }
        let before = Set(first.places.map { BlockName($0) })
        let after = Set(second.places.map { BlockName($0) })
        first.places.removeAll { after.contains(BlockName($0)) }
        second.places.removeAll { before.contains(BlockName($0)) }
    }
}

/// What a reference names within a file; those in memory are of one transaction.
struct BlockName: Hashable {
    private let location: UInt64
    private let version: UInt64

    init(_ place: UnsafeRawPointer) {
        location = place.u64(ReferenceField.location)
        version = place.u64(ReferenceField.version)
    }
}
