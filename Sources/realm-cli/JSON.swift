// JSON for `--json`: builds and renders values. By hand, as Foundation would make the
// tool many times larger for this alone. Nothing here parses.

enum JSON {
    case text(String)
    case number(Int)
    case truth(Bool)
    case list([JSON])
    /// Members keep their order; those without a value are left out.
    case object([(String, JSON?)])

    /// The value on several lines, indented by two blanks a level.
    func rendered() -> String {
        var output = ""
        render(into: &output, indent: "")
        return output
    }

    private func render(into output: inout String, indent: String) {
        let inner = indent + "  "
        switch self {
        case .text(let text): output += Self.quoted(text)
        case .number(let number): output += String(number)
        case .truth(let truth): output += truth ? "true" : "false"
        case .list(let items):
            Self.enclosed("[", "]", items.count, indent, into: &output) { index, output in
                items[index].render(into: &output, indent: inner)
            }
        case .object(let all):
            let members = all.compactMap { name, value in value.map { (name, $0) } }
            Self.enclosed("{", "}", members.count, indent, into: &output) { index, output in
                output += Self.quoted(members[index].0) + ": "
                members[index].1.render(into: &output, indent: inner)
            }
        }
    }

    private static func enclosed(
        _ open: String, _ close: String, _ count: Int, _ indent: String,
        into output: inout String, item: (Int, inout String) -> Void
    ) {
        output += open
        for index in 0..<count {
            output += index == 0 ? "\n" : ",\n"
            output += indent + "  "
            item(index, &output)
        }
        if count > 0 { output += "\n" + indent }
        output += close
    }

    static func quoted(_ text: String) -> String {
        var output = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": output += "\\\""
            case "\\": output += "\\\\"
            case "\n": output += "\\n"
            case "\t": output += "\\t"
            case "\r": output += "\\r"
            default:
                if scalar.value < 0x20 {
                    output += "\\u" + hexadecimal(scalar.value, 4)
                } else {
                    output.unicodeScalars.append(scalar)
                }
            }
        }
        return output + "\""
    }
}
