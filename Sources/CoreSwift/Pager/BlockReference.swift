// How blocks are named and what every block begins with.
//
// A block is a run of 4 KiB pages. Its parent names it by a 32-byte reference:
//
//   offset  size  field
//        0     6  page number          (location, bits 0-47)
//        6     2  page count           (location, bits 48-63; `PageCount`)
//        8     8  version that wrote it
//       16     8  check value, first half
//       24     8  check value, second half
//
// In a plain file the check value is `ContentHash` of the whole run, seeded with location and
// version, so that a block that was copied elsewhere or left over from another version does not
// pass. In an encrypted file it will be the authentication tag.
//
// Every block begins with 16 bytes:
//
//        0     1  BlockKind
//        1     1  0
//        2     2  column, for index trees; else 0
//        4     4  class key; 0 for blocks that belong to no class
//        8     4  bytes used
//       12     4  entry count
//
// The first eight bytes are the block's *tag*. Readers that already passed the gate of
// `BlockSource.resolve` compare the tag with what their place in the tree demands, so that a file
// that names one block in two roles is refused.

enum Page {
    static let size = 4096
    static let shift = 12
    static func count(forBytes bytes: Int) -> Int { (bytes + size - 1) >> shift }
}

/// The page count of a block in 16 bits. Up to 32,767 pages are counted one by one; blocks of more
/// (128 MiB; only values of their own are so large) consist of groups of 64 pages, which the top
/// bit tells: up to 8 GiB, with at most a fifth of a percent of it unused.
enum PageCount {
    static let singleMax = 0x7FFF
    static let max = 0x7FFF << groupShift
    private static let groupShift = 6
    private static let groupBit: UInt16 = 0x8000

    @inline(__always) static func decode(_ code: UInt16) -> Int {
        code & groupBit == 0 ? Int(code) : Int(code & ~groupBit) << groupShift
    }

    /// Of a count that `forBytes` gave.
    @inline(__always) static func encode(_ count: Int) -> UInt16 {
        count <= singleMax
            ? UInt16(truncatingIfNeeded: count)
            : groupBit | UInt16(truncatingIfNeeded: count >> groupShift)
    }

    /// Pages of a block that has to hold so many bytes.
    static func forBytes(_ bytes: Int) -> Int {
        let count = Page.count(forBytes: bytes)
        guard count > singleMax else { return count }
        let group = 1 << groupShift
        return (count + group - 1) & ~(group - 1)
    }
}

/// Where the fields of the header stand that every block begins with.
enum BlockField {
    static let tag = 0
    static let kind = 0
    static let column = 2
    static let classKey = 4
    static let bytesUsed = 8
    static let count = 12
    /// Bytes of the header.
    static let end = 16
}

enum BlockKind: UInt8 {
    case rowLeaf = 1
    case rowBranch = 2
    case indexLeaf = 3
    case indexBranch = 4
    case bigValue = 5
    case versionRoot = 6
    case spaceMap = 7
    case schema = 8
    case changeLog = 9
    case collectionLeaf = 10
    case collectionBranch = 11
}

/// The first eight bytes of a block, as its place in the tree demands them.
struct BlockTag: RawRepresentable, Equatable {
    let rawValue: UInt64
    @inline(__always) init(rawValue: UInt64) { self.rawValue = rawValue }
    @inline(__always) init(_ kind: BlockKind, classKey: ClassKey, column: Int = 0) {
        rawValue =
            UInt64(kind.rawValue) | UInt64(UInt16(truncatingIfNeeded: column)) << 16
            | UInt64(classKey.rawValue) << 32
    }
    @inline(__always) var kind: UInt8 { UInt8(truncatingIfNeeded: rawValue) }
}

/// Where the fields of a reference stand in the node that holds it.
enum ReferenceField {
    static let location = 0
    static let version = 8
    static let check0 = 16
    static let check1 = 24
}

struct BlockReference: Equatable {
    var location: UInt64
    var version: UInt64
    var check0: UInt64
    var check1: UInt64

    static let byteCount = 32
    private static let pageMask: UInt64 = 0xFFFF_FFFF_FFFF
    /// Marks blocks that live in the memory of a write transaction (page number bit 47).
    static let transientBit: UInt64 = 1 << 47

    static let none = BlockReference(location: 0, version: 0, check0: 0, check1: 0)

    @inline(__always)
    init(location: UInt64, version: UInt64, check0: UInt64, check1: UInt64) {
        self.location = location
        self.version = version
        self.check0 = check0
        self.check1 = check1
    }

    /// Of a block of the file; without check values only place and version are known.
    init(page: UInt64, pages: Int, version: UInt64, check0: UInt64 = 0, check1: UInt64 = 0) {
        self.init(
            location: Self.location(page: page, count: pages), version: version, check0: check0,
            check1: check1)
    }

    @inline(__always) init(_ source: UnsafeRawPointer) {
        location = source.u64(ReferenceField.location)
        version = source.u64(ReferenceField.version)
        check0 = source.u64(ReferenceField.check0)
        check1 = source.u64(ReferenceField.check1)
    }

    @inline(__always) func store(_ target: UnsafeMutableRawPointer) {
        target.put(location, ReferenceField.location)
        target.put(version, ReferenceField.version)
        target.put(check0, ReferenceField.check0)
        target.put(check1, ReferenceField.check1)
    }

    /// Reference to slot `index` of a write transaction's table of memory blocks.
    @inline(__always) static func transient(_ index: Int) -> BlockReference {
        BlockReference(
            location: transientBit | UInt64(index), version: .max, check0: 0, check1: 0)
    }

    @inline(__always) var isNone: Bool { location == 0 }
    @inline(__always) var isTransient: Bool { location & Self.transientBit != 0 }
    @inline(__always) var transientIndex: Int {
        Int(truncatingIfNeeded: location & (Self.transientBit - 1))
    }
    /// Whether it can name a block of a file; what is read from a file is asked before it is used.
    @inline(__always) var isStored: Bool {
        !isTransient && pageCount > 0 && page >= 2
    }
    @inline(__always) var page: UInt64 { location & Self.pageMask }
    @inline(__always) var pageCount: Int {
        PageCount.decode(UInt16(truncatingIfNeeded: location >> 48))
    }
    /// The page behind the block.
    @inline(__always) var end: UInt64 { page + UInt64(pageCount) }

    static func location(page: UInt64, count: Int) -> UInt64 {
        page | UInt64(PageCount.encode(count)) << 48
    }
}

extension ByteReader {
    mutating func reference() throws(RealmError) -> BlockReference {
        BlockReference(try bytes(BlockReference.byteCount))
    }
}

extension ByteWriter {
    mutating func reference(_ reference: BlockReference) {
        u64(reference.location)
        u64(reference.version)
        u64(reference.check0)
        u64(reference.check1)
    }
}
