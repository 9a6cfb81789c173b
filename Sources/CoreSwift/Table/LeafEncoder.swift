// Sealing: from an open leaf to the bytes of a block (layout: LeafView.swift).
//
// Two passes: `plan` finds minimum, maximum, width and encoding of every column and with them the
// exact size, so that the caller can choose how many rows fit; `write` lays the bytes out.
// Encoding first into scratch and copying would be simpler and reserve upper bounds worse: the
// file would grow by 9 %.

struct ColumnPlan {
    var encoding = ColumnEncoding.absent
    var width = 0
    var flags: ColumnFlags = []
    var base: Int64 = 0
    var minimum: UInt64 = 0
    var maximum: UInt64 = 0
    var hasExternals = false
    /// Bytes of the text heap, or of the words of a dictionary.
    var heapBytes = 0
    var wordCount = 0
    /// Bytes from the bitmaps to the end of the data, heap excluded.
    var dataBytes = 0
}

/// Which rows of an open leaf are encoded, in key order: `list[i]`, or `start + i` without a list.
struct RowSelection {
    var list: UnsafePointer<UInt16>? = nil
    var start: Int
    var count: Int
    @inline(__always) subscript(_ index: Int) -> Int {
        guard let list else { return start &+ index }
        return Int(list[start &+ index])
    }
    /// Some of them, by their places among these.
    subscript(_ range: Range<Int>) -> RowSelection {
        RowSelection(list: list, start: start + range.lowerBound, count: range.count)
    }
}

struct LeafEncoder {
    let leaf: UnsafeMutablePointer<OpenLeaf>
    let infos: UnsafePointer<ColumnInfo>
    let tag: BlockTag
    private(set) var plans: [ColumnPlan] = []
    private(set) var keyWidth = 0
    private(set) var keyBase = ObjectKey.first
    private var dictionaries: [Int: TextDictionary] = [:]

    init(
        _ leaf: UnsafeMutablePointer<OpenLeaf>, infos: UnsafePointer<ColumnInfo>,
        tag: BlockTag
    ) {
        self.leaf = leaf
        self.infos = infos
        self.tag = tag
    }

    /// Plans the encoding of these rows and returns its size in bytes.
    mutating func plan(_ rows: RowSelection) -> Int {
        let columnCount = leaf.pointee.columnCount
        var size = LeafLayout.directoryOffset + LeafLayout.directoryBytes(columnCount)
        keyBase = rows.count > 0 ? leaf.pointee.keys[rows[0]] : .first
        let lastKey = rows.count > 0 ? leaf.pointee.keys[rows[rows.count - 1]] : .first
        let keyRange = UInt64(UInt(bitPattern: keyBase.distance(to: lastKey)))
        keyWidth = keyRange == UInt64(max(rows.count, 1) - 1) ? 0 : keyRange.byteWidth
        size += LeafLayout.align8(keyWidth * rows.count)
        plans.removeAll(keepingCapacity: true)
        dictionaries.removeAll(keepingCapacity: true)
        for index in 0..<columnCount {
            var plan = ColumnPlan()
            planColumn(index, rows, &plan)
            plan.dataBytes = Self.dataBytes(plan, rows.count)
            size += LeafLayout.align8(plan.dataBytes) + LeafLayout.align8(plan.heapBytes)
            plans.append(plan)
        }
        return size
    }

    private static func dataBytes(_ plan: ColumnPlan, _ rows: Int) -> Int {
        guard plan.encoding != .absent else { return 0 }
        var bytes = 0
        if plan.flags.contains(.hasNulls) { bytes += LeafLayout.bitmapBytes(rows) }
        if plan.flags.contains(.hasExternal) { bytes += LeafLayout.bitmapBytes(rows) }
        switch plan.encoding {
        case .absent, .stringFixed: break
        case .packed, .fixed: bytes += plan.width * rows
        case .bits: bytes += LeafLayout.bitmapBytes(rows)
        case .timestamp:
            bytes += LeafLayout.align8(plan.width * rows)
            if plan.flags.contains(.hasNanoseconds) { bytes += rows * 4 }
        case .string16: bytes += (rows + 1) * 2
        case .string32: bytes += (rows + 1) * 4
        case .stringDictionary:
            bytes += LeafLayout.align8(rows) + (plan.wordCount + 1) * 2
        }
        return bytes
    }

