// Printing for the example: tables with aligned columns, numbers, and a progress bar. Nothing of
// realm is in here.

import Foundation

/// A table; a title that starts with ">" has its column aligned to the right.
struct TextTable {
    private let alignsRight: [Bool]
    private var rows: [[String]]

    init(_ titles: String...) {
        alignsRight = titles.map { $0.hasPrefix(">") }
        rows = [titles.map { $0.hasPrefix(">") ? String($0.dropFirst()) : $0 }]
    }

    mutating func add(_ cells: String...) { rows.append(cells) }

    func show() {
        let widths = alignsRight.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        func rule(_ left: String, _ middle: String, _ right: String) {
            let lines = widths.map { String(repeating: "─", count: $0 + 2) }
            print(left + lines.joined(separator: middle) + right)
        }
        rule("┌", "┬", "┐")
        for (index, row) in rows.enumerated() {
            let cells = row.indices.map { column in
                let pad = String(repeating: " ", count: widths[column] - row[column].count)
                return alignsRight[column] ? pad + row[column] : row[column] + pad
            }
            print("│ " + cells.joined(separator: " │ ") + " │")
            if index == 0 { rule("├", "┼", "┤") }
        }
        rule("└", "┴", "┘")
    }
}

/// "1,234,567"
func grouped(_ number: Int) -> String {
    let digits = Array(String(number.magnitude))
    var text = number < 0 ? "-" : ""
    for (index, digit) in digits.enumerated() {
        if index > 0 && (digits.count - index) % 3 == 0 { text += "," }
        text.append(digit)
    }
    return text
}

/// A number without decimals.
func rounded(_ number: Double) -> String { grouped(Int(number.rounded(.toNearestOrEven))) }

/// A number with so many decimals.
func decimal(_ number: Double, _ digits: Int) -> String {
    String(format: "%.\(digits)f", number)
}

/// A bar that moves on a terminal; elsewhere only its end is printed.
struct Progress {
    let what: String
    let total: Int
    private let started = ContinuousClock.now
    private let moves = isatty(1) != 0

    init(_ what: String, total: Int) {
        self.what = what
        self.total = total
    }

    func show(_ done: Int) {
        guard done == total || (moves && done % 256 == 0) else { return }
        let width = 32
        let filled = total == 0 ? width : done * width / total
        let bar =
            String(repeating: "█", count: filled) + String(repeating: "·", count: width - filled)
        let share = total == 0 ? 100 : done * 100 / total
        let line =
            "\(moves ? "\r" : "")\(what) [\(bar)] \(share < 100 ? " " : "")\(share) %  "
            + grouped(done)
        guard done == total else {
            print(line, terminator: "")
            fflush(nil)
            return
        }
        let seconds = (ContinuousClock.now - started) / .seconds(1)
        print(line + String(format: " in %.3f s", seconds))
    }
}
