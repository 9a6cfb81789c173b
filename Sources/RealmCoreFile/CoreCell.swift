// Values of a cluster without memory of their own, which importing in bulk reads: numbers as they are, texts
// and bytes as addresses in what was read of the file.

/// A value that is no collection and no mixed value.
public struct CoreCell {
    public enum Kind: UInt8, Sendable {
        case null, int, bool, text, binary, timestamp, float, double, decimal, objectID, uuid, link
        /// A text or binary that is a node of its own and was not looked at yet; `CoreCluster.cell` gives it.
        case deferred
    }

    public var kind: Kind
    /// Of integers, booleans (0, 1), floats and doubles their bits; seconds; the high word of decimals; the
    /// address of bytes; of links the index of the table.
    public var first: UInt64
    /// Nanoseconds; the low word of decimals; the number of bytes; of links the key.
    public var second: UInt64

    @inline(__always)
    public init(_ kind: Kind, _ first: UInt64 = 0, _ second: UInt64 = 0) {
        self.kind = kind
        self.first = first
        self.second = second
    }

    @inline(__always)
    init(_ kind: Kind, _ bytes: UnsafeRawPointer, _ count: Int) {
        self.init(kind, UInt64(UInt(bitPattern: bytes)), UInt64(count))
    }

    /// Of texts, binaries, object ids and UUIDs: valid until the cluster was read.
    public var bytes: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(
            start: UnsafeRawPointer(bitPattern: UInt(first)), count: Int(second))
    }
}

/// Bytes that are not as they stand in the file: texts that had to be mended.
final class TextKeeper {
    private var kept: [UnsafeMutableRawPointer] = []

    deinit { clear() }

    func clear() {
        for bytes in kept { bytes.deallocate() }
        kept = []
    }

    /// A cell with a copy of the text.
    func keep(_ text: String) -> CoreCell {
        let bytes = Array(text.utf8)
        let copy = UnsafeMutableRawPointer.allocate(byteCount: bytes.count + 1, alignment: 1)
        copy.copyMemory(from: bytes, byteCount: bytes.count)
        kept.append(copy)
        return CoreCell(.text, copy, bytes.count)
    }

    func keep(_ bytes: [UInt8], _ kind: CoreCell.Kind) -> CoreCell {
        let copy = UnsafeMutableRawPointer.allocate(byteCount: bytes.count + 1, alignment: 8)
        copy.copyMemory(from: bytes, byteCount: bytes.count)
        kept.append(copy)
        return CoreCell(kind, copy, bytes.count)
    }

    /// The same value as a cell; nil for collections.
    func cell(_ value: CoreValue) -> CoreCell? {
        switch value {
        case .null: CoreCell(.null)
        case .int(let value): CoreCell(.int, UInt64(bitPattern: value))
        case .bool(let value): CoreCell(.bool, value ? 1 : 0)
        case .string(let text): keep(text)
        case .binary(let bytes): keep(bytes, .binary)
        case .timestamp(let seconds, let nanoseconds):
            CoreCell(
                .timestamp, UInt64(bitPattern: seconds), UInt64(bitPattern: Int64(nanoseconds)))
        case .float(let value): CoreCell(.float, UInt64(value.bitPattern))
        case .double(let value): CoreCell(.double, value.bitPattern)
        case .decimal(let high, let low): CoreCell(.decimal, high, low)
        case .objectID(let bytes): keep(bytes, .objectID)
        case .uuid(let bytes): keep(bytes, .uuid)
        case .link(let table, let key):
            CoreCell(.link, UInt64(table), UInt64(bitPattern: key))
        case .list, .set, .dictionary: nil
        }
    }
}

/// Cells, as many as are needed at a time.
final class CellBuffer {
    private(set) var cells = UnsafeMutablePointer<CoreCell>.allocate(capacity: 1024)
    private var capacity = 1024
    /// For integers on their way into cells.
    private(set) var words = UnsafeMutablePointer<Int64>.allocate(capacity: 1024)
    private var wordCapacity = 1024

    deinit {
        cells.deallocate()
        words.deallocate()
    }

    /// Makes room; what was there goes.
    func reserve(_ count: Int) {
        guard count > capacity else { return }
        cells.deallocate()
        cells = .allocate(capacity: count)
        capacity = count
    }

    func words(_ count: Int) -> UnsafeMutablePointer<Int64> {
        if count > wordCapacity {
            words.deallocate()
            words = .allocate(capacity: count)
            wordCapacity = count
        }
        return words
    }
}

extension Node {
    /// All integers, into memory that has room for them.
    func decode(into target: UnsafeMutablePointer<Int64>) throws(CoreFileError) {
        guard kind == .integers else { throw fail("not integers") }
        // The body was checked against width and count.
        switch width {
        case 0: target.update(repeating: 0, count: count)
        case 1, 2, 4:
            let mask = UInt8(1 << width - 1)
            let perByte = 8 / width
            for index in 0..<count {
                let byte = body.load(fromByteOffset: index / perByte, as: UInt8.self)
                target[index] = Int64(byte >> UInt8(index % perByte * width) & mask)
            }
        case 8: widen(Int8.self, target)
        case 16: widen(Int16.self, target)
        case 32: widen(Int32.self, target)
        default: widen(Int64.self, target)
        }
    }

    @inline(__always)
    private func widen<T: FixedWidthInteger>(
        _ type: T.Type, _ target: UnsafeMutablePointer<Int64>
    ) {
        let size = MemoryLayout<T>.size
        for index in 0..<count {
            let stored = body.loadUnaligned(fromByteOffset: index * size, as: T.self)
            target[index] = Int64(truncatingIfNeeded: T(littleEndian: stored))
        }
    }
}
