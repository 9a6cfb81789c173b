// Standard output for commands that write much, or a file: in pieces of 64 KiB, with every failure told. A reader
// that has enough and goes ends the tool quietly, as it does other programs in a pipe.
//
// A file is written beside its place, and takes it when it is complete: what had its name stays until then.

import CoreSwift

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

final class Output {
    private static let pieceBytes = 64 << 10

    private let descriptor: Int32
    /// For messages; nil: standard output.
    private let path: String?
    /// What is written, and the file that it becomes; nil where bytes go to their place at once.
    private var part: (name: String, target: String)?
    private var bytes: [UInt8] = []

    /// Standard output.
    init() {
        descriptor = STDOUT_FILENO
        path = nil
    }

    /// A file that is made, or made anew, by `keep`. A realm file is refused: it was not meant.
    init(path: String) throws(RealmError) {
        if let kind = FileKind(path) {
            let owner = kind == .ours ? "" : " of realm-core"
            throw RealmError(
                .fileAlreadyExists, "'\(path)' is a realm file\(owner); it is not written over")
        }
        self.path = path
        var status = stat()
        let isThere = stat(path, &status) == 0
        guard !isThere || status.st_mode & S_IFMT == S_IFREG else {
            // A pipe or a device: there is nothing to lose.
            descriptor = open(path, O_WRONLY | O_CLOEXEC)
            guard descriptor >= 0 else { throw fail() }
            return
        }
        // Behind a link the file is replaced, and not the link.
        let target = isThere ? Self.realPath(path) ?? path : path
        let folder = target.lastIndex(of: "/").map { target[...$0] } ?? ""
        // Not of the name of the file, which may be as long as names can be.
        let name = "\(folder).realm-export-\(getpid())"
        _ = unlink(name)
        let made = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        guard made >= 0 else {
            // Who may write the file, but no other beside it.
            descriptor =
                isThere && [EACCES, EPERM].contains(errno)
                ? open(path, O_WRONLY | O_TRUNC | O_CLOEXEC) : -1
            guard descriptor >= 0 else { throw fail() }
            return
        }
        descriptor = made
        part = (name, target)
        if isThere {
            // Who is not the superuser keeps what he may give.
            _ = fchown(made, status.st_uid, status.st_gid)
            _ = fchmod(made, status.st_mode & 0o7777)
        }
    }

    deinit {
        if path != nil { _ = close(descriptor) }
        if let part { _ = unlink(part.name) }
    }

    /// Everything goes out, and a file takes its name; on stable storage before that, so that no power failure leaves
    /// neither.
    func keep() throws(RealmError) {
        try flush()
        guard let part else { return }
        guard fsync(descriptor) == 0, rename(part.name, part.target) == 0 else { throw fail() }
        self.part = nil
    }

    private static func realPath(_ path: String) -> String? {
        guard let found = realpath(path, nil) else { return nil }
        defer { free(found) }
        return String(cString: found)
    }

    func write(_ text: String) throws(RealmError) {
        bytes.append(contentsOf: text.utf8)
        if bytes.count >= Self.pieceBytes { try flush() }
    }

    /// Everything so far goes out. Commands call it at their end, and where somebody waits for a line.
    func flush() throws(RealmError) {
        var start = 0
        while start < bytes.count {
            let count = bytes.withUnsafeBytes { buffer -> Int in
                guard let base = buffer.baseAddress else { return 0 }
                #if canImport(Glibc)
                    return Glibc.write(descriptor, base + start, buffer.count - start)
                #else
                    return Darwin.write(descriptor, base + start, buffer.count - start)
                #endif
            }
            if count >= 0 {
                start += count
            } else if errno == EPIPE {
                // Where the signal was ignored by who started the tool, it ends as the signal would.
                signal(SIGPIPE, SIG_DFL)
                raise(SIGPIPE)
            } else if errno != EINTR {
                throw fail()
            }
        }
        bytes.removeAll(keepingCapacity: true)
    }

    private func fail() -> RealmError {
        RealmError(
            .fileOperationFailed,
            "can't write \(path.map { "'\($0)'" } ?? "standard output"): "
                + String(cString: strerror(errno)))
    }
}

/// The terminal that standard output is, if it is one.
enum Terminal {
    /// The columns of the terminal; nil: standard output is none.
    static var width: Int? {
        guard isatty(STDOUT_FILENO) == 1 else { return nil }
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }
}
