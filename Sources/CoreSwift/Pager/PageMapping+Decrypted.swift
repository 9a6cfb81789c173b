// The decrypted blocks of an encrypted file: a range of address space as large as the file, in which the
// block of page p lies at p * 4096, as it would in the mapping of a plain file. Memory is behind those
// pages only that hold decrypted blocks.
//
// A block comes here when it passes the gate (`PageMapping.decrypted`), and when a commit of this process
// wrote it (`adopt`). It is overwritten under the conditions under which its pages in the file are: no
// live version uses it, so nobody reads it. It may be evicted at any time, and comes back when somebody
// touches its pages; how that goes without readers taking part is told in CKernelsCache.c.
//
// Invariants
//  1. `check[p]` is not 0 only if the whole block is here, or was evicted, whose reference has that value
//     as the first half of its check value, and `PageMapping.tails` covers its pages.
//  2. `check` is changed with `PageMapping.marks` held; the bytes of a block while its `gates` lock is
//     held, or by the writer, who alone knows of the block.

import CKernels

final class Cleartext {
    let base: UnsafeMutableRawPointer
    private let check: UnsafeMutablePointer<UInt64>
    private let pages: Int
    private let files: FileSystem
    /// By page, so that threads decrypt side by side, but no block twice at a time.
    let gates = (0..<Ciphertext.gates).map { _ in Lock() }
    /// Nil: what was decrypted stays.
    private let cache: OpaquePointer?
    private let ciphertext: Ciphertext

    /// The file as it is read: not through its mapping, whose pages would count as memory of the process.
    private final class Ciphertext {
        let codec: BlockCodec
        /// Set before there is anything to read.
        var descriptor: Int32 = -1
        /// For blocks of usual sizes: one for each of `gates`, which guards it, and one for faults, whose
        /// turns the cache makes.
        let buffers: UnsafeMutableRawPointer
        static let bufferBytes = 64 << 10
        static let gates = 16

        init?(_ codec: BlockCodec) {
            self.codec = codec
            guard let memory = ck_cache_map((Self.gates + 1) * Self.bufferBytes) else { return nil }
            buffers = memory
        }

        deinit { ck_cache_unmap(buffers, (Self.gates + 1) * Self.bufferBytes) }

        /// Reads a block and decrypts it to `target`: 0, a code of errno (`noData`: the file ends before), or `damaged`. Takes no lock.
        func open(
            _ reference: BlockReference, isKnown: Bool, buffer: Int,
            into target: UnsafeMutableRawPointer
        ) -> Int32 {
            let bytes = codec.sealedBytes(pages: reference.pageCount)
            let isLarge = bytes > Self.bufferBytes
            guard
                let memory = isLarge ? ck_cache_map(bytes) : buffers + buffer * Self.bufferBytes
            else { return Cleartext.outOfMemory }
            defer { if isLarge { ck_cache_unmap(memory, bytes) } }
            let code = ck_cache_read(
                descriptor, memory, bytes, UInt64(codec.offset(reference.page)))
            guard code == 0 else { return code }
            let isIntact = codec.open(memory, reference, isKnown: isKnown, into: target)
            return isIntact ? 0 : Cleartext.damaged
        }

        func isBehindEnd(_ reference: BlockReference) -> Bool {
            let end =
                codec.offset(reference.page) + codec.sealedBytes(pages: reference.pageCount)
            var byte: UInt8 = 0
            return ck_cache_read(descriptor, &byte, 1, UInt64(end - 1)) == Cleartext.noData
        }
    }

    static let damaged: Int32 = -1
    static let outOfMemory: Int32 = 12  // ENOMEM
    static let noData: Int32 = 61  // ENODATA

    /// `bytesMax`: how much may be decrypted at a time, 0: all.
    init?(
        pages: Int, codec: BlockCodec, marks: UnsafeMutablePointer<UInt64>, bytesMax: Int,
        _ files: FileSystem, _ code: inout Int32
    ) {
        guard let ciphertext = Ciphertext(codec) else {
            code = -Self.outOfMemory
            return nil
        }
        self.ciphertext = ciphertext
        guard let base = files.reserve(pages * Page.size, zeros: true, &code) else {
            return nil
        }
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
        guard bytesMax > 0 else {
            cache = nil
            return
        }
        var setup = ck_cache_setup()
        setup.base = base
        setup.pages = UInt64(pages)
        setup.bytes_max = UInt64(bytesMax)
        setup.marks = marks
        setup.known = check
        setup.context = Unmanaged.passUnretained(ciphertext).toOpaque()
        setup.open = { context, page, count, version, check, target in
            guard let context, let target else { return false }
            let text = Unmanaged<Ciphertext>.fromOpaque(context).takeUnretainedValue()
            let reference = BlockReference(
                page: page, pages: Int(count), version: version, check0: check)
            return text.open(reference, isKnown: true, buffer: Ciphertext.gates, into: target)
                == 0
        }
        cache = ck_cache_new(&setup)
        if cache == nil {
            _ = files.unmap(base, pages * Page.size)
            _ = files.unmap(table, pages * 8)
            code = -Self.outOfMemory
            return nil
        }
    }

    /// The kernel zeroes the pages before anybody else gets them.
    deinit {
        if let cache { ck_cache_free(cache) }
        _ = files.unmap(base, pages * Page.size)
        _ = files.unmap(check, pages * 8)
    }

