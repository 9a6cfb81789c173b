// One commit: the blocks of a version as one run of pages, then its header slot, then one sync.
//
//   1. `place` assigns pages and hashes; children first, so that parents can hold references. Until here a
//      sync may be under way that makes older versions durable; then these blocks are written meanwhile.
//   2. `publish` frees what the version replaces, decides which chunks of the space map to write,
//      places them and last the root, which holds the payload, the list of everything written and
//      the space map as it is after the commit.
//   3. The run is written, then the header slot, then one fdatasync covers both: recovery accepts
//      the slot only if every block of the version is there, so their order on disk is free.
//   4. The lock file's committed version is set: from here on the version exists for others. Those who
//      wait for it in other processes are woken when the writer lock is free.
//
// What fails before the header slot is written leaves the file as it was, because only pages that
// no live version sees were overwritten. A failing header write or sync leaves the outcome open:
// the slot is wiped as well as possible and the store refuses further work.

final class CommitBuilder: BlockPlacer {
    let version: UInt64
    /// Of the header; not that of the newest durable version. Known when it is published, as what follows.
    private var headerSlot = 0
    /// The group that this commit continues, and the versions whose blocks the root of the base lists.
    private var group: CommitGroup.State?
    private var kept: [UInt64] = []
    private var digest = WrittenDigest()
    /// Whatever is free at the end of the file is given back.
    var givesBackAll = false
    /// The caller goes on writing (`Store.goOnWriting`).
    var keepsWriter = false
    private let lease: WriteLease
    let store: Store
    private let space: SpaceMap
    let scratch: CommitScratch
    private var hasEnded = false

    private var taker: PageTaker
    /// Pages of blocks that were written before.
    private var earlyPages: UInt64 = 0

    init(lease: WriteLease, space: SpaceMap, version: UInt64, taker: PageTaker) {
        self.lease = lease
        store = lease.store
        self.space = space
        self.version = version
        scratch = store.scratch
        self.taker = taker
        scratch.begin(version, isSynced: !store.options.inMemory)
        for reference in lease.early {
            list(page: reference.page, pages: reference.pageCount)
            earlyPages += UInt64(reference.pageCount)
        }
    }

    deinit { abandon() }

    // MARK: Placing

    /// Assigns the next pages to a block, hashes it and queues it for writing. Its memory must stay
    /// as it is until `publish` returns.
    func place(_ block: UnsafeRawPointer, pages: Int) -> BlockReference {
        noteWritten(block, page: taker.take(pages, space), pages: pages)
    }

    func place(_ block: UnsafeRawPointer, pages: Int, at place: UnsafeMutableRawPointer) {
        self.place(block, pages: pages).store(place)
    }

    func placeLeaf(_ block: UnsafeRawPointer, pages: Int, at place: UnsafeMutableRawPointer) {
        let page = taker.take(pages, space)
        list(page: page, pages: pages)
        scratch.queueLeaf(block, page: page, pages: pages, at: place, store)
    }

    func sealWaiting() { scratch.sealWaiting(store) }

    // MARK: Ending

    /// Gives everything up; nothing was written.
    func abandon() {
        guard !hasEnded else { return }
        hasEnded = true
        store.space = nil
    }

    /// Writes the version with the client's payload in its root and returns it pinned. The lease
    /// has ended then. On an error it has not: abandon it or prepare another commit. With `soft` the
    /// version is not yet synced: the caller sees to that with `Store.makeDurable`. With `tells` the
    /// caller tells this process of the version, which need not listen for it.
    func publish(
        payload: UnsafeRawBufferPointer, soft: Bool = false, tells: Bool = false
    ) throws(RealmError) -> Store.Pin {
        guard !hasEnded else {
            throw RealmError(.wrongTransactionState, "'\(store.path)': the commit has ended")
        }
        hasEnded = true
        // A failure comes up when the commit goes on.
        if store.group.isBeingSynced { scratch.writeSealed(store) }
        store.group.lock()
        defer { store.group.unlock() }
        do throws(RealmError) {
            try joinGroup()
            // Listeners may see the version as soon as it is there.
            if tells { store.lockFile.noteTold(version) }
            let pin = try write(
                payload,
                soft: soft && !store.options.inMemory && !(group?.isFull(version) ?? false))
            space.committed(version)
            store.sweep.note(written: taker.used + earlyPages, space)
            store.group.listed = (version, group?.versions ?? [])
            lease.end(keepsWriter: keepsWriter)
            store.lockFile.wakeWaiting()
            return pin
        } catch {
            // Another process may make a version of this number.
            store.lockFile.noteTold(0)
            store.space = nil
            throw error
        }
    }