    // MARK: Planning

    private mutating func planColumn(
        _ index: Int, _ rows: RowSelection, _ plan: inout ColumnPlan
    ) {
        if infos[index].isVacated { return }
        // Keys that are the primary key need no column (LeafView.swift).
        if infos[index].isKey, rows.count > 0,
            leaf.pointee.keys[rows[rows.count - 1]] < IntegerKeys.indirectBase
        {
            return
        }
        let column = leaf.pointee.columns[index]
        if let nulls = column.nulls {
            var count = 0
            for i in 0..<rows.count { count &+= Int(UnsafeRawPointer(nulls).u8(rows[i])) }
            if count == rows.count { return }
            if count > 0 { plan.flags.insert(.hasNulls) }
        }
        switch column.kind {
        case .int, .link:
            plan.encoding = .packed
            planPacked(column, rows, &plan)
        case .timestamp:
            plan.encoding = .timestamp
            planPacked(column, rows, &plan)
            let nanoseconds = UnsafeRawPointer(column.nanoseconds.unsafelyUnwrapped)
            var any: UInt32 = 0
            for i in 0..<rows.count { any |= nanoseconds.u32(rows[i] &* 4) }
            if any != 0 { plan.flags.insert(.hasNanoseconds) }
        case .bool:
            plan.encoding = .bits
            var low: UInt8 = 1
            var high: UInt8 = 0
            for i in 0..<rows.count where !column.isNull(rows[i]) {
                let bit = UnsafeRawPointer(column.data).u8(rows[i])
                low = min(low, bit)
                high = max(high, bit)
            }
            plan.minimum = UInt64(low)
            plan.maximum = UInt64(high)
            plan.flags.formUnion([.hasBounds, .boundsExact])
        case .float, .double:
            plan.encoding = .fixed
            plan.width = column.kind.openWidth
            planFloating(column, rows, &plan)
        case .decimal:
            plan.encoding = .fixed
            plan.width = column.kind.openWidth
        case .objectId, .uuid:
            plan.encoding = .fixed
            plan.width = column.kind.openWidth
            planPrefixes(column, rows, &plan)
        case .string, .binary, .mixed, .collection:
            planText(index, column, rows, &plan)
        }
    }

    private func planPacked(
        _ column: OpenColumn, _ rows: RowSelection, _ plan: inout ColumnPlan
    ) {
        let data = UnsafeRawPointer(column.data)
        var low = Int64.max
        var high = Int64.min
        if rows.list == nil && !plan.flags.contains(.hasNulls) {
            let start = data + rows.start &* 8
            for i in 0..<rows.count {
                let value = start.i64(i &* 8)
                low = value < low ? value : low
                high = value > high ? value : high
            }
        } else {
            for i in 0..<rows.count where !column.isNull(rows[i]) {
                let value = data.i64(rows[i] &* 8)
                low = min(low, value)
                high = max(high, value)
            }
        }
        plan.base = low
        plan.width = UInt64(bitPattern: high &- low).byteWidth
        plan.minimum = UInt64(bitPattern: low)
        plan.maximum = UInt64(bitPattern: high)
        plan.flags.formUnion([.hasBounds, .boundsExact])
    }

    private func planFloating(
        _ column: OpenColumn, _ rows: RowSelection, _ plan: inout ColumnPlan
    ) {
        let data = UnsafeRawPointer(column.data)
        var low = Double.infinity
        var high = -Double.infinity
        var sawNumber = false
        for i in 0..<rows.count where !column.isNull(rows[i]) {
            let value =
                column.kind == .double
                ? Double(bitPattern: data.u64(rows[i] &* 8))
                : Double(Float(bitPattern: data.u32(rows[i] &* 4)))
            if value.isNaN {
                plan.flags.insert(.hasNaN)
            } else {
                sawNumber = true
                low = value < low ? value : low
                high = value > high ? value : high
            }
        }
        guard sawNumber else { return }
        plan.minimum = low.bitPattern
        plan.maximum = high.bitPattern
        plan.flags.formUnion([.hasBounds, .boundsExact])
    }

