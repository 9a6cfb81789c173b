// `realm check FILE`: verifies a whole file and lists everything that is wrong with it.

import ArgumentParser
import CoreSwift

struct CheckCommand: AnsweringCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Verifies every block, tree, index and the map of free space of a file.",
        discussion: """
            The newest version of the file is read as a whole; nothing is written. Prints each \
            fault on a line of its own. Other programs may use the file meanwhile.
            """)

    @OptionGroup var options: FileOptions

    @Flag(help: "Print nothing; tell by the exit status.")
    var quiet = false

    func work() throws {
        let report = try Inspection.check(source.file, key: source.key())
        if !quiet { try answer(text(report), json(report)) }
        if !report.faults.isEmpty { throw ExitStatus.damaged }
    }

    private func text(_ report: CheckReport) -> String {
        guard let sizes = report.statistics else {
            let lines = report.faults.map { inFile($0, source.file) }
            guard report.isRealm else { return lines.joined(separator: "\n") }
            let count = "\(lines.count) \(lines.count == 1 ? "fault" : "faults")"
            return (lines + ["\(source.file): damaged: \(count)"]).joined(separator: "\n")
        }
        let objects = sizes.classes.reduce(0) { $0 + $1.objects }
        return "\(source.file): sound; version \(grouped(Int(sizes.version))), "
            + "\(grouped(objects)) objects in \(sizes.classes.count) classes, "
            + bytes(sizes.fileBytes)
    }

    private func json(_ report: CheckReport) -> JSON {
        let sizes = report.statistics
        return .object([
            ("file", .text(source.file)),
            ("sound", .truth(report.faults.isEmpty)),
            ("faults", .list(report.faults.map { .text($0) })),
            ("version", sizes.map { .number(Int($0.version)) }),
            ("file_bytes", sizes.map { .number($0.fileBytes) }),
            ("objects", sizes.map { .number($0.classes.reduce(0) { $0 + $1.objects }) }),
        ])
    }
}
