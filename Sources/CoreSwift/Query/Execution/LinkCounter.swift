// How many links lead to the objects of one leaf after another, from the inverse index of a column: a scan goes
// through the index once, as it goes through the leaves. Used by one thread, in one state of the data.

import CKernels

final class LinkCounter {
    private var sweep: IndexSweep
    private let linkTarget: ClassKey
    /// By row of the leaf.
    private let counts: UnsafeMutablePointer<UInt32>
    /// The key behind the last leaf: the sweep stands before its entries.
    private var next: ObjectKey?

    /// Nil when nothing links.
    init?(_ origin: TableReader, column: Int) throws(RealmError) {
        guard let tree = try origin.table.inverseTree(column) else { return nil }
        sweep = IndexSweep(tree)
        linkTarget = origin.column(column).linkTarget
        counts = .allocate(capacity: LeafLayout.rowsMax)
    }

    deinit { counts.deallocate() }

    /// The number of links to each row of a leaf whose keys have no gaps, valid until the next call.
    func counts(_ leaf: LeafView) throws(RealmError) -> UnsafeMutablePointer<UInt32> {
        let rows = leaf.rows
        let first = leaf.keyBase
        counts.update(repeating: 0, count: rows)
        if first != next {
            try sweep.seek(linksTo: first, of: linkTarget)
        }
        next = first.advanced(by: rows)
        var run = ck_link_run(row: .max, count: 0)
        while let links = sweep.leaf {
            var entries = CountedLinks.entries(links, of: first)
            sweep.entry = ck_count_links(&entries, sweep.entry, links.count, rows, counts, &run)
            if sweep.entry < links.count { break }
            try sweep.nextLeaf()
        }
        return counts
    }
}

extension IndexSweep {
    /// Goes to the first of the links to an object, in an inverse index.
    mutating func seek(linksTo target: ObjectKey, of targetClass: ClassKey) throws(RealmError) {
        var sweep = self
        try InverseBytes.with(target, of: targetClass, isMixed: false) {
            bytes, count throws(RealmError) in
            try sweep.seek(IndexPosition(bytes: bytes, count: count, key: .min))
        }
        self = sweep
    }
}
