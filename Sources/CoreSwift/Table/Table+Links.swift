// Links between objects and their inverse indexes: which objects link to a given one. A link column
// has one, keyed by the object key of the target; a mixed column, which may link to objects of any
// class, has one keyed by class and object. Called by `Table+Write` for every change of such a
// column, and by queries and results for backlinks.

extension UnsafeMutablePointer where Pointee == TableState {
    // MARK: Writing

    /// Whether the object that a link names may be linked to; CONTRACT 1.8.
    func checkTarget(_ link: RawValue) throws(RealmError) {
        let key = Int(link.linkClass.rawValue)
        guard key < pointee.tableCapacity, let target = pointee.tables[key] else {
            throw RealmError(.noSuchTable, "there is no class \(key) to link to")
        }
        guard !target.pointee.isEmbedded else {
            throw RealmError(
                .illegalOperation,
                "class \(key) is embedded: its objects belong to one owner and cannot be linked to")
        }
        guard try target.find(link.linkTarget.rawValue) != nil else {
            throw RealmError(
                .noSuchObject, "class \(key) has no object \(link.linkTarget.rawValue) to link to")
        }
    }

    func isSameLink(_ a: RawValue, _ b: RawValue) -> Bool {
        a.type == ValueType.link.rawValue && b.type == a.type && a.word1 == b.word1
            && a.linkClass == b.linkClass
    }

    /// Collects that the object `key` begins or ceases to hold `value`, if that is a link.
    func noteLink(_ info: ColumnInfo, _ key: Int64, _ value: RawValue, isAddition: Bool) {
        guard value.type == ValueType.link.rawValue else { return }
        let index = pointee.indexes + Int(info.inverseIndex)
        if info.kind == .link {
            index.pointee.pending.append(value.word1, key, isAddition: isAddition)
            return
        }
        InverseBytes.with(value.linkTarget, of: value.linkClass, isMixed: true) { start, count in
            index.pointee.pending.append(start, count, key, isAddition: isAddition)
        }
    }

    // MARK: Reading

    /// The objects that link to object `key` of class `target` through a column of this table,
    /// ascending. Costs nothing when the column links to nothing.
    func sources(
        of key: Int64, in target: ClassKey, column: Int
    ) throws(RealmError) -> [Int64] {
        guard let tree = try inverseTree(column) else { return [] }
        var result: [Int64] = []
        try InverseBytes.withRange(
            ObjectKey(rawValue: key), of: target, isMixed: isMixed(column)
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
        of key: Int64, in target: ClassKey, column: Int
    ) throws(RealmError) -> Int {
        guard let tree = try inverseTree(column) else { return 0 }
        return try InverseBytes.withRange(
            ObjectKey(rawValue: key), of: target, isMixed: isMixed(column)
        ) { low, high throws(RealmError) in
            let end = try tree.rank(high)
            // Only in a damaged tree is the end before the start.
            return max(0, end - (try tree.rank(low)))
        }
    }

    private func isMixed(_ column: Int) -> Bool { pointee.columns[column].kind == .mixed }

    /// The inverse index of a column with all changes merged; nil when it is empty.
    private func inverseTree(_ column: Int) throws(RealmError) -> IndexTree? {
        let inverse = Int(pointee.columns[column].inverseIndex)
        guard inverse >= 0 else { return nil }
        let index = pointee.indexes + inverse
        if index.pointee.pending.count > 0 { try mergeIndex(inverse) }
        return index.pointee.tree.isEmpty ? nil : index.pointee.tree
    }
}

/// The bytes under which an inverse index files a target: its object key, or in mixed columns its
/// class key and object key; both big-endian.
enum InverseBytes {
    /// Calls `body` with the bytes; they live for the call.
    @inline(__always)
    static func with<R>(
        _ key: ObjectKey, of target: ClassKey, isMixed: Bool,
        _ body: (UnsafeRawPointer, Int) throws(RealmError) -> R
    ) throws(RealmError) -> R {
        var bytes: (UInt32, UInt32, UInt64) = (
            0, target.rawValue.bigEndian, UInt64(bitPattern: key.rawValue).bigEndian
        )
        return try withUnsafePointer(to: &bytes) { pointer throws(RealmError) in
            let start = UnsafeRawPointer(pointer)
            return isMixed ? try body(start + 4, 12) : try body(start + 8, 8)
        }
    }

    @inline(__always)
    static func with<R>(
        _ key: ObjectKey, of target: ClassKey, isMixed: Bool,
        _ body: (UnsafeRawPointer, Int) -> R
    ) -> R {
        var bytes: (UInt32, UInt32, UInt64) = (
            0, target.rawValue.bigEndian, UInt64(bitPattern: key.rawValue).bigEndian
        )
        return withUnsafePointer(to: &bytes) { pointer in
            let start = UnsafeRawPointer(pointer)
            return isMixed ? body(start + 4, 12) : body(start + 8, 8)
        }
    }

    /// Calls `body` with the positions before and behind the entries of a target.
    @inline(__always)
    static func withRange<R>(
        _ key: ObjectKey, of target: ClassKey, isMixed: Bool,
        _ body: (IndexPosition, IndexPosition) throws(RealmError) -> R
    ) throws(RealmError) -> R {
        try with(key, of: target, isMixed: isMixed) { start, count throws(RealmError) in
            try body(
                IndexPosition(bytes: start, count: count, key: .min),
                IndexPosition(bytes: start, count: count, key: .max))
        }
    }
}
