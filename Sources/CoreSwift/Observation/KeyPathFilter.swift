// Key path filters: which changes of an object, or of elements, an observer wants to hear of. Paths
// are chains of property names from a class on; `*` is every property of its level. They are kept as
// a tree of steps, of which each says where it leads.

/// Paths from one class on.
package final class KeyPathFilter: Sendable {
    /// One step, and those behind it.
    struct Step: Sendable {
        enum Kind: Hashable, Sendable {
            /// A stored property; links lead to `target`.
            case stored
            /// The objects of `target` that link here through `origin`.
            case computed(origin: PropertyKey)
        }

        /// The property of the class that the step starts from; may be a computed one.
        let property: PropertyKey
        let kind: Kind
        /// `.invalid` behind what is no link.
        let target: ClassKey
        var next: [Step]
    }

    package let classKey: ClassKey
    let steps: [Step]
    /// Equal for filters that select the same.
    let spelling: String

    /// Selects nothing that has a path.
    var isEmpty: Bool { steps.isEmpty }

    /// More steps than any program means; wildcards multiply.
    private static let stepsMax = 100_000

    /// Throws `.noSuchTable`, and `.invalidArgument` for paths that lead nowhere.
    package init(
        _ schema: Schema, _ classKey: ClassKey, paths: [String]
    ) throws(RealmError) {
        guard let start = schema.class_(classKey) else {
            throw RealmError(.noSuchTable, "there is no class with key \(classKey)")
        }
        self.classKey = classKey
        var steps: [Step] = []
        var count = 0
        for path in paths {
            let parts = path.utf8.split(
                separator: UInt8(ascii: "."), omittingEmptySubsequences: false
            ).map { String(Substring($0)) }
            var resolver = Resolver(schema: schema, path: path, count: count)
            guard let found = try resolver.steps(start, parts[...], isStrict: true) else {
                throw RealmError(
                    .invalidArgument, "key path '\(path)' matches nothing in \(start.shownName)")
            }
            count = resolver.count
            Self.merge(found, into: &steps)
        }
        self.steps = steps
        spelling = "\(classKey)" + Self.spelled(steps)
    }

    private static func merge(_ more: [Step], into steps: inout [Step]) {
        for step in more {
            if let index = steps.firstIndex(where: { $0.property == step.property }) {
                merge(step.next, into: &steps[index].next)
            } else {
                steps.append(step)
            }
        }
    }

    private static func spelled(_ steps: [Step]) -> String {
        if steps.isEmpty { return "" }
        let sorted = steps.sortedFew { $0.property.rawValue < $1.property.rawValue }
        return "(" + sorted.map { "\($0.property)" + spelled($0.next) }.joined(separator: ",") + ")"
    }

    private struct Resolver {
        let schema: Schema
        let path: String
        var count: Int

        private func refused(_ reason: String) -> RealmError {
            RealmError(.invalidArgument, "key path '\(path)': \(reason)")
        }

        /// The steps that the parts are from a class on; nil when none match. `isStrict`: no
        /// wildcard came before, so that a mistake is one.
        mutating func steps(
            _ item: ClassSchema, _ parts: ArraySlice<String>, isStrict: Bool
        ) throws(RealmError) -> [Step]? {
            guard let name = parts.first else { return [] }
            if name.isEmpty { throw refused("a name is missing") }
            let rest = parts.dropFirst()
            if name == "*" {
                var found: [Step] = []
                for property in item.allProperties {
                    if let step = try step(item, property, rest, isStrict: false) {
                        found.append(step)
                    }
                }
                return found.isEmpty ? nil : found
            }
            guard let property = item.allProperties.first(where: { $0.shownName == name }) else {
                if isStrict { throw refused("\(item.shownName) has no property '\(name)'") }
                return nil
            }
            guard let step = try step(item, property, rest, isStrict: isStrict) else { return nil }
            return [step]
        }

        private mutating func step(
            _ item: ClassSchema, _ property: PropertySchema, _ rest: ArraySlice<String>,
            isStrict: Bool
        ) throws(RealmError) -> Step? {
            count += 1
            guard count <= KeyPathFilter.stepsMax else {
                throw RealmError(
                    .limitExceeded,
                    "key path '\(path)': the wildcards match more than "
                        + "\(KeyPathFilter.stepsMax) properties")
            }
            guard property.type == .object || property.isComputed else {
                // Wildcards at the end match what is there, however deep that is.
                guard rest.isEmpty || (!isStrict && rest.allSatisfy { $0 == "*" }) else {
                    if isStrict {
                        throw refused("'\(property.shownName)' is no link, nothing is behind it")
                    }
                    return nil
                }
                return Step(
                    property: property.key, kind: .stored, target: .invalid, next: [])
            }
            guard let target = schema.class_(named: property.linkTarget) else {
                throw refused("class '\(property.linkTarget)' is not shown")
            }
            var kind = Step.Kind.stored
            if property.isComputed {
                guard let origin = target.property(named: property.linkOrigin) else {
                    throw refused(
                        "\(target.shownName) has no property '\(property.linkOrigin)'")
                }
                kind = .computed(origin: origin.key)
            }
            guard let next = try steps(target, rest, isStrict: isStrict) else { return nil }
            return Step(property: property.key, kind: kind, target: target.key, next: next)
        }
    }
}
