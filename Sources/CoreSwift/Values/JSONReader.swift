// JSON text (RFC 8259) into a `ValueTree`. Strict: one value and nothing behind it, no comments, no
// trailing commas, UTF-8 checked byte by byte, surrogates in pairs only. Keeps its own stack, so
// that hostile nesting ends in an error. Whoever creates objects from text calls it.
//
// A name that occurs twice in one object counts once, with the later value in the earlier place.

package struct JSONReader {
    /// Arrays and objects in each other. Trees are freed by recursion, which this bounds, too.
    package static let depthMax = 1000

    private let bytes: UnsafeRawBufferPointer
    private var position = 0
    private var stack: [Frame] = []

    /// An array or object that is being read.
    private struct Frame {
        let isObject: Bool
        var elements: [ValueTree] = []
        var entries: [ValueTree.Entry] = []
        /// Where each name is among the entries, by its bytes: Swift compares strings otherwise.
        /// Made when there are more than a few.
        var places: [[UInt8]: Int] = [:]
        var name = ""
    }

    /// The value that the text is. Throws `.malformedJson` with the offset of the byte that is
    /// wrong, and `.limitExceeded` for text that is nested too deep.
    package static func read(_ text: String) throws(RealmError) -> ValueTree {
        var copy = text
        let result: Result<ValueTree, RealmError> = copy.withUTF8 { bytes in
            do throws(RealmError) {
                return .success(try read(UnsafeRawBufferPointer(bytes)))
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    /// The same for bytes that should be UTF-8.
    package static func read(_ bytes: UnsafeRawBufferPointer) throws(RealmError) -> ValueTree {
        var reader = JSONReader(bytes: bytes)
        return try reader.run()
    }

    private init(bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    // MARK: Structure

    private mutating func run() throws(RealmError) -> ValueTree {
        while true {
            skipBlanks()
            // A value is expected here; containers are entered until there is a whole one.
            guard var value = try valueOrOpening() else { continue }
            while true {
                skipBlanks()
                guard let depth = stack.indices.last else {
                    if position < bytes.count { throw wrong("nothing behind the value") }
                    return value
                }
                Self.add(value, to: &stack[depth])
                let isObject = stack[depth].isObject
                guard position < bytes.count else {
                    throw wrong(isObject ? "',' or '}'" : "',' or ']'")
                }
                if bytes[position] == UInt8(ascii: ",") {
                    position += 1
                    if isObject { try name(depth) }
                    break
                }
                guard bytes[position] == (isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) else {
                    throw wrong(isObject ? "',' or '}'" : "',' or ']'")
                }
                position += 1
                value = Self.close(stack.removeLast())
            }
        }
    }

    /// A scalar or an empty container; nil when a container was entered.
    private mutating func valueOrOpening() throws(RealmError) -> ValueTree? {
        guard position < bytes.count else { throw wrong("a value") }
        switch bytes[position] {
        case UInt8(ascii: "{"): return try open(isObject: true)
        case UInt8(ascii: "["): return try open(isObject: false)
        case UInt8(ascii: "\""): return .value(.string(try string()))
        case UInt8(ascii: "t"): return try word("true", .value(.bool(true)))
        case UInt8(ascii: "f"): return try word("false", .value(.bool(false)))
        case UInt8(ascii: "n"): return try word("null", .null)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
        default: throw wrong("a value")
        }
    }

    private mutating func open(isObject: Bool) throws(RealmError) -> ValueTree? {
        guard stack.count < Self.depthMax else {
            throw RealmError(
                .limitExceeded,
                "the JSON text is nested deeper than \(Self.depthMax) at byte \(position)")
        }
        position += 1
        skipBlanks()
        if position < bytes.count,
            bytes[position] == (isObject ? UInt8(ascii: "}") : UInt8(ascii: "]"))
        {
            position += 1
            return isObject ? .dictionary([]) : .list([])
        }
        var frame = Frame(isObject: isObject)
        if isObject { frame.entries.reserveCapacity(8) }
        stack.append(frame)
        if isObject { try name(stack.count - 1) }
        return nil
    }

    /// A name and its colon.
    private mutating func name(_ depth: Int) throws(RealmError) {
        skipBlanks()
        guard position < bytes.count, bytes[position] == UInt8(ascii: "\"") else {
            throw wrong("a name in quotes")
        }
        stack[depth].name = try string()
        skipBlanks()
        guard position < bytes.count, bytes[position] == UInt8(ascii: ":") else {
            throw wrong("':'")
        }
        position += 1
    }

    private static func add(_ value: ValueTree, to frame: inout Frame) {
        guard frame.isObject else {
            frame.elements.append(value)
            return
        }
        let entry = ValueTree.Entry(frame.name, value)
        let few = 16
        if frame.entries.count < few {
            let length = frame.name.utf8.count
            if let index = frame.entries.firstIndex(where: {
                $0.name.utf8.count == length && $0.name.utf8.elementsEqual(frame.name.utf8)
            }) {
                frame.entries[index] = entry
            } else {
                frame.entries.append(entry)
            }
            return
        }
        if frame.places.isEmpty {
            for (index, entry) in frame.entries.enumerated() {
                frame.places[Array(entry.name.utf8)] = index
            }
        }
        let key = Array(frame.name.utf8)
        if let index = frame.places[key] {
            frame.entries[index] = entry
        } else {
            frame.places[key] = frame.entries.count
            frame.entries.append(entry)
        }
    }

    private static func close(_ frame: Frame) -> ValueTree {
        frame.isObject ? .dictionary(frame.entries) : .list(frame.elements)
    }

    private mutating func skipBlanks() {
        while position < bytes.count {
            switch bytes[position] {
            case 0x20, 0x09, 0x0A, 0x0D: position += 1
            default: return
            }
        }
    }

    // MARK: Scalars

    private mutating func word(
        _ word: StaticString, _ value: ValueTree
    ) throws(RealmError) -> ValueTree {
        let count = word.utf8CodeUnitCount
        guard bytes.count - position >= count else { throw wrong("\(word)") }
        for index in 0..<count where bytes[position + index] != word.utf8Start[index] {
            position += index
            throw wrong("\(word)")
        }
        position += count
        return value
    }

    /// `-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?`
    private mutating func number() throws(RealmError) -> ValueTree {
        let start = position
        if bytes[position] == UInt8(ascii: "-") { position += 1 }
        let firstDigit = position
        try digits()
        if bytes[firstDigit] == UInt8(ascii: "0"), position > firstDigit + 1 {
            position = firstDigit + 1
            throw wrong("no digit behind a leading zero")
        }
        var isInteger = true
        if position < bytes.count, bytes[position] == UInt8(ascii: ".") {
            isInteger = false
            position += 1
            try digits()
        }
        if position < bytes.count, bytes[position] | 0x20 == UInt8(ascii: "e") {
            isInteger = false
            position += 1
            if position < bytes.count,
                bytes[position] == UInt8(ascii: "+") || bytes[position] == UInt8(ascii: "-")
            {
                position += 1
            }
            try digits()
        }
        // Up to 18 digits fit 64 bits.
        if isInteger, position - firstDigit <= 18 {
            var value: Int64 = 0
            for index in firstDigit..<position {
                value = value &* 10 &+ Int64(bytes[index] &- UInt8(ascii: "0"))
            }
            return .value(.int(firstDigit > start ? -value : value))
        }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        if isInteger, let value = Int64(text) { return .value(.int(value)) }
        return .number(text)
    }

    private mutating func digits() throws(RealmError) {
        let start = position
        while position < bytes.count, bytes[position] &- UInt8(ascii: "0") <= 9 { position += 1 }
        if position == start { throw wrong("a digit") }
    }

    /// A string, from its quote to behind the closing one.
    private mutating func string() throws(RealmError) -> String {
        position += 1
        var decoded: [UInt8] = []
        var start = position
        while position < bytes.count {
            let byte = bytes[position]
            switch byte {
            case UInt8(ascii: "\""):
                defer { position += 1 }
                if decoded.isEmpty {
                    return String(decoding: bytes[start..<position], as: UTF8.self)
                }
                decoded += bytes[start..<position]
                return String(decoding: decoded, as: UTF8.self)
            case UInt8(ascii: "\\"):
                decoded += bytes[start..<position]
                position += 1
                try escape(&decoded)
                start = position
            case 0..<0x20: throw wrong("no control character in a string; write it as \\u00XX")
            case 0x20..<0x80: position += 1
            default: try sequence()
            }
        }
        throw wrong("the closing quote of a string")
    }

    private mutating func escape(_ decoded: inout [UInt8]) throws(RealmError) {
        let expected = "one of \" \\ / b f n r t u behind a backslash"
        guard position < bytes.count else { throw wrong(expected) }
        switch bytes[position] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"):
            decoded.append(bytes[position])
        case UInt8(ascii: "b"): decoded.append(0x08)
        case UInt8(ascii: "f"): decoded.append(0x0C)
        case UInt8(ascii: "n"): decoded.append(0x0A)
        case UInt8(ascii: "r"): decoded.append(0x0D)
        case UInt8(ascii: "t"): decoded.append(0x09)
        case UInt8(ascii: "u"): return try unicode(&decoded)
        default: throw wrong(expected)
        }
        position += 1
    }

    /// `uXXXX`, or a pair of surrogates.
    private mutating func unicode(_ decoded: inout [UInt8]) throws(RealmError) {
        let start = position - 1
        position += 1
        var code = try hexDigits()
        if code & 0xFC00 == 0xD800, bytes.count - position >= 6,
            bytes[position] == UInt8(ascii: "\\"), bytes[position + 1] == UInt8(ascii: "u")
        {
            position += 2
            let low = try hexDigits()
            if low & 0xFC00 == 0xDC00 { code = 0x10000 + (code & 0x3FF) << 10 + (low & 0x3FF) }
        }
        guard let scalar = UnicodeScalar(code) else {
            position = start
            throw wrong("surrogates in pairs only")
        }
        decoded += Array(String(scalar).utf8)
    }

    private mutating func hexDigits() throws(RealmError) -> UInt32 {
        var code: UInt32 = 0
        for _ in 0..<4 {
            guard position < bytes.count, let digit = HexText.digit(bytes[position]) else {
                throw wrong("four hexadecimal digits")
            }
            code = code << 4 | UInt32(digit)
            position += 1
        }
        return code
    }

    /// A UTF-8 sequence of several bytes.
    private mutating func sequence() throws(RealmError) {
        guard let start = bytes.baseAddress else { return }
        let (scalar, length) = UTF8Scalars.decode(start, position, bytes.count)
        guard scalar != nil else { throw wrong("UTF-8") }
        position += length
    }

    // MARK: Errors

    private func wrong(_ expected: String) -> RealmError {
        let found: String
        if position >= bytes.count {
            found = "the end"
        } else if bytes[position] >= 0x20 && bytes[position] < 0x7F {
            found = "'\(Character(UnicodeScalar(bytes[position])))'"
        } else {
            found = "the byte 0x" + String(bytes[position], radix: 16)
        }
        return RealmError(
            .malformedJson,
            "malformed JSON at byte \(position): expected \(expected), found \(found)")
    }
}
