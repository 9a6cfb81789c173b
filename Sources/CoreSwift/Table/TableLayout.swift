// From a class of the schema to the columns and indexes of its table.
//
// The indexes of a table stand in a fixed order, which the catalog repeats: by column, the value
// index of a column before its inverse index.

enum TableLayout {
    /// The columns of a class; throws for property types that cannot be stored yet.
    static func columns(
        _ item: ClassSchema, _ schema: Schema
    ) throws(RealmError) -> [ColumnInfo] {
        var infos: [ColumnInfo] = []
        var indexes: Int32 = 0
        let key = item.primaryKeyProperty?.name
        for property in item.properties {
            guard !property.flags.contains(.fullTextIndexed) else {
                throw RealmError(
                    .notSupported,
                    "\(item.name).\(property.name): full-text indexes are not supported yet")
            }
            let kind = try ColumnKind(property.type)
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
                isKey: isPrimary && kind == .int, isPrimaryKey: isPrimary,
                valueType: kind.valueType.rawValue, linkTarget: target, valueIndex: -1,
                inverseIndex: -1, propertyKey: property.key)
            if isPrimary || property.flags.contains(.indexed) {
                info.valueIndex = indexes
                indexes += 1
            }
            if kind.holdsLinks {
                info.inverseIndex = indexes
                indexes += 1
            }
            infos.append(info)
        }
        return infos
    }

    /// The column of a collection; its `elements` are allocated by `makeState`.
    private static func collection(
        _ property: PropertySchema, _ kind: ColumnKind, _ target: ClassKey
    ) -> ColumnInfo {
        var info = ColumnInfo(
            kind: .collection, isNullable: false, isKey: false, isPrimaryKey: false,
            valueType: .max, linkTarget: target, valueIndex: -1, inverseIndex: -1,
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
                kind: kind, isNullable: isNullable, isKey: false, isPrimaryKey: false,
                valueType: kind.valueType.rawValue, linkTarget: target, valueIndex: -1,
                inverseIndex: -1, propertyKey: info.propertyKey)
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
        guard table.pointee.columnCount == infos.count,
            table.pointee.isEmbedded == (item.kind == .embedded)
        else { return false }
        for (index, info) in infos.enumerated() {
            let old = table.pointee.columns[index]
            guard old.kind == info.kind, old.isNullable == info.isNullable,
                old.isPrimaryKey == info.isPrimaryKey, old.linkTarget == info.linkTarget,
                old.valueIndex == info.valueIndex, old.inverseIndex == info.inverseIndex,
                old.propertyKey == info.propertyKey, old.collection == info.collection,
                old.elementKind == info.elementKind,
                old.elementIsNullable == info.elementIsNullable
            else { return false }
        }
        return true
    }

    static func makeState(
        _ item: ClassSchema, _ infos: [ColumnInfo], nodes: NodeSource,
        stamp: UnsafeMutablePointer<UInt64>, directory: TableDirectory
    ) -> Table {
        let columns = UnsafeMutablePointer<ColumnInfo>.allocate(capacity: max(infos.count, 1))
        for (index, info) in infos.enumerated() {
            (columns + index).initialize(to: info)
            if info.kind == .collection { columns[index].elements = elements(info) }
        }
        let indexCount = infos.reduce(0) {
            $0 + ($1.valueIndex >= 0 ? 1 : 0) + ($1.inverseIndex >= 0 ? 1 : 0)
        }
        let indexes = UnsafeMutablePointer<TableIndex>.allocate(capacity: max(indexCount, 1))
        for (column, info) in infos.enumerated() {
            if info.valueIndex >= 0 {
                (indexes + Int(info.valueIndex)).initialize(
                    to: makeIndex(item.key, column, info, isInverse: false, nodes))
            }
            if info.inverseIndex >= 0 {
                (indexes + Int(info.inverseIndex)).initialize(
                    to: makeIndex(item.key, column, info, isInverse: true, nodes))
            }
        }
        let primary = infos.firstIndex { $0.isPrimaryKey } ?? -1
        let hasIntegerKey = infos.contains { $0.isKey }
        let table = Table.allocate(capacity: 1)
        table.initialize(
            to: TableState(
                classKey: item.key, columnCount: infos.count, columns: columns,
                primaryKeyColumn: primary, hasIntegerKey: hasIntegerKey,
                isEmbedded: item.kind == .embedded, nodes: nodes,
                leafTag: BlockTag(.rowLeaf, classKey: item.key),
                branchTag: BlockTag(.rowBranch, classKey: item.key), rowPlace: emptyPlace(),
                nextKey: hasIntegerKey ? IntegerKeys.indirectBase : 0, indexes: indexes,
                indexCount: indexCount, stamp: stamp, tables: directory.tables,
                tableCapacity: directory.capacity,
                hasSecondaryIndexes: infos.contains { $0.valueIndex >= 0 && !$0.isPrimaryKey },
                pathNodes: .allocate(capacity: TableState.depthMax),
                pathChildren: .allocate(capacity: TableState.depthMax)))
        return table
    }

    private static func makeIndex(
        _ classKey: ClassKey, _ column: Int, _ info: ColumnInfo, isInverse: Bool,
        _ nodes: NodeSource
    ) -> TableIndex {
        // Both trees of a link column with a value index would have one tag: the inverse gets
        // the upper half of the column numbers.
        let tree = IndexTree(
            nodes: nodes, rootPlace: emptyPlace(), depth: 0, count: 0, classKey: classKey,
            column: isInverse ? column | 0x8000 : column)
        return TableIndex(
            column: column, isInverse: isInverse, tree: tree,
            pending: IndexPending(
                words: isInverse && info.linksAreWords,
                isCounted: isInverse && info.countsLinks))
    }

    private static func emptyPlace() -> UnsafeMutableRawPointer {
        let place = UnsafeMutableRawPointer.allocate(
            byteCount: BlockReference.byteCount, alignment: 8)
        BlockReference.none.store(place)
        return place
    }
}
