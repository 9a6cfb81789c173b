// A leaf that a write transaction is changing: rows column by column in growable memory, at full
// width. Sealing encodes it into a block (`LeafEncoder`); opening a sealed leaf decodes it
// (`LeafDecoder`).
//
// Rows stand in order of arrival. `order` lists them by key once a row arrives out of order; until
// then row order is key order. Deleted rows stay, marked dead, until the leaf is sealed.
//
// Guarded by the thread that owns the write transaction.

struct OpenColumn {
    var kind: ColumnKind
    /// `kind.openWidth` bytes per row. Strings: offset (4 bytes) and length (4, the top bit marks
    /// the 40-byte record of a value in blocks of its own).
    var data: UnsafeMutableRawPointer
    /// Timestamps: nanoseconds, Int32 per row.
    var nanoseconds: UnsafeMutableRawPointer?
    /// One byte per row, 1 = null; only of nullable columns.
    var nulls: UnsafeMutableRawPointer?
    var heap: UnsafeMutableRawPointer?
    var heapUsed: Int
    var heapCapacity: Int
    /// Rows that `data` has room for; those that are not used are zeros.
    let rowCapacity: Int

    static let externalBit: UInt32 = 1 << 31

    /// Gives rows their initial state: the default of a required property, null where null is allowed.
    @inline(__always)
    func clear(_ first: Int, _ count: Int) {
        let width = kind.openWidth
        memset(data + first &* width, 0, count &* width)
        if kind == .decimal { clearDecimals(first, count) }
        if let nulls { memset(nulls + first, 1, count) }
        if let nanoseconds { memset(nanoseconds + first &* 4, 0, count &* 4) }
    }

    /// Zero bits are a zero with the least exponent; the default is 0 itself.
    @inline(never)
    private func clearDecimals(_ first: Int, _ count: Int) {
        for row in first..<(first + count) { data.put(Decimal128.zero.high, row * 16 + 8) }
    }

    /// Moves `count` rows; what was there stays until it is cleared.
    @inline(__always)
    func move(from first: Int, to target: Int, _ count: Int) {
        if count == 0 { return }
        let width = kind.openWidth
        memmove(data + target &* width, data + first &* width, count &* width)
        if let nulls { memmove(nulls + target, nulls + first, count) }
        if let nanoseconds {
            memmove(nanoseconds + target &* 4, nanoseconds + first &* 4, count &* 4)
        }
    }

    @inline(__always) func textOffset(_ row: Int) -> Int {
        Int(UnsafeRawPointer(data).u32(row &* 8))
    }
    /// Length in the heap, and whether it is an external record.
    @inline(__always) func textLength(_ row: Int) -> (count: Int, isExternal: Bool) {
        let word = UnsafeRawPointer(data).u32(row &* 8 &+ 4)
        return (Int(word & ~Self.externalBit), word & Self.externalBit != 0)
    }
    @inline(__always) func isNull(_ row: Int) -> Bool {
        guard let nulls else { return false }
        return UnsafeRawPointer(nulls).u8(row) != 0
    }
    @inline(__always) func int(_ row: Int) -> Int64 { UnsafeRawPointer(data).i64(row &* 8) }
    @inline(__always) func objectKey(_ row: Int) -> ObjectKey {
        UnsafeRawPointer(data).objectKey(row &* 8)
    }

    /// Appends bytes to the heap and points the row at them. `start` may lie in this very heap.
    @inline(__always)
    mutating func setText(
        _ row: Int, _ start: UnsafeRawPointer, _ count: Int, isExternal: Bool = false
    ) {
        if heapCapacity &- heapUsed < count {
            growHeap(count, thenAppend: start)
        } else if count > 0 {
            memcpy(heap.unsafelyUnwrapped + heapUsed, start, count)
        }
        data.put(UInt32(truncatingIfNeeded: heapUsed), row &* 8)
        data.put(
            UInt32(truncatingIfNeeded: count) | (isExternal ? Self.externalBit : 0),
            row &* 8 &+ 4)
        heapUsed &+= count
    }

    /// Puts bytes from outside the heap in the place of the row's text: over it where they fit,
    /// behind it where it ends the heap.
    @inline(__always)
    mutating func replaceText(_ row: Int, _ start: UnsafeRawPointer, _ count: Int) {
        let offset = textOffset(row)
        let old = textLength(row).count
        let isLast = offset &+ old == heapUsed && old > 0
        guard count <= old || (isLast && heapCapacity &- offset >= count) else {
            return setText(row, start, count)
        }
        if count > 0, let heap { memcpy(heap + offset, start, count) }
        data.put(UInt32(truncatingIfNeeded: count), row &* 8 &+ 4)
        if isLast { heapUsed = offset &+ count }
    }

