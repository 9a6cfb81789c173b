// Names: the steps of a path against the classes of the schema (QUERY §3, §15).

/// A path whose names are known.
struct BoundPath {
    /// Range of the binder's `hops`: the links crossed before the last property.
    var hopFirst: Int32 = 0
    var hopCount: Int32 = 0
    /// Place of the last property in the schema.
    var classIndex = 0
    var propertyIndex = 0
    var isComputed = false
    /// What about the path cannot be executed yet; nil when nothing is.
    var unsupported: String?
    /// Whether some step leads to many values.
    var isToMany = false
}

/// SORT and DISTINCT keys with their names found, LIMIT with its syntax node.
struct ResolvedStep {
    var kind: SyntaxSuffix.Kind
    var keys: [(path: BoundPath, descending: Bool)] = []
    var limitNode: Int32 = -1
}

extension Binder {
    // MARK: All names of the query

    mutating func resolveNames() throws(RealmError) {
        if !tree.subqueries.isEmpty { throw notSupported("SUBQUERY") }
        for index in tree.nodes.indices {
            let node = tree.nodes[index]
            switch node.kind {
            case .path, .aggregate:
                if node.kind == .path, let constant = looseBoolean(node) {
                    tree.nodes[index].kind = constant
                    continue
                }
                var path = try resolve(
                    Int(node.a)..<Int(node.a + node.b), spelledFrom: node.start)
                try checkQuantifier(node, path)
                if node.kind == .aggregate { path.unsupported = "an aggregate such as @max" }
                tree.nodes[index].payload = UInt64(paths.count)
                paths.append(path)
            case .function: throw try unsupportedFunction(node)
            default: break
            }
        }
    }

    /// `True` and the like, where no property has that name (X2).
    private func looseBoolean(_ node: SyntaxNode) -> SyntaxKind? {
        guard node.b == 1, node.op == PathEnding.value.rawValue else { return nil }
        let step = tree.steps[Int(node.a)]
        guard step.kind == .name, step.end - step.start <= 5 else { return nil }
        let start = Int(step.start)
        let end = Int(step.end)
        let kind: SyntaxKind
        if text.matches(start, end, ignoringCase: "true")
            || text.matches(start, end, ignoringCase: "yes")
        {
            kind = .keywordTrue
        } else if text.matches(start, end, ignoringCase: "false")
            || text.matches(start, end, ignoringCase: "no")
        {
            kind = .keywordFalse
        } else {
            return nil
        }
        return property(rootClass, start, end) == nil ? kind : nil
    }

    /// A quantifier needs a step to many (Q13).
    private func checkQuantifier(_ node: SyntaxNode, _ path: BoundPath) throws(RealmError) {
        if node.quantifier != .unspecified, !path.isToMany, path.unsupported == nil {
            throw invalidQuery(
                "the quantifier \(node.quantifier.word) needs a collection, "
                    + "'\(spelling(node))' has none")
        }
    }

    private func unsupportedFunction(_ node: SyntaxNode) throws(RealmError) -> RealmError {
        let known: Set<String> = [
            "abs", "ceiling", "floor", "round", "trunc", "sqrt", "exp", "ln", "log", "modulus",
            "add", "subtract", "multiply", "divide", "power", "uppercase", "lowercase", "trim",
            "length", "now", "year", "month", "day", "hour", "minute", "second", "weekday", "min",
            "max", "sum", "average", "count", "ternary", "cast",
        ]
        let name = spelling(node)
        guard known.contains(name.lowercased()) else {
            throw invalidQuery("unknown function '\(name)'")
        }
        return notSupported("the function \(name)()")
    }

    // MARK: One path

