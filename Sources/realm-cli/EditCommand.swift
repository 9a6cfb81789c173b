// `realm edit FILE STATEMENT…`: creates, sets and deletes objects in one transaction.

import ArgumentParser
import CoreSwift

struct EditCommand: FileCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit",
        abstract: "Creates, changes and deletes objects, in one transaction.",
        discussion: """
            Statements, which are read from standard input, a line each, when none is given:

              create CLASS JSON           a new object of these values
              upsert CLASS JSON           or new values for the one with its primary key
              set CLASS KEY JSON          values for an object that is there
              delete CLASS KEY            an object
              delete CLASS where QUERY    all objects for which the query is true

            JSON is an object of values by property; docs/JSON.md describes it. KEY is a primary key, \
            or #N, an object key; classes and keys with blanks stand in double quotes. Everything is done, \
            or where a statement fails, nothing.

            Example: realm edit people.realm 'set Person 1 {"age": 37}' 'delete Person 2'
            """)

    @OptionGroup var source: FileArgument
    @Argument(help: "What to do.")
    var statements: [String] = []
    @Flag(name: .customLong("dry-run"), help: "Only check whether everything can be done.")
    var isDryRun = false

    func work() throws {
        // Before others have to wait: who writes them may take his time.
        let statements = try given()
        let realm = try source.openForWriting()
        // What is not committed is rolled back.
        defer { realm.close() }
        let output = Output()
        try realm.beginWrite()
        for (place, statement) in statements {
            try at(place) { try output.write(try Statement.run(statement, realm) + "\n") }
        }
        // What can't be said is not done.
        try output.flush()
        if !isDryRun { try realm.commit() }
    }

    /// The statements, each with where it stands.
    private func given() throws -> [(place: String, statement: String)] {
        guard statements.isEmpty else {
            return statements.enumerated().map { ("statement \($0 + 1)", $1) }
        }
        var lines: [(String, String)] = []
        let reader = try DataReader("-")
        while let line = try reader.nextText() {
            if line.drop(while: { $0 == " " || $0 == "\t" }).first == "#" { continue }
            lines.append(("line \(reader.line)", line))
        }
        return lines
    }
}