    /// Makes room by dropping text that no row has any more, where that is half of the heap: a
    /// value that is set again and again takes no more room than it needs.
    @inline(never)
    private mutating func growHeap(_ count: Int, thenAppend start: UnsafeRawPointer) {
        var live = 0
        for row in 0..<rowCapacity { live += textLength(row).count }
        let isSparse = live < heapUsed / 2
        let kept = isSparse ? live : heapUsed
        // Leaves of few rows are those of small collections, of which there may be thousands.
        let least = rowCapacity <= OpenLeaf.smallRowsMax ? 256 : 16 * 1024
        let capacity = max(least, (kept + count) * 2)
        let larger = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 16)
        if let heap {
            if isSparse {
                moveTexts(from: heap, to: larger)
            } else {
                memcpy(larger, heap, heapUsed)
            }
        }
        memcpy(larger + kept, start, count)
        heap?.deallocate()
        heap = larger
        heapUsed = kept
        heapCapacity = capacity
    }

    private func moveTexts(from heap: UnsafeRawPointer, to target: UnsafeMutableRawPointer) {
        var used = 0
        for row in 0..<rowCapacity {
            let count = textLength(row).count
            if count == 0 { continue }
            memcpy(target + used, heap + textOffset(row), count)
            data.put(UInt32(truncatingIfNeeded: used), row &* 8)
            used += count
        }
    }
}

struct OpenLeaf {
    /// Rows that the leaf of a new collection has room for, and up to which one counts as small.
    static let smallRows = 16
    static let smallRowsMax = 64

    let capacity: Int
    /// Rows, dead ones included.
    var rows = 0
    var deadRows = 0
    /// Rows whose keys ascend from the start; equal to `rows` while `order` is nil.
    let columnCount: Int
    let keys: UnsafeMutablePointer<ObjectKey>
    let columns: UnsafeMutablePointer<OpenColumn>
    /// One byte per row, 1 = dead.
    let dead: UnsafeMutableRawPointer
    /// Row numbers by ascending key, when rows did not arrive in that order.
    var order: UnsafeMutablePointer<UInt16>?
    /// The first key its parent files it under; finds the parent again.
    var lowKey: ObjectKey
    /// The live rows its parents count for it.
    var countedRows = 0
    var reference = BlockReference.none
    /// Values in blocks of their own that this leaf holds exist (set once, cheap to test).
    var hasExternals = false

    private let memory: UnsafeMutableRawPointer

    static func make(
        _ infos: UnsafePointer<ColumnInfo>, count: Int, capacity: Int, lowKey: ObjectKey
    ) -> UnsafeMutablePointer<OpenLeaf> {
        let leaf = UnsafeMutablePointer<OpenLeaf>.allocate(capacity: 1)
        leaf.initialize(
            to: OpenLeaf(infos, count: count, capacity: capacity, lowKey: lowKey))
        return leaf
    }

    private init(
        _ infos: UnsafePointer<ColumnInfo>, count: Int, capacity: Int, lowKey: ObjectKey
    ) {
        self.capacity = capacity
        self.columnCount = count
        self.lowKey = lowKey
        var size = capacity * 8 + LeafLayout.align8(capacity)
        for index in 0..<count {
            size += LeafLayout.align8(capacity * infos[index].kind.openWidth)
            if infos[index].isNullable { size += LeafLayout.align8(capacity) }
            if infos[index].kind == .timestamp { size += LeafLayout.align8(capacity * 4) }
        }
        memory = .allocate(byteCount: size, alignment: 16)
        var next = memory
        func take(_ bytes: Int) -> UnsafeMutableRawPointer {
            defer { next += LeafLayout.align8(bytes) }
            return next
        }
        keys = take(capacity * 8).bindMemory(to: ObjectKey.self, capacity: capacity)
        dead = take(capacity)
        columns = .allocate(capacity: max(count, 1))
        for index in 0..<count {
            let kind = infos[index].kind
            let data = take(capacity * kind.openWidth)
            let nanoseconds = kind == .timestamp ? take(capacity * 4) : nil
            let nulls = infos[index].isNullable ? take(capacity) : nil
            (columns + index).initialize(
                to: OpenColumn(
                    kind: kind, data: data, nanoseconds: nanoseconds, nulls: nulls, heap: nil,
                    heapUsed: 0, heapCapacity: 0, rowCapacity: capacity))
        }
        clear(capacity)
    }

    /// Gives the first `count` rows their initial state.
    private func clear(_ count: Int) {
        memset(dead, 0, count)
        for index in 0..<columnCount { columns[index].clear(0, count) }
    }

    /// Empties the leaf for reuse.
    mutating func reset(lowKey: ObjectKey) {
        clear(rows)
        for index in 0..<columnCount { columns[index].heapUsed = 0 }
        rows = 0
        deadRows = 0
        countedRows = 0
        hasExternals = false
        order?.deallocate()
        order = nil
        self.lowKey = lowKey
    }

