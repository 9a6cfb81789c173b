// Compaction in place. All blocks of the newest version are moved by ordinary commits, first out of
// the way, then to the front of the file, and the end is given back. So it needs no exclusive use
// of the file, a crash at any moment costs nothing, and other processes notice only new versions.
// But what others read stays where it is until they are done, so that blocks which are moved are in the
// file twice: while somebody reads, only its free end is given back.
//
// What to move is the business of the layer that knows the trees; this file decides where to.

/// The next commit of a compaction.
enum CompactionStep: Equatable {
    /// Nothing more to gain.
    case done
    /// Nothing to move; a commit gives back the free end of the file.
    case trim
    /// Move all blocks to the front.
    case toFront(least: UInt64)
    /// Move all blocks behind this page, to make the front free.
    case away(UInt64)
}

extension Store {
    /// Whether anybody but the holder of the lease reads some version.
    func isRead(besides lease: WriteLease) -> Bool {
        mutex.lock()
        defer { mutex.unlock() }
        guard pins.count == 1, pins[0].count == 1, pins[0].pin.version == lease.base.version
        else { return true }
        // Slots of others, at whatever version; those of dead processes are cleared first. Who only
        // needs the change log reads nothing, and finds it in the compact file.
        guard lockFile.isPinnedByOthers() else { return false }
        do throws(RealmError) { try lockFile.reclaimDeadSlots() } catch { return true }
        return lockFile.isPinnedByOthers()
    }
}

extension WriteLease {
    /// What to do next about a file whose `blocks` blocks take `pages` pages.
    func compactionStep(pages: Int, blocks: Int) throws(RealmError) -> CompactionStep {
        store.group.lock()
        defer { store.group.unlock() }
        let space = try store.loadSpace(base, try store.versionsKept(for: base))
        // Each block that is moved leaves an entry of the map.
        let chunkPages = space.chunkPages(entries: space.entryCount + blocks)
        let count = UInt64(pages + base.root.pageCount + chunkPages)
        let ideal = FileHeader.firstBlockPage + count
        // A twentieth more is not worth another round.
        let good = ideal + max(8, ideal / 20)
        if space.endOfUse <= good { return space.pageCount > good ? .trim : .done }
        // In small runs blocks of several pages leave rests.
        let least: UInt64 = count >= 1024 ? 128 : 16
        if space.lowestEnd(count, least: least) <= good { return .toFront(least: least) }
        return .away(good)
    }

    /// Whether more is free at the end of the file than a compact one may have.
    func hasFreeEnd() throws(RealmError) -> Bool {
        store.group.lock()
        defer { store.group.unlock() }
        let space = try store.loadSpace(base, try store.versionsKept(for: base))
        return space.pageCount > space.endOfUse + max(8, space.endOfUse / 20)
    }

    /// A commit that changes nothing but gives back what is free at the end of the file.
    func publishTrim() throws(RealmError) -> Store.Pin {
        let builder = try prepareCommit(pages: 0, freed: [], placement: .lowest(least: 1))
        builder.givesBackAll = true
        return try builder.publish(
            payload: UnsafeRawBufferPointer(start: base.payload, count: base.payloadCount))
    }
}
