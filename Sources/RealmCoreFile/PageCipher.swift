// The pages of an encrypted old file: AES-256-CBC, and HMAC-SHA224 over the encrypted bytes. A file is groups of
// 65 blocks of 4096 bytes: one of records, and up to 64 pages.
//
//   record of a page, 64 bytes:  0 iv  4 hmac (28 bytes)  of the last time it was written
//                               32 iv 36 hmac             of the time before
//
// The library writes the record before the page: where the last hmac does not fit, the page is that of the
// time before, and where there was none, it is zeros. The initialisation vector is the iv of the record,
// the place of the page in the plain data (8 bytes), and four zeros.
//
// AES is that of Mbed TLS. SHA-224 is that of OpenSSL, which has it for the instructions that processors have for
// it: it takes 0.5 ns for a byte there, that of Mbed TLS 2.2 ns. Its functions for a hash of one kind alone, unlike
// those for any hash, bring 30 KB into the program rather than 4 MB; HMAC are two hashes, whose first
// blocks are the key's and are hashed once (RFC 2104).
//
// This file calls no system: `FileBytes` reads the blocks.

import CMbedTLS
import COpenSSL

final class PageCipher {
    static let keyBytes = 64
    static let pageBytes = 4096
    static let pagesPerGroup = 64
    static let recordBytes = 64
    /// Of a group with all its pages.
    static let groupBytes = (pagesPerGroup + 1) * pageBytes

    private static let hmacBytes = 28
    /// What SHA-224 takes at once.
    private static let hashBlockBytes = 64

    // It stays where it is: it holds addresses of its own parts.
    private let aes: UnsafeMutablePointer<mbedtls_aes_context>
    /// The inner and the outer hash behind the key, and the one that runs.
    private let hashes: UnsafeMutablePointer<SHA256_CTX>
    private let digest: UnsafeMutablePointer<UInt8>

    /// `key`: 32 bytes for AES, 32 for the HMAC.
    init(_ key: [UInt8]) throws(CoreFileError) {
        guard key.count == Self.keyBytes else {
            throw CoreFileError(
                .misuse, "an encryption key has \(Self.keyBytes) bytes, not \(key.count)")
        }
        aes = .allocate(capacity: 1)
        hashes = .allocate(capacity: 3)
        hashes.initialize(repeating: SHA256_CTX(), count: 3)
        digest = .allocate(capacity: Self.hmacBytes)
        mbedtls_aes_init(aes)
        try Self.check(mbedtls_aes_setkey_dec(aes, Array(key[..<32]), 256))
        for (hash, pad) in [(hashes, UInt8(0x36)), (hashes + 1, 0x5C)] {
            var block = [UInt8](repeating: pad, count: Self.hashBlockBytes)
            for (index, byte) in key[32...].enumerated() { block[index] ^= byte }
            guard SHA224_Init(hash) == 1, SHA224_Update(hash, block, block.count) == 1 else {
                throw Self.noHash
            }
        }
    }

    deinit {
        // What has to do with the key is overwritten with zeros.
        mbedtls_aes_free(aes)
        OPENSSL_cleanse(hashes, 3 * MemoryLayout<SHA256_CTX>.stride)
        aes.deallocate()
        hashes.deallocate()
        digest.deallocate()
    }

    private static let noHash = CoreFileError(.unreadable, "OpenSSL does not compute SHA-224")

    private static func check(_ status: Int32) throws(CoreFileError) {
        guard status == 0 else {
            throw CoreFileError(.unreadable, "Mbed TLS reports error \(status)")
        }
    }

    /// Makes page `number` of its encrypted bytes, where they are. False where neither time that it was
    /// written fits the key: then they stay.
    func open(
        _ number: Int, _ record: UnsafeRawPointer, _ page: UnsafeMutableRawPointer
    ) throws(CoreFileError) -> Bool {
        func word(_ offset: Int) -> UInt32 {
            record.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
        }
        func clear() {
            page.initializeMemory(as: UInt8.self, repeating: 0, count: Self.pageBytes)
        }
        // Never written.
        if word(0) == 0 {
            clear()
            return true
        }
        try authenticate(page)
        func fits(_ offset: Int) -> Bool {
            let found = UnsafeRawPointer(digest)
            return stride(from: 0, to: Self.hmacBytes, by: 4).allSatisfy {
                found.loadUnaligned(fromByteOffset: $0, as: UInt32.self) == word(offset + $0)
            }
        }
        if fits(4) {
            try decrypt(number, word(0), page)
            return true
        }
        // The first page is written when the file is made; a wrong key would be zeros there.
        if word(32) == 0 {
            guard number != 0 else { return false }
            clear()
            return true
        }
        if fits(36) {
            try decrypt(number, word(32), page)
            return true
        }
        // The file was made shorter and longer again.
        return number != 0
            && (0..<Self.pageBytes).allSatisfy {
                page.load(fromByteOffset: $0, as: UInt8.self) == 0
            }
    }

    /// The HMAC of the encrypted bytes, in `digest`.
    private func authenticate(_ page: UnsafeMutableRawPointer) throws(CoreFileError) {
        let hash = hashes + 2
        hash.pointee = hashes[0]
        guard SHA224_Update(hash, page, Self.pageBytes) == 1, SHA224_Final(digest, hash) == 1 else {
            throw Self.noHash
        }
        hash.pointee = hashes[1]
        guard SHA224_Update(hash, digest, Self.hmacBytes) == 1, SHA224_Final(digest, hash) == 1
        else { throw Self.noHash }
    }

    private func decrypt(
        _ number: Int, _ iv: UInt32, _ page: UnsafeMutableRawPointer
    ) throws(CoreFileError) {
        // The word of the record as it stands there, and the place in little-endian order.
        let place = UInt64(number * Self.pageBytes).littleEndian
        var vector: (UInt32, UInt32, UInt32, UInt32) = (
            iv, UInt32(truncatingIfNeeded: place), UInt32(truncatingIfNeeded: place >> 32), 0
        )
        let bytes = page.assumingMemoryBound(to: UInt8.self)
        let status = withUnsafeMutableBytes(of: &vector) {
            mbedtls_aes_crypt_cbc(
                aes, MBEDTLS_AES_DECRYPT, Self.pageBytes,
                $0.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes, bytes)
        }
        try Self.check(status)
    }
}
