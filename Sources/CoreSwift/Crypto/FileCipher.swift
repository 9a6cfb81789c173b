// The keys of one encrypted file and what is done with them: sealing bytes and opening them again.
// Made once per open file. What is sealed, and where it stands, is the business of `BlockCodec`.
//
// A key of 64 bytes and the file's salt give two keys of 32 bytes, one for blocks and one for the fixed
// places. Each message is sealed by an AEAD with a nonce of 24 bytes that stands beside it:
//
//        0    16  salt of the writer: random, drawn when the file was opened
//       16     8  number of the message among those that the writer sealed
//
// So no nonce is used twice, whatever becomes of what was sealed: an opening has its salt for itself, and
// its numbers only grow. XChaCha20-Poly1305 takes the 24 bytes as they are. AES-256-GCM takes 12, and is
// extended as XChaCha20 extends ChaCha20: HChaCha20 makes a key of the file's key and the salt, and
// the number is the nonce.
//
// Invariants
//  1. Keys are in one piece of memory that is locked, left out of core dumps, not writable once they are
//     there, and zeroed before it is given back. Key schedules made for one message are zeroed after it.
//  2. `counter` only grows.

import CKernels
import CSodium

enum CipherKind: UInt32 {
    case aes256GCM = 1
    case xChaCha20Poly1305 = 2

    /// The faster one, where the processor has instructions for it.
    static var preferred: CipherKind { hasAES ? .aes256GCM : .xChaCha20Poly1305 }

    /// Whether the processor can do AES-256-GCM.
    static let hasAES: Bool = {
        FileCipher.start()
        return crypto_aead_aes256gcm_is_available() != 0
    }()

    var name: String {
        switch self {
        case .aes256GCM: "AES-256-GCM"
        case .xChaCha20Poly1305: "XChaCha20-Poly1305"
        }
    }
}

/// What stands in a file so that its keys can be made of the program's.
struct CipherFields: Equatable {
    /// `CipherKind`, or one that is not known here.
    var kind: UInt32
    /// The file's id, which goes into its keys.
    var fileID: (UInt64, UInt64)
    var salt: [UInt8]
    /// Tells the right key from others, and nothing about either.
    var keyCheck: [UInt8]

    static let saltBytes = 32
    static let keyCheckBytes = 16

    static func == (a: CipherFields, b: CipherFields) -> Bool {
        a.kind == b.kind && a.fileID == b.fileID && a.salt == b.salt && a.keyCheck == b.keyCheck
    }
}

/// Which key a message is sealed with.
enum SealDomain {
    case block
    /// Header slots and sync records.
    case fixedPlace
}

final class FileCipher: @unchecked Sendable {
    let kind: CipherKind
    let fields: CipherFields
    private let secrets: UnsafeMutableRawPointer
    private let counter: UnsafeMutablePointer<UInt64>

    static let keyBytes = 64
    static let nonceBytes = 24
    static let tagBytes = 16
    /// Nonce and tag, which stand in front of what is sealed.
    static let prefixBytes = nonceBytes + tagBytes
    static let writerSaltBytes = 16

    /// What is where in `secrets`.
    private enum Secret {
        static let block = 0
        static let fixedPlace = 32
        static let writerSalt = 64
        static let blockSchedule = 128
        static let fixedSchedule = blockSchedule + scheduleBytes
        static let end = fixedSchedule + scheduleBytes
        static let scheduleBytes = 512
    }

    /// What of libsodium has to be started is started once.
    static func start() { _ = isStarted }
    private static let isStarted: Bool = {
        ck_sodium_start()
        return true
    }()

    // MARK: Making keys

    /// For a new file: `fields.keyCheck` is filled in.
    static func make(
        key: [UInt8], kind: CipherKind, fileID: (UInt64, UInt64), salt: [UInt8],
        writerSalt: [UInt8], path: String
    ) throws(RealmError) -> FileCipher {
        try checkSize(key)
        start()
        var fields = CipherFields(
            kind: kind.rawValue, fileID: fileID, salt: salt, keyCheck: [])
        fields.keyCheck = check(key, fields)
        return try FileCipher(key, kind, fields, writerSalt, path)
    }

    /// For the file that has these fields.
    static func open(
        key: [UInt8], fields: CipherFields, writerSalt: [UInt8], hasAES: Bool, path: String
    ) throws(RealmError) -> FileCipher {
        guard let kind = CipherKind(rawValue: fields.kind) else {
            throw RealmError(
                .unsupportedFileFormatVersion,
                "'\(path)': the file is encrypted with cipher \(fields.kind), which this library does"
                    + " not know", path: path)
        }
        guard !key.isEmpty else {
            throw RealmError(
                .invalidDatabase, "'\(path)': the file is encrypted, and no key was given",
                path: path)
        }
        try checkSize(key)
        start()
        guard check(key, fields) == fields.keyCheck else {
            throw RealmError(
                .invalidDatabase,
                "'\(path)': the file is encrypted with another key than the one that was given",
                path: path)
        }
        guard kind != .aes256GCM || hasAES else {
            throw RealmError(
                .notSupported,
                "'\(path)': the file is encrypted with \(kind.name), for which this processor has no"
                    + " instructions", path: path)
        }
        return try FileCipher(key, kind, fields, writerSalt, path)
    }

