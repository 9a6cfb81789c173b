// The address range a file is mapped into. A large range is reserved once and the file mapped into
// it from the start, more as it grows, so that blocks never move and readers never map anything.
// Reading only: the engine writes through `pwrite`, so that a full disk is an error, not a signal.
//
// Invariants
//  1. Pages below `BlockSourceState.mappedPages` lie inside the file, so touching them is safe.
//  2. `base` and `verified` stay where they are until deinit.
//  3. A mark vouches for every page of its block: for each page q behind the first page s of a block
//     that is marked, `tails[q]` is q - s. Whoever marks or writes other blocks over q finds the
//     mark of s that way and clears it. So a space map that calls pages of a block free can't make
//     a commit of this process change bytes that stay marked as verified.
//
// `extend`, `cover` and `limit` are called with the store's mapping mutex held.

import CKernels

final class PageMapping {
    let source: BlockSource
    private let files: FileSystem
    private let base: UnsafeMutableRawPointer
    private let verified: UnsafeMutablePointer<UInt64>
    /// Per page: how far behind the first page of the block that covers it; 0 = first, or none
    /// known. Not on the path of readers. Guarded by `marks`, as are changes of `verified`.
    private let tails: UnsafeMutablePointer<UInt32>
    private let marks = Lock()
    /// Pages of address space.
    let reservedPages: UInt64
    /// Pages of the range that the file is mapped over; may reach beyond the file's end.
    private var coveredPages: UInt64 = 0

    /// The file is mapped in steps of this many pages (64 MiB), so that growth rarely costs a call.
    private static let step: UInt64 = 16384
    static let reservedBytesMax = 256 << 30
    private static let reservedBytesMin = 16 << 20

    init(
        reserving bytesMax: Int, fileBytes: Int64, path: String, files: FileSystem
    ) throws(RealmError) {
        var bytes = bytesMax
        var code: Int32 = 0
        while true {
            // Eight bytes of the table of verified blocks for each page, and four of their tails.
            if bytes >= Self.reservedBytesMin, Int64(bytes) >= fileBytes,
                let base = files.reserve(bytes, zeros: false, &code)
            {
                let pages = bytes / Page.size
                if let table = files.reserve(pages * 12, zeros: true, &code) {
                    self.base = base
                    verified = table.bindMemory(to: UInt64.self, capacity: pages)
                    tails = (table + pages * 8).bindMemory(to: UInt32.self, capacity: pages)
                    break
                }
                _ = files.unmap(base, bytes)
            }
            bytes /= 2
            guard bytes >= Self.reservedBytesMin, Int64(bytes) >= fileBytes else {
                throw RealmError(
                    .addressSpaceExhausted,
                    "'\(path)': no address space to map a file of \(fileBytes) bytes")
            }
        }
        self.files = files
        reservedPages = UInt64(bytes / Page.size)
        source = .allocate(capacity: 1)
        source.initialize(
            to: BlockSourceState(base: base, mappedPages: 0, verified: verified))
    }

    deinit {
        _ = files.unmap(base, Int(reservedPages) * Page.size)
        _ = files.unmap(verified, Int(reservedPages) * 12)
        source.deallocate()
    }

    // MARK: Marks

    /// Marks a block whose bytes passed the gate, or were just written. What was marked on any of
    /// its pages no longer is.
    func mark(_ reference: BlockReference) {
        let page = Int(reference.page)
        guard reference.page + UInt64(reference.pageCount) <= reservedPages else { return }
        marks.lock()
        clearOverlapped(page, reference.pageCount)
        for offset in 1..<max(reference.pageCount, 1) {
            tails[page + offset] = UInt32(truncatingIfNeeded: offset)
        }
        ck_store_relaxed_u64(verified + page, reference.check0)
        marks.unlock()
    }

    /// Takes away the marks of all blocks that have pages of this one.
    func clear(_ reference: BlockReference) {
        guard reference.page + UInt64(reference.pageCount) <= reservedPages else { return }
        marks.lock()
        clearOverlapped(Int(reference.page), reference.pageCount)
        marks.unlock()
    }

    private func clearOverlapped(_ page: Int, _ count: Int) {
        for index in page..<page + count {
            // The distance never reaches before the table: it was written from a start in it.
            if tails[index] != 0 {
                ck_store_relaxed_u64(verified + (index - Int(tails[index])), 0)
                tails[index] = 0
            }
            ck_store_relaxed_u64(verified + index, 0)
        }
    }

    /// Makes the first `pages` pages readable; the caller knows that the file has them.
    func extend(to pages: UInt64, of file: OpenFile) throws(RealmError) {
        try cover(pages, of: file)
        if pages > ck_load_relaxed_u64(source.mappedPages) {
            ck_store_relaxed_u64(source.mappedPages, pages)
        }
    }

    /// Maps the first `pages` pages without making them readable yet: the file may still be
    /// shorter.
    func cover(_ pages: UInt64, of file: OpenFile) throws(RealmError) {
        guard pages > coveredPages else { return }
        guard pages <= reservedPages else {
            throw RealmError(
                .addressSpaceExhausted,
                "'\(file.path)': \(pages) pages don't fit the \(reservedPages) pages of reserved"
                    + " address space")
        }
        let target = min((pages + Self.step - 1) / Self.step * Self.step, reservedPages)
        let start = Int(coveredPages) * Page.size
        let code = files.mapFixed(
            file.descriptor, base + start, Int64(start),
            Int(target - coveredPages) * Page.size)
        guard code == 0 else { throw FileErrors.make(Int(code), "map the file", file.path) }
        coveredPages = target
    }

    /// Forgets pages from `pages` on: the file ends there now.
    func limit(to pages: UInt64) {
        if pages < ck_load_relaxed_u64(source.mappedPages) {
            ck_store_relaxed_u64(source.mappedPages, pages)
        }
    }
}
