// Into mixed values: entries of dictionaries, items of lists, properties of linked objects (QUERY
// I9–I11).

/// A value, and the property whose cells hold what is nested in it.
struct MixedPlace {
    var value: RawValue
    var table: Table
    var column: Int
}

extension ExpressionEvaluator {
    private func steps(_ path: UnsafePointer<ExpressionPath>) -> Range<Int> {
        let first = Int(path.pointee.first + path.pointee.count)
        return first..<first + Int(path.pointee.mixedCount)
    }

    /// Along steps that lead to one value each; nil: no value.
    func navigate(
        _ start: MixedPlace, _ path: UnsafePointer<ExpressionPath>
    ) throws(RealmError) -> MixedPlace? {
        var place = start
        let steps = steps(path)
        for index in steps {
            guard
                let next = try child(
                    place, program.steps[index], isLast: index + 1 == steps.upperBound)
            else { return nil }
            place = next
        }
        return place
    }

    private func view(
        _ place: MixedPlace, _ type: CollectionType
    ) -> CollectionView? {
        guard NestedCell.type(place.value) == type else { return nil }
        return CollectionView(
            place.table, place.column, ElementLayout(nested: type, column: place.column),
            NestedCell.cell(place.value))
    }

    private func child(
        _ place: MixedPlace, _ step: ExpressionStep, isLast: Bool
    ) throws(RealmError) -> MixedPlace? {
        if step.kind == .item {
            guard var list = view(place, .list), let position = position(step.index, list.count)
            else { return nil }
            return MixedPlace(
                value: try list.value(position, list.valueColumn), table: place.table,
                column: place.column)
        }
        if var dictionary = view(place, .dictionary) {
            let found = try dictionary.search(key(step.text))
            // A key that is missing at the end is null (I9).
            guard found.isFound || isLast else { return nil }
            return MixedPlace(
                value: found.isFound
                    ? try dictionary.value(found.index, dictionary.valueColumn) : .null,
                table: place.table, column: place.column)
        }
        return try property(place, step)
    }

    /// The property of a linked object.
    private func property(
        _ place: MixedPlace, _ step: ExpressionStep
    ) throws(RealmError) -> MixedPlace? {
        guard place.value.type == ValueType.link.rawValue,
            let item = program.schema.class_(place.value.linkClass)
                ?? snapshot.schema.class_(place.value.linkClass),
            let table = snapshot.tables.table(place.value.linkClass),
            let object = try object(table, place.value.linkTarget)
        else { return nil }
        let name = String(decoding: key(step.text).bytes, as: UTF8.self)
        let property =
            item.property(named: name) ?? item.properties.first { $0.publicName == name }
        guard let property, property.collection == .none, !property.isComputed else { return nil }
        let column = property.key.column
        return MixedPlace(
            value: try table.value(object.place, object.key, column), table: table, column: column)
    }

    /// Appends the values at the ends of a path that spreads: each end is a collection of its own
    /// unless the path has only one.
    func appendMixed(
        _ path: UnsafePointer<ExpressionPath>, _ object: ExpressionMember
    ) throws(RealmError) {
        var places: [MixedPlace] = []
        let column = Int(path.pointee.column)
        switch path.pointee.value {
        case .elements:
            if var view = try collection(object, column) {
                for index in 0..<view.count {
                    places.append(
                        MixedPlace(
                            value: try view.value(index, view.valueColumn), table: object.table,
                            column: column))
                }
            }
        case .member:
            places.append(
                MixedPlace(value: object.value, table: object.table, column: object.column))
        case .elementAt, .elementForKey:
            guard var view = try collection(object, column), view.count > 0 else { return }
            var value = RawValue.null
            if path.pointee.value == .elementAt {
                if let position = position(path.pointee.index, view.count) {
                    value = try view.value(position, view.valueColumn)
                }
            } else {
                let found = try view.search(key(path.pointee.text))
                if found.isFound { value = try view.value(found.index, view.valueColumn) }
            }
            places.append(MixedPlace(value: value, table: object.table, column: column))
        default:
            places.append(
                MixedPlace(
                    value: try object.table.value(object.place, object.key, column),
                    table: object.table, column: column))
        }
        let steps = steps(path)
        for index in steps {
            let step = program.steps[index]
            let isLast = index + 1 == steps.upperBound
            var next: [MixedPlace] = []
            for place in places {
                let start = values.count
                if step.kind == .children || step.kind == .keys {
                    try spread(place, step, &next)
                } else if let child = try child(place, step, isLast: isLast) {
                    next.append(child)
                } else {
                    continue
                }
                guard isLast else { continue }
                for end in next { append(end.value, path) }
                next.removeAll(keepingCapacity: true)
                if path.pointee.shape == .groups,
                    NestedCell.type(place.value) != nil
                        || values.count > start
                {
                    groups.append((start, values.count - start))
                }
            }
            places = next
        }
    }

    private func spread(
        _ place: MixedPlace, _ step: ExpressionStep, _ next: inout [MixedPlace]
    ) throws(RealmError) {
        guard let type = NestedCell.type(place.value), var view = view(place, type) else { return }
        if step.kind == .keys, type != .dictionary { return }
        let column = step.kind == .keys ? 0 : view.valueColumn
        for index in 0..<view.count {
            next.append(
                MixedPlace(
                    value: try view.value(index, column), table: place.table,
                    column: place.column))
        }
    }
}
