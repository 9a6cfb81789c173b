// Names: the steps of a path against the classes of the schema (QUERY_RULES N, I, D).

/// A path whose names are known.
struct BoundPath {
    /// For execution on its own; its `slot` is where it starts.
    var path = ExpressionPath()
    /// Place of the last property in the schema; -1: the path ends in no property.
    var classIndex = -1
    var propertyIndex = 0
    /// Only to-one links before a stored property that is no collection, from the object at hand:
    /// what runs on columns.
    var isPlain = false
    /// What stands behind the steps.
    var ending = PathEnding.value
    /// `@type` of a property that is not mixed: its types.
    var types: UInt64 = 0

    var isSingle: Bool { path.shape == .single }
}

/// A key of SORT or DISTINCT whose names are found.
struct ResolvedKey {
    var path: BoundPath
    var descending: Bool
    var text: String
    /// Bytes of the text.
    var place: (start: Int32, end: Int32)
}

/// The place that a path has got to.
struct PathWalk {
    enum State {
        /// Nothing was taken.
        case start
        /// At objects of `classIndex`.
        case object
        /// A property was taken and not entered: `property`, or the links of `origin`.
        case property
        /// Behind `@links`, and behind the name of a class that follows it.
        case allLinks, linkingClass
        /// At values that only a measure may follow.
        case values
        /// At mixed values.
        case mixed
    }
    var state = State.start
    /// The class of the objects at hand.
    var classIndex: Int
    var bound = BoundPath()
    var isBacklinks = false
    /// The name of a class behind `@links`.
    var linkingClass = ""
    /// The class whose `originColumn` links here.
    var origin = 0
    var originColumn: Int32 = -1
    /// The scope whose names come first.
    var scope: Int32
    /// Elements of a collection that stand for a step of their own were crossed: `[*]` and keys.
    var spreads = false
    /// The last step into mixed values spreads.
    var endsSpread = false
    /// The name at hand was written behind `#`: it is a property's, not a variable's.
    var isEscaped = false
    /// Canonical text, if it is wanted.
    var text = ""

    /// Ends with something of the objects at hand.
    mutating func take(
        _ value: PathValue, _ kind: OperandKind, column: Int32 = -1,
        target: ClassKey = .invalid
    ) {
        bound.path.value = value
        bound.path.kind = kind
        bound.path.column = column
        bound.path.target = target
    }
}

/// What follows a property.
enum PathFollower {
    case name(UnsafeBufferPointer<UInt8>)
    case index(Int64)
    case key(FilterText)
    case every, keys, values, backlinks
}

extension Binder {
    // MARK: All names of the query

    mutating func resolveNames() throws(RealmError) {
        if !tree.subqueries.isEmpty { openScopes() }
        for index in tree.nodes.indices {
            if !tree.subqueries.isEmpty { try enterScopes(at: Int32(index)) }
            let node = tree.nodes[index]
            reading = (node.start, node.end)
            switch node.kind {
            case .path:
                if let truth = looseBoolean(node, scope(Int32(index))) {
                    bound[index].meaning = .truth(truth)
                    continue
                }
                let path = try resolvePath(node, Int32(index))
                if paths.isEmpty { paths.reserveCapacity(2) }
                bound[index].meaning = .path(paths.add(path))
                if recordsTexts { nodeTexts[index].text = texts.removeLast() }
            case .aggregate: try resolveAggregate(index)
            case .subquery: try resolveSubqueryResult(index)
            case .function: try resolveFunction(index)
            default: break
            }
        }
    }

    private mutating func resolvePath(
        _ node: SyntaxNode, _ index: Int32
    ) throws(RealmError) -> BoundPath {
        do throws(RealmError) {
            let path = try resolve(node.range, scope(index), node.ending)
            reading = (node.start, node.end)
            try checkQuantifier(node, path)
            return path
        } catch {
            guard error.code == .invalidQuery,
                tree.nodes.contains(where: { $0.kind == .booleanPath && $0.a == index })
            else { throw error }
            let problem = error.message.dropFirst(invalidQuery("").message.count)
            throw text.syntaxError(at: Int(node.start), "\(standsAlone(node)); \(problem)")
        }
    }

