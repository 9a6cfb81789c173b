// From a class of the schema to the columns and indexes of its table.
//
// The indexes of a table stand in a fixed order, which the catalog repeats: by column, the value
// index of a column before its inverse index and its full-text index.

enum TableLayout {
    /// The columns of a class; throws for property types that cannot be stored yet. What the
    /// columns own is made by `makeState` and `reshape`.
    static func columns(
        _ item: ClassSchema, _ schema: Schema
    ) throws(RealmError) -> [ColumnInfo] {
        var infos: [ColumnInfo] = []
        infos.reserveCapacity(item.columnCount)
        var indexes: Int32 = 0
        let key = item.primaryKeyProperty?.name
        let vacated = Set(item.vacated.map(\.key))
        for property in item.columns {
            let kind = try ColumnKind(property.type)
            if vacated.contains(property.key) {
                infos.append(Self.vacated(property, kind))
                continue
            }
            var target = ClassKey.invalid
            if kind == .link {
                guard let found = schema.class_(named: property.linkTarget) else {
                    throw RealmError(
                        .invalidDatabase,
                        "\(item.name).\(property.name) links to class \(property.linkTarget), "
                            + "which the schema lacks")
                }
                target = found.key
            }
            if property.collection != .none {
                var info = Self.collection(property, kind, target)
                if kind.holdsLinks {
                    info.inverseIndex = indexes
                    indexes += 1
                }
                infos.append(info)
                continue
            }
            let isPrimary = property.name == key
            var info = ColumnInfo(
                kind: kind, isNullable: property.isNullable || kind.holdsLinks,
                isKey: isPrimary && kind == .int && !property.storage.isIndexedKey,
                isPrimaryKey: isPrimary, valueType: kind.valueType.rawValue, linkTarget: target,
                propertyKey: property.key)
            if isPrimary || property.flags.contains(.indexed) {
                info.valueIndex = indexes
                indexes += 1
            }
            if kind.holdsLinks {
                info.inverseIndex = indexes
                indexes += 1
            }
            if kind == .string, let rules = property.wordRules {
                info.wordIndex = indexes
                info.wordRules = rules
                indexes += 1
            }
            infos.append(info)
        }
        return infos
    }

    /// The column of a property that was dropped: what leaves hold for it is still checked.
    private static func vacated(_ property: PropertySchema, _ kind: ColumnKind) -> ColumnInfo {
        var info: ColumnInfo
        if property.collection != .none {
            info = collection(property, kind, .invalid)
        } else {
            info = ColumnInfo(
                kind: kind, isNullable: property.isNullable || kind.holdsLinks, valueType: .max)
        }
        info.propertyKey = .invalid
        info.isVacated = true
        return info
    }

    /// The column of a collection.
    private static func collection(
        _ property: PropertySchema, _ kind: ColumnKind, _ target: ClassKey
    ) -> ColumnInfo {
        var info = ColumnInfo(
            kind: .collection, isNullable: false, valueType: .max, linkTarget: target,
            propertyKey: property.key)
        info.collection = property.collection
        info.elementKind = kind
        // Links in dictionaries may be null, in lists and sets never.
        info.elementIsNullable =
            kind == .link
            ? property.collection == .dictionary : property.isNullable || kind == .mixed
        return info
    }

    /// The columns of a collection's elements: keys of a dictionary, then the values.
    private static func elements(_ info: ColumnInfo) -> UnsafeMutablePointer<ColumnInfo> {
        let elements = UnsafeMutablePointer<ColumnInfo>.allocate(capacity: info.elementColumns)
        func column(_ kind: ColumnKind, _ isNullable: Bool, _ target: ClassKey) -> ColumnInfo {
            ColumnInfo(
                kind: kind, isNullable: isNullable, valueType: kind.valueType.rawValue,
                linkTarget: target, propertyKey: info.propertyKey)
        }
        if info.collection == .dictionary {
            elements.initialize(to: column(.string, false, .invalid))
        }
        (elements + info.valueColumn).initialize(
            to: column(info.elementKind, info.elementIsNullable, info.linkTarget))
        return elements
    }

