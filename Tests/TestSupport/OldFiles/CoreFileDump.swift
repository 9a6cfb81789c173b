// What an old file holds, as the lines of JSON that the old library's own program wrote of it: one for the
// file, one for each table and each object. Strings and sequences that are large are there by their SHA-256.
// Elements of sets and entries of dictionaries come in the order of their texts, but as they are in the file
// where a digest is made of them.

import CSodium
import RealmCoreFile

struct CoreFileDump {
    /// Tables with more objects are there by a digest, and every 1000th object.
    private static let objectsMax = 5000
    private static let sampleStep = 1000

    let file: CoreFile
    private(set) var lines: [String] = []

    /// `allTables`: also those of the library itself.
    init(_ file: CoreFile, allTables: Bool) throws {
        self.file = file
        let version = file.schemaVersion.map(String.init) ?? "null"
        lines.append("{\"kind\":\"realm\",\"schema_version\":\(version)}")
        for (index, table) in file.tables.enumerated()
        where allTables || table.className != nil {
            try add(table, index)
        }
    }

    private mutating func add(_ table: CoreTable, _ index: Int) throws {
        var objects: [String] = []
        var unsorted: [String] = []
        try file.forEachObject(of: index) { (key, values) throws(CoreFileError) in
            func line(sorted: Bool) -> String {
                let members = zip(table.columns, values).map {
                    Self.quoted($0.name) + ":" + text($1, sorted: sorted)
                }
                return
                    "{\"kind\":\"object\",\"table\":\(Self.quoted(table.name)),\"key\":\(key),\"values\":{"
                    + members.joined(separator: ",") + "}}"
            }
            objects.append(line(sorted: true))
            unsorted.append(line(sorted: false))
        }
        let columns = table.columns.map { column in
            let target = column.target.map { Self.quoted(file.tables[$0].name) } ?? "null"
            return "{\"name\":\(Self.quoted(column.name)),\"type\":\(column.type.rawValue),"
                + "\"collection\":\"\(column.collection)\",\"nullable\":\(column.isNullable),"
                + "\"target\":\(target),\"key\":\(column.key.map(String.init) ?? "null")}"
        }
        let kind = table.kind == .ordinary ? "top" : "\(table.kind)"
        let primary = table.primaryKey.map { Self.quoted(table.columns[$0].name) } ?? "null"
        lines.append(
            "{\"kind\":\"table\",\"name\":\(Self.quoted(table.name)),\"key\":\(table.key),"
                + "\"type\":\"\(kind)\",\"pk\":\(primary),\"count\":\(objects.count),\"columns\":["
                + columns.joined(separator: ",") + "]}")
        guard objects.count > Self.objectsMax else {
            lines += objects
            return
        }
        for (index, object) in objects.enumerated()
        where index % Self.sampleStep == 0 || index == objects.count - 1 {
            lines.append(object)
        }
        let all = unsorted.map { $0 + "\n" }.joined()
        lines.append(
            "{\"kind\":\"digest\",\"table\":\(Self.quoted(table.name)),\"count\":\(objects.count),"
                + "\"sha256\":\"\(Self.hash(Array(all.utf8)))\"}")
    }

    private func text(_ value: CoreValue, sorted: Bool) -> String {
        switch value {
        case .null: return "null"
        case .int(let value): return "[\"i\",\"\(value)\"]"
        case .bool(let value): return "[\"b\",\(value)]"
        case .string(let value):
            let bytes = Array(value.utf8)
            return bytes.count > 1024
                ? "[\"S\",\(bytes.count),\"\(Self.hash(bytes))\"]" : "[\"s\",\(Self.quoted(value))]"
        case .binary(let bytes):
            return bytes.count > 1024
                ? "[\"X\",\(bytes.count),\"\(Self.hash(bytes))\"]"
                : "[\"x\",\"\(Self.hex(bytes))\"]"
        case .timestamp(let seconds, let nanoseconds):
            return "[\"t\",\"\(seconds)\",\(nanoseconds)]"
        case .float(let value): return "[\"f\",\"\(Self.hex(value.bitPattern))\"]"
        case .double(let value): return "[\"d\",\"\(Self.hex(value.bitPattern))\"]"
        case .decimal(let high, let low):
            return "[\"D\",\"\(Self.hex(high))\(Self.hex(low))\"]"
        case .objectID(let bytes): return "[\"o\",\"\(Self.hex(bytes))\"]"
        case .uuid(let bytes): return "[\"u\",\"\(Self.hex(bytes))\"]"
        case .link(let table, let key):
            return "[\"l\",\(Self.quoted(file.tables[table].name)),\(key)]"
        case .list(let values):
            return sequence("L", values.map { text($0, sorted: sorted) })
        case .set(let values):
            return sequence("E", inOrder(values.map { text($0, sorted: sorted) }, sorted))
        case .dictionary(let entries):
            let pairs = entries.map {
                "[\(text($0.key, sorted: sorted)),\(text($0.value, sorted: sorted))]"
            }
            return "[\"M\",[\(inOrder(pairs, sorted).joined(separator: ","))]]"
        }
    }

    private func inOrder(_ texts: [String], _ sorted: Bool) -> [String] {
        sorted ? texts.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) } : texts
    }

    private func sequence(_ letter: String, _ values: [String]) -> String {
        let elements = values.joined(separator: ",")
        return values.count > 4096
            ? "[\"\(letter)#\",\(values.count),\"\(Self.hash(Array(elements.utf8)))\"]"
            : "[\"\(letter)\",[\(elements)]]"
    }

    private static func quoted(_ text: String) -> String {
        var output = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": output += "\\\""
            case "\\": output += "\\\\"
            default:
                if scalar.value < 0x20 {
                    output += "\\u00" + hex([UInt8(scalar.value)])
                } else {
                    output.unicodeScalars.append(scalar)
                }
            }
        }
        return output + "\""
    }

    private static func hex(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef")
        var output = ""
        for byte in bytes {
            output.append(digits[Int(byte >> 4)])
            output.append(digits[Int(byte & 15)])
        }
        return output
    }

    private static func hex<T: FixedWidthInteger>(_ value: T) -> String {
        withUnsafeBytes(of: value.bigEndian) { hex(Array($0)) }
    }

    private static func hash(_ bytes: [UInt8]) -> String {
        var digest = [UInt8](repeating: 0, count: 32)
        crypto_hash_sha256(&digest, bytes, UInt64(bytes.count))
        return hex(digest)
    }
}