    /// A path without an operator is a sentence of the grammar only where it is a Boolean.
    func standsAlone(_ node: SyntaxNode) -> String {
        "'\(spelling(node))' stands alone, where a comparison or a Boolean is expected"
    }

    /// `True` and the like, where no property has that name (X2).
    private func looseBoolean(_ node: SyntaxNode, _ scope: Int32) -> Bool? {
        let step = tree.steps[node.range.lowerBound]
        guard node.b == 1, node.ending == .value, step.kind == .name, !step.isEscaped,
            let truth = text.truth(step)
        else { return nil }
        return visibleProperty(text.bytes(step), from: scope) == nil ? truth : nil
    }

    /// A quantifier needs a step to many (Q13).
    private func checkQuantifier(_ node: SyntaxNode, _ path: BoundPath) throws(RealmError) {
        if node.quantifier != .unspecified, path.isSingle {
            throw invalidQuery(
                "the quantifier \(node.quantifier.word) needs a collection, "
                    + "'\(spelling(node))' has none")
        }
    }

    // MARK: One path

    /// Follows the steps from the objects of a scope. Texts of keys are put among the filter's.
    mutating func resolve(
        _ range: Range<Int>, _ scope: Int32, _ ending: PathEnding
    ) throws(RealmError) -> BoundPath {
        var walk = PathWalk(classIndex: scopes[Int(scope)].classIndex, scope: scope)
        return try resolve(range, &walk, ending)
    }

    mutating func resolve(
        _ range: Range<Int>, _ walk: inout PathWalk, _ ending: PathEnding
    ) throws(RealmError) -> BoundPath {
        walk.bound.path.first = Int32(truncatingIfNeeded: filter.expressions.steps.count)
        walk.bound.path.slot = scopes[Int(walk.scope)].slot
        var ending = ending
        for index in range { try take(&walk, tree.steps[index], &ending) }
        try finish(&walk, ending)
        if recordsTexts { texts.append(walk.text) }
        return walk.bound
    }

    private mutating func take(
        _ walk: inout PathWalk, _ step: PathStep, _ ending: inout PathEnding
    ) throws(RealmError) {
        reading = (step.start, step.end)
        switch step.kind {
        case .name:
            walk.isEscaped = step.isEscaped
            try takeName(&walk, step)
            walk.isEscaped = false
        case .keyPathArgument: try takeArgument(&walk, step, &ending)
        case .allLinks: try takeLinks(&walk)
        case .index: try take(&walk, .index(step.index), "\(step.index)")
        case .first: try take(&walk, .index(0), "FIRST")
        case .last: try take(&walk, .index(-1), "LAST")
        case .every: try take(&walk, .every, "*")
        case .keys: try take(&walk, .keys)
        case .values: try take(&walk, .values)
        case .key: try take(&walk, key: try Literals.bytes(text, step))
        case .argumentIndex, .nameIndex:
            let token = text.string(step)
            switch try argument(step.index, token) {
            case .scalar(.string("#any")) where step.kind == .nameIndex:
                try take(&walk, .every, "*")
            case .scalar(.int(let value)) where step.kind == .argumentIndex:
                try take(&walk, .index(value), "\(value)")
            case .scalar(.string(let value)): try take(&walk, key: Array(value.utf8))
            default: throw invalidQuery("the index \(token) must be an int or a string")
            }
        }
    }

    /// Goes on with what stands between brackets.
    private mutating func take(
        _ walk: inout PathWalk, _ next: PathFollower, _ written: @autoclosure () -> String
    ) throws(RealmError) {
        if recordsTexts { walk.text += "[" + written() + "]" }
        try follow(&walk, next)
    }

    private mutating func take(_ walk: inout PathWalk, key: [UInt8]) throws(RealmError) {
        try take(&walk, .key(filter.addText(key)), CanonicalText.key(key))
    }

    /// Goes on with `@keys` or `@values`.
    private mutating func take(
        _ walk: inout PathWalk, _ next: PathFollower
    ) throws(RealmError) {
        note(&walk, spelled(next))
        try follow(&walk, next)
    }

