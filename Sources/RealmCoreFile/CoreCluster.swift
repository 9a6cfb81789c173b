// Some objects of a table with the values of some of its columns, as an import reads them: see
// `CoreFile.forEachCluster`.

public final class CoreCluster {
    /// From this size on a value is given back once its object is done.
    private static let largeBytes = 1 << 19

    private enum Contents {
        case cells
        /// Each object has a list or set.
        case collections(Collections)
        /// Mixed values, and dictionaries.
        case values(Values)
        /// Format 9: of one object.
        case value(CoreValue)
    }

    /// A class, as `Values` is: looking at the contents of a column for each object must not copy all of
    /// this.
    private final class Collections {
        let node: Node
        let column: ColumnOfCluster

        init(_ node: Node, _ column: ColumnOfCluster) {
            self.node = node
            self.column = column
        }
    }

    private struct ListColumn {
        let node: Node
        let rules: ElementRules
    }

    private final class Values {
        let column: ColumnOfCluster
        /// Of dictionaries.
        let node: Node?

        init(_ column: ColumnOfCluster) {
            self.column = column
            node = if case .collections(let node) = column.form { node } else { nil }
        }
    }

    /// Of the objects.
    public let keys: [Int64]
    private let reader: ValueReader
    private let columns: [CoreColumn]
    private var contents: [Contents] = []
    /// By column: what reads its long values.
    private var deferred: [DeferredTexts?] = []
    /// Lists and sets by column, of which nothing is counted for each object. Of format 9 none.
    private let lists: [ListColumn?]
    /// What is held besides a mixed value or a collection that was asked for.
    private let held: Int
    /// Where values lie that are to be given back.
    private var large: [(offset: Int, count: Int)] = []

    init(
        _ reader: ValueReader, _ cluster: Cluster, _ keys: [Int64], _ columns: [CoreColumn],
        _ texts: [EnumeratedTexts?]
    ) throws(CoreFileError) {
        self.keys = keys
        self.reader = reader
        self.columns = columns
        contents.reserveCapacity(columns.count)
        deferred.reserveCapacity(columns.count)
        var lists: [ListColumn?] = Array(repeating: nil, count: columns.count)
        let cells = columns.count * keys.count
        try reader.store.hold(
            cells * MemoryLayout<CoreCell>.stride + keys.count * 8, cluster.node)
        reader.clusterCells.reserve(cells)
        for (index, (column, texts)) in zip(columns, texts).enumerated() {
            do throws(CoreFileError) {
                let content = try ColumnOfCluster(
                    reader, cluster, column, texts, count: keys.count)
                switch content.form {
                case .leaf(let leaf) where column.type != .mixed:
                    try leaf.fill(
                        reader.clusterCells.cells + index * keys.count, reader.clusterCells,
                        defers: true)
                    contents.append(.cells)
                    deferred.append(leaf.deferred())
                    continue
                case .collections(let node)
                where column.type != .mixed && column.collection != .dictionary:
                    contents.append(.collections(Collections(node, content)))
                    lists[index] = ListColumn(node: node, rules: content.elementRules)
                default: contents.append(.values(Values(content)))
                }
                deferred.append(nil)
            } catch {
                throw error.within("property '\(column.name)'")
            }
        }
        self.lists = lists
        held = reader.store.held
    }

    /// Of format 9.
    init(_ reader: ValueReader, _ key: Int64, _ columns: [CoreColumn], _ values: [CoreValue]) {
        keys = [key]
        self.reader = reader
        self.columns = columns
        contents = values.map { .value($0) }
        lists = []
        held = reader.store.held
    }

    private func place(_ row: Int, _ column: Int) -> String {
        "object \(keys[row]), property '\(columns[column].name)'"
    }

    /// The value of a column of plain values, by its place among those that were asked for.
    @inline(__always)
    public func cell(_ column: Int, _ row: Int) throws(CoreFileError) -> CoreCell {
        if case .cells = contents[column] {
            let cell = reader.clusterCells.cells[column * keys.count + row]
            if cell.kind != .deferred { return cell }
        }
        return try cellElsewhere(column, row)
    }

