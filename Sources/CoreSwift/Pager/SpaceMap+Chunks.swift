// Which chunks of the space map a commit writes anew, and how the map is divided into chunks.

extension SpaceMap {
    /// Larger maps have larger chunks, so that the root's list of chunks stays short.
    private var chunkEntriesTarget: Int {
        min(limits.chunkEntriesMax, max(limits.chunkEntriesMin, entryCount / 32))
    }

    /// Chooses the chunks to write in the commit that makes `version`, divides and joins them, and
    /// frees their old blocks. The chosen ones are those without a reference afterwards. `moves`: blocks that
    /// shall not stay where they are; a few go at a time.
    func planChunks(
        _ version: UInt64, _ moves: ((BlockReference) -> Bool)? = nil
    ) throws(RealmError) {
        let entryCount = self.entryCount
        if isInline {
            guard entryCount > limits.inlineEntriesMax else { return }
            isInline = false
            divide(0)
            return
        }
        if entryCount < limits.inlineEntriesMax / 2 {
            try becomeInline(version)
            return
        }
        let limit = max(limits.operationsMin, 4 * chunks.count)
        while operations.count > limit {
            guard
                let busiest = chunks.indices.max(by: {
                    chunks[$0].operations < chunks[$1].operations
                })
            else { break }
            try rewrite(busiest, version)
        }
        guard let moves else { return }
        var pages = 0
        while pages < SpaceSweep.stepPagesMin,
            let index = chunks.firstIndex(where: { !$0.reference.isNone && moves($0.reference) })
        {
            pages += chunks[index].reference.pageCount
            try rewrite(index, version)
        }
    }

    /// Pages that the next commit will probably need for chunks.
    var chunkPagesExpected: Int {
        if chunks.contains(where: { $0.reference.isNone }) {
            return chunkPages(entries: entryCount)
        }
        guard operations.count > limits.operationsMin * 3 / 4 else { return 0 }
        return 2
    }

    /// Pages that the chunks of a map of so many entries take.
    func chunkPages(entries: Int) -> Int {
        guard entries > limits.inlineEntriesMax else { return 0 }
        return Page.count(forBytes: 8 * entries) + entries / limits.chunkEntriesMin
    }

    /// Makes the commit that makes `version` write all chunks anew: none stays where it is, and free runs no
    /// longer end where a chunk does.
    func rewriteAll(_ version: UInt64) throws(RealmError) {
        if !isInline { try becomeInline(version) }
        try planChunks(version)
    }

    private func becomeInline(_ version: UInt64) throws(RealmError) {
        let old = chunks.map(\.reference).filter { !$0.isNone }
        isInline = true
        operations = []
        let all = chunks
        chunks = [SpaceChunk(first: FileHeader.firstBlockPage)]
        for chunk in all { append(chunk.entries, to: 0) }
        for reference in old { try free(reference, by: version) }
    }

    /// Drops the chunk's operations and its old block; divides it when it has grown too large,
    /// joins the next one when both are small.
    private func rewrite(_ index: Int, _ version: UInt64) throws(RealmError) {
        var old = [chunks[index].reference]
        let target = chunkEntriesTarget
        if index + 1 < chunks.count, chunks[index].entries.count < target / 8,
            chunks[index + 1].entries.count < target / 2
        {
            old.append(chunks[index + 1].reference)
            let next = chunks.remove(at: index + 1)
            append(next.entries, to: index)
        }
        dropOperations(from: chunks[index].first, to: chunkEnd(index))
        chunks[index].operations = 0
        divide(index)
        for reference in old where !reference.isNone { try free(reference, by: version) }
    }

    /// Adds the entries of the following range; free ones meet across the border.
    private func append(_ entries: [SpaceEntry], to index: Int) {
        var entries = entries[...]
        if let first = entries.first, let last = chunks[index].entries.last, first.isFree,
            last.isFree, last.end == first.page
        {
            chunks[index].entries[chunks[index].entries.count - 1].count += first.count
            offer(SpaceEntry(page: last.page, count: last.count + first.count))
            entries = entries.dropFirst()
        }
        chunks[index].entries += entries
    }

    private func dropOperations(from first: UInt64, to end: UInt64) {
        operations.removeAll { $0.entry.page >= first && $0.entry.page < end }
    }

    /// Cuts a chunk into pieces of the target size, none of them with a block yet.
    private func divide(_ index: Int) {
        let target = chunkEntriesTarget
        chunks[index].reference = .none
        let count = chunks[index].entries.count
        guard count > target else { return }
        let pieces = (count + target * 2 / 3 - 1) / (target * 2 / 3)
        let entries = chunks[index].entries
        var divided: [SpaceChunk] = []
        for piece in 0..<pieces {
            let start = count * piece / pieces
            let end = count * (piece + 1) / pieces
            divided.append(
                SpaceChunk(
                    first: piece == 0 ? chunks[index].first : entries[start].page,
                    entries: Array(entries[start..<end])))
        }
        chunks.replaceSubrange(index...index, with: divided)
    }
}
