// Primary keys of objects that are there already: whether they are unique, and integers that cease to
// be the object keys.

extension Table {
    /// A value that is the primary key of several objects, as messages show it; nil: all differ.
    func repeatedKey() throws(RealmError) -> String? {
        let info = state.columns[primaryKeyColumn]
        guard info.valueIndex >= 0 else { return nil }
        if isWriting { try mergeIndex(Int(info.valueIndex)) }
        var last: [UInt8] = []
        var hasLast = false
        // Texts whose entries are cut and equal.
        var texts: Set<[UInt8]> = []
        var found: ObjectKey?
        try state.indexes[Int(info.valueIndex)].tree.visit(from: nil, to: nil) {
            leaf, range throws(RealmError) in
            for entry in range {
                let suffix = leaf.suffix(entry)
                let isSame =
                    hasLast && last.count == leaf.prefixCount + suffix.count
                    && last.withUnsafeBytes { Self.equals($0, leaf, suffix) }
                if !isSame {
                    last.removeAll(keepingCapacity: true)
                    last.append(
                        contentsOf: UnsafeRawBufferPointer(
                            start: leaf.prefix, count: leaf.prefixCount))
                    last.append(contentsOf: suffix)
                    hasLast = true
                    texts.removeAll()
                }
                let isCut = IndexValue.isAmbiguous(last.count, info.kind)
                if isCut, let text = try self.bytes(leaf.key(entry)) {
                    if !texts.insert(text).inserted { found = leaf.key(entry) }
                } else if isSame {
                    found = leaf.key(entry)
                }
                if found != nil { return false }
            }
            return true
        }
        guard let found, let place = try find(found) else { return nil }
        return Self.shown(try value(place, found, primaryKeyColumn))
    }

    private static func equals(
        _ last: UnsafeRawBufferPointer, _ leaf: IndexLeaf, _ suffix: UnsafeRawBufferPointer
    ) -> Bool {
        last.starts(with: UnsafeRawBufferPointer(start: leaf.prefix, count: leaf.prefixCount))
            && last[leaf.prefixCount...].elementsEqual(suffix)
    }

    private func bytes(_ key: ObjectKey) throws(RealmError) -> [UInt8]? {
        guard let place = try find(key) else { return nil }
        let value = try value(place, key, primaryKeyColumn)
        return value.isNull ? nil : [UInt8](value.bytes)
    }

    private static func shown(_ value: RawValue) -> String {
        guard let value = try? Value(value) else { return "of type \(value.type)" }
        switch value {
        case .null: return "null"
        case .int(let number): return "\(number)"
        case .string(let text): return "\"\(text)\""
        case .objectId(let id): return "\(id)"
        case .uuid(let id): return "\(id)"
        default: return "\(value)"
        }
    }

    /// Gives every leaf data for the integer primary key, so that its values need not be the object
    /// keys any more, and has its index made anew, for all of them. The schema has to say so next;
    /// the table is settled before and after. Does nothing for other keys.
    func materializeKeys() throws(RealmError) {
        guard hasIntegerKey else { return }
        let column = primaryKeyColumn
        for key in try leafKeys() {
            guard let place = try find(key) else { continue }
            try willSet(place, key, column, try value(place, key, column))
            // Opening fills the column from the keys; sealing writes it, if it is none of them.
            state.columns[column].isKey = true
            _ = try openLeaf(covering: key)
            state.columns[column].isKey = false
            try didWork(state.rowsPerLeaf)
            try sealAll()
        }
        state.columns[column].isKey = false
        state.hasIntegerKey = false
        let position = Int(state.columns[column].valueIndex)
        try dropIndex(position)
        state.indexes[position].isNew = true
        try settle()
    }

    /// A live key of each leaf; the table is settled.
    private func leafKeys() throws(RealmError) -> [ObjectKey] {
        var keys: [ObjectKey] = []
        var leaves = LeafIterator(table: self)
        while let leaf = try leaves.next() {
            if leaf.liveRows > 0 { keys.append(leaf.key(leaf.liveRow(0))) }
        }
        return keys
    }
}
