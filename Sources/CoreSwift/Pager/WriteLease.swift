// The right to write, and what a commit does with it. One exists at a time for a file, over all
// threads and processes. The transaction above works in memory; only `CommitBuilder` touches the
// file.
//
// A lease ends with a successful `publish` or with `abandon`; one that is dropped abandons itself.
// When `publish` fails before the header was written (a full disk), the lease is still held:
// prepare another commit, or abandon. It may be used from any thread, one at a time.

import CKernels

final class WriteLease {
    let store: Store
    /// The newest version, pinned by the lease.
    let base: Store.Pin
    private var hasEnded = false
    /// Blocks that were written before the commit (EarlyBlocks.swift).
    var early: [BlockReference] = []
    /// No early write has failed.
    var mayWriteEarly = true
    /// The map of free space may not be that of the base any more.
    var hasTriedEarly = false

    init(store: Store, base: Store.Pin) {
        self.store = store
        self.base = base
    }

    deinit { abandon() }

    /// Starts the commit that makes the next version: reserves a run for `pages` pages of the
    /// client's blocks and what the pager adds. `freed` are the blocks of older versions that the new
    /// one no longer needs. It counts as `versions` commits. A sync of the group may be under way, and end,
    /// until it is published.
    func prepareCommit(
        pages: Int, freed: [BlockReference], placement: Placement = .anywhere,
        versions: UInt64 = 1
    ) throws(RealmError) -> CommitBuilder {
        guard !hasEnded else {
            throw RealmError(
                .wrongTransactionState, "'\(store.path)': the write transaction has ended")
        }
        try store.mutex.withLock { () throws(RealmError) in try store.checkUsable() }
        store.group.lockBesideSync()
        defer { store.group.unlock() }
        do throws(RealmError) {
            let space = try loadSpace()
            let version = base.version + versions
            space.ceiling = store.sweep.ceiling(space)
            space.clearing = store.sweep.clearing
            for block in undoEarly(freed, space) { try space.free(block, by: version) }
            // The root of the base goes with it.
            try space.free(base.root, by: version)
            if placement.isRelocation { try space.rewriteAll(version) }
            let own = UInt64(base.root.pageCount + space.chunkPagesExpected)
            let taker = PageTaker(space, UInt64(pages) + own, placement)
            return CommitBuilder(
                lease: self, space: space, version: version, taker: taker)
        } catch {
            // Half of the changes may be in the map: load it again next time.
            store.space = nil
            throw error
        }
    }

    /// Early blocks that the version does not have after all are free again. Returns the others of `freed`.
    private func undoEarly(_ freed: [BlockReference], _ space: SpaceMap) -> [BlockReference] {
        if early.isEmpty { return freed }
        var places: [UInt64: Int] = [:]
        for (index, block) in early.enumerated() { places[block.page] = index }
        var rest: [BlockReference] = []
        for block in freed {
            if let index = places[block.page], early[index] == block {
                early[index] = .none
                space.undo(block)
            } else {
                rest.append(block)
            }
        }
        early.removeAll { $0.isNone }
        return rest
    }

    /// The map of free space; it spares the pages of the versions of the group. With the lock of that held.
    func loadSpace() throws(RealmError) -> SpaceMap {
        // What another process went on from is synced by now, also if its own commit failed or it was
        // killed. Then the durable version is the group's last one, and the other slot is free.
        if let state = store.group.state,
            state.versions.last != base.version
                || store.lockFile.unsyncedVersion != base.version
        {
            store.group.awaitSync()
            store.group.end()
        }
        let kept = try store.versionsKept(for: base)
        if !early.isEmpty, store.space == nil {
            throw RealmError(
                .wrongTransactionState, "'\(store.path)': a commit of this transaction has failed")
        }
        return try store.loadSpace(base, kept)
    }

    /// Rolls back: releases the writer lock and the pin. Nothing was written that counts.
    func abandon() {
        guard !hasEnded else { return }
        if hasTriedEarly {
            early = []
            store.forgetEarly()
        }
        end()
    }