    private func planPrefixes(
        _ column: OpenColumn, _ rows: RowSelection, _ plan: inout ColumnPlan
    ) {
        var low = UInt64.max
        var high: UInt64 = 0
        for i in 0..<rows.count where !column.isNull(rows[i]) {
            let prefix = RawValue(wide: column.data, rows[i], column.kind).prefix
            low = min(low, prefix)
            high = max(high, prefix)
        }
        plan.minimum = low
        plan.maximum = high
        plan.flags.formUnion([.hasBounds, .boundsExact])
    }

    private mutating func planText(
        _ index: Int, _ column: OpenColumn, _ rows: RowSelection, _ plan: inout ColumnPlan
    ) {
        var low = UInt64.max
        var high: UInt64 = 0
        var total = 0
        var sameLength = true
        let firstLength = rows.count > 0 ? column.textLength(rows[0]).count : 0
        for i in 0..<rows.count {
            let row = rows[i]
            let (count, isExternal) = column.textLength(row)
            total &+= count
            if count != firstLength { sameLength = false }
            if isExternal { plan.flags.insert(.hasExternal) }
            if column.isNull(row) { continue }
            // Bounds of external values would need their block: an open range instead.
            if isExternal {
                low = 0
                high = .max
                continue
            }
            guard let heap = column.heap else {
                low = 0
                continue
            }
            let prefix = UnsafeRawPointer(heap + column.textOffset(row)).prefix(count)
            low = prefix < low ? prefix : low
            high = prefix > high ? prefix : high
        }
        if column.kind.isText {
            plan.minimum = low
            plan.maximum = high
            plan.flags.formUnion(
                plan.flags.contains(.hasExternal) ? .hasBounds : [.hasBounds, .boundsExact])
        }
        plan.heapBytes = total
        if plan.flags.contains(.hasExternal) {
            plan.encoding = total <= 0xFFFF ? .string16 : .string32
            return
        }
        // Roots of trees, also of collections in mixed values, get their places when the leaf is
        // sealed already: one per row.
        if hasTreeCells(index, rows) {
            plan.encoding = total <= 0xFFFF ? .string16 : .string32
            return
        }
        if let dictionary = TextDictionary.build(column, rows, totalBytes: total) {
            let cost = rows.count + 2 * (dictionary.words.count + 1) + dictionary.bytes
            let plain = sameLength ? total : total + 2 * (rows.count + 1)
            if cost < plain {
                plan.encoding = .stringDictionary
                plan.wordCount = dictionary.words.count
                plan.heapBytes = dictionary.bytes
                dictionaries[index] = dictionary
                return
            }
        }
        if sameLength {
            plan.encoding = .stringFixed
            plan.width = 0
            plan.base = Int64(firstLength)
        } else {
            plan.encoding = total <= 0xFFFF ? .string16 : .string32
        }
    }

    private func hasTreeCells(_ index: Int, _ rows: RowSelection) -> Bool {
        let column = leaf.pointee.columns[index]
        guard column.kind == .collection || column.kind == .mixed, let heap = column.heap else {
            return false
        }
        for i in 0..<rows.count {
            let row = rows[i]
            if column.kind == .mixed {
                let (count, isExternal) = column.textLength(row)
                guard count > 0, !isExternal else { continue }
                let tag = UInt32(UnsafeRawPointer(heap).u8(column.textOffset(row)))
                if tag == ValueType.list.rawValue || tag == ValueType.dictionary.rawValue {
                    return true
                }
                continue
            }
            let cell = UnsafeRawBufferPointer(
                start: heap + column.textOffset(row), count: column.textLength(row).count)
            if CollectionCell.isTree(cell) { return true }
            if infos[index].elementKind == .mixed, NestedCell.hasTrees(cell, infos[index]) {
                return true
            }
        }
        return false
    }

    // MARK: Writing

    /// A block of the transaction with these rows. `planned`: the bytes that they take, if they were planned last.
    mutating func makeBlock(
        _ rows: RowSelection, planned: Int? = nil,
        _ memory: UnsafeMutablePointer<TransactionMemory>
    ) -> (memory: UnsafeMutableRawPointer, pages: Int) {
        let pages = Page.count(forBytes: planned ?? plan(rows))
        let block = memory.pointee.blocks.allocate(pages: pages)
        write(rows, to: block)
        return (block, pages)
    }

