// A leaf: the values of one property for some objects, or some elements of a collection. It is checked as
// a whole when it is made; values are made of it when they are asked for.

/// What a leaf holds, and by which rules.
struct LeafRules {
    var type: CoreType
    var isNullable: Bool
    /// Format 9.
    var isOld = false
    /// Links of objects are stored with one added; those of collections are not.
    var isInCollection = false
    /// The table that links of the property lead to.
    var target: Int?
    /// Of an enumerated column.
    var texts: EnumeratedTexts?
}

/// What the elements of a list or set are: what of `LeafRules` no references are counted for.
struct ElementRules {
    let type: CoreType
    let isNullable: Bool
    let target: Int?

    var leaf: LeafRules {
        LeafRules(type: type, isNullable: isNullable, isInCollection: true, target: target)
    }
}

struct Leaf {
    private enum Form {
        case ints(Node)
        /// The first element stands for null.
        case nullableInts(Node)
        case texts(TextLeaf)
        case timestamps(seconds: Node, nanoseconds: Node)
        case elements(Node)
        /// ObjectIds and UUIDs: a byte of nulls before each eight of them.
        case blocks(Node, Int)
        case mixed(MixedLeaf)
    }

    let count: Int
    private let form: Form
    private let rules: LeafRules
    private let reader: ValueReader

    init(_ reader: ValueReader, _ node: Node, _ rules: LeafRules) throws(CoreFileError) {
        self.reader = reader
        self.rules = rules
        let store = reader.store
        func integers() throws(CoreFileError) -> Node {
            guard node.kind == .integers, !node.hasRefs, !node.isInner else {
                throw node.fail("not a leaf of \(rules.type)")
            }
            return node
        }
        func nullable() throws(CoreFileError) -> (Form, Int) {
            let node = try integers()
            guard node.count > 0 else { throw node.fail("a leaf without its value for null") }
            return (.nullableInts(node), node.count - 1)
        }
        func elements(_ widths: Int...) throws(CoreFileError) -> (Form, Int) {
            guard node.kind == .elements, !node.hasRefs, !node.isInner,
                widths.contains(node.width) || node.count == 0
            else { throw node.fail("not a leaf of \(rules.type)") }
            return (.elements(node), node.count)
        }
        func blocks(_ length: Int) throws(CoreFileError) -> (Form, Int) {
            _ = try elements(1)
            let block = 8 * length + 1
            let count = (node.count - (node.count + block - 1) / block) / length
            guard count * length + (count + 7) / 8 == node.count else {
                throw node.fail("\(node.count) bytes of \(rules.type) values")
            }
            return (.blocks(node, length), count)
        }
        switch rules.type {
        case .int where rules.isNullable, .bool where rules.isNullable && rules.isOld:
            (form, count) = try nullable()
        case .int, .bool, .link:
            let node = try integers()
            (form, count) = (.ints(node), node.count)
        case .typedLink:
            let node = try integers()
            guard node.count % 2 == 0 else { throw node.fail("half a typed link") }
            (form, count) = (.ints(node), node.count / 2)
        case .string, .binary:
            let leaf = try TextLeaf(
                store, node,
                TextRules(
                    isBinary: rules.type == .binary, isOld: rules.isOld,
                    isNullable: rules.isNullable, texts: rules.texts))
            (form, count) = (.texts(leaf), leaf.count)
        case .timestamp:
            guard node.kind == .integers, node.hasRefs, !node.isInner, node.count >= 2 else {
                throw node.fail("not a leaf of timestamps")
            }
            let seconds = try store.integers(try node.ref(0), "seconds")
            let nanoseconds = try store.integers(try node.ref(1), "nanoseconds")
            guard seconds.count - 1 == nanoseconds.count else {
                throw seconds.fail(
                    "\(seconds.count - 1) seconds with \(nanoseconds.count) nanoseconds")
            }
            (form, count) = (
                .timestamps(seconds: seconds, nanoseconds: nanoseconds), nanoseconds.count
            )
        case .float: (form, count) = try elements(4)
        case .double: (form, count) = try elements(8)
        case .decimal: (form, count) = try elements(0, 4, 8, 16)
        case .objectID: (form, count) = try blocks(12)
        case .uuid: (form, count) = try blocks(16)
        case .mixed:
            let leaf = try MixedLeaf(reader, node)
            (form, count) = (.mixed(leaf), leaf.count)
        }
        try store.spend(count, node)
    }

