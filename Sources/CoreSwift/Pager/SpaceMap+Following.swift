// How a writer that finds others' commits behind its own brings its map up to date: by what they
// changed. Writers in turns would otherwise read the whole map each time.
//
// The entries of a chunk are those in its block with the operations of the list applied (invariant 3 of
// SpaceMap.swift). A commit only appends to the list; when it writes a chunk anew, it removes the operations of
// that chunk. So of a chunk that has the same block in the later version, the list there begins with the operations that it
// had, and what is new is applied to what is in memory. Chunks with other blocks are read.
//
// What was found reusable when the others took it is so now: live versions only lose members (invariant
// 4). What does not fit all the same, in a map that no commit of ours wrote, is left to the reading of the whole
// map, which says what is wrong.

extension SpaceMap {
    /// Makes this map, which is that of an earlier version, that of the root at `reference`; see the initializer that reads a
    /// whole one. False, or an error: it is of no use any more.
    func follow(
        _ root: VersionRoot, at reference: BlockReference, live: [UInt64],
        block: (BlockReference) throws(RealmError) -> UnsafeRawPointer
    ) throws(RealmError) -> Bool {
        var reader = SpaceReader(
            base: root.spaceMap, count: root.spaceMapCount,
            subject: "space map of version \(root.version)")
        // One of few entries is read in as many steps.
        guard !isInline, try reader.number() == 1 else { return false }
        release(live: live)
        // Pages may have been added in between, and cut off again.
        follow(to: root.version, pageCount: 1 << 48)
        let (known, isKept) = try takeChunks(try SpaceMap.readChunkList(&reader), block)
        let count = try reader.operations()
        operations = []
        operations.reserveCapacity(count + 16)
        var position = 0
        for _ in 0..<count {
            let (operation, chunk) = try readOperation(&reader)
            if !isKept[chunk] {
                try apply(operation, toStored: chunk, reader)
            } else if position < known.count {
                guard operation == known[position] else { return false }
                position += 1
            } else {
                guard try apply(operation, live) else { return false }
            }
        }
        guard position == known.count else { return false }
        follow(to: root.version, pageCount: root.pageCount)
        for index in chunks.indices {
            if isKept[index] {
                guard chunks[index].entries.last?.end ?? 0 <= pageCount else { return false }
            } else {
                chunks[index].entries = try settled(chunks[index].entries, live)
                for entry in chunks[index].entries where entry.isFree { offer(entry) }
            }
        }
        try checkOwnBlocks(reference, reader)
        return true
    }

    /// Puts the chunks of the later version in the place of these: with their entries where the block is the same, and with
    /// those of their blocks otherwise. Returns the operations of the former that are in the entries already, and
    /// which chunks those are.
    private func takeChunks(
        _ stored: [SpaceChunk],
        _ block: (BlockReference) throws(RealmError) -> UnsafeRawPointer
    ) throws(RealmError) -> (known: [SpaceOperation], isKept: [Bool]) {
        var next = stored
        var isKept = [Bool](repeating: false, count: stored.count)
        var staysHere = [Bool](repeating: false, count: chunks.count)
        var index = 0
        for number in stored.indices {
            let end = number + 1 < stored.count ? stored[number + 1].first : .max
            while index < chunks.count, chunks[index].first < stored[number].first { index += 1 }
            if index < chunks.count, chunks[index].first == stored[number].first,
                chunks[index].reference == stored[number].reference, chunkEnd(index) == end
            {
                next[number].entries = chunks[index].entries
                isKept[number] = true
                staysHere[index] = true
            } else {
                next[number].entries = try SpaceMap.readChunk(stored[number], end, block)
            }
        }
        let known = operations.filter { staysHere[chunkIndex($0.entry.page)] }
        for index in chunks.indices where !staysHere[index] { forget(index) }
        chunks = next
        return (known, isKept)
    }

    /// Applies an operation of others to a chunk whose entries are as memory has them; false when it does not fit.
    private func apply(
        _ operation: SpaceOperation, _ live: [UInt64]
    ) throws(RealmError) -> Bool {
        var entry = operation.entry
        if operation.isUse { return carve(SpaceRun(page: entry.page, count: entry.count)) }
        let blocker = entry.isFree ? nil : Self.blocker(entry, live)
        if blocker == nil { entry = SpaceEntry(page: entry.page, count: entry.count) }
        do throws(RealmError) { try insert(entry) } catch { return false }
        if let blocker { self.block(entry, by: blocker) }
        return true
    }
}