    private mutating func takeName(
        _ walk: inout PathWalk, _ step: PathStep
    ) throws(RealmError) {
        let spelled = text.bytes(step)
        let isQuoted = text.isQuoted(step)
        guard isQuoted || spelled.contains(UInt8(ascii: "\\")) else {
            return try takeName(&walk, spelled)
        }
        let name = isQuoted ? try Literals.bytes(text, step) : Literals.name(text, step)
        try name.withUnsafeBufferPointer { bytes throws(RealmError) in
            try takeName(&walk, bytes)
        }
    }

    /// `$Kn` and `%K`: names joined by points, also words such as `@count` at the end.
    private mutating func takeArgument(
        _ walk: inout PathWalk, _ step: PathStep, _ ending: inout PathEnding
    ) throws(RealmError) {
        let token = text.string(step)
        guard case .scalar(.string(let names)) = try argument(step.index, token) else {
            throw invalidArgument("the key path argument \(token) is not a string")
        }
        for name in names.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        {
            let mayEnd = ending == .value && name.endIndex == names.utf8.endIndex
            switch String(Substring(name)) {
            case "":
                throw invalidArgument("the key path argument \(token) '\(names)' is no key path")
            case "@links": try takeLinks(&walk)
            case "@keys", "@allKeys": try take(&walk, .keys)
            case "@values", "@allValues": try take(&walk, .values)
            case "@count" where mayEnd, "@size" where mayEnd: ending = .size
            case "@type" where mayEnd: ending = .type
            default:
                try Array(name).withUnsafeBufferPointer { bytes throws(RealmError) in
                    try takeName(&walk, bytes)
                }
            }
        }
    }

    private mutating func takeLinks(_ walk: inout PathWalk) throws(RealmError) {
        try enterObject(&walk, .backlinks)
        walk.state = .allLinks
        note(&walk, "@links")
    }

    /// The property behind `@links` and a class (by either of its names): a link to objects of the
    /// class at hand.
    private mutating func takeBacklinks(
        _ walk: inout PathWalk, _ name: UnsafeBufferPointer<UInt8>
    ) throws(RealmError) {
        let current = schema.classes[walk.classIndex]
        guard let origin = schema.classIndex(called: walk.linkingClass),
            let found = property(origin, name), !found.isComputed,
            schema.classes[origin].properties[found.index].type == .object,
            schema.classes[origin].properties[found.index].linkTarget == current.name
        else {
            let owner = schema.classIndex(called: walk.linkingClass).map { shownName($0) }
            throw invalidQuery(
                "no property '\(String(decoding: name, as: UTF8.self))' of class "
                    + "'\(owner ?? walk.linkingClass)' links to class '\(current.shownName)'")
        }
        let link = schema.classes[origin].properties[found.index]
        note(&walk, name: schema.classes[origin].name)
        note(&walk, name: link.name)
        walk.state = .property
        walk.isBacklinks = true
        walk.origin = origin
        walk.originColumn = Int32(link.key.column)
        walk.bound.classIndex = -1
    }

    func shownName(_ classIndex: Int) -> String { schema.classes[classIndex].shownName }

    // MARK: Names

    mutating func takeName(
        _ walk: inout PathWalk, _ name: UnsafeBufferPointer<UInt8>
    ) throws(RealmError) {
        switch walk.state {
        case .start: return try takeHead(&walk, name)
        case .allLinks:
            walk.linkingClass = String(decoding: name, as: UTF8.self)
            walk.state = .linkingClass
            return
        case .linkingClass: return try takeBacklinks(&walk, name)
        default: break
        }
        if walk.state != .object {
            if try follow(&walk, .name(name)) { return }
        }
        guard let found = property(walk.classIndex, name) else {
            throw unknown(walk.classIndex, name)
        }
        setProperty(&walk, found)
    }

    func unknown(_ classIndex: Int, _ name: UnsafeBufferPointer<UInt8>) -> RealmError {
        let spelled = String(decoding: name, as: UTF8.self)
        var problem = "'\(shownName(classIndex))' has no property '\(spelled)'"
        if let near = NearestName.of(spelled, in: schema.classes[classIndex]) {
            problem += " (did you mean '\(near)'?)"
        }
        return invalidQuery(problem)
    }

