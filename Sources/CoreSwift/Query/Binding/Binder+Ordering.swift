// SORT, DISTINCT, LIMIT and OFFSET: names and numbers of their keys.

extension Binder {
    /// Finds the names of the suffixes, by suffix.
    mutating func resolveOrdering() throws(RealmError) -> [[ResolvedKey]] {
        let records = recordsTexts
        recordsTexts = true
        defer { recordsTexts = records }
        var resolved: [[ResolvedKey]] = []
        for suffix in tree.suffixes {
            var keys: [ResolvedKey] = []
            for key in tree.sortKeys[suffix.keys] {
                do throws(RealmError) {
                    let path = try resolve(key.steps, 0, .value)
                    let steps = tree.steps[key.steps]
                    keys.append(
                        ResolvedKey(
                            path: path, descending: key.descending, text: texts.removeLast(),
                            place: (steps.first?.start ?? 0, steps.last?.end ?? 0)))
                } catch {
                    guard error.code == .invalidQuery else { throw error }
                    throw RealmError(
                        .invalidQuery, "\(error.message) (in a \(suffix.kind) clause)")
                }
            }
            resolved.append(keys)
        }
        return resolved
    }

    mutating func boundOrdering(
        _ resolved: [[ResolvedKey]]
    ) throws(RealmError) -> [OrderingStep] {
        var bound: [OrderingStep] = []
        for (suffix, resolved) in zip(tree.suffixes, resolved) {
            var keys: [OrderingKey] = []
            for key in resolved {
                reading = key.place
                keys.append(try orderingKey(key))
            }
            switch suffix.kind {
            case .sort: bound.append(.sort(keys))
            case .distinct: bound.append(.distinct(keys))
            case .limit: bound.append(.limit(try number(suffix.number, of: "LIMIT")))
            case .offset: bound.append(.offset(try number(suffix.number, of: "OFFSET")))
            }
        }
        return bound
    }

    private mutating func number(
        _ index: Int32, of clause: String
    ) throws(RealmError) -> Int {
        reading = (tree[index].start, tree[index].end)
        let constant = try constant(index)
        guard constant.kind == .int, constant.raw.intValue >= 0 else {
            throw invalid(constant, "the \(clause) \(spelling(index)) is no number from 0")
        }
        return Int(constant.raw.intValue)
    }

    private func orderingKey(_ key: ResolvedKey) throws(RealmError) -> OrderingKey {
        let path = key.path.path
        guard path.shape == .single, path.value != .countAllLinks else {
            throw RealmError(
                .invalidSortDescriptor,
                "cannot sort or tell apart by '\(key.text)': the path leads through a collection")
        }
        let property = key.path.isPlain ? property(key.path) : nil
        return OrderingKey(
            hops: property == nil ? [] : Array(filter.expressions.steps[path.steps]),
            column: property?.key.column ?? -1, kind: path.kind.columnKind,
            isNullable: property?.isNullable ?? true, descending: key.descending, path: key.text,
            program: property == nil ? program(path) : nil)
    }

    /// A program that has only the path.
    private func program(_ path: ExpressionPath) -> FilterProgram {
        var builder = FilterBuilder()
        builder.bytes = filter.bytes
        builder.expressions.steps = filter.expressions.steps
        builder.expressions.paths = [path]
        let root = builder.add(.constant(true))
        return FilterProgram(&builder, root: root, schema: schema)
    }
}
