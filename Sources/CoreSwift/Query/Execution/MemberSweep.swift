// How many links lead from each object of a class to members of a set, from the inverse index of a column. The index is
// gone through beside the set, from member to member, so that no collection is read: where the set has few of the
// objects that are linked to, that is a small part of the work.

import CKernels

final class MemberSweep {
    private let tree: IndexTree
    private let linkTarget: ClassKey
    private let low: ObjectKey
    private let sources: Int
    /// A field by key, from `low` on, that stays at its greatest value.
    private let counts: Bitmap
    /// Bits of a field.
    private let width: Int
    private let words: Int
    private let wanted: IntRange

    /// Whether fields tell these numbers from all others: those from 1 to 254, and without an end from at most 255 on.
    static func tells(_ wanted: IntRange) -> Bool { width(for: wanted) != nil }

    private static func width(for wanted: IntRange) -> Int? {
        guard wanted.low >= 1 else { return nil }
        // No collection has more.
        let isOpen = wanted.high >= Int64(Int32.max)
        let greatest = isOpen ? wanted.low : wanted.high.addingReportingOverflow(1).0
        return [1, 2, 4, 8].first { greatest < 1 << $0 }
    }

    /// Nil when nothing links, where keys lie too far apart, and for numbers that it does not tell.
    init?(
        _ table: TableReader, column: Int, wanted: IntRange
    ) throws(RealmError) {
        guard let width = Self.width(for: wanted), let tree = try table.table.inverseTree(column),
            let span = try table.keySpan()
        else { return nil }
        self.width = width
        self.wanted = wanted
        self.tree = tree
        linkTarget = table.column(column).linkTarget
        (low, sources) = span
        words = Bits.words(sources)
        counts = Bits.zeros(words * width)
    }

    deinit { counts.deallocate() }

    /// Counts the links to members. False when some come from keys that no object has, as in no sound file.
    func count(_ members: KeySet, onTwoCores: Bool) throws(RealmError) -> Bool {
        let all = 0..<members.count
        guard onTwoCores else { return try count(members, all, into: counts) }
        let more = Bits.zeros(words * width)
        defer { more.deallocate() }
        let isSound = try TwoCores.run { half throws(RealmError) in
            try count(members, all.half(half), into: half == 0 ? counts : more)
        }
        ck_add_counts(counts, more, words * width, UInt32(width))
        return isSound.0 && isSound.1
    }

    /// Those of some members of the set.
    private func count(
        _ members: KeySet, _ range: Range<Int>, into counts: UnsafeMutablePointer<UInt64>
    ) throws(RealmError) -> Bool {
        guard let first = range.first else { return true }
        var asked = ck_link_members(
            targets: members.values, next: first, end: range.upperBound, counts: counts,
            sources: UInt64(sources), width: UInt32(width))
        var sweep = IndexSweep(tree)
        try sweep.seek(linksTo: members.key(first), of: linkTarget)
        var place = sweep.entry
        while let leaf = sweep.leaf, asked.next < asked.end {
            try sweep.nextLeaf()
            if let next = sweep.leaf, !next.hasOffsets {
                ck_send_for(next.heap, next.suffixCount &* next.count)
            }
            var entries = CountedLinks.entries(leaf, of: ObjectKey(rawValue: 0))
            var from = ck_link_sources(
                keys: leaf.keys, width: leaf.keyWidth, base: leaf.keyBase.word &- low.word)
            guard ck_count_members(&entries, &from, place, leaf.count, &asked) else {
                return false
            }
            place = 0
        }
        return true
    }

    /// Bits of the objects with as many links as are wanted.
    private func masked() -> Bitmap {
        let bits = Bitmap.allocate(capacity: words)
        let most: Int64 = 1 << Int64(width) - 1
        ck_mask_counts(
            counts, UInt32(width), UInt32(wanted.low),
            UInt32(min(wanted.high, most)), bits, words)
        return bits
    }

    /// How many objects have as many links as are wanted.
    var count: Int {
        if width == 1 { return Bits.count(counts, words) }
        let bits = masked()
        defer { bits.deallocate() }
        return Bits.count(bits, words)
    }

    /// These objects.
    var objects: KeySet { KeySet(bits: masked(), words: words, from: low.rawValue) }
}

extension Selection {
    /// What knows the objects that pass, where the whole condition is on the links of a column, and the inverse index has
    /// less to read than the collections.
    func linkers() throws(RealmError) -> MemberSweep? {
        guard let asked = try linkerMembers(),
            let sweep = try MemberSweep(table, column: asked.column, wanted: asked.wanted)
        else { return nil }
        let isSound = try table.sharing { () throws(RealmError) in
            try sweep.count(
                asked.members,
                onTwoCores: table.rowCount >= Self.twoCoresRows && TwoCores.areThere)
        }
        return isSound ? sweep : nil
    }

    /// The members that `linkers` looks for; nil where it is not the way.
    func linkerMembers() throws(RealmError) -> (
        column: Int, members: KeySet, wanted: IntRange
    )? {
        let node = program.nodes[root]
        guard conjuncts == nil, !node.negated else { return nil }
        let column: Int
        let target: ClassKey
        let members: KeySet
        var wanted = LeafFilter.some
        switch node.test {
        case .reach(let linked):
            let hop = program.links(linked)[0]
            guard hop.kind == .links else { return nil }
            (column, target) = (Int(hop.column), hop.target)
            members = try reachTargets(root)
            // Few are looked up one by one.
            guard members.count > targetsMax else { return nil }
        case .memberCount(let count):
            guard count.subquery >= 0, count.origin == .invalid,
                count.wanted.high >= count.wanted.low
            else { return nil }
            wanted = count.wanted
            guard MemberSweep.tells(wanted) else { return nil }
            column = Int(node.column)
            target = program.subqueries[Int(count.subquery)].target
            try prepareCount(root, count)
            guard let set = run.keys(root) else { return nil }
            members = set
        default: return nil
        }
        guard table.column(column).linkTarget == target,
            let tree = try table.table.inverseTree(column)
        else { return nil }
        let objects = try snapshot.table(target).rowCount
        guard members.count <= objects / Self.membersPart,
            members.count <= (table.rowCount + tree.count) / Self.stepsOfALookUp
        else { return nil }
        return (column, members, wanted)
    }

    /// The inverse index is asked for links to at most such a part of the objects that are linked to.
    private static let membersPart = 8
    /// And to so many that looking each up, which costs as much as reading so many rows or links, costs less than
    /// reading all.
    private static let stepsOfALookUp = 16
}
