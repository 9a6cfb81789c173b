// Foundation's `#Predicate` as a condition of the query language: the tree of the expression is gone through, and each
// kind of node writes itself. Kinds without a counterpart are an error that names them.

import CoreSwift
public import Foundation

extension RealmCollection {
    /// The elements that satisfy a predicate: `try dogs.filter(#Predicate { $0.age < 2 && $0.owner?.name == "Ann" })`.
    ///
    /// - Throws: `Realm.Error` with the code `invalidInput` for an expression that queries cannot say.
    public func filter(_ predicate: Foundation.Predicate<Element>) throws -> Results<Element> {
        var writer = PredicateWriter()
        writer.names[predicate.variable.key] = ""
        let text = try writer.condition(predicate.expression)
        let results = _rlmResults
        do throws(RealmError) {
            let found = try PredicateText(text, writer.arguments).filter(results.source)
            return Results(found, results.source.session)
        } catch {
            throw Realm.Error(error)
        }
    }
}

/// Writes the nodes of an expression. Arguments stand in the order in which the text names them.
private struct PredicateWriter {
    var arguments: [Any] = []
    /// What variables stand for: "" the object that is asked, else a path or the name in a SUBQUERY.
    var names: [PredicateExpressions.VariableID: String] = [:]
    private var subqueries = 0

    func refuse(_ what: String) -> Realm.Error {
        Realm.Error(.invalidInput, "#Predicate: \(what) cannot be asked in a query")
    }

    mutating func text(_ node: any PredicateExpression) throws -> String {
        guard let known = node as? any QueryExpression else {
            let kind = "\(type(of: node))".split(separator: "<").first ?? ""
            throw refuse("an expression of the kind \(kind)")
        }
        return try known.text(&self)
    }

    /// A node that is true or false: properties alone are compared with true.
    mutating func condition(_ node: any PredicateExpression) throws -> String {
        if let constant = (node as? any ConstantExpression)?.constant as? Bool {
            return constant ? "TRUEPREDICATE" : "FALSEPREDICATE"
        }
        let written = try text(node)
        return (node as? any QueryExpression)?.isProperty == true ? "\(written) == true" : written
    }

    mutating func argument(_ value: Any?) -> String {
        arguments.append(value ?? NSNull())
        return "%@"
    }

    /// A path with one name more.
    func path(_ base: String, _ name: String) -> String { base.isEmpty ? name : "\(base).\(name)" }

    mutating func subquery(
        _ sequence: any PredicateExpression, _ variable: PredicateExpressions.VariableID,
        _ test: any PredicateExpression, isNegated: Bool = false
    ) throws -> String {
        if sequence is any ConstantExpression {
            throw refuse("a condition on the elements of a constant")
        }
        let collection = try text(sequence)
        subqueries += 1
        let name = "$v\(subqueries)"
        names[variable] = name
        let condition = try condition(test)
        return "SUBQUERY(\(collection), \(name), \(isNegated ? "NOT (\(condition))" : condition))"
    }
}

/// A kind of node that queries know.
private protocol QueryExpression {
    func text(_ writer: inout PredicateWriter) throws -> String
    /// A property, and no condition of its own.
    var isProperty: Bool { get }
}

extension QueryExpression {
    var isProperty: Bool { false }
}

private protocol ConstantExpression {
    var constant: Any { get }
}

private typealias Nodes = PredicateExpressions

extension Nodes.Variable: QueryExpression {
    fileprivate func text(_ writer: inout PredicateWriter) throws -> String {
        guard let name = writer.names[key] else { throw writer.refuse("a variable from outside") }
        return name.isEmpty ? "SELF" : name
    }
    fileprivate var isProperty: Bool { true }
}

extension Nodes.Value: QueryExpression, ConstantExpression {
    fileprivate func text(_ writer: inout PredicateWriter) throws -> String {
        writer.argument(unwrapped(value))
    }
    fileprivate var constant: Any { value }
}

