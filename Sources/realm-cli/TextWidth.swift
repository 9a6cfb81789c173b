// How wide text is on a terminal, and text that can't do anything to one: names and values of a file are
// somebody else's words.

import CTerminal

enum TextWidth {
    /// The C library tells widths by the locale, and this one knows all letters everywhere.
    private static let isReady: Bool = setlocale(LC_CTYPE, "C.UTF-8") != nil

    /// Sets the locale, for others who need it, too.
    static func prepare() { _ = isReady }

    /// The columns of what `visible` gave: 2 for ideographs and pictures, 0 for marks above others.
    static func of(_ text: String) -> Int {
        var isPlain = true
        var count = 0
        for byte in text.utf8 {
            if byte >= 0x80 {
                isPlain = false
                break
            }
            count += 1
        }
        if isPlain { return count }
        return text.reduce(0) { $0 + of($1) }
    }

    static func of(_ character: Character) -> Int {
        _ = isReady
        var width = 0
        for scalar in character.unicodeScalars {
            // What asks for the picture form of a letter, and joins pictures, makes them one of two columns.
            if scalar.value == 0xFE0F || scalar.value == 0x200D { return 2 }
            width += max(0, Int(wcwidth(wchar_t(scalar.value))))
        }
        return min(width, 2)
    }

    /// The text in at most `width` columns, with "…" at the end where it was cut.
    static func cut(_ text: String, to width: Int) -> String {
        guard text.utf8.count > width, of(text) > width else { return text }
        var output = ""
        var used = 0
        for character in text {
            let next = of(character)
            if used + next > width - 1 { break }
            used += next
            output.append(character)
        }
        return width > 0 ? output + "…" : ""
    }

    /// The text with everything that would move the cursor, change colours or turn the direction of
    /// writing as an escape sequence of JSON: \n, \u001b.
    static func visible(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isHidden) else { return text }
        var output = ""
        for scalar in text.unicodeScalars {
            guard isHidden(scalar) else {
                output.unicodeScalars.append(scalar)
                continue
            }
            switch scalar {
            case "\n": output += "\\n"
            case "\t": output += "\\t"
            case "\r": output += "\\r"
            default: output += "\\u" + hexadecimal(scalar.value, 4)
            }
        }
        return output
    }

    private static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F..<0xA0: true
        // Marks of direction, separators of lines, and blanks of no width.
        case 0x200B, 0x200E, 0x200F, 0x2028...0x202E, 0x2060...0x206F, 0xFEFF, 0xFFF9...0xFFFB: true
        case 0xE0000...0xE007F: true
        default: false
        }
    }
}
