// Commits of a program that become one of the file. The write transaction goes on after each, unsettled
// and unwritten; the version that is written in the end counts as many. From the second on each stands on
// a savepoint, so that it can be undone without those before it.

/// What was changed since a savepoint, taken out for a moment: the changes between the savepoints
/// that stand, oldest first, as steps that bring them back.
struct ChangesAside {
    fileprivate var parts: [(savepoint: UInt64, redo: UndoJournal)] = []
}

extension TableSet {
    /// Above these a transaction is written: what waits is lost with the process.
    private static let joinedMax: UInt64 = 4096
    private static let pagesMax = 8192

    /// Whether a commit of the write transaction may become part of one with what follows. Not where the log
    /// has to have the values of each, or the schema changes.
    var mayJoin: Bool {
        guard let transaction, knownSchema != nil, schemaFailure == nil, consumers.isEmpty,
            consumerChanges.isEmpty, transaction.pointee.changes.record?.pointee.origin == nil,
            transaction.pointee.earlyLease?.early.isEmpty ?? true
        else { return false }
        return joined < Self.joinedMax
            && transaction.pointee.memory.pointee.blocks.pageTotal < Self.pagesMax
    }

    /// Counts what was changed as a commit; the write transaction stays, without savepoints.
    func join() throws(RealmError) {
        if let oldest = journal?.oldest { try end(savepoint: oldest) }
        joined += 1
        // Early blocks are of the version behind the base.
        transaction?.pointee.earlyLease = nil
    }

    /// Undoes what was changed behind the last commit that was joined.
    func undoUnjoined(_ savepoint: UInt64) throws(RealmError) {
        consumerChanges = [:]
        try undo(to: savepoint)
        try end(savepoint: savepoint)
    }

    /// The program's last commit is the one that the transaction's counts as.
    func takeLastJoined() {
        invariant(joined > 0)
        joined -= 1
    }

    /// Takes out what was changed since a savepoint, with the savepoints from there on. The changes
    /// that this makes are heard by other journals, which know how to take them back in turn.
    func setAside(from savepoint: UInt64) throws(RealmError) -> ChangesAside {
        var aside = ChangesAside()
        for mark in (journal?.savepoints ?? []).reversed() where mark >= savepoint {
            let redo = UndoJournal()
            redo.mark(0, record: 0)
            try undo(to: mark, hearing: redo)
            try end(savepoint: mark)
            aside.parts.insert((mark, redo), at: 0)
        }
        return aside
    }

    /// Brings the changes back in the same or another write transaction, with their savepoints.
    func bringBack(_ aside: ChangesAside) throws(RealmError) {
        for part in aside.parts {
            try makeSavepoint(part.savepoint)
            try redo(part.redo)
        }
    }
}
