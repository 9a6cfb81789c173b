// `realm migrate FILE`: renames and drops classes and properties of a file.

import ArgumentParser
import CoreSwift

struct MigrateCommand: AnsweringCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract: "Renames and drops classes and properties of a file.",
        discussion: """
            All steps are one transaction, which also raises the schema version of the file. Names \
            are those that the file has now. Programs whose classes don't fit afterwards have to be \
            changed as well. Refused while another program has the file open.

            Example: realm migrate people.realm --rename Person.name=full_name --drop Person.age
            """)

    @OptionGroup var options: FileOptions

    @Option(
        name: .customLong("rename"),
        help: ArgumentHelp(
            "Give a property another name; its values stay. May be repeated.",
            valueName: "Class.property=name"))
    var renames: [String] = []

    @Option(
        name: .customLong("rename-class"),
        help: ArgumentHelp(
            "Give a class another name; its objects and the links to them stay. May be repeated.",
            valueName: "Class=name"))
    var classRenames: [String] = []

    @Option(
        name: .customLong("drop"),
        help: ArgumentHelp(
            "Delete a property with its values, or a class with its objects. May be repeated.",
            valueName: "Class[.property]"))
    var drops: [String] = []

    @Option(help: "The schema version that the file gets; the next one if not given.")
    var version: UInt64?

    @Flag(help: "Only say what would be done.")
    var dryRun = false

    func validate() throws {
        if renames.isEmpty && classRenames.isEmpty && drops.isEmpty && version == nil {
            throw ValidationError(
                "Nothing to do: give --rename, --rename-class, --drop or --version.")
        }
        if version == Configuration.unspecifiedVersion {
            throw ValidationError("\(UInt64.max) is not a schema version.")
        }
        for text in renames + classRenames where !text.contains("=") {
            throw ValidationError("'\(text)' is not of the form OLD=NEW.")
        }
        for text in renames where !text.contains(".") {
            throw ValidationError("'\(text)' is not of the form CLASS.PROPERTY=NAME.")
        }
    }

    func work() throws {
        let plan = try Restructuring(
            source.file, key: source.key(), renames: renames, classRenames: classRenames,
            drops: drops, version: version)
        if !dryRun { try plan.run() }
        try answer(text(plan), json(plan))
    }

    private func text(_ plan: Restructuring) -> String {
        let old = plan.oldVersion.map { "\($0)" } ?? "none"
        let head = "\(source.file): schema version \(old) becomes \(plan.newVersion)"
        return
            ([head] + plan.sentences.map { "- \($0)" }
            + (dryRun ? ["a dry run: the file stays as it is"] : [])).joined(separator: "\n")
    }

    private func json(_ plan: Restructuring) -> JSON {
        .object([
            ("file", .text(source.file)),
            ("old_version", plan.oldVersion.map { .number(Int($0)) }),
            ("new_version", .number(Int(clamping: plan.newVersion))),
            ("steps", .list(plan.sentences.map { .text($0) })),
            ("dry_run", .truth(dryRun)),
        ])
    }
}
