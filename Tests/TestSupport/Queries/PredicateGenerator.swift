// Random predicates with their plain meaning: an evaluator that knows nothing of leaves takes the rules of the
// language row by row from plain values.

import Foundation

@testable import CoreSwift

typealias QueryRow = [String: Value]

/// A predicate with its text and its plain meaning.
struct GeneratedPredicate {
    var text: String
    var passes: (QueryRow) -> Bool
}

struct PredicateGenerator {
    var random: Random
    /// Harbors by object key.
    var harbors: [ObjectKey: QueryRow]
    /// Rows to take constants from.
    var rows: [QueryRow]

    static let operators: [(String, (Int) -> Bool)] = [
        ("==", { $0 == 0 }), ("!=", { $0 != 0 }), ("<", { $0 < 0 }), ("<=", { $0 <= 0 }),
        (">", { $0 > 0 }), (">=", { $0 >= 0 }),
    ]

    mutating func pick<T>(_ items: [T]) -> T { items[random.below(items.count)] }

    mutating func predicate(_ depth: Int) -> GeneratedPredicate {
        if depth > 0 {
            switch random.below(6) {
            case 0, 1:
                let parts = (0..<2 + random.below(3)).map { _ in predicate(depth - 1) }
                return GeneratedPredicate(
                    text: "(" + parts.map { $0.text }.joined(separator: " AND ") + ")",
                    passes: { row in parts.allSatisfy { $0.passes(row) } })
            case 2, 3:
                let parts = (0..<2 + random.below(4)).map { _ in predicate(depth - 1) }
                return GeneratedPredicate(
                    text: "(" + parts.map { $0.text }.joined(separator: " OR ") + ")",
                    passes: { row in parts.contains { $0.passes(row) } })
            case 4:
                let part = predicate(depth - 1)
                return GeneratedPredicate(text: "!(\(part.text))", passes: { !part.passes($0) })
            default: break
            }
        }
        switch random.below(8) {
        case 0: return list()
        case 1: return between()
        case 2, 3: return textual()
        default: return comparison()
        }
    }

    private let properties = [
        "id", "tons", "crewed", "draft", "beam", "built", "docked", "title", "code", "active",
        "berth.depth", "berth.name", "note",
    ]

    private func read(_ row: QueryRow, _ property: String) -> Value {
        guard property.hasPrefix("berth.") else { return row[property] ?? .null }
        guard case .link(let link)? = row["berth"], let harbor = harbors[link.objectKey]
        else { return .null }
        return harbor[String(property.dropFirst(6))] ?? .null
    }

    private mutating func constant(_ property: String) -> Value {
        for _ in 0..<5 {
            let row = pick(rows)
            let value = read(row, property)
            if value != .null { return nudged(value) }
        }
        return .null
    }

    private mutating func nudged(_ value: Value) -> Value {
        guard random.below(3) == 0 else { return value }
        switch value {
        case .int(let v): return .int(v &+ Int64(random.below(3) - 1))
        case .double(let v): return .double(v + 0.5)
        case .timestamp(let v):
            return .timestamp(Timestamp(seconds: v.seconds, nanoseconds: v.nanoseconds / 2))
        case .string(let v): return .string(String(v.dropLast()))
        default: return value
        }
    }

    static func literal(_ value: Value) -> String {
        switch value {
        case .null: return "NULL"
        case .int(let v): return "\(v)"
        case .bool(let v): return "\(v)"
        case .string(let v): return "B64\"" + Data(v.utf8).base64EncodedString() + "\""
        case .binary(let v): return "binary(B64\"" + Data(v).base64EncodedString() + "\")"
        case .timestamp(let v): return "T\(v.seconds):\(v.nanoseconds)"
        case .float(let v): return v.isInfinite ? "inf" : "\(v)f"
        case .double(let v): return v.isInfinite ? (v < 0 ? "-inf" : "inf") : "\(v)"
        case .decimal128(let v): return "\(v)"
        case .objectId(let v): return "oid(\(v))"
        case .uuid(let v): return "uuid(\(v))"
        case .link: return "NULL"
        }
    }

    /// Order of two values of one kind; nil when one is NaN.
    static func order(_ a: Value, _ b: Value) -> Int? {
        func sign<T: Comparable>(_ x: T, _ y: T) -> Int { x < y ? -1 : x == y ? 0 : 1 }
        switch (a, b) {
        case (.int(let x), .int(let y)): return sign(x, y)
        case (.bool(let x), .bool(let y)): return sign(x ? 1 : 0, y ? 1 : 0)
        case (.double(let x), .double(let y)): return x.isNaN || y.isNaN ? nil : sign(x, y)
        case (.float(let x), .float(let y)): return x.isNaN || y.isNaN ? nil : sign(x, y)
        case (.timestamp(let x), .timestamp(let y)): return sign(x, y)
        case (.string(let x), .string(let y)):
            return x.order(y).signum()
        default: return nil
        }
    }