    /// `keepsWriter`: the writer lock stays, for `Store.goOnWriting`.
    func end(keepsWriter: Bool = false) {
        hasEnded = true
        if hasTriedEarly { store.endEarly() }
        store.unpin(base.version)
        if !keepsWriter { store.endWrite() }
    }
}

extension Store {
    /// How far the file reaches, with what the write transaction has written early.
    var filePages: UInt64 { max(lockFile.filePages, ck_load_relaxed_u64(earlyPages)) }

    /// The write transaction has written so far.
    func noteEarly(pages: UInt64) {
        ck_store_relaxed_u64(earlyPages, max(ck_load_relaxed_u64(earlyPages), pages))
    }

    /// It has ended.
    func endEarly() { ck_store_relaxed_u64(earlyPages, 0) }

    /// What was written early is of no use.
    func forgetEarly() {
        guard !isInForkedChild else { return }
        space = nil
        endEarly()
        group.lock()
        defer { group.unlock() }
        // The durable version may reach further than one that waits for a sync; and of a commit that failed,
        // nobody knows what is on the disk.
        guard group.state == nil,
            (try? mutex.withLock { () throws(RealmError) in try checkUsable() }) != nil
        else { return }
        limitMapping(to: lockFile.filePages)
        // Failing leaves a longer file, which does no harm.
        try? file.truncate(Int64(codec.bytes(pages: lockFile.filePages)))
    }

    /// Another lease for who has just committed and kept the writer lock.
    func goOnWriting() throws(RealmError) -> WriteLease {
        do throws(RealmError) {
            return WriteLease(store: self, base: try pinNewest())
        } catch {
            endWrite()
            throw error
        }
    }

    /// The map of the newest version with what has become reusable meanwhile. For the writer only.
    /// `kept`: see `versionsKept`.
    func loadSpace(_ base: Pin, _ kept: [UInt64]) throws(RealmError) -> SpaceMap {
        mutex.lock()
        commitsSinceReclaim += 1
        let live = liveVersions(
            newest: base.version, kept: kept, reclaim: commitsSinceReclaim >= 32)
        if commitsSinceReclaim >= 32 { commitsSinceReclaim = 0 }
        mutex.unlock()
        if let space, space.version == base.version {
            space.release(live: live)
            return space
        }
        let root = try VersionRoot(try admit(base.root), base.root)
        let old = space
        // Where following others' commits fails, it is half theirs.
        space = nil
        if let old, try old.follow(root, at: base.root, live: live, block: mapBlock) {
            space = old
            return old
        }
        let loaded = try readSpace(root, at: base.root, live: live)
        space = loaded
        return loaded
    }

    func readSpace(_ pin: Pin, live: [UInt64]?) throws(RealmError) -> SpaceMap {
        try readSpace(
            try VersionRoot(try admit(pin.root), pin.root), at: pin.root, live: live)
    }

    private func readSpace(
        _ root: VersionRoot, at reference: BlockReference, live: [UInt64]?
    ) throws(RealmError) -> SpaceMap {
        try SpaceMap(
            root, at: reference, live: live, limits: options.spaceLimits, block: mapBlock)
    }

    /// The bytes of a chunk's block.
    private func mapBlock(_ reference: BlockReference) throws(RealmError) -> UnsafeRawPointer {
        // Those of a map that another process goes on from have mostly been read before.
        if let known = known(reference) { return known }
        let block = try admit(reference)
        markVerified(reference)
        return block
    }

    func statistics() throws(RealmError) -> StoreStatistics {
        let pin = try pinNewest()
        defer { unpin(pin.version) }
        mutex.lock()
        let live = liveVersions(newest: pin.version, reclaim: true)
        mutex.unlock()
        let space = try readSpace(pin, live: live)
        return StoreStatistics(
            filePages: Int(space.pageCount), freePages: Int(space.freePages),
            pendingPages: Int(space.pendingPages),
            liveVersions: options.immutable ? 1 : live.count)
    }
}
