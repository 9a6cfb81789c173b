// Foundation's `#Predicate` as a predicate of the engine: the tree of the expression is gone through, and each
// kind of node says what it is. Kinds without a counterpart are an error that names them.

import CoreSwift
public import Foundation

extension RealmCollection {
    /// The elements that satisfy a predicate: `try dogs.filter(#Predicate { $0.age < 2 && $0.owner?.name == "Ann" })`.
    ///
    /// - Throws: `Realm.Error` with the code `invalidInput` for an expression that queries cannot say.
    public func filter(_ predicate: Foundation.Predicate<Element>) throws -> Results<Element> {
        try checkManaged()
        let results = _rlmResults
        var reader = PredicateReader(session: results.source.session)
        reader.names[predicate.variable.key] = .path(.init([.itself]))
        do {
            let found = try results.core.filter(
                try reader.condition(predicate.expression), asFormat: true)
            return Results(found, results.source.session)
        } catch let error as RealmError {
            throw Realm.Error(error)
        }
    }
}

private typealias Condition = CoreSwift.Predicate
private typealias Operand = CoreSwift.Predicate.Operand

private struct PredicateReader {
    let session: _RealmSession
    /// What variables stand for: the object that is asked, what a path leads to, the member in a subquery.
    var names: [PredicateExpressions.VariableID: Operand] = [:]
    private var subqueries = 0

    init(session: _RealmSession) { self.session = session }

    func refuse(_ what: String) -> Realm.Error {
        Realm.Error(.invalidInput, "#Predicate: \(what) cannot be asked in a query")
    }

    private func known(_ node: any PredicateExpression) throws -> any QueryExpression {
        guard let known = node as? any QueryExpression else {
            let kind = "\(type(of: node))".split(separator: "<").first ?? ""
            throw refuse("an expression of the kind \(kind)")
        }
        return known
    }

    mutating func operand(_ node: any PredicateExpression) throws -> Operand {
        try known(node).operand(&self)
    }

    mutating func condition(_ node: any PredicateExpression) throws -> Condition {
        if let constant = (node as? any ConstantExpression)?.constant as? Bool {
            return .always(constant)
        }
        return try known(node).condition(&self)
    }

    func constant(_ value: Any?) throws -> Operand {
        switch try QueryArguments.argument(value ?? NSNull(), session) {
        case .scalar(let value): .value(value)
        case .list(let values): .values(values)
        }
    }

    /// A path; nothing else has properties or members.
    mutating func path(_ node: any PredicateExpression) throws -> CoreSwift.Predicate.Path {
        guard case .path(let path, _) = try operand(node) else {
            throw refuse("a property of '\(type(of: node))'")
        }
        return path
    }

    mutating func members(
        _ sequence: any PredicateExpression, _ variable: PredicateExpressions.VariableID,
        _ test: any PredicateExpression, isNegated: Bool = false
    ) throws -> Operand {
        if sequence is any ConstantExpression {
            throw refuse("a condition on the elements of a constant")
        }
        let collection = try path(sequence)
        subqueries += 1
        let name = "v\(subqueries)"
        names[variable] = .path(.init([.variable(name)]))
        let condition = try condition(test)
        return .matching(collection, as: name, isNegated ? .not(condition) : condition)
    }
}

/// A kind of node that queries know: a value, or a condition.
private protocol QueryExpression {
    func operand(_ reader: inout PredicateReader) throws -> Operand
    func condition(_ reader: inout PredicateReader) throws -> Condition
}

extension QueryExpression {
    fileprivate func operand(_ reader: inout PredicateReader) throws -> Operand {
        throw reader.refuse("a condition as a value")
    }
    /// Values alone are compared with true.
    fileprivate func condition(_ reader: inout PredicateReader) throws -> Condition {
        .compare(try operand(&reader), .equal, .value(.bool(true)))
    }
}

private protocol ConstantExpression {
    var constant: Any { get }
}

private typealias Nodes = PredicateExpressions

extension Nodes.Variable: QueryExpression {
    fileprivate func operand(_ reader: inout PredicateReader) throws -> Operand {
        guard let name = reader.names[key] else { throw reader.refuse("a variable from outside") }
        return name
    }
}

extension Nodes.Value: QueryExpression, ConstantExpression {
    fileprivate func operand(_ reader: inout PredicateReader) throws -> Operand {
        try reader.constant(unwrapped(value))
    }
    fileprivate var constant: Any { value }
}

extension Nodes.NilLiteral: QueryExpression {
    fileprivate func operand(_ reader: inout PredicateReader) throws -> Operand {
        try reader.constant(nil)
    }
}

