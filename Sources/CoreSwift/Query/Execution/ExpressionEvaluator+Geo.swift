// GEOWITHIN for objects: their places are in a string `type` and a list `coordinates` (QUERY_RULES G2, G5).

extension ExpressionEvaluator {
    /// Whether the objects of an operand lie inside a shape.
    func isWithin(
        _ test: UnsafePointer<ExpressionTest>, _ operand: ExpressionOperand
    ) throws(RealmError) -> Bool {
        let condition = program.shapes[Int(test.pointee.right.first)]
        let quantifier = test.pointee.left.quantifier
        var objects = operand
        if operand.shape != .single {
            // ALL of nothing is false here, other than everywhere else (G5).
            if operand.count == 0 { return quantifier == .none }
            objects.shape = .many
        }
        return try quantified(objects, quantifier) { link throws(RealmError) in
            try contains(condition, link)
        }
    }

    @inline(never)
    private func contains(
        _ condition: GeoCondition, _ link: RawValue
    ) throws(RealmError) -> Bool {
        guard !link.isNull, link.type == ValueType.link.rawValue,
            let object = try object(
                snapshot.table(link.linkClass).table, link.linkTarget)
        else { return false }
        let type = try object.table.value(
            object.place, object.key, Int(condition.typeColumn))
        guard !type.isNull, type.bytes.elementsEqual("point".utf8, by: { $0 | 0x20 == $1 }),
            var view = try collection(object, Int(condition.coordinatesColumn)),
            view.count >= 2
        else { return false }
        let longitude = try view.value(0, view.valueColumn)
        let latitude = try view.value(1, view.valueColumn)
        let double = ValueType.double.rawValue
        guard longitude.type == double, latitude.type == double else { return false }
        return condition.shape.contains(
            longitude: longitude.doubleValue, latitude: latitude.doubleValue)
    }
}
