// Names of commands that there are not, and those that may have been meant.

import ArgumentParser

enum CommandNames {
    private static let suggestedMax = 3

    /// All names, in the order of the help.
    private static var known: [String] {
        RealmCommand.configuration.subcommands.map { $0.configuration.commandName ?? "" }
    }

    /// The name at the place of a command, or behind `help`, that none has; nil where it is one, or an option.
    static func unknown(in arguments: ArraySlice<String>) -> String? {
        guard let name = arguments.first, !name.hasPrefix("-") else { return nil }
        if name == "help" { return unknown(in: arguments.dropFirst()) }
        return known.contains(name) ? nil : name
    }

    static func problem(with name: String) -> String {
        let near = near(name)
        let others = near.dropLast().joined(separator: ", ")
        let meant =
            near.last.map { "did you mean \(others.isEmpty ? "" : others + " or ")\($0)? All" }
            ?? "the commands"
        return "there is no command '\(TextWidth.visible(name))'; \(meant) are "
            + known.joined(separator: ", ")
    }

    /// Names that begin so, and those that differ by a slip or two; the nearest first.
    static func near(_ name: String) -> [String] {
        let wanted = Array(name.lowercased().utf8.prefix(32))
        let slipsMax = wanted.count < 4 ? 1 : 2
        let names = known + ["help"]
        let found = names.enumerated().compactMap { (place, known) -> (Int, Int, String)? in
            let bytes = Array(known.utf8)
            let slips = wanted.isEmpty || !bytes.starts(with: wanted) ? slips(wanted, bytes) : 0
            return slips <= slipsMax ? (slips, place, known) : nil
        }
        return found.sorted { ($0.0, $0.1) < ($1.0, $1.1) }.prefix(suggestedMax).map(\.2)
    }

    /// Letters that are missing, too many, wrong, or in the wrong order, from one name to the other.
    private static func slips(_ a: [UInt8], _ b: [UInt8]) -> Int {
        var rows = [Array(0...b.count)]
        for (i, left) in a.enumerated() {
            var row = [i + 1]
            for (j, right) in b.enumerated() {
                var least = min(rows[i][j + 1], row[j]) + 1
                least = min(least, rows[i][j] + (left == right ? 0 : 1))
                if i > 0, j > 0, left == b[j - 1], right == a[i - 1] {
                    least = min(least, rows[i - 1][j - 1] + 1)
                }
                row.append(least)
            }
            rows.append(row)
        }
        return rows[a.count][b.count]
    }
}