    /// Element `index`. An unresolved link is null; `isDropped` tells whether collections leave it out.
    func value(_ index: Int) throws(CoreFileError) -> CoreValue {
        switch form {
        case .nullableInts(let node):
            let value = try node.int(index + 1)
            if value == (try node.int(0)) { return .null }
            return rules.type == .bool ? .bool(value != 0) : .int(value)
        case .ints(let node): return try plain(node, index)
        case .texts(let leaf): return try leaf.value(index)
        case .timestamps(let seconds, let nanoseconds):
            let value = try seconds.int(index + 1)
            if value == (try seconds.int(0)) { return .null }
            return try reader.timestamp(value, try nanoseconds.int(index), nanoseconds)
        case .elements(let node): return try element(node, index)
        case .blocks(let node, let length):
            let start = index / 8 * (8 * length + 1)
            let nulls = try node.bytes(start, start + 1)
            if nulls[0] >> UInt8(index % 8) & 1 != 0 { return .null }
            let at = start + 1 + index % 8 * length
            let bytes = Array(try node.bytes(at, at + length))
            return length == 12 ? .objectID(bytes) : .uuid(bytes)
        case .mixed(let leaf): return try leaf.value(index)
        }
    }

    /// What is looked at when values are asked for, but for values that are nodes of their own; not of mixed
    /// values.
    var nodes: [Node] {
        switch form {
        case .ints(let node), .nullableInts(let node), .elements(let node), .blocks(let node, _):
            [node]
        case .texts(let leaf): leaf.nodes
        case .timestamps(let seconds, let nanoseconds): [seconds, nanoseconds]
        case .mixed: []
        }
    }

    /// All values, into memory that has room for them; not those of leaves of mixed values. `defers`: texts
    /// that are nodes of their own are read when they are asked for.
    func fill(
        _ cells: UnsafeMutablePointer<CoreCell>, _ buffer: CellBuffer, defers: Bool
    ) throws(CoreFileError) {
        switch form {
        case .ints(let node) where rules.type != .typedLink:
            let words = buffer.words(count)
            try node.decode(into: words)
            switch rules.type {
            case .bool:
                for index in 0..<count {
                    cells[index] =
                        words[index] == 3 && !rules.isOld
                        ? CoreCell(.null) : CoreCell(.bool, words[index] != 0 ? 1 : 0)
                }
            case .link:
                guard let target = rules.target else { throw node.fail("a link to no class") }
                let bias: Int64 = rules.isInCollection ? 0 : 1
                for index in 0..<count {
                    let key = words[index] &- bias
                    cells[index] =
                        key < 0
                        ? CoreCell(.null)
                        : CoreCell(.link, UInt64(target), UInt64(bitPattern: key))
                }
            default:
                for index in 0..<count {
                    cells[index] = CoreCell(.int, UInt64(bitPattern: words[index]))
                }
            }
        case .nullableInts(let node):
            let words = buffer.words(count + 1)
            try node.decode(into: words)
            let isBool = rules.type == .bool
            for index in 0..<count {
                let word = words[index + 1]
                cells[index] =
                    word == words[0]
                    ? CoreCell(.null)
                    : isBool
                        ? CoreCell(.bool, word != 0 ? 1 : 0)
                        : CoreCell(.int, UInt64(bitPattern: word))
            }
        case .texts(let leaf):
            try leaf.fill(cells, buffer, reader.keeper, defers: defers)
        case .timestamps(let seconds, let nanoseconds):
            let words = buffer.words(count + 1)
            try seconds.decode(into: words)
            let null = words[0]
            for index in 0..<count {
                cells[index] =
                    words[index + 1] == null
                    ? CoreCell(.null)
                    : CoreCell(.timestamp, UInt64(bitPattern: words[index + 1]))
            }
            try nanoseconds.decode(into: words)
            for index in 0..<count where cells[index].kind != .null {
                guard words[index].magnitude < 1_000_000_000 else {
                    throw nanoseconds.fail("\(words[index]) nanoseconds")
                }
                cells[index].second = UInt64(bitPattern: words[index])
            }
        case .elements(let node) where rules.type == .double && node.width == 8:
            // The body was checked against width and count.
            for index in 0..<count {
                let bits = UInt64(
                    littleEndian: node.body.loadUnaligned(
                        fromByteOffset: index * 8, as: UInt64.self))
                cells[index] =
                    bits == 0x7FF8_0000_0000_00AA && rules.isNullable
                    ? CoreCell(.null) : CoreCell(.double, bits)
            }
        case .blocks(let node, let length):
            let kind: CoreCell.Kind = length == 12 ? .objectID : .uuid
            for index in 0..<count {
                let start = index / 8 * (8 * length + 1)
                let nulls = try node.bytes(start, start + 1)
                let at = start + 1 + index % 8 * length
                let bytes = try node.bytes(at, at + length)
                cells[index] =
                    nulls[0] >> UInt8(index % 8) & 1 != 0
                    ? CoreCell(.null)
                    : CoreCell(kind, UInt64(UInt(bitPattern: bytes.baseAddress)), UInt64(length))
            }
        case .ints(let node), .elements(let node):
            for index in 0..<count {
                guard let cell = reader.keeper.cell(try value(index)) else {
                    throw node.fail("a collection where a value is due")
                }
                cells[index] = cell
            }
        case .mixed: throw CoreFileError(.misuse, "mixed values are no cells")
        }
    }

