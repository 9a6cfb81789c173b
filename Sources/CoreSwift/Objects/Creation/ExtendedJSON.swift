// MongoDB's extended JSON (version 2, canonical and relaxed): values whose type JSON lacks, as
// objects with a name that begins with `$`. Dictionary properties can have no such key; a dictionary in a mixed value
// that could be taken for one of these forms is written as `{"$dictionary": {…}}`.

package enum ExtendedJSON {
    static let dictionaryName = "$dictionary"

    /// What `{"$dictionary": {…}}` holds: entries that are no form, whatever their names.
    static func dictionary(_ entries: [ValueTree.Entry]) -> [ValueTree.Entry]? {
        guard entries.count == 1, entries[0].name == dictionaryName,
            case .dictionary(let plain) = entries[0].value
        else { return nil }
        return plain
    }

    /// The value that the entries spell; nil when they are none of these forms. Throws
    /// `.invalidArgument` when the content of a form is wrong.
    static func value(_ entries: [ValueTree.Entry]) throws(RealmError) -> Value? {
        guard let first = entries.first, first.name.utf8.first == UInt8(ascii: "$") else {
            return nil
        }
        if entries.count == 2, first.name == "$binary", entries[1].name == "$type" {
            return try binary(first.value, subtype: entries[1].value)
        }
        guard entries.count == 1 else { return nil }
        switch first.name {
        case "$binary": return try binary(first.value)
        case "$date": return try date(first.value)
        case "$oid":
            return try parsed(first) { text in (try? ObjectId(parsing: text)).map { .objectId($0) }
            }
        case "$uuid":
            return try parsed(first) { text in (try? UUIDValue(parsing: text)).map { .uuid($0) } }
        case "$numberInt", "$numberLong":
            if case .value(.int) = first.value, case .value(let value) = first.value {
                return value
            }
            return try parsed(first) { text in Int64(text).map { .int($0) } }
        case "$numberDecimal":
            return try parsed(first) { text in Decimal128(text).map { .decimal128($0) } }
        case "$numberDouble": return try parsed(first) { text in double(text).map { .double($0) } }
        // Ours: mixed values hold floats, too.
        case "$numberFloat":
            return try parsed(first) { text in double(text).map { .float(Float($0)) } }
        default: return nil
        }
    }

    private static func parsed(
        _ entry: ValueTree.Entry, _ parse: (String) -> Value?
    ) throws(RealmError) -> Value {
        if case .value(.string(let text)) = entry.value, let value = parse(text) { return value }
        throw wrong(entry.name, entry.value)
    }

    private static func wrong(_ name: String, _ given: ValueTree) -> RealmError {
        RealmError(.invalidArgument, "\(given.summary) is no content for \(name)")
    }

    private static func double(_ text: String) -> Double? {
        special(text) ?? Double(text).flatMap { $0.isFinite ? $0 : nil }
    }

    /// The text of what JSON has no numbers for.
    package static func text(_ number: Double) -> String {
        number.isNaN ? "NaN" : number < 0 ? "-Infinity" : "Infinity"
    }

    /// What such a text stands for.
    static func special(_ text: String) -> Double? {
        switch text {
        case "NaN": return .nan
        case "Infinity": return .infinity
        case "-Infinity": return -.infinity
        default: return nil
        }
    }

    /// `"base64"` with a type beside it, or `{"base64": …, "subType": …}`; subtype 4 is a UUID.
    private static func binary(
        _ tree: ValueTree, subtype: ValueTree? = nil
    ) throws(RealmError) -> Value {
        var content = tree
        var type = subtype
        if case .dictionary(let parts) = tree {
            type = parts.first { $0.name == "subType" }?.value
            content = parts.first { $0.name == "base64" }?.value ?? .null
        }
        guard case .value(.string(let text)) = content, let bytes = TextForms.base64(text) else {
            throw wrong("$binary", tree)
        }
        if type == "04" || type == "4" {
            guard bytes.count == 16 else { throw wrong("$binary", tree) }
            return .uuid(try UUIDValue(bytes: bytes))
        }
        return .binary(bytes)
    }

    /// ISO 8601 text, or milliseconds since 1970.
    private static func date(_ tree: ValueTree) throws(RealmError) -> Value {
        switch tree {
        case .value(.string(let text)):
            if let time = TextForms.timestamp(text) { return .timestamp(time) }
        case .value(.int(let milliseconds)):
            return .timestamp(TextForms.timestamp(milliseconds: milliseconds))
        case .dictionary(let entries):
            if case .int(let milliseconds)? = try value(entries) {
                return .timestamp(TextForms.timestamp(milliseconds: milliseconds))
            }
        default: break
        }
        throw wrong("$date", tree)
    }
}
