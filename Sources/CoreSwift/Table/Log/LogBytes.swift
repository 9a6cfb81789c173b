// Numbers, texts and values as the change log has them: written to growing memory, and read back with
// bounds checks, because they may come from a damaged file.
//
//   number   LEB128: 7 bits a byte, low ones first
//   signed   zigzag: 0, -1, 1, -2, ... as numbers
//   integer  as signed, of at most 9 bytes: the ninth has 8 bits; null is the bytes 0x80, 0
//   text     its length, then UTF-8
//   value    its type (the raw value of `ValueType`), then by type: integer signed; boolean 1 byte;
//            string and binary length and bytes; timestamp seconds and nanoseconds, signed; float 4
//            bytes, double 8, decimal and UUID 16, object id 12; link class key and object key;
//            list the number of elements and their values, dictionary that of keys and values; null
//            nothing. 14: a set, like a list
//   keys     of objects, as runs: how many; then for each twice the distance from the end of the one before, at
//            first from 0, and 1 more if it has several keys: then how many, less two. In records without
//            flag 128 (`RecordEncoder`): the distance as signed, and how many keys follow the first

import CKernels

struct LogBytes {
    static let setType: UInt8 = 14
    /// In the place of a value: the one that a new object has.
    static let defaultMark: UInt8 = 0xFF

    private var base: UnsafeMutableRawPointer?
    private(set) var count = 0
    private var capacity = 0

    init() {}

    mutating func deallocate() {
        ck_free(base)
        base = nil
        count = 0
        capacity = 0
    }

    var buffer: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: base.map { UnsafeRawPointer($0) }, count: count)
    }

    mutating func removeAll() { count = 0 }

    mutating func cut(to length: Int) { count = min(count, length) }

    @inline(__always)
    private mutating func room(_ bytes: Int) -> UnsafeMutableRawPointer {
        if let base, count &+ bytes <= capacity { return base + count }
        return grow(bytes)
    }

    @inline(never)
    private mutating func grow(_ bytes: Int) -> UnsafeMutableRawPointer {
        capacity = max(64, capacity * 2, count + bytes)
        // Large memory is moved by the system, not copied.
        guard let larger = ck_realloc(base, capacity) else {
            fatalError("no memory for a change log of \(capacity) bytes")
        }
        base = larger
        return larger + count
    }

    /// Writes at most so many bytes; `body` gets where, and returns where it ended.
    @inline(__always)
    mutating func write(
        atMost bytes: Int, _ body: (UnsafeMutableRawPointer) -> UnsafeMutableRawPointer
    ) {
        let start = room(bytes)
        count &+= body(start) - start
    }

    mutating func byte(_ value: UInt8) {
        room(1).put(value, 0)
        count &+= 1
    }

    mutating func number(_ value: UInt64) {
        write(atMost: 10) { $0.putNumber(value) }
    }

    mutating func number(_ value: Int) { number(UInt64(value)) }

    mutating func signed(_ value: Int64) {
        write(atMost: 10) { $0.putSigned(value) }
    }

    /// An integer, or null, where nothing else can stand.
    mutating func integer(_ value: RawValue) {
        write(atMost: 9) { value.isNull ? $0.putNullInteger() : $0.putInteger(value.intValue) }
    }

    mutating func raw(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress, bytes.count > 0 else { return }
        room(bytes.count).copyMemory(from: start, byteCount: bytes.count)
        count &+= bytes.count
    }

    mutating func text(_ bytes: UnsafeRawBufferPointer) {
        number(bytes.count)
        raw(bytes)
    }

    mutating func text(_ text: String) {
        var copy = text
        copy.withUTF8 { self.text(UnsafeRawBufferPointer($0)) }
    }

    private mutating func words(_ first: UInt64, _ second: UInt64, bytes: Int) {
        let target = room(16)
        target.put(first, 0)
        target.put(second, 8)
        count &+= bytes
    }

    /// A value that is no collection; one that is, is empty.
    mutating func value(_ value: RawValue) {
        if value.isNull { return byte(0) }
        byte(UInt8(truncatingIfNeeded: value.type))
        switch ValueType(rawValue: value.type) {
        case .int: signed(value.intValue)
        case .bool: byte(value.boolValue ? 1 : 0)
        case .string, .binary: text(value.bytes)
        case .timestamp:
            signed(value.seconds)
            signed(Int64(value.nanoseconds))
        case .float: words(value.word0, 0, bytes: 4)
        case .double: words(value.word0, 0, bytes: 8)
        case .decimal128, .uuid: words(value.word0, value.word1, bytes: 16)
        case .objectId: words(value.word0, value.word1, bytes: 12)
        case .link:
            number(UInt64(value.linkClass.rawValue))
            number(value.linkTarget.word)
        case .list, .dictionary: number(0)
        case .null, nil: break
        }
    }

    /// A value that was written before, with bytes behind it that are not part of it.
    mutating func rawValue(_ padded: UnsafeRawBufferPointer) throws(RealmError) {
        var reader = LogByteReader(padded)
        raw(try reader.valueBytes())
    }

    mutating func keys(_ keys: KeyRanges) {
        let ranges = keys.ranges
        number(ranges.count)
        write(atMost: 20 * ranges.count) { start in
            var place = start
            var last: UInt64 = 0
            for range in ranges {
                let distance = range.lowerBound.word &- last
                last = range.upperBound.word
                let more = last &- range.lowerBound.word
                place = place.putNumber(distance << 1 | (more > 0 ? 1 : 0))
                if more > 0 { place = place.putNumber(more &- 1) }
            }
            return place
        }
    }
}

