// Where in a text a mistake is. An error says what is wrong and quotes the name; a name can stand in a text several
// times, so the place is that of the condition, property or key that was read when it was thrown.

extension Query {
    /// Which bytes of `text` are at fault for `error`, which `parse` threw for it: the name that the error quotes, or
    /// the condition around it; empty where a text that is no sentence of the language ends being one. Nil: nowhere in
    /// particular.
    package static func place(
        of error: RealmError, in text: String, schema: Schema, classKey: ClassKey
    ) -> Range<Int>? {
        let bytes = Array(text.utf8)
        let problem = withoutText(error.message, text)
        // What is said of a text's form begins so. Elsewhere such words are of the text, or of a pattern in it,
        // which has places of its own.
        for (head, words) in [
            ("syntax error", " at byte "), ("the date", " at byte "),
            ("the variable '", "' at byte "),
        ] where problem.hasPrefix(head) {
            if let found = number(behind: words, in: Array(problem.utf8)) {
                let place = min(found, bytes.count)
                return place..<place
            }
        }
        guard let reading = reading(bytes, schema, classKey) else { return nil }
        let names = problem.split(separator: "'", omittingEmptySubsequences: false)
        for index in stride(from: 1, to: names.count - 1, by: 2) {
            let name = Array(names[index].utf8)
            // Of a path the last step, where the whole of it is spelled in another way.
            let last = name.lastIndex(of: UInt8(ascii: ".")).map { Array(name[($0 + 1)...]) }
            for candidate in [name, last ?? name] {
                if let found = find(candidate, in: bytes[reading]) {
                    return found..<found + candidate.count
                }
            }
        }
        return reading
    }

    /// What an error says of a text, without the text.
    package static func withoutText(_ message: String, _ text: String) -> String {
        for head in ["Invalid predicate: '\(text)': ", "Predicate '\(text)': "]
        where message.hasPrefix(head) {
            return String(message.dropFirst(head.count))
        }
        return message
    }

    /// What is read when an error is thrown for a text.
    private static func reading(
        _ text: [UInt8], _ schema: Schema, _ classKey: ClassKey
    ) -> Range<Int>? {
        let read = try? QueryText.with(text) { text throws(RealmError) in
            let tree = try Parser.parse(text)
            var binder = Binder(
                text, tree, schema, try index(of: classKey, in: schema), [], FilterBuilder())
            var ordering: [OrderingStep] = []
            do throws(RealmError) {
                _ = try binder.bind(&ordering)
                return 0..<0
            } catch {
                return Int(binder.reading.start)..<Int(binder.reading.end)
            }
        }
        guard let read, !read.isEmpty, read.upperBound <= text.count else { return nil }
        return read
    }

    private static func number(behind words: String, in text: [UInt8]) -> Int? {
        let words = Array(words.utf8)
        guard text.count > words.count else { return nil }
        for start in 0...(text.count - words.count)
        where text[start..<start + words.count].elementsEqual(words) {
            let digits = text[(start + words.count)...].prefix { (0x30...0x39).contains($0) }
            if let number = Int(String(decoding: digits, as: UTF8.self)) { return number }
        }
        return nil
    }

    /// Where the name stands in the text as a word of its own, outside of quoted strings.
    private static func find(_ name: [UInt8], in text: ArraySlice<UInt8>) -> Int? {
        guard !name.isEmpty, name.count <= text.count else { return nil }
        func isLetter(_ index: Int) -> Bool {
            guard text.indices.contains(index) else { return false }
            let byte = text[index]
            return byte >= 0x80 || byte == UInt8(ascii: "_")
                || (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte & 0xDF)
        }
        var quote: UInt8?
        for start in text.startIndex...(text.endIndex - name.count) {
            let byte = text[start]
            if let open = quote {
                if byte == open, text[start - 1] != UInt8(ascii: "\\") { quote = nil }
                continue
            }
            let end = start + name.count
            if text[start..<end].elementsEqual(name), !isLetter(start - 1) || !isLetter(start),
                !isLetter(end) || !isLetter(end - 1)
            {
                return start
            }
            if byte == UInt8(ascii: "'") || byte == UInt8(ascii: "\"") { quote = byte }
        }
        return nil
    }
}
