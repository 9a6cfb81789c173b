// `realm import`: a file of realm-core becomes a file of ours, or rows of a text become objects of a class. Two
// arguments are the former, three the latter; what a file is, its first bytes tell.

import ArgumentParser
import CoreSwift

struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Makes a file of one of realm-core, or objects of CSV or JSON lines.",
        usage: """
            realm import <file> <new> [--key-file <path>] [--new-key-file <path>] [--even-in-use] [--json]
            realm import <file> <class> <data> [--key-file <path>] [--format <format>] [--upsert] \
            [--ignore-unknown] [--object-keys] [--dry-run] [--json]
            """,
        discussion: """
            With NEW, FILE is a file of the old library, of format 9 to 11 or 20 to 24, and is only read; \
            neither it nor what lies beside it is changed. While a program has it open, it is refused. NEW \
            must not exist; it gets its name when it is complete, and a failed import leaves nothing behind. \
            Exit status: 0 when everything came along, 1 when values or objects were left out, 2 when \
            nothing was imported.

            With CLASS and DATA the rows of DATA become objects of a class of FILE: all of them, or none. \
            The class must be there. Rows may link to objects of rows behind them. All is one transaction; \
            an error names the line, and leaves the file as it was. The format is that of the name of DATA, \
            .csv, .jsonl or .ndjson, or of --format; CSV on standard input.

            Examples: realm import old.realm new.realm

            realm import people.realm Person people.csv --upsert
            """)

    @Argument(
        help: "The file of realm-core, which is read; or the realm file, which gets objects.",
        completion: .file(extensions: ["realm"]))
    var file: String

    @Argument(
        help: ArgumentHelp("The file to write; or the class.", valueName: "new|class"),
        completion: ClassCompletion.kind)
    var target: String

    @Argument(
        help: ArgumentHelp(
            "The file with the rows; '-' for standard input.", valueName: "data"),
        completion: .file(extensions: ["csv", "jsonl", "ndjson"]))
    var data: String?

    @Option(
        name: .customLong("key-file"),
        help: ArgumentHelp(
            "A file with the 64 bytes of the key that FILE is encrypted with.", valueName: "path"),
        completion: .file())
    var keyFile: String?

    @Flag(help: "Print one JSON object instead of text.")
    var json = false

    @OptionGroup(title: "Options with NEW")
    var whole: FileImportOptions

    @OptionGroup(title: "Options with CLASS and DATA")
    var rows: RowImportOptions

    func validate() throws {
        guard let data else {
            if let given = rows.given {
                throw ValidationError(
                    "\(given) is for rows: realm import FILE CLASS DATA, where DATA may be '-'.")
            }
            return
        }
        if let given = whole.given {
            throw ValidationError(
                "\(given) is for files of realm-core: realm import FILE NEW, without DATA.")
        }
        // What is no rows at all is told by `refuse`.
        if FileKind(data) == nil { _ = try DataFormat.of(data, rows.format) }
    }

    func run() throws {
        do {
            if let data {
                try refuse(data, asRows: true)
                try importRows(data)
            } else {
                try refuse(file, asRows: false)
                try importFile()
            }
        } catch let error as RealmError {
            throw failure(error, file, json: json)
        }
    }

    /// Names what a file is where it is not what its place asks for.
    private func refuse(_ path: String, asRows: Bool) throws(RealmError) {
        let kind = FileKind(path)
        if asRows {
            if FileKind(file) == .realmCore {
                throw RealmError(
                    .invalidArgument,
                    "a file of realm-core, which gets no objects; 'realm import \(file) NEW' makes a file of "
                        + "ours of it")
            }
            guard kind != .realmCore, kind != .ours else {
                throw RealmError(
                    .invalidArgument,
                    "'\(path)' is a realm file, not rows of CSV or JSON lines"
                        + (kind == .realmCore
                            ? "; 'realm import \(path) NEW' imports it as a whole"
                            : "; 'realm export' writes the objects of a class as rows"))
            }
        } else if kind == .ours {
            throw RealmError(
                .invalidArgument,
                "the file is none of realm-core, but one of ours; rows come into it by "
                    + "'realm import FILE CLASS DATA', where DATA may be '-'")
        } else if kind == nil, DataFormat.ofName(path) != nil {
            throw RealmError(
                .invalidArgument,
                "the name is that of rows, which come into a class: "
                    + "'realm import FILE CLASS \(path)'")
        }
    }
}

/// What the first bytes of a file tell; encrypted files of realm-core tell nothing.
enum FileKind: Equatable {
    case ours, realmCore

    private static let headBytes = 24

    /// Nil for others, and for what can't be read: opening it tells. Only regular files are looked at: what is read
    /// of a pipe is gone.
    init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { _ = close(descriptor) }
        var head = [UInt8](repeating: 0, count: Self.headBytes)
        let got = head.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, 0) }
        guard got == Self.headBytes else { return nil }
        if head.starts(with: "RealmSwF".utf8) {
            self = .ours
        } else if head[16..<20].elementsEqual("T-DB".utf8) {
            self = .realmCore
        } else {
            return nil
        }
    }
}