    /// Follows the steps from the queried class.
    mutating func resolve(
        _ range: Range<Int>, spelledFrom start: Int32
    ) throws(RealmError) -> BoundPath {
        var path = BoundPath()
        path.hopFirst = Int32(hops.count)
        path.classIndex = rootClass
        var walk = PathWalk(classIndex: rootClass)
        for index in range {
            let step = tree.steps[index]
            switch step.kind {
            case .name:
                try walkName(&walk, &path, Int(step.start), Int(step.end))
            case .keyPathArgument:
                try walkArgument(&walk, &path, step)
            case .backlinks:
                try walkBacklinks(&walk, &path, step)
            case .allLinks:
                path.isToMany = true
                path.unsupported = path.unsupported ?? "@links"
                walk.ended = true
            case .index, .first, .last, .every, .key, .argumentIndex, .keys, .values:
                try walkIndex(&walk, &path, step)
            }
        }
        path.hopCount = Int32(hops.count) - path.hopFirst
        return path
    }

    struct PathWalk {
        /// The class the next name is looked up in.
        var classIndex: Int
        /// A property was taken; `classIndex` is its link's target when it is a link.
        var hasProperty = false
        /// What follows is inside a value that is not executed yet.
        var ended = false
    }

    private mutating func walkName(
        _ walk: inout PathWalk, _ path: inout BoundPath, _ start: Int, _ end: Int
    ) throws(RealmError) {
        if walk.ended { return }
        var escaped = false
        for offset in start..<end where text[offset] == UInt8(ascii: "\\") { escaped = true }
        if escaped {
            let name = Literals.name(text, start, end)
            try name.withUnsafeBufferPointer { bytes throws(RealmError) in
                try take(&walk, &path, bytes)
            }
        } else {
            try take(
                &walk, &path,
                UnsafeBufferPointer(start: text.base + start, count: end - start))
        }
    }

    private mutating func walkArgument(
        _ walk: inout PathWalk, _ path: inout BoundPath, _ step: PathStep
    ) throws(RealmError) {
        let token = text.string(Int(step.start), Int(step.end))
        guard case .scalar(.string(let names)) = try argument(step.index, token) else {
            throw invalidArgument("the key path argument \(token) is not a string")
        }
        for name in names.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        {
            if name.isEmpty {
                throw invalidArgument("the key path argument \(token) '\(names)' is no key path")
            }
            let bytes = Array(name)
            try bytes.withUnsafeBufferPointer { bytes throws(RealmError) in
                try take(&walk, &path, bytes)
            }
        }
    }

    private mutating func take(
        _ walk: inout PathWalk, _ path: inout BoundPath, _ name: UnsafeBufferPointer<UInt8>
    ) throws(RealmError) {
        if walk.ended { return }
        if walk.hasProperty { try enter(&walk, &path, next: name) }
        if walk.ended { return }
        guard let found = property(walk.classIndex, name) else {
            throw invalidQuery(
                "'\(schema.classes[walk.classIndex].name)' has no property "
                    + "'\(String(decoding: name, as: UTF8.self))'")
        }
        path.classIndex = walk.classIndex
        path.propertyIndex = found.index
        path.isComputed = found.isComputed
        walk.hasProperty = true
        if found.isComputed {
            path.isToMany = true
            path.unsupported =
                path.unsupported ?? "the linking objects '\(String(decoding: name, as: UTF8.self))'"
        } else if schema.classes[walk.classIndex].properties[found.index].collection != .none {
            path.isToMany = true
            path.unsupported =
                path.unsupported ?? "the collection '\(String(decoding: name, as: UTF8.self))'"
        }
    }

    /// Crosses the property taken last, because another name follows it.
    private mutating func enter(
        _ walk: inout PathWalk, _ path: inout BoundPath, next: UnsafeBufferPointer<UInt8>
    ) throws(RealmError) {
        let owner = schema.classes[path.classIndex].name
        let property =
            path.isComputed
            ? schema.classes[path.classIndex].computedProperties[path.propertyIndex]
            : schema.classes[path.classIndex].properties[path.propertyIndex]
        switch property.type {
        case .object, .linkingObjects:
            guard
                let target = schema.classes.firstIndex(where: { $0.name == property.linkTarget })
            else { throw invalidQuery("there is no class '\(property.linkTarget)'") }
            if property.type == .object, property.collection == .none {
                hops.append(
                    FilterHop(
                        column: Int32(property.key.column), target: schema.classes[target].key))
            }
            walk.classIndex = target
        case .mixed:
            path.unsupported = path.unsupported ?? "the path into '\(property.name)'"
            walk.ended = true
        default:
            if property.collection == .dictionary
                || (property.collection != .none
                    && text.isLength(next))
            {
                path.unsupported = path.unsupported ?? "the path into '\(property.name)'"
                walk.ended = true
                return
            }
            throw invalidQuery(
                "property '\(owner).\(property.name)' is not a link, "
                    + "'\(String(decoding: next, as: UTF8.self))' cannot follow it")
        }
    }