    // MARK: Eviction

    /// What became of the block, which is known; brings it back if it was evicted.
    func find(_ reference: BlockReference) -> ck_cache_state {
        guard let cache else { return ck_cache_here }
        return ck_cache_find(
            cache, reference.page, UInt32(reference.pageCount), reference.version)
    }

    /// Makes memory for a block that nobody reads yet; `end` follows. False: there is none.
    func begin(_ reference: BlockReference) -> Bool {
        guard let cache else { return true }
        return ck_cache_begin(
            cache, reference.page, UInt32(reference.pageCount), reference.version)
    }

    func end(_ reference: BlockReference, isThere: Bool) {
        if let cache { ck_cache_end(cache, reference.page, isThere) }
    }

    /// Whether what a reader needed could not be decrypted a second time.
    var hasLost: Bool { cache.map { ck_cache_has_lost($0) } ?? false }

    /// Has pointers to evicted blocks go on leading to them, whatever handlers the program put meanwhile.
    func watch() {
        if let cache { ck_cache_watch(cache) }
    }

    /// Nil: what was decrypted stays, and is not counted.
    var statistics: DecryptedCacheStatistics? {
        guard let cache else { return nil }
        var numbers = ck_cache_numbers()
        ck_cache_count(cache, &numbers)
        return DecryptedCacheStatistics(
            bytes: Int(numbers.resident), decryptedBytes: Int(numbers.decrypted),
            evictedBytes: Int(numbers.evicted), faults: Int(numbers.faults))
    }

    // MARK: Blocks

    private func gateNumber(_ reference: BlockReference) -> Int {
        Int(truncatingIfNeeded: reference.page) & (Ciphertext.gates - 1)
    }

    func gate(_ reference: BlockReference) -> Lock { gates[gateNumber(reference)] }

    /// Reads and decrypts a block to its place, with its gate held: 0, `damaged`, or a code of errno.
    func read(_ reference: BlockReference) -> Int32 {
        ciphertext.open(
            reference, isKnown: false, buffer: gateNumber(reference), into: place(reference))
    }

    /// Whether the file ends before the end of the block.
    func isBehindEnd(_ reference: BlockReference) -> Bool { ciphertext.isBehindEnd(reference) }

    /// Where blocks are read from.
    func setSource(_ file: OpenFile) { ciphertext.descriptor = file.descriptor }

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

/// What the decrypted blocks of an encrypted file take, and took since it was opened in this process.
public struct DecryptedCacheStatistics: Sendable {
    /// Decrypted at this moment.
    public var bytes: Int
    public var decryptedBytes: Int
    public var evictedBytes: Int
    /// How often somebody touched a block that had been evicted.
    public var faults: Int
}

extension PageMapping {
    /// The bytes of a block that passed `BlockCodec.isIntact`; nil when it changed since.
    func block(_ reference: BlockReference) throws(RealmError) -> UnsafeRawPointer? {
        guard cleartext == nil else { return try decrypted(reference) }
        return UnsafeRawPointer(file + Int(reference.page) << Page.shift)
    }

    /// The bytes of a block of an encrypted file; nil when it is damaged. The caller knows that it lies
    /// in the file.
    func decrypted(_ reference: BlockReference) throws(RealmError) -> UnsafeRawPointer? {
        guard let cleartext, reference.end <= reservedPages else {
            return nil
        }
        let gate = cleartext.gate(reference)
        gate.lock()
        defer { gate.unlock() }
        let place = cleartext.place(reference)
        if cleartext.holds(reference) {
            switch cleartext.find(reference) {
            case ck_cache_here: return UnsafeRawPointer(place)
            // Its place stays as it is: who has a pointer to it must not find what is in between.
            case ck_cache_damaged:
                if cleartext.isBehindEnd(reference) { ck_store_relaxed_u64(cut, 1) }
                return nil
            case ck_cache_no_memory: throw noMemory(reference)
            default: break
            }
        }
        clear(reference)
        guard cleartext.begin(reference) else { throw noMemory(reference) }
        let code = cleartext.read(reference)
        cleartext.end(reference, isThere: code == 0)
        // The file ends before: somebody cut it.
        if code == Cleartext.noData { ck_store_relaxed_u64(cut, 1) }
        guard code >= 0, code != Cleartext.noData else { return nil }
        guard code == 0 else {
            throw FileErrors.make(Int(-code), "read page \(reference.page)", path)
        }
        noteDecrypted(reference)
        return UnsafeRawPointer(place)
    }

    private func noMemory(_ reference: BlockReference) -> RealmError {
        FileErrors.make(
            -Int(Cleartext.outOfMemory), "find memory for \(reference.pageCount) decrypted pages",
            path)
    }

    /// What stands where a commit has just written a block. `keeps`: it will be read soon.
    func adopt(_ reference: BlockReference, _ block: UnsafeRawPointer, keeps: Bool) {
        guard let cleartext else { return mark(reference) }
        clear(reference)
        // Without memory it is decrypted when somebody reads it.
        guard keeps, reference.end <= reservedPages,
            cleartext.begin(reference)
        else { return }
        memcpy(cleartext.place(reference), block, reference.pageCount << Page.shift)
        cleartext.end(reference, isThere: true)
        noteDecrypted(reference)
        mark(reference)
    }
}