    static func compare(
        _ left: Value, _ op: String, _ right: Value, nullIsLeast: Bool
    ) -> Bool {
        if left == .null || right == .null {
            let both = left == .null && right == .null
            switch op {
            case "==": return both
            case "!=": return !both
            case "<=":
                return both || (nullIsLeast && left == .null)
            case ">=": return both || (nullIsLeast && right == .null)
            case "<": return nullIsLeast && left == .null && right != .null
            default: return nullIsLeast && right == .null && left != .null
            }
        }
        guard let order = order(left, right) else { return op == "!=" }
        return operators.first { $0.0 == op }!.1(order)
    }

    private mutating func comparison() -> GeneratedPredicate {
        let property = pick(properties)
        let constant = random.below(6) == 0 ? .null : constant(property)
        let (op, _) = pick(Self.operators)
        // Direct strings order null below every string.
        let nullIsLeast = ["title", "code", "note"].contains(property)
        let me = self
        if random.below(4) == 0 {
            let mirrored = ["<": ">", "<=": ">=", ">": "<", ">=": "<="][op] ?? op
            return GeneratedPredicate(
                text: "\(Self.literal(constant)) \(mirrored) \(property)",
                passes: {
                    Self.compare(me.read($0, property), op, constant, nullIsLeast: nullIsLeast)
                })
        }
        return GeneratedPredicate(
            text: "\(property) \(op) \(Self.literal(constant))",
            passes: {
                Self.compare(me.read($0, property), op, constant, nullIsLeast: nullIsLeast)
            })
    }

    private mutating func list() -> GeneratedPredicate {
        let property = pick(properties)
        let members = (0..<random.below(6)).map { _ in
            random.below(8) == 0 ? .null : constant(property)
        }
        let me = self
        return GeneratedPredicate(
            text: "\(property) IN {\(members.map { Self.literal($0) }.joined(separator: ", "))}",
            passes: { row in
                members.contains {
                    Self.compare(me.read(row, property), "==", $0, nullIsLeast: false)
                }
            })
    }

    private mutating func between() -> GeneratedPredicate {
        let property = pick(properties)
        let low = constant(property)
        let high = constant(property)
        guard low != .null, high != .null else { return comparison() }
        let me = self
        return GeneratedPredicate(
            text: "\(property) BETWEEN {\(Self.literal(low)), \(Self.literal(high))}",
            passes: {
                let value = me.read($0, property)
                guard value != .null else { return false }
                return Self.compare(value, ">=", low, nullIsLeast: false)
                    && Self.compare(value, "<=", high, nullIsLeast: false)
            })
    }

    private mutating func textual() -> GeneratedPredicate {
        let property = pick(["title", "code", "berth.name", "note"])
        guard case .string(let source) = constant(property) else { return comparison() }
        let characters = Array(source)
        let start = random.below(characters.count + 1)
        let length = random.below(min(4, characters.count - start) + 1)
        var needle = String(characters[start..<start + length])
        let op = pick(["BEGINSWITH", "ENDSWITH", "CONTAINS", "LIKE"])
        let ignoreCase = random.below(3) == 0
        if ignoreCase { needle = random.below(2) == 0 ? needle.uppercased() : needle.lowercased() }
        if op == "LIKE" {
            needle = pick(["*\(needle)*", "\(needle)*", "*\(needle)", "?\(needle)*", needle])
        }
        let me = self
        let folded = ignoreCase ? needle.lowercased() : needle
        return GeneratedPredicate(
            text: "\(property) \(op)\(ignoreCase ? "[c]" : "") \(Self.literal(.string(needle)))",
            passes: {
                guard case .string(let text) = me.read($0, property) else { return false }
                let text_ = Array((ignoreCase ? text.lowercased() : text).unicodeScalars)
                let part = Array(folded.unicodeScalars)
                switch op {
                case "BEGINSWITH": return text_.starts(with: part)
                case "ENDSWITH": return text_.reversed().starts(with: part.reversed())
                case "CONTAINS":
                    guard text_.count >= part.count else { return false }
                    return (0...(text_.count - part.count)).contains {
                        Array(text_[$0..<$0 + part.count]) == part
                    }
                default: return Self.like(text_[...], part[...])
                }
            })
    }

    private static func like(
        _ text: ArraySlice<Unicode.Scalar>, _ pattern: ArraySlice<Unicode.Scalar>
    ) -> Bool {
        guard let first = pattern.first else { return text.isEmpty }
        if first == "*" {
            return (text.startIndex...text.endIndex).contains {
                like(text[$0...], pattern.dropFirst())
            }
        }
        guard let letter = text.first else { return false }
        return (first == "?" || first == letter) && like(text.dropFirst(), pattern.dropFirst())
    }
}
