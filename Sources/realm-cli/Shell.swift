// What can be said in `realm shell`, a line at a time.

import CoreSwift

final class Shell {
    enum Outcome { case goOn, end }

    static let commands =
        [
            "begin", "commit", "count", "explain", "get", "help", "query", "quit", "rollback",
            "schema",
        ]
        + Statement.verbs + [".format", ".limit", ".width"]

    static let help = """
        CLASS [QUERY]               objects, such as: Person age > 2 SORT(name ASC)
        query CLASS [QUERY]         the same
        count CLASS [QUERY]         how many there are
        explain CLASS [QUERY]       how they would be found
        get CLASS KEY               one object, by its primary key or #N, an object key
        schema [CLASS]              the classes and their properties
        create CLASS JSON           a new object
        upsert CLASS JSON           a new object, or values for the one with its primary key
        set CLASS KEY JSON          values for an object
        delete CLASS KEY            one object
        delete CLASS where QUERY    all for which it is true
        begin, commit, rollback     a transaction; without one each change is its own
        .format table|json|jsonl|csv
        .limit N                    at most N objects; 0: all
        .width N                    columns of tables; 0: no limit
        help, quit

        """

    private let realm: Realm
    private let output: Output
    private var format = RowFormat.table
    private var limit: Int?
    private var width: Int?
    /// False where no lock file can be made beside the file: then nobody writes it.
    private let follows: Bool
    var isWriting: Bool { realm.isWritable }

    init(
        _ realm: Realm, limit: Int?, format: RowFormat, _ output: Output
    ) throws(RealmError) {
        self.realm = realm
        self.limit = limit
        self.format = format
        self.output = output
        follows = try realm.canFollow()
    }

    func run(_ line: String) throws -> Outcome {
        let outcome: Outcome
        do { outcome = try answer(line) } catch {
            // Of two mistakes the first is told.
            try? output.flush()
            throw error
        }
        try output.flush()
        return outcome
    }

    private func answer(_ line: String) throws -> Outcome {
        var words = Words(line)
        var whole = words
        guard let (word, isQuoted) = try words.next() else { return .goOn }
        if word.hasPrefix("#"), !isQuoted { return .goOn }
        // What others have committed since.
        if follows, !realm.isWritable { _ = try realm.refresh() }
        if isQuoted || realm.schema.class_(named: word) != nil { return try query(&whole) }
        switch word {
        case "query": return try query(&words)
        case "count":
            let (class_, query) = try choice(&words)
            try output.write("\(try realm.chosen(class_, query).count())\n")
        case "explain":
            let (class_, query) = try choice(&words)
            let text = try realm.chosen(class_, query).explain()
            try output.write(text.hasSuffix("\n") ? text : text + "\n")
        case "get": try get(&words)
        case "schema":
            var classes = realm.schema.classes
            if let name = try words.next()?.text { classes = [try realm.class_(typed: name)] }
            try output.write(try SchemaCommand.text(classes, realm))
        case "begin": try realm.beginWrite()
        case "commit":
            try needTransaction(word)
            try realm.commit()
        case "rollback":
            try needTransaction(word)
            try realm.rollback()
        case "help", ".help": try output.write(Self.help)
        case "quit", "exit", ".quit", ".exit": return .end
        case ".format", ".limit", ".width": try option(word, &words)
        default:
            guard Statement.verbs.contains(word) else {
                throw RealmError(
                    .invalidArgument,
                    "'\(word)' is neither a command nor a class; 'help' lists them")
            }
            try change(line)
        }
        return .goOn
    }

    private func needTransaction(_ word: String) throws(RealmError) {
        guard !realm.isWritable else { return }
        throw RealmError(
            .wrongTransactionState, "there is no transaction to \(word); 'begin' begins one")
    }

    /// One statement; a transaction of its own where none is open.
    private func change(_ line: String) throws {
        if realm.isWritable { return try output.write(try Statement.run(line, realm) + "\n") }
        try realm.beginWrite()
        do {
            try output.write(try Statement.run(line, realm) + "\n")
            // What can't be said is not done.
            try output.flush()
            try realm.commit()
        } catch {
            if realm.isWritable { try realm.rollback() }
            throw error
        }
    }

    private func choice(_ words: inout Words) throws -> (ClassSchema, String?) {
        guard let name = try words.next()?.text else {
            throw RealmError(.invalidArgument, "a class is missing")
        }
        return (try realm.class_(typed: name), words.remaining())
    }

    private func query(_ words: inout Words) throws -> Outcome {
        let (class_, query) = try choice(&words)
        let all = try realm.chosen(class_, query)
        let results = if let limit { try all.limited(limit) } else { all }
        let writer = try RowWriter(class_, nil, format, width: width ?? Terminal.width, to: output)
        try results.forEachObject { object throws(RealmError) in try writer.add(object) }
        try writer.finish()
        if let limit, format == .table {
            let count = try all.count()
            if count > limit {
                try output.write("\(grouped(count - limit)) more; .limit 0 shows all\n")
            }
        }
        return .goOn
    }

    private func get(_ words: inout Words) throws {
        guard let name = try words.next()?.text, let key = try words.next() else {
            throw RealmError(.invalidArgument, "get takes a class and a key")
        }
        let class_ = try realm.class_(typed: name)
        let object = try realm.object(class_, named: key)
        defer { object.release() }
        try RowWriter.write(
            object, class_, nil, format, width: width ?? Terminal.width, to: output)
    }

    private func option(_ name: String, _ words: inout Words) throws(RealmError) {
        let text = try words.next()?.text ?? ""
        if name == ".format" {
            guard let chosen = RowFormat(rawValue: text) else {
                throw RealmError(.invalidArgument, ".format is table, json, jsonl or csv")
            }
            format = chosen
            return
        }
        guard let number = Int(text), number >= 0 else {
            throw RealmError(.invalidArgument, "\(name) is a number from 0")
        }
        if name == ".limit" {
            limit = number == 0 ? nil : number
        } else {
            width = number == 0 ? .max : number
        }
    }
}
