// The value that objects have in a property that is younger than their leaf: the default that was
// declared when the property was added. Nothing is written to the leaves then. Each of them reads a
// column of this value, which stands in memory of the table in a form that leaves have too, so
// that queries run their kernels over it; opening a leaf copies it to the rows.
//
// Memory: entry, bounds, data for the most rows a leaf has. Texts are a dictionary of one word, whose
// offsets stand behind the codes of the rows: an entry for each multiple of eight rows.

struct InitialColumn {
    /// Longer values, collections and links are written to the objects.
    static let bytesMax = 512

    private let memory: UnsafeMutableRawPointer
    private let entries: Int
    /// How far the entries for eight rows more are apart; 0: there is one.
    private let stride: Int

    private static let boundsOffset = 0
    private static let entryOffset = LeafLayout.boundsSize

    /// What is wrong with bytes that a file holds for the property; nil: nothing.
    static func problem(_ bytes: UnsafeRawBufferPointer, _ property: PropertySchema) -> String? {
        if let problem = MixedCell.problem(bytes) { return "has a wrong default: \(problem)" }
        let value = MixedCell.decode(bytes)
        return fits(value, property) ? nil : "has a default of another type"
    }

    /// Whether a value that is not null can be the initial value of the property.
    static func fits(_ value: RawValue, _ property: PropertySchema) -> Bool {
        guard property.collection == .none, let type = ValueType(rawValue: value.type) else {
            return false
        }
        if property.type == .mixed { return type != .link && type != .list && type != .dictionary }
        return type != .link && property.type.valueType == type
    }

    /// The column of this value, which bytes of a mixed value give. Never null.
    static func make(_ bytes: [UInt8], _ info: ColumnInfo) -> UnsafeMutablePointer<InitialColumn> {
        let made = UnsafeMutablePointer<InitialColumn>.allocate(capacity: 1)
        let column = bytes.withUnsafeBytes { InitialColumn($0, info) }
        made.initialize(to: column)
        return made
    }

    func deallocate() { memory.deallocate() }

    /// The column of a leaf that has none of its own.
    func view(_ leaf: LeafView) -> ColumnView {
        let rows = leaf.rows
        return ColumnView(
            leaf: UnsafeRawPointer(memory), rows: rows,
            entry: UnsafeRawPointer(memory + entries + (rows + 7) / 8 * stride),
            bounds: UnsafeRawPointer(memory + Self.boundsOffset))
    }

    private init(_ bytes: UnsafeRawBufferPointer, _ info: ColumnInfo) {
        let value = MixedCell.decode(bytes)
        let rows = LeafLayout.rowsMax
        let hasHeap = info.kind.hasHeap
        // A word of a mixed column is the mixed value.
        let word = info.kind == .mixed ? bytes : hasHeap ? value.bytes : bytes
        let entryCount = hasHeap ? rows / 8 + 1 : 1
        let start = Self.entryOffset + entryCount * LeafLayout.entrySize
        let size = start + (hasHeap ? rows + 16 + word.count : rows * 16)
        memory = .allocate(byteCount: size, alignment: 16)
        memset(memory, 0, size)
        entries = Self.entryOffset
        stride = hasHeap ? LeafLayout.entrySize : 0
        if hasHeap {
            writeText(word, info.kind, start)
        } else {
            writeValue(value, info.kind, start)
        }
    }

    private func setBounds(_ low: UInt64) {
        memory.put(low, Self.boundsOffset + BoundsField.minimum)
        memory.put(low, Self.boundsOffset + BoundsField.maximum)
    }

    private func writeText(_ word: UnsafeRawBufferPointer, _ kind: ColumnKind, _ start: Int) {
        let rows = LeafLayout.rowsMax
        let offsets = start + rows
        memory.put(UInt16(word.count), offsets + 2)
        if let source = word.baseAddress, word.count > 0 {
            memcpy(memory + offsets + 8, source, word.count)
        }
        var flags: ColumnFlags = []
        if kind.isText {
            flags = [.hasBounds, .boundsExact]
            setBounds(word.baseAddress.map { $0.prefix(word.count) } ?? 0)
        }
        for index in 0...rows / 8 {
            let entry = memory + entries + index * stride
            entry.put(ColumnEncoding.stringDictionary.rawValue, ColumnField.encoding)
            entry.put(flags.rawValue, ColumnField.flags)
            entry.put(UInt32(offsets - index * 8), ColumnField.data)
            entry.put(UInt32(offsets + 8), ColumnField.heap)
            entry.put(1 as UInt32, ColumnField.lengthOrWords)
        }
    }

    private func writeValue(_ value: RawValue, _ kind: ColumnKind, _ start: Int) {
        let entry = memory + entries
        let data = memory + start
        let rows = LeafLayout.rowsMax
        entry.put(UInt32(start), ColumnField.data)
        var flags: ColumnFlags = [.hasBounds, .boundsExact]
        var encoding = ColumnEncoding.fixed
        switch kind {
        case .int, .link:
            encoding = .packed
            entry.put(value.intValue, ColumnField.base)
            setBounds(value.word0)
        case .timestamp:
            encoding = .timestamp
            entry.put(value.seconds, ColumnField.base)
            setBounds(value.word0)
            if value.nanoseconds != 0 {
                flags.insert(.hasNanoseconds)
                for row in 0..<rows { data.put(UInt32(bitPattern: value.nanoseconds), row * 4) }
            }
        case .bool:
            encoding = .bits
            memset(data, value.boolValue ? 0xFF : 0, rows / 8)
            setBounds(value.boolValue ? 1 : 0)
        case .double, .float:
            let number = kind == .double ? value.doubleValue : Double(value.floatValue)
            if number.isNaN { flags = .hasNaN } else { setBounds(number.bitPattern) }
            for row in 0..<rows {
                if kind == .double {
                    data.put(value.word0, row * 8)
                } else {
                    data.put(UInt32(truncatingIfNeeded: value.word0), row * 4)
                }
            }
        default:
            if kind == .decimal { flags = [] } else { setBounds(value.prefix) }
            for row in 0..<rows { data.put(wide: value, row, kind) }
        }
        if encoding == .fixed { entry.put(UInt8(kind.openWidth), ColumnField.width) }
        entry.put(encoding.rawValue, ColumnField.encoding)
        entry.put(flags.rawValue, ColumnField.flags)
    }
}

extension PropertyStorage {
    /// The bytes of an initial value that is not null.
    static func bytes(of value: RawValue) -> [UInt8] {
        let count = MixedCell.count(value)
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, used in
            if let start = buffer.baseAddress {
                MixedCell.write(value, to: UnsafeMutableRawPointer(start))
            }
            used = count
        }
    }
}