    /// Writes the planned rows to `block`, which has room for the planned size and is zero.
    func write(_ rows: RowSelection, to block: UnsafeMutableRawPointer) {
        let columnCount = leaf.pointee.columnCount
        block.put(tag.rawValue, BlockField.tag)
        block.put(UInt32(rows.count), BlockField.count)
        block.put(keyBase, LeafField.keyBase)
        block.put(UInt32(rows.count), LeafField.liveRows)
        block.put(UInt16(columnCount), LeafField.columnCount)
        block.put(UInt8(keyWidth), LeafField.keyWidth)
        let bounds = LeafLayout.directoryOffset + columnCount * LeafLayout.entrySize
        var offset = bounds + columnCount * LeafLayout.boundsSize
        if keyWidth > 0 {
            block.put(UInt32(offset), LeafField.keys)
            let keys = UnsafeRawPointer(leaf.pointee.keys)
            pack(
                keys, rows, base: keyBase.rawValue, width: keyWidth, nulls: nil, to: block + offset)
            offset += LeafLayout.align8(keyWidth * rows.count)
        }
        for index in 0..<columnCount {
            let plan = plans[index]
            let entry = block + (LeafLayout.directoryOffset + index * LeafLayout.entrySize)
            entry.put(plan.encoding.rawValue, ColumnField.encoding)
            entry.put(UInt8(plan.width), ColumnField.width)
            entry.put(plan.flags.rawValue, ColumnField.flags)
            entry.put(plan.base, ColumnField.base)
            let limits = block + (bounds + index * LeafLayout.boundsSize)
            limits.put(plan.minimum, BoundsField.minimum)
            limits.put(plan.maximum, BoundsField.maximum)
            guard plan.encoding != .absent else { continue }
            var data = offset
            let column = leaf.pointee.columns[index]
            let bitmapBytes = LeafLayout.bitmapBytes(rows.count)
            if plan.flags.contains(.hasExternal) {
                let bitmap = block + data
                memset(bitmap, 0, bitmapBytes)
                for i in 0..<rows.count where column.textLength(rows[i]).isExternal {
                    LeafLayout.setBit(bitmap, i)
                }
                data += bitmapBytes
            }
            if plan.flags.contains(.hasNulls) {
                let bitmap = block + data
                memset(bitmap, 0, bitmapBytes)
                for i in 0..<rows.count where column.isNull(rows[i]) {
                    LeafLayout.setBit(bitmap, i)
                }
                data += bitmapBytes
            }
            entry.put(UInt32(data), ColumnField.data)
            let heap = offset + LeafLayout.align8(plan.dataBytes)
            writeData(index, column, plan, rows, to: block + data, heap: block + heap)
            if column.kind.hasHeap {
                entry.put(UInt32(heap), ColumnField.heap)
                entry.put(
                    UInt32(
                        plan.encoding == .stringDictionary
                            ? plan.wordCount : Int(truncatingIfNeeded: plan.base)),
                    ColumnField.lengthOrWords)
            }
            offset = heap + LeafLayout.align8(plan.heapBytes)
        }
        block.put(UInt32(offset), BlockField.bytesUsed)
    }

