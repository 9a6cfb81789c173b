// `realm import OLD NEW`: a file of realm-core becomes a file of ours.

import ArgumentParser
import CTerminal
import CoreSwift
import RealmImport

struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Makes a realm file of a file that was written by realm-core.",
        discussion: """
            FILE is a file of the old library, of format 9 to 11 or 20 to 24, and is only read; neither \
            it nor what lies beside it is changed. While a program has it open, it is refused. NEW must \
            not exist; it gets its name when it is complete, and a failed import leaves nothing behind.

            Exit status: 0 when everything came along, 1 when values or objects were left out, 2 when \
            nothing was imported.
            """)

    @Argument(help: "The file of realm-core.", completion: .file(extensions: ["realm"]))
    var file: String

    @Argument(help: "The file to write.", completion: .file(extensions: ["realm"]))
    var new: String

    @Option(
        name: .customLong("key-file"),
        help: ArgumentHelp(
            "A file with the 64 bytes of the key that FILE is encrypted with.", valueName: "path"),
        completion: .file())
    var keyFile: String?

    @Option(
        name: .customLong("new-key-file"),
        help: ArgumentHelp(
            "A file with the 64 bytes of the key that NEW is encrypted with.", valueName: "path"),
        completion: .file())
    var newKeyFile: String?

    @Flag(
        name: .customLong("even-in-use"),
        help: "Import FILE also while programs have it open; an error if it is written to then.")
    var evenInUse = false

    @Flag(help: "Print one JSON object instead of text.")
    var json = false

    func run() throws {
        // The C library raises the size from which on memory goes back to the system at once, to
        // 32 MB: the pieces of a long import, of a few megabytes, would leave ever more holes.
        mallopt(M_MMAP_THRESHOLD, 1 << 20)
        let report: ImportReport
        do throws(RealmError) {
            var options = ImportOptions(evenInUse: evenInUse)
            if let keyFile { options.key = try KeyFile.load(keyFile) }
            if let newKeyFile { options.newKey = try KeyFile.load(newKeyFile) }
            let bar = json ? nil : ProgressBar("importing \(file)")
            options.progress = bar.map { bar in
                { share in
                    bar.show(share)
                    return true
                }
            }
            defer { bar?.clear() }
            report = try OldFileImport.run(file, to: new, options)
        } catch {
            throw failure(error, file, json: json)
        }
        print(json ? object(report).rendered() : text(report))
        if report.lossCount > 0 { throw ExitStatus.damaged }
    }

    private func text(_ report: ImportReport) -> String {
        let version = report.schemaVersion.map { "schema version \($0)" } ?? "no schema version"
        var lines = ["\(file): format \(report.format) of realm-core, \(version)"]
        lines += report.notes.map { "note: " + $0 }
        lines += report.losses.map { "left out: " + $0 }
        if report.lossCount > report.losses.count {
            lines.append("\(grouped(report.lossCount)) in all")
        }
        var table = TextTable([("class", .left), ("objects", .right)])
        for item in report.classes {
            table.add([item.name + (item.isEmbedded ? " (embedded)" : ""), grouped(item.objects)])
        }
        lines.append(table.rendered())
        lines.append(
            report.lossCount == 0
                ? "\(new): everything came along" : "\(new): what could come along")
        return lines.joined(separator: "\n")
    }

    private func object(_ report: ImportReport) -> JSON {
        var members: [(String, JSON)] = [
            ("file", .text(file)), ("new", .text(new)), ("format", .number(report.format)),
        ]
        if let version = report.schemaVersion {
            members.append(("schema_version", .number(Int(clamping: version))))
        }
        members += [
            ("whole", .truth(report.lossCount == 0)),
            ("notes", .list(report.notes.map { .text($0) })),
            ("losses", .list(report.losses.map { .text($0) })),
            ("loss_count", .number(report.lossCount)),
            (
                "classes",
                .list(
                    report.classes.map { item in
                        .object([
                            ("name", .text(item.name)), ("embedded", .truth(item.isEmbedded)),
                            ("objects", .number(item.objects)),
                        ])
                    })
            ),
        ]
        return .object(members)
    }
}
