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
    static func noClass(_ name: String) -> StudioError {
        StudioError(.missing, "the file has no class '\(name)'")
    }
}

/// What the engine has against the text of a query, and which of its bytes that is about.
struct QueryMistake: Error {
    let error: RealmError
    let query: String
    let place: Range<Int>?
}

extension ClassSchema {
    func property(asked name: String) throws -> PropertySchema {
        guard let found = property(named: name) else {
            throw StudioError(.missing, "class \(self.name) has no property '\(name)'")
        }
        return found
    }
}

/// An error as the page reads it.
func errorBody(_ error: any Error) -> [UInt8] {
    jsonObject { output in
        switch error {
        case let error as StudioError:
            output.member("error", error.message)
            output.member("kind", "\(error.kind)")
        case let error as RealmError:
            output.member("error", error.message)
            output.member("kind", "engine")
            output.member("code", Int(error.code.rawValue))
        case let mistake as QueryMistake:
            // The text stands above the message in the page.
            output.member("error", Query.withoutText(mistake.error.message, mistake.query))
            output.member("kind", "engine")
            output.member("code", Int(mistake.error.code.rawValue))
            if let place = mistake.place.map({ units(of: $0, in: mistake.query) }) {
                output.member("at", place.lowerBound)
                output.member("length", place.count)
            }
        default:
            output.member("error", "\(error)")
            output.member("kind", "unknown")
        }
    }
}

/// Bytes of a query in UTF-16 units, as texts are counted in a page: where they are none, of the word that begins there.
private func units(of place: Range<Int>, in query: String) -> Range<Int> {
    let utf8 = query.utf8
    let start = utf8.index(utf8.startIndex, offsetBy: min(place.lowerBound, utf8.count))
    let end =
        place.isEmpty
        ? query[start...].prefix { $0.isLetter || $0.isNumber || $0 == "_" }.endIndex
        : utf8.index(utf8.startIndex, offsetBy: min(place.upperBound, utf8.count))
    let first = query.utf16.distance(from: query.startIndex, to: start)
    return first..<first + max(1, query.utf16.distance(from: start, to: end))
}