    /// Whether a table state fits these columns as it is.
    static func isSame(_ table: Table, _ infos: [ColumnInfo], _ item: ClassSchema) -> Bool {
        guard hasSameColumns(table, infos, item) else { return false }
        return infos.enumerated().allSatisfy { index, info in
            let old = table.state.columns[index]
            return old.valueIndex == info.valueIndex && old.inverseIndex == info.inverseIndex
                && old.wordIndex == info.wordIndex && old.wordRules == info.wordRules
        }
    }

    /// Whether a table state fits these columns but for their indexes.
    static func hasSameColumns(
        _ table: Table, _ infos: [ColumnInfo], _ item: ClassSchema
    ) -> Bool {
        guard table.state.columnCount == infos.count,
            table.state.isEmbedded == (item.kind == .embedded)
        else { return false }
        for (index, info) in infos.enumerated() {
            let old = table.state.columns[index]
            guard old.isPrimaryKey == info.isPrimaryKey, old.isKey == info.isKey,
                isSameColumn(old, info)
            else { return false }
        }
        return true
    }

    /// Whether two columns hold the same values in the same form.
    private static func isSameColumn(_ old: ColumnInfo, _ info: ColumnInfo) -> Bool {
        old.kind == info.kind && old.isNullable == info.isNullable
            && old.linkTarget == info.linkTarget && old.propertyKey == info.propertyKey
            && old.collection == info.collection && old.elementKind == info.elementKind
            && old.elementIsNullable == info.elementIsNullable && old.isVacated == info.isVacated
    }

    static func makeState(
        _ item: ClassSchema, _ infos: [ColumnInfo], nodes: NodeSource,
        stamp: UnsafeMutablePointer<UInt64>, directory: TableDirectory, schema: Schema
    ) -> Table {
        var owned = OwnedByColumns()
        let columns = makeColumns(infos, item, like: nil, &owned)
        let wanted = kinds(infos)
        let indexes = UnsafeMutablePointer<TableIndex>.allocate(capacity: max(wanted.count, 1))
        for (position, index) in wanted.enumerated() {
            (indexes + position).initialize(
                to: makeIndex(item.key, index.column, infos[index.column], index.kind, nodes))
        }
        let primary = infos.firstIndex { $0.isPrimaryKey } ?? -1
        let hasIntegerKey = infos.contains { $0.isKey }
        let table = Table(
            TableState(
                classKey: item.key, columnCount: infos.count, columns: columns,
                primaryKeyColumn: primary, hasIntegerKey: hasIntegerKey,
                isEmbedded: item.kind == .embedded, tree: RowTree(nodes, classKey: item.key),
                nextKey: ClientKeys.first(
                    nodes.clientNumber, hasIntegerKey: hasIntegerKey),
                indexes: indexes,
                indexCount: wanted.count, stamp: stamp, tables: directory.tables,
                tableCapacity: directory.capacity,
                hasSecondaryIndexes: hasSecondaryIndexes(infos), schema: schema))
        table.state.ownedByColumns = owned
        table.noteCare()
        return table
    }

    /// Columns with what they own. Of `old` the elements are taken over where the column is the same:
    /// handles may use them.
    private static func makeColumns(
        _ infos: [ColumnInfo], _ item: ClassSchema, like old: Table?,
        _ owned: inout OwnedByColumns
    ) -> UnsafeMutablePointer<ColumnInfo> {
        let columns = UnsafeMutablePointer<ColumnInfo>.allocate(capacity: max(infos.count, 1))
        owned.columns.append(columns)
        let properties = item.columns
        for (index, info) in infos.enumerated() {
            (columns + index).initialize(to: info)
            if info.kind == .collection {
                if let old, index < old.columnCount, isSameColumn(old.columns[index], info),
                    let known = old.columns[index].elements
                {
                    columns[index].elements = known
                } else {
                    let made = elements(info)
                    owned.elements.append(made)
                    columns[index].elements = made
                }
            }
            if !info.isVacated, let initial = properties[index].storage.initial {
                let made = InitialColumn.make(initial, info)
                owned.initials.append(made)
                columns[index].initial = made
            }
        }
        return columns
    }

