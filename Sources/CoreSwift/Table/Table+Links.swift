// Links between objects and their inverse indexes: which objects link to a given one. A link column
// has one, keyed by the object key of the target; a mixed column, which may link to objects of any
// class, has one keyed by class and object. Called by `Table+Write` for every change of such a
// column, and by queries and results for backlinks.

extension Table {
    // MARK: Writing

    /// Whether the object that a link names may be linked to; docs/C_RULES, "Values that fit".
    func checkTarget(_ link: RawValue) throws(RealmError) {
        let key = link.linkClass.index
        guard key < state.tableCapacity, let target = state.tables[key] else {
            throw RealmError(.noSuchTable, "there is no class \(key) to link to")
        }
        guard !target.state.isEmbedded else {
            throw RealmError(
                .illegalOperation,
                "class \(key) is embedded: its objects belong to one owner and cannot be linked to")
        }
        if target.state.takesLinksUnseen { return }
        guard try target.find(link.linkTarget) != nil else {
            throw RealmError(
                .noSuchObject, "class \(key) has no object \(link.linkTarget) to link to")
        }
    }

    func isSameLink(_ a: RawValue, _ b: RawValue) -> Bool {
        a.type == ValueType.link.rawValue && b.type == a.type && a.word1 == b.word1
            && a.linkClass == b.linkClass
    }

    /// Collects that the object `key` begins or ceases to hold `value`, if that is a link.
    @inline(__always)
    func noteLink(_ info: ColumnInfo, _ key: ObjectKey, _ value: RawValue, isAddition: Bool) {
        guard value.type == ValueType.link.rawValue else { return }
        let index = state.indexes + Int(info.inverseIndex)
        if info.linksAreWords {
            index.pointee.pending.append(value.word1, key, isAddition: isAddition)
        } else {
            noteMixedLink(index, key, value, isAddition: isAddition)
        }
    }

    /// The same of an object of any class.
    @inline(never)
    private func noteMixedLink(
        _ index: UnsafeMutablePointer<TableIndex>, _ key: ObjectKey, _ value: RawValue,
        isAddition: Bool
    ) {
        InverseBytes.with(value.linkTarget, of: value.linkClass, isMixed: true) { start, count in
            index.pointee.pending.append(start, count, key, isAddition: isAddition)
        }
    }

    // MARK: Reading

    /// The objects that link to object `key` of class `target` through a column of this table,
    /// ascending; one that links several times is there as often. Costs nothing when the column
    /// links to nothing. Unless many changes wait, they are not merged for this: who deletes many
    /// linked objects asks before each.
    func sources(
        of key: ObjectKey, in target: ClassKey, column: Int
    ) throws(RealmError) -> [ObjectKey] {
        let info = state.columns[column]
        let inverse = Int(info.inverseIndex)
        guard inverse >= 0 else { return [] }
        let index = state.indexes + inverse
        let waiting =
            info.linksAreWords
            ? index.pointee.pending.changes(of: key.word)
            : InverseBytes.with(key, of: target, isMixed: true) {
                start, count in
                index.pointee.pending.changes(ofText: start, count)
            }
        if waiting == nil { try mergeIndex(inverse) }
        let stored = try storedSources(of: key, in: target, info, index.pointee.tree)
        guard let waiting, !waiting.isEmpty else { return stored }
        var counts = waiting
        for source in stored { counts[source, default: 0] += 1 }
        var result: [ObjectKey] = []
        for (source, count) in counts where count > 0 {
            for _ in 0..<count { result.append(source) }
        }
        return result.sorted()
    }

    /// The same, of the tree alone.
    private func storedSources(
        of key: ObjectKey, in target: ClassKey, _ info: ColumnInfo, _ tree: IndexTree
    ) throws(RealmError) -> [ObjectKey] {
        if tree.isEmpty { return [] }
        if info.countsLinks {
            return try CountedLinks.sources(
                of: key, in: target, isMixed: !info.linksAreWords, tree)
        }
        var result: [ObjectKey] = []
        try InverseBytes.withRange(
            key, of: target, isMixed: false
        ) { low, high throws(RealmError) in
            try tree.visit(from: low, to: high) { leaf, range throws(RealmError) in
                for index in range { result.append(leaf.key(index)) }
                return true
            }
        }
        return result
    }

    /// How many objects link to object `key` of class `target` through the column.
    func sourceCount(
        of key: ObjectKey, in target: ClassKey, column: Int
    ) throws(RealmError) -> Int {
        guard let tree = try inverseTree(column) else { return 0 }
        return try CountedLinks.count(
            of: key, in: target, isMixed: !state.columns[column].linksAreWords, tree)
    }

    /// The inverse index of a column with all changes merged; nil when it is empty.
    func inverseTree(_ column: Int) throws(RealmError) -> IndexTree? {
        let inverse = Int(state.columns[column].inverseIndex)
        guard inverse >= 0 else { return nil }
        let index = state.indexes + inverse
        if index.pointee.pending.count > 0 { try mergeIndex(inverse) }
        return index.pointee.tree.isEmpty ? nil : index.pointee.tree
    }
}
