// Ordered indexes: the tree in itself, then its entries against the rows. The entries ascend
// strictly, so they are distinct; each names a live row that has exactly the entry's value; and
// there are as many as rows. So each row has exactly one.

import CKernels

extension TableCheck {
    func checkIndex(_ table: Table, _ item: ClassSchema, _ position: Int) {
        let index = table.state.indexes[position]
        let place = "\(index.kind.name) of \(item.label(index.column))"
        var walk = IndexWalk(
            check: self, table: table, item: item, column: index.column, kind: index.kind,
            tree: index.tree, place: place)
        walk.run()
        guard index.kind.isWords, let words = walk.words, walk.isReadable,
            let facts = facts[table.state.classKey], facts.isReadable
        else { return }
        let expected = facts.words[index.column] ?? WordSum()
        if words != expected { compareWords(table, index, expected, words, place) }
    }

    fileprivate func expectedEntries(
        _ table: Table, _ column: Int, _ kind: IndexKind
    ) -> Int? {
        guard let facts = facts[table.state.classKey], facts.isReadable else { return nil }
        if kind.isWords { return facts.words[column]?.count ?? 0 }
        let isInverse = kind == .inverse
        if isInverse, table.state.columns[column].countsLinks {
            return facts.countedLinks[column]?.count ?? 0
        }
        if isInverse { return facts.links[column] ?? 0 }
        guard table.state.columns[column].isKey else { return facts.keys.count }
        return facts.keys.count { $0 >= IntegerKeys.indirectBase }
    }
}

private struct IndexWalk {
    let check: TableCheck
    let table: Table
    let column: Int
    let isInverse: Bool
    let tree: IndexTree
    let place: String
    private let info: ColumnInfo
    /// Of a full-text index: what its entries add up to.
    private(set) var words: WordSum?
    private let comparesRows: Bool
    private let expected: Int?
    /// Of an inverse index that counts: the links of all rows, in the order of the entries.
    private let links: [CountedLink]
    private(set) var isReadable = true
    private var entries = 0
    private var position = 0
    /// Where the entry is that is being checked; told only when there is a problem.
    private var page: UInt64 = 0
    private var index = 0
    /// Room for the bytes of this entry and of the one before, in turns.
    private var current = UnsafeMutableRawPointer.allocate(byteCount: bytesMax, alignment: 8)
    private var previous = UnsafeMutableRawPointer.allocate(byteCount: bytesMax, alignment: 8)
    /// Prefix and suffix have 16-bit lengths.
    private static let bytesMax = 2 << 16
    /// The entry before: how many bytes, and its key.
    private var lastCount = 0
    private var lastKey = ObjectKey.first
    private var hasLast = false
    /// Full values behind entries whose bytes are cut and equal.
    private var cutValues: Set<[UInt8]> = []

    init(
        check: TableCheck, table: Table, item: ClassSchema, column: Int, kind: IndexKind,
        tree: IndexTree, place: String
    ) {
        self.check = check
        self.table = table
        self.column = column
        isInverse = kind == .inverse
        if kind.isWords { words = WordSum() }
        self.tree = tree
        self.place = place
        info = table.state.columns[column]
        expected = check.expectedEntries(table, column, kind)
        comparesRows = expected != nil
        let counted = check.facts[table.state.classKey]?.countedLinks[column] ?? []
        links = isInverse ? CountedLink.ordered(counted) : []
    }

    private var subject: String { "\(place), page \(page), entry \(index)" }

    mutating func run() {
        defer {
            current.deallocate()
            previous.deallocate()
        }
        let root = BlockReference(tree.rootPlace)
        if root.isNone {
            if tree.depth != 0 {
                check.report.add("\(place): is empty, but has \(tree.depth) levels")
            }
        } else {
            _ = walk(root, tree.depth, nil, nil)
        }
        guard isReadable else { return }
        if entries != tree.count {
            check.report.add(
                "\(place): has \(entries) entries, the catalog says \(tree.count)")
        }
        if let expected, entries != expected {
            check.report.add("\(place): has \(entries) entries, its class needs \(expected)")
        }
    }

    /// Checks a subtree whose positions are in `low` ..< `high`; returns its entries.
    private mutating func walk(
        _ reference: BlockReference, _ level: Int, _ low: IndexPosition?, _ high: IndexPosition?
    ) -> Int {
        if level == 0 { return leaf(reference, low, high) }
        guard
            let block = check.block(
                reference, tree.branchTag, "\(place), level \(level)", level, IndexBranch.check)
        else {
            isReadable = false
            return 0
        }
        let branch = IndexBranch(block)
        var total = 0
        for index in 0..<branch.count {
            let separator = branch.separator(index)
            // The first one is a bound, too, except at the left edge of the tree.
            let part = index > 0 || low != nil ? separator : nil
            checkSeparator(branch, index, low, high, reference)
            let before = isReadable
            isReadable = true
            let count = walk(
                BlockReference(branch.reference(index)), level - 1, part,
                index + 1 < branch.count ? branch.separator(index + 1) : high)
            if isReadable, count != branch.entries(index) {
                check.report.add(
                    "\(place), page \(reference.page): child \(index) has \(count) entries, its "
                        + "parent says \(branch.entries(index))")
            }
            isReadable = isReadable && before
            total += count
        }
        return total
    }