    private mutating func walkBacklinks(
        _ walk: inout PathWalk, _ path: inout BoundPath, _ step: PathStep
    ) throws(RealmError) {
        let className = text.string(Int(step.start), Int(step.end))
        let name = text.string(Int(step.start2), Int(step.end2))
        if walk.ended { return }
        if walk.hasProperty {
            try enter(
                &walk, &path,
                next: UnsafeBufferPointer(
                    start: text.base + Int(step.start), count: Int(step.end - step.start)))
        }
        let current = schema.classes[walk.classIndex].name
        guard let origin = schema.classes.firstIndex(where: { $0.name == className }),
            let property = schema.classes[origin].property(named: name),
            property.type == .object, property.linkTarget == current
        else {
            throw invalidQuery(
                "no property '\(name)' of class '\(className)' links to class '\(current)'")
        }
        path.isToMany = true
        path.unsupported = path.unsupported ?? "@links.\(className).\(name)"
        walk.classIndex = origin
        walk.hasProperty = false
        walk.ended = true
    }

    private func walkIndex(
        _ walk: inout PathWalk, _ path: inout BoundPath, _ step: PathStep
    ) throws(RealmError) {
        if walk.ended { return }
        let property =
            path.isComputed
            ? schema.classes[path.classIndex].computedProperties[path.propertyIndex]
            : schema.classes[path.classIndex].properties[path.propertyIndex]
        guard walk.hasProperty, property.collection != .none || property.type == .mixed else {
            throw invalidQuery(
                "property '\(schema.classes[path.classIndex].name).\(property.name)' has no index "
                    + "'\(text.string(Int(step.start), Int(step.end)))'")
        }
        path.isToMany = path.isToMany || step.kind == .every
        path.unsupported = path.unsupported ?? "an index into '\(property.name)'"
        walk.ended = true
    }

    // MARK: Look-up

    func property(_ classIndex: Int, _ start: Int, _ end: Int) -> (index: Int, isComputed: Bool)? {
        property(
            classIndex, UnsafeBufferPointer(start: text.base + start, count: end - start))
    }

    /// The property with this internal or public name.
    func property(
        _ classIndex: Int, _ name: UnsafeBufferPointer<UInt8>
    ) -> (index: Int, isComputed: Bool)? {
        for index in schema.classes[classIndex].properties.indices
        where equals(schema.classes[classIndex].properties[index].name, name) {
            return (index, false)
        }
        for index in schema.classes[classIndex].computedProperties.indices
        where equals(schema.classes[classIndex].computedProperties[index].name, name) {
            return (index, true)
        }
        for index in schema.classes[classIndex].properties.indices
        where equals(schema.classes[classIndex].properties[index].publicName, name) {
            return (index, false)
        }
        for index in schema.classes[classIndex].computedProperties.indices
        where equals(schema.classes[classIndex].computedProperties[index].publicName, name) {
            return (index, true)
        }
        return nil
    }

    @inline(__always)
    private func equals(_ string: String, _ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        let utf8 = string.utf8
        guard utf8.count == bytes.count else { return false }
        return utf8.withContiguousStorageIfAvailable {
            TextMatch.equal(UnsafeRawBufferPointer($0), UnsafeRawBufferPointer(bytes))
        } ?? utf8.elementsEqual(bytes)
    }
}

extension QueryText {
    /// Whether a name is `length` in any case of letters (S13).
    func isLength(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
        let word: [UInt8] = Array("length".utf8)
        return name.count == word.count && zip(name, word).allSatisfy { $0 | 0x20 == $1 }
    }
}
