// Unaligned little-endian access to bytes, a bounds-checked reader for bytes that are not
// trusted yet, and a growable writer. The file format is little-endian; so are the machines
// this is built for (x86-64, arm64), which a static check in `Pager` relies on.

extension UnsafeRawPointer {
    @inline(__always) func u8(_ offset: Int) -> UInt8 {
        load(fromByteOffset: offset, as: UInt8.self)
    }
    @inline(__always) func u16(_ offset: Int) -> UInt16 {
        loadUnaligned(fromByteOffset: offset, as: UInt16.self)
    }
    @inline(__always) func u32(_ offset: Int) -> UInt32 {
        loadUnaligned(fromByteOffset: offset, as: UInt32.self)
    }
    @inline(__always) func u64(_ offset: Int) -> UInt64 {
        loadUnaligned(fromByteOffset: offset, as: UInt64.self)
    }
    @inline(__always) func i64(_ offset: Int) -> Int64 {
        loadUnaligned(fromByteOffset: offset, as: Int64.self)
    }
    /// Number `index` of those of 0, 1, 2, 4 or 8 bytes that stand one behind another.
    @inline(__always) func unsigned(_ width: Int, _ index: Int) -> UInt64 {
        switch width {
        case 0: return 0
        case 1: return UInt64(u8(index))
        case 2: return UInt64(u16(index &* 2))
        case 4: return UInt64(u32(index &* 4))
        default: return u64(index &* 8)
        }
    }
    /// The same of 1, 2, 4 or 8 bytes, sign-extended.
    @inline(__always) func signed(_ width: Int, _ index: Int) -> Int64 {
        switch width {
        case 1: return Int64(Int8(bitPattern: u8(index)))
        case 2: return Int64(Int16(bitPattern: u16(index &* 2)))
        case 4: return Int64(Int32(bitPattern: u32(index &* 4)))
        default: return i64(index &* 8)
        }
    }
    /// The first eight of so many bytes as a big-endian number, zero-padded: orders as the bytes do.
    @inline(__always) func prefix(_ count: Int) -> UInt64 {
        if count >= 8 { return u64(0).byteSwapped }
        var value: UInt64 = 0
        for index in 0..<max(count, 0) {
            value |= UInt64(u8(index)) &<< UInt64(56 &- 8 &* index)
        }
        return value
    }
}

extension UnsafeMutableRawPointer {
    @inline(__always) func put(_ value: UInt8, _ offset: Int) {
        storeBytes(of: value, toByteOffset: offset, as: UInt8.self)
    }
    @inline(__always) func put(_ value: UInt16, _ offset: Int) {
        storeBytes(of: value, toByteOffset: offset, as: UInt16.self)
    }
    @inline(__always) func put(_ value: UInt32, _ offset: Int) {
        storeBytes(of: value, toByteOffset: offset, as: UInt32.self)
    }
    @inline(__always) func put(_ value: UInt64, _ offset: Int) {
        storeBytes(of: value, toByteOffset: offset, as: UInt64.self)
    }
    @inline(__always) func put(_ value: Int64, _ offset: Int) {
        storeBytes(of: value, toByteOffset: offset, as: Int64.self)
    }
    /// Stores the lowest 1, 2, 4 or 8 bytes of a number as number `index` of those that stand one behind another.
    @inline(__always) func put(_ value: Int64, width: Int, _ index: Int) {
        switch width {
        case 1: put(UInt8(truncatingIfNeeded: value), index)
        case 2: put(UInt16(truncatingIfNeeded: value), index &* 2)
        case 4: put(UInt32(truncatingIfNeeded: value), index &* 4)
        default: put(value, index &* 8)
        }
    }
}

extension Int64 {
    /// How many bytes hold it with its sign: 1, 2, 4 or 8.
    @inline(__always) var byteWidth: Int {
        if self == Int64(Int8(truncatingIfNeeded: self)) { return 1 }
        if self == Int64(Int16(truncatingIfNeeded: self)) { return 2 }
        return self == Int64(Int32(truncatingIfNeeded: self)) ? 4 : 8
    }
}

