// The forms in which texts are compared without case or diacritics (QUERY_RULES B1, B2). Independent of
// the locale.
//
//   CF(s)  full case folding, status C and F, never T
//   D(s)   canonical decomposition (NFD), then without the marks of `UnicodeTables.isDiacritic`
//
// `[c]` compares CF(s), `[d]` compares D(s), `[cd]` compares D(CF(D(s))). ASCII text is its own D.

/// What a comparison ignores.
struct TextFolding: OptionSet, Sendable, Hashable {
    let rawValue: UInt8
    static let ignoreCase = TextFolding(rawValue: 1)
    static let ignoreDiacritics = TextFolding(rawValue: 2)
}

/// Turns texts into their folded forms. It keeps its memory from text to text, so that a scan does
/// not allocate per row. One folder is used by one thread.
final class TextFolder {
    /// The folded text.
    private var output = TextBuffer()
    /// D(s), where `[cd]` needs it first.
    private var decomposed = TextBuffer()
    /// Of `foldUnits`: 1 where what a scalar folds to begins, 0 inside of it.
    private var starts = TextBuffer()
    /// Marks that wait for their canonical order: class, arrival, scalar.
    private var marks: [UInt64] = []

    init() {}

    /// The folded form of a text; valid until the next call.
    func fold(_ text: UnsafeRawBufferPointer, _ folding: TextFolding) -> UnsafeRawBufferPointer {
        guard folding.contains(.ignoreDiacritics) else {
            pass(text, folds: true, decomposes: false, strips: false, into: &output)
            return output.bytes
        }
        guard folding.contains(.ignoreCase) else {
            pass(text, folds: false, decomposes: true, strips: true, into: &output)
            return output.bytes
        }
        pass(text, folds: false, decomposes: true, strips: true, into: &decomposed)
        pass(decomposed.bytes, folds: true, decomposes: true, strips: true, into: &output)
        return output.bytes
    }

    /// CF(s), with a note of where each scalar's folding begins; valid until the next call.
    func foldUnits(_ text: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        output.clear()
        starts.clear()
        guard let start = text.baseAddress else { return output.bytes }
        var offset = 0
        while offset < text.count {
            let (scalar, length) = UTF8Scalars.decode(start, offset, text.count)
            let first = output.count
            if let scalar {
                UnicodeTables.forEachFolded(scalar) { output.append(scalar: $0) }
            } else {
                output.append(text[offset])
            }
            starts.append(1)
            for _ in first &+ 1..<output.count { starts.append(0) }
            offset &+= length
        }
        return output.bytes
    }

    /// Whether the folding of a scalar begins at this byte of the last `foldUnits`.
    @inline(__always) func isUnitStart(_ offset: Int) -> Bool { starts.bytes[offset] != 0 }

    /// Lower-case ASCII letters, all other bytes as they are; valid until the next call.
    func foldASCII(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        output.clear()
        output.reserve(bytes.count)
        for byte in bytes { output.append(byte &- 0x41 < 26 ? byte | 0x20 : byte) }
        return output.bytes
    }

    /// The form of words in a full-text index of Unicode words: D(CF(s)) (QUERY_RULES B14). Valid until
    /// the next call.
    func foldWord(_ text: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        pass(text, folds: true, decomposes: true, strips: true, into: &output)
        return output.bytes
    }

    /// NFD; valid until the next call.
    func decompose(_ text: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        pass(text, folds: false, decomposes: true, strips: false, into: &output)
        return output.bytes
    }

    /// The folded form as an array, for constants.
    static func folded(_ text: [UInt8], _ folding: TextFolding, isString: Bool) -> [UInt8] {
        if folding.isEmpty { return text }
        let folder = TextFolder()
        return text.withUnsafeBytes {
            Array(isString ? folder.fold($0, folding) : folder.foldASCII($0))
        }
    }

    /// One pass over the scalars: fold each, decompose what comes out, put marks in order.
    @inline(__always)
    private func pass(
        _ text: UnsafeRawBufferPointer, folds: Bool, decomposes: Bool, strips: Bool,
        into result: inout TextBuffer
    ) {
        result.clear()
        // Folding and decomposition rarely lengthen a text; `append` makes room when they do.
        result.reserve(text.count &+ 64)
        guard let start = text.baseAddress else { return }
        var offset = 0
        while offset < text.count {
            let byte = start.load(fromByteOffset: offset, as: UInt8.self)
            if byte < 0x80 {
                flushMarks(&result)
                result.append(folds && byte &- 0x41 < 26 ? byte | 0x20 : byte)
                offset &+= 1
                continue
            }
            let (scalar, length) = UTF8Scalars.decode(start, offset, text.count)
            offset &+= length
            guard let scalar else {
                // Not UTF-8: such bytes stand for themselves.
                flushMarks(&result)
                result.append(byte)
                continue
            }
            if !folds {
                decompose(scalar, strips, &result)
            } else if !decomposes {
                UnicodeTables.forEachFolded(scalar) { result.append(scalar: $0) }
            } else {
                UnicodeTables.forEachFolded(scalar) { decompose($0, strips, &result) }
            }
        }
        flushMarks(&result)
    }

