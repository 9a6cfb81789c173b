// What the tables of one session share in a write transaction, beside the memory of its blocks.

struct TransactionState {
    let memory: UnsafeMutablePointer<TransactionMemory>
    var changes = TransactionChanges()
    /// What writes blocks before the commit; nil where nothing is written early.
    var earlyLease: WriteLease?
    /// Pages of blocks that were in memory after the last early write.
    var pagesLeft = 0
    /// Told how many rows a change of the schema has been through; throws to end it.
    var onProgress: ((Int) throws(RealmError) -> Void)?
    /// What savepoints keep; nil before the first.
    var undo: UndoJournal?
    /// The number that a collection in a mixed value got last, and the one before the first; those of other
    /// transactions differ, except where they were rolled back (`AbortedNames`).
    var nestedNumber: UInt64
    let nestedStart: UInt64
    /// Where the cell of a small collection is changed.
    let cellBuffer = UnsafeMutableRawPointer.allocate(
        byteCount: CollectionCell.inlineBytesMax, alignment: 8)

    /// Makes the state of a transaction on top of the lease's version.
    static func make(_ lease: WriteLease) -> UnsafeMutablePointer<TransactionState> {
        let memory = UnsafeMutablePointer<TransactionMemory>.allocate(capacity: 1)
        memory.initialize(to: TransactionMemory())
        let state = UnsafeMutablePointer<TransactionState>.allocate(capacity: 1)
        // A transaction makes fewer than 2^24 of them, or numbers that are taken in other objects.
        let start = (lease.base.version &+ 1) << 24
        state.initialize(
            to: TransactionState(
                memory: memory, earlyLease: lease, nestedNumber: start, nestedStart: start))
        return state
    }

    /// Frees it with all blocks.
    static func end(_ state: UnsafeMutablePointer<TransactionState>) {
        let memory = state.pointee.memory
        state.pointee.changes.end()
        memory.pointee.blocks.deallocate()
        memory.deinitialize(count: 1)
        memory.deallocate()
        state.pointee.cellBuffer.deallocate()
        state.deinitialize(count: 1)
        state.deallocate()
    }
}
