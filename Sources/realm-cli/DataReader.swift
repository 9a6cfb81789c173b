// Rows of a text file, or of standard input: lines of JSON, and records of CSV (RFC 4180). Only one row is
// held at a time. Errors name the line.

import CoreSwift

final class DataReader {
    /// A field of CSV. Null is an empty one without quotes.
    struct Field {
        var text: String
        var isQuoted: Bool
        var isNull: Bool { text.isEmpty && !isQuoted }
    }

    /// A quote that nothing closes must not take all memory.
    private static let rowBytesMax = 256 << 20
    private static let pieceBytes = 256 << 10

    private let descriptor: Int32
    /// As messages call it.
    let name: String
    private var piece: [UInt8] = []
    private var position = 0
    private var isAtEnd = false
    /// Of the row that was read last: the number of its first line.
    private(set) var line = 0
    private var nextLine = 1

    /// "-" is standard input.
    init(_ path: String) throws(RealmError) {
        name = path == "-" ? "standard input" : path
        descriptor = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failed() }
        // The mark that some programs put in front of UTF-8.
        if try fill(), piece.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
    }

    deinit { if descriptor > STDIN_FILENO { _ = close(descriptor) } }

    private func failed() -> RealmError {
        RealmError(
            errno == ENOENT ? .fileNotFound : .fileOperationFailed,
            "can't read '\(name)': \(String(cString: strerror(errno)))")
    }

    /// An error in the row that was read last.
    func wrong(_ problem: String, _ code: ErrorCode = .invalidArgument) -> RealmError {
        RealmError(code, "\(name), line \(max(line, 1)): \(problem)")
    }

    // MARK: Bytes

    /// The next byte; nil at the end.
    private func byte() throws(RealmError) -> UInt8? {
        if position == piece.count {
            guard !isAtEnd, try fill() else { return nil }
        }
        position += 1
        return piece[position - 1]
    }

    private func fill() throws(RealmError) -> Bool {
        var bytes = [UInt8](repeating: 0, count: Self.pieceBytes)
        while true {
            let count = bytes.withUnsafeMutableBytes { buffer -> Int in
                guard let start = buffer.baseAddress else { return 0 }
                return read(descriptor, start, buffer.count)
            }
            if count > 0 {
                bytes.removeLast(bytes.count - count)
                (piece, position) = (bytes, 0)
                return true
            }
            if count == 0 {
                isAtEnd = true
                return false
            }
            if errno != EINTR { throw failed() }
        }
    }

    private func text(_ bytes: [UInt8]) throws(RealmError) -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw wrong("the text is not UTF-8")
        }
        return text
    }

    private func checkSize(_ bytes: [UInt8]) throws(RealmError) {
        if bytes.count > Self.rowBytesMax {
            throw wrong("a row has more than \(Self.rowBytesMax >> 20) MiB", .limitExceeded)
        }
    }

    // MARK: Lines

    /// The next line that is not blank, without its end.
    func nextText() throws(RealmError) -> String? {
        while true {
            line = nextLine
            var bytes: [UInt8] = []
            var last: UInt8?
            while true {
                last = try byte()
                guard let last, last != 0x0A else { break }
                bytes.append(last)
                try checkSize(bytes)
            }
            nextLine += 1
            if bytes.contains(where: { $0 != 0x20 && $0 != 0x09 && $0 != 0x0D }) {
                return try text(bytes)
            }
            if last == nil { return nil }
        }
    }

    // MARK: Records

    /// The fields of the next record; nil behind the last one.
    func nextRecord() throws(RealmError) -> [Field]? {
        line = nextLine
        guard var next = try byte() else { return nil }
        var fields: [Field] = []
        while true {
            var bytes: [UInt8] = []
            let isQuoted = next == UInt8(ascii: "\"")
            var end: UInt8?
            if isQuoted {
                end = try quoted(&bytes)
            } else {
                var current: UInt8? = next
                while let byte = current, byte != UInt8(ascii: ","), byte != 0x0A {
                    if byte == UInt8(ascii: "\"") {
                        throw wrong("a quote within a field that does not begin with one")
                    }
                    bytes.append(byte)
                    try checkSize(bytes)
                    current = try self.byte()
                }
                if current != UInt8(ascii: ","), bytes.last == 0x0D { bytes.removeLast() }
                end = current
            }
            fields.append(Field(text: try text(bytes), isQuoted: isQuoted))
            guard end == UInt8(ascii: ",") else {
                nextLine += 1
                return fields
            }
            // A field behind the last comma is there, too.
            next = try byte() ?? 0x0A
        }
    }

    /// The inside of quotes, and the comma, line feed or end behind them.
    private func quoted(_ bytes: inout [UInt8]) throws(RealmError) -> UInt8? {
        while true {
            guard let byte = try byte() else { throw wrong("a quote that nothing closes") }
            if byte != UInt8(ascii: "\"") {
                if byte == 0x0A { nextLine += 1 }
                bytes.append(byte)
                try checkSize(bytes)
                continue
            }
            var next = try self.byte()
            if next == UInt8(ascii: "\"") {
                bytes.append(byte)
                continue
            }
            if next == 0x0D { next = try self.byte() }
            guard let next else { return nil }
            guard next == UInt8(ascii: ",") || next == 0x0A else {
                throw wrong("something stands behind the closing quote of a field")
            }
            return next
        }
    }
}