    /// Drops the first `count` rows; the leaf must be in row order and without dead rows among
    /// them. The remaining rows move to the front.
    mutating func dropFirst(_ count: Int, lowKey: ObjectKey) {
        invariant(order == nil)
        let left = rows - count
        memmove(keys, keys + count, left * 8)
        memmove(dead, dead + count, left)
        memset(dead + left, 0, count)
        removeRows(at: 0, count: count)
        for index in 0..<columnCount where columns[index].kind.hasHeap {
            compactHeap(index, rows: left)
        }
        self.lowKey = lowKey
    }

    /// Moves the text of the first `rows` rows to the start of the heap.
    func compactHeap(_ index: Int, rows: Int) {
        guard let heap = columns[index].heap else { return }
        var end = 0
        var ascends = true
        for row in 0..<rows {
            let (count, _) = columns[index].textLength(row)
            if count == 0 { continue }
            ascends = ascends && columns[index].textOffset(row) >= end
            end = columns[index].textOffset(row) + count
        }
        // Out of order, moving down would overwrite text that is still to be moved.
        let target =
            ascends
            ? heap
            : UnsafeMutableRawPointer.allocate(
                byteCount: columns[index].heapCapacity, alignment: 16)
        var used = 0
        for row in 0..<rows {
            let count = columns[index].textLength(row).count
            memmove(target + used, heap + columns[index].textOffset(row), count)
            columns[index].data.put(UInt32(used), row * 8)
            used += count
        }
        columns[index].heapUsed = used
        if !ascends {
            heap.deallocate()
            columns[index].heap = target
        }
    }

    /// Frees a leaf that `make` made.
    static func end(_ leaf: UnsafeMutablePointer<OpenLeaf>) {
        for index in 0..<leaf.pointee.columnCount {
            leaf.pointee.columns[index].heap?.deallocate()
        }
        leaf.pointee.columns.deallocate()
        leaf.pointee.order?.deallocate()
        leaf.pointee.memory.deallocate()
        leaf.deallocate()
    }

    @inline(__always) var liveRows: Int { rows &- deadRows }
    @inline(__always) var isFull: Bool { rows == capacity }
    @inline(__always) func isDead(_ row: Int) -> Bool { UnsafeRawPointer(dead).u8(row) != 0 }

    /// The row at a position in key order.
    @inline(__always) func row(at position: Int) -> Int {
        order.map { Int($0[position]) } ?? position
    }

    /// The position in key order of the first row whose key is not below `key`.
    @inline(__always) private func position(of key: ObjectKey) -> Int {
        (0..<rows).partitionPoint { keys[row(at: $0)] < key }
    }

    /// The row with this key, dead or alive.
    @inline(__always) func row(of key: ObjectKey) -> Int? {
        guard rows > 0 else { return nil }
        if order == nil {
            // Keys are often dense: try the place where the row would be.
            let guess = keys[0].distance(to: key)
            if guess >= 0 && guess < rows && keys[guess] == key { return guess }
        }
        let position = position(of: key)
        guard position < rows else { return nil }
        let row = row(at: position)
        return keys[row] == key ? row : nil
    }

    /// Adds a row of defaults. The key must not be there and the leaf not full.
    @inline(__always)
    mutating func append(_ key: ObjectKey) -> Int {
        let row = rows
        if row > 0 && (order != nil || key < keys[row &- 1]) { insertIntoOrder(key, row) }
        keys[row] = key
        rows = row &+ 1
        return row
    }

    /// A dead row gets alive again with defaults: its key is created anew.
    mutating func revive(_ row: Int) {
        dead.put(0 as UInt8, row)
        deadRows -= 1
        for index in 0..<columnCount { columns[index].clear(row, 1) }
    }

    @inline(never)
    private mutating func insertIntoOrder(_ key: ObjectKey, _ row: Int) {
        if order == nil {
            let fresh = UnsafeMutablePointer<UInt16>.allocate(capacity: capacity)
            for index in 0..<row { fresh[index] = UInt16(index) }
            order = fresh
        }
        let order = order.unsafelyUnwrapped
        let position = position(of: key)
        memmove(order + position + 1, order + position, (row - position) * 2)
        order[position] = UInt16(row)
    }

    /// Row numbers of the live rows by ascending key, or nil when that is simply 0 ..< rows.
    func liveOrder() -> [UInt16]? {
        if order == nil && deadRows == 0 { return nil }
        var result: [UInt16] = []
        result.reserveCapacity(liveRows)
        for position in 0..<rows {
            let row = row(at: position)
            if !isDead(row) { result.append(UInt16(row)) }
        }
        return result
    }
}
