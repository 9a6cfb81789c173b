import Testing

@testable import CoreSwift
@testable import TestSupport

/// Files whose space map calls pages free that are in use.
@Suite struct ForgedSpaceTests {
    private let directory = TemporaryDirectory()

    private func open(partPages: Int = 128) throws -> Store {
        var options = StoreOptions()
        options.reservedBytes = 64 << 20
        options.partPages = partPages
        return try Store.open(
            path: directory.file(), options: options, files: SystemCalls.shared)
    }

    /// A closed file with two leaves of three pages that several commits wrote, or one: then the second lies behind the
    /// first. By its map so many pages from the second of the first leaf on are free. Returns where the leaf is.
    private func makeForgery(commits: [ToyModel], free: UInt8) throws -> UInt64 {
        let store = try open()
        var model: ToyModel = [:]
        for change in commits {
            store.unpin(try ToyClient.commit(store, &model, change).version)
        }
        let pin = try store.pinNewest()
        let victim = try #require(try ToyClient.references(store, pin).leaves[3])
        #expect(victim.pageCount == 3)
        store.unpin(pin.version)
        try store.close()
        var bytes = TestSettings.readFile(directory.file())
        bytes.withUnsafeMutableBytes { buffer in
            guard let base = buffer.baseAddress else { return }
            let number = FileHeader.homeSlot(pin.version)
            let slot = base + FileHeader.slotOffset(number)
            guard case .valid(var header) = FileHeader.decode(slot, slot: number) else { return }
            let root = base + Int(header.root.page) * Page.size
            // An inline map with one entry: first page - 2, pages << 1.
            let map = [0, 1, UInt8(victim.page + 1 - 2), free << 1]
            for (index, byte) in map.enumerated() {
                root.put(byte, Int(UnsafeRawPointer(root).u32(68)) + index)
            }
            header.root = BlockCodec.seal(
                root, page: header.root.page, pages: header.root.pageCount,
                version: header.version)
            header.encode(slot)
            SyncRecord(header).encode(base + SyncRecord.offset(slot: number))
        }
        TestSettings.writeFile(directory.file(), bytes)
        return victim.page
    }

    // Leaves of 3 pages: (stamp * 31 + leaf) % 4 == 2.
    private static let leaves: [ToyModel] = [[3: 1], [7: 1]]

    private func isTrusted(_ block: BlockReference, _ store: Store) -> Bool {
        withUnsafeTemporaryAllocation(byteCount: BlockReference.byteCount, alignment: 8) { place in
            guard let start = place.baseAddress else { return false }
            block.store(start)
            let bytes = store.source.pointee.base + Int(block.page) << Page.shift
            return NodeSource(store: store).resolved(start, BlockTag(rawValue: bytes.u64(0))) != nil
        }
    }

    @Test func `zeros behind early blocks take the mark of what was there`() throws {
        let page = try makeForgery(commits: [[3: 1, 7: 1]], free: 3)
        // A part ends behind the first page of the second leaf.
        let store = try open(partPages: Int(page) + 4)
        let base = try store.pinNewest()
        let victim = try #require(try ToyClient.references(store, base).leaves[7])
        #expect(victim.page == page + 3)
        _ = try store.admit(victim)
        store.markVerified(victim)
        #expect(isTrusted(victim, store))
        let lease = try #require(try store.beginWrite(wait: true))
        let block = UnsafeMutableRawPointer.allocate(byteCount: 2 * Page.size, alignment: 64)
        defer { block.deallocate() }
        block.initializeMemory(as: UInt8.self, repeating: 0xEE, count: 2 * Page.size)
        let place = UnsafeMutableRawPointer.allocate(
            byteCount: BlockReference.byteCount, alignment: 8)
        defer { place.deallocate() }
        BlockReference(page: 2, pages: 2, version: 0).store(place)
        let replaced = lease.writeEarly(pages: 3) { blocks in
            blocks.place(block, pages: 2, at: place)
            #expect(blocks.endsPart)
        }
        #expect(replaced.count == 1 && BlockReference(place).page == page + 1)
        #expect(!isTrusted(victim, store))
        #expect(throws: RealmError.self) { try store.admit(victim) }
        lease.abandon()
        store.unpin(base.version)
    }

    @Test func aCommitOverTheTailOfAVerifiedBlockTakesItsMark() throws {
        let page = try makeForgery(commits: Self.leaves, free: 2)
        let store = try open()
        let base = try store.pinNewest()
        let (_, leaves) = try ToyClient.references(store, base)
        let victim = try #require(leaves[3])
        _ = try store.admit(victim)
        store.markVerified(victim)
        #expect(isTrusted(victim, store))
        // A commit of two pages, its index and its root, goes where the map has room for it.
        let lease = try #require(try store.beginWrite(wait: true))
        let block = UnsafeMutableRawPointer.allocate(byteCount: Page.size, alignment: 64)
        defer { block.deallocate() }
        block.initializeMemory(as: UInt8.self, repeating: 0xEE, count: Page.size)
        let builder = try lease.prepareCommit(pages: 1, freed: [])
        let written = builder.place(block, pages: 1)
        #expect(written.page == page + 1)
        // A reader that meets the block now finds it intact; that must not outlast the writing.
        _ = try store.admit(victim)
        store.markVerified(victim)
        store.unpin(
            try builder.publish(payload: UnsafeRawBufferPointer(start: nil, count: 0)).version)
        #expect(!isTrusted(victim, store))
        #expect(throws: RealmError.self) { try store.admit(victim) }
        store.unpin(base.version)
    }

    @Test func marksOfOverlappingBlocksGiveWayToEachOther() throws {
        let store = try open()
        var model: ToyModel = [:]
        store.unpin(try ToyClient.commit(store, &model, [3: 1, 7: 1]).version)
        let mapping = store.mapping
        func reference(_ page: UInt64, _ count: Int) -> BlockReference {
            BlockReference(
                location: BlockReference.location(page: page, count: count), version: 1,
                check0: page << 8 | UInt64(count), check1: 0)
        }
        mapping.clear(reference(2, 60))
        var random = Random(TestSettings.seed("marks"))
        // Which block each page was last marked for.
        var owners = [BlockReference?](repeating: nil, count: 64)
        for _ in 0..<20_000 {
            let block = reference(UInt64(2 + random.below(40)), 1 + random.below(8))
            let pages = Int(block.page)..<Int(block.page) + block.pageCount
            for page in pages {
                guard let old = owners[page] else { continue }
                for index in owners.indices where owners[index] == old { owners[index] = nil }
            }
            if random.below(4) == 0 {
                mapping.clear(block)
            } else {
                mapping.mark(block)
                for page in pages { owners[page] = block }
            }
            for page in 2..<50 {
                let mark = store.source.pointee.verified[page]
                guard mark != 0 else { continue }
                // A mark may be missing, which costs a check; none may be wrong.
                #expect(owners[page]?.check0 == mark && owners[page]?.page == UInt64(page))
            }
        }
    }
}
