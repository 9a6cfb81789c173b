// Standard output for commands that write much: in pieces of 64 KiB, with every failure told. A reader
// that has enough and goes ends the tool quietly, as it does other programs in a pipe.

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
    private var bytes: [UInt8] = []

    /// Standard output.
    init() {
        descriptor = STDOUT_FILENO
        path = nil
    }

    /// A file that is made, or filled anew.
    init(path: String) throws(RealmError) {
        descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
        self.path = path
        guard descriptor >= 0 else { throw fail() }
    }

    deinit { if path != nil { _ = close(descriptor) } }

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
