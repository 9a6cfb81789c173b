// A new file is filled by parts, a commit for each, and its indexes are made at the end of all: what parts add to
// them waits in sorted runs (IndexRuns.swift). Meanwhile indexes know nothing, so nobody may ask them:
//
//   links          are not looked up, but for those to classes of which that was asked: who fills sees to it that
//                  their targets are there at the end
//   primary keys   are compared at the end, when they stand side by side
//   deleting       would have to ask who links to an object, and is refused
//
// Called by `Realm+Filling`. Full-text indexes, whose terms are merged by each commit, stay as they were.

extension TableSet {
    /// What of an index is written by one commit, in bytes of its entries.
    static let portionBytes = 48 << 20
    /// What is merged into its tree at a time: the memory for it is used again and again.
    private static let pieceBytes = 4 << 20

    /// Begins; `rollbacks`: see `IndexRuns`.
    func startFilling(rollbacks: UInt32) throws(RealmError) {
        var isEmpty = true
        forEachTable { isEmpty = isEmpty && $0.rowCount == 0 }
        guard isEmpty, filling == nil else {
            throw RealmError(
                .illegalOperation, "'\(store.path)': only a file without objects can be filled")
        }
        filling = try IndexRuns(
            "\(store.path).index-\(store.files.processID())",
            isEncrypted: store.codec.cipher != nil, rollbacks: rollbacks, store.files)
        forEachTable {
            $0.state.isFilling = true
            $0.state.takesLinksUnseen = true
        }
    }

    /// Puts what waits for indexes aside, before a commit.
    func spillIndexes() throws(RealmError) {
        guard let filling else { return }
        try forEachTable { table throws(RealmError) in
            try table.finishFresh()
            for position in 0..<table.state.indexCount
            where table.state.indexes[position].pending.canDrain {
                try filling.add(
                    &table.state.indexes[position].pending,
                    of: IndexRuns.Owner(classKey: table.classKey, position: position))
            }
        }
    }

    /// Makes the indexes of all that was put aside. `commit` is called every now and then, and leaves a write
    /// transaction, as there has to be one at first. `.objectAlreadyExists` for two objects that may have one
    /// primary key; the file is of no use then.
    func finishFilling(
        portionBytes: Int, _ commit: () throws(RealmError) -> Void
    ) throws(RealmError) {
        guard let filling else { return }
        // What parts have kept for the next one.
        forEachTable { table in
            for position in 0..<table.state.indexCount
            where table.state.indexes[position].pending.count == 0 {
                table.state.indexes[position].pending.clear()
            }
        }
        try forEachTable { table throws(RealmError) in
            for position in 0..<table.state.indexCount {
                let owner = IndexRuns.Owner(classKey: table.classKey, position: position)
                guard let merge = try filling.take(owner) else { continue }
                var left = portionBytes
                while !merge.isEmpty {
                    let piece = min(left, Self.pieceBytes)
                    try table.takeBack(merge, position, bytes: piece)
                    try table.mergeIndex(position, keepsMemory: true)
                    left -= piece
                    if left > 0 { continue }
                    left = portionBytes
                    try commit()
                }
                table.state.indexes[position].pending.clear()
                if left < portionBytes { try commit() }
            }
            table.state.isFilling = false
            table.state.takesLinksUnseen = false
        }
        self.filling = nil
    }
}

extension Table {
    /// Moves records of about so many bytes into what waits for an index.
    fileprivate func takeBack(
        _ merge: IndexRunMerge, _ position: Int, bytes: Int
    ) throws(RealmError) {
        let index = state.indexes + position
        let isKey =
            index.pointee.column == state.primaryKeyColumn && index.pointee.kind == .values
        var left = bytes
        while !merge.isEmpty, left > 0 {
            let (value, word) = merge.top
            if isKey, merge.repeatsValue() {
                throw RealmError(
                    .objectAlreadyExists,
                    "\(named): two objects have one primary key, or keys that begin with the same "
                        + "\(value.count - 1) bytes; one of them is object "
                        + "\(ObjectKey(word: word & ~IndexPending.removalBit))")
            }
            index.pointee.pending.append(drained: value, word)
            left -= value.count + 32
            try merge.advance()
        }
    }
}