    /// Which group the commit continues, and so its slot and what its root lists before its own blocks. With
    /// the lock of the group held from here on.
    private func joinGroup() throws(RealmError) {
        let base = lease.base
        guard let baseSlot = store.lockFile.root(of: base.version)?.slot else {
            throw RealmError(
                .invalidDatabase,
                "'\(store.lockFile.path)': names no root of version \(base.version)",
                path: store.path)
        }
        group = store.group.state
        // Not those of a group that has ended meanwhile.
        kept = try store.versionsKept(for: base)
        headerSlot = group == nil ? 1 - baseSlot : baseSlot
        if let group {
            digest = group.digest
            scratch.written.insert(contentsOf: group.written, at: 0)
            scratch.blockPages.insert(contentsOf: group.blockPages, at: 0)
        }
        for reference in lease.early { noteDigest(reference) }
    }

    private func write(
        _ payload: UnsafeRawBufferPointer, soft: Bool
    ) throws(RealmError) -> Store.Pin {
        let slot = try store.mutex.withLock { () throws(RealmError) in
            try store.checkUsable()
            return try store.lockFile.claimSlot()
        }
        var isPublished = false
        defer {
            if !isPublished {
                store.mutex.lock()
                store.lockFile.clearSlot(slot)
                store.mutex.unlock()
            }
        }
        invariant(scratch.waiting.isEmpty)
        let (root, grown) = try placeOwnBlocks(payload, trims: !soft)
        if let failure = scratch.failure {
            scratch.forget(store.mapping)
            throw failure
        }
        // What can fail, fails before the header is written.
        try store.coverMapping(space.pageCount)
        try writeAndMarkBlocks()
        for run in grown {
            try store.file.writeZeros(
                store.codec.bytes(pages: run.page + run.count) - store.codec.offset(run.page),
                at: Int64(store.codec.offset(run.page)), "grow the file")
        }
        if soft { store.lockFile.setUnsynced(version) }
        try writeHeader(root)
        if soft {
            noteWaiting()
        } else if !store.options.inMemory {
            if let waiting = group?.versions.last { store.lockFile.noteSyncing(waiting) }
            do throws(RealmError) { try store.file.sync() } catch { throw poison(error) }
            // It covered what waited before.
            if store.group.state != nil {
                store.lockFile.setUnsynced(0)
                store.group.end()
            }
            if hasGrown { store.noteDurable(version, root, slot: headerSlot) }
        }
        let pageCount = space.pageCount
        let shrinks = pageCount < space.basePageCount
        // Can't fail: the pages are mapped.
        if !shrinks { try? store.extendMapping(to: pageCount) }
        store.lockFile.publish(version: version, pages: pageCount, root, headerSlot)
        if shrinks {
            store.limitMapping(to: pageCount)
            // Failing leaves a longer file, which does no harm.
            try? store.file.truncate(Int64(store.codec.bytes(pages: pageCount)))
        }
        isPublished = true
        return pinPublished(root, slot: slot, payloadCount: payload.count)
    }

    private func pinPublished(
        _ root: BlockReference, slot: Int, payloadCount: Int
    ) -> Store.Pin {
        let block = store.source.pointee.base + Int(root.page) << Page.shift
        let pin = Store.Pin(
            version: version, payload: block + VersionRoot.headerBytes, payloadCount: payloadCount,
            root: root)
        store.mutex.lock()
        // The writer lock is still held, so the committed version stays this one.
        _ = store.lockFile.pinCommitted(slot)
        if let index = store.pins.firstIndex(where: { $0.pin.version == version }) {
            // Another thread pinned the new version in between.
            store.lockFile.clearSlot(slot)
            store.pins[index].count += 1
        } else {
            store.pins.append(Store.PinEntry(pin: pin, slot: slot, count: 1))
        }
        store.mutex.unlock()
        return pin
    }

    // MARK: The pager's own blocks

