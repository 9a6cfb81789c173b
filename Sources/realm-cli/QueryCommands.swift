// `realm query`, `realm count`, `realm explain` and `realm get`: what is in a file.

import ArgumentParser
import CoreSwift

/// The class, and which of its objects.
struct ChoiceArguments: ParsableArguments {
    @Argument(
        help: ArgumentHelp("The class.", valueName: "class"), completion: ClassCompletion.kind)
    var className: String

    @Argument(
        help: ArgumentHelp(
            "A query, such as \"age > 2 SORT(name ASC) LIMIT(10)\"; all objects if not given.",
            valueName: "query"))
    var query: String?
}

struct QueryCommand: FileCommand {
    static let configuration = CommandConfiguration(
        commandName: "query",
        abstract: "Shows the objects of a class for which a query is true.",
        discussion: """
            The language of queries is described in docs/QUERIES.md. Where something is wrong with the \
            query, the place is marked under its text.

            Example: realm query people.realm Person "age > 40 SORT(name ASC)" --limit 10
            """)

    @OptionGroup var source: FileArgument
    @OptionGroup var choice: ChoiceArguments
    @Option(help: ArgumentHelp("At most so many objects.", valueName: "n"))
    var limit: Int?
    @OptionGroup var rows: RowOptions

    func validate() throws {
        if let limit, limit < 0 { throw ValidationError("--limit is 0 or more.") }
    }

    func work() throws {
        let realm = try source.open()
        defer { realm.close() }
        let class_ = try realm.class_(typed: choice.className)
        var results = try realm.chosen(class_, choice.query)
        if let limit { results = try results.limited(limit) }
        let writer = try rows.writer(class_, to: Output())
        try results.forEachObject { object throws(RealmError) in try writer.add(object) }
        try writer.finish()
    }
}

struct CountCommand: FileCommand {
    static let configuration = CommandConfiguration(
        commandName: "count",
        abstract: "Counts the objects of a class for which a query is true.")

    @OptionGroup var source: FileArgument
    @OptionGroup var choice: ChoiceArguments

    func work() throws {
        let realm = try source.open()
        defer { realm.close() }
        let output = Output()
        let class_ = try realm.class_(typed: choice.className)
        try output.write("\(try realm.chosen(class_, choice.query).count())\n")
        try output.flush()
    }
}

struct ExplainCommand: FileCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Says how a query would be answered: by which indexes, tests and orders.")

    @OptionGroup var source: FileArgument
    @OptionGroup var choice: ChoiceArguments

    func work() throws {
        let realm = try source.open()
        defer { realm.close() }
        let output = Output()
        let class_ = try realm.class_(typed: choice.className)
        let text = try realm.chosen(class_, choice.query).explain()
        try output.write(text.hasSuffix("\n") ? text : text + "\n")
        try output.flush()
    }
}

struct GetCommand: FileCommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Shows one object.",
        discussion: """
            KEY is the primary key of the object; of a class without one, and with --object-key, the \
            object key, a number that 'realm query' shows as "(key)". With --null in place of KEY, it is \
            the object whose primary key is null. As a table, there is a line for each property.

            Exit status: 1 when there is no such object.
            """)

    @OptionGroup var source: FileArgument
    @Argument(
        help: ArgumentHelp("The class.", valueName: "class"), completion: ClassCompletion.kind)
    var className: String
    @Argument(help: "The object's key.")
    var key: String?
    @Flag(
        name: .customLong("object-key"),
        help: "KEY is an object key, also where the class has a primary key.")
    var isObjectKey = false
    @Flag(name: .customLong("null"), help: "The object whose primary key is null, in place of KEY.")
    var isNull = false
    @OptionGroup var rows: RowOptions

    /// The arguments of the tool; a negative number behind `get`, which the parser would take for an option,
    /// stands behind "--". Not the value of an option.
    static func withNegativeKeyLast(_ arguments: [String]) -> [String] {
        guard arguments.first == configuration.commandName, !arguments.contains("--"),
            let place = arguments.indices.first(where: { place in
                let before = arguments[max(0, place - 1)]
                return arguments[place].hasPrefix("-") && Int64(arguments[place]) != nil
                    && (!before.hasPrefix("--") || before == "--object-key")
            })
        else { return arguments }
        return arguments[..<place] + arguments[(place + 1)...] + ["--", arguments[place]]
    }

    func validate() throws {
        if (key == nil) != isNull { throw ValidationError("Give either a key or --null.") }
        if isNull && isObjectKey { throw ValidationError("An object key is never null.") }
    }

    func work() throws {
        let realm = try source.open()
        defer { realm.close() }
        let class_ = try realm.class_(typed: className)
        let object: ObjectHandle
        do {
            object =
                if let key {
                    try realm.object(class_, named: key, byObjectKey: isObjectKey)
                } else {
                    try realm.objectOfNull(class_)
                }
        } catch let error as RealmError where error.code == .noSuchObject {
            _ = failure(error, source.file, json: false)
            throw ExitStatus.damaged
        }
        defer { object.release() }
        try RowWriter.write(
            object, class_, rows.names, rows.format ?? .table, depth: rows.depth,
            width: rows.tableWidth, to: Output())
    }
}
