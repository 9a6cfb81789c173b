// The bytes of an old file, read in pieces as they are asked for and kept in memory of our own: a file
// that shrinks meanwhile is a read that fails, not a signal, and nothing here could write to it. What was
// read is given back between objects once it is much (`release`), so that memory does not grow with the
// file. Nobody else in the module makes system calls.

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

final class FileBytes {
    /// 64 pages.
    private static let pieceBytes = 1 << 18
    /// What is kept before `release` gives it back.
    private static let keptMax = 1 << 27
    /// The most that can be mapped on machines of today.
    private static let sizeMax = 1 << 46

    let size: Int
    let start: UnsafeMutableRawPointer
    private let descriptor: Int32
    private var isLoaded: [Bool]
    private var loadedBytes = 0

    init(_ path: String) throws(CoreFileError) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            throw CoreFileError(.unreadable, String(cString: strerror(errno)))
        }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw CoreFileError(.unreadable, "not a regular file")
        }
        let size = Int(status.st_size)
        guard size >= 24 else {
            close(descriptor)
            throw CoreFileError(.notRealm, "the file has \(size) bytes, a header alone has 24")
        }
        guard size <= Self.sizeMax, let start = anonymousMemory(size) else {
            close(descriptor)
            throw CoreFileError(.unreadable, "no address space for \(size) bytes")
        }
        self.descriptor = descriptor
        self.size = size
        self.start = start
        isLoaded = Array(repeating: false, count: (size - 1) / Self.pieceBytes + 1)
    }

    deinit {
        munmap(start, size)
        close(descriptor)
    }

    /// Makes `count` bytes at `offset` readable. They lie within the file: the caller has checked.
    func load(_ offset: Int, _ count: Int) throws(CoreFileError) {
        guard count > 0 else { return }
        let last = (offset + count - 1) / Self.pieceBytes
        for piece in (offset / Self.pieceBytes)...last where !isLoaded[piece] {
            let from = piece * Self.pieceBytes
            let bytes = min(Self.pieceBytes, size - from)
            var done = 0
            while done < bytes {
                let got = pread(descriptor, start + from + done, bytes - done, off_t(from + done))
                if got < 0 && errno == EINTR { continue }
                guard got > 0 else {
                    throw CoreFileError(
                        .unreadable,
                        "byte \(from + done): "
                            + (got < 0
                                ? String(cString: strerror(errno))
                                : "the file became shorter while it was read"))
                }
                done += got
            }
            isLoaded[piece] = true
            loadedBytes += bytes
        }
    }

    /// Gives back what was read if it is much. Nothing may point to it any more.
    func release() {
        guard loadedBytes > Self.keptMax else { return }
        forget(start, size)
        for piece in isLoaded.indices { isLoaded[piece] = false }
        loadedBytes = 0
    }
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