extension Nodes.NilLiteral: QueryExpression {
    fileprivate func text(_ writer: inout PredicateWriter) throws -> String {
        writer.argument(nil)
    }
}

extension Nodes.KeyPath: QueryExpression {
    fileprivate func text(_ writer: inout PredicateWriter) throws -> String {
        var base = try writer.text(root)
        if base == "SELF" { base = "" }
        if Root.Output.self is ObjectBase.Type {
            return writer.path(base, KeyPathNames.name(keyPath))
        }
        // Of collections their number of elements.
        if Root.Output.self is any _AssignableCollection.Type
            || Root.Output.self is any LinkingObjectsProtocol.Type || base.hasPrefix("SUBQUERY")
        {
            if Output.self == Int.self { return writer.path(base, "@count") }
            if Output.self == Bool.self { return "(\(writer.path(base, "@count")) == 0)" }
        }
        throw writer.refuse("a property of '\(Root.Output.self)'")
    }
    fileprivate var isProperty: Bool {
        !(Output.self == Bool.self && !(Root.Output.self is ObjectBase.Type))
    }
}

extension Nodes.OptionalFlatMap: QueryExpression {
    fileprivate func text(_ writer: inout PredicateWriter) throws -> String {
        writer.names[variable.key] = try writer.text(wrapped)
        return try writer.text(transform)
    }
    fileprivate var isProperty: Bool { (transform as? any QueryExpression)?.isProperty ?? false }
}

extension Nodes.ForcedUnwrap: QueryExpression {
    fileprivate func text(_ writer: inout PredicateWriter) throws -> String {
        try writer.text(inner)
    }
    fileprivate var isProperty: Bool { (inner as? any QueryExpression)?.isProperty ?? false }
}

// MARK: - Conditions

extension Nodes.Conjunction: QueryExpression {
    fileprivate func text(_ writer: inout PredicateWriter) throws -> String {
        "(\(try writer.condition(lhs)) AND \(try writer.condition(rhs)))"
    }
}

extension Nodes.Disjunction: QueryExpression {
    fileprivate func text(_ writer: inout PredicateWriter) throws -> String {
        "(\(try writer.condition(lhs)) OR \(try writer.condition(rhs)))"
    }
}

extension Nodes.Negation: QueryExpression {
    fileprivate func text(_ writer: inout PredicateWriter) throws -> String {
        "NOT (\(try writer.condition(wrapped)))"
    }
}

extension Nodes.Equal: QueryExpression {
    fileprivate func text(_ writer: inout PredicateWriter) throws -> String {
        "(\(try writer.text(lhs)) == \(try writer.text(rhs)))"
    }
}

extension Nodes.NotEqual: QueryExpression {
    fileprivate func text(_ writer: inout PredicateWriter) throws -> String {
        "(\(try writer.text(lhs)) != \(try writer.text(rhs)))"
    }
}

extension Nodes.Comparison: QueryExpression {
    fileprivate func text(_ writer: inout PredicateWriter) throws -> String {
        let sign =
            switch op {
            case .lessThan: "<"
            case .lessThanOrEqual: "<="
            case .greaterThan: ">"
            case .greaterThanOrEqual: ">="
            @unknown default: throw writer.refuse("the comparison \(op)")
            }
        return "(\(try writer.text(lhs)) \(sign) \(try writer.text(rhs)))"
    }
}

// MARK: - Numbers

extension Nodes.Arithmetic: QueryExpression {
    fileprivate func text(_ writer: inout PredicateWriter) throws -> String {
        let sign =
            switch op {
            case .add: "+"
            case .subtract: "-"
            case .multiply: "*"
            @unknown default: throw writer.refuse("the operation \(op)")
            }
        return "(\(try writer.text(lhs)) \(sign) \(try writer.text(rhs)))"
    }
}

