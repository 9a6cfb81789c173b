// The bytes of an old file, read in pieces as they are asked for and kept in memory of our own: a file
// that shrinks meanwhile is a read that fails, not a signal, and nothing here could write to it. What was
// read is given back between objects once it is much (`release`), so that memory does not grow with the
// file. Of an encrypted file the encrypted bytes are kept likewise, group by group, and each page is
// decrypted when it is asked for: one that nobody reads may be damaged. Nobody else in the module makes
// system calls.

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

final class FileBytes {
    /// 256 KiB, of files that are not encrypted.
    private static let pieceShift = 18
    /// A page.
    private static let pageShift = 12
    /// What is kept before `release` gives it back.
    private static let keptMax = 1 << 27
    /// The most that can be mapped on machines of today.
    private static let sizeMax = 1 << 46
    /// Of the beginning: the header, or the record of the first page.
    private static let headBytes = 64

    /// Of the data; an encrypted file is larger.
    let size: Int
    let start: UnsafeMutableRawPointer
    private let descriptor: Int32
    private let claim: UseClaim
    /// What becomes readable at once, as a shift.
    private let shift: Int
    private var isLoaded: [Bool]
    private var loadedBytes = 0
    private let sealed: Sealed?
    /// The beginning of the file when it was opened.
    private let head: [UInt8]

    /// Encrypted bytes.
    private final class Sealed {
        let cipher: PageCipher
        let size: Int
        let start: UnsafeMutableRawPointer
        var isLoaded: [Bool]

        init(_ cipher: PageCipher, _ size: Int) throws(CoreFileError) {
            guard let start = anonymousMemory(size) else { throw FileBytes.noRoom(size) }
            self.cipher = cipher
            self.size = size
            self.start = start
            isLoaded = Array(
                repeating: false, count: (size - 1) / PageCipher.groupBytes + 1)
        }

        deinit { munmap(start, size) }
    }

    private static func noRoom(_ size: Int) -> CoreFileError {
        CoreFileError(.unreadable, "no address space for \(size) bytes")
    }

