// `realm log` and `realm diff`: what was done to a file, and what two files differ in, as operations.

import ArgumentParser
import CoreSwift

struct LogCommand: FileCommand {
    static let configuration = CommandConfiguration(
        commandName: "log",
        abstract: "Shows what the change log in a file holds.",
        discussion: """
            A file keeps a log while somebody needs it: consumers, with all values, or observers, \
            without. docs/CHANGE_LOG.md describes it; 'realm stats' shows who the consumers are. \
            Objects are named by their object keys.
            """)

    @OptionGroup var source: FileArgument
    @Option(
        help: ArgumentHelp("What came behind this version; all if not given.", valueName: "version")
    )
    var from: UInt64?
    @Option(
        name: .customLong("class"), help: ArgumentHelp("Of one class alone.", valueName: "class"),
        completion: ClassCompletion.kind)
    var className: String?
    @Option(help: "text or jsonl.")
    var format = OperationFormat.text

    func work() throws {
        let realm = try source.open()
        defer { realm.close() }
        let class_ = try className.map { try realm.class_(typed: $0) }
        guard let log = try realm.fileStatistics().changeLog else {
            writeToStandardError(
                "realm: \(TextWidth.visible(source.file)): the file keeps no change log\n")
            return
        }
        let output = Output()
        let writer = OperationWriter(
            realm, class_?.key, format, output, hasValues: log.hasValues)
        try realm.readLog(from: from ?? log.from) { writer.take($0) }
        if let failure = writer.failure { throw failure }
        try output.flush()
    }
}

extension ChangeLogStatistics {
    /// Whether the log of a version has values: consumers are told them, from the version on that they began
    /// with.
    fileprivate func hasValues(_ version: UInt64) -> Bool {
        consumers.contains { version > $0.acknowledged }
    }
}

struct DiffCommand: FileCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Compares two files or versions, and shows what leads from one to the other.",
        discussion: """
            With --since, the newest version of FILE is compared with an earlier one, by means of the change \
            log, which must reach back to it ('realm log').

            Of two files, objects with a primary key are the same where it is; others where their object keys are. The \
            classes of both files must be the same. Both may be in use; their newest versions are \
            compared.

            Exit status: 0 when nothing differs, 1 when something does, 2 when they can't be compared.
            """)

    @OptionGroup var source: FileArgument
    @Argument(help: "The other file.", completion: .file(extensions: ["realm"]))
    var other: String?
    @Option(
        help: ArgumentHelp("An earlier version of FILE, in place of OTHER.", valueName: "version"))
    var since: UInt64?
    @Option(
        name: .customLong("other-key-file"),
        help: ArgumentHelp(
            "A file with the key of the other file; that of --key-file if not given.",
            valueName: "path"),
        completion: .file())
    var otherKeyFile: String?
    @Flag(name: .customLong("other-plain"), help: "The other file is not encrypted, while FILE is.")
    var isOtherPlain = false
    @Option(
        name: .customLong("class"), help: ArgumentHelp("Of one class alone.", valueName: "class"),
        completion: ClassCompletion.kind)
    var className: String?
    @Option(help: "text or jsonl.")
    var format = OperationFormat.text
    @Flag(help: "Print nothing; tell by the exit status.")
    var quiet = false

    func validate() throws {
        if (other == nil) == (since == nil) {
            throw ValidationError("Give either another file or --since.")
        }
    }

    func work() throws {
        let realm = try source.open()
        defer { realm.close() }
        let class_ = try className.map { try realm.class_(typed: $0) }
        let output = Output()
        var hasValues: (UInt64) -> Bool = { _ in true }
        if since != nil, let log = try realm.fileStatistics().changeLog {
            hasValues = log.hasValues
        }
        let writer = OperationWriter(
            realm, class_?.key, format, output, isVersioned: false, hasValues: hasValues)
        let take: (LoggedOperation) -> Bool = { operation in
            operation.kind == .version ? true : writer.take(operation)
        }
        if let since {
            if since != realm.version { try realm.readLog(from: since, take) }
        } else if let other {
            try compare(realm, other, take)
        }
        if let failure = writer.failure { throw failure }
        if !quiet { try output.flush() }
        if writer.count > 0 { throw ExitStatus.damaged }
    }

    private func compare(
        _ realm: Realm, _ other: String, _ take: @escaping (LoggedOperation) -> Bool
    ) throws {
        let newer: Realm
        do throws(RealmError) {
            let key: [UInt8] =
                if let otherKeyFile { try KeyFile.load(otherKeyFile) } else {
                    isOtherPlain ? [] : try source.key()
                }
            newer = try Inspection.open(other, key: key)
            try newer.beginRead()
        } catch {
            throw failure(error, other, json: false)
        }
        defer { newer.close() }
        try realm.readChanges(try realm.changes(to: newer), take)
    }
}
