// Into mixed values: entries of dictionaries, items of lists, properties of linked objects (QUERY
// I9–I11).

/// A value, and the property whose cells hold what is nested in it.
struct MixedPlace {
    var value: RawValue
    var table: Table
    var column: Int

    /// The value that a path takes of an object before it goes into mixed values.
    static func start(
        _ value: RawValue, _ path: UnsafePointer<ExpressionPath>, _ object: ExpressionMember
    ) -> MixedPlace {
        let isMember = path.pointee.value == .member
        return MixedPlace(
            value: value, table: object.table,
            column: isMember ? object.column : Int(path.pointee.column))
    }

    /// A value that is nested in this one.
    func with(_ value: RawValue) -> MixedPlace {
        MixedPlace(value: value, table: table, column: column)
    }
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
            guard var list = view(place, .list) else { return nil }
            return try item(step.index, of: &list).map { place.with($0) }
        }
        if var dictionary = view(place, .dictionary) {
            if let value = try entry(step.text, of: &dictionary) { return place.with(value) }
            // A key that is missing at the end is null (I9).
            return isLast ? place.with(.null) : nil
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
        if path.pointee.value == .elements {
            if var view = try collection(object, Int(path.pointee.column)) {
                for index in 0..<view.count {
                    let value = try view.value(index, view.valueColumn)
                    places.append(.start(value, path, object))
                }
            }
        } else {
            guard let value = try single(path, object) else { return }
            places.append(.start(value, path, object))
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
            next.append(place.with(try view.value(index, column)))
        }
    }
}
