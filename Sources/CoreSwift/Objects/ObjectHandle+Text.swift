// An object as one line of JSON, in the format of docs/C_RULES, "Objects as text".

import CKernels

extension ObjectHandle {
    /// `{"name":value,…}` with every stored property that the realm shows, in the order of the file;
    /// classes without primary key begin with `"_key"`.
    package func jsonText() throws(RealmError) -> String { try jsonText(level: 0) }

    /// Embedded objects in one another, as many as collections.
    private static let levelMax = 100

    private func jsonText(level: Int) throws(RealmError) -> String {
        guard level <= Self.levelMax else {
            throw RealmError(
                .limitExceeded, "objects embedded more than \(Self.levelMax) deep have no text")
        }
        _ = try row()
        guard let owner = try realm.storedClass(classKey) else {
            throw RealmError(.noSuchTable, "'\(realm.path)' has no class with key \(classKey)")
        }
        var members: [String] = []
        if owner.primaryKeyProperty == nil && owner.kind == .topLevel {
            members.append("\"_key\":\(objectKey)")
        }
        let stored = owner.properties.filter { $0.key != .invalid }
        for property in stored.sortedFew(by: { $0.key.column < $1.key.column }) {
            let text = try text(
                of: try content(property.key, property.collection),
                isMixed: property.type == .mixed, level)
            members.append("\(JSONText.quoted(property.name)):\(text)")
        }
        return "{" + members.joined(separator: ",") + "}"
    }

    /// Not deeper than collections can be nested.
    private func text(
        of content: StoredContent, isMixed: Bool, _ level: Int
    ) throws(RealmError) -> String {
        let collection: RealmCollection
        switch content {
        case .value(let raw): return try text(raw, isMixed: isMixed, level)
        case .collection(let found): collection = found
        }
        let isDictionary = collection.type == .dictionary
        var parts: [String] = []
        for index in 0..<(try collection.count()) {
            var part = try text(of: try collection.content(index), isMixed: isMixed, level)
            if isDictionary {
                part = JSONText.text(try Value(try collection.key(index))) + ":" + part
            }
            parts.append(part)
        }
        let all = parts.joined(separator: ",")
        return isDictionary ? "{\(all)}" : "[\(all)]"
    }

    /// A link is the key of its target, or the whole embedded object; in a mixed value, the class
    /// is named beside the key.
    private func text(
        _ raw: RawValue, isMixed: Bool, _ level: Int
    ) throws(RealmError) -> String {
        let value = try Value(raw)
        guard case .link(let link) = value else { return JSONText.text(value) }
        let target = try realm.storedClass(link.classKey)
        if target?.kind == .embedded {
            let object = try realm.object(link.classKey, link.objectKey)
            defer { object.release() }
            return try object.jsonText(level: level + 1)
        }
        let key = try keyText(link)
        guard isMixed else { return key }
        return "{ \"$link\": {\"table\": \(JSONText.quoted(target?.name ?? "")), \"key\": \(key)}}"
    }

    private func keyText(_ link: Link) throws(RealmError) -> String {
        let target = try realm.object(link.classKey, link.objectKey)
        defer { target.release() }
        guard let key = try realm.storedClass(link.classKey)?.primaryKeyProperty else {
            return "\(link.objectKey)"
        }
        return JSONText.text(try Value(try target.value(key.key)))
    }
}

package enum JSONText {
    /// Values other than links.
    static func text(_ value: Value) -> String {
        switch value {
        case .null: return "null"
        case .int(let number): return "\(number)"
        case .bool(let flag): return flag ? "true" : "false"
        case .float(let number): return scientific(Double(number), digits: 7)
        case .double(let number): return scientific(number, digits: 16)
        case .string(let text): return quoted(text)
        case .binary(let bytes): return "\"" + Base64.text(bytes) + "\""
        case .timestamp(let time): return "\"" + calendar(time) + "\""
        case .decimal128(let number): return "\"\(number)\""
        case .objectId(let id): return "\"\(id)\""
        case .uuid(let id): return "\"\(id)\""
        case .link(let link): return "\(link.objectKey)"
        }
    }

    /// The text in quotes, in the format of objects as text.
    static func quoted(_ text: String) -> String {
        var bytes: [UInt8] = []
        quote(text, escapesAll: false, into: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Adds the text in quotes. Escapes quotes, backslashes and control characters: those that have a letter, or
    /// all. Other bytes stand as they are, and go over in pieces.
    static func quote(_ text: String, escapesAll: Bool, into bytes: inout [UInt8]) {
        var text = text
        bytes.append(UInt8(ascii: "\""))
        text.withUTF8 { source in
            var start = 0
            for (index, byte) in source.enumerated()
            where byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
                guard let escape = escape(byte, escapesAll) else { continue }
                bytes.append(contentsOf: source[start..<index])
                bytes.append(contentsOf: escape.utf8)
                start = index + 1
            }
            bytes.append(contentsOf: source[start...])
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private static func escape(_ byte: UInt8, _ escapesAll: Bool) -> String? {
        switch byte {
        case UInt8(ascii: "\""): return "\\\""
        case UInt8(ascii: "\\"): return "\\\\"
        case 0x0A: return "\\n"
        case 0x0D: return "\\r"
        case 0x09: return "\\t"
        case 0x0C: return "\\f"
        case 0x08: return "\\b"
        default: return escapesAll ? "\\u00" + HexText.text([byte]) : nil
        }
    }

    /// As C's `%.<digits>e`.
    static func scientific(_ number: Double, digits: Int) -> String {
        if number.isNaN { return number.sign == .minus ? "-nan" : "nan" }
        if number.isInfinite { return number < 0 ? "-inf" : "inf" }
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { buffer in
            ck_format_scientific(number, Int32(digits), buffer.baseAddress, buffer.count)
            return buffer.baseAddress.map { String(cString: $0) } ?? ""
        }
    }

    /// `YYYY-MM-DD hh:mm:ss[.nnnnnnnnn]`, UTC.
    static func calendar(_ time: Timestamp) -> String {
        let fields = DateFields(time)
        func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let year = fields.year
        let yearText = year >= 0 && year < 1000 ? String("000\(year)".suffix(4)) : "\(year)"
        var text = "\(yearText)-\(two(fields.month))-\(two(fields.day)) "
        text += "\(two(fields.field(.hour))):\(two(fields.field(.minute)))"
        text += ":\(two(fields.field(.second)))"
        if fields.nanoseconds > 0 {
            text += "." + String("00000000\(fields.nanoseconds)".suffix(9))
        }
        return text
    }
}
