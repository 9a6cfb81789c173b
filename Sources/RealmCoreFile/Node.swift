// Nodes, of which an old file consists: eight bytes of header and a body.
//
//   0-3  nothing
//   4    bit 7 inner node of a tree, bit 6 has references, bit 5 context, bits 4-3 kind, bits 2-0 code of the width
//   5-7  size, the highest byte first
//
// Kind 0: `size` integers of 0 to 64 bits. Kind 1: `size` elements of 0 to 64 bytes. Kind 2: `size` bytes.

struct Node {
    enum Kind { case integers, elements, blob }

    let offset: Int
    let body: UnsafeRawPointer
    /// Elements; of blobs, bytes.
    let count: Int
    /// Bits of an integer, bytes of an element.
    let width: Int
    let kind: Kind
    let isInner: Bool
    let hasRefs: Bool
    let context: Bool

    /// Bytes of the body.
    var length: Int {
        switch kind {
        case .integers: (count * width + 7) / 8
        case .elements: count * width
        case .blob: count
        }
    }

    /// The whole body.
    var contents: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: body, count: length) }

    func fail(_ what: String) -> CoreFileError { .damaged("node at \(offset): \(what)") }

    /// Integer `index` with its sign; those of 4 bits and fewer have none.
    func int(_ index: Int) throws(CoreFileError) -> Int64 {
        guard index >= 0, index < count, kind == .integers else {
            throw fail("element \(index) of \(count) was asked for")
        }
        switch width {
        case 0: return 0
        case 1: return Int64(byte(index >> 3) >> UInt8(index & 7) & 1)
        case 2: return Int64(byte(index >> 2) >> UInt8((index & 3) * 2) & 3)
        case 4: return Int64(byte(index >> 1) >> UInt8((index & 1) * 4) & 15)
        case 8: return Int64(Int8(bitPattern: byte(index)))
        case 16: return Int64(Int16(littleEndian: load(index, Int16.self)))
        case 32: return Int64(Int32(littleEndian: load(index, Int32.self)))
        default: return Int64(littleEndian: load(index, Int64.self))
        }
    }

    /// Integer `index` without a sign: of the few arrays that are so.
    func unsigned(_ index: Int) throws(CoreFileError) -> UInt64 {
        let value = UInt64(bitPattern: try int(index))
        return width == 64 ? value : value & (1 << UInt64(width) - 1)
    }

    // Within the body, whose length was checked against width and count: so are these.
    private func byte(_ index: Int) -> UInt8 { body.load(fromByteOffset: index, as: UInt8.self) }
    private func load<T: FixedWidthInteger>(_ index: Int, _ type: T.Type) -> T {
        body.loadUnaligned(fromByteOffset: index * MemoryLayout<T>.size, as: type)
    }

    /// The bytes of element `index`, of nodes of elements.
    func element(_ index: Int) throws(CoreFileError) -> UnsafeRawBufferPointer {
        guard index >= 0, index < count, kind == .elements else {
            throw fail("element \(index) of \(count) was asked for")
        }
        return UnsafeRawBufferPointer(start: body + index * width, count: width)
    }

    /// The bytes from `start` to `end` of the body.
    func bytes(_ start: Int, _ end: Int) throws(CoreFileError) -> UnsafeRawBufferPointer {
        let total = kind == .blob ? count : count * width
        guard start >= 0, start <= end, end <= total else {
            throw fail("bytes \(start) to \(end) of \(total) were asked for")
        }
        return UnsafeRawBufferPointer(start: body + start, count: end - start)
    }

    /// A reference; 0 for none. A number where one is due is an error.
    func ref(_ index: Int) throws(CoreFileError) -> UInt64 {
        let word = UInt64(bitPattern: try int(index))
        guard word & 1 == 0 else { throw fail("element \(index) is a number, not a reference") }
        return word
    }

    /// A number stored among references.
    func tagged(_ index: Int) throws(CoreFileError) -> UInt64 {
        let word = UInt64(bitPattern: try int(index))
        guard word & 1 == 1 else { throw fail("element \(index) is a reference, not a number") }
        return word >> 1
    }

    /// The same for elements that may be missing, which are none.
    func refIfThere(_ index: Int) throws(CoreFileError) -> UInt64 {
        index < count ? try ref(index) : 0
    }
}