    /// The values of such a column, one for each object, until the next cluster is read; nil where they have
    /// no cells. What is `deferred` is to be asked of `cell`.
    public func cells(_ column: Int) -> UnsafePointer<CoreCell>? {
        guard case .cells = contents[column] else { return nil }
        return UnsafePointer(reader.clusterCells.cells + column * keys.count)
    }

    @inline(never)
    private func cellElsewhere(_ column: Int, _ row: Int) throws(CoreFileError) -> CoreCell {
        do throws(CoreFileError) {
            if case .value(let value) = contents[column] {
                return reader.keeper.cell(value) ?? CoreCell(.null)
            }
            guard let texts = deferred[column] else {
                throw CoreFileError(.misuse, "a collection was asked for as a value")
            }
            let cell = try texts.cell(row)
            if cell.kind != .null, cell.second >= UInt64(Self.largeBytes) {
                let start = UInt(bitPattern: reader.store.bytes.start)
                large.append((Int(UInt(cell.first) &- start), Int(cell.second)))
            }
            return cell
        } catch {
            throw error.within(place(row, column))
        }
    }

    /// Tells that the cells of an object are not looked at any more.
    @inline(__always)
    public func finishObject() {
        if !large.isEmpty { giveBack() }
    }

    private func giveBack() {
        for value in large where value.offset >= 0 && value.offset < reader.store.bytes.size {
            reader.store.bytes.giveBack(value.offset, value.count)
        }
        large = []
    }

    /// Whether there is nothing in a collection, or a mixed value is known to be null.
    public func isEmpty(_ column: Int, _ row: Int) throws(CoreFileError) -> Bool {
        switch contents[column] {
        case .cells: return try cell(column, row).kind == .null
        case .collections(let content): return try content.node.ref(row) == 0
        case .values(let content): return try content.node?.ref(row) == 0
        case .value(.list(let values)), .value(.set(let values)): return values.isEmpty
        case .value(let value): return value == .null
        }
    }

    /// Hands out the elements of a list or set, which are no mixed values, in pieces, until `body` says
    /// false; each collection once. It is told whether the piece is all there is. Cells are valid until the
    /// next piece. A list that is a small one of integers or links is offered to `numbers` first, as the integers
    /// themselves or the keys of objects, below 0 where there is none; where it says true, that was all.
    public func forEachPart(
        _ column: Int, _ row: Int,
        numbers: (UnsafeBufferPointer<Int64>) throws(CoreFileError) -> Bool = { _ in false },
        _ body: (UnsafeBufferPointer<CoreCell>, _ isWhole: Bool) throws(CoreFileError) -> Bool
    ) throws(CoreFileError) {
        if column < lists.count, let list = lists[column] {
            do throws(CoreFileError) {
                return try reader.forEachPart(
                    try list.node.ref(row), list.rules, numbers: numbers, body)
            } catch {
                throw error.within(place(row, column))
            }
        }
        try forEachValue(column, row, body)
    }

    private func forEachValue(
        _ column: Int, _ row: Int,
        _ body: (UnsafeBufferPointer<CoreCell>, _ isWhole: Bool) throws(CoreFileError) -> Bool
    ) throws(CoreFileError) {
        switch contents[column] {
        case .value(.list(let values)), .value(.set(let values)):
            let cells = values.compactMap { reader.keeper.cell($0) }
            var failure: CoreFileError?
            cells.withUnsafeBufferPointer { cells in
                do throws(CoreFileError) { _ = try body(cells, true) } catch { failure = error }
            }
            if let failure { throw failure }
        default:
            throw CoreFileError(.misuse, "no elements without mixed values: " + place(row, column))
        }
    }

    /// A mixed value or a collection as a whole; each once.
    public func value(_ column: Int, _ row: Int) throws(CoreFileError) -> CoreValue {
        switch contents[column] {
        case .collections(let content): return try value(content.column, column, row)
        case .values(let content): return try value(content.column, column, row)
        case .value(let value): return value
        case .cells: throw CoreFileError(.misuse, "a plain value: " + place(row, column))
        }
    }

    private func value(
        _ content: ColumnOfCluster, _ column: Int, _ row: Int
    ) throws(CoreFileError) -> CoreValue {
        // What was asked for before is looked at no more.
        reader.store.letGo(to: held)
        do throws(CoreFileError) {
            return try content.value(row)
        } catch {
            throw error.within(place(row, column))
        }
    }
}
