// The body of a request of the page: one JSON object whose members are read by name, with an error that
// names what is missing or of another type.

import CoreSwift

struct Request: Sendable {
    private let members: [String: ValueTree]

    init(_ bytes: [UInt8]) throws {
        let tree = try bytes.withUnsafeBytes { try JSONReader.read($0) }
        try self.init(tree)
    }

    init(_ tree: ValueTree) throws {
        guard case .dictionary(let entries) = tree else {
            throw StudioError.refused("the request is no JSON object")
        }
        members = Dictionary(entries.map { ($0.name, $0.value) }) { _, last in last }
    }

    func tree(_ name: String) -> ValueTree? { members[name] }

    func text(_ name: String) throws -> String {
        guard let text = try optionalText(name) else {
            throw StudioError.refused("the request has no '\(name)'")
        }
        return text
    }

    func optionalText(_ name: String) throws -> String? {
        switch members[name] {
        case nil, .value(.null): return nil
        case .value(.string(let text)): return text
        default: throw StudioError.refused("'\(name)' of the request is no text")
        }
    }

    func integer(_ name: String) throws -> Int64 {
        switch members[name] {
        case .value(.int(let number)): return number
        // Keys of objects, which a double can't hold.
        case .value(.string(let text)):
            if let number = Int64(text) { return number }
        default: break
        }
        throw StudioError.refused("'\(name)' of the request is no integer")
    }

    /// A position or a count.
    func count(_ name: String, atMost most: Int) throws -> Int {
        let number = try integer(name)
        guard number >= 0 else {
            throw StudioError.refused("'\(name)' of the request is negative")
        }
        return Int(min(number, Int64(most)))
    }

    func truth(_ name: String) throws -> Bool {
        switch members[name] {
        case nil, .value(.null): return false
        case .value(.bool(let truth)): return truth
        default: throw StudioError.refused("'\(name)' of the request is neither true nor false")
        }
    }

    func list(_ name: String) throws -> [ValueTree] {
        switch members[name] {
        case nil, .value(.null): return []
        case .list(let elements): return elements
        default: throw StudioError.refused("'\(name)' of the request is no list")
        }
    }
}
