// `realm check FILE`: verifies a whole file and lists everything that is wrong with it.

import ArgumentParser
import CoreSwift

struct CheckCommand: ParsableCommand {
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

    func run() throws {
        let report = try options.attempt { () throws(RealmError) in
            try Inspection.check(options.file, key: options.key())
        }
        if !quiet { try answer(options.json ? json(report).rendered() : text(report)) }
        if !report.faults.isEmpty { throw ExitStatus.damaged }
    }

    private func text(_ report: CheckReport) -> String {
        guard let sizes = report.statistics else {
            let lines = report.faults.map { inFile($0, options.file) }
            guard report.isRealm else { return lines.joined(separator: "\n") }
            let count = "\(lines.count) \(lines.count == 1 ? "fault" : "faults")"
            return (lines + ["\(options.file): damaged: \(count)"]).joined(separator: "\n")
        }
        let objects = sizes.classes.reduce(0) { $0 + $1.objects }
        return "\(options.file): sound; version \(grouped(Int(sizes.version))), "
            + "\(grouped(objects)) objects in \(sizes.classes.count) classes, "
            + bytes(sizes.fileBytes)
    }

    private func json(_ report: CheckReport) -> JSON {
        var members: [(String, JSON)] = [
            ("file", .text(options.file)),
            ("sound", .truth(report.faults.isEmpty)),
            ("faults", .list(report.faults.map { .text($0) })),
        ]
        if let sizes = report.statistics {
            members.append(("version", .number(Int(sizes.version))))
            members.append(("file_bytes", .number(sizes.fileBytes)))
            members.append(("objects", .number(sizes.classes.reduce(0) { $0 + $1.objects })))
        }
        return .object(members)
    }
}