    /// `key`: empty, or the 64 bytes of the file's encryption key. `evenInUse`: also while the old library
    /// has the file open.
    init(_ path: String, key: [UInt8], evenInUse: Bool) throws(CoreFileError) {
        let cipher = key.isEmpty ? nil : try PageCipher(key)
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            throw CoreFileError(.unreadable, String(cString: strerror(errno)))
        }
        var opened: (size: Int, sealed: Sealed?, start: UnsafeMutableRawPointer)
        do throws(CoreFileError) {
            claim = try UseClaim(path, evenInUse: evenInUse)
            head = try Self.head(descriptor)
            let bytes = try Self.fileSize(descriptor)
            opened.size = try Self.dataSize(bytes, head, hasKey: cipher != nil)
            opened.sealed = nil
            if let cipher { opened.sealed = try Sealed(cipher, bytes) }
            guard let start = anonymousMemory(opened.size) else { throw Self.noRoom(opened.size) }
            opened.start = start
        } catch {
            close(descriptor)
            throw error
        }
        self.descriptor = descriptor
        (size, sealed, start) = opened
        shift = sealed == nil ? Self.pieceShift : Self.pageShift
        isLoaded = Array(repeating: false, count: (size - 1) >> shift + 1)
    }

    deinit {
        munmap(start, size)
        close(descriptor)
    }

    // MARK: Opening

    private static func fileSize(_ descriptor: Int32) throws(CoreFileError) -> Int {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw CoreFileError(.unreadable, "not a regular file")
        }
        guard status.st_size <= sizeMax else { throw noRoom(Int(status.st_size)) }
        return Int(status.st_size)
    }

    private static func head(_ descriptor: Int32) throws(CoreFileError) -> [UInt8] {
        _ = try fileSize(descriptor)
        var bytes = [UInt8](repeating: 0, count: headBytes)
        let got = bytes.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, 0) }
        guard got >= 0 else {
            throw CoreFileError(.unreadable, String(cString: strerror(errno)))
        }
        return Array(bytes[..<got])
    }

    /// The size of the data in a file of so many bytes. What a file is, its header tells, which an encrypted
    /// one has not; what it is not, too.
    private static func dataSize(
        _ bytes: Int, _ head: [UInt8], hasKey: Bool
    ) throws(CoreFileError) -> Int {
        guard bytes >= 24 else {
            throw CoreFileError(.notRealm, "the file has \(bytes) bytes, a header alone has 24")
        }
        let isPlain = head.count >= 24 && head[16..<20].elementsEqual("T-DB".utf8)
        let blocks = bytes / PageCipher.pageBytes
        let mayBeEncrypted = bytes % PageCipher.pageBytes == 0 && blocks >= 2
        if !hasKey {
            if isPlain { return bytes }
            throw mayBeEncrypted
                ? CoreFileError(
                    .wrongKey,
                    "not a file of realm-core, or an encrypted one, which can be read with its key only"
                )
                : CoreFileError(.notRealm, "not a file of realm-core")
        }
        guard !isPlain else {
            throw CoreFileError(.wrongKey, "the file is not encrypted, but a key was given")
        }
        guard mayBeEncrypted else {
            throw CoreFileError(
                .notRealm,
                "not an encrypted file of realm-core: it has \(bytes) bytes, not two or more blocks of "
                    + "\(PageCipher.pageBytes), or was truncated")
        }
        return (blocks - (blocks + PageCipher.pagesPerGroup) / (PageCipher.pagesPerGroup + 1))
            * PageCipher.pageBytes
    }

    /// That nobody committed to the file since it was opened: then pages that were read later may be newer
    /// than those before.
    func checkUnchanged() throws(CoreFileError) {
        // What follows the header of a plain file may be written to by a commit that is not complete.
        let compared = sealed == nil ? 24 : Self.headBytes
        guard try Self.head(descriptor).prefix(compared) == head.prefix(compared) else {
            throw CoreFileError(.inUse, "the file was written to while it was read")
        }
    }

    // MARK: Reading

    /// Makes `count` bytes at `offset` readable. They lie within the file: the caller has checked.
    func load(_ offset: Int, _ count: Int) throws(CoreFileError) {
        guard count > 0 else { return }
        let last = (offset + count - 1) >> shift
        var piece = offset >> shift
        repeat {
            if !isLoaded[piece] { try fetch(piece) }
            piece += 1
        } while piece <= last
    }

    private func fetch(_ piece: Int) throws(CoreFileError) {
        let from = piece << shift
        let bytes = min(1 << shift, size - from)
        if let sealed {
            try decrypt(piece, sealed)
        } else {
            try read(from, bytes, to: start + from)
        }
        isLoaded[piece] = true
        loadedBytes += bytes
    }

    private func decrypt(_ page: Int, _ sealed: Sealed) throws(CoreFileError) {
        let group = page / PageCipher.pagesPerGroup
        let groupStart = group * PageCipher.groupBytes
        if !sealed.isLoaded[group] {
            let bytes = min(PageCipher.groupBytes, sealed.size - groupStart)
            try read(groupStart, bytes, to: sealed.start + groupStart)
            sealed.isLoaded[group] = true
            loadedBytes += bytes
        }
        let place = page % PageCipher.pagesPerGroup
        let block = groupStart + (place + 1) * PageCipher.pageBytes
        let plain = start + page * PageCipher.pageBytes
        let fits = try sealed.cipher.open(
            page, sealed.start + groupStart + place * PageCipher.recordBytes,
            sealed.start + block, into: plain)
        guard fits else {
            throw page == 0
                ? CoreFileError(.wrongKey, "another key, or not an encrypted file of realm-core")
                : .damaged(
                    "page \(page) at byte \(block) of the file: damaged, what is there does not fit "
                        + "the key")
        }
    }

    /// Reads all of it.
    private func read(
        _ offset: Int, _ count: Int, to target: UnsafeMutableRawPointer
    ) throws(CoreFileError) {
        var done = 0
        while done < count {
            let got = pread(descriptor, target + done, count - done, off_t(offset + done))
            if got < 0 && errno == EINTR { continue }
            guard got > 0 else {
                throw CoreFileError(
                    .unreadable,
                    "byte \(offset + done): "
                        + (got < 0
                            ? String(cString: strerror(errno))
                            : "the file became shorter while it was read"))
            }
            done += got
        }
    }

    /// Whether `release` would give something back.
    var isMuch: Bool { loadedBytes > Self.keptMax }

    /// Gives back what was read of these bytes alone, as whole pieces: of large values.
    func giveBack(_ offset: Int, _ count: Int) {
        let first = (offset + 1 << shift - 1) >> shift
        let end = (offset + count) >> shift
        guard first < end else { return }
        for piece in first..<end where isLoaded[piece] {
            isLoaded[piece] = false
            loadedBytes -= 1 << shift
        }
        forget(start + first << shift, (end - first) << shift)
        guard let sealed else { return }
        let pages = PageCipher.pagesPerGroup
        let groups = ((first + pages - 1) / pages)..<max(end / pages, (first + pages - 1) / pages)
        for group in groups where sealed.isLoaded[group] {
            sealed.isLoaded[group] = false
            loadedBytes -= PageCipher.groupBytes
            forget(sealed.start + group * PageCipher.groupBytes, PageCipher.groupBytes)
        }
    }

    /// Gives back what was read if it is much. Nothing may point to it any more.
    func release() {
        guard isMuch else { return }
        forget(start, size)
        for piece in isLoaded.indices { isLoaded[piece] = false }
        if let sealed {
            forget(sealed.start, sealed.size)
            for group in sealed.isLoaded.indices { sealed.isLoaded[group] = false }
        }
        loadedBytes = 0
    }
}

