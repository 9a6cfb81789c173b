// Tests of columns whose values are compared one by one (`ValueTest`): decimals, object ids, UUIDs
// and mixed values. Only selected rows are looked at; words of a dictionary are tested once each.

extension LeafFilter {
    func maskValues(
        _ index: Int, _ leaf: LeafView, _ column: ColumnView, _ node: FilterNode,
        _ selection: Bitmap
    ) throws(RealmError) {
        if node.columnKind == .objectId || node.columnKind == .uuid,
            case .value(.equal, let cell) = node.test
        {
            Bits.clear(match, Bits.words(column.rows))
            return maskIds(column, program.value(cell), node.columnKind)
        }
        if column.encoding == .stringDictionary {
            try maskWords(column) { word throws(RealmError) in
                try self.passes(word, index, node)
            }
            return
        }
        try maskRows(selection, column.rows) { row throws(RealmError) in
            let value = try table.value(leaf, row, Int(node.column))
            return value.isNull ? false : try self.passesMixed(value, index, node)
        }
    }

    /// Rows with exactly this object id or UUID.
    private func maskIds(_ column: ColumnView, _ id: RawValue, _ kind: ColumnKind) {
        let prefix = id.prefix
        guard
            !column.flags.contains(.hasBounds)
                || (prefix >= column.minimumPrefix && prefix <= column.maximumPrefix)
        else { return }
        let data = column.data
        if kind == .uuid {
            for row in 0..<column.rows
            where data.u64(row &* 16) == id.word0 && data.u64(row &* 16 &+ 8) == id.word1 {
                Bits.set(match, row)
            }
        } else {
            let last = UInt32(truncatingIfNeeded: id.word1)
            for row in 0..<column.rows
            where data.u64(row &* 12) == id.word0 && data.u32(row &* 12 &+ 8) == last {
                Bits.set(match, row)
            }
        }
    }

    private func passes(
        _ bytes: UnsafeRawBufferPointer, _ index: Int, _ node: FilterNode
    ) throws(RealmError) -> Bool {
        // A word of nothing stands for null rows only.
        if bytes.isEmpty { return false }
        return try passesMixed(MixedCell.decode(bytes), index, node)
    }

    /// Whether a value that is not null passes a test of this file, before negation.
    @inline(never)
    func passesMixed(
        _ value: RawValue, _ index: Int, _ node: FilterNode
    ) throws(RealmError) -> Bool {
        switch node.test {
        case .value(let op, let cell):
            return ValueTest.passes(value, op, program.value(cell), node.columnKind)
        case .valueSet(let set): return isMember(value, set)
        case .mixedText(let text, let isOpposite):
            // Strings and binaries never meet.
            let type: ValueType = text.isString ? .string : .binary
            guard value.type == type.rawValue else { return false }
            return try passes(value.bytes, index, text) != isOpposite
        case .object(let name):
            return value.type == ValueType.link.rawValue && value.linkClass == name.classKey
                && run.object(index) == value.linkTarget
        default: return false
        }
    }

    /// Members are in the order of values.
    private func isMember(_ value: RawValue, _ set: FilterSet) -> Bool {
        program.members(set).hasMember { member in
            ValueOrder.compare(MixedCell.decode(program.text(member)), value)
        }
    }
}
