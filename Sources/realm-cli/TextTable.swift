// Text output for people: tables with aligned columns, and numbers that can be read.

struct TextTable {
    enum Alignment { case left, right }

    private let alignments: [Alignment]
    private var rows: [[String]]

    init(_ columns: [(title: String, alignment: Alignment)]) {
        alignments = columns.map(\.alignment)
        rows = [columns.map { TextWidth.visible($0.title) }]
    }

    /// Whether there is anything under the titles.
    var hasRows: Bool { rows.count > 1 }

    /// One text for each column.
    mutating func add(_ cells: [String]) { rows.append(cells.map(TextWidth.visible)) }

    /// The rows under their titles, columns two blanks apart, no blanks at the ends of lines; on a
    /// terminal, not wider than that.
    func rendered() -> String {
        var layout = TableLayout(alignments)
        for row in rows { layout.note(row) }
        layout.fit(Terminal.width)
        return rows.map { layout.line($0) + "\n" }.joined()
    }
}

/// The widths of the columns of a table.
struct TableLayout {
    /// Columns of a table that is too wide are not cut below this.
    private static let leastWidth = 6
    private static let gap = 2

    let alignments: [TextTable.Alignment]
    private(set) var widths: [Int]
    /// No cell is wider; set by `fit`.
    private var isCut = false

    init(_ alignments: [TextTable.Alignment]) {
        self.alignments = alignments
        widths = alignments.map { _ in 0 }
    }

    /// A row that has to have room.
    mutating func note(_ row: [String]) {
        for (column, cell) in row.enumerated() {
            widths[column] = max(widths[column], TextWidth.of(cell))
        }
    }

    /// Makes the widest columns smaller until a line has at most `limit` columns; nil: any number. False
    /// when that is not possible.
    @discardableResult
    mutating func fit(_ limit: Int?) -> Bool {
        guard let limit else { return true }
        isCut = true
        let room = limit - Self.gap * max(0, widths.count - 1)
        func total(_ cap: Int) -> Int { widths.reduce(0) { $0 + min($1, cap) } }
        if total(.max) <= room { return true }
        // The largest cap that fits.
        var low = 0
        var high = room
        while low < high {
            let middle = (low + high + 1) / 2
            if total(middle) <= room { low = middle } else { high = middle - 1 }
        }
        let cap = max(low, Self.leastWidth)
        widths = widths.map { min($0, cap) }
        return low >= Self.leastWidth
    }

    /// Cells that are wider than their columns are cut, if the table was fitted into a width.
    func line(_ cells: [String]) -> String {
        var line = ""
        for (column, cell) in cells.enumerated() {
            let cell = isCut ? TextWidth.cut(cell, to: widths[column]) : cell
            let pad = String(repeating: " ", count: max(0, widths[column] - TextWidth.of(cell)))
            line += column == 0 ? "" : "  "
            line += alignments[column] == .left ? cell + pad : pad + cell
        }
        while line.last == " " { line.removeLast() }
        return line
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

/// In so many digits, or more.
func hexadecimal(_ number: UInt32, _ digits: Int) -> String {
    let text = String(number, radix: 16)
    return String(repeating: "0", count: max(0, digits - text.count)) + text
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
