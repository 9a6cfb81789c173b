// Leaves of strings and binaries, in the four forms that they have: short (elements of a fixed width),
// medium (all bytes in one blob, with their ends), long (a blob for each), and enumerated (the numbers of
// texts that the column has once).

/// What differs between the columns whose texts are read.
struct TextRules {
    /// Strings end with a zero byte, binaries don't.
    var isBinary = false
    /// Format 9.
    var isOld = false
    var isNullable = true
    /// Of an enumerated column.
    var texts: EnumeratedTexts?

    /// Names of tables and properties.
    static let names = TextRules(isOld: true, isNullable: false)

    var ending: TextEnding {
        TextEnding(isBinary: isBinary, mayBeMissing: isOld && !isNullable)
    }
}

/// What stands behind the bytes of a value; what of `TextRules` no references are counted for.
struct TextEnding {
    /// Strings end with a zero byte, binaries don't.
    let isBinary: Bool
    /// Empty strings may have none.
    let mayBeMissing: Bool

    /// The bytes without it.
    @inline(__always)
    func trimmed(
        _ bytes: UnsafeRawBufferPointer, _ node: Node
    ) throws(CoreFileError) -> UnsafeRawBufferPointer {
        if isBinary { return bytes }
        guard let last = bytes.last else {
            if mayBeMissing { return bytes }
            throw node.fail("a text without its end")
        }
        guard last == 0 else { throw node.fail("a text that does not end with a zero byte") }
        return UnsafeRawBufferPointer(rebasing: bytes.dropLast())
    }
}

/// Long texts or binaries, each a node of its own, that are read when they are asked for. A class, so that
/// nothing of a leaf is copied for each of them.
final class DeferredTexts {
    private let node: Node
    private let ending: TextEnding
    private let store: NodeStore
    private let keeper: TextKeeper

    init(_ node: Node, _ ending: TextEnding, _ store: NodeStore, _ keeper: TextKeeper) {
        self.node = node
        self.ending = ending
        self.store = store
        self.keeper = keeper
    }

    /// Element `index`; each once.
    func cell(_ index: Int) throws(CoreFileError) -> CoreCell {
        let ref = try node.ref(index)
        if ref == 0 { return CoreCell(.null) }
        let blob = try store.blob(ref, "text")
        let bytes = try ending.trimmed(try blob.bytes(0, blob.count), blob)
        return TextLeaf.cell(bytes, blob, ending.isBinary, store, keeper)
    }
}

/// The texts that an enumerated column has once, as values and as cells, which are valid as long as this.
final class EnumeratedTexts {
    private let values: [CoreValue]
    private let cells: [CoreCell]
    private let keeper = TextKeeper()

    init(_ values: [CoreValue]) {
        self.values = values
        let keeper = keeper
        cells = values.map { keeper.cell($0) ?? CoreCell(.null) }
    }

    /// The place of the text that element `index` names.
    private func place(_ node: Node, _ index: Int) throws(CoreFileError) -> Int {
        let number = try node.int(index)
        guard number >= 0, number < values.count else {
            throw node.fail("text \(number) of \(values.count) is named")
        }
        return Int(number)
    }

    func value(_ node: Node, _ index: Int) throws(CoreFileError) -> CoreValue {
        values[try place(node, index)]
    }

    func cell(
        _ node: Node, _ index: Int, _ store: NodeStore
    ) throws(CoreFileError) -> CoreCell {
        let cell = cells[try place(node, index)]
        if cell.kind != .null { try store.spendNamed(Int(cell.second), node) }
        return cell
    }
}

struct TextLeaf {
    private enum Form {
        case short(Node)
        case medium(ends: Node, blob: Node, nulls: Node?)
        case long(Node)
        case enumerated(Node)
    }

    let count: Int
    private let form: Form
    private let rules: TextRules

    /// What is looked at when values are asked for, but for long ones.
    var nodes: [Node] {
        switch form {
        case .short(let node), .long(let node), .enumerated(let node): [node]
        case .medium(let ends, let blob, let nulls): [ends, blob] + (nulls.map { [$0] } ?? [])
        }
    }

