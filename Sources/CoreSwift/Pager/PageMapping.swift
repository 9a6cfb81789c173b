// The address range a file is mapped into. A large range is reserved once and the file mapped into
// it from the start, more as it grows, so that blocks never move and readers never map anything.
// Reading only: the engine writes through `pwrite`, so that a full disk is an error, not a signal.
//
// Blocks of encrypted files can't be used where the file is mapped. They are decrypted to a second range,
// each when it passes the gate, and readers find it there as they find blocks of plain files in the
// first (PageMapping+Decrypted.swift).
//
// Invariants
//  1. Pages below `BlockSourceState.mappedPages` lie inside the file, so touching them is safe.
//  2. `base` and `verified` stay where they are until deinit.
//  3. A mark vouches for every page of its block: for each page q behind the first page s of a block
//     that is marked, `tails[q]` is q - s. Whoever marks or writes other blocks over q finds the
//     mark of s that way and clears it. So a space map that calls pages of a block free can't make
//     a commit of this process change bytes that stay marked as verified.
//  4. In an encrypted file a block that is marked is decrypted, or was and comes back when it is touched:
//     `Cleartext.check` has the same value.
//
// `extend`, `cover` and `limit` are called with the store's mapping mutex held.

import CKernels

final class PageMapping {
    let source: BlockSource
    let codec: BlockCodec
    private let files: FileSystem
    let path: String
    /// Where the file is mapped.
    let file: UnsafeMutableRawPointer
    private let fileBytes: Int
    private let verified: UnsafeMutablePointer<UInt64>
    /// Of an encrypted file.
    let cleartext: Cleartext?
    /// Per page: how far behind the first page of the block that covers it; 0 = first, or none
    /// known. Not on the path of readers. Guarded by `marks`, as are changes of `verified`.
    private let tails: UnsafeMutablePointer<UInt32>
    let marks = Lock()
    /// Pages of address space.
    let reservedPages: UInt64
    /// Set when a page was touched that the file has no more: another program cut it. Readers find
    /// nothing mapped from then on, and ask the store.
    let cut = UnsafeMutablePointer<UInt64>.allocate(capacity: 1)
    /// Bytes of the range that the file is mapped over; may reach beyond the file's end.
    private var coveredBytes = 0

    /// The file is mapped in steps of this many bytes, so that growth rarely costs a call.
    private static let step = 64 << 20
    /// Under the thread sanitizer six files would leave no addresses for threads.
    static let reservedBytesMax = ck_is_thread_sanitized() ? 16 << 30 : 256 << 30
    private static let reservedBytesMin = 16 << 20
    /// How many there are in the process.
    private static let count: UnsafeMutablePointer<UInt64> = {
        let word = UnsafeMutablePointer<UInt64>.allocate(capacity: 1)
        word.initialize(to: 0)
        return word
    }()
    /// The first so many reserve as much as they may, three times as many a quarter of it, and so on: a thousand
    /// files leave the host program most of its addresses.
    private static let fullCount: UInt64 = 32

    /// Where addresses are short: not more than a file needs that becomes four times as long.
    private static func reservedBytes(
        _ bytesMax: Int, _ fileBytes: Int, _ codec: BlockCodec
    ) -> Int {
        let others = ck_load_relaxed_u64(count)
        var bytes = bytesMax
        var limit = fullCount
        while others >= limit {
            bytes /= 4
            limit *= 4
        }
        // All together no more than half of what the process may have; encrypted ones reserve it twice.
        let share = ck_address_limit() / (codec.cipher == nil ? 4 : 8)
        bytes = min(bytes, Int(clamping: share >> min(others, 32)))
        return min(bytesMax, max(bytes, 4 * min(fileBytes, bytesMax / 4), reservedBytesMin))
    }

    init(
        reserving bytesMax: Int, decrypted decryptedBytesMax: Int, fileBytes: Int64,
        codec: BlockCodec, path: String, files: FileSystem
    ) throws(RealmError) {
        var bytes = Self.reservedBytes(bytesMax, Int(fileBytes), codec)
        var code: Int32 = 0
        while true {
            if bytes >= Self.reservedBytesMin, Int64(bytes) >= fileBytes,
                let ranges = Self.reserve(bytes, decryptedBytesMax, codec, files, &code)
            {
                file = ranges.file
                verified = ranges.verified
                tails = ranges.tails
                cleartext = ranges.cleartext
                reservedPages = UInt64(ranges.pages)
                break
            }
            bytes /= 2
            guard bytes >= Self.reservedBytesMin, Int64(bytes) >= fileBytes else {
                throw RealmError(
                    .addressSpaceExhausted,
                    "'\(path)': no address space to map a file of \(fileBytes) bytes")
            }
        }
        self.files = files
        self.path = path
        self.codec = codec
        self.fileBytes = bytes
        source = .allocate(capacity: 1)
        source.initialize(
            to: BlockSourceState(
                base: cleartext?.base ?? file, mappedPages: 0, verified: verified))
        cut.initialize(to: 0)
        _ = ck_add_u64(Self.count, 1)
        ck_watch_mapping(file, bytes, false, cut, source.mappedPages)
    }

