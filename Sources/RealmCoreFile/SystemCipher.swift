// AES-256-CBC and HMAC-SHA224 of the libcrypto of the system (OpenSSL 3), where it has one: that has code for the
// processor's instructions for SHA, and decrypts several blocks at once, so that a byte takes 0.8 ns, with Mbed TLS 2.28
// 3 to 4.5. It is asked for when the first encrypted file is opened and stays until the process ends. Where it is not
// there, or does not know both, `PageCipher` does all with Mbed TLS; and where it finds that a page is not what was
// written, Mbed TLS says what that is.
//
// The prototypes are those of <openssl/hmac.h> and <openssl/evp.h>, the same in all versions of `libcrypto.so.3`.

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

final class SystemCipher {
    private typealias Bytes = UnsafePointer<UInt8>
    private typealias Target = UnsafeMutablePointer<UInt8>

    private struct Functions {
        typealias Initialize = @convention(c) (UInt64, OpaquePointer?) -> Int32
        typealias Mark = @convention(c) () -> Int32
        typealias Make = @convention(c) () -> OpaquePointer?
        typealias Free = @convention(c) (OpaquePointer) -> Void
        /// Of a key of so many bytes, a hash and an engine; without them with those that the context has.
        typealias StartHash =
            @convention(c) (OpaquePointer, Bytes?, Int32, OpaquePointer?, OpaquePointer?) -> Int32
        typealias Hash = @convention(c) (OpaquePointer, Bytes, Int) -> Int32
        typealias FinishHash =
            @convention(c) (OpaquePointer, Target, UnsafeMutablePointer<UInt32>) -> Int32
        /// Of a cipher, an engine, a key and an initialisation vector; without them with those that the context has.
        typealias StartCipher =
            @convention(c) (OpaquePointer, OpaquePointer?, OpaquePointer?, Bytes?, Bytes?) -> Int32
        typealias SetPadding = @convention(c) (OpaquePointer, Int32) -> Int32
        typealias Decrypt =
            @convention(c) (OpaquePointer, Target, UnsafeMutablePointer<Int32>, Bytes, Int32) ->
            Int32

        /// Errors that come between the two are forgotten.
        let mark: Mark
        let forget: Mark
        let makeHash: Make
        let freeHash: Free
        let startHash: StartHash
        let hash: Hash
        let finishHash: FinishHash
        let sha224: OpaquePointer
        let makeCipher: Make
        let freeCipher: Free
        let startCipher: StartCipher
        let setPadding: SetPadding
        let decrypt: Decrypt
        let aes: OpaquePointer

        /// Nil where the system has none.
        static let all: Functions? = Functions()

        private init?() {
            guard let library = dlopen("libcrypto.so.3", RTLD_NOW | RTLD_LOCAL) else { return nil }
            func function<Function>(_ name: String, _: Function.Type) -> Function? {
                dlsym(library, name).map { unsafeBitCast($0, to: Function.self) }
            }
            // Its configuration is that of the process, for whatever else uses it. OPENSSL_INIT_NO_ATEXIT: unless somebody
            // has used it before, nothing of it goes while threads still import when the process ends.
            guard let initialize = function("OPENSSL_init_crypto", Initialize.self),
                initialize(0x0008_0000, nil) == 1,
                let mark = function("ERR_set_mark", Mark.self),
                let forget = function("ERR_pop_to_mark", Mark.self),
                let makeHash = function("HMAC_CTX_new", Make.self),
                let freeHash = function("HMAC_CTX_free", Free.self),
                let startHash = function("HMAC_Init_ex", StartHash.self),
                let hash = function("HMAC_Update", Hash.self),
                let finishHash = function("HMAC_Final", FinishHash.self),
                let sha224 = function("EVP_sha224", Make.self)?(),
                let makeCipher = function("EVP_CIPHER_CTX_new", Make.self),
                let freeCipher = function("EVP_CIPHER_CTX_free", Free.self),
                let startCipher = function("EVP_DecryptInit_ex", StartCipher.self),
                let setPadding = function("EVP_CIPHER_CTX_set_padding", SetPadding.self),
                let decrypt = function("EVP_DecryptUpdate", Decrypt.self),
                let aes = function("EVP_aes_256_cbc", Make.self)?()
            else { return nil }
            self.mark = mark
            self.forget = forget
            self.makeHash = makeHash
            self.freeHash = freeHash
            self.startHash = startHash
            self.hash = hash
            self.finishHash = finishHash
            self.sha224 = sha224
            self.makeCipher = makeCipher
            self.freeCipher = freeCipher
            self.startCipher = startCipher
            self.setPadding = setPadding
            self.decrypt = decrypt
            self.aes = aes
        }
    }

    private let functions: Functions
    private let hash: OpaquePointer
    private let cipher: OpaquePointer

    /// `key`: 32 bytes for AES, 32 for the HMAC. Nil where the system has no libcrypto, or one that does not know both.
    init?(_ key: [UInt8]) {
        guard let functions = Functions.all, let hash = functions.makeHash() else { return nil }
        guard let cipher = functions.makeCipher() else {
            functions.freeHash(hash)
            return nil
        }
        self.functions = functions
        self.hash = hash
        self.cipher = cipher
        _ = functions.mark()
        defer { _ = functions.forget() }
        let isReady = key.withUnsafeBufferPointer { bytes in
            guard bytes.count == PageCipher.keyBytes, let start = bytes.baseAddress else {
                return false
            }
            return functions.startCipher(cipher, functions.aes, nil, start, nil) == 1
                && functions.setPadding(cipher, 0) == 1
                && functions.startHash(hash, start + 32, 32, functions.sha224, nil) == 1
        }
        if !isReady { return nil }
    }

    /// What has to do with the key is overwritten with zeros.
    deinit {
        functions.freeHash(hash)
        functions.freeCipher(cipher)
    }

    /// Puts the HMAC of bytes at `digest`, which has room for 28. False where that does not work.
    func authenticate(
        _ bytes: UnsafePointer<UInt8>, _ count: Int, _ digest: UnsafeMutablePointer<UInt8>
    ) -> Bool {
        var size: UInt32 = 0
        return functions.startHash(hash, nil, 0, nil, nil) == 1
            && functions.hash(hash, bytes, count) == 1
            && functions.finishHash(hash, digest, &size) == 1 && size == 28
    }

    /// Decrypts whole blocks where they are. False where that does not work: then they are of no use.
    func decrypt(
        _ bytes: UnsafeMutablePointer<UInt8>, _ count: Int, _ vector: UnsafePointer<UInt8>
    ) -> Bool {
        var size: Int32 = 0
        return functions.startCipher(cipher, nil, nil, nil, vector) == 1
            && functions.decrypt(cipher, bytes, &size, bytes, Int32(count)) == 1
            && Int(size) == count
    }
}
