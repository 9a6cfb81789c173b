// What results are grouped by, and what is computed of each group: paths bound to a class, as data. The
// C interface gives both as text; canonical text is made of it. Grouper executes it, GroupTable is
// what comes out.

/// One column of what is computed of groups.
enum GroupAggregate {
    /// How many objects there are.
    case count
    /// Of the path at a place among `Grouping.paths`: nulls and NaN don't count, as in aggregates of results.
    case of(AggregateKind, path: Int)
}

/// Keys and aggregates for the objects of a class.
package struct Grouping {
    /// One or more; the kinds that DISTINCT takes, and the same equality.
    let keys: [OrderingKey]
    /// What aggregates are of, each once.
    private(set) var paths: [OrderingKey] = []
    private(set) var aggregates: [GroupAggregate] = []

    /// `keys`: "path, path, …". `aggregates`: "@count, @min.path, @max.path, @sum.path, @avg.path" in
    /// any number and order, or nothing. Paths go over to-one links.
    ///
    /// Throws `.invalidQueryString` for texts of another form, `.invalidQuery` for unknown
    /// properties, `.invalidSortDescriptor` for paths through collections, and `.illegalOperation` for sums
    /// and averages of anything but numbers.
    package init(
        keys: String, aggregates: String, schema: Schema, classKey: ClassKey
    ) throws(RealmError) {
        self.keys = try Self.paths(keys, schema, classKey)
        for item in Self.items(aggregates) { try add(item, schema, classKey) }
    }

    /// What is computed of the path at a place.
    func kinds(ofPath place: Int) -> [AggregateKind] {
        aggregates.compactMap { aggregate in
            guard case .of(let kind, let path) = aggregate, path == place else { return nil }
            return kind
        }
    }

    /// Objects are counted.
    var isCounted: Bool {
        aggregates.contains { if case .count = $0 { true } else { false } }
    }

    /// Values of a row of the result.
    package var columnCount: Int { keys.count + aggregates.count }

    /// Canonical text, such as `GROUP(dept.name, age: @count, @avg.score)`.
    package var spelling: String {
        let groups = keys.map { $0.path }.joined(separator: ", ")
        if aggregates.isEmpty { return "GROUP(\(groups))" }
        let values = aggregates.map { aggregate in
            guard case .of(let kind, let path) = aggregate else { return Self.words[0].word }
            let word = Self.words.first { $0.kind == kind }?.word ?? ""
            return "\(word).\(paths[path].path)"
        }
        return "GROUP(\(groups): \(values.joined(separator: ", ")))"
    }

    // MARK: Text

    /// As texts have aggregates, without what they are of; nil: the number of objects.
    private static let words: [(word: String, kind: AggregateKind?)] = [
        ("@count", nil), ("@min", .minimum), ("@max", .maximum), ("@sum", .sum), ("@avg", .average),
    ]

    private static func paths(
        _ text: String, _ schema: Schema, _ classKey: ClassKey
    ) throws(RealmError) -> [OrderingKey] {
        do throws(RealmError) {
            let step = try Query.ordering(
                text, .distinct, schema: schema, classKey: classKey)
            guard case .distinct(let keys) = step, !keys.isEmpty else {
                throw RealmError(.invalidQueryString, "groups need a property to be grouped by")
            }
            return keys
        } catch {
            // The parser took it for what it looks like.
            let clause = " (in a distinct clause)"
            guard error.message.hasSuffix(clause) else { throw error }
            throw RealmError(
                error.code, "\(error.message.dropLast(clause.count)) (in the paths of groups)")
        }
    }

    private mutating func add(
        _ item: String, _ schema: Schema, _ classKey: ClassKey
    ) throws(RealmError) {
        for (word, kind) in Self.words {
            guard let kind else {
                guard item == word else { continue }
                return aggregates.append(.count)
            }
            guard item.hasPrefix("\(word).") else { continue }
            let text = String(item.dropFirst(word.count + 1))
            let found = try Self.paths(text, schema, classKey)
            guard found.count == 1 else { break }
            try Self.check(kind, found[0])
            let known = paths.firstIndex { $0.path == found[0].path }
            if known == nil { paths.append(found[0]) }
            return aggregates.append(.of(kind, path: known ?? paths.count - 1))
        }
        throw RealmError(
            .invalidQueryString,
            "'\(item)' is nothing that is computed of groups: @count is, and @min, @max, @sum and @avg "
                + "with a point and a property")
    }

    private static func check(_ kind: AggregateKind, _ path: OrderingKey) throws(RealmError) {
        switch path.kind {
        case .int, .float, .double, .decimal, .mixed: return
        case .link, .collection: break
        default: if kind == .minimum || kind == .maximum { return }
        }
        throw RealmError(
            .illegalOperation,
            "\(kind.word) is not defined for '\(path.path)' of type \(path.kind.typeWord)")
    }

    /// The text between commas, without blanks around; names may have commas in quotes or behind a
    /// backslash.
    private static func items(_ text: String) -> [String] {
        var items: [[UInt8]] = [[]]
        var quote: UInt8 = 0
        var isEscaped = false
        for byte in text.utf8 {
            if isEscaped {
                isEscaped = false
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if quote != 0 {
                if byte == quote { quote = 0 }
            } else if byte == UInt8(ascii: "'") || byte == UInt8(ascii: "\"") {
                quote = byte
            } else if byte == UInt8(ascii: ",") {
                items.append([])
                continue
            }
            items[items.count - 1].append(byte)
        }
        let trimmed = items.map { bytes in
            let front = bytes.drop { $0 == UInt8(ascii: " ") }
            return String(
                decoding: front.reversed().drop { $0 == UInt8(ascii: " ") }.reversed(),
                as: UTF8.self)
        }
        return trimmed == [""] ? [] : trimmed
    }
}
