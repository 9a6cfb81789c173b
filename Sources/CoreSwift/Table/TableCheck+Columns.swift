// One column of one leaf, after the structural gate: the bounds hold for every live value and are
// exact where they say so, flags tell the truth, key columns repeat the keys, values in blocks of
// their own can be read.

extension TableCheck {
    func checkColumn(
        _ view: LeafView, _ index: Int, _ table: Table, _ item: ClassSchema, _ subject: String,
        _ facts: inout ClassFacts
    ) {
        let info = table.state.columns[index]
        // What a dropped property left has been checked for its structure.
        if info.isVacated { return }
        let links = checkColumn(view, index, info, table, item.label(index), subject)
        if info.wordIndex >= 0 { addWords(view, index, table, &facts) }
        if info.kind == .link { facts.links[index, default: 0] += links }
        if info.kind == .mixed { checkMixed(view, index, table, item, subject, &facts) }
        if info.kind == .collection {
            checkCollections(view, index, table, item, subject, &facts)
        }
    }

    /// Checks a column of a leaf of the class, or of one of its collections; returns how many
    /// links it has.
    func checkColumn(
        _ view: LeafView, _ index: Int, _ info: ColumnInfo, _ table: Table, _ label: String,
        _ subject: String
    ) -> Int {
        guard let column = view.column(index) else { return 0 }
        if column.encoding == .absent {
            checkAbsent(view, info, label, subject)
            return 0
        }
        let known: ColumnFlags = [
            .hasNulls, .hasBounds, .boundsExact, .hasNanoseconds, .hasExternal, .hasNaN,
        ]
        if !known.isSuperset(of: column.flags) {
            report.add("\(subject), column \(label): flags \(column.flags.rawValue) are unknown")
        }
        var bounds = BoundsCheck(column: column, subject: "\(subject), column \(label)")
        switch column.encoding {
        case .packed:
            checkPacked(view, column, info, &bounds, label, subject)
        case .timestamp:
            Self.forEachValue(view, column) { bounds.add(signed: column.packed($0), $0, &report) }
        case .bits:
            Self.forEachValue(view, column) {
                bounds.add(signed: column.bit($0) ? 1 : 0, $0, &report)
            }
        case .fixed:
            checkFixed(view, column, info, &bounds)
        case .stringFixed, .string16, .string32, .stringDictionary:
            let links = checkText(view, column, table, info, &bounds, label, subject)
            if info.kind.isText { bounds.finish(&report) }
            return links
        case .absent: return 0
        }
        if info.kind != .decimal { bounds.finish(&report) }
        return info.kind == .link ? bounds.values : 0
    }

    private static func forEachValue(
        _ view: LeafView, _ column: ColumnView, _ body: (Int) -> Void
    ) {
        for row in 0..<view.rows where !view.isDead(row) && !column.isNull(row) { body(row) }
    }

    /// A column without data holds nulls or defaults, or is the primary key that the keys are.
    func checkAbsent(_ view: LeafView, _ info: ColumnInfo, _ label: String, _ subject: String) {
        guard info.isKey, !info.isNullable, view.key(view.rows - 1) >= IntegerKeys.indirectBase
        else { return }
        for row in 0..<view.rows
        where !view.isDead(row) && view.key(row) >= IntegerKeys.indirectBase {
            report.add("\(subject), row \(row): \(label) has no value, but is required")
        }
    }

    private func checkPacked(
        _ view: LeafView, _ column: ColumnView, _ info: ColumnInfo, _ bounds: inout BoundsCheck,
        _ label: String, _ subject: String
    ) {
        for row in 0..<view.rows where !view.isDead(row) {
            let isNull = column.isNull(row)
            let value = column.packed(row)
            if info.isKey {
                let key = view.key(row)
                let fits =
                    key < IntegerKeys.indirectBase
                    ? !isNull && value == key.rawValue : isNull || !IntegerKeys.isDirect(value)
                if !fits {
                    report.add(
                        "\(subject), row \(row): \(label) is \(isNull ? "null" : "\(value)"), "
                            + "which does not go with object key \(key)")
                }
            }
            if isNull { continue }
            if info.kind == .link, value < 0 {
                report.add("\(subject), row \(row): \(label) links to object \(value)")
            }
            bounds.add(signed: value, row, &report)
        }
    }

    private func checkFixed(
        _ view: LeafView, _ column: ColumnView, _ info: ColumnInfo, _ bounds: inout BoundsCheck
    ) {
        switch info.kind {
        case .double, .float:
            Self.forEachValue(view, column) {
                let value = info.kind == .double ? column.double($0) : Double(column.float($0))
                bounds.add(floating: value, $0, &report)
            }
        case .objectId, .uuid:
            Self.forEachValue(view, column) {
                bounds.add(prefix: column.fixed($0, info.kind).prefix, $0, &report)
            }
        default: break
        }
    }