    private func checkSeparator(
        _ branch: IndexBranch, _ index: Int, _ low: IndexPosition?, _ high: IndexPosition?,
        _ reference: BlockReference
    ) {
        let separator = branch.separator(index)
        var isRight = true
        if let low, compare(separator, low) < 0 { isRight = false }
        if index > 0, let high, compare(separator, high) >= 0 { isRight = false }
        if index > 1, compare(branch.separator(index - 1), separator) >= 0 { isRight = false }
        if !isRight {
            check.report.add(
                "\(place), page \(reference.page): separator \(index) is out of order")
        }
    }

    private mutating func leaf(
        _ reference: BlockReference, _ low: IndexPosition?, _ high: IndexPosition?
    ) -> Int {
        guard
            let block = check.block(
                reference, tree.leafTag, place, 0, IndexLeaf.check)
        else {
            isReadable = false
            return 0
        }
        let leaf = IndexLeaf(block)
        page = reference.page
        let prefixCount = leaf.prefixCount
        for index in 0..<leaf.count {
            self.index = index
            let suffix = leaf.suffix(index)
            memcpy(current, leaf.prefix, prefixCount)
            if let start = suffix.baseAddress { memcpy(current + prefixCount, start, suffix.count) }
            entry(
                UnsafeRawBufferPointer(start: current, count: prefixCount + suffix.count),
                leaf.key(index), low, high)
            swap(&current, &previous)
        }
        entries += leaf.count
        return leaf.count
    }

    // MARK: Entries

    private mutating func entry(
        _ bytes: UnsafeRawBufferPointer, _ key: ObjectKey, _ low: IndexPosition?,
        _ high: IndexPosition?
    ) {
        var problem: String?
        let here = IndexPosition(bytes: UnsafeRawPointer(current), count: bytes.count, key: key)
        if let low, compare(here, low) < 0 { problem = "is below its separator" }
        if let high, compare(here, high) >= 0 { problem = "is not below the next separator" }
        let order = compareBytes(previous, lastCount, current, bytes.count)
        let isSame = hasLast && order == 0
        if hasLast, isSame ? lastKey >= key : order > 0 {
            problem = "is not above the one before"
        }
        if bytes.count > IndexLimits.valueBytesMax { problem = "has \(bytes.count) bytes" }
        if let problem { check.report.add("\(subject) \(problem)") }
        if words != nil {
            words?.add(bytes, key)
        } else if comparesRows, isInverse, info.countsLinks {
            compareLink(bytes, key)
        } else if comparesRows {
            compareRow(bytes, key, isSame)
        }
        position += 1
        lastCount = bytes.count
        lastKey = key
        hasLast = true
    }

    /// The entries are exactly these links, numbered per source.
    private mutating func compareLink(_ bytes: UnsafeRawBufferPointer, _ key: ObjectKey) {
        guard position < links.count else { return }
        let link = links[position]
        let fits = InverseBytes.with(
            link.target, of: link.classKey, isMixed: !info.linksAreWords
        ) { start, count in
            let target = UnsafeRawBufferPointer(start: start, count: count)
            guard bytes.starts(with: target), key == link.source else { return false }
            if link.number == 0 { return bytes.count == count }
            let number = bytes[count...].reduce(0) { $0 << 8 | Int($1) }
            return bytes.count == count + 4 && number == link.number
        }
        if !fits {
            check.report.add(
                "\(subject): is not the link of object \(link.source) to object \(link.target)")
        }
    }

    private mutating func compareRow(
        _ bytes: UnsafeRawBufferPointer, _ key: ObjectKey, _ isSame: Bool
    ) {
        do throws(RealmError) {
            guard let row = try table.find(key) else {
                check.report.add("\(subject): object \(key) is not there")
                return
            }
            let value = try table.value(row, key, column)
            if info.isKey, !isInverse, key < IntegerKeys.indirectBase {
                check.report.add("\(subject): object \(key) is its own key and needs no entry")
            }
            let right =
                isInverse
                ? isLink(value, bytes)
                : try IndexValue.withBytes(value, info.kind) { start, count throws(RealmError) in
                    count == bytes.count && equalBytes(start, current, count)
                }
            if !right {
                check.report.add("\(subject): object \(key) has another value than the entry")
                return
            }
            if info.isPrimaryKey, !isInverse { noteKey(value, bytes.count, isSame) }
        } catch {
            check.report.add("\(subject): \(error.message)")
        }
    }

    private func isLink(_ value: RawValue, _ bytes: UnsafeRawBufferPointer) -> Bool {
        guard value.type == ValueType.link.rawValue else { return false }
        return InverseBytes.with(
            value.linkTarget, of: value.linkClass, isMixed: false
        ) { start, count in
            count == bytes.count && equalBytes(start, current, count)
        }
    }

    /// Primary keys are unique; those that the index holds cut are compared in full.
    private mutating func noteKey(
        _ value: RawValue, _ byteCount: Int, _ isSame: Bool
    ) {
        if !isSame { cutValues.removeAll() }
        var isNew = !isSame
        if IndexValue.isAmbiguous(byteCount, info.kind) {
            isNew = cutValues.insert([UInt8](value.bytes)).inserted
        }
        if !isNew { check.report.add("\(subject): another object has the same primary key") }
    }
}