    /// Gives a table other columns, and the indexes that go with them: those that it has stay, new
    /// ones are empty. Its rows stay as they are; no leaf is open. Handles that point to the state
    /// go on.
    static func reshape(
        _ table: Table, _ infos: [ColumnInfo], _ item: ClassSchema, _ nodes: NodeSource
    ) {
        var owned = table.state.ownedByColumns
        table.state.columns = makeColumns(infos, item, like: table, &owned)
        table.state.ownedByColumns = owned
        table.state.columnCount = infos.count
        table.state.primaryKeyColumn = infos.firstIndex { $0.isPrimaryKey } ?? -1
        table.state.hasIntegerKey = infos.contains { $0.isKey }
        table.state.isEmbedded = item.kind == .embedded
        setIndexes(table, infos, nodes)
        table.clearFinger()
    }

    /// The indexes of the columns by their positions.
    private static func kinds(_ infos: [ColumnInfo]) -> [(column: Int, kind: IndexKind)] {
        var found: [(column: Int, kind: IndexKind)] = []
        for (column, info) in infos.enumerated() {
            if info.valueIndex >= 0 { found.append((column, .values)) }
            if info.inverseIndex >= 0 { found.append((column, .inverse)) }
            if info.wordIndex >= 0 { found.append((column, info.wordRules.indexKind)) }
        }
        return found
    }

    private static func hasSecondaryIndexes(_ infos: [ColumnInfo]) -> Bool {
        infos.contains { $0.valueIndex >= 0 && !$0.isPrimaryKey }
    }

    private static func makeIndex(
        _ classKey: ClassKey, _ column: Int, _ info: ColumnInfo, _ kind: IndexKind,
        _ nodes: NodeSource
    ) -> TableIndex {
        let tree = IndexTree(
            nodes: nodes, rootPlace: emptyPlace(), depth: 0, count: 0, classKey: classKey,
            column: kind.tagColumn(column))
        let isInverse = kind == .inverse
        let shape: IndexPending.Shape =
            kind.isWords ? .terms : isInverse && info.linksAreWords ? .words : .texts
        return TableIndex(
            column: column, kind: kind, tree: tree,
            pending: IndexPending(shape, isCounted: isInverse && info.countsLinks))
    }

    // MARK: Changing indexes

    /// Positions of the indexes of a table that these columns have no more.
    static func superfluous(_ table: Table, _ infos: [ColumnInfo]) -> [Int] {
        let wanted = kinds(infos)
        return (0..<table.state.indexCount).filter { position in
            let old = table.state.indexes[position]
            return !wanted.contains { $0.column == old.column && $0.kind == old.kind }
        }
    }

    /// Gives a table state, whose columns fit, the indexes of `infos`: those that it has stay, new
    /// ones are empty. Handles that point to the state go on.
    static func setIndexes(_ table: Table, _ infos: [ColumnInfo], _ nodes: NodeSource) {
        let wanted = kinds(infos)
        let old = table.state.indexes
        let gone = superfluous(table, infos)
        let indexes = UnsafeMutablePointer<TableIndex>.allocate(capacity: max(wanted.count, 1))
        for (position, index) in wanted.enumerated() {
            let found = (0..<table.state.indexCount).first {
                old[$0].column == index.column && old[$0].kind == index.kind
            }
            if let found {
                (indexes + position).initialize(to: old[found])
                continue
            }
            var made = makeIndex(
                table.state.classKey, index.column, infos[index.column], index.kind, nodes)
            made.isNew = true
            (indexes + position).initialize(to: made)
        }
        for position in gone {
            old[position].pending.deallocate()
            old[position].tree.rootPlace.deallocate()
        }
        old.deinitialize(count: table.state.indexCount)
        old.deallocate()
        table.state.indexes = indexes
        table.state.indexCount = wanted.count
        table.state.hasSecondaryIndexes = hasSecondaryIndexes(infos)
        for (column, info) in infos.enumerated() {
            table.state.columns[column].valueIndex = info.valueIndex
            table.state.columns[column].inverseIndex = info.inverseIndex
            table.state.columns[column].wordIndex = info.wordIndex
            table.state.columns[column].wordRules = info.wordRules
        }
        table.noteCare()
    }

    private static func emptyPlace() -> UnsafeMutableRawPointer {
        let place = UnsafeMutableRawPointer.allocate(
            byteCount: BlockReference.byteCount, alignment: 8)
        BlockReference.none.store(place)
        return place
    }
}
