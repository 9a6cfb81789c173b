// Compaction: giving back the space that deleted data left in the file.

extension Realm {
    /// Moves the data to the front of the file and gives the rest back to the system. False when
    /// another realm, in this process or another, reads some version of the file, or writes one:
    /// what it reads stays where it is, and moving it would make the file longer until it is done. Beside
    /// a reader only what is free at the end of the file is given back.
    ///
    /// Either way the realm's read transaction ends and **all its objects, collections and results
    /// become invalid**. Throws `.wrongTransactionState` in a write transaction, for frozen and
    /// for read-only realms. Takes time and, for a while, disk space in proportion to the data.
    public func compact() throws(RealmError) -> Bool {
        try checkUsable()
        func refuse(_ reason: String) -> RealmError {
            RealmError(.wrongTransactionState, "cannot compact '\(path)': \(reason)")
        }
        if isFrozen { throw refuse("the realm is frozen") }
        if settings.isReadOnly { throw refuse("it was opened read-only") }
        if isWritable { throw refuse("a write transaction is open") }
        // Asynchronous commits are made durable from the transaction that ends here. What they call may do anything.
        finishCommits()
        try checkUsable()
        if isWritable { throw refuse("a write transaction is open") }
        endReadingForGood()
        return try Compaction.run(file.store)
    }
}

extension Realm {
    /// Asks the configuration whether to compact a file that was just opened.
    func compactIfAsked(_ configuration: Configuration) throws(RealmError) {
        guard let shouldCompact = configuration.shouldCompact, !settings.isReadOnly else { return }
        let store = file.store
        let sizes = try store.statistics()
        let unused = sizes.freePages + sizes.pendingPages
        // Of a new file it is asked, too: who counts on being asked decides by the sizes.
        guard unused > 0 || store.newestVersion == 1 else { return }
        let total = UInt64(sizes.filePages << Page.shift)
        guard try shouldCompact(total, total - UInt64(unused << Page.shift)) else { return }
        do throws(RealmError) {
            _ = try Compaction.run(store)
        } catch {
            // The realm is as good as before: opening goes on.
            file.log.log(.storage, .warning, "compacting '\(path)' failed: \(error.message)")
        }
    }
}

/// The rounds of a compaction.
enum Compaction {
    /// Moving away, moving to the front and trimming are three; a writer in between may cost more.
    private static let roundsMax = 8

    static func run(_ store: Store) throws(RealmError) -> Bool {
        var didBegin = false
        var wasMovedAway = false
        for _ in 0..<roundsMax {
            // Whoever writes reads, too: to wait would be for nothing, and for ever if it is
            // another realm of this thread.
            guard let lease = try store.beginWrite(wait: false) else { return didBegin }
            do throws(RealmError) {
                // Once begun, readers that come meanwhile only keep it from being perfect.
                guard !store.isRead(besides: lease) else {
                    if try !trimFreeEnd(store, lease) { lease.abandon() }
                    return didBegin
                }
                didBegin = true
                guard try round(store, lease, &wasMovedAway) else {
                    lease.abandon()
                    return true
                }
            } catch {
                lease.abandon()
                throw error
            }
        }
        return didBegin
    }

    /// A commit that gives back the free end of the file, which no version has that anybody reads; false
    /// when it is not worth one.
    private static func trimFreeEnd(
        _ store: Store, _ lease: WriteLease
    ) throws(RealmError) -> Bool {
        guard try lease.hasFreeEnd() else { return false }
        store.unpin(try lease.publishTrim().version)
        return true
    }

    /// One commit; false when there is nothing left to do.
    private static func round(
        _ store: Store, _ lease: WriteLease, _ wasMovedAway: inout Bool
    ) throws(RealmError) -> Bool {
        let base = try store.pin(version: lease.base.version)
        return try TableSet.with(base, store) { tables throws(RealmError) -> Bool in
            let copy = TreeCopy(tables, keepsLog: true)
            try copy.measure()
            let placement: Placement
            switch try lease.compactionStep(
                pages: copy.pages, blocks: copy.replaced.count)
            {
            case .done: return false
            case .trim:
                store.unpin(try lease.publishTrim().version)
                return true
            case .toFront(let least): placement = .lowest(least: least)
            case .away(let page):
                // What is no better after that stays as it is: it would only make the file longer.
                guard !wasMovedAway else { return try trimFreeEnd(store, lease) }
                wasMovedAway = true
                placement = .beyond(page)
            }
            let builder = try lease.prepareCommit(
                pages: copy.pages, freed: copy.replaced, placement: placement)
            store.unpin(try copy.publish(builder).version)
            return true
        }
    }
}
