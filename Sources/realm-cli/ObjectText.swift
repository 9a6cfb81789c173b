// An object as the parts of its JSON text, one for each property; cells of tables and fields of CSV are made
// of them. So there is one form of each type of value, which docs/JSON.md describes.
//
// CSV (docs/TOOL.md): numbers, texts, dates and so on stand as they are; collections, embedded objects and
// mixed values as JSON; links as the primary keys they lead to. Null is an empty field, the empty
// text a pair of quotes.

import CoreSwift

struct ObjectText {
    private let properties: [PropertySchema]
    private let bytes: [UInt8]
    /// Of each property its value's place in `bytes`.
    private let values: [Range<Int>]
    /// The object's own link, for texts that refer to it as `$ref`; nil where none does.
    private let ownLink: String?

    /// `depth`: how many links deep objects stand in the text.
    init(_ object: ObjectHandle, _ class_: ClassSchema, depth: Int = 0) throws(RealmError) {
        var options = JSONOptions()
        options.linkDepth = depth
        properties = class_.properties
        bytes = Array(try object.json(options).utf8)
        var values = Self.values(bytes)
        let hasIdentifier = values.count > class_.properties.count
        // The name under which the object refers to itself.
        if hasIdentifier { values.removeFirst() }
        self.values = values
        ownLink =
            hasIdentifier
            ? "{\"$link\":{\"table\":\(JSON.quoted(class_.name)),\"key\":\(object.objectKey)}}"
            : nil
    }

    /// The places of the members' values in the text of an object.
    private static func values(_ bytes: [UInt8]) -> [Range<Int>] {
        var places: [Range<Int>] = []
        var depth = 0
        var start = 0
        var isQuoted = false
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            if isQuoted {
                if byte == UInt8(ascii: "\\") { index += 1 }
                if byte == UInt8(ascii: "\"") { isQuoted = false }
            } else {
                switch byte {
                case UInt8(ascii: "\""): isQuoted = true
                case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
                case UInt8(ascii: "}"), UInt8(ascii: "]"):
                    depth -= 1
                    if depth == 0, start > 0 { places.append(start..<index) }
                case UInt8(ascii: ":") where depth == 1: start = index + 1
                case UInt8(ascii: ",") where depth == 1: places.append(start..<index)
                default: break
                }
            }
            index += 1
        }
        return places
    }

    /// The whole text.
    var json: String { String(decoding: bytes, as: UTF8.self) }

    /// The text with these properties alone, by their places in the class.
    func json(_ columns: [Int]) -> String {
        let members = columns.map { JSON.quoted(properties[$0].name) + ":" + json($0) }
        return "{" + members.joined(separator: ",") + "}"
    }

    /// The JSON text of one value, which means the same outside of the object.
    func json(_ column: Int) -> String {
        let text = String(decoding: bytes[values[column]], as: UTF8.self)
        guard let ownLink, properties[column].type == .object else { return text }
        return text.replacing("{\"$ref\":\"1\"}", with: ownLink)
    }

    private func isNull(_ column: Int) -> Bool { bytes[values[column]].elementsEqual("null".utf8) }

    /// The text that a value which is no JSON text of its own is told by: nil for those that are.
    private func plain(_ column: Int) throws(RealmError) -> String? {
        let property = properties[column]
        let place = values[column]
        guard property.collection == .none, property.type != .mixed,
            bytes[place.lowerBound] == UInt8(ascii: "\"")
        else { return nil }
        let inside = bytes[(place.lowerBound + 1)..<(place.upperBound - 1)]
        if !inside.contains(UInt8(ascii: "\\")) { return String(decoding: inside, as: UTF8.self) }
        guard case .value(.string(let text)) = try JSONReader.read(json(column)) else { return nil }
        return text
    }

    // MARK: Tables

    /// The value for people.
    func cell(_ column: Int) throws(RealmError) -> String {
        if let text = try plain(column) { return TextWidth.visible(text) }
        let text = json(column)
        let property = properties[column]
        if property.type == .object, property.collection == .none, text.hasPrefix("{\"$link\":"),
            let end = text.lastIndex(of: ":")
        {
            return TextWidth.visible(property.linkTarget) + " "
                + text[text.index(after: end)...].prefix { $0 != "}" }
        }
        return TextWidth.visible(text)
    }

    // MARK: CSV

    /// The value as a field, with quotes where they are needed. `isGuarded`: texts that a spreadsheet
    /// would take for a formula get an apostrophe.
    func field(_ column: Int, isGuarded: Bool) throws(RealmError) -> String {
        if isNull(column) { return "" }
        guard let text = try plain(column) else {
            return CSV.field(json(column), isGuarded: false)
        }
        if properties[column].type == .object, CSV.looksLikeJSON(text) {
            // A key that would be read as JSON.
            return CSV.field(json(column), isGuarded: false)
        }
        return CSV.field(text, isGuarded: isGuarded && properties[column].type == .string)
    }
}

enum CSV {
    /// Whether the field of a link is JSON and not a key.
    static func looksLikeJSON(_ text: String) -> Bool {
        guard let first = text.utf8.first else { return false }
        return first == UInt8(ascii: "{") || first == UInt8(ascii: "\"")
    }

    /// A text as a field, of RFC 4180. The empty text is in quotes: without them it is null.
    static func field(_ text: String, isGuarded: Bool) -> String {
        var text = text
        if isGuarded, let first = text.utf8.first, "=+-@\t\r".utf8.contains(first) {
            text = "'" + text
        }
        let needsQuotes =
            text.isEmpty || text.utf8.first == 0x20 || text.utf8.last == 0x20
            || text.utf8.contains { "\",\r\n".utf8.contains($0) }
        guard needsQuotes else { return text }
        // By bytes: to Swift a quote with a mark above it is no quote.
        var bytes: [UInt8] = [UInt8(ascii: "\"")]
        for byte in text.utf8 {
            if byte == UInt8(ascii: "\"") { bytes.append(byte) }
            bytes.append(byte)
        }
        bytes.append(UInt8(ascii: "\""))
        return String(decoding: bytes, as: UTF8.self)
    }
}
