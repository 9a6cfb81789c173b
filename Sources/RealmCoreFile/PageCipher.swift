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
// Both are those of Mbed TLS, or of the system's libcrypto, which takes a quarter of the time (`SystemCipher`).
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

    // They stay where they are: they may hold addresses of their own parts.
    private let aes: UnsafeMutablePointer<mbedtls_aes_context>
    private let hmac: UnsafeMutablePointer<mbedtls_md_context_t>
    private let digest: UnsafeMutablePointer<UInt8>
    private let system: SystemCipher?

    /// What Mbed TLS makes for AES when it gets its first key, which no two threads may do at once.
    private static let tablesAreMade: Bool = {
        let aes = UnsafeMutablePointer<mbedtls_aes_context>.allocate(capacity: 1)
        defer { aes.deallocate() }
        mbedtls_aes_init(aes)
        defer { mbedtls_aes_free(aes) }
        return mbedtls_aes_setkey_dec(aes, [UInt8](repeating: 0, count: 32), 256) == 0
    }()

    /// `key`: 32 bytes for AES, 32 for the HMAC. `asksSystem`: whether the system's libcrypto may be used.
    init(_ key: [UInt8], asksSystem: Bool = true) throws(CoreFileError) {
        guard key.count == Self.keyBytes else {
            throw CoreFileError(
                .misuse, "an encryption key has \(Self.keyBytes) bytes, not \(key.count)")
        }
        guard Self.tablesAreMade else {
            throw CoreFileError(.unreadable, "Mbed TLS does not compute AES-256")
        }
        aes = .allocate(capacity: 1)
        hmac = .allocate(capacity: 1)
        digest = .allocate(capacity: Self.hmacBytes)
        system = asksSystem ? SystemCipher(key) : nil
        mbedtls_aes_init(aes)
        mbedtls_md_init(hmac)
        // The first half of the key.
        try Self.check(mbedtls_aes_setkey_dec(aes, key, 256))
        try Self.check(mbedtls_md_setup(hmac, mbedtls_md_info_from_type(MBEDTLS_MD_SHA224), 1))
        let status = key[32...].withUnsafeBufferPointer {
            mbedtls_md_hmac_starts(hmac, $0.baseAddress, $0.count)
        }
        try Self.check(status)
    }

    deinit {
        // What has to do with the key is overwritten with zeros.
        mbedtls_aes_free(aes)
        mbedtls_md_free(hmac)
        aes.deallocate()
        hmac.deallocate()
        digest.deallocate()
    }

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
        func fits(_ offset: Int) -> Bool {
            let found = UnsafeRawPointer(digest)
            return stride(from: 0, to: Self.hmacBytes, by: 4).allSatisfy {
                found.loadUnaligned(fromByteOffset: $0, as: UInt32.self) == word(offset + $0)
            }
        }
        // Whoever computes it: what fits is authentic. What does not, Mbed TLS looks at.
        let isKnown =
            system?.authenticate(
                page.assumingMemoryBound(to: UInt8.self), Self.pageBytes, digest) == true
            && fits(4)
        if !isKnown { try authenticate(page) }
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
        let bytes = page.assumingMemoryBound(to: UInt8.self)
        try Self.check(mbedtls_md_hmac_update(hmac, bytes, Self.pageBytes))
        try Self.check(mbedtls_md_hmac_finish(hmac, digest))
        try Self.check(mbedtls_md_hmac_reset(hmac))
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
        let status: Int32? = withUnsafeMutableBytes(of: &vector) {
            guard let vector = $0.baseAddress?.assumingMemoryBound(to: UInt8.self) else {
                return nil
            }
            if let system { return system.decrypt(bytes, Self.pageBytes, vector) ? 0 : nil }
            return mbedtls_aes_crypt_cbc(
                aes, MBEDTLS_AES_DECRYPT, Self.pageBytes, vector, bytes, bytes)
        }
        guard let status else {
            throw CoreFileError(.unreadable, "the system's libcrypto does not decrypt")
        }
        try Self.check(status)
    }
}