    static func checkSize(_ key: [UInt8]) throws(RealmError) {
        guard key.count == keyBytes else {
            throw RealmError(
                .invalidEncryptionKey, "an encryption key has \(keyBytes) bytes, not \(key.count)")
        }
    }

    /// Whether this is the key that the file was opened with.
    func isMade(of key: [UInt8]) -> Bool {
        key.count == Self.keyBytes && Self.check(key, fields) == fields.keyCheck
    }

    private init(
        _ key: [UInt8], _ kind: CipherKind, _ fields: CipherFields, _ writerSalt: [UInt8],
        _ path: String
    ) throws(RealmError) {
        guard writerSalt.count == Self.writerSaltBytes else {
            throw RealmError(
                .invalidArgument,
                "'\(path)': a writer's salt has \(Self.writerSaltBytes) bytes, not \(writerSalt.count)"
            )
        }
        guard let secrets = sodium_malloc(Secret.end) else {
            throw RealmError(.outOfMemory, "'\(path)': no memory for keys")
        }
        self.kind = kind
        self.fields = fields
        self.secrets = secrets
        counter = .allocate(capacity: 1)
        counter.initialize(to: 0)
        Self.derive(key, Self.keysLabel, fields, into: secrets)
        (secrets + Secret.writerSalt).copyMemory(from: writerSalt, byteCount: writerSalt.count)
        if kind == .aes256GCM {
            let salt = UnsafeRawPointer(secrets + Secret.writerSalt)
            expand(secrets + Secret.block, salt, schedule(Secret.blockSchedule))
            expand(secrets + Secret.fixedPlace, salt, schedule(Secret.fixedSchedule))
        }
        // Best effort, as locking is: it guards against our own mistakes.
        _ = sodium_mprotect_readonly(secrets)
    }

    deinit {
        _ = sodium_mprotect_readwrite(secrets)
        sodium_free(secrets)
        counter.deallocate()
    }

    private static let keysLabel = "realm file: keys"
    private static let checkLabel = "realm file: test"

    /// HMAC-SHA-512 with the program's key over a label and what the file says of itself: 64 bytes.
    private static func derive(
        _ key: [UInt8], _ label: String, _ fields: CipherFields,
        into target: UnsafeMutableRawPointer
    ) {
        var message = Array(label.utf8)
        for word in [UInt64(fields.kind), fields.fileID.0, fields.fileID.1] {
            withUnsafeBytes(of: word.littleEndian) { message.append(contentsOf: $0) }
        }
        message += fields.salt
        let state = UnsafeMutablePointer<crypto_auth_hmacsha512_state>.allocate(capacity: 1)
        defer {
            sodium_memzero(state, MemoryLayout<crypto_auth_hmacsha512_state>.size)
            state.deallocate()
        }
        _ = crypto_auth_hmacsha512_init(state, key, key.count)
        _ = crypto_auth_hmacsha512_update(state, message, UInt64(message.count))
        _ = crypto_auth_hmacsha512_final(
            state, target.assumingMemoryBound(to: UInt8.self))
    }

    private static func check(_ key: [UInt8], _ fields: CipherFields) -> [UInt8] {
        var derived = SIMD64<UInt8>()
        return withUnsafeMutablePointer(to: &derived) { derived in
            derive(key, checkLabel, fields, into: derived)
            return Array(
                UnsafeRawBufferPointer(start: derived, count: CipherFields.keyCheckBytes))
        }
    }

    private typealias Schedule = UnsafeMutablePointer<crypto_aead_aes256gcm_state>

    private func schedule(_ offset: Int) -> Schedule {
        (secrets + offset).assumingMemoryBound(to: crypto_aead_aes256gcm_state.self)
    }

    /// The schedule of the AES key that belongs to a writer's salt.
    private func expand(
        _ key: UnsafeRawPointer, _ salt: UnsafeRawPointer, _ target: Schedule
    ) {
        var expanded = SIMD32<UInt8>()
        withUnsafeMutablePointer(to: &expanded) { expanded in
            let bytes = UnsafeMutableRawPointer(expanded).assumingMemoryBound(to: UInt8.self)
            _ = crypto_core_hchacha20(
                bytes, salt.assumingMemoryBound(to: UInt8.self),
                key.assumingMemoryBound(to: UInt8.self), nil)
            _ = crypto_aead_aes256gcm_beforenm(target, bytes)
            sodium_memzero(bytes, 32)
        }
    }