    private let store: NodeStore

    init(_ store: NodeStore, _ node: Node, _ rules: TextRules) throws(CoreFileError) {
        self.store = store
        self.rules = rules
        guard !node.isInner, node.kind != .blob else { throw node.fail("not a leaf of texts") }
        if !node.hasRefs {
            guard !rules.isBinary else { throw node.fail("not a leaf of binaries") }
            form = node.kind == .elements ? .short(node) : .enumerated(node)
            count = node.count
        } else if node.context {
            form = .long(node)
            count = node.count
        } else {
            guard node.kind == .integers, node.count >= 2 else {
                throw node.fail("not a leaf of texts")
            }
            let ends = try store.integers(try node.ref(0), "ends of texts")
            let blob = try store.blob(try node.ref(1), "bytes of texts")
            let nullsRef = try node.refIfThere(2)
            var nulls: Node?
            if nullsRef != 0 {
                let array = try store.integers(nullsRef, "nulls of texts")
                guard array.count == ends.count else {
                    throw array.fail("\(array.count) nulls of \(ends.count) texts")
                }
                nulls = array
            } else if !rules.isOld || rules.isNullable {
                throw node.fail("texts without nulls")
            }
            form = .medium(ends: ends, blob: blob, nulls: nulls)
            count = ends.count
        }
        try store.spend(count, node)
    }

    /// A string or binary, as the rules say, or null.
    func value(_ index: Int) throws(CoreFileError) -> CoreValue {
        if case .enumerated(let node) = form {
            return try texts(node).value(node, index)
        }
        guard let bytes = try bytes(index) else { return .null }
        return rules.isBinary
            ? .binary(try store.heldBytes(bytes, node)) : .string(try store.heldText(bytes, node))
    }

    private var node: Node {
        switch form {
        case .short(let node), .long(let node), .enumerated(let node), .medium(_, let node, _): node
        }
    }

    private func texts(_ node: Node) throws(CoreFileError) -> EnumeratedTexts {
        guard let texts = rules.texts else {
            throw node.fail("numbers of texts that there are not")
        }
        return texts
    }

    /// The bytes of element `index` without the zero behind them; nil for null. Each once: long ones
    /// are nodes of their own.
    func bytes(_ index: Int) throws(CoreFileError) -> UnsafeRawBufferPointer? {
        switch form {
        case .short(let node): return try short(node, index)
        case .medium(let ends, let blob, let nulls):
            // Of nulls, too: texts don't overlap.
            let end = try ends.int(index)
            let start = index > 0 ? try ends.int(index - 1) : 0
            guard start >= 0, start <= end, end <= blob.count else {
                throw ends.fail("text from \(start) to \(end) of \(blob.count) bytes")
            }
            if let nulls {
                // Strings of format 9 have it the other way round.
                let isNull = try nulls.int(index) != 0
                if isNull != (rules.isOld && !rules.isBinary) { return nil }
            }
            return try rules.ending.trimmed(try blob.bytes(Int(start), Int(end)), blob)
        case .long(let node):
            let ref = try node.ref(index)
            if ref == 0 { return nil }
            let blob = try store.blob(ref, "text")
            return try rules.ending.trimmed(try blob.bytes(0, blob.count), blob)
        case .enumerated(let node): throw node.fail("numbers of texts where texts are due")
        }
    }

