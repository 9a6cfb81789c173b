// The bytes of an old file, read in pieces as they are asked for and kept in memory of our own: a file
// that shrinks meanwhile is a read that fails, not a signal, and nothing here could write to it. What was
// read is given back between objects once it is much (`release`), so that memory does not grow with the
// file. A piece of an encrypted file is the pages of a group: they are read to where their data belongs, and
// each is decrypted there when it is asked for, so that one that nobody reads may be damaged. Nobody else in
// the module asks the system for anything but a library (`SystemCipher`).
//
// 1. A page is open only while its piece is read: pieces are given back with all their pages.
// 2. Where a page of a piece that was read is not open, it has its encrypted bytes. The block of records of the
//    group is from the same time.

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

final class FileBytes {
    /// 256 KiB: the pages of a group, if the file is encrypted.
    private static let pieceShift = 18
    /// A page of an encrypted file.
    private static let pageShift = 12
    /// A huge page: so many pieces are next to each other in one.
    private static let piecesPerHugePage = 8
    /// After so many pieces it is chosen whether huge pages are used.
    private static let piecesPerChoice = 64
    /// What is kept in huge pages: the system has those that it gets back ready for the next ones.
    private static let hugeKeptMax = 24 << 20
    /// The most that can be mapped on machines of today.
    private static let sizeMax = 1 << 46
    /// Of the beginning: the header, or the record of the first page.
    private static let headBytes = 64

    /// Of the data; an encrypted file is larger.
    let size: Int
    let start: UnsafeMutableRawPointer
    private let descriptor: Int32
    private let claim: UseClaim
    /// By pieces.
    private let isRead: UnsafeMutablePointer<Bool>
    private let pieces: Int
    /// By pages of an encrypted file: whether they are decrypted. Of others none.
    private let isOpen: UnsafeMutablePointer<Bool>
    private let pages: Int
    /// What of the two tells whether bytes are readable, and the bytes for each: looked at for each node, without
    /// counting references.
    private let isReady: UnsafeMutablePointer<Bool>
    private let readyShift: Int
    private let sealed: Sealed?
    /// What is kept before `release` gives it back, and at most what is kept now.
    private let keptMax: Int
    private var keptBytes = 0
    /// Whether memory comes in huge pages. Once it did and does not any more, it stays so.
    private var isHuge = false
    private var mayBeHuge = true
    /// Since that was chosen: pieces that were read, and huge pages that they began.
    private var recent = (pieces: 0, hugePages: 0)
    /// The beginning of the file when it was opened.
    private let head: [UInt8]

    /// What makes pages readable.
    private final class Sealed {
        let cipher: PageCipher
        /// The blocks of records of all groups.
        let records: UnsafeMutableRawPointer
        let recordBytes: Int

        init(_ cipher: PageCipher, groups: Int) throws(CoreFileError) {
            recordBytes = groups * PageCipher.pageBytes
            guard let memory = anonymousMemory(recordBytes) else {
                throw FileBytes.noRoom(recordBytes)
            }
            records = memory
            self.cipher = cipher
        }

        deinit { munmap(records, recordBytes) }
    }

    private static func noRoom(_ size: Int) -> CoreFileError {
        CoreFileError(.unreadable, "no address space for \(size) bytes")
    }

