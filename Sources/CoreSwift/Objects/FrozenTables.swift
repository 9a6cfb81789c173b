// The tables that frozen realms of one version read side by side, and that the next version's take
// over when nobody reads them any more: making tables takes as long as the schema is large, moving
// them does not.
//
// Invariants
//   1. Its version is held exactly while it has users.
//   2. The tables move only while it has none.
//   3. Without users it is somebody's who may freeze again (`isKept`), or the tables are closed.

import CKernels

final class FrozenTables: @unchecked Sendable {
    let tables: TableSet
    /// What the sessions of its users have for theirs; changes while there are none.
    let stamp: UnsafeMutablePointer<UInt64>
    private let lock = Lock()
    // Under `lock`.
    private var users = 1
    private var isKept = true

    /// For a frozen realm at the version of `source`, which is held.
    init(_ source: TableSet) throws(RealmError) {
        let pin = try source.store.pin(version: source.version)
        let stamp = UnsafeMutablePointer<UInt64>.allocate(capacity: 1)
        stamp.initialize(to: 1)
        do throws(RealmError) {
            tables = try TableSet(
                store: source.store, pin: pin, stamp: stamp, known: source.knownSchema)
        } catch {
            stamp.deallocate()
            throw error
        }
        tables.share()
        self.stamp = stamp
    }

    deinit { stamp.deallocate() }

    /// Takes in another frozen realm at the version of `source`, which is held; false if it reads
    /// another one.
    func enter(_ source: TableSet) throws(RealmError) -> Bool {
        try lock.withLock { () throws(RealmError) in
            guard isKept || users > 0, tables.store === source.store else { return false }
            if users == 0 {
                let pin = try source.store.pin(version: source.version)
                try tables.resume(at: pin, known: source.knownSchema)
                tables.share()
            } else if tables.version != source.version {
                return false
            }
            users += 1
            return true
        }
    }

    /// A frozen realm is closed.
    func leave() {
        lock.withLock {
            users -= 1
            if users > 0 { return }
            tables.rest()
            if !isKept { tables.close() }
        }
    }

    /// Nobody enters any more but at the version that it has.
    func giveUp() {
        lock.withLock {
            isKept = false
            if users == 0 { tables.close() }
        }
    }
}
