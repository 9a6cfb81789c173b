// Blocks that a write transaction writes before it commits, so that its memory does not grow with what it
// makes: full leaves of rows that it appends, with the blocks that their cells name.
//
// They go to free pages, as those of a commit do, and nobody knows of them until a version's header is
// written: a crash, or a transaction that is rolled back, leaves pages that are free. Above the pager an early
// block is one of the file like any other; when the transaction changes it after all, the changed block
// is another one, and the pages of the first are free again at the commit.
//
// Those of a plain file end where a part of it does, if free pages allow that; zeros stand on free pages between the last block
// and there until the next ones come.
//
// Invariants
//  1. The pages of early blocks are taken out of the map of free space, and noted there, from when they
//     are written. The map is loaded anew only behind the end of the transaction.
//  2. The version's root lists those that the version uses, so that recovery verifies them.
//  3. Early blocks carry the version behind the base. The transaction commits that one.

/// Who gives blocks of a write transaction their place in the file.
protocol BlockPlacer: AnyObject {
    /// Gives a block its pages; `place` holds its reference from now on.
    func place(_ block: UnsafeRawPointer, pages: Int, at place: UnsafeMutableRawPointer)
    /// The same for one of many leaves: `place` holds its reference when `sealWaiting` returns, or before. All
    /// that it refers to was placed.
    func placeLeaf(_ block: UnsafeRawPointer, pages: Int, at place: UnsafeMutableRawPointer)
    /// Comes before a block is placed that refers to leaves.
    func sealWaiting()
}

/// Some that are written with one another.
final class EarlyBlocks: BlockPlacer {
    private let lease: WriteLease
    private let store: Store
    private let space: SpaceMap
    private var taker: PageTaker
    private let scratch: CommitScratch
    /// Behind the last block, and how many pages it has.
    private var end: UInt64 = 0
    private var lastPages: UInt64 = 0
    /// Where references were stored, and what stood there.
    private var before: [(place: UnsafeMutableRawPointer, reference: BlockReference)] = []

    /// With the lock of the group held. `pages`: how many there will be, about.
    fileprivate init(_ lease: WriteLease, _ space: SpaceMap, pages: Int) {
        self.lease = lease
        store = lease.store
        self.space = space
        scratch = store.scratch
        // While blocks are sealed the disk has time for those before.
        scratch.begin(
            lease.base.version + 1,
            isSynced: store.codec.cipher != nil && !store.options.inMemory)
        taker = PageTaker(space, UInt64(pages))
    }

    func place(_ block: UnsafeRawPointer, pages: Int, at place: UnsafeMutableRawPointer) {
        scratch.queue(block, page: take(pages, place), pages: pages, store).store(place)
    }

    func placeLeaf(_ block: UnsafeRawPointer, pages: Int, at place: UnsafeMutableRawPointer) {
        scratch.queueLeaf(block, page: take(pages, place), pages: pages, at: place, store)
    }

    private func take(_ pages: Int, _ place: UnsafeMutableRawPointer) -> UInt64 {
        before.append((place, BlockReference(place)))
        let page = taker.take(pages, space)
        lastPages = UInt64(pages)
        end = page + lastPages
        return page
    }

    /// Whether the last block ends where a part of the file does, or so little before that another one like it does
    /// not fit: a good place to end, as readers have a part with one page fault that one call has written.
    /// The blocks of the next time go behind the last one, and until then zeros fill the part up.
    var endsPart: Bool {
        // Encrypted files are not read where they are mapped.
        store.codec.cipher == nil && end > 0 && (restOfPart == 0 || zeroPages > 0)
    }

    private var restOfPart: UInt64 {
        let partPages = UInt64(store.options.partPages)
        return (partPages - end % partPages) % partPages
    }

    private var zeroPages: Int {
        let rest = restOfPart
        return store.codec.cipher == nil && rest < lastPages && rest <= CommitScratch.zeroPagesMax
            && taker.has(rest) ? Int(rest) : 0
    }

    func sealWaiting() { scratch.sealWaiting(store) }

    /// Writes them. Returns the references that stood where the new ones are. After an error these stand
    /// there again, and what was taken is free.
    fileprivate func write() throws(RealmError) -> [BlockReference] {
        if before.isEmpty {
            taker.giveBack(space)
            return []
        }
        let zeroPages = zeroPages
        if zeroPages > 0 {
            // The mark of a block that was there must not vouch for zeros.
            store.mapping.clear(BlockReference(page: end, pages: zeroPages, version: 0))
        }
        do throws(RealmError) {
            try store.coverMapping(space.pageCount)
            try scratch.write(to: store, zeroPages: zeroPages)
        } catch {
            for item in before.reversed() { item.reference.store(item.place) }
            scratch.forget(store.mapping)
            taker.giveBack(space)
            throw error
        }
        taker.settle(space)
        // Can't fail: the pages are mapped.
        let end = scratch.references.reduce(end + UInt64(zeroPages)) { max($0, $1.end) }
        store.noteEarly(pages: end)
        try? store.extendMapping(to: end)
        scratch.adopt(store.mapping, keepsAll: false, keepsLast: false)
        return before.map(\.reference)
    }
}

extension WriteLease {
    /// From so many pages in memory on, blocks are written early.
    var earlyPagesMin: Int {
        store.codec.cipher == nil
            ? store.options.pendingPagesMax : store.options.pendingSealedPagesMax
    }

    /// Writes blocks before the commit: `place` gives them to the placer, about `pages` pages. Returns the
    /// references of the blocks of memory that they were; none if that did not work: the commit will
    /// meet what is wrong, and say so.
    func writeEarly(pages: Int, _ place: (EarlyBlocks) -> Void) -> [BlockReference] {
        // A forked child has a copy of the transaction, and the parent's free pages.
        if store.isInForkedChild { return [] }
        hasTriedEarly = true
        store.group.lockBesideSync()
        defer { store.group.unlock() }
        do throws(RealmError) {
            try store.mutex.withLock { () throws(RealmError) in try store.checkUsable() }
            let space = try loadSpace()
            let blocks = EarlyBlocks(self, space, pages: pages)
            place(blocks)
            let replaced = try blocks.write()
            early += store.scratch.references
            return replaced
        } catch {
            mayWriteEarly = false
            return []
        }
    }
}
