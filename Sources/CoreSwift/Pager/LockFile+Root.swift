// Where the root of the committed version is, and which header slot names it. Readers ask here and not
// the slots: versions that share a sync write their headers over one another, so that for a moment,
// or for good when a process is killed in it, the slot holds one that is not published.
//
// Two cells of 48 bytes from offset 112: version (8), header slot (8), reference of the root (32).
//
// Invariants
//   1. One of the cells is that of the committed version, whenever somebody looks.
//   2. A commit writes the other one, before it publishes. Its version is 0 while it is written, so
//      who finds a version before and after reading the rest has read what belongs to it.

import CKernels

extension LockFile {
    private static let cellsOffset = 112
    private static let cellBytes = 48

    private func cell(_ index: Int) -> UnsafeMutablePointer<UInt64> {
        word(Self.cellsOffset + index * Self.cellBytes)
    }

    /// Nil if it is neither the committed version nor the one before.
    func root(of version: UInt64) -> (root: BlockReference, slot: Int)? {
        for index in 0...1 {
            let cell = cell(index)
            guard ck_load_u64(cell) == version else { continue }
            let slot = Int(truncatingIfNeeded: ck_load_u64(cell + 1) & 1)
            let root = BlockReference(
                location: ck_load_u64(cell + 2), version: ck_load_u64(cell + 3),
                check0: ck_load_u64(cell + 4), check1: ck_load_u64(cell + 5))
            if ck_load_u64(cell) == version { return (root, slot) }
        }
        return nil
    }

    /// For a version that is about to be published.
    func noteRoot(_ version: UInt64, _ root: BlockReference, _ slot: Int) {
        let cell = cell(ck_load_u64(cell(0)) == committedVersion ? 1 : 0)
        ck_store_u64(cell, 0)
        ck_store_u64(cell + 1, UInt64(slot))
        ck_store_u64(cell + 2, root.location)
        ck_store_u64(cell + 3, root.version)
        ck_store_u64(cell + 4, root.check0)
        ck_store_u64(cell + 5, root.check1)
        ck_store_u64(cell, version)
    }
}
