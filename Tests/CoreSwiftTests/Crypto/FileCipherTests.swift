import Testing

@testable import CoreSwift

/// Keys, nonces and sealing, without a file.
@Suite struct FileCipherTests {
    static let key = (0..<64).map { UInt8($0 * 3 + 1) }
    static let kinds: [CipherKind] =
        CipherKind.hasAES ? [.aes256GCM, .xChaCha20Poly1305] : [.xChaCha20Poly1305]

    static func cipher(
        _ kind: CipherKind, key: [UInt8] = key, salt: UInt8 = 7, file: UInt64 = 1, writer: UInt8 = 9
    ) throws -> FileCipher {
        try FileCipher.make(
            key: key, kind: kind, fileID: (file, 2),
            salt: [UInt8](repeating: salt, count: CipherFields.saltBytes),
            writerSalt: [UInt8](repeating: writer, count: FileCipher.writerSaltBytes), path: "x")
    }

    /// Prefix and ciphertext.
    static func seal(
        _ cipher: FileCipher, _ text: [UInt8], bound: [UInt8] = [1, 2],
        _ domain: SealDomain = .block
    ) -> [UInt8] {
        var sealed = [UInt8](repeating: 0, count: FileCipher.prefixBytes + text.count)
        sealed.withUnsafeMutableBytes { target in
            text.withUnsafeBytes { source in
                bound.withUnsafeBytes { bound in
                    cipher.seal(
                        domain, source.baseAddress!, source.count, bound: bound,
                        prefix: target.baseAddress!,
                        into: target.baseAddress! + FileCipher.prefixBytes)
                }
            }
        }
        return sealed
    }

    static func open(
        _ cipher: FileCipher, _ sealed: [UInt8], bound: [UInt8] = [1, 2],
        _ domain: SealDomain = .block
    ) -> [UInt8]? {
        var text = [UInt8](repeating: 0, count: sealed.count - FileCipher.prefixBytes)
        let isRight = text.withUnsafeMutableBytes { target in
            sealed.withUnsafeBytes { source in
                bound.withUnsafeBytes { bound in
                    cipher.open(
                        domain, source.baseAddress! + FileCipher.prefixBytes, target.count,
                        bound: bound, prefix: source.baseAddress!, into: target.baseAddress!)
                }
            }
        }
        return isRight ? text : nil
    }

    private let text = (0..<300).map { UInt8(truncatingIfNeeded: $0 * 7) }

    @Test(arguments: kinds) func whatWasSealedOpensWithTheSameKeyPlaceAndPurposeOnly(
        _ kind: CipherKind
    ) throws {
        let cipher = try Self.cipher(kind)
        let sealed = Self.seal(cipher, text)
        #expect(Self.open(cipher, sealed) == text)
        // Another opening of the file has another salt, and reads it as well.
        #expect(Self.open(try Self.cipher(kind, writer: 10), sealed) == text)
        #expect(Self.open(cipher, sealed, bound: [1, 3]) == nil)
        #expect(Self.open(cipher, sealed, .fixedPlace) == nil)
        var otherKey = Self.key
        otherKey[63] ^= 1
        #expect(Self.open(try Self.cipher(kind, key: otherKey), sealed) == nil)
        #expect(Self.open(try Self.cipher(kind, salt: 8), sealed) == nil)
        #expect(Self.open(try Self.cipher(kind, file: 3), sealed) == nil)
    }

    @Test(arguments: kinds) func everyBitCounts(_ kind: CipherKind) throws {
        let cipher = try Self.cipher(kind)
        let sealed = Self.seal(cipher, text)
        for bit in 0..<sealed.count * 8 {
            var damaged = sealed
            damaged[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(Self.open(cipher, damaged) == nil, "bit \(bit)")
        }
    }

    @Test(arguments: kinds) func equalTextsHaveDifferentNoncesAndLookDifferent(
        _ kind: CipherKind
    ) throws {
        let cipher = try Self.cipher(kind)
        var nonces: Set<[UInt8]> = []
        var ends: Set<[UInt8]> = []
        for _ in 0..<1000 {
            let sealed = Self.seal(cipher, text, Bool.random() ? .block : .fixedPlace)
            nonces.insert(Array(sealed[..<FileCipher.nonceBytes]))
            ends.insert(Array(sealed[FileCipher.prefixBytes...]))
        }
        #expect(nonces.count == 1000 && ends.count == 1000)
    }

    @Test func keysAreToldApartAndNoncesAreSaltAndNumber() throws {
        let first = try Self.cipher(.xChaCha20Poly1305)
        #expect(first.fields.keyCheck.count == CipherFields.keyCheckBytes)
        let sameKey = try Self.cipher(.xChaCha20Poly1305, writer: 3)
        let otherSalt = try Self.cipher(.xChaCha20Poly1305, salt: 8)
        #expect(first.fields.keyCheck.count == CipherFields.keyCheckBytes)
        #expect(first.fields.keyCheck == sameKey.fields.keyCheck)
        #expect(first.fields.keyCheck != otherSalt.fields.keyCheck)
        #expect(first.isMade(of: Self.key))
        #expect(!first.isMade(of: []))
        #expect(!first.isMade(of: Array(Self.key.dropLast()) + [0]))
        let sealed = Self.seal(first, text)
        #expect(Array(sealed[..<16]) == [UInt8](repeating: 9, count: 16))
        #expect(Array(sealed[16..<24]) == [1, 0, 0, 0, 0, 0, 0, 0])
    }
}
