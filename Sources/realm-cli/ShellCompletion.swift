// What a word in the shell may become: a command, a class, a property of the class that the line is about,
// also behind links ("dog.name"), or a word of the query language.

import CoreSwift

struct ShellCompletion {
    private static let ofClasses: Set<String> = [
        "query", "count", "explain", "get", "schema", "create", "upsert", "set", "delete",
    ]
    private static let ofQueries: Set<String> = ["query", "count", "explain"]
    private static let queryWords = [
        "ALL", "AND", "ANY", "BEGINSWITH", "BETWEEN", "CONTAINS", "DISTINCT(", "ENDSWITH",
        "FALSEPREDICATE",
        "IN", "LIKE", "LIMIT(", "MATCHES", "NONE", "NOT", "OFFSET(", "OR", "SORT(", "SUBQUERY(",
        "TEXT",
        "TRUEPREDICATE", "ASC", "DESC", "nil",
    ]

    let schema: Schema

    /// The words that begin as `word` does, of which the line up to it says what they may be.
    func words(_ line: String, _ word: String) -> [String] {
        let before = line.split(whereSeparator: { $0 == " " || $0 == "\t" }).map(String.init)
        let names = schema.classes.map(\.name).filter(Self.isSimple)
        guard let first = before.first else {
            return matching(Shell.commands + names, word)
        }
        if first == ".format" { return matching(RowFormat.allCases.map(\.rawValue), word) }
        let isBare = schema.class_(named: first) != nil
        if !isBare, before.count == 1 {
            return Self.ofClasses.contains(first) ? matching(names, word) : []
        }
        guard let class_ = schema.class_(named: isBare ? first : before[1]) else { return [] }
        let isQuery =
            isBare || Self.ofQueries.contains(first)
            || first == "delete" && before.contains("where")
        var found = properties(class_, word)
        if isQuery { found += matching(Self.queryWords, word) }
        if first == "delete", before.count == 2 { found = matching(["where"], word) }
        return found
    }

    private static func isSimple(_ name: String) -> Bool {
        !name.isEmpty
            && name.utf8.allSatisfy { $0 > 0x20 && $0 != UInt8(ascii: "\"") && $0 != 0x7F }
    }

    private func matching(_ words: [String], _ word: String) -> [String] {
        words.filter { $0.lowercased().hasPrefix(word.lowercased()) }.sorted()
    }

    /// The last part of a path, behind links that lead on.
    private func properties(_ class_: ClassSchema, _ word: String) -> [String] {
        var class_ = class_
        var parts = word.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        let last = parts.popLast() ?? ""
        for part in parts {
            guard let target = class_.property(named: part)?.linkTarget,
                let next = schema.class_(named: target)
            else { return [] }
            class_ = next
        }
        let head = parts.map { $0 + "." }.joined()
        let names = class_.properties.map(\.name).filter(Self.isSimple)
        return names.filter { $0.lowercased().hasPrefix(last.lowercased()) }.sorted().map {
            head + $0
        }
    }
}
