// Realms that stand at a version for good, and versions that realms are to reach.

import CKernels

extension Realm {
    /// A frozen realm at the version of this one's read transaction: of cached realms the one that
    /// was frozen there before.
    public func freeze() throws(RealmError) -> Realm {
        let tables = try readTables()
        guard file.isCached(self) else { return try frozen(at: tables) }
        if let known = lastFrozen, !known.isClosed, known.version == tables.version { return known }
        let frozen = try frozen(at: tables)
        lastFrozen = frozen
        return frozen
    }

    /// Undoes an open write transaction and ends the read transaction: every object, collection and result
    /// becomes invalid, and their observers hear no more. The realm stays open and begins to read again, at
    /// the newest version, when it is asked for something. A frozen realm is closed.
    package func invalidate() throws(RealmError) {
        try checkUsable()
        if isFrozen { return close() }
        finishCommits()
        if isWritable { try rollback() }
        if version != nil { endReadingForGood() }
    }

    /// While an observer is called: a frozen realm at the version that it was told last, which has all
    /// values as it knows them.
    package func freezeTold() throws(RealmError) -> Realm {
        try checkUsable()
        guard let told = notifier?.told else {
            throw RealmError(
                .wrongTransactionState, "no observer of '\(path)' is being told of a change")
        }
        return try frozen(at: told.tables)
    }

    private func frozen(at source: TableSet) throws(RealmError) -> Realm {
        try writeBase()
        if let frozenTables {
            if try frozenTables.enter(source) { return Realm(frozenTables, of: self) }
            // One that is frozen stays with the version that it shares.
            if !isFrozen { frozenTables.giveUp() }
        }
        let made = try FrozenTables(source)
        if !isFrozen { frozenTables = made }
        return Realm(made, of: self)
    }

    /// A realm of the same thread that reads a version and can't write, showing all that the file had.
    func reader(at version: UInt64) throws(RealmError) -> Realm {
        var settings = Settings()
        settings.mode = .readOnly
        let reader = Realm(file: file, settings: settings, scheduler: scheduler)
        do throws(RealmError) {
            try reader.startReading(at: try file.store.pin(version: version))
        } catch {
            reader.close()
            throw error
        }
        reader.isOpening = false
        return reader
    }

    /// Reads at least the given version: starts there, if that is still kept, or moves to the
    /// newest version. Write transactions and frozen realms stay where they are.
    func reach(_ version: UInt64) throws(RealmError) {
        try checkUsable()
        if isFrozen || isWritable || settings.mode == .immutable { return }
        if let tables {
            if tables.version < version { _ = try refresh() }
            return
        }
        let store = file.store
        do throws(RealmError) {
            try startReading(at: try store.pin(version: version))
        } catch {
            // Nobody keeps that version any more, or it has a schema from before this realm's.
            guard error.code == .badVersion || error.code == .invalidSchemaChange else {
                throw error
            }
            _ = try startReading()
        }
    }

    /// How many versions of the file are kept: the newest and those that somebody reads.
    public func liveVersionCount() throws(RealmError) -> Int {
        try checkUsable()
        if settings.mode == .immutable { return 1 }
        return file.store.liveVersionCount()
    }

    /// Whether `refresh()` would do nothing, as one can tell without counting a reference: the realm reads
    /// the newest version, and no observer has to be told anything.
    @inline(never)
    package var isFresh: Bool {
        guard session.pointee.status == .reading, session.pointee.isOnKnownThread,
            settings.mode != .immutable, let directory = session.pointee.directory,
            ck_load_u64(joinedWords) == 0 && directory.pointee.isNewest
        else { return false }
        guard let settled else { return true }
        let version = ck_load_u64(settled)
        return version == directory.pointee.version || version == Notifier.settledAtAll
    }
}