    private func decompose(_ scalar: UInt32, _ strips: Bool, _ result: inout TextBuffer) {
        UnicodeTables.forEachDecomposed(scalar) { part in
            let combining = UnicodeTables.combining(part)
            let isDeleted = strips && UnicodeTables.isDiacritic(part)
            if combining != 0 {
                if isDeleted { return }
                let arrival = UInt64(marks.count)
                marks.append(UInt64(combining) << 56 | arrival << 21 | UInt64(part))
                return
            }
            // A scalar of class 0 ends a run of marks, also one that is deleted.
            flushMarks(&result)
            if !isDeleted { result.append(scalar: part) }
        }
    }

    /// Writes the waiting marks, ordered by class; equal classes keep their order.
    @inline(__always)
    private func flushMarks(_ result: inout TextBuffer) {
        if marks.isEmpty { return }
        if marks.count > 1 { marks.sort() }
        for mark in marks { result.append(scalar: UInt32(mark & 0x1F_FFFF)) }
        marks.removeAll(keepingCapacity: true)
    }
}

/// Growing bytes that are kept from use to use.
struct TextBuffer: ~Copyable {
    private var start: UnsafeMutableRawPointer
    private var capacity: Int
    private(set) var count = 0

    init() {
        capacity = 256
        start = .allocate(byteCount: capacity, alignment: 1)
    }

    deinit { start.deallocate() }

    /// Safe: `count` bytes of the allocation were written.
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: start, count: count) }

    mutating func clear() { count = 0 }

    mutating func reserve(_ total: Int) {
        guard total > capacity else { return }
        capacity = max(total, capacity &* 2)
        let larger = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 1)
        larger.copyMemory(from: start, byteCount: count)
        start.deallocate()
        start = larger
    }

    @inline(__always)
    mutating func append(_ byte: UInt8) {
        if count == capacity { reserve(count &+ 1) }
        start.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
        count &+= 1
    }

    mutating func append(contentsOf bytes: UnsafeRawBufferPointer) {
        guard let source = bytes.baseAddress else { return }
        reserve(count &+ bytes.count)
        (start + count).copyMemory(from: source, byteCount: bytes.count)
        count &+= bytes.count
    }

    /// Appends a scalar as UTF-8.
    @inline(__always)
    mutating func append(scalar: UInt32) {
        if count &+ 4 > capacity { reserve(count &+ 4) }
        count &+= UTF8Scalars.encode(scalar, start + count)
    }
}

/// Scalars in UTF-8 bytes.
enum UTF8Scalars {
    static func isValid(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let start = bytes.baseAddress else { return true }
        var offset = 0
        while offset < bytes.count {
            let (scalar, length) = decode(start, offset, bytes.count)
            if scalar == nil { return false }
            offset &+= length
        }
        return true
    }

    /// The scalar at `offset` and the bytes it takes; nil and 1 where the bytes are not UTF-8.
    @inline(__always)
    static func decode(
        _ start: UnsafeRawPointer, _ offset: Int, _ count: Int
    ) -> (scalar: UInt32?, length: Int) {
        @inline(__always) func byte(_ index: Int) -> UInt32 {
            UInt32(start.load(fromByteOffset: offset &+ index, as: UInt8.self))
        }
        @inline(__always) func continues(_ index: Int) -> Bool { byte(index) & 0xC0 == 0x80 }
        let first = byte(0)
        let left = count &- offset
        if first < 0x80 { return (first, 1) }
        if first < 0xE0 {
            guard first >= 0xC2, left >= 2, continues(1) else { return (nil, 1) }
            return ((first & 0x1F) << 6 | byte(1) & 0x3F, 2)
        }
        if first < 0xF0 {
            guard left >= 3, continues(1), continues(2) else { return (nil, 1) }
            let scalar = (first & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | byte(2) & 0x3F
            guard scalar >= 0x800, scalar &- 0xD800 >= 0x800 else { return (nil, 1) }
            return (scalar, 3)
        }
        guard first < 0xF5, left >= 4, continues(1), continues(2), continues(3) else {
            return (nil, 1)
        }
        let high = (first & 0x07) << 18 | (byte(1) & 0x3F) << 12
        let scalar = high | (byte(2) & 0x3F) << 6 | byte(3) & 0x3F
        guard scalar >= 0x10000, scalar <= 0x10FFFF else { return (nil, 1) }
        return (scalar, 4)
    }

    /// Writes a scalar; `target` has room for four bytes. Returns the bytes written.
    @inline(__always)
    static func encode(_ scalar: UInt32, _ target: UnsafeMutableRawPointer) -> Int {
        @inline(__always) func put(_ index: Int, _ byte: UInt32) {
            target.storeBytes(
                of: UInt8(truncatingIfNeeded: byte), toByteOffset: index, as: UInt8.self)
        }
        if scalar < 0x80 {
            put(0, scalar)
            return 1
        }
        if scalar < 0x800 {
            put(0, 0xC0 | scalar >> 6)
            put(1, 0x80 | scalar & 0x3F)
            return 2
        }
        if scalar < 0x10000 {
            put(0, 0xE0 | scalar >> 12)
            put(1, 0x80 | scalar >> 6 & 0x3F)
            put(2, 0x80 | scalar & 0x3F)
            return 3
        }
        put(0, 0xF0 | scalar >> 18)
        put(1, 0x80 | scalar >> 12 & 0x3F)
        put(2, 0x80 | scalar >> 6 & 0x3F)
        put(3, 0x80 | scalar & 0x3F)
        return 4
    }
}
