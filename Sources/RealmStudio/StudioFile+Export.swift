// What a table shows as text for a file: JSON objects or lines of CSV, some hundred objects at a time. The page puts
// the pieces together.

import CoreSwift

extension StudioFile {
    private static let exportedMax = 1000

    /// A piece of the text: `from` and `count` are objects of the view.
    func export(_ request: Request) throws -> [UInt8] {
        let from = try request.count("from", atMost: .max)
        let count = try request.count("count", atMost: Self.exportedMax)
        let format = try request.text("format")
        guard ["json", "csv"].contains(format) else {
            throw StudioError.refused("there is no format '\(format)'")
        }
        let (view, _) = try view(request)
        let total = try view.results.count()
        let start = min(from, total)
        let range = start..<start + min(count, total - start)
        var text = ""
        if format == "csv", from == 0 {
            let names = view.class_.properties.map { Self.quoted($0.name) }
            text = names.joined(separator: ",") + "\r\n"
        }
        for index in range {
            let object = try view.results.object(index)
            defer { object.release() }
            let json = try object.json()
            if format == "json" {
                text += (index == 0 ? "" : ",\n") + json
            } else {
                text += try Self.line(json, view.class_) + "\r\n"
            }
        }
        return jsonObject { output in
            output.member("version", Int(version))
            output.member("total", total)
            output.member("count", range.count)
            output.member("text", text)
        }
    }

    /// A line of CSV (RFC 4180) from an object as JSON.
    private static func line(_ json: String, _ class_: ClassSchema) throws -> String {
        guard case .dictionary(let entries) = try JSONReader.read(json) else { return "" }
        let values = Dictionary(entries.map { ($0.name, $0.value) }) { first, _ in first }
        return class_.properties.map { property in
            let name = property.publicName.isEmpty ? property.name : property.publicName
            switch values[name] {
            case nil, .value(.null): return ""
            // Nothing at all is null.
            case .value(.string(let text)): return text.isEmpty ? "\"\"" : quoted(text)
            case .some(let tree):
                var output = JSONOutput()
                write(tree, &output)
                return quoted(String(decoding: output.bytes, as: UTF8.self))
            }
        }.joined(separator: ",")
    }

    private static func quoted(_ text: String) -> String {
        guard text.utf8.contains(where: { $0 == 0x22 || $0 == 0x2C || $0 == 0x0A || $0 == 0x0D })
        else { return text }
        // By scalars: with an accent behind it a quotation mark is another character.
        let parts = text.unicodeScalars.split(separator: "\"", omittingEmptySubsequences: false)
        return "\"" + parts.map { String($0) }.joined(separator: "\"\"") + "\""
    }

    /// A tree as JSON. No deeper than the values of files are, which is a hundred.
    private static func write(_ tree: ValueTree, _ output: inout JSONOutput) {
        switch tree {
        case .number(let digits): output.written(Array(digits.utf8))
        case .value(.int(let number)): output.number(Int(number))
        case .value(.bool(let truth)): output.truth(truth)
        case .value(.string(let text)): output.text(text)
        case .value: output.null()
        case .list(let elements):
            output.array { output in for element in elements { write(element, &output) } }
        case .dictionary(let entries):
            output.object { output in
                for entry in entries {
                    output.name(entry.name)
                    write(entry.value, &output)
                }
            }
        }
    }
}
