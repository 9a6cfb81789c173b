// `realm import FILE NEW`: a file of realm-core becomes a file of ours.

import ArgumentParser
import CTerminal
import CoreSwift
import RealmImport

struct FileImportOptions: ParsableArguments {
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

    /// One of them that was given.
    var given: String? {
        if newKeyFile != nil { return "--new-key-file" }
        return evenInUse ? "--even-in-use" : nil
    }
}

extension ImportCommand {
    func importFile() throws {
        // The C library raises the size from which on memory goes back to the system at once, to
        // 32 MB: the pieces of a long import, of a few megabytes, would leave ever more holes.
        mallopt(M_MMAP_THRESHOLD, 1 << 20)
        let report = try importedFile()
        try answer(json ? object(report).rendered() : text(report))
        if report.lossCount > 0 { throw ExitStatus.damaged }
    }

    private func importedFile() throws(RealmError) -> ImportReport {
        var options = ImportOptions(evenInUse: whole.evenInUse)
        if let keyFile { options.key = try KeyFile.load(keyFile) }
        if let newKeyFile = whole.newKeyFile { options.newKey = try KeyFile.load(newKeyFile) }
        let bar = json ? nil : ProgressBar("importing \(file)")
        options.progress = bar.map { bar in
            { share in
                bar.show(share)
                return true
            }
        }
        defer { bar?.clear() }
        return try OldFileImport.run(file, to: target, options)
    }

    private func text(_ report: ImportReport) -> String {
        let version = report.schemaVersion.map { "schema version \($0)" } ?? "no schema version"
        var lines = ["\(file): format \(report.format) of realm-core, \(version)"]
        lines += report.notes.map { "note: " + TextWidth.visible($0) }
        lines += report.losses.map { "left out: " + TextWidth.visible($0) }
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
                ? "\(target): everything came along" : "\(target): what could come along")
        return lines.joined(separator: "\n")
    }

    private func object(_ report: ImportReport) -> JSON {
        .object([
            ("file", .text(file)), ("new", .text(target)), ("format", .number(report.format)),
            ("schema_version", report.schemaVersion.map { .number(Int(clamping: $0)) }),
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
        ])
    }
}
