// What the page is told when something does not work: a status of HTTP, a sentence, and where in a
// text the mistake is, if it is in one.

import CoreSwift

struct StudioError: Error {
    enum Kind {
        /// The request makes no sense, or what it asks for is refused.
        case refused
        /// The file is encrypted and no key, or a wrong one, was given.
        case locked
        /// There is nothing of that name.
        case missing
        /// What the page shows is not what the file has any more.
        case outdated
    }

    let kind: Kind
    let message: String

    init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    static func refused(_ message: String) -> StudioError { StudioError(.refused, message) }
}

/// An error as the page reads it. `query`: the text in whose place the mistake is looked for.
func errorBody(_ error: any Error, query: String? = nil) -> [UInt8] {
    jsonObject { output in
        switch error {
        case let error as StudioError:
            output.member("error", error.message)
            output.member("kind", "\(error.kind)")
        case let error as RealmError:
            let message = withoutQuery(error.message, query)
            output.member("error", message)
            output.member("kind", "engine")
            output.member("code", Int(error.code.rawValue))
            if let query, let place = place(of: message, in: query) {
                output.member("at", place.lowerBound)
                output.member("length", place.count)
            }
        default:
            output.member("error", "\(error)")
            output.member("kind", "unknown")
        }
    }
}

/// The message without the text of the query, which stands above it in the page.
private func withoutQuery(_ message: String, _ query: String?) -> String {
    guard let query else { return message }
    for start in ["Invalid predicate: '\(query)': ", "Predicate '\(query)': "]
    where message.hasPrefix(start) {
        return String(message.dropFirst(start.count))
    }
    return message
}

/// Where in the query the mistake is, in UTF-16 units, as texts are counted in a page: at the byte
/// that the message names, else the first word in quotes that the query has.
private func place(of message: String, in query: String) -> Range<Int>? {
    let utf8 = query.utf8
    func range(_ start: String.Index, _ end: String.Index) -> Range<Int> {
        let first = query.utf16.distance(from: query.startIndex, to: start)
        return first..<first + max(1, query.utf16.distance(from: start, to: end))
    }
    if let mark = message.firstRange(of: "at byte ") {
        let digits = message[mark.upperBound...].prefix { $0.isASCII && $0.isNumber }
        if let offset = Int(digits), offset <= utf8.count {
            let start = utf8.index(utf8.startIndex, offsetBy: offset)
            let word = query[start...].prefix { $0.isLetter || $0.isNumber || $0 == "_" }
            return range(start, word.endIndex)
        }
    }
    for quote in ["'", "\""] {
        let parts = message.components(separatedBy: quote)
        for index in stride(from: 1, to: parts.count - 1, by: 2) where !parts[index].isEmpty {
            if let found = query.firstRange(of: parts[index]) {
                return range(found.lowerBound, found.upperBound)
            }
        }
    }
    return nil
}

extension String {
    fileprivate func components(separatedBy separator: String) -> [String] {
        split(separator: separator, omittingEmptySubsequences: false).map(String.init)
    }
}
