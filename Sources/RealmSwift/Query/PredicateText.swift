// Conditions as format strings with arguments, and what filters with conditions of all kinds.

import CoreSwift
public import Foundation

/// A format string with its arguments.
struct PredicateText {
    var format: String
    var arguments: [Any]

    init(_ format: String, _ arguments: [Any]) {
        self.format = format
        self.arguments = arguments
    }

    /// What a predicate of Foundation says; misuse for those that only have a block.
    init(_ predicate: NSPredicate) {
        if let known = PredicateEntry.of(predicate) {
            self = known.text
            return
        }
        if let compound = predicate as? NSCompoundPredicate {
            let parts = compound.subpredicates.map { PredicateText($0) }
            let all = parts.flatMap { $0.arguments }
            let texts = parts.map { "(\($0.format))" }
            switch compound.compoundPredicateType {
            case .not: self.init("NOT \(texts.first ?? "TRUEPREDICATE")", all)
            case .and:
                self.init(texts.isEmpty ? "TRUEPREDICATE" : texts.joined(separator: " AND "), all)
            case .or:
                self.init(texts.isEmpty ? "FALSEPREDICATE" : texts.joined(separator: " OR "), all)
            @unknown default: misuse("Unknown kind of compound predicate")
            }
            return
        }
        // Foundation does not say which kind a predicate is of, but its mirror shows it.
        for child in Mirror(reflecting: predicate).children {
            let kind = "\(child.value)"
            if kind.hasPrefix("boolean(") {
                self.init(kind.contains("true") ? "TRUEPREDICATE" : "FALSEPREDICATE", [])
                return
            }
        }
        misuse("Only support compound, comparison, and constant predicates")
    }

    /// The elements of results that satisfy the condition.
    func filter(_ source: _ElementSource) throws(RealmError) -> AnyResults {
        let arguments = try arguments.map { value throws(RealmError) in
            try QueryArguments.argument(value, source.session)
        }
        return source.core.holdsValues
            ? try source.core.filter(numbered(), arguments)
            : try source.core.filter(format: Array(format.utf8), arguments)
    }

    /// With `$0`, `$1` … instead of `%@`, which is how the engine takes conditions on values.
    private func numbered() -> String {
        var result = ""
        var next = 0
        var quote: Character?
        var characters = format.makeIterator()
        while let character = characters.next() {
            if let open = quote {
                if character == open { quote = nil }
                result.append(character)
            } else if character == "'" || character == "\"" {
                quote = character
                result.append(character)
            } else if character == "%" {
                // %@, %d, %lld: the letters make no difference.
                while let letter = characters.next(), "lhqz".contains(letter) {}
                result += "$\(next)"
                next += 1
            } else {
                result.append(character)
            }
        }
        return result
    }
}

/// Values of the program as arguments of queries.
enum QueryArguments {
    static func argument(
        _ value: Any, _ session: _RealmSession
    ) throws(RealmError) -> QueryArgument {
        if let plain = plain(value) { return .scalar(plain) }
        guard let value = unwrapped(value) else { return .scalar(.null) }
        if let shape = value as? any RLMGeospatial {
            return .scalar(.string(shape._rlmQueryText))
        }
        if value is String || value is Data || value is ObjectBase || value is AnyRealmValue {
            return .scalar(try scalar(value, session))
        }
        if let list = anyElements(value) {
            return .list(
                try list.map { value throws(RealmError) in
                    guard let value = unwrapped(value) else { return .null }
                    return try scalar(value, session)
                })
        }
        return .scalar(try scalar(value, session))
    }

    /// A value of one of the commonest types, which its type tells without a cast; nil for others.
    private static func plain(_ value: Any) -> Value? {
        let kind = type(of: value)
        if kind == Int.self { return (value as? Int).map { .int(Int64($0)) } }
        if kind == String.self { return (value as? String).map { .string($0) } }
        if kind == Double.self { return (value as? Double).map { .double($0) } }
        if kind == Bool.self { return (value as? Bool).map { .bool($0) } }
        return nil
    }

    private static func scalar(
        _ value: Any, _ session: _RealmSession
    ) throws(RealmError) -> Value {
        if let object = value as? ObjectBase {
            guard let handle = (session.copies?.copy(of: object) ?? object).handle else {
                throw RealmError(
                    .invalidQueryArg, "Unmanaged object '\(type(of: object))' cannot be queried for"
                )
            }
            return .link(Link(handle.classKey, handle.objectKey))
        }
        var converted: (any RealmCollectionValue)?
        // Enumerations and types of the program convert themselves; the rest becomes what Any becomes.
        if let own = value as? any _RealmCollectionValueInsideOptional { converted = own }
        if converted == nil { converted = AnyRealmValue._rlmConvert(value) }
        guard let converted else {
            throw RealmError(
                .invalidQueryArg,
                "Invalid value '\(value)' of type '\(type(of: value))' as an argument of a query")
        }
        var failure: RealmError?
        let result = converted._rlmWithRaw(session, .error) { raw -> Value in
            do throws(RealmError) {
                return try Value(raw)
            } catch {
                failure = error
                return .null
            }
        }
        if let failure { throw failure }
        return result
    }
}

// MARK: - NSPredicate

/// The format of a predicate that this module made, by the predicate's identity. The predicate's block
/// holds it, so that the entry goes with the predicate.
private final class PredicateEntry: @unchecked Sendable {
    let text: PredicateText
    private var key: ObjectIdentifier?

    private struct Weak { weak var entry: PredicateEntry? }
    private static let lock = NSLock()
    nonisolated(unsafe) private static var entries: [ObjectIdentifier: Weak] = [:]

    init(_ text: PredicateText) { self.text = text }

    func register(_ predicate: NSPredicate) {
        let key = ObjectIdentifier(predicate)
        self.key = key
        Self.lock.withLock { Self.entries[key] = Weak(entry: self) }
    }

    deinit {
        guard let key else { return }
        Self.lock.withLock {
            // Another predicate may have the address by now.
            if Self.entries[key]?.entry == nil { Self.entries[key] = nil }
        }
    }

    static func of(_ predicate: NSPredicate) -> PredicateEntry? {
        lock.withLock { entries[ObjectIdentifier(predicate)]?.entry }
    }

    func matches(_ object: Any?) -> Bool {
        guard let object = object as? ObjectBase, let handle = object.handle,
            let session = object.session
        else { misuse("Only managed objects can be tested with a predicate by format.") }
        return engine(.query) { () throws(RealmError) in
            let all = _ElementSource(try session.core.results(handle.classKey), session)
            guard let found = try text.filter(all) as? EngineResults else { return false }
            return try found.find(handle.objectKey) != nil
        }
    }
}

extension NSPredicate {
    /// A predicate for `filter`: a format string with arguments, which Foundation itself does not have on
    /// Linux. `evaluate(with:)` takes managed objects.
    public convenience init(format predicateFormat: String, _ args: Any...) {
        self.init(format: predicateFormat, argumentArray: args)
    }

    /// The same with the arguments in an array.
    public convenience init(format predicateFormat: String, argumentArray arguments: [Any]?) {
        let entry = PredicateEntry(PredicateText(predicateFormat, arguments ?? []))
        self.init { object, _ in entry.matches(object) }
        entry.register(self)
    }
}
