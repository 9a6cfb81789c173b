// The objects of a table, formats 10 on: cluster by cluster.

extension CoreFile {
    func readObjects(
        _ table: CoreTable, _ columns: [CoreColumn],
        _ body: (Int64, [CoreValue]) throws(CoreFileError) -> Void
    ) throws(CoreFileError) {
        var texts: [EnumeratedTexts?] = []
        for column in columns { texts.append(try enumeratedTexts(column)) }
        let heldBefore = store.held
        var values = [CoreValue](repeating: .null, count: columns.count)
        try ClusterTree(store).read(table.root, keysAscendFromZero: true) {
            (cluster, keys) throws(CoreFileError) in
            // An empty table has a cluster without columns.
            if keys.isEmpty { return }
            let held = store.held
            var contents: [ColumnOfCluster] = []
            contents.reserveCapacity(columns.count)
            for (column, texts) in zip(columns, texts) {
                do throws(CoreFileError) {
                    contents.append(
                        try ColumnOfCluster(reader, cluster, column, texts, count: keys.count))
                } catch {
                    throw error.within("property '\(column.name)'")
                }
            }
            for (row, key) in keys.enumerated() {
                store.letGo(to: held)
                for index in contents.indices {
                    do throws(CoreFileError) {
                        values[index] = try contents[index].value(row)
                    } catch {
                        throw error.within("object \(key), property '\(columns[index].name)'")
                    }
                }
                try body(key, values)
            }
            // Nothing points to nodes now.
            contents = []
            store.letGo(to: heldBefore)
            store.bytes.release()
        }
    }

    func readClusters(
        _ table: CoreTable, _ columns: [CoreColumn],
        _ body: (CoreCluster) throws(CoreFileError) -> Void
    ) throws(CoreFileError) {
        var texts: [EnumeratedTexts?] = []
        for column in columns { texts.append(try enumeratedTexts(column)) }
        let heldBefore = store.held
        try ClusterTree(store).read(table.root, keysAscendFromZero: true) {
            (cluster, keys) throws(CoreFileError) in
            if keys.isEmpty { return }
            reader.keeper.clear()
            var contents: CoreCluster? = try CoreCluster(reader, cluster, keys, columns, texts)
            if let contents { try body(contents) }
            // Nothing points to nodes now.
            contents = nil
            store.letGo(to: heldBefore)
            reader.keeper.clear()
            store.bytes.release()
        }
    }

    /// The texts that an enumerated column has once; nil of others.
    func enumeratedTexts(_ column: CoreColumn) throws(CoreFileError) -> EnumeratedTexts? {
        guard let ref = column.texts else { return nil }
        return EnumeratedTexts(
            try reader.elements(
                ref, LeafRules(type: .string, isNullable: column.isNullable, isOld: isOld)))
    }
}

/// The values of one property for the objects of a cluster.
struct ColumnOfCluster {
    enum Form {
        case leaf(Leaf)
        case collections(Node)
    }

    let form: Form
    private let column: CoreColumn
    private let reader: ValueReader

    init(
        _ reader: ValueReader, _ cluster: Cluster, _ column: CoreColumn, _ texts: EnumeratedTexts?,
        count: Int
    ) throws(CoreFileError) {
        self.reader = reader
        self.column = column
        let node = try cluster.leaf(column.slot)
        let found: Int
        if column.collection == .none {
            let leaf = try Leaf(
                reader, node,
                LeafRules(
                    type: column.type, isNullable: column.isNullable, target: column.target,
                    texts: texts))
            found = leaf.count
            form = .leaf(leaf)
        } else {
            guard node.kind == .integers, node.hasRefs, !node.isInner else {
                throw node.fail("not a leaf of collections")
            }
            found = node.count
            form = .collections(node)
        }
        guard found == count else { throw node.fail("\(found) values of \(count) objects") }
    }

    /// What the elements of a collection are.
    var elementRules: ElementRules {
        ElementRules(type: column.type, isNullable: column.isNullable, target: column.target)
    }

    func value(_ row: Int) throws(CoreFileError) -> CoreValue {
        switch form {
        case .leaf(let leaf): return try leaf.value(row)
        case .collections(let node):
            let ref = try node.ref(row)
            if column.collection == .dictionary {
                return .dictionary(try reader.dictionary(ref, hasIntKeys: column.hasIntKeys))
            }
            let elements = try reader.elements(ref, elementRules.leaf)
            return column.collection == .set ? .set(elements) : .list(elements)
        }
    }
}
