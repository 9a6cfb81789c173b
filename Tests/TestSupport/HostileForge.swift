// Files that lie, by the hundred thousand: a realm file in memory-backed storage of which single fields
// are changed and made right again, with hashes in a plain file, with the key in an encrypted one, as somebody
// who has it could. Only what a change concerns is written and put back.

import Glibc

@testable import CoreSwift

final class HostileForge {
    enum Kind: CaseIterable {
        case plain, aes, xChaCha
    }

    let path: String
    let key: [UInt8]
    private let codec: BlockCodec
    fileprivate let surgeon: FileSurgeon
    private let descriptor: Int32
    /// Most openings that only read go through it, which takes a fraction of the time.
    private var kept: KeptFileSystem?
    private let header: FileHeader
    /// The unchanged file, and what its blocks hold.
    private var original: [UInt8] = []
    private let image: [UInt8]
    /// By page: the position in `surgeon.nodes` of the block that has it, or -1.
    private var owners: [Int]
    private let scratch: UnsafeMutableRawPointer
    /// Positions of blocks that were changed, and ranges of the file.
    fileprivate var touched = Set<Int>()
    private var dirty: [Range<Int>] = []

    /// `bytes`: a closed plain file. The file has the same blocks at the same pages.
    init(_ path: String, _ bytes: [UInt8], _ kind: Kind) throws {
        self.path = path
        image = bytes
        surgeon = try FileSurgeon(bytes)
        let slot = surgeon.slot / Page.size
        guard case .valid(let found) = FileHeader.decode(surgeon.base + surgeon.slot, slot: slot)
        else { throw ToyFailure(description: "no header") }
        var header = found
        key = kind == .plain ? [] : (0..<64).map { UInt8($0 * 3 + 1) }
        if kind == .plain {
            codec = .plain
        } else {
            let cipher: CipherKind =
                kind == .aes && CipherKind.hasAES ? .aes256GCM : .xChaCha20Poly1305
            header.cipher = cipher.rawValue
            codec = BlockCodec(
                try FileCipher.make(
                    key: key, kind: cipher, fileID: (header.fileID.low, header.fileID.high),
                    salt: (0..<32).map { UInt8($0) }, writerSalt: (0..<16).map { UInt8($0 + 7) },
                    path: path))
        }
        self.header = header
        owners = [Int](repeating: -1, count: bytes.count / Page.size + 1)
        for (index, node) in surgeon.nodes.enumerated() {
            for page in node.page..<(node.page + node.pages) { owners[page] = index }
        }
        scratch = .allocate(
            byteCount: max(1, codec.sealedBytes(pages: surgeon.nodes.map(\.pages).max() ?? 1)),
            alignment: 64)
        descriptor = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw ToyFailure(description: "open: \(errno)") }
        if kind == .plain {
            original = bytes
        } else {
            ftruncate(descriptor, codec.bytes(pages: header.pageCount))
            touched = Set(surgeon.nodes.indices)
            seal(version: header.version, pages: header.pageCount, vouches: true)
            original = TestSettings.readFile(path)
            dirty = []
            // The blocks in memory name what is in the file now.
            sealed = surgeon.bytes
        }
        restoreAll()
        kept = KeptFileSystem(path, descriptor: descriptor)
    }

    private var sealed: [UInt8]?

    deinit {
        close(descriptor)
        scratch.deallocate()
    }

    var blockCount: Int { surgeon.nodes.count }
    var byteCount: Int { original.count }

    // MARK: Changing

    /// Changes a few fields and makes everything right again, or flips bytes of the file as it is.
    func forge(_ random: inout Random) {
        if random.below(8) == 0 { return flip(&random) }
        var version = header.version
        var pages = header.pageCount
        for _ in 0..<(1 + random.below(3)) {
            if random.below(60) == 0 {
                version = [0, 1, version &+ 1, .max, 1 << 62][random.below(5)]
            } else if random.below(60) == 0 {
                pages = [0, 2, pages &- 1, pages &+ 1, .max, 1 << 47][random.below(6)]
            } else {
                change(&random)
            }
        }
        seal(version: version, pages: pages, vouches: random.below(10) > 0)
    }

    private func flip(_ random: inout Random) {
        for _ in 0..<(1 + random.below(4)) {
            let place = random.below(4) == 0 ? random.below(8192) : random.below(original.count)
            var byte = original[place] ^ 1 << UInt8(random.below(8))
            write(&byte, 1, at: place)
        }
    }

    private func change(_ random: inout Random) {
        let index = random.below(surgeon.nodes.count)
        let node = surgeon.nodes[index]
        let block = surgeon.block(node)
        let used = max(64, min(Int(UnsafeRawPointer(block).u32(8)), node.count))
        switch random.below(14) {
        case 0:
            // Another block of the file stands where its parent looks for it.
            let other = surgeon.nodes[random.below(surgeon.nodes.count)]
            touch(page: node.place / Page.size)
            BlockReference(surgeon.base + other.place).store(surgeon.memory + node.place)
        case 1:
            touch(page: node.place / Page.size)
            let offset = random.below(2) == 0 ? 0 : 6
            surgeon.memory.put(
                surgeon.base.u8(node.place + offset) &+ UInt8(random.below(5)), node.place + offset)
        case 2:
            touched.insert(index)
            let words = (used - 8) / 8
            let from = random.below(words) * 8
            block.put(UnsafeRawPointer(block).u64(from), random.below(words) * 8)
        case 3:
            touched.insert(0)
            interesting(surgeon.memory + (surgeon.payload + random.below(600)), &random)
        case 4:
            touched.insert(0)
            interesting(surgeon.memory + (surgeon.nodes[0].offset + random.below(80)), &random)
        case 5:
            touched.insert(0)
            interesting(surgeon.memory + (surgeon.spaceMap + random.below(60)), &random)
        case 6:
            touched.insert(index)
            block.put(UInt8(random.below(256)), random.below(used))
        case 7, 8, 9:
            // Headers, directories, arrays of keys.
            touched.insert(index)
            interesting(block + random.below(min(used, 480) - 8), &random)
        default:
            touched.insert(index)
            interesting(block + random.below(used - 8), &random)
        }
    }

    /// Writes a number of 1 to 8 bytes that is likely to be on some border.
    private func interesting(_ place: UnsafeMutableRawPointer, _ random: inout Random) {
        let old = UnsafeRawPointer(place).u64(0)
        let value: UInt64
        switch random.below(16) {
        case 0: value = 0
        case 1: value = 1
        case 2: value = .max
        case 3: value = 1 << 63
        case 4: value = 0x7FFF_FFFF
        case 5: value = 0xFFFF
        case 6: value = 4096
        case 7: value = 2049
        case 8: value = old &+ 1
        case 9: value = old &- 1
        case 10: value = old << 1
        case 11: value = random.next()
        case 12: value = UInt64(random.below(20_000))
        case 13: value = UInt64(random.below(256))
        default: value = old ^ 1 << UInt64(random.below(64))
        }
        switch random.below(4) {
        case 0: place.put(UInt8(truncatingIfNeeded: value), 0)
        case 1: place.put(UInt16(truncatingIfNeeded: value), 0)
        case 2: place.put(UInt32(truncatingIfNeeded: value), 0)
        default: place.put(value, 0)
        }
    }

    private func touch(page: Int) {
        if page < owners.count, owners[page] >= 0 { touched.insert(owners[page]) }
    }

    // MARK: Sealing

    /// Writes what was touched and all that leads to it.
    private func seal(version: UInt64, pages: UInt64, vouches: Bool) {
        var all = touched
        for index in touched {
            var place = surgeon.nodes[index].place / Page.size
            while place >= 2, owners[place] >= 0, all.insert(owners[place]).inserted {
                place = surgeon.nodes[owners[place]].place / Page.size
            }
        }
        touched = all
        // Parents stand before their children.
        for index in all.sorted(by: >) where index > 0 { sealBlock(index) }
        sealBlock(0)
        var own = header
        own.version = version
        own.pageCount = pages
        own.root = BlockReference(surgeon.base + surgeon.nodes[0].place)
        withUnsafeTemporaryAllocation(byteCount: FileHeader.slotBytes, alignment: 8) { buffer in
            guard let start = buffer.baseAddress else { return }
            codec.encode(own, into: start)
            write(start, FileHeader.slotBytes, at: FileHeader.slotOffset(own.slot))
            guard vouches else { return }
            codec.encode(SyncRecord(own), slot: own.slot, into: start)
            write(start, codec.recordBytes, at: SyncRecord.offset(slot: own.slot))
        }
    }

    private func sealBlock(_ index: Int) {
        let node = surgeon.nodes[index]
        let reference = BlockReference(surgeon.base + node.place)
        if reference.page == UInt64(node.page), reference.pageCount == node.pages {
            let result = codec.seal(
                surgeon.block(node), page: reference.page, pages: node.pages,
                version: reference.version, into: scratch)
            write(result.bytes, result.count, at: codec.offset(reference.page))
            result.reference.store(surgeon.memory + node.place)
            return
        }
        // Its parent names something else now, which counts in a plain file.
        write(surgeon.block(node), codec.cipher == nil ? node.count : 0, at: node.offset)
        guard codec.cipher == nil, reference.isStored,
            (Int(reference.page) + reference.pageCount) * Page.size <= surgeon.count
        else { return }
        let check = ContentHash.of(
            surgeon.base + Int(reference.page) * Page.size,
            count: reference.pageCount * Page.size, seed0: reference.location,
            seed1: reference.version)
        surgeon.memory.put(check.low, node.place + 16)
        surgeon.memory.put(check.high, node.place + 24)
    }

    private func write(_ bytes: UnsafeRawPointer, _ count: Int, at offset: Int) {
        guard count > 0 else { return }
        pwrite(descriptor, bytes, count, off_t(offset))
        dirty.append(offset..<min(offset + count, max(original.count, offset + count)))
    }

    // MARK: Putting back

    /// Undoes `forge`. `isWritten`: somebody wrote the file meanwhile.
    func restore(isWritten: Bool) {
        let blocks = sealed ?? image
        blocks.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return }
            for index in touched {
                let node = surgeon.nodes[index]
                surgeon.block(node).copyMemory(from: start + node.offset, byteCount: node.count)
            }
            surgeon.memory.copyMemory(from: start, byteCount: 2 * Page.size)
        }
        touched.removeAll(keepingCapacity: true)
        if isWritten { return restoreAll() }
        original.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return }
            for range in dirty {
                let range = range.clamped(to: 0..<bytes.count)
                pwrite(descriptor, start + range.lowerBound, range.count, off_t(range.lowerBound))
            }
        }
        dirty.removeAll(keepingCapacity: true)
    }

    private func restoreAll() {
        ftruncate(descriptor, off_t(original.count))
        original.withUnsafeBytes { _ = pwrite(descriptor, $0.baseAddress, $0.count, 0) }
        touched.removeAll(keepingCapacity: true)
        dirty.removeAll(keepingCapacity: true)
        unlink(path + ".lock")
    }

    // MARK: Using

    enum Use: Int, CaseIterable {
        /// Only the classes whose blocks were changed.
        case near
        case read, query, check, statistics, log, write, salvage
    }

    /// Does with the file what programs do; errors are fine. Returns whether it was written.
    func use(_ use: Use, _ random: inout Random) -> Bool {
        var configuration = Configuration(path: path)
        configuration.encryptionKey = key
        configuration.schemaMode = .immutable
        var files: FileSystem = SystemCalls.shared
        let seed = random.next()
        if let kept, use != .write, use != .salvage, seed % 16 != 0 {
            kept.begin(seed)
            files = kept
            // Blocks that are decrypted stay where they are.
            configuration.decryptedBytesMax = 0
        }
        do throws(RealmError) {
            switch use {
            case .near, .read, .query, .log, .statistics:
                let realm = try Realm.open(configuration, files: files)
                defer { realm.close() }
                switch use {
                case .near: try readNear(realm)
                case .read: _ = try FileReading.digest(realm)
                case .query:
                    var digest = ValueDigest()
                    try FileReading.query(realm, &digest)
                case .statistics: _ = try realm.statistics()
                default:
                    for from in [0, header.version &- 2] {
                        do throws(RealmError) {
                            try realm.readLog(from: from) { _ in true }
                        } catch {}
                    }
                }
            case .check:
                let realm = try Realm.open(configuration, files: files)
                defer { realm.close() }
                _ = try realm.check()
            case .salvage:
                let target = path + "-salvaged"
                _ = try? FileOperations.remove(target, SystemCalls.shared)
                _ = try Salvage.run(path, key: key, to: target, targetKey: key)
            case .write:
                configuration.schemaMode = .automatic
                let realm = try Realm.open(configuration)
                defer { realm.close() }
                try HostileWriter.write(realm, &random)
            }
        } catch {}
        return use == .write
    }
}

