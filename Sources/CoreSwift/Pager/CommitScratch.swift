// The blocks that a commit, or an early write, has queued for writing, in memory that is used again and again.
// Guarded by the writer.

final class CommitScratch {
    /// Of each block that was queued: what is written, as which reference, and where it is in memory.
    var vectors: [IOVector] = []
    var references: [BlockReference] = []
    private var blocks: [UnsafeRawPointer] = []
    /// Blocks that are in the file already.
    var writtenCount = 0
    let sealed = SealedBlocks()
    /// Queued and not sealed yet, and their pages.
    var waiting: [WaitingBlock] = []
    var waitingPages = 0
    /// Of a write that went before the others.
    var failure: RealmError?
    private(set) var version: UInt64 = 0
    /// Whether the disk begins with a part while the next one is made ready.
    private var isSynced = false
    /// The list of what the version writes.
    var blockPages: [UInt16] = []
    var written: [WrittenRun] = []
    private var memory: UnsafeMutableRawPointer?
    private var capacity = 0

    deinit { memory?.deallocate() }

    /// At least `bytes` bytes; what was there before is gone.
    func buffer(_ bytes: Int) -> UnsafeMutableRawPointer {
        if let memory, capacity >= bytes { return memory }
        memory?.deallocate()
        capacity = max(bytes, 4 * Page.size)
        let fresh = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: Page.size)
        memory = fresh
        return fresh
    }

    /// From now on blocks of this version are queued. `isSynced`: they are synced next.
    func begin(_ version: UInt64, isSynced: Bool) {
        self.version = version
        self.isSynced = isSynced
        vectors.removeAll(keepingCapacity: true)
        references.removeAll(keepingCapacity: true)
        blocks.removeAll(keepingCapacity: true)
        waiting.removeAll(keepingCapacity: true)
        waitingPages = 0
        writtenCount = 0
        failure = nil
        sealed.reset()
        blockPages.removeAll(keepingCapacity: true)
        written.removeAll(keepingCapacity: true)
    }

    // MARK: Queueing

    /// Seals a block and queues it; it stays as it is until it is written.
    func queue(
        _ block: UnsafeRawPointer, page: UInt64, pages: Int, _ store: Store
    ) -> BlockReference {
        let codec = store.codec
        let made = codec.seal(
            block, page: page, pages: pages, version: version,
            into: sealed.take(codec.sealedBytes(pages: pages)))
        enqueue(block, IOVector(made.bytes, made.count), made.reference)
        if sealed.isFull { writeSealed(store) }
        return made.reference
    }

    func enqueue(
        _ block: UnsafeRawPointer, _ vector: IOVector, _ reference: BlockReference
    ) {
        vectors.append(vector)
        references.append(reference)
        blocks.append(block)
    }

    // MARK: Writing

    static let zeroPagesMax = UInt64(OpenFile.zeroCount >> Page.shift)

    /// Writes all that is queued, unless a write has failed before; behind it so many pages of zeros, which
    /// are free.
    func write(to store: Store, zeroPages: Int = 0) throws(RealmError) {
        sealWaiting(store)
        if let failure { throw failure }
        try write(before: references.count, to: store, zeroPages: zeroPages)
    }

    /// Writes the queued blocks before the one with this number, as few calls as their places allow.
    func write(before limit: Int, to store: Store, zeroPages: Int = 0) throws(RealmError) {
        var start = writtenCount
        while start < limit {
            var end = start + 1
            while end < limit, references[end].page == references[end - 1].end { end += 1 }
            let page = references[start].page
            if end == limit, zeroPages > 0 {
                vectors.append(IOVector(OpenFile.zeros, zeroPages << Page.shift))
                try write(start..<end + 1, at: page, to: store)
            } else {
                try write(start..<end, at: page, to: store)
            }
            start = end
        }
    }

    /// Writes a run of the file part by part: in pieces (`StoreOptions.piecePages`) what a disk is waited for.
    /// Uses up its vectors.
    private func write(
        _ run: Range<Int>, at page: UInt64, to store: Store
    ) throws(RealmError) {
        let options = store.options
        let partBytes = Int64((isSynced ? options.piecePages : options.partPages) << Page.shift)
        var position = Int64(store.codec.offset(page))
        let end = vectors[run].reduce(position) { $0 + Int64($1.count) }
        // Of an encrypted file a piece that is full has somewhat less.
        let isLong = end - position >= partBytes * 7 / 8
        var first = run.lowerBound
        while position < end {
            let partEnd =
                end - position <= partBytes
                ? end : (position / partBytes + 1) * partBytes
            var next = first
            var reached = position
            while reached < partEnd {
                reached += Int64(vectors[next].count)
                next += 1
            }
            // The rest of a vector that the part ends in begins the next one.
            let rest = Int(reached - partEnd)
            let last = vectors[next - 1]
            vectors[next - 1].count -= rest
            try writePart(first..<next, at: position, to: store)
            if isSynced, isLong {
                store.file.beginWriting(Int(partEnd - position), at: position)
            }
            if rest > 0 {
                next -= 1
                vectors[next] = IOVector(last.base + (last.count - rest), rest)
            }
            first = next
            position = partEnd
        }
    }

    private func writePart(
        _ range: Range<Int>, at offset: Int64, to store: Store
    ) throws(RealmError) {
        var failure: RealmError?
        vectors.withUnsafeMutableBufferPointer { all in
            do throws(RealmError) {
                try store.file.write(
                    UnsafeMutableBufferPointer(rebasing: all[range]), at: offset, "write blocks")
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
    }

    /// Readers may use what is written. Of a bulk load not all is read soon: `keepsAll` of a small one, and the
    /// last of a commit, which is its root.
    func adopt(_ mapping: PageMapping, keepsAll: Bool, keepsLast: Bool) {
        for (index, reference) in references.enumerated() {
            mapping.adopt(
                reference, blocks[index],
                keeps: keepsAll || (keepsLast && index == references.count - 1))
        }
    }

    /// Some of them may have been written: marks of what was there must not vouch for other bytes.
    func forget(_ mapping: PageMapping) {
        for reference in references { mapping.clear(reference) }
    }
}