    /// `key`: empty, or the 64 bytes of the file's encryption key. `evenInUse`: also while the old library
    /// has the file open. `asksSystem`: see `PageCipher`.
    init(
        _ path: String, key: [UInt8], evenInUse: Bool, keptMax: Int = 1 << 27,
        asksSystem: Bool = true
    ) throws(CoreFileError) {
        let cipher = key.isEmpty ? nil : try PageCipher(key, asksSystem: asksSystem)
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
            if let cipher {
                opened.sealed = try Sealed(
                    cipher, groups: (opened.size - 1) >> Self.pieceShift + 1)
            }
            pieces = (opened.size - 1) >> Self.pieceShift + 1
            pages = cipher == nil ? 0 : (opened.size - 1) >> Self.pageShift + 1
            // Behind the bytes, in the same memory.
            let all = Self.flagsOffset(opened.size) + pieces + pages
            guard let start = anonymousMemory(all) else { throw Self.noRoom(all) }
            opened.start = start
        } catch {
            close(descriptor)
            throw error
        }
        self.descriptor = descriptor
        self.keptMax = keptMax
        (size, sealed, start) = opened
        isRead = (start + Self.flagsOffset(size)).bindMemory(
            to: Bool.self, capacity: pieces + pages)
        isOpen = isRead + pieces
        (isReady, readyShift) =
            pages == 0 ? (isRead, Self.pieceShift) : (isOpen, Self.pageShift)
    }

    deinit {
        munmap(start, Self.flagsOffset(size) + pieces + pages)
        close(descriptor)
    }

    /// Behind the last piece: bytes are given back by whole pages of the system, which are no larger.
    private static func flagsOffset(_ size: Int) -> Int {
        ((size - 1) >> pieceShift + 1) << pieceShift
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
        let last = (offset &+ count &- 1) >> readyShift
        var unit = offset >> readyShift
        while unit <= last {
            if !isReady[unit] { try makeReady(unit) }
            unit &+= 1
        }
    }

    /// A page of an encrypted file, a piece of another.
    @inline(never)
    private func makeReady(_ unit: Int) throws(CoreFileError) {
        if let sealed {
            try decrypt(unit, sealed)
        } else {
            try fetch(unit, at: unit << Self.pieceShift)
        }
    }

    /// Reads a piece, which is at `place` of the file.
    private func fetch(_ piece: Int, at place: Int) throws(CoreFileError) {
        let from = piece << Self.pieceShift
        keep(piece)
        try read(place, min(1 << Self.pieceShift, size - from), to: start + from)
        isRead[piece] = true
    }

    /// Counts the memory of a piece. Of a file that is read from its beginning to its end, asking the system
    /// for each page of 4 KiB takes several times as long as reading it; of one that is read here and there,
    /// most of a huge page would be for nothing.
    private func keep(_ piece: Int) {
        let first = piece & ~(Self.piecesPerHugePage - 1)
        let isBegun = (first..<min(first + Self.piecesPerHugePage, pieces)).contains { isRead[$0] }
        if !isHuge {
            keptBytes += 1 << Self.pieceShift
        } else if !isBegun {
            keptBytes += Self.piecesPerHugePage << Self.pieceShift
        }
        guard mayBeHuge else { return }
        recent.pieces += 1
        recent.hugePages += isBegun ? 0 : 1
        if recent.pieces < Self.piecesPerChoice { return }
        // Half of their bytes were read.
        let isDense = recent.pieces * 2 >= recent.hugePages * Self.piecesPerHugePage
        if isDense != isHuge { prefer(hugePages: isDense) }
        recent = (0, 0)
    }

    private func prefer(hugePages: Bool) {
        isHuge = hugePages
        mayBeHuge = hugePages
        #if os(Linux)
            // An error changes nothing.
            madvise(start, size, hugePages ? MADV_HUGEPAGE : MADV_NOHUGEPAGE)
        #endif
    }

    private func decrypt(_ page: Int, _ sealed: Sealed) throws(CoreFileError) {
        let group = page / PageCipher.pagesPerGroup
        let groupStart = group * PageCipher.groupBytes
        let records = sealed.records + group * PageCipher.pageBytes
        if !isRead[group] {
            try read(groupStart, PageCipher.pageBytes, to: records)
            try fetch(group, at: groupStart + PageCipher.pageBytes)
        }
        let place = page % PageCipher.pagesPerGroup
        let fits = try sealed.cipher.open(
            page, records + place * PageCipher.recordBytes, start + page << Self.pageShift)
        guard fits else {
            let block = groupStart + (place + 1) * PageCipher.pageBytes
            throw page == 0
                ? CoreFileError(.wrongKey, "another key, or not an encrypted file of realm-core")
                : .damaged(
                    "page \(page) at byte \(block) of the file: damaged, what is there does not fit "
                        + "the key")
        }
        isOpen[page] = true
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
    var isMuch: Bool { keptBytes > (isHuge ? min(keptMax, Self.hugeKeptMax) : keptMax) }

    /// Gives back what was read of these bytes alone, as whole pieces: of large values.
    func giveBack(_ offset: Int, _ count: Int) {
        let first = (offset + 1 << Self.pieceShift - 1) >> Self.pieceShift
        let end = (offset + count) >> Self.pieceShift
        guard first < end else { return }
        // A part of a huge page can't be given back.
        if isHuge { prefer(hugePages: false) }
        mayBeHuge = false
        for piece in first..<end { isRead[piece] = false }
        forget(start + first << Self.pieceShift, (end - first) << Self.pieceShift)
        if sealed == nil { return }
        let perPiece = PageCipher.pagesPerGroup
        for page in first * perPiece..<end * perPiece { isOpen[page] = false }
    }

    /// Gives back what was read if it is much. Nothing may point to it any more.
    func release() {
        guard isMuch else { return }
        forget(start, size)
        isRead.update(repeating: false, count: pieces + pages)
        if let sealed { forget(sealed.records, sealed.recordBytes) }
        keptBytes = 0
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
