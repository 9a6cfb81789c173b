// `realm export`: objects of a class out as CSV or JSON lines. `realm import` takes them in again.

import ArgumentParser
import CoreSwift

enum DataFormat: String, CaseIterable, ExpressibleByArgument {
    case csv, jsonl

    /// As asked for, or by the end of the file's name; CSV for standard input and output.
    static func of(_ path: String?, _ asked: DataFormat?) throws -> DataFormat {
        if let asked { return asked }
        guard let path, path != "-" else { return .csv }
        if let told = ofName(path) { return told }
        throw ValidationError("'\(path)' does not tell its format; give --format csv or jsonl.")
    }

    /// Nil where the name tells none.
    static func ofName(_ path: String) -> DataFormat? {
        let name = path.lowercased()
        if name.hasSuffix(".csv") { return .csv }
        return name.hasSuffix(".jsonl") || name.hasSuffix(".ndjson") ? .jsonl : nil
    }
}

struct ExportCommand: FileCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Writes the objects of a class as CSV or JSON lines.",
        discussion: """
            The format is that of the name of DATA, .csv, .jsonl or .ndjson, or of --format; CSV on \
            standard output. What 'realm import' reads again is the same. docs/TOOL.md describes \
            both forms.

            Example: realm export people.realm Person people.csv --query "age > 40"
            """)

    @OptionGroup var source: FileArgument
    @Argument(
        help: ArgumentHelp("The class.", valueName: "class"), completion: ClassCompletion.kind)
    var className: String
    @Argument(
        help: "The file to write, anew when all is there; standard output if not given.",
        completion: .file(extensions: ["csv", "jsonl", "ndjson"]))
    var data: String?
    @Option(help: ArgumentHelp("Only the objects for which it is true, in its order."))
    var query: String?
    @Option(help: "csv or jsonl.")
    var format: DataFormat?
    @Option(help: ArgumentHelp("Only these properties, in this order.", valueName: "a,b,c"))
    var columns: String?
    @Option(
        help: ArgumentHelp(
            "Linked objects stand in JSON so many links deep; 0: by their keys.", valueName: "n"))
    var depth = 0
    @Flag(
        help: """
            In CSV, text that a spreadsheet would take for a formula gets an apostrophe in front. It \
            stays there when the file is imported.
            """)
    var spreadsheet = false

    func validate() throws {
        guard depth >= 0, depth <= JSONOptions.linkDepthMax else {
            throw ValidationError("--depth is between 0 and \(JSONOptions.linkDepthMax).")
        }
        _ = try DataFormat.of(data, format)
    }

    func work() throws {
        let format: RowFormat = try DataFormat.of(data, format) == .csv ? .csv : .jsonl
        let realm = try source.open()
        defer { realm.close() }
        let class_ = try realm.class_(typed: className)
        let results = try realm.chosen(class_, query)
        let path = data == "-" ? nil : data
        let output = if let path { try Output(path: path) } else { Output() }
        let writer = try RowWriter(
            class_, columns.map { $0.split(separator: ",").map(String.init) }, format, depth: depth,
            isGuarded: spreadsheet, to: output)
        try results.forEachObject { object throws(RealmError) in try writer.add(object) }
        try writer.finish()
        try output.keep()
    }
}