    /// All values; those of long leaves only that they are there, where `defers`.
    func fill(
        _ cells: UnsafeMutablePointer<CoreCell>, _ buffer: CellBuffer, _ keeper: TextKeeper,
        defers: Bool
    ) throws(CoreFileError) {
        switch form {
        case .medium(let ends, let blob, let nulls):
            let words = buffer.words(count)
            try ends.decode(into: words)
            let isInverted = rules.isOld && !rules.isBinary
            let ending = rules.ending
            // Mostly no value is null, and all bytes are of ASCII.
            let nulls = nulls.flatMap { $0.width == 0 && !isInverted ? nil : $0 }
            let isPlain = rules.isBinary || Self.isASCII(blob.contents)
            var start: Int64 = 0
            for index in 0..<count {
                let end = words[index]
                guard start >= 0, start <= end, end <= blob.count else {
                    throw ends.fail("text from \(start) to \(end) of \(blob.count) bytes")
                }
                if let nulls, (try nulls.int(index) != 0) != isInverted {
                    cells[index] = CoreCell(.null)
                } else {
                    // Within the blob, as was just checked.
                    let bytes = UnsafeRawBufferPointer(
                        start: blob.body + Int(start), count: Int(end - start))
                    let text = try ending.trimmed(bytes, blob)
                    cells[index] =
                        isPlain
                        ? Self.plainCell(text, blob, ending.isBinary)
                        : Self.cell(text, blob, ending.isBinary, store, keeper)
                }
                start = end
            }
        case .long(let node) where defers:
            for index in 0..<count {
                cells[index] = CoreCell(try node.ref(index) == 0 ? .null : .deferred)
            }
        case .enumerated(let node):
            let texts = try texts(node)
            for index in 0..<count { cells[index] = try texts.cell(node, index, store) }
        case .short, .long:
            for index in 0..<count { cells[index] = try cell(index, keeper) }
        }
    }

    /// What reads the values that `fill` left for later.
    func deferred(_ keeper: TextKeeper) -> DeferredTexts? {
        guard case .long(let node) = form else { return nil }
        return DeferredTexts(node, rules.ending, store, keeper)
    }

    /// Element `index` as a cell; long ones once.
    private func cell(_ index: Int, _ keeper: TextKeeper) throws(CoreFileError) -> CoreCell {
        guard let bytes = try bytes(index) else { return CoreCell(.null) }
        switch form {
        case .short(let node), .long(let node), .enumerated(let node), .medium(let node, _, _):
            return Self.cell(bytes, node, rules.isBinary, store, keeper)
        }
    }

    fileprivate static func cell(
        _ bytes: UnsafeRawBufferPointer, _ node: Node, _ isBinary: Bool, _ store: NodeStore,
        _ keeper: TextKeeper
    ) -> CoreCell {
        if isBinary || isASCII(bytes) || String(validating: bytes, as: UTF8.self) != nil {
            return plainCell(bytes, node, isBinary)
        }
        return keeper.keep(store.text(bytes))
    }

    /// A cell with the bytes as they are: of a binary, or a text that is known to be one.
    @inline(__always)
    private static func plainCell(
        _ bytes: UnsafeRawBufferPointer, _ node: Node, _ isBinary: Bool
    ) -> CoreCell {
        // Empty ones have an address, too.
        CoreCell(isBinary ? .binary : .text, bytes.baseAddress ?? node.body, bytes.count)
    }

    private static func isASCII(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let count = bytes.count
        let high: UInt64 = 0x8080_8080_8080_8080
        guard count >= 8 else {
            var seen: UInt8 = 0
            for byte in bytes { seen |= byte }
            return seen < 0x80
        }
        var wide = SIMD4<UInt64>(repeating: 0)
        var index = 0
        while index &+ 32 <= count {
            wide |= bytes.loadUnaligned(fromByteOffset: index, as: SIMD4<UInt64>.self)
            index &+= 32
        }
        var seen = wide[0] | wide[1] | wide[2] | wide[3]
        while index &+ 8 <= count {
            seen |= bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            index &+= 8
        }
        // The last eight, some of which were seen before.
        seen |= bytes.loadUnaligned(fromByteOffset: count &- 8, as: UInt64.self)
        return seen & high == 0
    }

    private func short(_ node: Node, _ index: Int) throws(CoreFileError) -> UnsafeRawBufferPointer?
    {
        let empty = UnsafeRawBufferPointer(start: nil, count: 0)
        let isNull = rules.isOld && !rules.isNullable ? empty : nil
        let element = try node.element(index)
        guard let padding = element.last else { return isNull }
        let width = element.count
        if Int(padding) == width { return isNull }
        guard Int(padding) < width else {
            throw node.fail("\(padding) bytes of padding in a text of \(width)")
        }
        return UnsafeRawBufferPointer(rebasing: element.prefix(width - 1 - Int(padding)))
    }
}
