// `realm salvage FILE OUT`: writes what can be had of a damaged file to a new one.

import ArgumentParser
import CoreSwift

struct SalvageCommand: AnsweringCommand {
    static let configuration = CommandConfiguration(
        commandName: "salvage",
        abstract: "Recovers what is intact of a damaged file into a new file.",
        discussion: """
            Every object, value and element that can be proved to belong to the newest readable \
            version is written to OUT; what can't be had is left out and reported, never guessed. \
            FILE is only read, and its lock file is not touched; close programs that use it. OUT must \
            not exist. Of an encrypted file, OUT is encrypted with the same key unless --new-key-file \
            or --decrypt says otherwise.

            Exit status: 0 when everything came back, 1 when something is lost, 2 when nothing could \
            be recovered.
            """)

    @OptionGroup var options: FileOptions

    @Argument(help: "The file to write.", completion: .file(extensions: ["realm"]))
    var out: String

    @Option(
        name: .customLong("new-key-file"),
        help: ArgumentHelp("A file with the 64 bytes of the key for OUT.", valueName: "path"),
        completion: .file())
    var newKeyFile: String?

    @Flag(help: "Write OUT without encryption.")
    var decrypt = false

    func validate() throws {
        if decrypt && newKeyFile != nil {
            throw ValidationError("--decrypt and --new-key-file exclude each other.")
        }
    }

    func work() throws {
        let key = try source.key()
        let newKey = try newKeyFile.map(KeyFile.load) ?? (decrypt ? [] : key)
        let report = try Salvage.run(source.file, key: key, to: out, targetKey: newKey)
        try answer(text(report), json(report))
        if !report.isWhole { throw ExitStatus.damaged }
    }

    private func text(_ report: SalvageReport) -> String {
        var lines = report.damage.map { "damage: " + inFile($0, source.file) }
        lines.append(
            "\(source.file): version \(grouped(Int(clamping: report.version))), found by way of "
                + report.source)
        if let newest = report.newestVersion {
            lines.append("version \(newest), which is newer, can't be read")
        }
        if let schema = report.schemaOf {
            lines.append("its schema can't be read; that of version \(schema) was used")
        }
        lines += report.losses.map { "lost: " + inFile($0, source.file) }
        if report.lossCount > report.losses.count {
            lines.append("and \(report.lossCount - report.losses.count) losses more")
        }
        var table = TextTable([
            ("class", .left), ("objects", .right), ("lost", .right), ("values lost", .right),
            ("links lost", .right), ("collections cut", .right), ("elements lost", .right),
        ])
        for item in report.classes {
            table.add([
                item.name, grouped(item.recovered), grouped(item.lost), grouped(item.valuesLost),
                grouped(item.linksLost), grouped(item.collectionsCut),
                grouped(item.elementsLost),
            ])
        }
        lines.append(table.rendered())
        lines.append(
            report.isWhole
                ? "\(out): everything of the newest version" : "\(out): what could be recovered")
        return lines.joined(separator: "\n")
    }

    private func json(_ report: SalvageReport) -> JSON {
        .object([
            ("file", .text(source.file)), ("out", .text(out)),
            ("whole", .truth(report.isWhole)),
            ("version", .number(Int(clamping: report.version))),
            ("found_by", .text(report.source)),
            ("newest_version", report.newestVersion.map { .number(Int(clamping: $0)) }),
            ("schema_of_version", report.schemaOf.map { .number(Int(clamping: $0)) }),
            ("damage", .list(report.damage.map { .text($0) })),
            ("losses", .list(report.losses.map { .text($0) })),
            ("loss_count", .number(report.lossCount)),
            (
                "classes",
                .list(
                    report.classes.map { item in
                        .object([
                            ("name", .text(item.name)), ("recovered", .number(item.recovered)),
                            ("lost", .number(item.lost)),
                            ("values_lost", .number(item.valuesLost)),
                            ("links_lost", .number(item.linksLost)),
                            ("collections_cut", .number(item.collectionsCut)),
                            ("elements_lost", .number(item.elementsLost)),
                        ])
                    })
            ),
        ])
    }
}