    private struct Ranges {
        let pages: Int
        let file: UnsafeMutableRawPointer
        let verified: UnsafeMutablePointer<UInt64>
        let tails: UnsafeMutablePointer<UInt32>
        let cleartext: Cleartext?
    }

    /// Address space for a file of so many bytes and for what is kept of its pages; nil if there is none.
    private static func reserve(
        _ bytes: Int, _ decryptedBytesMax: Int, _ codec: BlockCodec, _ files: FileSystem,
        _ code: inout Int32
    ) -> Ranges? {
        guard let file = files.reserve(bytes, zeros: false, &code) else { return nil }
        let pages = Int(codec.pages(inBytes: Int64(bytes)))
        // Eight bytes of the table of verified blocks for each page, and four of their tails.
        guard let table = files.reserve(pages * 12, zeros: true, &code) else {
            _ = files.unmap(file, bytes)
            return nil
        }
        var cleartext: Cleartext?
        if codec.cipher != nil {
            cleartext = Cleartext(
                pages: pages, codec: codec,
                marks: table.bindMemory(to: UInt64.self, capacity: pages),
                bytesMax: decryptedBytesMax, files, &code)
            guard cleartext != nil else {
                _ = files.unmap(table, pages * 12)
                _ = files.unmap(file, bytes)
                return nil
            }
        }
        return Ranges(
            pages: pages, file: file,
            verified: table.bindMemory(to: UInt64.self, capacity: pages),
            tails: (table + pages * 8).bindMemory(to: UInt32.self, capacity: pages),
            cleartext: cleartext)
    }

    deinit {
        ck_unwatch_mapping(file)
        _ = ck_add_u64(Self.count, .max)
        cut.deallocate()
        _ = files.unmap(file, fileBytes)
        _ = files.unmap(verified, Int(reservedPages) * 12)
        source.deallocate()
    }

    // MARK: Marks

    /// Marks a block whose bytes passed the gate, or were just written. What was marked on any of
    /// its pages no longer is.
    func mark(_ reference: BlockReference) {
        let page = Int(reference.page)
        guard reference.end <= reservedPages else { return }
        marks.lock()
        defer { marks.unlock() }
        if let cleartext {
            // Another block may have come to these pages since this one passed the gate.
            guard cleartext.holds(reference) else { return }
            ck_store_u64(verified + page, reference.check0)
            return
        }
        clearOverlapped(page, reference.pageCount)
        setTails(page, reference.pageCount)
        ck_store_u64(verified + page, reference.check0)
    }

    private func setTails(_ page: Int, _ count: Int) {
        for offset in 1..<max(count, 1) {
            tails[page + offset] = UInt32(truncatingIfNeeded: offset)
        }
    }

    /// The block is decrypted now; `clear` went before.
    func noteDecrypted(_ reference: BlockReference) {
        guard let cleartext else { return }
        marks.lock()
        setTails(Int(reference.page), reference.pageCount)
        cleartext.note(reference)
        marks.unlock()
    }

    /// Takes away the marks of all blocks that have pages of this one.
    func clear(_ reference: BlockReference) {
        guard reference.end <= reservedPages else { return }
        marks.lock()
        clearOverlapped(Int(reference.page), reference.pageCount)
        marks.unlock()
    }

    private func clearOverlapped(_ page: Int, _ count: Int) {
        for index in page..<page + count {
            // The distance never reaches before the table: it was written from a start in it.
            if tails[index] != 0 { forgetBlock(index - Int(tails[index])) }
            forgetBlock(index)
        }
    }

    /// With its tails: left behind, they would take the mark from the next block that begins there, which
    /// may be shorter and in use.
    private func forgetBlock(_ page: Int) {
        forget(page)
        var index = page + 1
        while index < Int(reservedPages), tails[index] == UInt32(truncatingIfNeeded: index - page) {
            tails[index] = 0
            index += 1
        }
    }

    @inline(__always) private func forget(_ page: Int) {
        ck_store_relaxed_u64(verified + page, 0)
        cleartext?.forget(page)
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
        if coveredBytes == 0 { cleartext?.setSource(file) }
        let bytes = codec.bytes(pages: pages)
        guard bytes > coveredBytes else { return }
        guard pages <= reservedPages else {
            throw RealmError(
                .addressSpaceExhausted,
                "'\(file.path)': \(pages) pages don't fit the \(reservedPages) pages of reserved"
                    + " address space")
        }
        let target = min((bytes + Self.step - 1) / Self.step * Self.step, fileBytes)
        let code = files.mapFixed(
            file.descriptor, self.file + coveredBytes, Int64(coveredBytes), target - coveredBytes)
        guard code == 0 else { throw FileErrors.make(Int(code), "map the file", file.path) }
        coveredBytes = target
    }

    /// Forgets pages from `pages` on: the file ends there now.
    func limit(to pages: UInt64) {
        if pages < ck_load_relaxed_u64(source.mappedPages) {
            ck_store_relaxed_u64(source.mappedPages, pages)
        }
    }
}