    private func keyOffset(_ domain: SealDomain) -> Int {
        domain == .block ? Secret.block : Secret.fixedPlace
    }

    // MARK: Sealing and opening

    /// Writes nonce and tag to `prefix` and the ciphertext, as long as what is sealed, to `target`,
    /// which may be `source`. `bound` is authenticated with it.
    func seal(
        _ domain: SealDomain, _ source: UnsafeRawPointer, _ count: Int,
        bound: UnsafeRawBufferPointer, prefix: UnsafeMutableRawPointer,
        into target: UnsafeMutableRawPointer
    ) {
        prefix.copyMemory(
            from: secrets + Secret.writerSalt, byteCount: Self.writerSaltBytes)
        prefix.put(ck_add_u64(counter, 1), Self.writerSaltBytes)
        let tag = (prefix + Self.nonceBytes).assumingMemoryBound(to: UInt8.self)
        let output = target.assumingMemoryBound(to: UInt8.self)
        let input = source.assumingMemoryBound(to: UInt8.self)
        let extra = bound.baseAddress?.assumingMemoryBound(to: UInt8.self)
        switch kind {
        case .aes256GCM:
            withShortNonce(prefix) { nonce in
                _ = crypto_aead_aes256gcm_encrypt_detached_afternm(
                    output, tag, nil, input, UInt64(count), extra, UInt64(bound.count), nil, nonce,
                    schedule(domain == .block ? Secret.blockSchedule : Secret.fixedSchedule))
            }
        case .xChaCha20Poly1305:
            _ = crypto_aead_xchacha20poly1305_ietf_encrypt_detached(
                output, tag, nil, input, UInt64(count), extra, UInt64(bound.count), nil,
                prefix.assumingMemoryBound(to: UInt8.self),
                (secrets + keyOffset(domain)).assumingMemoryBound(to: UInt8.self))
        }
    }

    /// Whether the bytes are what was sealed, `bound` included; writes the plaintext to `target`, if
    /// there is one. What is there after a failure is undefined.
    func open(
        _ domain: SealDomain, _ source: UnsafeRawPointer, _ count: Int,
        bound: UnsafeRawBufferPointer, prefix: UnsafeRawPointer,
        into target: UnsafeMutableRawPointer?
    ) -> Bool {
        let tag = (prefix + Self.nonceBytes).assumingMemoryBound(to: UInt8.self)
        let output = target?.assumingMemoryBound(to: UInt8.self)
        let input = source.assumingMemoryBound(to: UInt8.self)
        let extra = bound.baseAddress?.assumingMemoryBound(to: UInt8.self)
        switch kind {
        case .aes256GCM:
            return withShortNonce(prefix) { nonce in
                withSchedule(domain, of: prefix) { schedule in
                    crypto_aead_aes256gcm_decrypt_detached_afternm(
                        output, nil, input, UInt64(count), tag, extra, UInt64(bound.count), nonce,
                        schedule) == 0
                }
            }
        case .xChaCha20Poly1305:
            return crypto_aead_xchacha20poly1305_ietf_decrypt_detached(
                output, nil, input, UInt64(count), tag, extra, UInt64(bound.count),
                prefix.assumingMemoryBound(to: UInt8.self),
                (secrets + keyOffset(domain)).assumingMemoryBound(to: UInt8.self)) == 0
        }
    }

    /// The 12 bytes that AES-GCM takes: four zeros, which the key's salt makes up for, and the number.
    private func withShortNonce<R>(
        _ prefix: UnsafeRawPointer, _ body: (UnsafePointer<UInt8>) -> R
    ) -> R {
        let number = prefix.u64(Self.writerSaltBytes)
        var nonce = (
            UInt32(0), UInt32(truncatingIfNeeded: number), UInt32(truncatingIfNeeded: number >> 32)
        )
        return withUnsafePointer(to: &nonce) { words in
            body(UnsafeRawPointer(words).assumingMemoryBound(to: UInt8.self))
        }
    }

    /// The schedule for what the writer of a message sealed: that of this opening, or one made for now.
    private func withSchedule<R>(
        _ domain: SealDomain, of prefix: UnsafeRawPointer, _ body: (Schedule) -> R
    ) -> R {
        let own = UnsafeRawPointer(secrets + Secret.writerSalt)
        if own.u64(0) == prefix.u64(0), own.u64(8) == prefix.u64(8) {
            return body(
                schedule(domain == .block ? Secret.blockSchedule : Secret.fixedSchedule))
        }
        // On the stack: the handler of a fault comes here, too.
        var made = crypto_aead_aes256gcm_state()
        return withUnsafeMutablePointer(to: &made) { made in
            expand(secrets + keyOffset(domain), prefix, made)
            defer { sodium_memzero(made, MemoryLayout<crypto_aead_aes256gcm_state>.size) }
            return body(made)
        }
    }
}
