// `realm import FILE CLASS DATA`: rows of CSV or JSON lines become objects, all of them or none.

import ArgumentParser
import CoreSwift

struct RowImportOptions: ParsableArguments {
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

    /// One of them that was given.
    var given: String? {
        if format != nil { return "--format" }
        if upserts { return "--upsert" }
        if ignoresUnknown { return "--ignore-unknown" }
        if takesObjectKeys { return "--object-keys" }
        return isDryRun ? "--dry-run" : nil
    }
}

extension ImportCommand {
    func importRows(_ data: String) throws {
        let format = try DataFormat.of(data, rows.format)
        let reader = try DataReader(data)
        let key = try keyFile.map(KeyFile.load) ?? []
        let realm = try Inspection.open(file, key: key, mode: .automatic)
        // What is not committed is rolled back.
        defer { realm.close() }
        try realm.beginRead()
        let class_ = try realm.class_(typed: target)
        try realm.beginWrite()
        var made = Importing(
            realm, class_, reader, upserts: rows.upserts, ignoresUnknown: rows.ignoresUnknown,
            takesObjectKeys: rows.takesObjectKeys)
        try made.run(format)
        let output = Output()
        try output.write(
            (json ? object(class_, made.count).rendered() : text(class_, made.count)) + "\n")
        // What can't be said is not done.
        try output.flush()
        if !rows.isDryRun { try realm.commit() }
    }

    private func text(_ class_: ClassSchema, _ count: Int) -> String {
        "\(count) \(count == 1 ? "object" : "objects") of \(TextWidth.visible(class_.name))"
            + (rows.isDryRun ? " would be imported" : "")
    }

    private func object(_ class_: ClassSchema, _ count: Int) -> JSON {
        .object([
            ("file", .text(file)), ("class", .text(class_.name)), ("objects", .number(count)),
            ("dry_run", .truth(rows.isDryRun)),
        ])
    }
}
