// The pages of an encrypted old file: AES-256-CBC, and HMAC-SHA224 over the encrypted bytes, both of
// mbedTLS. A file is groups of 65 blocks of 4096 bytes: one of records, and up to 64 pages.
//
//   record of a page, 64 bytes:  0 iv  4 hmac (28 bytes)  of the last time it was written
//                               32 iv 36 hmac             of the time before
//
// The library writes the record before the page: where the last hmac does not fit, the page is that of the
// time before, and where there was none, it is zeros. The initialisation vector is the iv of the record,
// the place of the page in the plain data (8 bytes), and four zeros.
//
// This file calls no system: `FileBytes` reads the blocks.

import CMbedTLS

final class PageCipher {
    static let keyBytes = 64
    static let pageBytes = 4096
    static let pagesPerGroup = 64
    static let recordBytes = 64
    /// Of a group with all its pages.
    static let groupBytes = (pagesPerGroup + 1) * pageBytes

    private static let hmacBytes = 28

    // They stay where they are: they hold addresses of their own parts.
    private let aes: UnsafeMutablePointer<mbedtls_aes_context>
    private let hmac: UnsafeMutablePointer<mbedtls_md_context_t>

    /// `key`: 32 bytes for AES, 32 for the HMAC.
    init(_ key: [UInt8]) throws(CoreFileError) {
        guard key.count == Self.keyBytes else {
            throw CoreFileError(
                .misuse, "an encryption key has \(Self.keyBytes) bytes, not \(key.count)")
        }
        aes = .allocate(capacity: 1)
        hmac = .allocate(capacity: 1)
        mbedtls_aes_init(aes)
        mbedtls_md_init(hmac)
        try Self.check(mbedtls_aes_setkey_dec(aes, Array(key[..<32]), 256))
        try Self.check(
            mbedtls_md_setup(hmac, mbedtls_md_info_from_type(MBEDTLS_MD_SHA224), 1))
        try Self.check(mbedtls_md_hmac_starts(hmac, Array(key[32...]), 32))
    }

    deinit {
        // They are overwritten with zeros.
        mbedtls_aes_free(aes)
        mbedtls_md_free(hmac)
        aes.deallocate()
        hmac.deallocate()
    }

    private static func check(_ status: Int32) throws(CoreFileError) {
        guard status == 0 else {
            throw CoreFileError(.unreadable, "mbedTLS reports error \(status)")
        }
    }

    /// Makes page `number` of its record and its encrypted bytes; `plain` is zeros before. False where
    /// neither time that it was written fits the key.
    func open(
        _ number: Int, _ record: UnsafeRawPointer, _ encrypted: UnsafeRawPointer,
        into plain: UnsafeMutableRawPointer
    ) throws(CoreFileError) -> Bool {
        func iv(_ offset: Int) -> UInt32 {
            record.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
        }
        // Never written.
        if iv(0) == 0 { return true }
        var digest: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
        func fits(_ offset: Int) -> Bool {
            withUnsafeBytes(of: digest) { digest in
                (0..<Self.hmacBytes).allSatisfy {
                    digest[$0] == record.load(fromByteOffset: offset + $0, as: UInt8.self)
                }
            }
        }
        let input = encrypted.assumingMemoryBound(to: UInt8.self)
        try Self.check(mbedtls_md_hmac_reset(hmac))
        try Self.check(mbedtls_md_hmac_update(hmac, input, Self.pageBytes))
        let status = withUnsafeMutableBytes(of: &digest) {
            mbedtls_md_hmac_finish(hmac, $0.baseAddress?.assumingMemoryBound(to: UInt8.self))
        }
        try Self.check(status)
        if fits(4) {
            try decrypt(number, iv(0), input, plain)
            return true
        }
        // The first page is written when the file is made; a wrong key would be zeros there.
        if iv(32) == 0 { return number != 0 }
        if fits(36) {
            try decrypt(number, iv(32), input, plain)
            return true
        }
        // The file was made shorter and longer again.
        return number != 0 && (0..<Self.pageBytes).allSatisfy { input[$0] == 0 }
    }

    private func decrypt(
        _ number: Int, _ iv: UInt32, _ input: UnsafePointer<UInt8>,
        _ plain: UnsafeMutableRawPointer
    ) throws(CoreFileError) {
        // The word of the record as it stands there, and the place in little-endian order.
        let place = UInt64(number * Self.pageBytes).littleEndian
        var vector: (UInt32, UInt32, UInt32, UInt32) = (
            iv, UInt32(truncatingIfNeeded: place), UInt32(truncatingIfNeeded: place >> 32), 0
        )
        let output = plain.assumingMemoryBound(to: UInt8.self)
        let status = withUnsafeMutableBytes(of: &vector) {
            mbedtls_aes_crypt_cbc(
                aes, MBEDTLS_AES_DECRYPT, Self.pageBytes,
                $0.baseAddress?.assumingMemoryBound(to: UInt8.self), input, output)
        }
        try Self.check(status)
    }
}
