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
    /// What waits for an index is worth a sorted run of its own from so many bytes on.
    static let spillBytes = 4 << 20

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

    /// Puts what waits for indexes aside, before a commit; between two, where it takes that many bytes.
    func spillIndexes(ofBytes bytes: Int = 0) throws(RealmError) {
        guard let filling else { return }
        try forEachTable { table throws(RealmError) in
            try table.finishFresh()
            for position in 0..<table.state.indexCount
            where table.state.indexes[position].pending.canDrain
                && table.state.indexes[position].pending.bytes >= bytes
            {
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
                while !merge.isEmpty {
                    try table.takeBack(merge, position, bytes: portionBytes)
                    try commit()
                }
                table.state.indexes[position].pending.clear()
            }
            table.state.isFilling = false
            table.state.takesLinksUnseen = false
        }
        self.filling = nil
    }
}

extension Table {
    /// What is merged into a tree at a time where it can't be appended.
    private static let pieceBytes = 4 << 20

    /// Moves records of about so many bytes into an index.
    fileprivate func takeBack(
        _ merge: IndexRunMerge, _ position: Int, bytes: Int
    ) throws(RealmError) {
        let index = state.indexes + position
        var left = bytes
        while !merge.isEmpty, left > 0 {
            let (value, word) = merge.top
            guard let start = value.baseAddress else { return }
            let key = ObjectKey(word: word & ~IndexPending.removalBit)
            if try index.pointee.tree.isBelow(
                IndexPosition(bytes: start, count: value.count, key: key))
            {
                try append(merge, position, &left)
            } else {
                try mergePiece(merge, position, &left)
            }
        }
    }

    /// Appends records to the tree of an index, above all of whose entries they are.
    private func append(
        _ merge: IndexRunMerge, _ position: Int, _ left: inout Int
    ) throws(RealmError) {
        let index = state.indexes + position
        let isKey =
            index.pointee.column == state.primaryKeyColumn && index.pointee.kind == .values
        let further: FurtherLinks? = index.pointee.pending.isCounted ? FurtherLinks() : nil
        var rest = left
        try index.pointee.tree.append(memory: memory) { builder throws(RealmError) in
            while !merge.isEmpty, rest > 0 {
                let (value, word) = merge.top
                let start = value.baseAddress.unsafelyUnwrapped
                let key = ObjectKey(word: word & ~IndexPending.removalBit)
                if let further, !further.isEmpty {
                    if further.isFull { break }
                    further.finish(unlessOf: value, builder)
                }
                if word & IndexPending.removalBit != 0 {
                    if let further, further.remove(key) {
                        // It was not the first link.
                    } else {
                        builder.remove(start, value.count, key)
                    }
                } else {
                    switch builder.add(start, value.count, key) {
                    case .none: break
                    case .value: if isKey { throw repeated(value.count, key) }
                    case .all: further?.add(value, key)
                    }
                }
                rest &-= value.count &+ 32
                try merge.advance()
            }
            further?.finish(builder)
        }
        left = rest
    }

    /// The same through what waits for the index, for records that may be among its entries.
    private func mergePiece(
        _ merge: IndexRunMerge, _ position: Int, _ left: inout Int
    ) throws(RealmError) {
        let index = state.indexes + position
        var rest = min(left, Self.pieceBytes)
        left -= rest
        while !merge.isEmpty, rest > 0 {
            let (value, word) = merge.top
            index.pointee.pending.append(drained: value, word)
            rest -= value.count + 32
            try merge.advance()
        }
        try mergeIndex(position, keepsMemory: true)
    }

    private func repeated(_ count: Int, _ key: ObjectKey) -> RealmError {
        RealmError(
            .objectAlreadyExists,
            "\(named): two objects have one primary key, or keys that begin with the same "
                + "\(count - 1) bytes; one of them is object \(key)")
    }
}
