// What operations of the change log consist of, as their bytes: stored values with all that they hold,
// and places in collections.

extension LogBytes {
    /// The value of a property. `orDefault`: one that a new object has by itself is only a mark.
    /// `match`: links are written as another file has them.
    mutating func value(
        _ table: Table, _ place: RowPlace, _ key: ObjectKey, _ column: Int, orDefault: Bool,
        _ match: ObjectMatch? = nil
    ) throws(RealmError) {
        let info = table.columns[column]
        let value = try table.value(place, key, column)
        if info.kind == .collection {
            let view = CollectionView(
                table, column, ElementLayout(info, column: column), value.bytes)
            if orDefault, view.count == 0 { return byte(Self.defaultMark) }
            return try elements(ComparedElements(view, match), match)
        }
        if orDefault, RawIdentity.isSame(value, table.absent(info)) {
            return byte(Self.defaultMark)
        }
        try self.value(match?.translated(value) ?? value, of: table, column, match)
    }

    /// A value that may be a collection in a mixed one. Links in itself were translated. Recursion ends
    /// with the depth that collections in mixed values can have.
    mutating func value(
        _ value: RawValue, of table: Table, _ column: Int, _ match: ObjectMatch?
    ) throws(RealmError) {
        if let type = NestedCell.type(value),
            let view = CollectionView(table, column, value, type)
        {
            return try elements(ComparedElements(view, match), match)
        }
        self.value(value)
    }

    private mutating func elements(
        _ elements: ComparedElements, _ match: ObjectMatch?
    ) throws(RealmError) {
        var elements = elements
        switch elements.layout.type {
        case .set: byte(Self.setType)
        case .dictionary: byte(UInt8(ValueType.dictionary.rawValue))
        default: byte(UInt8(ValueType.list.rawValue))
        }
        number(elements.count)
        for index in 0..<elements.count {
            if elements.layout.type == .dictionary { text(try elements.key(index).bytes) }
            try value(elements.value(index), of: elements.table, elements.column, match)
        }
    }

    /// Which collection operations are of.
    mutating func place(
        _ number: CollectionNumber, _ countBefore: Int, _ path: UnsafeRawBufferPointer
    ) {
        self.number(number.rawValue)
        self.number(countBefore)
        text(path)
    }

    mutating func path(_ steps: [StandingCollection.Step]) {
        for step in steps {
            number(UInt64(step.index) << 1 | (step.key == nil ? 0 : 1))
            if let key = step.key { text(key) }
        }
    }

    mutating func positions(_ operation: CollectionOperation) {
        switch operation.kind {
        case .inserted, .removed, .replaced:
            number(operation.index)
            number(operation.count - 1)
        case .moved:
            number(operation.index)
            number(operation.destination)
        case .cleared: number(operation.count)
        }
    }
}
