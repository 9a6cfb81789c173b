// SORT, DISTINCT and LIMIT as data: what a query's suffixes and the calls on results become. They
// apply one after another to a sequence of object keys (D1).

/// A property that objects are ordered or told apart by, over to-one links if need be.
struct OrderingKey {
    /// Links crossed before the property.
    var hops: [FilterHop]
    var column: Int
    var kind: ColumnKind
    /// The property is the integer primary key whose value is the object key.
    var isKeyColumn: Bool
    var isNullable: Bool
    var descending: Bool
    /// Internal names joined by points, for canonical text.
    var path: String
}

enum OrderingStep {
    case sort([OrderingKey])
    case distinct([OrderingKey])
    case limit(Int)

    /// As canonical text has it.
    var spelling: String {
        switch self {
        case .sort(let keys):
            return "SORT("
                + keys.map { "\($0.path) \($0.descending ? "DESC" : "ASC")" }
                .joined(separator: ", ") + ")"
        case .distinct(let keys):
            return "DISTINCT(" + keys.map { $0.path }.joined(separator: ", ") + ")"
        case .limit(let count): return "LIMIT(\(count))"
        }
    }
}

extension Binder {
    /// Finds the names of the suffixes.
    mutating func resolveOrdering() throws(RealmError) -> [ResolvedStep] {
        var steps: [ResolvedStep] = []
        for suffix in tree.suffixes {
            var step = ResolvedStep(kind: suffix.kind)
            if suffix.kind == .limit {
                step.limitNode = suffix.first
            } else {
                for key in tree.sortKeys[Int(suffix.first)..<Int(suffix.first + suffix.count)] {
                    do {
                        let path = try resolve(
                            Int(key.first)..<Int(key.first + key.count), spelledFrom: key.start)
                        step.keys.append((path, key.descending))
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
            case .limit: bound.append(.limit(try limit(step.limitNode)))
            case .sort:
                var keys: [OrderingKey] = []
                for key in step.keys { keys.append(try orderingKey(key.path, key.descending)) }
                bound.append(.sort(keys))
            case .distinct:
                var keys: [OrderingKey] = []
                for key in step.keys { keys.append(try orderingKey(key.path, false)) }
                bound.append(.distinct(keys))
            }
        }
        return bound
    }

    private mutating func limit(_ index: Int32) throws(RealmError) -> Int {
        let constant = try constant(index)
        guard constant.kind == .int, constant.int >= 0 else {
            let spelled = spelling(tree.nodes[Int(index)])
            throw constant.isArgument
                ? invalidArgument("the LIMIT \(spelled) is no number from 0")
                : invalidQuery("the LIMIT \(spelled) is no number from 0")
        }
        return Int(constant.int)
    }

    private func orderingKey(
        _ path: BoundPath, _ descending: Bool
    ) throws(RealmError) -> OrderingKey {
        let owner = schema.classes[path.classIndex]
        let property =
            path.isComputed
            ? owner.computedProperties[path.propertyIndex] : owner.properties[path.propertyIndex]
        if path.isToMany {
            throw RealmError(
                .invalidSortDescriptor,
                "cannot sort or tell apart by '\(owner.name).\(property.name)': "
                    + "the path leads through a collection")
        }
        if let unsupported = path.unsupported { throw notSupported(unsupported) }
        let kind: ColumnKind
        do {
            kind = try ColumnKind(property.type)
        } catch {
            throw notSupported("sorting by '\(owner.name).\(property.name)'")
        }
        let hops = Array(self.hops[Int(path.hopFirst)..<Int(path.hopFirst + path.hopCount)])
        var names: [String] = []
        var classIndex = rootClass
        for hop in hops {
            let link = schema.classes[classIndex].properties.first {
                $0.key.column == Int(hop.column)
            }
            names.append(link?.name ?? "")
            classIndex = schema.classes.firstIndex { $0.key == hop.target } ?? classIndex
        }
        names.append(property.name)
        return OrderingKey(
            hops: hops, column: property.key.column, kind: kind,
            isKeyColumn: property.isPrimaryKey && property.type == .int,
            isNullable: property.isNullable, descending: descending,
            path: names.map { CanonicalText.escaped($0) }.joined(separator: "."))
    }
}
