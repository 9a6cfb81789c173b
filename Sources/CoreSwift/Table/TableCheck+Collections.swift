// Lists, sets and dictionaries: the cell of every row, the tree behind it, the order of sets and
// dictionaries, and every link, which the inverse index is compared with afterwards. Mixed values
// are links here, too: their inverse indexes are of the same kind.

/// A link of a column whose inverse index counts.
struct CountedLink {
    var classKey: ClassKey
    var target: ObjectKey
    var source: ObjectKey
    /// Which of several links from the source to the target it is, from 0 on.
    var number = 0

    private static func precedes(_ a: CountedLink, _ b: CountedLink) -> Bool {
        if a.classKey != b.classKey { return a.classKey.rawValue < b.classKey.rawValue }
        if a.target != b.target { return a.target < b.target }
        return a.number != b.number ? a.number < b.number : a.source < b.source
    }

    private func isSame(_ other: CountedLink) -> Bool {
        classKey == other.classKey && target == other.target && source == other.source
    }

    /// Links in any order, numbered and in the order of the inverse index.
    static func ordered(_ links: [CountedLink]) -> [CountedLink] {
        var result = links.sortedFew(by: precedes)
        var isSimple = true
        for index in result.indices.dropFirst() where result[index].isSame(result[index - 1]) {
            result[index].number = result[index - 1].number + 1
            isSimple = false
        }
        return isSimple ? result : result.sortedFew(by: precedes)
    }
}

extension TableCheck {
    func checkCollections(
        _ view: LeafView, _ index: Int, _ table: Table, _ item: ClassSchema, _ subject: String,
        _ facts: inout ClassFacts
    ) {
        guard let column = view.column(index), column.encoding != .absent else { return }
        let layout = ElementLayout(table.columns[index], column: index)
        for row in 0..<view.rows where !view.isDead(row) {
            checkElements(
                column.bytes(row), layout, table, source: view.key(row),
                "\(subject), row \(row): \(item.label(index))", &facts)
        }
    }

    private func checkElements(
        _ cell: UnsafeRawBufferPointer, _ layout: ElementLayout, _ table: Table,
        source: ObjectKey, _ place: @autoclosure () -> String, _ facts: inout ClassFacts
    ) {
        guard cell.count > 0, let start = cell.baseAddress else { return }
        var walk = ElementWalk(
            check: self, table: table, layout: layout, source: source, place: place())
        walk.run(start)
        facts.isReadable = facts.isReadable && walk.isReadable
        facts.countedLinks[layout.property, default: []].append(contentsOf: walk.links)
    }

    /// Every such link leads to an object that is there.
    func checkCountedLinks(_ table: Table, _ item: ClassSchema, _ own: ClassFacts) {
        for (index, links) in own.countedLinks {
            for link in links {
                checkTarget(
                    .link(link.classKey, link.target),
                    "class \(item.name), object \(link.source): \(item.label(index))")
            }
        }
    }

    /// The links among the mixed values of a leaf, and the collections.
    func checkMixed(
        _ view: LeafView, _ index: Int, _ table: Table, _ item: ClassSchema, _ subject: String,
        _ facts: inout ClassFacts
    ) {
        guard let column = view.column(index), column.encoding != .absent else { return }
        for row in 0..<view.rows where !view.isDead(row) && !column.isNull(row) {
            if let externals = column.externals, LeafLayout.bit(externals, row) { continue }
            let value = MixedCell.decode(column.bytes(row))
            if let type = NestedCell.type(value) {
                checkElements(
                    NestedCell.cell(value), ElementLayout(nested: type, column: index), table,
                    source: view.key(row), "\(subject), row \(row): \(item.label(index))",
                    &facts)
                continue
            }
            guard value.type == ValueType.link.rawValue else { continue }
            facts.countedLinks[index, default: []].append(
                CountedLink(
                    classKey: value.linkClass, target: value.linkTarget,
                    source: view.key(row)))
        }
    }
}

private struct ElementWalk {
    let check: TableCheck
    let table: Table
    let layout: ElementLayout
    let source: ObjectKey
    let place: String
    var links: [CountedLink] = []
    var isReadable = true
    var last: RawValue?

    private var elements: UnsafeMutablePointer<ColumnInfo> { layout.infos }

    mutating func run(_ cell: UnsafeRawPointer) {
        if cell.u8(0) == CollectionCell.inlineForm {
            let inline = InlineCollection(cell)
            let keys = inline.column(0, elements)
            let values = inline.column(layout.valueColumn, elements)
            for row in 0..<inline.count {
                order(keys.value(row, elements[0]), row)
                note(values.value(row, layout.valueInfo))
            }
            return
        }
        let root = CollectionRoot(cell)
        let count = walk(root.reference, root.depth)
        if isReadable, count != root.count {
            check.report.add("\(place): has \(count) elements, its row says \(root.count)")
        }
    }

    /// Checks a subtree; returns the elements it has.
    private mutating func walk(_ reference: BlockReference, _ level: Int) -> Int {
        if level == 0 { return leaf(reference) }
        guard
            let node = check.block(
                reference, table.collectionTag(.collectionBranch, layout.tagColumn), place, level,
                RowBranch.check)
        else {
            isReadable = false
            return 0
        }
        var total = 0
        for child in 0..<RowBranch.count(node) {
            let count = walk(BlockReference(RowBranch.reference(node, child)), level - 1)
            if isReadable, count != RowBranch.rows(node, child) {
                check.report.add(
                    "\(place), page \(reference.page): child \(child) has \(count) elements, its "
                        + "parent says \(RowBranch.rows(node, child))")
            }
            total += count
        }
        return total
    }

    private mutating func leaf(_ reference: BlockReference) -> Int {
        guard
            let block = check.block(
                reference, table.collectionTag(.collectionLeaf, layout.tagColumn), place,
                layout.context, RowLeafCheck.check)
        else {
            isReadable = false
            return 0
        }
        let view = LeafView(block)
        if view.liveRows != view.rows {
            check.report.add("\(place), page \(reference.page): has dead elements")
        }
        let subject = "\(place), page \(reference.page)"
        for index in 0..<min(view.columnCount, layout.columnCount) {
            _ = check.checkColumn(view, index, elements[index], table, "\(index)", subject)
        }
        do throws(RealmError) {
            for row in 0..<view.rows {
                let place = RowPlace(view, row)
                order(try table.value(place, 0, elements[0]), row)
                note(try table.value(place, layout.valueColumn, layout.valueInfo))
            }
        } catch {
            check.report.add("\(subject): \(error.message)")
            isReadable = false
        }
        return view.rows
    }

    /// Sets and the keys of dictionaries ascend.
    private mutating func order(_ value: RawValue, _ row: Int) {
        guard layout.type != .list else { return }
        if let last, CollectionOrder.compare(last, value, elements[0].kind) >= 0 {
            check.report.add("\(place): element \(row) is not above the one before")
        }
        last = value
    }

    private mutating func note(_ value: RawValue) {
        if let type = NestedCell.type(value) {
            let cell = NestedCell.cell(value)
            guard cell.count > 0, let start = cell.baseAddress else { return }
            var walk = ElementWalk(
                check: check, table: table,
                layout: ElementLayout(nested: type, column: layout.property), source: source,
                place: place)
            walk.run(start)
            isReadable = isReadable && walk.isReadable
            links += walk.links
            return
        }
        guard value.type == ValueType.link.rawValue else { return }
        links.append(
            CountedLink(
                classKey: value.linkClass, target: value.linkTarget, source: source))
    }
}
