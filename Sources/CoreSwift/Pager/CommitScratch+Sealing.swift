// How the blocks of a large commit to an encrypted file are sealed: neighbouring leaves wait for one another
// and are sealed together by two cores, one of which first writes what was sealed before. Sealing is
// nearly all that such a commit costs beside one to a plain file.
//
// A block that waits has its pages and its place in the list of what the version writes; what its parent
// gets is its reference, so its parent is placed behind `sealWaiting`. Nonces are numbered in the order in which
// blocks are sealed, by an atomic counter (`FileCipher`): no two get the same, whichever thread asks.

import CKernels

/// A block that has its place, and is to be sealed.
struct WaitingBlock {
    /// Of the queue.
    let index: Int
    let block: UnsafeRawPointer
    let page: UInt64
    let pages: Int
    /// Where its reference goes.
    let place: UnsafeMutableRawPointer
    /// Where its ciphertext goes, and as what it is known then.
    var sealed: UnsafeMutableRawPointer?
    var reference = BlockReference.none
}

extension CommitScratch {
    /// Queues one of many leaves: its reference is stored at `place` when `sealWaiting` returns, or before.
    func queueLeaf(
        _ block: UnsafeRawPointer, page: UInt64, pages: Int, at place: UnsafeMutableRawPointer,
        _ store: Store
    ) {
        guard store.codec.cipher != nil, TwoCores.areThere else {
            return queue(block, page: page, pages: pages, store).store(place)
        }
        let bytes = store.codec.sealedBytes(pages: waitingPages + pages)
        if bytes > SealedBlocks.pieceBytes { sealWaiting(store) }
        waiting.append(
            WaitingBlock(
                index: references.count, block: block, page: page, pages: pages, place: place))
        waitingPages += pages
        enqueue(
            block, IOVector(block, 0),
            BlockReference(page: page, pages: pages, version: version))
    }

    /// Seals the blocks that wait; called before a block is placed that refers to them.
    func sealWaiting(_ store: Store) {
        guard let first = waiting.first?.index else { return }
        let codec = store.codec
        let isShared = waitingPages >= store.options.sharedSealingPagesMin
        // What was queued between them is sealed, but behind the first of them.
        let isRun = references.count - first == waiting.count
        let writesMeanwhile = isShared && isRun && first > writtenCount
        if writesMeanwhile { sealed.turn() }
        for index in waiting.indices {
            let bytes = codec.sealedBytes(pages: waiting[index].pages)
            waiting[index].sealed = sealed.take(bytes)
        }
        let version = self.version
        var next: UInt64 = 0
        waiting.withUnsafeMutableBufferPointer { waiting in
            withUnsafeMutablePointer(to: &next) { next in
                if isShared {
                    TwoCores.run { half in
                        if half == 0, writesMeanwhile { writeSealed(before: first, store) }
                        Self.seal(waiting, next, codec, version)
                    }
                } else {
                    Self.seal(waiting, next, codec, version)
                }
            }
        }
        for block in waiting {
            guard let sealed = block.sealed else { continue }
            vectors[block.index] = IOVector(sealed, codec.sealedBytes(pages: block.pages))
            references[block.index] = block.reference
            block.reference.store(block.place)
        }
        waiting.removeAll(keepingCapacity: true)
        waitingPages = 0
        if sealed.isFull { writeSealed(store) }
    }

    /// Seals one block after another that nobody has taken yet.
    private static func seal(
        _ waiting: UnsafeMutableBufferPointer<WaitingBlock>, _ next: UnsafeMutablePointer<UInt64>,
        _ codec: BlockCodec, _ version: UInt64
    ) {
        while true {
            let number = Int(ck_add_u64(next, 1)) - 1
            guard number < waiting.count else { return }
            let block = waiting[number]
            guard let target = block.sealed else { continue }
            waiting[number].reference =
                codec.seal(
                    block.block, page: block.page, pages: block.pages, version: version,
                    into: target
                ).reference
        }
    }

    /// Writes all that is sealed, so that a large commit to an encrypted file takes no more memory than one
    /// to a plain file and 2 MiB. The pages are free until the header names the version.
    func writeSealed(_ store: Store) {
        sealWaiting(store)
        writeSealed(before: references.count, store)
        sealed.empty()
    }

    private func writeSealed(before limit: Int, _ store: Store) {
        if failure == nil {
            do throws(RealmError) { try write(before: limit, to: store) } catch { failure = error }
        }
        writtenCount = limit
    }
}