extension Nodes.UnaryMinus: QueryExpression {
    fileprivate func text(_ writer: inout PredicateWriter) throws -> String {
        "(\(writer.argument(0)) - \(try writer.text(wrapped)))"
    }
}

extension Nodes.FloatDivision: QueryExpression {
    fileprivate func text(_ writer: inout PredicateWriter) throws -> String {
        "(\(try writer.text(lhs)) / \(try writer.text(rhs)))"
    }
}

extension Nodes.NilCoalesce: QueryExpression {
    fileprivate func text(_ writer: inout PredicateWriter) throws -> String {
        let test = "\(try writer.text(lhs)) != \(writer.argument(nil))"
        return "TERNARY(\(test), \(try writer.text(lhs)), \(try writer.text(rhs)))"
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

extension PredicateWriter {
    /// Whether a value lies in a range, or nil where that is none.
    fileprivate mutating func inRange(
        _ element: any PredicateExpression, _ range: any PredicateExpression
    ) throws -> String? {
        if let node = range as? any RangeNode {
            let low = "(\(try text(element)) >= \(try text(node.bounds.lower)) AND "
            let sign = node.isClosed ? "<=" : "<"
            return low + "\(try text(element)) \(sign) \(try text(node.bounds.upper)))"
        }
        guard let ends = ((range as? any ConstantExpression)?.constant as? any RangeValue)?.ends
        else { return nil }
        let low = "(\(try text(element)) >= \(argument(ends.lower)) AND "
        return low + "\(try text(element)) \(ends.isClosed ? "<=" : "<") \(argument(ends.upper)))"
    }
}

extension Nodes.RangeExpressionContains: QueryExpression {
    fileprivate func text(_ writer: inout PredicateWriter) throws -> String {
        if let text = try writer.inRange(element, range) { return text }
        throw writer.refuse("a range of the type '\(RangeExpression.Output.self)'")
    }
}

extension Nodes.SequenceContains: QueryExpression {
    fileprivate func text(_ writer: inout PredicateWriter) throws -> String {
        if let text = try writer.inRange(element, sequence) { return text }
        return "(\(try writer.text(element)) IN \(try writer.text(sequence)))"
    }
}

extension Nodes.CollectionContainsCollection: QueryExpression {
    fileprivate func text(_ writer: inout PredicateWriter) throws -> String {
        guard Base.Output.self == String.self else {
            throw writer.refuse("a collection in one of the type '\(Base.Output.self)'")
        }
        return "(\(try writer.text(base)) CONTAINS \(try writer.text(other)))"
    }
}

extension Nodes.SequenceStartsWith: QueryExpression {
    fileprivate func text(_ writer: inout PredicateWriter) throws -> String {
        guard Base.Output.self == String.self else {
            throw writer.refuse("the beginning of a '\(Base.Output.self)'")
        }
        return "(\(try writer.text(base)) BEGINSWITH \(try writer.text(prefix)))"
    }
}

extension Nodes.SequenceContainsWhere: QueryExpression {
    fileprivate func text(_ writer: inout PredicateWriter) throws -> String {
        "(\(try writer.subquery(sequence, variable.key, test)).@count > 0)"
    }
}

extension Nodes.SequenceAllSatisfy: QueryExpression {
    fileprivate func text(_ writer: inout PredicateWriter) throws -> String {
        "(\(try writer.subquery(sequence, variable.key, test, isNegated: true)).@count == 0)"
    }
}

extension Nodes.Filter: QueryExpression {
    fileprivate func text(_ writer: inout PredicateWriter) throws -> String {
        try writer.subquery(sequence, variable.key, filter)
    }
}

extension Nodes.SequenceMinimum: QueryExpression {
    fileprivate func text(_ writer: inout PredicateWriter) throws -> String {
        writer.path(try writer.text(elements), "@min")
    }
}

extension Nodes.SequenceMaximum: QueryExpression {
    fileprivate func text(_ writer: inout PredicateWriter) throws -> String {
        writer.path(try writer.text(elements), "@max")
    }
}
