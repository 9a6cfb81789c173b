// Conditions without text, as bindings have made arrays of parts of them. An extension.

import CRealm
import CoreSwift

/// Makes a predicate of parts, each of which takes what it needs of those before it.
private struct PredicateReader {
    private enum Item {
        case condition(Predicate), operand(Predicate.Operand), step(Predicate.Path.Step)
        /// Behind the steps of a path.
        case ending(Predicate.Path.Ending)
    }

    private let arguments: [QueryArgument]
    private var items: [Item] = []
    /// By item, how deep its parts stand in one another.
    private var depths: [Int] = []
    private var place = 0
    private var depth = 0

    /// So deep may parts stand in one another: the engine goes through them by recursion.
    private static let depthMax = 500

    static func predicate(
        _ parts: UnsafePointer<realm_predicate_part_t>?, _ count: Int,
        _ arguments: [QueryArgument]
    ) throws(RealmError) -> Predicate {
        guard let parts, count > 0 else {
            throw RealmError(.invalidArgument, "parts must not be NULL or none")
        }
        var reader = PredicateReader(arguments: arguments)
        while reader.place < count {
            reader.depth = 0
            let item = try reader.item(parts[reader.place])
            guard reader.depth < depthMax else {
                throw reader.refused("stands more than \(depthMax) deep in others")
            }
            reader.items.append(item)
            reader.depths.append(reader.depth + 1)
            reader.place += 1
        }
        reader.place -= 1
        let predicate = try reader.condition()
        guard reader.items.isEmpty else {
            throw reader.refused(
                "is the last one, and \(reader.items.count) before it are taken by none")
        }
        return predicate
    }

    private init(arguments: [QueryArgument]) { self.arguments = arguments }

    private func refused(_ problem: String) -> RealmError {
        RealmError(.invalidArgument, "part \(place) of the predicate \(problem)")
    }

    private mutating func item(_ part: realm_predicate_part_t) throws(RealmError) -> Item {
        switch realm_predicate_kind_e(rawValue: part.kind) {
        case RLM_PREDICATE_ALWAYS: return .condition(.always(part.number != 0))
        case RLM_PREDICATE_ALL: return .condition(.all(try conditions(part)))
        case RLM_PREDICATE_ANY: return .condition(.any(try conditions(part)))
        case RLM_PREDICATE_NOT: return .condition(.not(try condition()))
        case RLM_PREDICATE_COMPARE:
            guard let code = UInt8(exactly: part.detail),
                let op = ComparisonOperator(rawValue: code),
                part.options <= RLM_IGNORE_CASE.rawValue | RLM_IGNORE_DIACRITICS.rawValue
            else { throw refused("has an unknown operator or option") }
            let right = try operand()
            let options = ComparisonOptions(rawValue: UInt8(part.options))
            return .condition(.compare(try operand(), op, right, options))
        case RLM_PREDICATE_BETWEEN:
            let high = try operand()
            let low = try operand()
            return .condition(.between(try operand(), low, high))
        case RLM_PREDICATE_HOLDS: return .condition(.holds(try operand()))
        case RLM_PREDICATE_WITHIN: return .condition(.within(try path(), shape: try name(part)))
        case RLM_PREDICATE_ARGUMENT: return .operand(try argument(part))
        case RLM_PREDICATE_PATH:
            return .operand(.path(try steps(part), try quantifier(part)))
        case RLM_PREDICATE_AGGREGATE:
            let names = try names(part)
            return .operand(.aggregate(try path(), try function(part), of: names))
        case RLM_PREDICATE_MATCHING:
            let names = try names(part)
            let test = try condition()
            return .operand(
                .matching(try path(), as: try name(part), test, try function(part), of: names))
        case RLM_PREDICATE_CALL:
            let operands = try several(part) { reader throws(RealmError) in
                try reader.operand()
            }
            return .operand(.call(try name(part), operands))
        case RLM_PREDICATE_CHOOSE:
            let second = try operand()
            let first = try operand()
            return .operand(.choose(try condition(), first, second))
        case RLM_PREDICATE_ARITHMETIC:
            let right = try operand()
            return .operand(.arithmetic(try operand(), try operation(part), right))
        case RLM_PREDICATE_NEGATE: return .operand(.negated(try operand()))
        case RLM_PREDICATE_NAME: return .step(.name(try name(part)))
        case RLM_PREDICATE_INDEX: return .step(.index(part.number))
        case RLM_PREDICATE_KEY: return .step(.key(try name(part)))
        case RLM_PREDICATE_ELEMENTS: return .step(.elements)
        case RLM_PREDICATE_KEYS: return .step(.keys)
        case RLM_PREDICATE_VALUES: return .step(.values)
        case RLM_PREDICATE_BACKLINKS:
            return .step(.backlinks(try name(part), property: try stepName()))
        case RLM_PREDICATE_ALL_BACKLINKS: return .step(.allBacklinks)
        case RLM_PREDICATE_VARIABLE: return .step(.variable(try name(part)))
        case RLM_PREDICATE_SELF: return .step(.itself)
        case RLM_PREDICATE_COUNT_OF: return .ending(.count)
        case RLM_PREDICATE_TYPE_OF: return .ending(.type)
        default: throw refused("is of no kind that is known")
        }
    }

    // MARK: What parts take

