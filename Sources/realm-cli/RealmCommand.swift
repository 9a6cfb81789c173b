// The command-line tool `realm`: what can be done with database files without a program of one's own. All
// commands are described in docs/TOOL.md.
//
//   realm schema|query|count|explain|get FILE …    what is in a file
//   realm edit|export|import FILE CLASS …    changes, objects out and in
//   realm watch|log|diff FILE …    what changes, and what changed
//   realm copy|compact FILE …    without the space that is not needed
//   realm shell FILE      the same, a line at a time
//   realm check FILE      verify every block, tree, index and the map of free space
//   realm stats FILE      sizes, versions, free space, objects and bytes of each class
//   realm migrate FILE    other names for classes and properties, or none
//   realm salvage FILE OUT    what is intact of a damaged file, in a new one
//   realm import OLD NEW  a file of realm-core as one of ours
//   realm encrypt|decrypt|rekey FILE    a file's first encryption key, none, or another
//
// This file has the entry point, and how errors become exit statuses. What the commands share is in
// `FileCommand`; what some ask of a file in `Inspection` and `Restructuring`; how answers are shown in
// `TextTable`, `RowWriter` and `JSON`. Foundation is not imported: the tool starts at once.

import ArgumentParser
import CoreSwift

@main
struct RealmCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "realm",
        abstract: "Looks into realm database files, and changes them.",
        discussion: """
            Exit status: 0 when all is well; 1 when the answer is no: the file is damaged, the object \
            is not there, the files differ; 2 when it could not be done; 64 for unusable arguments. Data goes \
            to standard output, messages to standard error.
            """,
        version: toolVersion,
        subcommands: [
            SchemaCommand.self, QueryCommand.self, CountCommand.self, ExplainCommand.self,
            GetCommand.self, EditCommand.self, ExportCommand.self, ImportCommand.self,
            ImportDataCommand.self,
            WatchCommand.self, LogCommand.self, DiffCommand.self, CopyCommand.self,
            CompactCommand.self, ShellCommand.self,
            CheckCommand.self, StatsCommand.self, MigrateCommand.self, SalvageCommand.self,
            EncryptCommand.self, DecryptCommand.self, RekeyCommand.self,
            StudioCommand.self, ServeCommand.self,
        ])

    static func main() {
        // Repaired, they would name other files.
        let given = UnsafeBufferPointer(
            start: CommandLine.unsafeArgv, count: Int(CommandLine.argc))
        for argument in given {
            guard let argument, String(validatingCString: argument) == nil else { continue }
            let shown = TextWidth.visible(String(cString: argument))
            writeToStandardError("realm: '\(shown)' is not UTF-8, which arguments have to be\n")
            exit(withError: ExitCode.validationFailure)
        }
        let arguments = CommandLine.arguments.dropFirst()
        // The parser would call it an unexpected argument.
        if let name = CommandNames.unknown(in: arguments) {
            writeToStandardError("realm: \(CommandNames.problem(with: name))\n")
            exit(withError: ExitCode.validationFailure)
        }
        main(GetCommand.withNegativeKeyLast(Array(arguments)))
    }
}

/// The tool's version, which is that of the project.
let toolVersion = "0.1.0"

/// Exit statuses besides success and those of the argument parser.
enum ExitStatus {
    static let damaged = ExitCode(1)
    static let unreadable = ExitCode(2)
}

/// Prints what a command has to say at its end; fails where that can't be written.
func answer(_ text: String) throws {
    do throws(RealmError) {
        let output = Output()
        try output.write(text + "\n")
        try output.flush()
    } catch {
        writeToStandardError("realm: \(error.message)\n")
        throw ExitStatus.unreadable
    }
}

/// Prints why a file could not be read or changed, and ends with the status for that.
func failure(_ error: RealmError, _ file: String, json: Bool) -> ExitCode {
    if json {
        print(
            JSON.object([
                ("file", .text(file)),
                ("error", .text(error.message)),
                ("code", .number(Int(error.code.rawValue))),
            ]).rendered())
    } else {
        writeToStandardError("realm: \(TextWidth.visible(inFile(error.message, file)))\n")
    }
    return ExitStatus.unreadable
}

/// A message under the name of its file, which messages of the engine often begin with already: as it was given, or
/// as a whole path.
func inFile(_ message: String, _ file: String) -> String {
    let given = file.hasPrefix("./") ? file.dropFirst(2) : file[...]
    for end in ["'\(file)': ", "/\(given)': "] {
        guard message.first == "'", let found = message.firstRange(of: end) else { continue }
        let path = message[..<found.lowerBound].dropFirst()
        // Nothing but a folder stands before the name.
        if path.isEmpty || path.first == "/" && !path.contains("'") {
            return "\(file): " + message[found.upperBound...]
        }
    }
    return "\(file): " + message
}