    private func writeData(
        _ index: Int, _ column: OpenColumn, _ plan: ColumnPlan, _ rows: RowSelection,
        to data: UnsafeMutableRawPointer, heap: UnsafeMutableRawPointer
    ) {
        let source = UnsafeRawPointer(column.data)
        let nulls = plan.flags.contains(.hasNulls) ? column.nulls.map(UnsafeRawPointer.init) : nil
        switch plan.encoding {
        case .absent: break
        case .packed:
            pack(source, rows, base: plan.base, width: plan.width, nulls: nulls, to: data)
        case .timestamp:
            pack(source, rows, base: plan.base, width: plan.width, nulls: nulls, to: data)
            guard plan.flags.contains(.hasNanoseconds), let parts = column.nanoseconds else {
                break
            }
            let target = data + LeafLayout.align8(plan.width * rows.count)
            for i in 0..<rows.count {
                target.put(UnsafeRawPointer(parts).u32(rows[i] &* 4), i &* 4)
            }
        case .fixed:
            if rows.list == nil {
                memcpy(data, source + rows.start * plan.width, rows.count * plan.width)
            } else if plan.width == 8 {
                for i in 0..<rows.count { data.put(source.u64(rows[i] &* 8), i &* 8) }
            } else if plan.width == 4 {
                for i in 0..<rows.count { data.put(source.u32(rows[i] &* 4), i &* 4) }
            } else {
                let width = plan.width
                for i in 0..<rows.count {
                    memcpy(data + i &* width, source + rows[i] &* width, width)
                }
            }
        case .bits:
            memset(data, 0, LeafLayout.bitmapBytes(rows.count))
            for i in 0..<rows.count where source.u8(rows[i]) != 0 { LeafLayout.setBit(data, i) }
        case .stringFixed, .string16, .string32:
            writeText(column, plan, rows, to: data, heap: heap)
        case .stringDictionary:
            dictionaries[index]?.write(rows.count, codes: data, heap: heap)
        }
    }

    private func writeText(
        _ column: OpenColumn, _ plan: ColumnPlan, _ rows: RowSelection,
        to data: UnsafeMutableRawPointer, heap: UnsafeMutableRawPointer
    ) {
        guard plan.heapBytes > 0, let source = column.heap else {
            if plan.encoding == .string16 { memset(data, 0, (rows.count + 1) * 2) }
            if plan.encoding == .string32 { memset(data, 0, (rows.count + 1) * 4) }
            return
        }
        // Rows that were appended one after another stand in the heap one after another.
        let first = column.textOffset(rows[0])
        var isContiguous = rows.list == nil
        if isContiguous {
            let last = rows.count - 1
            isContiguous =
                column.textOffset(rows[last]) + column.textLength(rows[last]).count - first
                == plan.heapBytes && ascends(column, rows)
        }
        if isContiguous { memcpy(heap, source + first, plan.heapBytes) }
        var used = 0
        for i in 0..<rows.count {
            if plan.encoding == .string16 {
                data.put(UInt16(truncatingIfNeeded: used), i &* 2)
            } else if plan.encoding == .string32 {
                data.put(UInt32(truncatingIfNeeded: used), i &* 4)
            } else if isContiguous {
                break
            }
            let count = column.textLength(rows[i]).count
            if !isContiguous { memcpy(heap + used, source + column.textOffset(rows[i]), count) }
            used &+= count
        }
        if plan.encoding == .string16 { data.put(UInt16(plan.heapBytes), rows.count * 2) }
        if plan.encoding == .string32 { data.put(UInt32(plan.heapBytes), rows.count * 4) }
    }

    private func ascends(_ column: OpenColumn, _ rows: RowSelection) -> Bool {
        var expected = column.textOffset(rows[0])
        var matches = true
        for i in 0..<rows.count {
            let count = column.textLength(rows[i]).count
            matches = matches && (column.textOffset(rows[i]) == expected || count == 0)
            expected &+= count
        }
        return matches
    }

    private func pack(
        _ source: UnsafeRawPointer, _ rows: RowSelection, base: Int64, width: Int,
        nulls: UnsafeRawPointer?, to target: UnsafeMutableRawPointer
    ) {
        if rows.list == nil && nulls == nil {
            let start = source + rows.start &* 8
            switch width {
            case 0: break
            case 1:
                for i in 0..<rows.count {
                    target.put(UInt8(truncatingIfNeeded: start.i64(i &* 8) &- base), i)
                }
            case 2:
                for i in 0..<rows.count {
                    target.put(UInt16(truncatingIfNeeded: start.i64(i &* 8) &- base), i &* 2)
                }
            case 4:
                for i in 0..<rows.count {
                    target.put(UInt32(truncatingIfNeeded: start.i64(i &* 8) &- base), i &* 4)
                }
            default:
                for i in 0..<rows.count { target.put(start.i64(i &* 8) &- base, i &* 8) }
            }
            return
        }
        guard width > 0 else { return }
        for i in 0..<rows.count {
            let row = rows[i]
            let isNull = nulls.map { $0.u8(row) != 0 } ?? false
            target.put(isNull ? 0 : source.i64(row &* 8) &- base, width: width, i)
        }
    }
}
