// SORT, DISTINCT, LIMIT and OFFSET: names and numbers of their keys.

extension Binder {
    /// Finds the names of the suffixes.
    mutating func resolveOrdering() throws(RealmError) -> [ResolvedStep] {
        var steps: [ResolvedStep] = []
        let records = recordsTexts
        for suffix in tree.suffixes {
            var step = ResolvedStep(kind: suffix.kind)
            if suffix.kind == .limit || suffix.kind == .offset {
                step.numberNode = suffix.number
            } else {
                for key in tree.sortKeys[suffix.keys] {
                    recordsTexts = true
                    defer { recordsTexts = records }
                    do throws(RealmError) {
                        let path = try resolve(key.steps, 0, .value)
                        let steps = tree.steps[key.steps]
                        let place = (steps.first?.start ?? 0, steps.last?.end ?? 0)
                        step.keys.append((path, key.descending, texts.removeLast(), place))
                    } catch {
                        guard error.code == .invalidQuery else { throw error }
                        let clause = suffix.kind == .sort ? "sort" : "distinct"
                        throw RealmError(.invalidQuery, "\(error.message) (in a \(clause) clause)")
                    }
                }
            }
            steps.append(step)
        }
        return steps
    }

    mutating func boundOrdering(_ steps: [ResolvedStep]) throws(RealmError) -> [OrderingStep] {
        var bound: [OrderingStep] = []
        for step in steps {
            switch step.kind {
            case .limit: bound.append(.limit(try number(step.numberNode, of: "LIMIT")))
            case .offset: bound.append(.offset(try number(step.numberNode, of: "OFFSET")))
            case .sort, .distinct:
                var keys: [OrderingKey] = []
                for key in step.keys {
                    reading = key.place
                    keys.append(try orderingKey(key.path, key.descending, key.text))
                }
                bound.append(step.kind == .sort ? .sort(keys) : .distinct(keys))
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

    private func orderingKey(
        _ path: BoundPath, _ descending: Bool, _ text: String
    ) throws(RealmError) -> OrderingKey {
        guard path.path.shape == .single, path.path.value != .countAllLinks else {
            throw RealmError(
                .invalidSortDescriptor,
                "cannot sort or tell apart by '\(text)': the path leads through a collection")
        }
        let kind = path.path.kind.columnKind
        if !path.isPlain {
            return OrderingKey(
                hops: [], column: -1, kind: kind, isNullable: true,
                descending: descending, path: text, program: program(path))
        }
        let property = schema.classes[path.classIndex].properties[path.propertyIndex]
        return OrderingKey(
            hops: Array(hops[Int(path.hopFirst)..<Int(path.hopFirst + path.hopCount)]),
            column: property.key.column, kind: kind,
            isNullable: property.isNullable, descending: descending, path: text)
    }

    /// A program that has only the path.
    private func program(_ path: BoundPath) -> FilterProgram {
        var builder = FilterBuilder()
        builder.bytes = filter.bytes
        builder.expressions.steps = filter.expressions.steps
        builder.expressions.paths = [path.path]
        let root = builder.add(.constant(true))
        return FilterProgram(&builder, root: root, schema: schema)
    }
}
