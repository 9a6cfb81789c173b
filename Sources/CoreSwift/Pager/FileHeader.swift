// The fixed places of a file: two header slots and the sync record.
//
// Pages 0 and 1 each begin with a header slot of 512 bytes (a sector, which disks write whole). A
// version takes the slot that does not hold the newest durable one, so that writing it never touches
// that. The first version has the slot of its lowest bit, and where versions follow one another by
// one, all have; libraries that know format 1 alone count on it.
//
//   offset  size  field
//        0     8  magic "RealmSwF"
//        8     4  format version: 1, or 2 where the slot is the other one, or the root lists blocks
//                 that versions before it wrote
//       12     4  page size
//       16     4  cipher: 0 plain; slots of encrypted files are in FileHeader+Sealed.swift
//       20     4  flags: 1 = in-memory file, gone with its last user
//       24    16  file id, random
//       40     8  version
//       48    32  reference of the version's root block
//       80     8  pages of the file that belong to this version
//       88     8  pages on stable storage before this header was written, 0 = not known
//       96   400  0
//      496    16  check value: ContentHash of the 512 bytes with this field zero
//
// The sync record says that a version is known to be on stable storage, so that the next open need
// not verify it. It is at offset 2048 of the page that does *not* hold that version's header slot:
// a write that goes wrong can't hurt the newest version.
//
//        0     8  magic "RealmSyn"
//        8     8  version
//       16    16  check value of the version's root
//       32    16  check value: ContentHash of the 64 bytes with this field zero
//       48    16  0

struct FileID: Equatable {
    var low: UInt64
    var high: UInt64
}

struct FileHeader: Equatable {
    /// Which of the two it stands in: 0 or 1.
    var slot: Int
    /// The root lists blocks of versions that shared a sync with this one.
    var listsOlder = false
    var cipher: UInt32 = 0
    var flags: UInt32 = 0
    var fileID: FileID
    var version: UInt64
    var root: BlockReference
    var pageCount: UInt64
    /// What the file had on stable storage before this header was written, and what the version does
    /// not give back: a shorter file was cut, by no crash. 0 = not known.
    var pagesBefore: UInt64 = 0

    static let magic: UInt64 = 0x4677_536D_6C61_6552  // "RealmSwF"
    static let formatVersionMax: UInt32 = 2
    static let slotBytes = 512
    static let firstBlockPage: UInt64 = 2
    /// Beyond what a file can reach; a header with a higher version is forged.
    static let versionMax: UInt64 = 1 << 62
    static let flagInMemory: UInt32 = 1
    private static let checkOffset = 496

    static func slotOffset(_ slot: Int) -> Int { slot * Page.size }

    /// The slot of a version in files of format 1.
    static func homeSlot(_ version: UInt64) -> Int { Int(version & 1) }

    private var formatVersion: UInt32 { slot == Self.homeSlot(version) && !listsOlder ? 1 : 2 }

    var isInMemory: Bool { flags & Self.flagInMemory != 0 }

    /// Writes the slot's 512 bytes.
    func encode(_ target: UnsafeMutableRawPointer) {
        target.initializeMemory(as: UInt8.self, repeating: 0, count: Self.slotBytes)
        target.put(Self.magic, 0)
        target.put(formatVersion, 8)
        target.put(UInt32(Page.size), 12)
        target.put(cipher, 16)
        target.put(flags, 20)
        target.put(fileID.low, 24)
        target.put(fileID.high, 32)
        target.put(version, 40)
        root.store(target + 48)
        target.put(pageCount, 80)
        target.put(pagesBefore, 88)
        target.putCheck(Self.checkOffset, of: Self.slotBytes)
    }

    /// What a slot's bytes turned out to be.
    enum Slot {
        case valid(FileHeader)
        /// Only zeros: never written.
        case blank
        /// Magic of this format, but the check value does not fit.
        case damaged
        /// Valid, but of a format this library does not know.
        case otherFormat(UInt32)
        case foreign
    }

    /// Decodes the 512 bytes of a slot, which nobody changes meanwhile.
    static func decode(_ source: UnsafeRawPointer, slot: Int) -> Slot {
        guard source.u64(0) == magic else { return isBlank(source) ? .blank : .foreign }
        guard source.hasCheck(checkOffset, of: slotBytes) else { return .damaged }
        let format = source.u32(8)
        guard format > 0, format <= formatVersionMax, source.u32(12) == UInt32(Page.size) else {
            return .otherFormat(format)
        }
        let version = source.u64(40)
        return .valid(
            FileHeader(
                slot: slot, listsOlder: format > 1 && slot == homeSlot(version),
                cipher: source.u32(16), flags: source.u32(20),
                fileID: FileID(low: source.u64(24), high: source.u64(32)),
                version: version, root: BlockReference(source + 48),
                pageCount: source.u64(80), pagesBefore: source.u64(88)))
    }

    /// Whether the slot is zeros only.
    static func isBlank(_ source: UnsafeRawPointer) -> Bool {
        for offset in stride(from: 0, to: slotBytes, by: 8) where source.u64(offset) != 0 {
            return false
        }
        return true
    }
}

/// "This version is on stable storage."
struct SyncRecord: Equatable {
    var version: UInt64
    var check0: UInt64
    var check1: UInt64

    static let byteCount = 64
    static let magic: UInt64 = 0x6E79_536D_6C61_6552  // "RealmSyn"

    init(_ header: FileHeader) { self.init(header.version, header.root) }

    init(_ version: UInt64, _ root: BlockReference) {
        self.init(version: version, check0: root.check0, check1: root.check1)
    }

    /// Of the record for the version whose header is in this slot.
    static func offset(slot: Int) -> Int { (1 - slot) * Page.size + 2048 }

    func encode(_ target: UnsafeMutableRawPointer) {
        target.initializeMemory(as: UInt8.self, repeating: 0, count: Self.byteCount)
        target.put(Self.magic, 0)
        target.put(version, 8)
        target.put(check0, 16)
        target.put(check1, 24)
        target.putCheck(32, of: Self.byteCount)
    }

    /// The record that the bytes are, if it is intact.
    init?(_ source: UnsafeRawPointer) {
        guard source.u64(0) == Self.magic, source.hasCheck(32, of: Self.byteCount) else {
            return nil
        }
        self.init(version: source.u64(8), check0: source.u64(16), check1: source.u64(24))
    }

    init(version: UInt64, check0: UInt64, check1: UInt64) {
        self.version = version
        self.check0 = check0
        self.check1 = check1
    }
}

// The check value of a fixed place: of all its bytes, with zeros where it stands itself.

extension UnsafeMutableRawPointer {
    fileprivate func putCheck(_ offset: Int, of count: Int) {
        put(0 as UInt64, offset)
        put(0 as UInt64, offset + 8)
        let check = ContentHash.of(self, count: count, seed0: 0, seed1: 0)
        put(check.low, offset)
        put(check.high, offset + 8)
    }
}

extension UnsafeRawPointer {
    fileprivate func hasCheck(_ offset: Int, of count: Int) -> Bool {
        withUnsafeTemporaryAllocation(byteCount: count, alignment: 8) { copy in
            guard let start = copy.baseAddress else { return false }
            start.copyMemory(from: self, byteCount: count)
            start.putCheck(offset, of: count)
            return equalBytes(start + offset, self + offset, 16)
        }
    }
}
