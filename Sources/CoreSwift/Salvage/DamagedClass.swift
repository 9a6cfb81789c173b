// The rows of one class that can still be read: the leaves of its tree that verify, by way of the
// branches that do. What is below a damaged branch is looked for in the whole file (LeafSearch.swift).

/// A leaf that verified and has the structure that its class demands.
struct SalvagedLeaf {
    let reference: BlockReference
    /// Its rows count from here on, up to, not including, `high`.
    let low: ObjectKey
    let high: ObjectKey
}

/// Keys whose rows could not be reached.
struct LostRange {
    let low: ObjectKey
    let high: ObjectKey
    /// How many rows the parent says there are.
    let rows: Int
    /// A branch is damaged: what is below it may be whole.
    let isBranch: Bool
}

struct DamagedClass {
    let schema: ClassSchema
    let table: Table
    /// What the catalog says; nil where it says nothing of the class.
    let expected: Int?
    /// In the order of keys.
    private(set) var leaves: [SalvagedLeaf] = []
    private(set) var lost: [LostRange] = []
    /// Branches that verified.
    private(set) var branches: [BlockReference] = []

    private let file: DamagedFile
    private let nodes: NodeSource
    /// Blocks that may still be read: a tree that names one more often than the file can hold is none.
    private var left: UInt64

    init(_ schema: ClassSchema, _ table: Table, _ root: ClassRoot?, _ file: DamagedFile) {
        self.schema = schema
        self.table = table
        self.file = file
        nodes = NodeSource(store: file.store)
        left = file.pages
        expected = root?.rows
        guard let root, !root.root.isNone else { return }
        walk(root.root, root.depth, .min, .max, root.rows)
    }

    private mutating func walk(
        _ reference: BlockReference, _ level: Int, _ low: ObjectKey, _ high: ObjectKey, _ rows: Int
    ) {
        do throws(RealmError) {
            guard left > 0 else { throw nodes.endless() }
            left -= 1
            if level == 0 {
                _ = try admit(reference)
                leaves.append(SalvagedLeaf(reference: reference, low: low, high: high))
                return
            }
            let tag = BlockTag(.rowBranch, classKey: schema.key)
            let node = try nodes.admit(reference, tag, level, RowBranch.check)
            // What is read below may take the node's place in memory.
            let count = RowBranch.count(node)
            branches.append(reference)
            var children: [(BlockReference, ObjectKey, Int)] = []
            for index in 0..<count {
                children.append(
                    (
                        BlockReference(RowBranch.reference(node, index)),
                        index == 0 ? low : max(low, RowBranch.key(node, index)),
                        RowBranch.rows(node, index)
                    ))
            }
            for index in 0..<count {
                let end = index + 1 < count ? min(high, children[index + 1].1) : high
                walk(children[index].0, level - 1, children[index].1, end, children[index].2)
            }
        } catch {
            lost.append(LostRange(low: low, high: high, rows: rows, isBranch: level > 0))
            file.note("class \(schema.name), \(rows) objects: \(error.message)")
        }
    }

    /// The leaf, checked when it is met for the first time.
    func admit(_ reference: BlockReference) throws(RealmError) -> LeafView {
        let tag = BlockTag(.rowLeaf, classKey: schema.key)
        if let known = nodes.resolved(reference, tag) { return LeafView(known) }
        let context = RowLeafCheck.Context(
            infos: table.columns, columnCount: table.columnCount)
        return LeafView(try nodes.admit(reference, tag, context, RowLeafCheck.check))
    }

    /// The leaf that has the row with this key, if it has any.
    func leaf(of key: ObjectKey) -> SalvagedLeaf? {
        // Of leaves that were found, several may stand for one range.
        for leaf in leaves[..<leaves.partitionPoint { $0.low <= key }].reversed() {
            if leaf.high <= key, leaf.high != .max { return nil }
            if let view = try? admit(leaf.reference), view.row(of: key) != nil { return leaf }
        }
        return nil
    }

    /// Takes a leaf that was found elsewhere, if it fills a gap. Its rows outside of gaps are left out.
    mutating func take(_ reference: BlockReference) {
        guard let view = try? admit(reference), view.rows > 0 else { return }
        let first = view.key(0)
        let last = view.key(view.rows - 1)
        for range in lost
        where range.isBranch && last >= range.low && (first < range.high || range.high == .max) {
            leaves.append(
                SalvagedLeaf(
                    reference: reference, low: max(range.low, first), high: range.high))
        }
    }

    var hasLostBranches: Bool { lost.contains(where: \.isBranch) }

    mutating func sort() { leaves.sortFew { $0.low < $1.low } }
}