extension HostileForge {
    /// Every value of the classes that were changed, with some elements of each collection, and their
    /// indexes.
    private func readNear(_ realm: Realm) throws(RealmError) {
        let tables = try realm.readTables()
        let all = IndexReader.Range(low: nil, includesLow: true, high: nil, includesHigh: true)
        for classKey in changedClasses {
            guard tables.table(classKey) != nil else { continue }
            let reader = try SnapshotReader(tables: tables).table(classKey)
            var leaves = reader.leaves()
            while let leaf = try leaves.next() {
                for row in 0..<leaf.rows where !leaf.isDead(row) {
                    for column in 0..<reader.columnCount {
                        try readSome(reader, column, try reader.value(leaf, row, column))
                    }
                }
            }
            for column in 0..<reader.columnCount {
                _ = try reader.index(column: column)?.keys(all)
                _ = try reader.wordIndex(column: column)?.count(all)
            }
            try readBulk(realm, classKey)
        }
    }

    /// The columns of a class at once, from its first object on and from others.
    private func readBulk(_ realm: Realm, _ classKey: ClassKey) throws(RealmError) {
        var digest = ValueDigest()
        guard let named = realm.schema.classes.first(where: { $0.key == classKey }) else { return }
        let all = try realm.objects(named.name)
        let count = min(try all.count(), 1 << 16)
        var integers = [Int64](repeating: 0, count: count)
        var nulls = [UInt8](repeating: 0, count: count)
        var doubles = [Double](repeating: 0, count: count)
        var texts = [TextReference](repeating: TextReference(), count: count)
        var keys = [ObjectKey](repeating: .invalid, count: count)
        for first in [0, 1, count / 2, max(0, count - 1)] {
            _ = try all.readKeys(from: first, count: count, into: &keys)
            for property in named.properties where property.collection == .none {
                // Of other types these are refused.
                _ = try? all.readIntegers(
                    property.key, from: first, count: count, into: &integers, isNull: &nulls)
                _ = try? all.readDoubles(
                    property.key, from: first, count: count, into: &doubles, isNull: nil)
                guard
                    let got = try? all.readTexts(
                        property.key, from: first, count: count, into: &texts)
                else { continue }
                for case let (start?, count) in texts.prefix(got).map({ ($0.start, $0.count) })
                where count > 0 {
                    digest.add(UInt64(start.u8(0)))
                    digest.add(UInt64(start.u8(count - 1)))
                }
            }
        }
    }

