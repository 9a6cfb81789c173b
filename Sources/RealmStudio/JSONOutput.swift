// JSON text for answers: written front to back into one buffer, compact. The page reads it with
// JSON.parse, so integers that a double can't hold go as texts (`ValueOutput`).

import CoreSwift

struct JSONOutput {
    private(set) var bytes: [UInt8] = []
    /// A comma is due before the next item.
    private var needsComma = false

    // MARK: Structure

    mutating func object(_ body: (inout JSONOutput) throws -> Void) rethrows {
        try enclosed("{", "}", body)
    }

    mutating func array(_ body: (inout JSONOutput) throws -> Void) rethrows {
        try enclosed("[", "]", body)
    }

    /// A member that is an array.
    mutating func array(
        _ name: String, _ body: (inout JSONOutput) throws -> Void
    ) rethrows {
        self.name(name)
        try array(body)
    }

    private mutating func enclosed(
        _ open: Unicode.Scalar, _ close: Unicode.Scalar,
        _ body: (inout JSONOutput) throws -> Void
    ) rethrows {
        begin()
        bytes.append(UInt8(ascii: open))
        needsComma = false
        try body(&self)
        bytes.append(UInt8(ascii: close))
        needsComma = true
    }

    /// The name of the member that is written next.
    mutating func name(_ name: String) {
        begin()
        quote(name)
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    // MARK: Scalars

    mutating func text(_ text: String) {
        begin()
        quote(text)
    }

    mutating func number(_ number: Int) { word("\(number)") }
    mutating func truth(_ truth: Bool) { word(truth ? "true" : "false") }
    mutating func null() { word("null") }

    /// A number of JSON; what it has none for is null.
    mutating func number(_ number: Double) { word(number.isFinite ? "\(number)" : "null") }

    /// What another output has written.
    mutating func written(_ json: [UInt8]) {
        begin()
        bytes.append(contentsOf: json)
    }

    mutating func member(_ name: String, _ value: String) {
        self.name(name)
        text(value)
    }

    mutating func member(_ name: String, _ values: [String]) {
        array(name) { output in for value in values { output.text(value) } }
    }

    mutating func member(_ name: String, _ value: Int) {
        self.name(name)
        number(value)
    }

    mutating func member(_ name: String, _ value: Double) {
        self.name(name)
        number(value)
    }

    mutating func member(_ name: String, _ value: Bool) {
        self.name(name)
        truth(value)
    }

    private mutating func word(_ word: String) {
        begin()
        bytes.append(contentsOf: word.utf8)
    }

    private mutating func begin() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        needsComma = true
    }

    private mutating func quote(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                bytes.append(UInt8(ascii: "\\"))
                bytes.append(byte)
            case 0..<0x20:
                bytes.append(contentsOf: "\\u00\(HexText.text([byte]))".utf8)
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }
}

/// One JSON object.
func jsonObject(_ body: (inout JSONOutput) throws -> Void) rethrows -> [UInt8] {
    var output = JSONOutput()
    try output.object(body)
    return output.bytes
}