extension Nodes.KeyPath: QueryExpression {
    fileprivate func operand(_ reader: inout PredicateReader) throws -> Operand {
        if Root.Output.self is ObjectBase.Type {
            var path = try reader.path(root)
            let name = CoreSwift.Predicate.Path.Step.name(KeyPathNames.name(keyPath))
            if case .itself = path.steps[0] { path.steps = [name] } else { path.steps.append(name) }
            return .path(path)
        }
        guard Output.self == Int.self else { throw refused(reader) }
        return try count(&reader)
    }

    fileprivate func condition(_ reader: inout PredicateReader) throws -> Condition {
        if Output.self == Bool.self, !(Root.Output.self is ObjectBase.Type) {
            return .compare(try count(&reader), .equal, .value(.int(0)))
        }
        return .compare(try operand(&reader), .equal, .value(.bool(true)))
    }

    /// How many elements a collection has, or how many of them satisfy a condition.
    private func count(_ reader: inout PredicateReader) throws -> Operand {
        let collection = try reader.operand(root)
        switch collection {
        case .matching: return collection
        case .path(let path, _)
        where Root.Output.self is any _AssignableCollection.Type
            || Root.Output.self is any LinkingObjectsProtocol.Type:
            return .aggregate(path, .count)
        default: throw refused(reader)
        }
    }

    private func refused(_ reader: PredicateReader) -> Realm.Error {
        reader.refuse("a property of '\(Root.Output.self)'")
    }
}

extension Nodes.OptionalFlatMap: QueryExpression {
    fileprivate func operand(_ reader: inout PredicateReader) throws -> Operand {
        reader.names[variable.key] = try reader.operand(wrapped)
        return try reader.operand(transform)
    }
    fileprivate func condition(_ reader: inout PredicateReader) throws -> Condition {
        reader.names[variable.key] = try reader.operand(wrapped)
        return try reader.condition(transform)
    }
}

extension Nodes.ForcedUnwrap: QueryExpression {
    fileprivate func operand(_ reader: inout PredicateReader) throws -> Operand {
        try reader.operand(inner)
    }
}

// MARK: - Conditions

extension Nodes.Conjunction: QueryExpression {
    fileprivate func condition(_ reader: inout PredicateReader) throws -> Condition {
        .all([try reader.condition(lhs), try reader.condition(rhs)])
    }
}

extension Nodes.Disjunction: QueryExpression {
    fileprivate func condition(_ reader: inout PredicateReader) throws -> Condition {
        .any([try reader.condition(lhs), try reader.condition(rhs)])
    }
}

extension Nodes.Negation: QueryExpression {
    fileprivate func condition(_ reader: inout PredicateReader) throws -> Condition {
        .not(try reader.condition(wrapped))
    }
}

extension Nodes.Equal: QueryExpression {
    fileprivate func condition(_ reader: inout PredicateReader) throws -> Condition {
        .compare(try reader.operand(lhs), .equal, try reader.operand(rhs))
    }
}

extension Nodes.NotEqual: QueryExpression {
    fileprivate func condition(_ reader: inout PredicateReader) throws -> Condition {
        .compare(try reader.operand(lhs), .notEqual, try reader.operand(rhs))
    }
}

extension Nodes.Comparison: QueryExpression {
    fileprivate func condition(_ reader: inout PredicateReader) throws -> Condition {
        let comparison: ComparisonOperator =
            switch op {
            case .lessThan: .less
            case .lessThanOrEqual: .lessEqual
            case .greaterThan: .greater
            case .greaterThanOrEqual: .greaterEqual
            @unknown default: throw reader.refuse("the comparison \(op)")
            }
        return .compare(try reader.operand(lhs), comparison, try reader.operand(rhs))
    }
}

// MARK: - Numbers

extension Nodes.Arithmetic: QueryExpression {
    fileprivate func operand(_ reader: inout PredicateReader) throws -> Operand {
        let operation: CoreSwift.Predicate.Operation =
            switch op {
            case .add: .add
            case .subtract: .subtract
            case .multiply: .multiply
            @unknown default: throw reader.refuse("the operation \(op)")
            }
        return .arithmetic(try reader.operand(lhs), operation, try reader.operand(rhs))
    }
}

extension Nodes.UnaryMinus: QueryExpression {
    fileprivate func operand(_ reader: inout PredicateReader) throws -> Operand {
        .negated(try reader.operand(wrapped))
    }
}

extension Nodes.FloatDivision: QueryExpression {
    fileprivate func operand(_ reader: inout PredicateReader) throws -> Operand {
        .arithmetic(try reader.operand(lhs), .divide, try reader.operand(rhs))
    }
}

