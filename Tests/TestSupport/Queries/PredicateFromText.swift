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
        let bytes = Array(query.utf8) + [0]
        return bytes.withUnsafeBufferPointer { buffer in
            let text = QueryText(base: buffer.baseAddress!, count: buffer.count - 1)
            guard let tree = try? Parser.parse(text), tree.suffixes.isEmpty, tree.root >= 0 else {
                return nil
            }
            return try? PredicateFromText(text: text, tree: tree, arguments: arguments)
                .predicate(tree.root)
        }
    }

    private func children(_ node: SyntaxNode) -> ArraySlice<Int32> {
        tree.children[Int(node.a)..<Int(node.a + node.b)]
    }

    private func predicate(_ index: Int32) throws -> Predicate {
        let node = tree.nodes[Int(index)]
        switch node.kind {
        case .truePredicate: return .always(true)
        case .falsePredicate: return .always(false)
        case .and: return .all(try children(node).map { try predicate($0) })
        case .or: return .any(try children(node).map { try predicate($0) })
        case .not: return .not(try predicate(node.a))
        case .comparison:
            return .compare(
                try operand(node.a), ComparisonOperator(rawValue: node.op)!, try operand(node.b),
                ComparisonOptions(rawValue: node.options))
        case .between:
            let list = tree.nodes[Int(node.b)]
            guard list.kind == .list, list.b == 2 else { throw NotSaid() }
            let bounds = try children(list).map { try operand($0) }
            return .between(try operand(node.a), bounds[0], bounds[1])
        case .booleanPath: return .holds(try operand(node.a))
        default: throw NotSaid()
        }
    }

    private func operand(_ index: Int32) throws -> Predicate.Operand {
        let node = tree.nodes[Int(index)]
        switch node.kind {
        case .path:
            var path = Predicate.Path(try steps(node.a, node.b))
            switch PathEnding(rawValue: node.op)! {
            case .size: path.ending = .count
            case .type: path.ending = .type
            default: break
            }
            return .path(path, node.quantifier)
        case .aggregate:
            return .aggregate(
                Predicate.Path(try steps(node.a, node.b)), try aggregate(node.op),
                of: try names(node.a + node.b, node.extra))
        case .subquery:
            let subquery = tree.subqueries[Int(node.a)]
            let variable = text.string(Int(subquery.variableStart) + 1, Int(subquery.variableEnd))
            return .matching(
                Predicate.Path(try steps(subquery.first, subquery.count)), as: variable,
                try predicate(subquery.predicate), try aggregate(node.op),
                of: try names(subquery.restFirst, subquery.restCount))
        case .function:
            guard node.quantifier == .unspecified else { throw NotSaid() }
            let name = text.string(Int(node.start), Int(node.end))
            let parts = Array(children(node))
            if let first = parts.first, tree.nodes[Int(first)].kind.isPredicate {
                guard parts.count == 3 else { throw NotSaid() }
                return .choose(try predicate(first), try operand(parts[1]), try operand(parts[2]))
            }
            return .call(name, try parts.map { try operand($0) })
        case .add: return .arithmetic(try operand(node.a), .add, try operand(node.b))
        case .subtract: return .arithmetic(try operand(node.a), .subtract, try operand(node.b))
        case .multiply: return .arithmetic(try operand(node.a), .multiply, try operand(node.b))
        case .divide: return .arithmetic(try operand(node.a), .divide, try operand(node.b))
        case .negate: return .negated(try operand(node.a))
        case .list: return .values(try children(node).map { try value($0) }, node.quantifier)
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
        let node = tree.nodes[Int(index)]
        switch node.kind {
        case .integer where node.options == 0: return .int(Int64(bitPattern: node.payload))
        case .keywordTrue: return .bool(true)
        case .keywordFalse: return .bool(false)
        case .null: return .null
        case .string:
            return .string(
                String(decoding: try string(node.start, node.end, node.options != 0), as: UTF8.self)
            )
        default: throw NotSaid()
        }
    }

    private func string(_ start: Int32, _ end: Int32, _ hasEscapes: Bool) throws -> [UInt8] {
        var token = Token(.string, Int(start), Int(end))
        token.flag = hasEscapes
        return try Literals.string(text, token)
    }

    private func names(_ first: Int32, _ count: Int32) throws -> [String] {
        try steps(first, count).map {
            guard case .name(let name) = $0 else { throw NotSaid() }
            return name
        }
    }

    private func steps(_ first: Int32, _ count: Int32) throws -> [Predicate.Path.Step] {
        var result: [Predicate.Path.Step] = []
        var rest = tree.steps[Int(first)..<Int(first + count)]
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
                let quote = text[Int(step.start)]
                guard quote == UInt8(ascii: "'") || quote == UInt8(ascii: "\"") else {
                    throw NotSaid()
                }
                result.append(
                    .key(
                        String(decoding: try string(step.start, step.end, step.flag), as: UTF8.self)
                    ))
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
        let first = text[Int(step.start)]
        if first == UInt8(ascii: "'") || first == UInt8(ascii: "\"") {
            return String(decoding: try string(step.start, step.end, step.flag), as: UTF8.self)
        }
        return String(decoding: Literals.name(text, Int(step.start), Int(step.end)), as: UTF8.self)
    }
}
