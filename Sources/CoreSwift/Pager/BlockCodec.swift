// The one place through which bytes go out to a realm file and come in from it: blocks, header slots,
// sync records, and where they stand.
//
// In a plain file a block is in the file what it is in memory, page n at byte 4096 * n, and its check
// value is a hash. In an encrypted file each page takes 40 bytes more, from page 2 on:
//
//   byte of page n = 4096 * n + 40 * (n - 2)
//
//   offset of a block  size   field
//                   0    24   nonce
//                  24    16   tag; the check value in the block's reference
//                  40  4096 * pages   ciphertext
//                      40 * (pages - 1)   0
//
// Location and version are authenticated with each block, and the key belongs to the file: a block
// that was moved, or kept from an older version or a copy of the file, is none. Fixed places of encrypted
// files: FileHeader+Sealed.swift.

struct BlockCodec {
    /// Nil: the file is plain.
    let cipher: FileCipher?
    /// Bytes that a page takes in the file beyond its own.
    private let extra: UInt64

    static let plain = BlockCodec(nil)

    init(_ cipher: FileCipher?) {
        self.cipher = cipher
        extra = cipher == nil ? 0 : UInt64(FileCipher.prefixBytes)
    }

    // MARK: Places

    @inline(__always) func offset(_ page: UInt64) -> Int {
        let behindHeader = page > FileHeader.firstBlockPage ? page - FileHeader.firstBlockPage : 0
        return Int(truncatingIfNeeded: page << UInt64(Page.shift) + behindHeader * extra)
    }

    /// Bytes that a file of so many pages has.
    func bytes(pages: UInt64) -> Int { offset(pages) }

    /// Whole pages in a file of so many bytes.
    func pages(inBytes bytes: Int64) -> UInt64 {
        let bytes = UInt64(max(bytes, 0))
        let header = FileHeader.firstBlockPage << UInt64(Page.shift)
        if bytes <= header { return bytes >> UInt64(Page.shift) }
        return FileHeader.firstBlockPage + (bytes - header) / (UInt64(Page.size) + extra)
    }

    /// Bytes that `seal` needs memory for; 0 when blocks are written from where they are.
    func sealedBytes(pages: Int) -> Int {
        cipher == nil ? 0 : pages * (Page.size + FileCipher.prefixBytes)
    }

    // MARK: Blocks

    /// What stands for a block in the file.
    struct Sealed {
        let reference: BlockReference
        let bytes: UnsafeRawPointer
        let count: Int
    }

    /// Makes a block ready to be written at `page`. `memory` has `sealedBytes`.
    @inline(__always)
    func seal(
        _ block: UnsafeRawPointer, page: UInt64, pages: Int, version: UInt64,
        into memory: @autoclosure () -> UnsafeMutableRawPointer
    ) -> Sealed {
        guard let cipher else {
            return Sealed(
                reference: Self.seal(block, page: page, pages: pages, version: version),
                bytes: block, count: pages * Page.size)
        }
        return Self.seal(cipher, block, page: page, pages: pages, version: version, memory())
    }

    private static func seal(
        _ cipher: FileCipher, _ block: UnsafeRawPointer, page: UInt64, pages: Int, version: UInt64,
        _ target: UnsafeMutableRawPointer
    ) -> Sealed {
        let location = BlockReference.location(page: page, count: pages)
        let count = pages * Page.size
        let text = target + FileCipher.prefixBytes
        withBound(location, version) { bound in
            cipher.seal(.block, block, count, bound: bound, prefix: target, into: text)
        }
        let rest = (pages - 1) * FileCipher.prefixBytes
        memset(text + count, 0, rest)
        let tag = UnsafeRawPointer(target + FileCipher.nonceBytes)
        return Sealed(
            reference: BlockReference(
                location: location, version: version, check0: tag.u64(0), check1: tag.u64(8)),
            bytes: target, count: FileCipher.prefixBytes + count + rest)
    }

    /// The check value of what stands in the file where the reference says, as a block that its version
    /// wrote there; nil when it is no such block. `file` is the start of the file.
    func check(_ file: UnsafeRawPointer, _ place: BlockReference) -> ContentHash? {
        let block = file + offset(place.page)
        guard let cipher else {
            return ContentHash.of(
                block, count: place.pageCount * Page.size, seed0: place.location,
                seed1: place.version)
        }
        guard Self.opens(cipher, block, place, into: nil) else { return nil }
        return ContentHash(
            low: block.u64(FileCipher.nonceBytes), high: block.u64(FileCipher.nonceBytes + 8))
    }

    /// Whether what stands in the file is what the reference was made for.
    func isIntact(_ file: UnsafeRawPointer, _ reference: BlockReference) -> Bool {
        guard let found = check(file, reference) else { return false }
        return found.low == reference.check0 && found.high == reference.check1
    }

    /// Decrypts a block as it stands in an encrypted file to `target`; false when it is not what the
    /// reference was made for. `isKnown`: it was decrypted before, and of its check value the second half
    /// is not known any more. Takes no lock and no memory.
    func open(
        _ block: UnsafeRawPointer, _ reference: BlockReference, isKnown: Bool = false,
        into target: UnsafeMutableRawPointer
    ) -> Bool {
        guard let cipher, block.u64(FileCipher.nonceBytes) == reference.check0,
            isKnown || block.u64(FileCipher.nonceBytes + 8) == reference.check1
        else { return false }
        return Self.opens(cipher, block, reference, into: target)
    }

    private static func opens(
        _ cipher: FileCipher, _ block: UnsafeRawPointer, _ place: BlockReference,
        into target: UnsafeMutableRawPointer?
    ) -> Bool {
        let count = place.pageCount * Page.size
        let text = block + FileCipher.prefixBytes
        let rest = (place.pageCount - 1) * FileCipher.prefixBytes
        for offset in stride(from: 0, to: rest, by: 8) where (text + count).u64(offset) != 0 {
            return false
        }
        return withBound(place.location, place.version) { bound in
            cipher.open(.block, text, count, bound: bound, prefix: block, into: target)
        }
    }

    /// What is authenticated with a block.
    private static func withBound<R>(
        _ location: UInt64, _ version: UInt64, _ body: (UnsafeRawBufferPointer) -> R
    ) -> R {
        var words = (location.littleEndian, version.littleEndian)
        return withUnsafeBytes(of: &words, body)
    }

    /// The reference of a block that is about to be written at `page` of a plain file.
    @inline(__always)
    static func seal(
        _ block: UnsafeRawPointer, page: UInt64, pages: Int, version: UInt64
    ) -> BlockReference {
        let location = BlockReference.location(page: page, count: pages)
        let check = ContentHash.of(
            block, count: pages * Page.size, seed0: location, seed1: version)
        return BlockReference(
            location: location, version: version, check0: check.low, check1: check.high)
    }
}