    private mutating func take() -> Item? {
        guard let item = items.popLast(), let depth = depths.popLast() else { return nil }
        self.depth = max(self.depth, depth)
        return item
    }

    private mutating func condition() throws(RealmError) -> Predicate {
        guard case .condition(let condition)? = take() else { throw refused("lacks a condition") }
        return condition
    }

    private mutating func operand() throws(RealmError) -> Predicate.Operand {
        guard case .operand(let operand)? = take() else { throw refused("lacks an operand") }
        return operand
    }

    private mutating func path() throws(RealmError) -> Predicate.Path {
        guard case .path(let path, .unspecified) = try operand() else {
            throw refused("takes a path without a quantifier")
        }
        return path
    }

    private mutating func stepName() throws(RealmError) -> String {
        guard case .step(.name(let name))? = take() else { throw refused("lacks a name") }
        return name
    }

    private mutating func several<T>(
        _ part: realm_predicate_part_t, _ one: (inout PredicateReader) throws(RealmError) -> T
    ) throws(RealmError) -> [T] {
        guard part.count >= 0, part.count <= items.count else {
            throw refused(
                "takes \(UInt(bitPattern: part.count)) parts, of which there are \(items.count)")
        }
        var taken: [T] = []
        for _ in 0..<part.count { taken.append(try one(&self)) }
        return taken.reversed()
    }

    private mutating func conditions(
        _ part: realm_predicate_part_t
    ) throws(RealmError) -> [Predicate] {
        try several(part) { reader throws(RealmError) in try reader.condition() }
    }

    private mutating func names(_ part: realm_predicate_part_t) throws(RealmError) -> [String] {
        try several(part) { reader throws(RealmError) in try reader.stepName() }
    }

    private mutating func steps(_ part: realm_predicate_part_t) throws(RealmError) -> Predicate.Path
    {
        var ending = Predicate.Path.Ending.value
        var part = part
        if case .ending(let given)? = items.last, part.count > 0 {
            _ = take()
            ending = given
            part.count -= 1
        }
        let steps = try several(part) { reader throws(RealmError) -> Predicate.Path.Step in
            guard case .step(let step)? = reader.take() else {
                throw reader.refused("lacks a step")
            }
            return step
        }
        return Predicate.Path(steps, ending)
    }

    // MARK: What parts say

    private func name(_ part: realm_predicate_part_t) throws(RealmError) -> String {
        let (start, count) = (part.name.data, part.name.size)
        guard count >= 0, start != nil || count == 0,
            let name = String(
                validating: UnsafeRawBufferPointer(start: start, count: count), as: UTF8.self)
        else { throw refused("has a name that is not UTF-8 text") }
        return name
    }

    private func argument(_ part: realm_predicate_part_t) throws(RealmError) -> Predicate.Operand {
        guard let index = Int(exactly: part.number), arguments.indices.contains(index) else {
            throw RealmError(
                .invalidQueryArg,
                "part \(place) of the predicate is argument \(part.number) of \(arguments.count)")
        }
        switch arguments[index] {
        case .scalar(let value): return .value(value)
        case .list(let values): return .values(values, try quantifier(part))
        }
    }

    private func quantifier(_ part: realm_predicate_part_t) throws(RealmError) -> Quantifier {
        guard let code = UInt8(exactly: part.detail), let known = Quantifier(rawValue: code) else {
            throw refused("has an unknown quantifier")
        }
        return known
    }

    private func function(
        _ part: realm_predicate_part_t
    ) throws(RealmError) -> Predicate.AggregateFunction {
        switch realm_predicate_function_e(rawValue: part.detail) {
        case RLM_FUNCTION_COUNT: return .count
        case RLM_FUNCTION_MINIMUM: return .minimum
        case RLM_FUNCTION_MAXIMUM: return .maximum
        case RLM_FUNCTION_SUM: return .sum
        case RLM_FUNCTION_AVERAGE: return .average
        default: throw refused("has an unknown function")
        }
    }

    private func operation(_ part: realm_predicate_part_t) throws(RealmError) -> Predicate.Operation
    {
        switch part.number {
        case Int64(UInt8(ascii: "+")): return .add
        case Int64(UInt8(ascii: "-")): return .subtract
        case Int64(UInt8(ascii: "*")): return .multiply
        case Int64(UInt8(ascii: "/")): return .divide
        default: throw refused("has an unknown operation")
        }
    }
}

/// As `realm_results_refine()` for a condition that was built without text: nothing is parsed, and names
/// need no quotes. `parts` stand each behind what they take, the last one is the condition.
/// Results over values call the value RLM_PREDICATE_SELF. Fails: RLM_ERR_INVALID_ARGUMENT for parts
/// that are no condition, RLM_ERR_INVALID_QUERY_ARG for a missing argument, RLM_ERR_STALE_ACCESSOR,
/// otherwise as `realm_query_parse()`.
@c @implementation
public func realm_results_refine_predicate(
    _ results: OpaquePointer?, _ parts: UnsafePointer<realm_predicate_part_t>?, _ num_parts: Int,
    _ num_args: Int, _ args: UnsafePointer<realm_query_arg_t>?
) -> OpaquePointer? {
    boundary(nil) { () throws(RealmError) in
        let predicate = try PredicateReader.predicate(
            parts, num_parts, try queryArguments(num_args, args))
        return makeHandle(.results, try anyResultsHeld(results).filter(predicate))
    }
}