    /// Returns how many of the values are links.
    private func checkText(
        _ view: LeafView, _ column: ColumnView, _ table: Table, _ info: ColumnInfo,
        _ bounds: inout BoundsCheck, _ label: String, _ subject: String
    ) -> Int {
        var links = 0
        let externals = column.externals
        for row in 0..<view.rows where !view.isDead(row) {
            let isExternal = externals.map { LeafLayout.bit($0, row) } ?? false
            if column.isNull(row) {
                if isExternal {
                    report.add("\(subject), row \(row): \(label) is null and has a block")
                }
                continue
            }
            var bytes = column.bytes(row)
            if isExternal {
                guard let value = external(bytes, table, "\(subject), row \(row): \(label)") else {
                    continue
                }
                bytes = value
            }
            if info.kind.isText {
                bounds.add(text: bytes, row, &report)
            } else if info.kind == .collection {
                continue
            } else if let problem = isExternal
                ? NestedCell.externalProblem(bytes) : MixedCell.problem(bytes)
            {
                report.add("\(subject), row \(row): \(label): \(problem)")
            } else if MixedCell.decode(bytes).type == ValueType.link.rawValue {
                links += 1
            }
        }
        return links
    }

    /// The bytes behind the record of a value in a block of its own.
    private func external(
        _ record: UnsafeRawBufferPointer, _ table: Table, _ place: String
    ) -> UnsafeRawBufferPointer? {
        guard let start = record.baseAddress else { return nil }
        let length = start.u64(LeafLayout.externalLengthOffset)
        let tag = BlockTag(.bigValue, classKey: table.state.classKey)
        guard
            let block = block(
                BlockReference(start), tag, place, length, Table.checkExternal)
        else { return nil }
        return UnsafeRawBufferPointer(start: block + Table.externalHeader, count: Int(length))
    }
}

/// Compares the values of a column with the minimum and maximum that its leaf states.
private struct BoundsCheck {
    let column: ColumnView
    let subject: String
    private(set) var values = 0
    private var hasNumbers = false
    private var sawNaN = false
    private var reachesMinimum = false
    private var reachesMaximum = false

    init(column: ColumnView, subject: String) {
        self.column = column
        self.subject = subject
    }

    private var hasBounds: Bool { column.flags.contains(.hasBounds) }

    private mutating func note(
        _ row: Int, _ fits: Bool, _ isMinimum: Bool, _ isMaximum: Bool, _ report: inout CheckReport
    ) {
        hasNumbers = true
        guard hasBounds else { return }
        if !fits { report.add("\(subject), row \(row): the value is outside of the bounds") }
        reachesMinimum = reachesMinimum || isMinimum
        reachesMaximum = reachesMaximum || isMaximum
    }

    mutating func add(signed value: Int64, _ row: Int, _ report: inout CheckReport) {
        values += 1
        let low = column.minimumInt
        let high = column.maximumInt
        note(row, value >= low && value <= high, value == low, value == high, &report)
    }

    mutating func add(floating value: Double, _ row: Int, _ report: inout CheckReport) {
        values += 1
        if value.isNaN {
            sawNaN = true
            return
        }
        let low = column.minimumDouble
        let high = column.maximumDouble
        note(row, value >= low && value <= high, value == low, value == high, &report)
    }

    mutating func add(
        text value: UnsafeRawBufferPointer, _ row: Int, _ report: inout CheckReport
    ) {
        add(prefix: value.baseAddress?.prefix(value.count) ?? 0, row, &report)
    }

    mutating func add(prefix: UInt64, _ row: Int, _ report: inout CheckReport) {
        values += 1
        let low = column.minimumPrefix
        let high = column.maximumPrefix
        note(row, prefix >= low && prefix <= high, prefix == low, prefix == high, &report)
    }

    func finish(_ report: inout CheckReport) {
        if sawNaN, !column.flags.contains(.hasNaN) {
            report.add("\(subject): holds NaN, the leaf says it does not")
        }
        guard hasNumbers else { return }
        if !hasBounds { report.add("\(subject): has values but no bounds") }
        if hasBounds, column.flags.contains(.boundsExact), !reachesMinimum || !reachesMaximum {
            report.add(
                "\(subject): no row has the "
                    + (reachesMinimum ? "maximum" : "minimum") + " that is said to be exact")
        }
    }
}