/// Whether the old library has a file open, and that it does not open it: whoever uses a file has a shared
/// lock of `flock` on its lock file, and before that tries an exclusive one, which is held here. Programs
/// that open the file meanwhile wait. The lock file is not written to, and not made where there is none.
private final class UseClaim {
    private let descriptor: Int32

    init(_ path: String, evenInUse: Bool) throws(CoreFileError) {
        descriptor =
            evenInUse ? -1 : open(path + ".lock", O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            if evenInUse || errno == ENOENT { return }
            throw CoreFileError(
                .inUse,
                "its lock file can't be opened, so whether the file is in use is unknown: "
                    + String(cString: strerror(errno)))
        }
        var status: Int32
        repeat { status = flock(descriptor, LOCK_EX | LOCK_NB) } while status != 0 && errno == EINTR
        if status == 0 { return }
        let reason = errno
        close(descriptor)
        throw CoreFileError(
            .inUse,
            reason == EWOULDBLOCK
                ? "a program has the file open with the old library: it may be written to"
                : "its lock file can't be locked, so whether the file is in use is unknown: "
                    + String(cString: strerror(reason)))
    }

    deinit { if descriptor >= 0 { close(descriptor) } }
}

/// One bit for each multiple of 8 in a file.
final class NodeMarks {
    private let words: UnsafeMutablePointer<UInt64>
    private let bytes: Int

    init(fileBytes: Int) throws(CoreFileError) {
        bytes = (fileBytes / 512 + 1) * 8
        guard let memory = anonymousMemory(bytes) else {
            throw CoreFileError(.unreadable, "no address space for \(bytes) bytes")
        }
        words = memory.bindMemory(to: UInt64.self, capacity: bytes / 8)
    }

    deinit { munmap(words, bytes) }

    /// False if it was marked before. `offset` lies within the file.
    func mark(_ offset: Int) -> Bool {
        let bit = UInt64(1) << UInt64(offset / 8 % 64)
        if words[offset / 512] & bit != 0 { return false }
        words[offset / 512] |= bit
        return true
    }

    func clear() { forget(words, bytes) }
}

/// Zeros, which take memory when they are written to. Nil when there is no room.
private func anonymousMemory(_ bytes: Int) -> UnsafeMutableRawPointer? {
    let memory = mmap(
        nil, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
    return memory == MAP_FAILED ? nil : memory
}

/// Makes anonymous memory zero, and gives it back.
private func forget(_ memory: UnsafeMutableRawPointer, _ bytes: Int) {
    #if os(Linux)
        madvise(memory, bytes, MADV_DONTNEED)
    #else
        memset(memory, 0, bytes)
    #endif
}
