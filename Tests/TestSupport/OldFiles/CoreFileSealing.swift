// Encrypts files of realm-core as that library does: for tests, the fuzzer and measurements. The layout is in
// `Sources/RealmCoreFile/PageCipher.swift`.

import CMbedTLS

enum CoreFileSealing {
    private static let pageBytes = 4096
    private static let pagesPerGroup = 64

    private static func bytes(_ word: UInt64) -> [UInt8] {
        withUnsafeBytes(of: word.littleEndian) { Array($0) }
    }

    /// The encrypted file; the data is filled with zeros up to a whole page, so that it is not to be one that
    /// was written in one go.
    static func seal(_ plain: [UInt8], key: [UInt8]) -> [UInt8] {
        let pages = (plain.count + pageBytes - 1) / pageBytes
        let groups = (pages + pagesPerGroup - 1) / pagesPerGroup
        var sealed = [UInt8](repeating: 0, count: (pages + groups) * pageBytes)
        // It stays where it is: it may hold addresses of its own parts.
        let aes = UnsafeMutablePointer<mbedtls_aes_context>.allocate(capacity: 1)
        defer { aes.deallocate() }
        mbedtls_aes_init(aes)
        mbedtls_aes_setkey_enc(aes, key, 256)
        let sha224 = mbedtls_md_info_from_type(MBEDTLS_MD_SHA224)
        let authentication = Array(key[32...])
        var encrypted = [UInt8](repeating: 0, count: pageBytes)
        var hmac = [UInt8](repeating: 0, count: 28)
        for number in 0..<pages {
            let start = number * pageBytes
            var page = Array(plain[start..<min(start + pageBytes, plain.count)])
            page += [UInt8](repeating: 0, count: pageBytes - page.count)
            let iv = UInt32(number % 1000 + 1)
            var vector = [UInt8](repeating: 0, count: 16)
            for (index, byte) in bytes(UInt64(iv)).prefix(4).enumerated() { vector[index] = byte }
            for (index, byte) in bytes(UInt64(start)).enumerated() { vector[4 + index] = byte }
            // Encrypting changes the vector.
            let word = Array(vector[..<4])
            mbedtls_aes_crypt_cbc(
                aes, MBEDTLS_AES_ENCRYPT, pageBytes, &vector, page, &encrypted)
            mbedtls_md_hmac(sha224, authentication, 32, encrypted, pageBytes, &hmac)
            let group = number / pagesPerGroup * (pagesPerGroup + 1) * pageBytes
            let record = group + number % pagesPerGroup * 64
            sealed.replaceSubrange(record..<record + 32, with: word + hmac)
            let block = group + (number % pagesPerGroup + 1) * pageBytes
            sealed.replaceSubrange(block..<block + pageBytes, with: encrypted)
        }
        mbedtls_aes_free(aes)
        return sealed
    }
}