/// Hands out nodes, each once in a pass, and counts what is read: what bounds the work that a forged file
/// can ask for.
///
/// 1. A node lies within the file; `body` is readable up to its end.
/// 2. No node is handed out twice in a pass: no cycles, no sharing.
/// 3. The bytes of all nodes of a pass are no more than the file has, as nodes don't overlap.
/// 4. The elements of all nodes of a pass are no more than `elementsMax`: those of no width take no bytes.
/// 5. What is made of nodes takes no more than `heldMax` bytes at a time: as many elements of no width, or values
///    that lead to one and the same text, would take gigabytes.
/// 6. Texts that a column has once and its objects name are no more than `namedMax` bytes in a pass.
final class NodeStore {
    let bytes: FileBytes
    /// Nodes lie below.
    var limit: Int
    private let marks: NodeMarks
    private var bytesLeft: Int
    private var elementsLeft: Int
    private var namedLeft: Int
    private let heldMax: Int
    /// Bytes of values that are in memory, roughly.
    private(set) var held = 0
    /// Those of tables and properties, which stay.
    private var heldForever = 0
    /// Texts that were no UTF-8.
    var repairedTexts = 0

    init(_ bytes: FileBytes) throws(CoreFileError) {
        self.bytes = bytes
        limit = bytes.size
        marks = try NodeMarks(fileBytes: bytes.size)
        bytesLeft = bytes.size
        elementsLeft = Self.elementsMax(bytes.size)
        namedLeft = Self.namedMax(bytes.size)
        heldMax = 64 << 20 + bytes.size * 64
    }

    /// A leaf of 1000 elements of no width takes 16 bytes with the reference to it. The file is smaller than
    /// 2^46.
    private static func elementsMax(_ size: Int) -> Int { 1_000_000 + size * 128 }
    /// 256 objects that name one text take some forty bytes.
    private static func namedMax(_ size: Int) -> Int { 1 << 30 + size * 1024 }

    func startPass() {
        marks.clear()
        bytesLeft = bytes.size
        elementsLeft = Self.elementsMax(bytes.size)
        namedLeft = Self.namedMax(bytes.size)
    }

    /// Counts bytes before something is made that takes them, until `letGo`.
    func hold(_ count: Int, _ node: Node) throws(CoreFileError) {
        try hold(count, at: UInt64(node.offset))
    }

    @inline(__always)
    func hold(_ count: Int, at ref: UInt64) throws(CoreFileError) {
        guard count <= heldMax - held else {
            throw .damaged(
                "node at \(ref): more than \(heldMax >> 20) MB of values at a time, in a file of "
                    + "\(bytes.size) bytes")
        }
        held += count
    }

    /// Tells that what was made since `held` was so much is gone.
    func letGo(to mark: Int) { held = mark }

    /// Tells that no values are held any more.
    func letGo() { held = heldForever }

    /// What is held now stays as long as the file is open.
    func holdForever() { heldForever = held }

    /// Counts the bytes of a text that objects name.
    func spendNamed(_ count: Int, _ node: Node) throws(CoreFileError) {
        guard count <= namedLeft else {
            throw node.fail(
                "more texts that objects share than a file of \(bytes.size) bytes may have")
        }
        namedLeft -= count
    }

    /// Counts elements before something is made of them.
    @inline(__always)
    func spend(_ count: Int, _ node: Node) throws(CoreFileError) {
        guard count <= elementsLeft else {
            throw node.fail("more elements than a file of \(bytes.size) bytes can hold")
        }
        elementsLeft -= count
    }

