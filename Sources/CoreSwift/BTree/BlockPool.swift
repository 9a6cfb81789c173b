// Memory for the blocks of one write transaction: cut from chunks that are freed together when it
// ends. A bulk load fills thousands of blocks; from the C allocator each would be a call, and
// their memory would come from the kernel in thousands of small pages, which was a fifth of the
// time of a bulk load. Large chunks ask for huge pages.
//
// Not for what outlives the transaction, and not thread-safe: it belongs to the writer.

import CKernels

struct BlockPool {
    /// Larger blocks (values of their own) have memory of their own.
    static let pagesMax = 64
    private static let firstChunk = 64 * 1024
    private static let largestChunk = 4 << 20
    private static let hugePage = 2 << 20

    private var chunks: [UnsafeMutableRawPointer] = []
    private var next: UnsafeMutableRawPointer?
    private var left = 0
    private var chunkBytes = firstChunk / 2
    /// Blocks given back, by page count; each begins with the address of the next.
    private var free = [UnsafeMutableRawPointer?](repeating: nil, count: pagesMax + 1)

    /// A block of `pages` pages, all zeros.
    mutating func allocate(pages: Int) -> UnsafeMutableRawPointer {
        let bytes = pages << Page.shift
        let block: UnsafeMutableRawPointer
        if pages > Self.pagesMax {
            block = .allocate(byteCount: bytes, alignment: 64)
        } else if let known = free[pages] {
            free[pages] = known.load(as: UnsafeMutableRawPointer?.self)
            block = known
        } else {
            if left < bytes { addChunk(bytes) }
            block = next.unsafelyUnwrapped
            next = block + bytes
            left -= bytes
        }
        memset(block, 0, bytes)
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
        let isHuge = chunkBytes >= Self.hugePage
        let chunk = UnsafeMutableRawPointer.allocate(
            byteCount: chunkBytes, alignment: isHuge ? Self.hugePage : 64)
        if isHuge { ck_prefer_huge_pages(chunk, chunkBytes) }
        chunks.append(chunk)
        next = chunk
        left = chunkBytes
    }

    /// Frees all chunks, and with them every block of at most `pagesMax` pages.
    func deallocate() {
        for chunk in chunks { chunk.deallocate() }
    }
}
