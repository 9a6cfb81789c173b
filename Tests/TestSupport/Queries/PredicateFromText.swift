// A query's text as a predicate that is built without text, so that whatever the rules ask is asked that
// way, too. Nil for texts with something that such predicates do not have: suffixes, constants whose
// meaning depends on their spelling, shapes.

@testable import CoreSwift

struct PredicateFromText {
    private let text: QueryText
    private let tree: SyntaxTree
    private let arguments: [QueryArgument]
    private struct NotSaid: Error {}

    static func predicate(_ query: String, _ arguments: [QueryArgument]) -> Predicate? {
        try? QueryText.with(Array(query.utf8)) { text throws(RealmError) in
            let tree = try Parser.parse(text)
            guard tree.suffixes.isEmpty, tree.root >= 0 else { return nil }
            return try? PredicateFromText(text: text, tree: tree, arguments: arguments)
                .predicate(tree.root)
        }
    }

    private func predicate(_ index: Int32) throws -> Predicate {
        let node = tree[index]
        switch node.kind {
        case .truePredicate: return .always(true)
        case .falsePredicate: return .always(false)
        case .and: return .all(try tree.members(node).map { try predicate($0) })
        case .or: return .any(try tree.members(node).map { try predicate($0) })
        case .not: return .not(try predicate(node.a))
        case .comparison:
            return .compare(
                try operand(node.a), node.comparison, try operand(node.b),
                ComparisonOptions(rawValue: node.options))
        case .between:
            let list = tree[node.b]
            guard list.kind == .list, list.b == 2 else { throw NotSaid() }
            let bounds = try tree.members(list).map { try operand($0) }
            return .between(try operand(node.a), bounds[0], bounds[1])
        case .booleanPath: return .holds(try operand(node.a))
        default: throw NotSaid()
        }
    }

    private func operand(_ index: Int32) throws -> Predicate.Operand {
        let node = tree[index]
        switch node.kind {
        case .path:
            var path = Predicate.Path(try steps(node.range))
            switch node.ending {
            case .size: path.ending = .count
            case .type: path.ending = .type
            default: break
            }
            return .path(path, node.quantifier)
        case .aggregate:
            return .aggregate(
                Predicate.Path(try steps(node.range)), try aggregate(node.op),
                of: try names(node.rest))
        case .subquery:
            let subquery = tree.subqueries[Int(node.a)]
            let variable = String(text.string(subquery.variable).dropFirst())
            return .matching(
                Predicate.Path(try steps(subquery.collection)), as: variable,
                try predicate(subquery.predicate), try aggregate(node.op),
                of: try names(subquery.rest))
        case .function:
            guard node.quantifier == .unspecified else { throw NotSaid() }
            let name = text.string(node)
            let parts = Array(tree.members(node))
            if let first = parts.first, tree[first].kind.isPredicate {
                guard parts.count == 3 else { throw NotSaid() }
                return .choose(try predicate(first), try operand(parts[1]), try operand(parts[2]))
            }
            return .call(name, try parts.map { try operand($0) })
        case .arithmetic:
            return .arithmetic(try operand(node.a), node.operation, try operand(node.b))
        case .negate: return .negated(try operand(node.a))
        case .list: return .values(try tree.members(node).map { try value($0) }, node.quantifier)
        case .argument:
            guard Int(node.payload) < arguments.count else { throw NotSaid() }
            switch arguments[Int(node.payload)] {
            case .list(let values): return .values(values, node.quantifier)
            case .scalar(let value):
                guard node.quantifier == .unspecified else { throw NotSaid() }
                return .value(value)
            }
        default: return .value(try value(index))
        }
    }

    private func aggregate(_ op: UInt8) throws -> Predicate.AggregateFunction {
        switch PathEnding(rawValue: op)! {
        case .size: return .count
        case .minimum: return .minimum
        case .maximum: return .maximum
        case .sum: return .sum
        case .average: return .average
        default: throw NotSaid()
        }
    }

    private func value(_ index: Int32) throws -> Value {
        let node = tree[index]
        switch node.kind {
        case .integer where node.options == 0: return .int(Int64(bitPattern: node.payload))
        case .keywordTrue: return .bool(true)
        case .keywordFalse: return .bool(false)
        case .null: return .null
        case .string:
            return .string(String(decoding: try Literals.bytes(text, node), as: UTF8.self))
        default: throw NotSaid()
        }
    }

    private func names(_ range: Range<Int>) throws -> [String] {
        try steps(range).map {
            guard case .name(let name) = $0 else { throw NotSaid() }
            return name
        }
    }

    private func steps(_ range: Range<Int>) throws -> [Predicate.Path.Step] {
        var result: [Predicate.Path.Step] = []
        var rest = tree.steps[range]
        while let step = rest.popFirst() {
            switch step.kind {
            case .name:
                let name = try self.name(step)
                if result.isEmpty, !step.isEscaped, name == "SELF" {
                    result.append(.itself)
                } else if result.isEmpty, !step.isEscaped, name.hasPrefix("$") {
                    result.append(.variable(String(name.dropFirst())))
                } else {
                    result.append(.name(name))
                }
            case .index: result.append(.index(step.index))
            case .first: result.append(.index(0))
            case .last: result.append(.index(-1))
            case .every: result.append(.elements)
            case .keys: result.append(.keys)
            case .values: result.append(.values)
            case .key:
                guard text.isQuoted(step) else { throw NotSaid() }
                result.append(
                    .key(String(decoding: try Literals.bytes(text, step), as: UTF8.self)))
            case .allLinks:
                guard let origin = rest.popFirst() else {
                    result.append(.allBacklinks)
                    break
                }
                guard origin.kind == .name, let property = rest.popFirst(), property.kind == .name
                else { throw NotSaid() }
                result.append(.backlinks(try name(origin), property: try name(property)))
            case .argumentIndex, .nameIndex, .keyPathArgument: throw NotSaid()
            }
        }
        return result
    }

    private func name(_ step: PathStep) throws -> String {
        let bytes =
            text.isQuoted(step) ? try Literals.bytes(text, step) : Literals.name(text, step)
        return String(decoding: bytes, as: UTF8.self)
    }
}