    /// Makes a node readable again after bytes were given back.
    func reload(_ node: Node) throws(CoreFileError) {
        try bytes.load(node.offset, 8 + node.length)
    }

    func node(_ ref: UInt64, _ what: StaticString) throws(CoreFileError) -> Node {
        func fail(_ reason: String) -> CoreFileError {
            .damaged("\(what): reference \(ref) \(reason)")
        }
        guard ref >= 24, ref % 8 == 0 else { throw fail("is none") }
        guard ref <= UInt64(limit), limit - Int(ref) >= 8 else {
            throw fail("lies behind the end of the data at \(limit)")
        }
        let offset = Int(ref)
        try bytes.load(offset, 8)
        let header = bytes.start + offset
        let flags = header.load(fromByteOffset: 4, as: UInt8.self)
        let count =
            Int(header.load(fromByteOffset: 5, as: UInt8.self)) << 16
            | Int(header.load(fromByteOffset: 6, as: UInt8.self)) << 8
            | Int(header.load(fromByteOffset: 7, as: UInt8.self))
        let width = (1 << Int(flags & 7)) >> 1
        let kind: Node.Kind
        let length: Int
        switch flags >> 3 & 3 {
        case 0: (kind, length) = (.integers, (count * width + 7) / 8)
        case 1: (kind, length) = (.elements, count * width)
        case 2: (kind, length) = (.blob, count)
        default: throw fail("leads to a node of no known kind")
        }
        guard length <= bytes.size - offset - 8 else {
            throw fail("leads to a node of \(length) bytes, which ends behind the file")
        }
        guard marks.mark(offset) else { throw fail("leads to a node that has another place too") }
        guard length + 8 <= bytesLeft else { throw fail("leads to one of overlapping nodes") }
        bytesLeft -= length + 8
        try bytes.load(offset + 8, length)
        return Node(
            offset: offset, body: UnsafeRawPointer(header + 8), count: count, width: width,
            kind: kind, isInner: flags & 0x80 != 0, hasRefs: flags & 0x40 != 0,
            context: flags & 0x20 != 0)
    }

    /// An array of integers.
    func integers(_ ref: UInt64, _ what: StaticString) throws(CoreFileError) -> Node {
        let node = try node(ref, what)
        guard node.kind == .integers, !node.hasRefs, !node.isInner else {
            throw node.fail("\(what): not an array of integers")
        }
        return node
    }

    /// An array of references with at least `count` elements.
    func references(
        _ ref: UInt64, _ what: StaticString, atLeast count: Int = 0
    ) throws(CoreFileError) -> Node {
        let node = try node(ref, what)
        guard node.kind == .integers, node.hasRefs, !node.isInner else {
            throw node.fail("\(what): not an array of references")
        }
        guard node.count >= count else {
            throw node.fail("\(what): \(node.count) elements, \(count) are due")
        }
        return node
    }

    func blob(_ ref: UInt64, _ what: StaticString) throws(CoreFileError) -> Node {
        let node = try node(ref, what)
        guard node.kind == .blob else { throw node.fail("\(what): not a blob") }
        guard !node.hasRefs else {
            throw node.fail("\(what): larger than any value of a property")
        }
        return node
    }

    /// A text that is held; see there.
    func heldText(_ bytes: UnsafeRawBufferPointer, _ node: Node) throws(CoreFileError) -> String {
        try hold(bytes.count + 32, node)
        return text(bytes)
    }

    /// The same for other bytes.
    func heldBytes(_ bytes: UnsafeRawBufferPointer, _ node: Node) throws(CoreFileError) -> [UInt8] {
        try hold(bytes.count + 32, node)
        return Array(bytes)
    }

    /// A text; bytes that are no UTF-8 become U+FFFD and are counted.
    func text(_ bytes: UnsafeRawBufferPointer) -> String {
        if let text = String(validating: bytes, as: UTF8.self) { return text }
        repairedTexts += 1
        return String(decoding: bytes, as: UTF8.self)
    }
}
