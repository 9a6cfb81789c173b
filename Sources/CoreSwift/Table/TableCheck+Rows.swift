// The tree of a class: levels, key ranges, row counts; then the class's totals.

extension TableCheck {
    /// Keys that a subtree may hold: from `low` up to, not including, `high`; nil = open.
    private struct KeyRange {
        var low: ObjectKey?
        var high: ObjectKey?

        func contains(_ key: ObjectKey) -> Bool {
            if let low, key < low { return false }
            if let high, key >= high { return false }
            return true
        }

        var text: String {
            "\(low.map(String.init) ?? "…") ..< \(high.map(String.init) ?? "…")"
        }
    }

    func checkRows(_ table: Table, _ item: ClassSchema) -> ClassFacts {
        var facts = ClassFacts()
        let root = table.state.tree.root
        var rows = 0
        if !root.isNone {
            rows = walk(root, table.state.tree.depth, KeyRange(), table, item, &facts)
        } else if table.state.tree.depth != 0 {
            report.add(
                "class \(item.name): has no tree, the catalog says it has "
                    + "\(table.state.tree.depth) levels")
        }
        if facts.isReadable, rows != table.state.rowCount {
            report.add(
                "class \(item.name): has \(rows) objects, the catalog says "
                    + "\(table.state.rowCount)")
        }
        let next = table.state.nextKey
        let first = table.state.hasIntegerKey ? IntegerKeys.indirectBase : .first
        if next < first || (facts.greatestKey >= first && facts.greatestKey >= next) {
            report.add(
                "class \(item.name): the next object key is \(next), not above the last one, "
                    + "\(max(facts.greatestKey, first.advanced(by: -1)))")
        }
        return facts
    }

    /// Checks a subtree; returns the live rows it has.
    private func walk(
        _ reference: BlockReference, _ level: Int, _ range: KeyRange, _ table: Table,
        _ item: ClassSchema, _ facts: inout ClassFacts
    ) -> Int {
        if level == 0 { return leaf(reference, range, table, item, &facts) }
        let place = "class \(item.name), rows at level \(level)"
        guard
            let node = block(
                reference, table.state.tree.branchTag, place, level, RowBranch.check)
        else {
            facts.isReadable = false
            return 0
        }
        let count = RowBranch.count(node)
        var total = 0
        for index in 0..<count {
            var part = range
            if index > 0 {
                let key = RowBranch.key(node, index)
                // The first key is no bound: it stands for everything below the second one.
                if !range.contains(key) {
                    report.add(
                        "\(place), page \(reference.page): key \(key) of child \(index) is not in "
                            + range.text)
                }
                part.low = key
            }
            if index + 1 < count { part.high = RowBranch.key(node, index + 1) }
            let before = facts.isReadable
            facts.isReadable = true
            let rows = walk(
                BlockReference(RowBranch.reference(node, index)), level - 1, part, table, item,
                &facts)
            if facts.isReadable, rows != RowBranch.rows(node, index) {
                report.add(
                    "\(place), page \(reference.page): child \(index) has \(rows) rows, its parent "
                        + "says \(RowBranch.rows(node, index))")
            }
            facts.isReadable = facts.isReadable && before
            total += rows
        }
        return total
    }

    private func leaf(
        _ reference: BlockReference, _ range: KeyRange, _ table: Table, _ item: ClassSchema,
        _ facts: inout ClassFacts
    ) -> Int {
        let place = "class \(item.name), rows"
        let context = RowLeafCheck.Context(
            infos: UnsafePointer(table.state.columns), columnCount: table.state.columnCount)
        guard
            let block = block(
                reference, table.state.tree.leafTag, place, context, RowLeafCheck.check)
        else {
            facts.isReadable = false
            return 0
        }
        let view = LeafView(block)
        let subject = "page \(reference.page): class \(item.name)"
        for row in 0..<view.rows {
            let key = view.key(row)
            if key < .first || !range.contains(key) {
                report.add(
                    "\(subject), row \(row): key \(key) is not in the leaf's range, \(range.text)")
            }
            if ClientKeys.of(key) == ClientKeys.of(table.state.nextKey) {
                facts.greatestKey = max(facts.greatestKey, key)
            }
            if !view.isDead(row) { facts.keys.append(key) }
        }
        for column in 0..<view.columnCount {
            checkColumn(view, column, table, item, subject, &facts)
        }
        // Columns that are younger than the leaf.
        for column in view.columnCount..<max(table.state.columnCount, view.columnCount) {
            let info = table.state.columns[column]
            checkAbsent(view, info, item.label(column), subject)
            if info.wordIndex >= 0 { addWords(view, column, table, &facts) }
        }
        return view.liveRows
    }

    // MARK: Links

    /// Every link leads to an object that is there.
    func checkLinks(_ table: Table, _ item: ClassSchema) {
        guard let own = facts[item.key], own.isReadable,
            own.links.values.contains(where: { $0 > 0 }) || !own.countedLinks.isEmpty
        else { return }
        checkCountedLinks(table, item, own)
        do throws(RealmError) {
            var leaves = LeafIterator(table: table)
            while let view = try leaves.next() {
                for index in 0..<view.columnCount {
                    let info = table.state.columns[index]
                    guard info.kind == .link, own.links[index] != nil,
                        let column = view.column(index), column.encoding != .absent
                    else { continue }
                    for row in 0..<view.rows where !view.isDead(row) && !column.isNull(row) {
                        checkTarget(
                            .link(info.linkTarget, column.objectKey(row)),
                            "class \(item.name), object \(view.key(row)): \(item.label(index))")
                    }
                }
            }
        } catch {
            report.add("class \(item.name): \(error.message)")
        }
    }

    /// `subject` is made only when there is a problem: of a million links none may have one.
    func checkTarget(_ link: RawValue, _ subject: @autoclosure () -> String) {
        guard let target = facts[link.linkClass] else {
            report.add(
                "\(subject()) links to class \(link.linkClass), which there is not")
            return
        }
        let key = link.linkTarget
        if target.isReadable, !target.keys.holds(key) {
            report.add("\(subject()) links to object \(key), which is not there")
        }
    }
}
