// Encrypts files of realm-core as that library does: for tests, the fuzzer and measurements. The layout is in
// `Sources/RealmCoreFile/PageCipher.swift`.

import COpenSSL

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
        let aes = EVP_CIPHER_CTX_new()
        EVP_EncryptInit_ex2(aes, EVP_aes_256_cbc(), Array(key[..<32]), nil, nil)
        EVP_CIPHER_CTX_set_padding(aes, 0)
        let authentication = Array(key[32...])
        var count: Int32 = 0
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
            let word = vector[..<4]
            EVP_EncryptInit_ex2(aes, nil, nil, vector, nil)
            EVP_EncryptUpdate(aes, &encrypted, &count, page, Int32(pageBytes))
            HMAC(EVP_sha224(), authentication, 32, encrypted, pageBytes, &hmac, nil)
            let group = number / pagesPerGroup * (pagesPerGroup + 1) * pageBytes
            let record = group + number % pagesPerGroup * 64
            sealed.replaceSubrange(record..<record + 32, with: word + hmac)
            let block = group + (number % pagesPerGroup + 1) * pageBytes
            sealed.replaceSubrange(block..<block + pageBytes, with: encrypted)
        }
        EVP_CIPHER_CTX_free(aes)
        return sealed
    }
}
