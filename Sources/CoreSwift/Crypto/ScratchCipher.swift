// Hides what is written to a file that has no name and ends with the process that made it: sorted runs of
// index entries beside an encrypted file. Whoever reads the disk learns nothing of it; it is not
// authenticated, as nobody else can write it. The key is in memory alone.

import CSodium

struct ScratchCipher {
    /// What is encrypted begins at a multiple of so many bytes.
    static let blockBytes = 64

    private let key: [UInt8]

    init() {
        FileCipher.start()
        var random = SystemRandomNumberGenerator()
        key = (0..<crypto_stream_chacha20_KEYBYTES).map { _ in
            UInt8.random(in: .min ... .max, using: &random)
        }
    }

    /// Encrypts or decrypts bytes that stand at `offset`, a multiple of `blockBytes`; each place is written once.
    func apply(_ bytes: UnsafeMutableRawPointer, _ count: Int, at offset: UInt64) {
        let bytes = bytes.assumingMemoryBound(to: UInt8.self)
        // Of the key alone: it is of one file.
        let nonce = [UInt8](repeating: 0, count: Int(crypto_stream_chacha20_NONCEBYTES))
        _ = crypto_stream_chacha20_xor_ic(
            bytes, bytes, UInt64(count), nonce, offset / UInt64(Self.blockBytes), key)
    }
}
