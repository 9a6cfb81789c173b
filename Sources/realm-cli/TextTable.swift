// Text output for people: tables with aligned columns, and numbers that can be read.

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

struct TextTable {
    enum Alignment { case left, right }

    private let alignments: [Alignment]
    private var rows: [[String]]

    init(_ columns: [(title: String, alignment: Alignment)]) {
        alignments = columns.map(\.alignment)
        rows = [columns.map(\.title)]
    }

    /// Whether there is anything under the titles.
    var hasRows: Bool { rows.count > 1 }

    /// One text for each column.
    mutating func add(_ cells: [String]) { rows.append(cells) }

    /// The rows under their titles, columns two blanks apart, no blanks at the ends of lines.
    func rendered() -> String {
        let widths = alignments.indices.map { column in
            rows.map { $0[column].count }.max() ?? 0
        }
        return rows.map { row in
            var line = ""
            for column in alignments.indices {
                let pad = String(repeating: " ", count: widths[column] - row[column].count)
                line += column == 0 ? "" : "  "
                line += alignments[column] == .left ? row[column] + pad : pad + row[column]
            }
            while line.last == " " { line.removeLast() }
            return line + "\n"
        }.joined()
    }
}

/// "1,234,567"
func grouped(_ number: Int) -> String {
    let digits = Array(String(number.magnitude))
    var output = number < 0 ? "-" : ""
    for (index, digit) in digits.enumerated() {
        if index > 0 && (digits.count - index) % 3 == 0 { output += "," }
        output.append(digit)
    }
    return output
}

/// "812 B", "4.0 KiB", "34.2 MiB": one decimal from a kibibyte on.
func bytes(_ count: Int) -> String {
    guard count >= 1024 else { return "\(count) B" }
    var tenths = count * 10 / 1024
    var unit = 0
    let units = ["KiB", "MiB", "GiB", "TiB"]
    while tenths >= 10240 && unit < units.count - 1 {
        tenths /= 1024
        unit += 1
    }
    return "\(tenths / 10).\(tenths % 10) \(units[unit])"
}

func writeToStandardError(_ text: String) {
    var text = text
    text.withUTF8 { bytes in
        // Nobody is left to tell when even this write fails.
        _ = write(2, bytes.baseAddress, bytes.count)
    }
}
