// Memory for the blocks of one write transaction: cut from chunks that are freed together when it
// ends. A bulk load fills thousands of blocks; from the C allocator each would be a call, and
// their memory would come from the kernel in thousands of small pages, which was a fifth of the
// time of a bulk load. Large chunks ask for huge pages.
//
// Of each size up to 2 MB one chunk stays with the process for the next transaction: memory that the kernel
// has to clear and map anew cost small commits a sixth of their time. While asynchronous commits follow one
// another, eight of the largest stay as well, which is what one of their turns writes at most: clearing
// took a third of the time of those that change objects here and there.
//
// Not for what outlives the transaction, and not thread-safe: it belongs to the writer.

import CKernels

struct BlockPool {
    /// Larger blocks (values of their own) have memory of their own.
    static let pagesMax = 64
    private static let firstChunk = 64 * 1024
    private static let largestChunk = 4 << 20
    private static let hugePage = 2 << 20

    private var chunks: [(memory: UnsafeMutableRawPointer, bytes: Int)] = []
    private var next: UnsafeMutableRawPointer?
    private var left = 0
    private var chunkBytes = firstChunk / 2
    /// Blocks given back, by page count; each begins with the address of the next.
    private var free = [UnsafeMutableRawPointer?](repeating: nil, count: pagesMax + 1)

    /// A block of `pages` pages, all zeros.
    mutating func allocate(pages: Int) -> UnsafeMutableRawPointer {
        let block = take(pages)
        memset(block, 0, pages << Page.shift)
        return block
    }

    /// A block that begins with these bytes; zeros follow.
    mutating func allocate(
        pages: Int, copying source: UnsafeRawPointer, _ count: Int
    ) -> UnsafeMutableRawPointer {
        let block = take(pages)
        memcpy(block, source, count)
        memset(block + count, 0, pages << Page.shift - count)
        return block
    }

    private mutating func take(_ pages: Int) -> UnsafeMutableRawPointer {
        let bytes = pages << Page.shift
        if pages > Self.pagesMax { return .allocate(byteCount: bytes, alignment: 64) }
        if let known = free[pages] {
            free[pages] = known.load(as: UnsafeMutableRawPointer?.self)
            return known
        }
        if left < bytes { addChunk(bytes) }
        let block = next.unsafelyUnwrapped
        next = block + bytes
        left -= bytes
        return block
    }

    /// Takes back a block of `pages` pages that `allocate` gave.
    mutating func deallocate(_ block: UnsafeMutableRawPointer, pages: Int) {
        if pages > Self.pagesMax {
            block.deallocate()
        } else {
            block.storeBytes(of: free[pages], as: UnsafeMutableRawPointer?.self)
            free[pages] = block
        }
    }

    /// What is left of the last chunk is not used any more.
    private mutating func addChunk(_ bytes: Int) {
        chunkBytes = min(chunkBytes * 2, Self.largestChunk)
        while chunkBytes < bytes { chunkBytes *= 2 }
        let chunk = Self.kept(chunkBytes) ?? Self.make(chunkBytes)
        chunks.append((chunk, chunkBytes))
        next = chunk
        left = chunkBytes
    }

    private static func make(_ bytes: Int) -> UnsafeMutableRawPointer {
        let isHuge = bytes >= hugePage
        let chunk = UnsafeMutableRawPointer.allocate(
            byteCount: bytes, alignment: isHuge ? hugePage : 64)
        if isHuge { ck_prefer_huge_pages(chunk, bytes) }
        return chunk
    }

    /// Frees all chunks, and with them every block of at most `pagesMax` pages.
    func deallocate() {
        for (chunk, bytes) in chunks where !Self.keep(chunk, bytes) { chunk.deallocate() }
    }

    // MARK: What stays

    /// Addresses of chunks that nobody uses, by size from `firstChunk` on; 0: none. Words that are
    /// exchanged and no lock, which another thread might hold when the process forks.
    nonisolated(unsafe) private static let keptChunks: UnsafeMutablePointer<UInt64> = {
        let words = UnsafeMutablePointer<UInt64>.allocate(capacity: keptWordCount)
        words.initialize(repeating: 0, count: keptWordCount)
        return words
    }()
    /// Below `largestChunk`.
    private static let keptSizes = 6
    private static let keptLargest = 8
    private static let keptWordCount = keptSizes + keptLargest + 1
    /// How many series there are, behind the words for chunks.
    private static var seriesWord: UnsafeMutablePointer<UInt64> {
        keptChunks + keptSizes + keptLargest
    }

    /// The words of chunks of a size.
    private static func keptWords(_ bytes: Int) -> Range<Int> {
        let size = bytes.trailingZeroBitCount - firstChunk.trailingZeroBitCount
        if size < keptSizes { return size..<size + 1 }
        return bytes == largestChunk ? keptSizes..<keptSizes + keptLargest : 0..<0
    }

    private static func kept(_ bytes: Int) -> UnsafeMutableRawPointer? {
        for word in keptWords(bytes) {
            let chunk = ck_exchange_u64(keptChunks + word, 0)
            if chunk != 0 { return UnsafeMutableRawPointer(bitPattern: UInt(chunk)) }
        }
        return nil
    }

    private static func keep(_ chunk: UnsafeMutableRawPointer, _ bytes: Int) -> Bool {
        guard bytes < largestChunk || ck_load_u64(seriesWord) != 0 else { return false }
        return keptWords(bytes).contains {
            ck_cas_u64(keptChunks + $0, 0, UInt64(UInt(bitPattern: chunk)))
        }
    }

    /// Transactions follow that will want as much as the one before, until `endSeries`. Chunks of the largest size
    /// stay as long as there is a series on any thread.
    static func beginSeries() { _ = ck_add_u64(seriesWord, 1) }

    static func endSeries() {
        guard ck_add_u64(seriesWord, .max) == 0 else { return }
        while let chunk = kept(largestChunk) { chunk.deallocate() }
    }
}