extension UInt64 {
    /// How many bytes hold it: 0, 1, 2, 4 or 8.
    @inline(__always) var byteWidth: Int {
        if self == 0 { return 0 }
        if self <= 0xFF { return 1 }
        if self <= 0xFFFF { return 2 }
        return self <= 0xFFFF_FFFF ? 4 : 8
    }
}

/// Reads fields in sequence from bytes that may be hostile; every overrun throws.
struct ByteReader {
    private let base: UnsafeRawPointer
    private let count: Int
    private(set) var position = 0
    /// What the bytes are, for messages: "page 12: catalog".
    private let subject: String

    init(_ base: UnsafeRawPointer, count: Int, subject: String) {
        self.base = base
        self.count = count
        self.subject = subject
    }

    private mutating func take(_ size: Int) throws(RealmError) -> UnsafeRawPointer {
        guard size >= 0, size <= count - position else {
            throw RealmError(
                .invalidDatabase,
                "\(subject): needs \(size) bytes at \(position), only \(count) are there")
        }
        defer { position += size }
        return base + position
    }

    mutating func u8() throws(RealmError) -> UInt8 { try take(1).u8(0) }
    mutating func u16() throws(RealmError) -> UInt16 { try take(2).u16(0) }
    mutating func u32() throws(RealmError) -> UInt32 { try take(4).u32(0) }
    mutating func u64() throws(RealmError) -> UInt64 { try take(8).u64(0) }
    mutating func i64() throws(RealmError) -> Int64 { try take(8).i64(0) }

    /// `size` raw bytes; the pointer lives as long as the underlying memory.
    mutating func bytes(_ size: Int) throws(RealmError) -> UnsafeRawPointer { try take(size) }

    /// UTF-8 text behind a 16-bit length.
    mutating func string() throws(RealmError) -> String {
        let size = Int(try u16())
        let bytes = UnsafeRawBufferPointer(start: try take(size), count: size)
        // Names are in ASCII nearly always. The general way takes eight times as long.
        var all: UInt8 = 0
        for byte in bytes { all |= byte }
        if all < 0x80 {
            return String(unsafeUninitializedCapacity: size) {
                UnsafeMutableRawBufferPointer($0).copyMemory(from: bytes)
                return size
            }
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw RealmError(.invalidDatabase, "\(subject): text is not UTF-8")
        }
        return text
    }
}

/// Appends fields to a growable array of bytes.
struct ByteWriter {
    /// Zeros behind what was written. Numbers are stored here, which takes a fifth of the time that
    /// appending their bytes takes.
    private var storage: [UInt8] = []
    private(set) var count = 0

    /// A copy.
    var bytes: [UInt8] { Array(storage[..<count]) }

    mutating func u8(_ value: UInt8) { append(value) }
    mutating func u16(_ value: UInt16) { append(value) }
    mutating func u32(_ value: UInt32) { append(value) }
    mutating func u64(_ value: UInt64) { append(value) }
    mutating func i64(_ value: Int64) { append(value) }
    mutating func string(_ text: String) {
        var text = text
        text.withUTF8 { utf8 in
            u16(UInt16(utf8.count))
            raw(UnsafeRawBufferPointer(utf8))
        }
    }
    mutating func raw(_ buffer: UnsafeRawBufferPointer) {
        if count + buffer.count > storage.count { grow(buffer.count) }
        let end = count
        storage.withUnsafeMutableBytes {
            UnsafeMutableRawBufferPointer(rebasing: $0[end...]).copyMemory(from: buffer)
        }
        count += buffer.count
    }

    @inline(__always)
    private mutating func append<T: FixedWidthInteger>(_ value: T) {
        if count + MemoryLayout<T>.size > storage.count { grow(MemoryLayout<T>.size) }
        let end = count
        storage.withUnsafeMutableBytes {
            $0.storeBytes(of: value.littleEndian, toByteOffset: end, as: T.self)
        }
        count += MemoryLayout<T>.size
    }

    @inline(never)
    private mutating func grow(_ size: Int) {
        let wanted = max(1024, storage.count * 2, count + size)
        storage.append(contentsOf: repeatElement(0, count: wanted - storage.count))
    }
}
