// `realm export` and `realm import-data`: objects of a class out as CSV or JSON lines, and in again. Files of
// realm-core come in by `realm import`, a command of its own: it takes other arguments, and makes a file.

import ArgumentParser
import CoreSwift

enum DataFormat: String, CaseIterable, ExpressibleByArgument {
    case csv, jsonl

    /// As asked for, or by the end of the file's name; CSV for standard input and output.
    static func of(_ path: String?, _ asked: DataFormat?) throws -> DataFormat {
        if let asked { return asked }
        guard let path, path != "-" else { return .csv }
        let name = path.lowercased()
        if name.hasSuffix(".csv") { return .csv }
        if name.hasSuffix(".jsonl") || name.hasSuffix(".ndjson") { return .jsonl }
        throw ValidationError("'\(path)' does not tell its format; give --format csv or jsonl.")
    }
}

struct ExportCommand: FileCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Writes the objects of a class as CSV or JSON lines.",
        discussion: """
            The format is that of the name of DATA, .csv, .jsonl or .ndjson, or of --format; CSV on \
            standard output. What 'realm import-data' reads again is the same. docs/TOOL.md describes \
            both forms.

            Example: realm export people.realm Person people.csv --query "age > 40"
            """)

    @OptionGroup var source: FileArgument
    @Argument(
        help: ArgumentHelp("The class.", valueName: "class"), completion: ClassCompletion.kind)
    var className: String
    @Argument(
        help: "The file to write, which is made anew; standard output if not given.",
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
    }
}

struct ImportDataCommand: FileCommand {
    static let configuration = CommandConfiguration(
        commandName: "import-data",
        abstract: "Makes objects of CSV or JSON lines: all of them, or none.",
        discussion: """
            The class must be there. Rows may link to objects of rows behind them. All is one \
            transaction; an error names the line, and leaves the file as it was.

            Files of realm-core are imported by 'realm import'.

            Example: realm import-data people.realm Person people.csv --upsert
            """)

    @OptionGroup var source: FileArgument
    @Argument(
        help: ArgumentHelp("The class.", valueName: "class"), completion: ClassCompletion.kind)
    var className: String
    @Argument(
        help: "The file with the rows; '-' for standard input.",
        completion: .file(extensions: ["csv", "jsonl", "ndjson"]))
    var data: String
    @Option(help: "csv or jsonl; if not given, by the name of the file.")
    var format: DataFormat?
    @Flag(
        name: [.customLong("upsert"), .customLong("update")],
        help: "Objects whose primary keys are there get the values; without it they are an error.")
    var upserts = false
    @Flag(
        name: .customLong("ignore-unknown"), help: "Pass over names that the class does not have.")
    var ignoresUnknown = false
    @Flag(
        name: .customLong("object-keys"),
        help: """
            Take links to objects without primary key, by their object keys; these are the same in \
            the file that the rows come from, but seldom in another.
            """)
    var takesObjectKeys = false
    @Flag(name: .customLong("dry-run"), help: "Only check whether everything fits.")
    var isDryRun = false

    func validate() throws { _ = try DataFormat.of(data, format) }

    func work() throws {
        let format = try DataFormat.of(data, format)
        let reader = try DataReader(data)
        let realm = try source.openForWriting()
        // What is not committed is rolled back.
        defer { realm.close() }
        let class_ = try realm.class_(typed: className)
        try realm.beginWrite()
        var rows = Importing(
            realm, class_, reader, upserts: upserts, ignoresUnknown: ignoresUnknown,
            takesObjectKeys: takesObjectKeys)
        try rows.run(format)
        if !isDryRun { try realm.commit() }
        let output = Output()
        try output.write(
            "\(rows.count) \(rows.count == 1 ? "object" : "objects") of "
                + "\(TextWidth.visible(class_.name))\(isDryRun ? " would be imported" : "")\n")
        try output.flush()
    }
}