    mutating func setProperty(
        _ walk: inout PathWalk, _ found: (index: Int, isComputed: Bool)
    ) {
        let owner = schema.classes[walk.classIndex]
        walk.state = .property
        walk.isBacklinks = found.isComputed
        if found.isComputed {
            let property = owner.computedProperties[found.index]
            note(&walk, name: property.name)
            walk.bound.classIndex = -1
            walk.origin =
                schema.classes.firstIndex { $0.name == property.linkTarget } ?? walk.classIndex
            let origin = schema.classes[walk.origin]
            walk.originColumn = Int32(
                origin.properties.first { $0.name == property.linkOrigin }?.key.column ?? -1)
        } else {
            note(&walk, name: owner.properties[found.index].name)
            walk.bound.classIndex = walk.classIndex
            walk.bound.propertyIndex = found.index
        }
    }

    /// Comes to objects from whatever was taken last, because a word such as `@links` follows.
    private mutating func enterObject(
        _ walk: inout PathWalk, _ next: PathFollower
    ) throws(RealmError) {
        if walk.state == .start {
            guard walk.classIndex >= 0 else {
                throw invalidQuery("@links needs an object, the members are values")
            }
            walk.state = .object
        } else if walk.state != .object {
            _ = try follow(&walk, next)
        }
    }

    // MARK: Look-up

    /// The property that a path ends in.
    func property(_ bound: BoundPath) -> PropertySchema? {
        bound.classIndex < 0
            ? nil : schema.classes[bound.classIndex].properties[bound.propertyIndex]
    }

    /// The same with its class, for messages.
    func named(_ bound: BoundPath) -> String {
        "\(shownName(bound.classIndex)).\(property(bound)?.name ?? "")"
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

    // MARK: Canonical text

    private func note(_ walk: inout PathWalk, _ name: String) {
        guard recordsTexts else { return }
        walk.text += walk.text.isEmpty ? name : "." + name
    }
    /// The name of a property or class.
    func note(_ walk: inout PathWalk, name: String) {
        if recordsTexts { note(&walk, CanonicalText.name(name)) }
    }
    /// The key of a dictionary, written as a name or between brackets.
    func noteName(_ walk: inout PathWalk, _ name: UnsafeBufferPointer<UInt8>) {
        guard recordsTexts else { return }
        let spelled = String(decoding: name, as: UTF8.self)
        let written = CanonicalText.name(spelled)
        if written.utf8.first == UInt8(ascii: "#") {
            walk.text += "[" + CanonicalText.key(Array(name)) + "]"
        } else {
            note(&walk, written)
        }
    }
}

/// The property whose name is nearest to one that does not exist, for messages.
enum NearestName {
    static func of(_ name: String, in item: ClassSchema) -> String? {
        let wanted = Array(name.lowercased().utf8.prefix(64))
        var best: (name: String, distance: Int)?
        for property in item.properties + item.computedProperties {
            // Queries take the stored name as well; of two equally near ones the shown is told.
            for known in [property.shownName, property.name] {
                let distance = distance(wanted, Array(known.lowercased().utf8.prefix(64)))
                if distance <= max(1, wanted.count / 3), distance < best?.distance ?? .max {
                    best = (known, distance)
                }
            }
        }
        return best?.name
    }

    /// Insertions, deletions, replacements and swaps of neighbours from one to the other (optimal
    /// string alignment): two letters in the wrong order are one slip.
    private static func distance(_ a: [UInt8], _ b: [UInt8]) -> Int {
        var beforeLast: [Int] = []
        var last = Array(0...b.count)
        for (i, left) in a.enumerated() {
            var row = [i + 1]
            for (j, right) in b.enumerated() {
                var least = min(last[j + 1] + 1, row[j] + 1, last[j] + (left == right ? 0 : 1))
                if i > 0, j > 0, left == b[j - 1], right == a[i - 1] {
                    least = min(least, beforeLast[j - 1] + 1)
                }
                row.append(least)
            }
            beforeLast = last
            last = row
        }
        return last[b.count]
    }
}
