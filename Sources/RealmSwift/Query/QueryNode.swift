// The conditions of `where` blocks as trees, and the format strings that programs can see of them, in
// realm-swift's spelling. What the engine is handed: QueryNode+Predicate.

import Foundation

/// A part of a condition.
indirect enum QueryNode {
    enum Operator: String {
        case and = "&&"
        case or = "||"
        case equal = "=="
        case notEqual = "!="
        case less = "<"
        case lessEqual = "<="
        case greater = ">"
        case greaterEqual = ">="
        case isIn = "IN"
        case contains = "CONTAINS"
        case beginsWith = "BEGINSWITH"
        case endsWith = "ENDSWITH"
        case like = "LIKE"
        case geoWithin = "GEOWITHIN"
        case text = "TEXT"
    }

    case constant(Any?)
    /// Properties from the object on; `needsAny`: a collection is passed on the way.
    case keyPath([String], needsAny: Bool)
    case comparison(Operator, QueryNode, QueryNode, options: StringOptions = [])
    case between(QueryNode, Any, Any)
    case not(QueryNode)
    /// How many elements of a collection satisfy a condition.
    case subqueryCount(QueryNode)
    /// The value of a key of a map.
    case mapSubscript(QueryNode, Any)

    /// A subscript that stands for all elements.
    struct AnyElement {}

    struct Predicate {
        var format = ""
        var arguments: [Any] = []
    }

    /// The condition as a format string.
    func predicate() -> Predicate {
        var writer = Writer()
        writer.writeCondition(self)
        return writer.result
    }

    /// The member that a subquery is about: the collection it comes from, and its name.
    struct Element {
        let collection: [String]
        let name: String

        init(of condition: QueryNode, around: Element?, number: Int) {
            guard let collection = condition.collection, around == nil else {
                misuse("Subqueries must contain a keypath starting with a collection.")
            }
            self.collection = collection
            name = "col\(number)"
        }

        /// What a path from the object adds to that to the collection.
        func rest(of path: [String]) -> ArraySlice<String> {
            guard path.starts(with: collection) else {
                misuse("Subqueries must contain a keypath starting with a collection.")
            }
            return path.dropFirst(collection.count)
        }
    }

    static func checkComparable(_ left: QueryNode, _ right: QueryNode) {
        if left.isCollection, right.isCollection {
            misuse("Comparing two collection columns is not permitted.")
        }
    }

    var isCollection: Bool {
        if case .keyPath(_, let needsAny) = self { needsAny } else { false }
    }

    /// The node with one property more.
    func appending(_ name: String, needsAny any: Bool = false) -> QueryNode {
        switch self {
        case .keyPath(let path, let needsAny): .keyPath(path + [name], needsAny: needsAny || any)
        default: misuse("Only properties have properties in a query.")
        }
    }

    private struct Writer {
        var result = Predicate()
        /// Number of the subqueries so far.
        var subqueries = 0
        var element: Element?

        mutating func put(_ text: String) { result.format += text }

        /// A node that is true or false.
        mutating func writeCondition(_ node: QueryNode) {
            switch node {
            case .keyPath, .mapSubscript:
                write(node, any: true)
                put(" == true")
            case .not(let child):
                if case .keyPath = child {
                    write(child, any: true)
                    put(" == false")
                } else {
                    put("NOT ")
                    writeCondition(child)
                }
            default: write(node, any: true)
            }
        }

        mutating func write(_ node: QueryNode, any: Bool) {
            switch node {
            case .constant(let value):
                put("%@")
                result.arguments.append(value ?? NSNull())
            case .keyPath(let path, let needsAny): writePath(path, any && needsAny)
            case .comparison(let operation, let left, let right, let options):
                writeComparison(operation, left, right, options)
            case .between(let value, let low, let high):
                put("(")
                write(value, any: true)
                put(" BETWEEN {%@, %@})")
                result.arguments += [low, high]
            case .not: writeCondition(node)
            case .subqueryCount(let condition): writeSubquery(condition)
            case .mapSubscript(let map, let key):
                if element != nil { misuse("Subqueries do not support map subscripts.") }
                write(map, any: false)
                if key is AnyElement {
                    put("[%K]")
                    result.arguments.append("#any")
                } else {
                    put("[%@]")
                    result.arguments.append(key)
                }
            }
        }

        mutating func writePath(_ path: [String], _ any: Bool) {
            if let element {
                return put((["$" + element.name] + element.rest(of: path)).joined(separator: "."))
            }
            if any { put("ANY ") }
            put(path.isEmpty ? "SELF" : path.joined(separator: "."))
        }

        mutating func writeComparison(
            _ operation: Operator, _ left: QueryNode, _ right: QueryNode, _ options: StringOptions
        ) {
            put("(")
            switch operation {
            case .and, .or:
                writeCondition(left)
                put(" \(operation.rawValue) ")
                writeCondition(right)
            default:
                QueryNode.checkComparable(left, right)
                // A value that is among those of a collection needs no ANY.
                write(left, any: true)
                put(" \(operation.rawValue)\(options.text) ")
                write(right, any: operation != .isIn)
            }
            put(")")
        }

        mutating func writeSubquery(_ condition: QueryNode) {
            subqueries += 1
            let member = Element(of: condition, around: element, number: subqueries)
            put("SUBQUERY(\(member.collection.joined(separator: ".")), $\(member.name), ")
            element = member
            writeCondition(condition)
            element = nil
            put(").@count")
        }
    }

    /// The collection that the first key path of a condition leads through.
    private var collection: [String]? {
        switch self {
        case .keyPath(let path, let needsAny): needsAny ? path.first.map { [$0] } : nil
        case .comparison(_, let left, let right, _): left.collection ?? right.collection
        case .between(let value, _, _): value.collection
        case .not(let child): child.collection
        default: nil
        }
    }
}
