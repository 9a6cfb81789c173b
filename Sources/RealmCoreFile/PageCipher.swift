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
// Both are those of OpenSSL, which has them for the instructions that processors have for them. AES comes by its
// interface for any cipher, the only one that reaches these instructions: it brings most of OpenSSL into the
// program, nearly 4 MB, and takes a fifth of the time of libraries that are small. SHA-224 comes by the
// functions for that hash alone, whose state is copied for each page without memory of its own: HMAC are two
// hashes, whose first blocks are the key's and are hashed once (RFC 2104).
//
// OpenSSL gets a context of its own and reads no configuration: what the machine or the process makes of
// OpenSSL otherwise does not matter here, and the process ends without a call of it.
//
// This file calls no system: `FileBytes` reads the blocks.

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

    /// AES-256-CBC as OpenSSL's default provider has it, in a library context of its own; both stay until the
    /// process ends. Nil when there is no memory.
    private static let cipher: OpaquePointer? = {
        // Before anything else of OpenSSL, which would ask for the configuration and register what ends it.
        let options = OPENSSL_INIT_NO_LOAD_CONFIG | OPENSSL_INIT_NO_ATEXIT
        guard OPENSSL_init_crypto(UInt64(options), nil) == 1, let context = OSSL_LIB_CTX_new()
        else { return nil }
        return EVP_CIPHER_fetch(context, "AES-256-CBC", "provider=default")
    }()

    /// A decryption that has the key, and gets a new initialisation vector for each page.
    private let aes: OpaquePointer
    /// The inner and the outer hash behind the key, and the one that runs.
    private let hashes: UnsafeMutablePointer<SHA256_CTX>
    private let digest: UnsafeMutablePointer<UInt8>

    /// `key`: 32 bytes for AES, 32 for the HMAC.
    init(_ key: [UInt8]) throws(CoreFileError) {
        guard key.count == Self.keyBytes else {
            throw CoreFileError(
                .misuse, "an encryption key has \(Self.keyBytes) bytes, not \(key.count)")
        }
        guard let cipher = Self.cipher, let aes = EVP_CIPHER_CTX_new() else { throw Self.noCipher }
        self.aes = aes
        hashes = .allocate(capacity: 3)
        hashes.initialize(repeating: SHA256_CTX(), count: 3)
        digest = .allocate(capacity: Self.hmacBytes)
        // The first half of the key; pages are whole blocks.
        guard EVP_DecryptInit_ex2(aes, cipher, key, nil, nil) == 1,
            EVP_CIPHER_CTX_set_padding(aes, 0) == 1
        else { throw Self.noCipher }
        for (hash, pad) in [(hashes, UInt8(0x36)), (hashes + 1, 0x5C)] {
            var block = [UInt8](repeating: pad, count: Self.hashBlockBytes)
            for (index, byte) in key[32...].enumerated() { block[index] ^= byte }
            defer { OPENSSL_cleanse(&block, block.count) }
            guard SHA224_Init(hash) == 1, SHA224_Update(hash, block, block.count) == 1 else {
                throw Self.noHash
            }
        }
    }

    deinit {
        // What has to do with the key is overwritten with zeros.
        EVP_CIPHER_CTX_free(aes)
        OPENSSL_cleanse(hashes, 3 * MemoryLayout<SHA256_CTX>.stride)
        hashes.deallocate()
        digest.deallocate()
    }

    private static let noHash = CoreFileError(.unreadable, "OpenSSL does not compute SHA-224")

    private static let noCipher = CoreFileError(.unreadable, "OpenSSL does not compute AES-256-CBC")

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
        let isBegun = withUnsafeBytes(of: &vector) {
            EVP_DecryptInit_ex2(
                aes, nil, nil, $0.baseAddress?.assumingMemoryBound(to: UInt8.self), nil) == 1
        }
        var count: Int32 = 0
        guard isBegun, EVP_DecryptUpdate(aes, bytes, &count, bytes, Int32(Self.pageBytes)) == 1,
            count == Self.pageBytes
        else { throw Self.noCipher }
    }
}
