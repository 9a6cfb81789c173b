// Opening: from the bytes of a sealed leaf to an open leaf. Dead rows are left out.

enum LeafDecoder {
    /// Decodes `view` into a new open leaf with room for `extraRows` more.
    static func open(
        _ view: LeafView, infos: UnsafePointer<ColumnInfo>, columnCount: Int, extraRows: Int,
        lowKey: ObjectKey
    ) -> UnsafeMutablePointer<OpenLeaf> {
        let leaf = OpenLeaf.make(
            infos, count: columnCount, capacity: view.liveRows + extraRows, lowKey: lowKey)
        append(view, to: leaf, infos: infos)
        return leaf
    }

    /// Appends the live rows of `view`, whose keys are above those of `leaf`; it has room.
    static func append(
        _ view: LeafView, to leaf: UnsafeMutablePointer<OpenLeaf>,
        infos: UnsafePointer<ColumnInfo>
    ) {
        let first = leaf.pointee.rows
        var rows: [Int] = []
        let total = view.rows
        if view.tombstones != nil {
            rows.reserveCapacity(view.liveRows)
            for row in 0..<total where !view.isDead(row) { rows.append(row) }
        } else {
            rows = Array(0..<total)
        }
        rows.withUnsafeBufferPointer { rows in
            for (i, row) in rows.enumerated() { leaf.pointee.keys[first + i] = view.key(row) }
            for index in 0..<leaf.pointee.columnCount {
                // What a dropped property left is left behind.
                if infos[index].isVacated { continue }
                guard let column = view.column(index, infos[index]), column.encoding != .absent
                else {
                    if infos[index].isKey { fillKeys(leaf, index, first, rows.count) }
                    continue
                }
                decode(column, rows, leaf, index, first)
            }
        }
        leaf.pointee.rows = first + rows.count
    }

    /// The primary key column of a leaf without data for it: every value is the key, unless the keys
    /// are indirect; then the only row is the object without a value.
    private static func fillKeys(
        _ leaf: UnsafeMutablePointer<OpenLeaf>, _ index: Int, _ first: Int, _ count: Int
    ) {
        let column = leaf.pointee.columns[index]
        for row in first..<(first + count) {
            let key = leaf.pointee.keys[row]
            let isNull = key >= IntegerKeys.indirectBase
            column.data.put(isNull ? .first : key, row * 8)
            column.nulls?.put(isNull ? 1 as UInt8 : 0, row)
        }
    }

    private static func decode(
        _ source: ColumnView, _ rows: UnsafeBufferPointer<Int>,
        _ leaf: UnsafeMutablePointer<OpenLeaf>, _ index: Int, _ first: Int
    ) {
        let target = leaf.pointee.columns[index]
        if let nulls = target.nulls {
            for (i, row) in rows.enumerated() {
                nulls.put(source.isNull(row) ? 1 as UInt8 : 0, first + i)
            }
        }
        let data = target.data + first * target.kind.openWidth
        switch target.kind {
        case .int, .link:
            for (i, row) in rows.enumerated() { data.put(source.packed(row), i &* 8) }
            zeroNulls(source, rows, data, width: 8)
        case .timestamp:
            for (i, row) in rows.enumerated() {
                data.put(source.packed(row), i &* 8)
                target.nanoseconds?.put(
                    UInt32(bitPattern: source.nanoseconds(row)), (first + i) &* 4)
            }
            zeroNulls(source, rows, data, width: 8)
        case .bool:
            for (i, row) in rows.enumerated() { data.put(source.bit(row) ? 1 as UInt8 : 0, i) }
        case .double:
            for (i, row) in rows.enumerated() { data.put(source.data.u64(row &* 8), i &* 8) }
        case .float:
            for (i, row) in rows.enumerated() { data.put(source.data.u32(row &* 4), i &* 4) }
        case .decimal, .objectId, .uuid:
            let width = target.kind.openWidth
            for (i, row) in rows.enumerated() {
                memcpy(data + i &* width, source.data + row &* width, width)
            }
        case .string, .binary, .mixed, .collection:
            let externals = source.externals
            for (i, row) in rows.enumerated() {
                let bytes = source.bytes(row)
                let isExternal = externals.map { LeafLayout.bit($0, row) } ?? false
                if isExternal { leaf.pointee.hasExternals = true }
                guard bytes.count > 0, let start = bytes.baseAddress else { continue }
                leaf.pointee.columns[index].setText(
                    first + i, start, bytes.count, isExternal: isExternal)
            }
        }
    }

    /// Null rows hold zero in open leaves, whatever the packed base makes of them.
    private static func zeroNulls(
        _ source: ColumnView, _ rows: UnsafeBufferPointer<Int>, _ data: UnsafeMutableRawPointer,
        width: Int
    ) {
        guard let nulls = source.nulls else { return }
        for (i, row) in rows.enumerated() where LeafLayout.bit(nulls, row) {
            data.put(0 as UInt64, i &* width)
        }
    }
}