    /// Places the chunks of the space map and the root. Returns the root and the pages the file
    /// grew by without using them.
    private func placeOwnBlocks(
        _ payload: UnsafeRawBufferPointer, trims: Bool
    ) throws(RealmError) -> (BlockReference, [SpaceRun]) {
        try space.planChunks(version, store.sweep.isMoving ? store.sweep.moves : nil)
        let chunks = space.chunks.indices.filter {
            !space.isInline && space.chunks[$0].reference.isNone
        }
        // Taking pages and returning the rest changes the map a little after it was measured: each
        // piece may add an entry or two of at most 20 bytes.
        let slack = 40 * (taker.count + chunks.count + 4)
        var sizes: [Int] = []
        var places: [UInt64] = []
        for index in chunks {
            let pages = Page.count(
                forBytes: space.encodedBytes(chunk: index, version) + slack)
            sizes.append(pages)
            places.append(taker.take(pages, space))
        }
        let rootBytes = VersionRoot.bytes(
            payload: payload.count, runs: scratch.written.count + chunks.count,
            blocks: scratch.blockPages.count + chunks.count,
            spaceMap: space.encodedBytes(version) + slack)
        let rootPages = Page.count(forBytes: rootBytes)
        guard rootPages <= PageCount.singleMax else {
            throw RealmError(
                .limitExceeded, "'\(store.path)': commit needs a root of \(rootBytes) bytes")
        }
        let rootPage = taker.take(rootPages, space)
        taker.settle(space)
        space.limitGrowth()
        let grown = space.noteGrowth()
        // The durable version may reach to the end of the file.
        if trims { space.trim(all: givesBackAll, floor: store.sweep.boundary) }

        let buffer = scratch.buffer((sizes.reduce(0, +) + rootPages) * Page.size)
        var offset = 0
        for (order, index) in chunks.enumerated() {
            let target = buffer + offset
            let capacity = sizes[order] * Page.size
            guard space.encode(chunk: index, version, into: target, capacity: capacity) else {
                throw sizeError()
            }
            space.chunks[index].reference = noteWritten(
                target, page: places[order], pages: sizes[order])
            offset += capacity
        }
        let target = buffer + offset
        // In the order of the list.
        for reference in scratch.references { noteDigest(reference) }
        var fits = true
        VersionRoot.encode(
            target, capacity: rootPages * Page.size, version: version,
            pageCount: space.pageCount, digest: digest, payload: payload, runs: scratch.written,
            blockPages: scratch.blockPages
        ) { map, capacity in
            guard let count = space.encode(version, into: map, capacity: capacity) else {
                fits = false
                return 0
            }
            return count
        }
        guard fits else { throw sizeError() }
        return (scratch.queue(target, page: rootPage, pages: rootPages, store), grown)
    }

    private func noteDigest(_ reference: BlockReference) {
        digest.add(
            location: reference.location,
            check: ContentHash(low: reference.check0, high: reference.check1))
    }

    private func noteWritten(
        _ block: UnsafeRawPointer, page: UInt64, pages: Int
    ) -> BlockReference {
        list(page: page, pages: pages)
        return scratch.queue(block, page: page, pages: pages, store)
    }

    /// Adds a block to the list of what the version writes.
    private func list(page: UInt64, pages: Int) {
        scratch.blockPages.append(PageCount.encode(pages))
        if let last = scratch.written.last, last.page + UInt64(last.pages) == page,
            last.version == version, last.blocks < WrittenRun.blocksMax
        {
            scratch.written[scratch.written.count - 1].blocks += 1
            scratch.written[scratch.written.count - 1].pages += pages
        } else {
            scratch.written.append(
                WrittenRun(page: page, blocks: 1, pages: pages, version: version))
        }
    }

    private func sizeError() -> RealmError {
        RealmError(
            .runtime, "'\(store.path)': the space map of version \(version) outgrew its block")
    }

    // MARK: Writing

    /// Blocks that were on these pages before are gone: their marks must not vouch for other bytes.
    /// Not earlier, because a reader may have marked one of them until now.
    private func writeAndMarkBlocks() throws(RealmError) {
        do throws(RealmError) {
            try scratch.write(to: store)
        } catch {
            scratch.forget(store.mapping)
            throw error
        }
        scratch.adopt(
            store.mapping, keepsAll: scratch.sealed.total <= SealedBlocks.smallMax, keepsLast: true)
    }

    private func writeHeader(_ root: BlockReference) throws(RealmError) {
        let header = FileHeader(
            slot: headerSlot, listsOlder: scratch.written.contains { $0.version != version },
            flags: store.options.inMemory ? FileHeader.flagInMemory : 0, fileID: store.fileID,
            version: version, root: root, pageCount: space.pageCount,
            pagesBefore: min(space.pageCount, group?.durablePages ?? space.basePageCount))
        do throws(RealmError) { try store.writeHeader(header) } catch { throw poison(error) }
    }

    /// After a failure that leaves open what is on disk; the versions of the group went with it.
    private func poison(_ error: RealmError) -> RealmError {
        store.fail(error)
        store.wipeHeader(headerSlot)
        store.group.end()
        return error
    }

    private var hasGrown: Bool {
        space.pageCount > group?.durablePages ?? space.basePageCount
    }

    /// The version waits for a sync, with the group if there is one.
    private func noteWaiting() {
        var state =
            group
            ?? CommitGroup.State(
                kept: kept + [lease.base.version], slot: headerSlot,
                durablePages: space.basePageCount)
        state.hasGrown = hasGrown
        state.versions.append(version)
        state.digest = digest
        state.written = scratch.written
        state.blockPages = scratch.blockPages
        store.group.state = state
    }
}
