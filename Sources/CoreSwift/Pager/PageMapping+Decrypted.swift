// The decrypted blocks of an encrypted file: a range of address space as large as the file, in which the
// block of page p lies at p * 4096, as it would in the mapping of a plain file. Memory is behind those
// pages only that hold decrypted blocks.
//
// A block comes here when it passes the gate (`PageMapping.decrypted`), and when a commit of this process
// wrote it (`adopt`). It is overwritten under the conditions under which its pages in the file are: no
// live version uses it, so nobody reads it.
//
// Invariants
//  1. `check[p]` is not 0 only if the whole block is here whose reference has that value as the first
//     half of its check value, and `PageMapping.tails` covers its pages.
//  2. `check` is changed with `PageMapping.marks` held; the bytes of a block while its `gates` lock is
//     held, or by the writer, who alone knows of the block.

import CKernels

final class Cleartext {
    let base: UnsafeMutableRawPointer
    private let check: UnsafeMutablePointer<UInt64>
    private let pages: Int
    private let files: FileSystem
    /// By page, so that threads decrypt side by side, but no block twice at a time.
    let gates = (0..<16).map { _ in Lock() }

    init?(pages: Int, _ files: FileSystem, _ code: inout Int32) {
        guard let base = files.reserve(pages * Page.size, zeros: true, &code) else { return nil }
        guard let table = files.reserve(pages * 8, zeros: true, &code) else {
            _ = files.unmap(base, pages * Page.size)
            return nil
        }
        // Best effort: a kernel that can't leaves the pages in core dumps.
        _ = files.keepFromDumps(base, pages * Page.size)
        self.base = base
        self.pages = pages
        self.files = files
        check = table.bindMemory(to: UInt64.self, capacity: pages)
    }

    /// The kernel zeroes the pages before anybody else gets them.
    deinit {
        _ = files.unmap(base, pages * Page.size)
        _ = files.unmap(check, pages * 8)
    }

    func gate(_ reference: BlockReference) -> Lock {
        gates[Int(truncatingIfNeeded: reference.page & 15)]
    }

    func place(_ reference: BlockReference) -> UnsafeMutableRawPointer {
        base + Int(reference.page) << Page.shift
    }

    func holds(_ reference: BlockReference) -> Bool {
        reference.check0 != 0
            && ck_load_relaxed_u64(check + Int(reference.page)) == reference.check0
    }

    func note(_ reference: BlockReference) {
        ck_store_relaxed_u64(check + Int(reference.page), reference.check0)
    }

    @inline(__always) func forget(_ page: Int) { ck_store_relaxed_u64(check + page, 0) }
}

extension PageMapping {
    /// The bytes of a block that passed `BlockCodec.isIntact`; nil when it changed since.
    func block(_ reference: BlockReference) -> UnsafeRawPointer? {
        guard cleartext == nil else { return decrypted(reference) }
        return UnsafeRawPointer(file + Int(reference.page) << Page.shift)
    }

    /// The bytes of a block of an encrypted file; nil when it is damaged. The caller knows that it lies
    /// in the file.
    func decrypted(_ reference: BlockReference) -> UnsafeRawPointer? {
        guard let cleartext, reference.page + UInt64(reference.pageCount) <= reservedPages else {
            return nil
        }
        let gate = cleartext.gate(reference)
        gate.lock()
        defer { gate.unlock() }
        let place = cleartext.place(reference)
        if cleartext.holds(reference) { return UnsafeRawPointer(place) }
        clear(reference)
        guard codec.open(file, reference, into: place) else { return nil }
        noteDecrypted(reference)
        return UnsafeRawPointer(place)
    }

    /// What stands where a commit has just written a block. `keeps`: it will be read soon.
    func adopt(_ reference: BlockReference, _ block: UnsafeRawPointer, keeps: Bool) {
        guard let cleartext else { return mark(reference) }
        clear(reference)
        guard keeps, reference.page + UInt64(reference.pageCount) <= reservedPages else { return }
        memcpy(cleartext.place(reference), block, reference.pageCount << Page.shift)
        noteDecrypted(reference)
        mark(reference)
    }
}
