// Queries as format strings, the way NSPredicate has them (QUERY_RULES X): `%@`, `%K`, `%d` take the
// arguments from left to right, `$NAME` takes a value by its name.

extension Query {
    /// Parses and binds a format string. `%K` takes a string with a key path, the other places take
    /// any value; what follows the percent sign otherwise (`%d`, `%lf`, `%@`) makes no difference.
    ///
    /// Throws as `parse`, and `.invalidQueryArg` for too few or too many arguments and for variables
    /// that `variables` has no value for.
    static func parse(
        format: [UInt8], arguments: [QueryArgument], variables: [String: QueryArgument],
        schema: Schema, classKey: ClassKey
    ) throws(RealmError) -> Query {
        let spliced = spliceKeyPaths(format, arguments)
        let names = variables.keys.sorted()
        let values = names.compactMap { variables[$0] }
        let format = Format(
            names: names, argumentCount: spliced.arguments.count,
            splicedCount: arguments.count - spliced.arguments.count)
        return try spliced.text.withUnsafeBufferPointer { buffer throws(RealmError) in
            try parse(buffer, spliced.arguments + values, schema, classKey, format: format)
        }
    }

    /// What a format string takes its values from: arguments, and behind them variables by name.
    struct Format {
        var names: [String]
        var argumentCount: Int
        /// Key paths that were put into the text.
        var splicedCount = 0
    }

    /// Puts key paths with words such as `@count` into the text, where the parser knows them for
    /// what they are; those of plain names stay arguments, because names may hold any character.
    private static func spliceKeyPaths(
        _ text: [UInt8], _ arguments: [QueryArgument]
    ) -> (text: [UInt8], arguments: [QueryArgument]) {
        guard text.contains(UInt8(ascii: "%")) else { return (text, arguments) }
        var result: [UInt8] = []
        var kept: [QueryArgument] = []
        var next = 0
        var quote: UInt8 = 0
        var offset = 0
        while offset < text.count {
            let byte = text[offset]
            offset += 1
            if quote != 0 {
                result.append(byte)
                if byte == UInt8(ascii: "\\"), offset < text.count {
                    result.append(text[offset])
                    offset += 1
                } else if byte == quote {
                    quote = 0
                }
                continue
            }
            if byte == UInt8(ascii: "'") || byte == UInt8(ascii: "\"") { quote = byte }
            guard byte == UInt8(ascii: "%"), next < arguments.count else {
                result.append(byte)
                continue
            }
            let argument = arguments[next]
            next += 1
            if offset < text.count, text[offset] == UInt8(ascii: "K"),
                case .scalar(.string(let path)) = argument, isWords(path)
            {
                result.append(contentsOf: path.utf8)
                offset += 1
                continue
            }
            kept.append(argument)
            result.append(byte)
        }
        return (result, kept + arguments.dropFirst(next))
    }

    /// Whether a key path has words with an @, and else only names that can be written bare.
    private static func isWords(_ path: String) -> Bool {
        guard path.utf8.contains(UInt8(ascii: "@")) else { return false }
        return path.utf8.allSatisfy { byte in
            byte == UInt8(ascii: ".") || byte == UInt8(ascii: "@")
                || (Lexer.isNameStart(byte) && byte != UInt8(ascii: "$")) || Lexer.isDigit(byte)
        }
    }
}
