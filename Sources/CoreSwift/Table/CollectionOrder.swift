// The order of set elements and dictionary keys: `ValueOrder` for two values of one column, with
// short cuts for the common kinds; looking values up by it in a cell or a leaf.

enum CollectionOrder {
    /// Negative, zero or positive as `a` is below, equal to or above `b`; both null or of `kind`.
    static func compare(_ a: RawValue, _ b: RawValue, _ kind: ColumnKind) -> Int {
        switch kind {
        case .int where !a.isNull && !b.isNull:
            return a.intValue < b.intValue ? -1 : a.intValue > b.intValue ? 1 : 0
        case .string where !a.isNull && !b.isNull:
            let first = a.bytes
            let second = b.bytes
            return compareBytes(
                first.baseAddress.unsafelyUnwrapped, first.count,
                second.baseAddress.unsafelyUnwrapped, second.count)
        default:
            return ValueOrder.compare(a, b)
        }
    }
}

extension InlineColumn {
    /// Where a value of a set, or a key of a dictionary, is or would be.
    func search(_ value: RawValue, _ info: ColumnInfo) -> (index: Int, isFound: Bool) {
        (0..<count).search {
            CollectionOrder.compare(self.value($0, info), value, info.kind)
        }
    }
}

extension Table {
    /// The same among the elements of a leaf.
    func search(
        _ leaf: RowPlace, _ rows: Int, _ value: RawValue, _ info: ColumnInfo
    ) throws(RealmError) -> (index: Int, isFound: Bool) {
        var place = leaf
        return try (0..<rows).search { row throws(RealmError) in
            place.row = row
            return CollectionOrder.compare(try self.value(place, 0, info), value, info.kind)
        }
    }
}
