// The root block of a version: the client's payload, the list of what this version wrote, and the
// space map. Last block of the commit's run; the header slot names it.
//
//   offset  size  field
//        0    16  block header (kind versionRoot)
//       16     8  version
//       24     8  pages of the file
//       32     8  digest of the blocks written: first half
//       40     8  digest, second half
//       48     4  offset of the payload
//       52     4  bytes of the payload
//       56     4  offset of the runs
//       60     4  number of runs
//       64     4  blocks in all runs
//       68     4  offset of the space map
//       72     4  bytes of the space map
//       76     4  1 if runs of older versions are listed by their distance, else 0
//       80        payload, aligned to 16
//                 runs: {first page (6), distance >> 8 (2), number of blocks (3), distance & 255 (1),
//                 pages (4)}, aligned to 8; the version that wrote them is the root's less the
//                 distance (CommitGroup.swift). With 0 at 76 the distance is twice what stands there
//                 page count of each block (2 bytes each), in the order of the runs
//                 space map (SpaceMap+Coding.swift), aligned to 8
//
// The written list lets recovery verify a version without knowing the client's trees: the blocks
// of a run follow one another; hashing each and folding the hashes must give the digest. The root
// itself is verified through its reference.

/// Digest over the references of the blocks that a commit wrote, in the order they were placed.
struct WrittenDigest: Equatable {
    var low: UInt64 = 0x2545_F491_4F6C_DD1D
    var high: UInt64 = 0x9E37_79B9_7F4A_7C15

    @inline(__always)
    mutating func add(location: UInt64, check: ContentHash) {
        low = (low ^ check.low ^ location) &* 0x9FB2_1C65_1E98_DF25
        low ^= low >> 29
        high = (high &+ check.high) &* 0xC4CE_B9FE_1A85_EC53
        high ^= high >> 31
    }
}

/// Blocks one after another in the file, written by one version.
struct WrittenRun: Equatable {
    var page: UInt64
    var blocks: Int
    var pages: Int
    var version: UInt64

    static let blocksMax = 1 << 24 - 1
    static let pageMax: UInt64 = 1 << 48 - 1
    /// How much younger a root may be that lists it.
    static let distanceMax: UInt64 = 1 << 24 - 1
}

/// A root block that passed its check value; fields are bounds-checked by `init`.
struct VersionRoot {
    let base: UnsafeRawPointer
    let version: UInt64
    let pageCount: UInt64
    let digest: WrittenDigest
    let payload: UnsafeRawPointer
    let payloadCount: Int
    let runCount: Int
    let blockCount: Int
    private let runsOffset: Int
    private let hasDistances: Bool
    let spaceMap: UnsafeRawPointer
    let spaceMapCount: Int

    static let headerBytes = 80
    static let runBytes = 16
    private static let tag = BlockTag(.versionRoot, classKey: ClassKey(rawValue: 0))

    /// Where the fields of the header stand.
    private enum Field {
        static let version = 16
        static let pageCount = 24
        static let digestLow = 32
        static let digestHigh = 40
        static let payload = 48
        static let payloadCount = 52
        static let runs = 56
        static let runCount = 60
        static let blockCount = 64
        static let spaceMap = 68
        static let spaceMapCount = 72
        static let distances = 76
    }

    init(_ base: UnsafeRawPointer, _ reference: BlockReference) throws(RealmError) {
        let size = reference.pageCount * Page.size
        let name = "page \(reference.page): version root"
        func fail(_ rule: String) -> RealmError {
            RealmError(.invalidDatabase, "\(name): \(rule)")
        }
        guard base.u64(BlockField.tag) == Self.tag.rawValue else {
            throw fail("block is of another kind")
        }
        let used = Int(base.u32(BlockField.bytesUsed))
        guard used >= Self.headerBytes, used <= size else {
            throw fail("\(used) bytes used of \(size)")
        }
        self.base = base
        version = base.u64(Field.version)
        guard version == reference.version else {
            throw fail("holds version \(version), expected \(reference.version)")
        }
        pageCount = base.u64(Field.pageCount)
        guard pageCount >= FileHeader.firstBlockPage, pageCount < 1 << 40 else {
            throw fail("says that the file has \(pageCount) pages")
        }
        digest = WrittenDigest(
            low: base.u64(Field.digestLow), high: base.u64(Field.digestHigh))
        func section(_ offset: UInt32, _ count: Int, _ what: String) throws(RealmError) -> Int {
            let offset = Int(offset)
            guard offset >= Self.headerBytes, offset & 7 == 0, offset <= used,
                count <= used - offset
            else { throw fail("\(what) at \(offset) with \(count) bytes is outside the block") }
            return offset
        }
        payloadCount = Int(base.u32(Field.payloadCount))
        payload = base + (try section(base.u32(Field.payload), payloadCount, "payload"))
        runCount = Int(base.u32(Field.runCount))
        blockCount = Int(base.u32(Field.blockCount))
        runsOffset = try section(
            base.u32(Field.runs), runCount * Self.runBytes + blockCount * 2, "written list")
        hasDistances = base.u32(Field.distances) & 1 != 0
        spaceMapCount = Int(base.u32(Field.spaceMapCount))
        spaceMap =
            base + (try section(base.u32(Field.spaceMap), spaceMapCount, "space map"))
    }