    private func readSome(
        _ reader: TableReader, _ column: Int, _ value: RawValue
    ) throws(RealmError) {
        let info = reader.column(column)
        guard info.kind == .collection, !info.isVacated else { return }
        var elements = CollectionView(
            reader.table, column, ElementLayout(info, column: column), value.bytes)
        for index in stride(from: 0, to: elements.count, by: elements.count / 16 + 1) {
            _ = try elements.value(index)
            _ = try elements.value(index, 0)
        }
    }

    private var changedClasses: Set<ClassKey> {
        Set(touched.map { ClassKey(rawValue: UInt32(surgeon.nodes[$0].classKey)) })
    }
}

/// A few changes of the sample file's objects.
enum HostileWriter {
    static func write(_ realm: Realm, _ random: inout Random) throws(RealmError) {
        try realm.beginWrite()
        for _ in 0..<6 {
            let key = SampleFile.item(random.below(60))
            do throws(RealmError) {
                switch random.below(6) {
                case 0: try realm.find("Item", primaryKey: key)?.delete()
                case 1: _ = try realm.create("Item", primaryKey: .int(7_000_000), ["size": .int(4)])
                case 2:
                    try realm.find("Item", primaryKey: key)?.set(
                        "note", .string(String(repeating: "x", count: random.below(3000))))
                case 3: try realm.find("Item", primaryKey: key)?.set("count", .int(-7))
                case 4:
                    let tag = Value.string(SampleFile.tagKey(random.below(10)))
                    try realm.find("Tag", primaryKey: tag)?.delete()
                default:
                    let trunk = try realm.find(
                        "Trunk", primaryKey: .int(Int64(random.below(SampleFile.trunks))))
                    try trunk?.delete()
                }
            } catch {}
        }
        try realm.commit()
    }
}

extension SampleFile {
    /// A small file with something of everything, and a change log that has blocks and leaves out values.
    static func makeSmall(_ path: String) throws {
        try make(path, items: 60, tags: 10, scale: 12)
        var configuration = configuration(path)
        configuration.unwrittenObjectsMin = 10
        let realm = try Realm.open(configuration)
        try realm.beginWrite()
        try realm.addLogConsumer("somebody")
        try realm.commit()
        for step in 0..<40 {
            try realm.beginWrite()
            for number in 1..<8 {
                try realm.find("Item", primaryKey: item(number * 3 + 1))?.set(
                    "note", .string("changed \(step) " + String(repeating: "c", count: 30)))
            }
            if let trunk = try realm.find("Trunk", primaryKey: .int(2)) {
                try trunk.collection("numbers").insert(.int(Int64(step)), at: 0)
            }
            try realm.commit()
        }
        try realm.beginWrite()
        let events = try (0..<40).map { try realm.create("Event", ["kind": .int($0)]) }
        try realm.commit()
        try realm.beginWrite()
        for index in stride(from: 5, to: 40, by: 9) { try events[index].delete() }
        try realm.commit()
        _ = try realm.compact()
        realm.close()
    }
}
