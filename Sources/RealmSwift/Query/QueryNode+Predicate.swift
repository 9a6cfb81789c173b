// The conditions of `where` blocks as the engine takes them: its own predicates, with no text between.

import CoreSwift
import Foundation

extension QueryNode {
    /// The condition with its values as those of a session's realm.
    func condition(_ session: _RealmSession) throws(RealmError) -> CoreSwift.Predicate {
        var builder = Builder(session: session)
        return try builder.condition(self)
    }

    private struct Builder {
        typealias Predicate = CoreSwift.Predicate

        let session: _RealmSession
        /// Number of the subqueries so far.
        var subqueries = 0
        var element: Element?

        mutating func condition(_ node: QueryNode) throws(RealmError) -> Predicate {
            switch node {
            case .not(.keyPath(let path, let any)):
                return .compare(
                    try operand(.keyPath(path, needsAny: any)), .equal, .value(.bool(false)))
            case .not(let child): return .not(try condition(child))
            case .comparison(let operation, let left, let right, let options):
                return try comparison(operation, left, right, options)
            case .between(let value, let low, let high):
                return .between(try operand(value), try constant(low), try constant(high))
            default: return .compare(try operand(node), .equal, .value(.bool(true)))
            }
        }

        private mutating func comparison(
            _ operation: Operator, _ left: QueryNode, _ right: QueryNode,
            _ options: StringOptions
        ) throws(RealmError) -> Predicate {
            switch operation {
            case .and: return .all([try condition(left), try condition(right)])
            case .or: return .any([try condition(left), try condition(right)])
            default: break
            }
            QueryNode.checkComparable(left, right)
            if operation == .geoWithin, case .keyPath(let names, _) = left,
                case .constant(let shape as any RLMGeospatial) = right
            {
                return .within(path(names).path, shape: shape._rlmQueryText)
            }
            var ignored: ComparisonOptions = []
            if options.contains(.caseInsensitive) { ignored.insert(.ignoreCase) }
            if options.contains(.diacriticInsensitive) { ignored.insert(.ignoreDiacritics) }
            // A value that is among those of a collection needs no ANY.
            return .compare(
                try operand(left), operation.comparison,
                try operand(right, any: operation != .isIn), ignored)
        }

        private mutating func operand(
            _ node: QueryNode, any: Bool = true
        ) throws(RealmError) -> Predicate.Operand {
            switch node {
            case .constant(let value): return try constant(value)
            case .keyPath(let names, let needsAny):
                let (path, aggregate, rest) = path(names)
                if let aggregate { return .aggregate(path, aggregate, of: rest) }
                return .path(path, any && needsAny && element == nil ? .any : .unspecified)
            case .mapSubscript(let map, let key):
                if element != nil { misuse("Subqueries do not support map subscripts.") }
                guard case .path(var path, _) = try operand(map, any: false) else {
                    misuse("Only properties have subscripts in a query.")
                }
                path.steps.append(try step(key))
                return .path(path)
            case .subqueryCount(let condition):
                let element = Element(of: condition, around: self.element, number: subqueries + 1)
                subqueries += 1
                self.element = element
                defer { self.element = nil }
                return .matching(
                    path(element.collection, outside: true).path, as: element.name,
                    try self.condition(condition))
            case .comparison, .between, .not: misuse("A condition is no value in a query.")
            }
        }

        private func step(_ key: Any) throws(RealmError) -> Predicate.Path.Step {
            if key is AnyElement { return .elements }
            switch try QueryArguments.argument(key, session) {
            case .scalar(.int(let index)): return .index(index)
            case .scalar(.string(let key)): return .key(key)
            default: misuse("'\(key)' is no key of a map in a query.")
            }
        }

        private func constant(_ value: Any?) throws(RealmError) -> Predicate.Operand {
            switch try QueryArguments.argument(value ?? NSNull(), session) {
            case .scalar(let value): return .value(value)
            case .list(let values): return .values(values)
            }
        }

        /// Names as steps; words with an @ are what is asked of the values there.
        private func path(
            _ names: [String], outside: Bool = false
        ) -> (path: Predicate.Path, aggregate: Predicate.AggregateFunction?, of: [String]) {
            var path = Predicate.Path([])
            var rest = names[...]
            if !outside, let element {
                rest = element.rest(of: names)
                path.steps.append(.variable(element.name))
            }
            var aggregate: Predicate.AggregateFunction?
            // What is aggregated is a property behind the word.
            var property: [String] = []
            func put(_ name: String) {
                if name.utf8.first != UInt8(ascii: "@") {
                    if aggregate == nil {
                        path.steps.append(.name(name))
                    } else {
                        property.append(name)
                    }
                    return
                }
                switch name {
                case "@count": path.ending = .count
                case "@allKeys": path.steps.append(.keys)
                case "@allValues": path.steps.append(.values)
                case "@min": aggregate = .minimum
                case "@max": aggregate = .maximum
                case "@avg": aggregate = .average
                case "@sum": aggregate = .sum
                default: path.steps.append(.name(name))
                }
            }
            for name in rest {
                // The properties of projections are key paths with points in them.
                if name.utf8.contains(UInt8(ascii: ".")) {
                    for part in name.split(separator: ".") { put(String(part)) }
                } else {
                    put(name)
                }
            }
            if path.steps.isEmpty { path.steps = [.itself] }
            return (path, aggregate, property)
        }
    }
}

extension QueryNode.Operator {
    fileprivate var comparison: ComparisonOperator {
        switch self {
        case .equal, .and, .or, .geoWithin: .equal
        case .notEqual: .notEqual
        case .less: .less
        case .lessEqual: .lessEqual
        case .greater: .greater
        case .greaterEqual: .greaterEqual
        case .isIn: .inList
        case .contains: .contains
        case .beginsWith: .beginsWith
        case .endsWith: .endsWith
        case .like: .like
        case .text: .text
        }
    }
}