    func run(_ index: Int) -> WrittenRun {
        let p = base + (runsOffset + index * Self.runBytes)
        let age = UInt64(p.u8(11))
        let distance = hasDistances ? (p.u64(0) >> 48) << 8 | age : age * 2
        return WrittenRun(
            page: p.u64(0) & WrittenRun.pageMax, blocks: Int(p.u32(8)) & WrittenRun.blocksMax,
            pages: Int(p.u32(12)), version: version &- distance)
    }

    /// Versions before this one that wrote some of the blocks in the list.
    var olderVersionsListed: [UInt64] {
        var found: [UInt64] = []
        for number in 0..<runCount {
            let writer = run(number).version
            if writer != version, writer != found.last { found.append(writer) }
        }
        return found
    }

    /// Pages of block `index` of the written list.
    func blockPages(_ index: Int) -> Int {
        PageCount.decode((base + (runsOffset + runCount * Self.runBytes)).u16(index * 2))
    }

    /// Bytes a root needs.
    static func bytes(payload: Int, runs: Int, blocks: Int, spaceMap: Int) -> Int {
        align(headerBytes + payload) + align(runs * runBytes + blocks * 2) + spaceMap
    }

    /// Writes a root; `target` has `bytes(...)` rounded up to pages. The space map's bytes are
    /// written by `encodeSpaceMap`, which is given the address and returns how many it wrote.
    static func encode(
        _ target: UnsafeMutableRawPointer, capacity: Int, version: UInt64, pageCount: UInt64,
        digest: WrittenDigest, payload: UnsafeRawBufferPointer, runs: [WrittenRun],
        blockPages: [UInt16], encodeSpaceMap: (UnsafeMutableRawPointer, Int) -> Int
    ) {
        let runsOffset = align(headerBytes + payload.count)
        let pagesOffset = runsOffset + runs.count * runBytes
        let mapOffset = align(pagesOffset + blockPages.count * 2)
        target.initializeMemory(as: UInt8.self, repeating: 0, count: mapOffset)
        if let start = payload.baseAddress, payload.count > 0 {
            (target + headerBytes).copyMemory(from: start, byteCount: payload.count)
        }
        var listsOlder = false
        for (index, run) in runs.enumerated() {
            let p = target + (runsOffset + index * runBytes)
            let distance = version - run.version
            invariant(distance <= WrittenRun.distanceMax)
            p.put(run.page | (distance >> 8) << 48, 0)
            p.put(UInt32(run.blocks) | UInt32(distance & 255) << 24, 8)
            p.put(UInt32(run.pages), 12)
            if distance > 0 { listsOlder = true }
        }
        blockPages.withUnsafeBytes { bytes in
            if let start = bytes.baseAddress, bytes.count > 0 {
                (target + pagesOffset).copyMemory(from: start, byteCount: bytes.count)
            }
        }
        let mapBytes = encodeSpaceMap(target + mapOffset, capacity - mapOffset)
        let used = mapOffset + mapBytes
        invariant(used <= capacity)
        (target + used).initializeMemory(as: UInt8.self, repeating: 0, count: capacity - used)
        target.put(Self.tag.rawValue, BlockField.tag)
        target.put(UInt32(used), BlockField.bytesUsed)
        target.put(version, Field.version)
        target.put(pageCount, Field.pageCount)
        target.put(digest.low, Field.digestLow)
        target.put(digest.high, Field.digestHigh)
        target.put(UInt32(headerBytes), Field.payload)
        target.put(UInt32(payload.count), Field.payloadCount)
        target.put(UInt32(runsOffset), Field.runs)
        target.put(UInt32(runs.count), Field.runCount)
        target.put(UInt32(blockPages.count), Field.blockCount)
        target.put(UInt32(mapOffset), Field.spaceMap)
        target.put(UInt32(mapBytes), Field.spaceMapCount)
        if listsOlder { target.put(UInt32(1), Field.distances) }
    }

    private static func align(_ offset: Int) -> Int { (offset + 15) & ~15 }
}