extension Nodes.NilCoalesce: QueryExpression {
    fileprivate func operand(_ reader: inout PredicateReader) throws -> Operand {
        let value = try reader.operand(lhs)
        return .choose(
            .compare(value, .notEqual, .value(.null)), value, try reader.operand(rhs))
    }
}

// MARK: - Ranges and collections

/// A range whose bounds are expressions.
private protocol RangeNode {
    var bounds: (lower: any PredicateExpression, upper: any PredicateExpression) { get }
    var isClosed: Bool { get }
}

extension Nodes.Range: RangeNode {
    fileprivate var bounds: (lower: any PredicateExpression, upper: any PredicateExpression) {
        (lower, upper)
    }
    fileprivate var isClosed: Bool { false }
}

extension Nodes.ClosedRange: RangeNode {
    fileprivate var bounds: (lower: any PredicateExpression, upper: any PredicateExpression) {
        (lower, upper)
    }
    fileprivate var isClosed: Bool { true }
}

/// A range that is a constant.
private protocol RangeValue {
    var ends: (lower: Any, upper: Any, isClosed: Bool) { get }
}
extension Range: RangeValue {
    fileprivate var ends: (lower: Any, upper: Any, isClosed: Bool) {
        (lowerBound, upperBound, false)
    }
}
extension ClosedRange: RangeValue {
    fileprivate var ends: (lower: Any, upper: Any, isClosed: Bool) {
        (lowerBound, upperBound, true)
    }
}

extension PredicateReader {
    /// Whether a value lies in a range, or nil where that is none.
    fileprivate mutating func inRange(
        _ element: any PredicateExpression, _ range: any PredicateExpression
    ) throws -> Condition? {
        let (low, high, isClosed): (Operand, Operand, Bool)
        if let node = range as? any RangeNode {
            low = try operand(node.bounds.lower)
            high = try operand(node.bounds.upper)
            isClosed = node.isClosed
        } else if let ends = ((range as? any ConstantExpression)?.constant as? any RangeValue)?.ends
        {
            low = try constant(ends.lower)
            high = try constant(ends.upper)
            isClosed = ends.isClosed
        } else {
            return nil
        }
        let value = try operand(element)
        return .all([
            .compare(value, .greaterEqual, low),
            .compare(value, isClosed ? .lessEqual : .less, high),
        ])
    }
}

extension Nodes.RangeExpressionContains: QueryExpression {
    fileprivate func condition(_ reader: inout PredicateReader) throws -> Condition {
        if let condition = try reader.inRange(element, range) { return condition }
        throw reader.refuse("a range of the type '\(RangeExpression.Output.self)'")
    }
}

extension Nodes.SequenceContains: QueryExpression {
    fileprivate func condition(_ reader: inout PredicateReader) throws -> Condition {
        if let condition = try reader.inRange(element, sequence) { return condition }
        return .compare(try reader.operand(element), .inList, try reader.operand(sequence))
    }
}

extension Nodes.CollectionContainsCollection: QueryExpression {
    fileprivate func condition(_ reader: inout PredicateReader) throws -> Condition {
        guard Base.Output.self == String.self else {
            throw reader.refuse("a collection in one of the type '\(Base.Output.self)'")
        }
        return .compare(try reader.operand(base), .contains, try reader.operand(other))
    }
}

extension Nodes.SequenceStartsWith: QueryExpression {
    fileprivate func condition(_ reader: inout PredicateReader) throws -> Condition {
        guard Base.Output.self == String.self else {
            throw reader.refuse("the beginning of a '\(Base.Output.self)'")
        }
        return .compare(try reader.operand(base), .beginsWith, try reader.operand(prefix))
    }
}

extension Nodes.SequenceContainsWhere: QueryExpression {
    fileprivate func condition(_ reader: inout PredicateReader) throws -> Condition {
        .compare(try reader.members(sequence, variable.key, test), .greater, .value(.int(0)))
    }
}

extension Nodes.SequenceAllSatisfy: QueryExpression {
    fileprivate func condition(_ reader: inout PredicateReader) throws -> Condition {
        .compare(
            try reader.members(sequence, variable.key, test, isNegated: true), .equal,
            .value(.int(0)))
    }
}

extension Nodes.Filter: QueryExpression {
    fileprivate func operand(_ reader: inout PredicateReader) throws -> Operand {
        try reader.members(sequence, variable.key, filter)
    }
}

extension Nodes.SequenceMinimum: QueryExpression {
    fileprivate func operand(_ reader: inout PredicateReader) throws -> Operand {
        .aggregate(try reader.path(elements), .minimum)
    }
}

extension Nodes.SequenceMaximum: QueryExpression {
    fileprivate func operand(_ reader: inout PredicateReader) throws -> Operand {
        .aggregate(try reader.path(elements), .maximum)
    }
}