extension UnsafeMutableRawPointer {
    /// Returns where it ends. `bytesMax`: of the last one all eight bits count.
    @inline(__always)
    func putNumber(_ value: UInt64, bytesMax: Int = 10) -> UnsafeMutableRawPointer {
        var rest = value
        var size = 0
        while rest >= 0x80, size < bytesMax &- 1 {
            put(UInt8(truncatingIfNeeded: rest) | 0x80, size)
            rest >>= 7
            size &+= 1
        }
        put(UInt8(truncatingIfNeeded: rest), size)
        return self + (size &+ 1)
    }

    @inline(__always)
    func putSigned(_ value: Int64, bytesMax: Int = 10) -> UnsafeMutableRawPointer {
        putNumber(UInt64(bitPattern: (value << 1) ^ (value >> 63)), bytesMax: bytesMax)
    }

    @inline(__always)
    func putInteger(_ value: Int64) -> UnsafeMutableRawPointer { putSigned(value, bytesMax: 9) }

    @inline(__always)
    func putNullInteger() -> UnsafeMutableRawPointer {
        put(UInt8(0x80), 0)
        put(UInt8(0), 1)
        return self + 2
    }
}

/// A value of a log, whose bytes live as long as the version that was read.
struct LogValue {
    /// As it stands there, with its type; none of one that stands there without.
    private let bytes: UnsafeRawBufferPointer
    /// That one.
    private let integer: RawValue

    fileprivate init(bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
        integer = .null
    }

    /// An integer or null.
    init(integer: RawValue) {
        bytes = UnsafeRawBufferPointer(start: nil, count: 0)
        self.integer = integer
    }

    /// The value that a new object has.
    var isDefault: Bool { bytes.first == LogBytes.defaultMark }

    /// What type of collection it is; nil for other values.
    var collection: CollectionType? {
        switch bytes.first {
        case UInt8(ValueType.list.rawValue): return .list
        case UInt8(ValueType.dictionary.rawValue): return .dictionary
        case LogBytes.setType: return .set
        default: return nil
        }
    }

