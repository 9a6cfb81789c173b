// Savepoints: places in a write transaction that it can go back to, without giving up what was done
// before. What they keep is in `UndoJournal`.

/// A place in a write transaction. It ends with the transaction, with `release`, and when an older
/// one is released or gone back to.
public struct Savepoint: Sendable {
    /// Tells the savepoints of a realm apart; never given again.
    package let number: UInt64
    package init(number: UInt64) { self.number = number }
}

extension Realm {
    /// Makes a savepoint. From now on what changes keeps what was there before, so that its cost
    /// and memory follow the changes, not the data. Needs a write transaction.
    public func savepoint() throws(RealmError) -> Savepoint {
        let tables = try tablesForWriting()
        lastSavepoint += 1
        try tables.makeSavepoint(lastSavepoint)
        return Savepoint(number: lastSavepoint)
    }

    /// Takes back all changes since a savepoint, which stays. Objects that were deleted are there
    /// again, under their keys and with the links to them; handles of them and of collections are
    /// valid again. Keys of objects that were created since are not given again, unless they follow
    /// from primary keys. `.illegalOperation` when the savepoint has ended.
    ///
    /// Should it fail because the file can't be read, the whole transaction is rolled back.
    public func rollback(to savepoint: Savepoint) throws(RealmError) {
        let tables = try tables(with: savepoint)
        do throws(RealmError) {
            try tables.undo(to: savepoint.number)
        } catch {
            // Half of the changes are there: nothing of them may be committed.
            try rollback()
            throw error
        }
        session.pointee.stamp.pointee &+= 1
    }

    /// Ends a savepoint, with those made after it; the changes stay. `.illegalOperation` when it
    /// has ended.
    public func release(_ savepoint: Savepoint) throws(RealmError) {
        try tables(with: savepoint).end(savepoint: savepoint.number)
    }

    /// Runs `body`; what it changed is taken back when it throws.
    func atomically<R>(_ body: () throws(RealmError) -> R) throws(RealmError) -> R {
        let savepoint = try savepoint()
        let result: R
        do throws(RealmError) {
            result = try body()
        } catch {
            try rollback(to: savepoint)
            try release(savepoint)
            throw error
        }
        try release(savepoint)
        return result
    }

    private func tables(with savepoint: Savepoint) throws(RealmError) -> TableSet {
        let tables = try tablesForWriting()
        guard tables.stands(savepoint.number) else {
            throw RealmError(.illegalOperation, "the savepoint has ended")
        }
        return tables
    }
}