    /// What reads the values that `fill` left for later; nil where it leaves none.
    func deferred() -> DeferredTexts? {
        guard case .texts(let leaf) = form else { return nil }
        return leaf.deferred(reader.keeper)
    }

    private func plain(_ node: Node, _ index: Int) throws(CoreFileError) -> CoreValue {
        switch rules.type {
        case .bool:
            let value = try node.int(index)
            if value == 3 && !rules.isOld { return .null }
            return .bool(value != 0)
        case .typedLink:
            let table = try node.int(index * 2)
            if table == 0 { return .null }
            return try reader.link(tableKey: table &- 1, try node.int(index * 2 + 1) &- 1, node)
        case .link:
            let stored = try node.int(index)
            // Keys below 0 are of objects that are not there.
            let key = rules.isInCollection ? stored : stored &- 1
            guard key >= 0 else { return .null }
            guard let target = rules.target else { throw node.fail("a link to no class") }
            return .link(target, key)
        default: return .int(try node.int(index))
        }
    }

    private func element(_ node: Node, _ index: Int) throws(CoreFileError) -> CoreValue {
        let bytes = try node.element(index)
        switch rules.type {
        case .float:
            let bits = UInt32(littleEndian: bytes.loadUnaligned(as: UInt32.self))
            return bits == 0x7FC0_00AA && rules.isNullable ? .null : .float(Float(bitPattern: bits))
        case .double:
            let bits = UInt64(littleEndian: bytes.loadUnaligned(as: UInt64.self))
            return bits == 0x7FF8_0000_0000_00AA && rules.isNullable
                ? .null : .double(Double(bitPattern: bits))
        default: return Decimals.value(bytes, zeroIsNull: !node.context)
        }
    }
}

/// Decimals of 0, 4, 8 and 16 bytes.
enum Decimals {
    static func value(_ bytes: UnsafeRawBufferPointer, zeroIsNull: Bool) -> CoreValue {
        switch bytes.count {
        case 0: return zeroIsNull ? .null : wide(negative: false, exponent: 0, 0)
        case 4:
            let bits = UInt32(littleEndian: bytes.loadUnaligned(as: UInt32.self))
            if bits == 0x7C00_00AA { return .null }
            return bits >> 29 & 3 != 3
                ? wide(
                    negative: bits >> 31 != 0, exponent: Int(bits >> 23 & 0xFF) - 101,
                    UInt64(bits & 0x7F_FFFF))
                : wide(
                    negative: bits >> 31 != 0, exponent: Int(bits >> 21 & 0xFF) - 101,
                    0x80_0000 + UInt64(bits & 0x1F_FFFF))
        case 8:
            let bits = UInt64(littleEndian: bytes.loadUnaligned(as: UInt64.self))
            if bits == 0x7C00_0000_0000_00AA { return .null }
            return bits >> 61 & 3 != 3
                ? wide(
                    negative: bits >> 63 != 0, exponent: Int(bits >> 53 & 0x3FF) - 398,
                    bits & (1 << 53 - 1))
                : wide(
                    negative: bits >> 63 != 0, exponent: Int(bits >> 51 & 0x3FF) - 398,
                    1 << 53 + bits & (1 << 51 - 1))
        default:
            let low = UInt64(littleEndian: bytes.loadUnaligned(as: UInt64.self))
            let high = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            return high == 0x7C00_0000_0000_0000 && low == 0xAA ? .null : .decimal(high, low)
        }
    }

    private static func wide(negative: Bool, exponent: Int, _ coefficient: UInt64) -> CoreValue {
        .decimal((negative ? 1 << 63 : 0) | UInt64(exponent + 6176) << 49, coefficient)
    }
}