    /// A value that is no collection; texts point into the log.
    func scalar() throws(RealmError) -> RawValue {
        if bytes.isEmpty { return integer }
        var reader = LogByteReader(bytes)
        return try reader.scalar()
    }

    /// Writes it with its type.
    func write(_ target: inout LogBytes) {
        if bytes.isEmpty { target.value(integer) } else { target.raw(bytes) }
    }

    /// Those of a collection; of other values none.
    func elements() throws(RealmError) -> LogElements { try LogElements(bytes, collection) }
}

/// The elements of a collection in a log, one after another.
struct LogElements {
    private var reader = LogByteReader(UnsafeRawBufferPointer(start: nil, count: 0))
    private var isDictionary = false
    /// How many are left.
    private(set) var count = 0

    fileprivate init(
        _ bytes: UnsafeRawBufferPointer, _ type: CollectionType?
    ) throws(RealmError) {
        guard let type else { return }
        reader = LogByteReader(bytes)
        isDictionary = type == .dictionary
        _ = try reader.byte()
        count = try reader.count()
    }

    /// `key`: of a dictionary.
    mutating func next() throws(RealmError) -> (key: UnsafeRawBufferPointer?, value: LogValue)? {
        if count == 0 { return nil }
        count -= 1
        return (isDictionary ? try reader.text() : nil, try reader.value())
    }
}

/// Reads what `LogBytes` wrote.
struct LogByteReader {
    private static let depthMax = ElementLayout.depthMax + 2

    let bytes: UnsafeRawBufferPointer
    private(set) var position = 0
    /// Keys stand there in the shorter way.
    var isBrief: Bool

    init(_ bytes: UnsafeRawBufferPointer, isBrief: Bool = true) {
        self.bytes = bytes
        self.isBrief = isBrief
    }

    var isAtEnd: Bool { position >= bytes.count }

    private func damaged() -> RealmError {
        RealmError(
            .invalidDatabase,
            "change log: ends or makes no sense at byte \(position) of \(bytes.count)")
    }

    mutating func byte() throws(RealmError) -> UInt8 {
        guard position < bytes.count else { throw damaged() }
        defer { position += 1 }
        return bytes[position]
    }

    mutating func number() throws(RealmError) -> UInt64 {
        var result: UInt64 = 0
        var shift: UInt64 = 0
        while true {
            let next = try byte()
            guard shift < 63 || next <= 1 else { throw damaged() }
            result |= UInt64(next & 0x7F) << shift
            if next < 0x80 { return result }
            shift += 7
        }
    }

    /// A number of things or a position: not more than memory could hold.
    mutating func count() throws(RealmError) -> Int {
        let result = try number()
        guard result < 1 << 48 else { throw damaged() }
        return Int(result)
    }

    mutating func signed() throws(RealmError) -> Int64 {
        Self.signed(try number())
    }

    private static func signed(_ word: UInt64) -> Int64 {
        Int64(bitPattern: word >> 1) ^ -Int64(bitPattern: word & 1)
    }

    mutating func integer() throws(RealmError) -> RawValue {
        var word: UInt64 = 0
        for place in 0..<8 as Range<UInt64> {
            let next = try byte()
            if place == 1, next == 0, word == 0 { return .null }
            guard place == 0 || next != 0 else { throw damaged() }
            word |= UInt64(next & 0x7F) << (7 * place)
            if next < 0x80 { return .int(Self.signed(word)) }
        }
        return .int(Self.signed(word | UInt64(try byte()) << 56))
    }

    mutating func raw(_ size: Int) throws(RealmError) -> UnsafeRawBufferPointer {
        guard size >= 0, size <= bytes.count - position else { throw damaged() }
        defer { position += size }
        return UnsafeRawBufferPointer(rebasing: bytes[position..<position + size])
    }

    mutating func text() throws(RealmError) -> UnsafeRawBufferPointer {
        try raw(try count())
    }

