// Comparing realms, and applying what was found, or what the change log of another file has.
// docs/CHANGE_LOG.md, "Applying and comparing".

extension Realm {
    /// What leads from this realm to another one, of the same file or not, as bytes for
    /// `apply(changes:)`. Both may be frozen; of one that writes, what was changed counts. Throws
    /// `.schemaMismatch` where a class or property is not the same in both.
    package func changes(to newer: Realm) throws(RealmError) -> [UInt8] {
        let old = try readTables()
        let new = try newer.readTables()
        let difference = try VersionDifference(from: old, to: new)
        return try withExtendedLifetime(difference) { () throws(RealmError) in
            try ChangeBytes(difference.operations, old).bytes
        }
    }

    /// The change log from a version to the one that the realm reads, as bytes for `apply(changes:)`.
    /// `.badVersion` where it does not reach back to that version.
    package func changes(from version: UInt64) throws(RealmError) -> [UInt8] {
        var bytes: [UInt8] = []
        try withLog(from: version) { operations, tables throws(RealmError) in
            bytes = try ChangeBytes(operations, tables).bytes
        }
        return bytes
    }

    /// Does what `changes(to:)` or `changes(from:)` found, in the write transaction. The realm is as
    /// the one was that they lead from, as far as they touch it; where one does not fit, an error is
    /// thrown, and nothing of them is done. `origin` is recorded with the commit.
    package func apply(changes: [UInt8], origin: UInt64) throws(RealmError) {
        let tables = try tablesForWriting()
        let changes = try ChangeBytes(checking: changes, tables)
        let record = tables.transaction?.pointee.changes.record
        let before = record?.pointee.origin
        do throws(RealmError) {
            // Half of them could damage the file, should somebody commit it.
            try atomically { () throws(RealmError) in
                try changes.withOperations { operations throws(RealmError) in
                    var applier = LogApplier(tables, origin: origin)
                    try applier.apply(operations)
                }
            }
        } catch {
            if let before { record?.pointee.origin = before }
            throw error
        }
    }

    /// Calls `body` with what such bytes say, as `readLog` does, until it returns false.
    package func readChanges(
        _ changes: [UInt8], _ body: @escaping (LoggedOperation) -> Bool
    ) throws(RealmError) {
        try withHeldTables { tables throws(RealmError) in
            let changes = try ChangeBytes(checking: changes, tables)
            try changes.withOperations { operations throws(RealmError) in
                try LogTeller(tables: tables, body: body).tell(operations)
            }
        }
    }
}
