// The objects of a table in format 9: rows, whose columns are B+trees of their own.

extension CoreFile {
    func readRows(
        _ table: CoreTable, _ columns: [CoreColumn],
        _ body: (Int64, [CoreValue]) throws(CoreFileError) -> Void
    ) throws(CoreFileError) {
        // One column tells how many rows there are.
        guard let first = table.columns.first else { return }
        let isCount = columns.isEmpty
        let columns = isCount ? [first] : columns
        let roots = try store.references(table.root, "columns")
        var streams: [OldColumn] = []
        for column in columns {
            do throws(CoreFileError) {
                streams.append(try stream(column, roots))
            } catch {
                throw error.within("property '\(column.name)'")
            }
        }
        var values = [CoreValue](repeating: .null, count: streams.count)
        var row: Int64 = 0
        let held = store.held
        while true {
            store.letGo(to: held)
            var ended = 0
            for (index, stream) in streams.enumerated() {
                do throws(CoreFileError) {
                    if let value = try stream.next() { values[index] = value } else { ended += 1 }
                } catch {
                    throw error.within("row \(row), property '\(columns[index].name)'")
                }
            }
            if ended == streams.count { return }
            guard ended == 0 else {
                throw roots.fail("columns of unequal length: some end before row \(row)")
            }
            try body(row, isCount ? [] : values)
            row += 1
            if store.bytes.isMuch {
                store.bytes.release()
                for stream in streams { try stream.reload() }
                try store.reload(roots)
            }
        }
    }

    private func stream(_ column: CoreColumn, _ roots: Node) throws(CoreFileError) -> OldColumn {
        guard column.slot < roots.count else {
            throw roots.fail("column \(column.slot) of \(roots.count) is named")
        }
        let ref = try roots.ref(column.slot)
        if column.collection == .list {
            return try OldCollections(reader, ref, column)
        }
        return try OldValues.make(
            reader, ref,
            LeafRules(
                type: column.type, isNullable: column.isNullable, isOld: true,
                target: column.target, texts: try enumeratedTexts(column)))
    }
}

/// The values of a column, one after the other.
private class OldColumn {
    func next() throws(CoreFileError) -> CoreValue? { nil }
    /// Reads again what the next values need.
    func reload() throws(CoreFileError) {}
}

/// A column that is one B+tree.
private final class OldValues: OldColumn {
    private let reader: ValueReader
    private let rules: LeafRules
    private var cursor: TreeCursor
    private var leaf: Leaf?
    private var index = 0

    private init(_ reader: ValueReader, _ ref: UInt64, _ rules: LeafRules) throws(CoreFileError) {
        self.reader = reader
        self.rules = rules
        cursor = try TreeCursor(reader.store, ref, "column")
    }

    static func make(
        _ reader: ValueReader, _ ref: UInt64, _ rules: LeafRules
    ) throws(CoreFileError) -> OldColumn {
        rules.type == .timestamp
            ? try OldTimestamps(reader, ref) : try OldValues(reader, ref, rules)
    }

    static func integers(
        _ reader: ValueReader, _ ref: UInt64, isNullable: Bool
    ) throws(CoreFileError) -> OldColumn {
        try OldValues(reader, ref, LeafRules(type: .int, isNullable: isNullable, isOld: true))
    }

    override func next() throws(CoreFileError) -> CoreValue? {
        while true {
            if let leaf, index < leaf.count {
                index += 1
                return try leaf.value(index - 1)
            }
            guard let node = try cursor.next() else { return nil }
            leaf = try Leaf(reader, node, rules)
            index = 0
        }
    }

    override func reload() throws(CoreFileError) {
        for node in leaf?.nodes ?? [] { try reader.store.reload(node) }
        try cursor.reload()
    }
}

/// A column of timestamps: a tree of seconds and one of nanoseconds.
private final class OldTimestamps: OldColumn {
    private let reader: ValueReader
    private let node: Node
    private let seconds: OldColumn
    private let nanoseconds: OldColumn

    init(_ reader: ValueReader, _ ref: UInt64) throws(CoreFileError) {
        self.reader = reader
        node = try reader.store.references(ref, "timestamps", atLeast: 2)
        seconds = try OldValues.integers(reader, try node.ref(0), isNullable: true)
        nanoseconds = try OldValues.integers(reader, try node.ref(1), isNullable: false)
    }

    override func reload() throws(CoreFileError) {
        try seconds.reload()
        try nanoseconds.reload()
    }

    override func next() throws(CoreFileError) -> CoreValue? {
        switch (try seconds.next(), try nanoseconds.next()) {
        case (nil, nil): return nil
        case (.null, .int): return .null
        case (.int(let second), .int(let nanosecond)):
            return try reader.timestamp(second, nanosecond, node)
        default: throw node.fail("unequal numbers of seconds and nanoseconds")
        }
    }
}

/// A column of lists: of links, whose tree holds numbers of rows, or of primitives, whose tables have one
/// column.
private final class OldCollections: OldColumn {
    private let reader: ValueReader
    private let column: CoreColumn
    private var cursor: TreeCursor
    private var leaf: Node?
    private var index = 0

    init(_ reader: ValueReader, _ ref: UInt64, _ column: CoreColumn) throws(CoreFileError) {
        self.reader = reader
        self.column = column
        cursor = try TreeCursor(reader.store, ref, "column of lists")
    }

    override func next() throws(CoreFileError) -> CoreValue? {
        while true {
            if let leaf, index < leaf.count {
                index += 1
                return .list(try list(try leaf.ref(index - 1)))
            }
            guard let node = try cursor.next() else { return nil }
            guard node.kind == .integers, node.hasRefs || node.count == 0 || node.width == 0 else {
                throw node.fail("not a leaf of lists")
            }
            try reader.store.spend(node.count, node)
            leaf = node
            index = 0
        }
    }

    override func reload() throws(CoreFileError) {
        if let leaf { try reader.store.reload(leaf) }
        try cursor.reload()
    }

    private func list(_ ref: UInt64) throws(CoreFileError) -> [CoreValue] {
        if ref == 0 { return [] }
        let rules = LeafRules(
            type: column.type, isNullable: column.isNullable, isOld: true, isInCollection: true,
            target: column.target)
        guard column.isSubtable else { return try reader.elements(ref, rules) }
        let columns = try reader.store.references(ref, "subtable", atLeast: 1)
        let stream = try OldValues.make(reader, try columns.ref(0), rules)
        var values: [CoreValue] = []
        while let value = try stream.next() {
            guard values.count < ValueReader.elementsMax else {
                throw columns.fail("a list of more than \(values.count) elements")
            }
            // Room for it may be twice what is needed.
            try reader.store.hold(2 * MemoryLayout<CoreValue>.stride, columns)
            values.append(value)
        }
        return values
    }
}