    mutating func scalar() throws(RealmError) -> RawValue {
        let type = ValueType(rawValue: UInt32(try byte()))
        switch type {
        case .null: return .null
        case .int: return .int(try signed())
        case .bool: return .bool(try byte() != 0)
        case .string, .binary:
            let text = try text()
            // Behind the type there is a length: an address exists for the empty text, too.
            let start = text.baseAddress ?? bytes.baseAddress.unsafelyUnwrapped
            return type == .string ? .string(start, text.count) : .binary(start, text.count)
        case .timestamp:
            let seconds = try signed()
            return .timestamp(
                seconds: seconds, nanoseconds: Int32(truncatingIfNeeded: try signed()))
        case .float:
            return .float(Float(bitPattern: try fixed(4).u32(0)))
        case .double:
            return .double(Double(bitPattern: try fixed(8).u64(0)))
        case .decimal128, .uuid:
            let start = try fixed(16)
            return RawValue(word0: start.u64(0), word1: start.u64(8), type: type ?? .null)
        case .objectId:
            let start = try fixed(12)
            return RawValue(word0: start.u64(0), word1: UInt64(start.u32(8)), type: .objectId)
        case .link:
            let number = try number()
            guard let classKey = UInt32(exactly: number) else { throw damaged() }
            return .link(ClassKey(rawValue: classKey), ObjectKey(word: try self.number()))
        case .list, .dictionary:
            guard let type, try number() == 0 else { throw damaged() }
            return .empty(type == .list ? .list : .dictionary)
        case nil: throw damaged()
        }
    }

    private mutating func fixed(_ size: Int) throws(RealmError) -> UnsafeRawPointer {
        guard let start = try raw(size).baseAddress else { throw damaged() }
        return start
    }

    /// A value of any type, which is looked through.
    mutating func value() throws(RealmError) -> LogValue {
        LogValue(bytes: try valueBytes())
    }

    /// The bytes of a value, which are looked through.
    mutating func valueBytes() throws(RealmError) -> UnsafeRawBufferPointer {
        let start = position
        try skip(depth: 0)
        return UnsafeRawBufferPointer(rebasing: bytes[start..<position])
    }

    private mutating func skip(depth: Int) throws(RealmError) {
        guard position < bytes.count, depth < Self.depthMax else { throw damaged() }
        switch bytes[position] {
        case LogBytes.defaultMark: position += 1
        case UInt8(ValueType.list.rawValue), LogBytes.setType:
            position += 1
            for _ in 0..<(try count()) { try skip(depth: depth + 1) }
        case UInt8(ValueType.dictionary.rawValue):
            position += 1
            for _ in 0..<(try count()) {
                _ = try text()
                try skip(depth: depth + 1)
            }
        default: _ = try scalar()
        }
    }

    /// Calls `body` with each run of keys.
    mutating func keys(
        _ body: (ClosedRange<ObjectKey>) throws(RealmError) -> Void
    ) throws(RealmError) {
        var last = ObjectKey.first
        for _ in 0..<(try count()) {
            let range = try keyRange(after: last)
            try body(range)
            last = range.upperBound
        }
    }

    /// The next run, whose distance is counted from `last`.
    mutating func keyRange(after last: ObjectKey) throws(RealmError) -> ClosedRange<ObjectKey> {
        let word = try number()
        let distance = isBrief ? Int64(word >> 1) : Self.signed(word)
        let first = last.rawValue.addingReportingOverflow(distance)
        var more: UInt64 = 0
        if !isBrief || word & 1 != 0 { more = try number() }
        if isBrief && word & 1 != 0 { more = more == .max ? more : more + 1 }
        guard !first.overflow, first.partialValue >= 0, more <= UInt64(Int64.max),
            first.partialValue <= Int64.max - Int64(more)
        else { throw damaged() }
        let low = ObjectKey(rawValue: first.partialValue)
        return low...ObjectKey(rawValue: first.partialValue + Int64(more))
    }
}
