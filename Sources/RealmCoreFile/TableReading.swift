// What a table is: its properties from its Spec, formats 10 on. `TableReading+Old.swift` has format 9.

struct TableReading {
    /// The keys of the tables that columns lead to, by the column's place in `CoreTable.columns`.
    typealias Targets = [(column: Int, table: Int64)]

    private static let noTable: Int64 = 0x7FFF_FFFF
    static let columnsMax = 1 << 16
    /// What is kept of a property but for its name, roughly.
    static let columnBytes = 256

    let store: NodeStore
    let name: String
    /// Its place in the file.
    let slot: Int

    func new(_ ref: UInt64) throws(CoreFileError) -> (CoreTable, Targets) {
        let top = try store.references(ref, "table", atLeast: 9)
        let key = try top.tagged(3)
        guard key <= 0x7FFF_FFFF, Int(key & 0xFFFF) == slot else {
            throw top.fail("table \(slot) has key \(key)")
        }
        let spec = try store.references(try top.ref(0), "properties", atLeast: 6)
        let opposites = try store.integers(try top.ref(7), "targets of links")
        let primary = top.count > 11 ? try top.int(11) : 0
        let flags = top.count > 12 ? try top.int(12) : 0
        let columns = try columns(spec, opposites)
        let kind: CoreTable.Kind
        switch flags & 1 == 1 ? flags >> 1 & 3 : 0 {
        case 0: kind = .ordinary
        case 1: kind = .embedded
        case 2: kind = .asymmetric
        default: throw top.fail("a table of no known kind")
        }
        var table = CoreTable(
            name: name, kind: kind, key: Int64(key), columns: columns.map(\.0),
            root: try top.ref(2))
        if primary & 1 == 1 {
            let key = Int64(bitPattern: UInt64(bitPattern: primary) >> 1)
            guard let index = table.columns.firstIndex(where: { $0.key == key }) else {
                throw top.fail("the primary key is column \(key), which there is not")
            }
            table.primaryKey = index
        }
        var targets: Targets = []
        for (index, column) in columns.enumerated() {
            if let target = column.1 { targets.append((index, target)) }
        }
        return (table, targets)
    }

    private func columns(
        _ spec: Node, _ opposites: Node
    ) throws(CoreFileError) -> [(CoreColumn, Int64?)] {
        let types = try store.integers(try spec.ref(0), "types of properties")
        let names = try TextLeaf(
            store, try store.node(try spec.ref(1), "names of properties"), .names)
        let attributes = try store.integers(try spec.ref(2), "attributes of properties")
        let keys = try store.integers(try spec.ref(5), "keys of properties")
        guard types.count == attributes.count, types.count == keys.count,
            names.count <= types.count, types.count <= Self.columnsMax
        else {
            throw spec.fail(
                "\(types.count) types, \(names.count) names, \(attributes.count) attributes and "
                    + "\(keys.count) keys of properties")
        }
        try store.spend(types.count, types)
        try store.hold(types.count * Self.columnBytes, types)
        let textsRef = try spec.ref(4)
        let texts = textsRef == 0 ? nil : try store.references(textsRef, "enumerated texts")
        var columns: [(CoreColumn, Int64?)] = []
        var slots: Set<Int> = []
        var seen: Set<String> = []
        for index in 0..<types.count {
            let word = try types.int(index)
            var type = word & 0xFFFF
            // Backlinks: they come last and can be had from the links.
            if type == 14 { continue }
            guard index < names.count else { throw types.fail("property \(index) has no name") }
            let name = try names.bytes(index).map { store.text($0) } ?? ""
            func fail(_ reason: String) -> CoreFileError {
                types.fail("property '\(name)': \(reason)")
            }
            var key = try keys.int(index)
            let attribute = try attributes.int(index)
            let isOldLinkList = type == 13
            if isOldLinkList { type = 12 }
            guard let known = CoreType(rawValue: Int(type)) else { throw fail("type \(type)") }
            guard key >= 0 else { throw fail("key \(key)") }
            let bits = key >> 22 & 0xFF
            let collection: CoreCollection
            switch (bits & 32 != 0 || isOldLinkList, bits & 64 != 0, bits & 128 != 0) {
            case (false, false, false): collection = .none
            case (true, false, false): collection = .list
            case (false, true, false): collection = .dictionary
            case (false, false, true): collection = .set
            default: throw fail("several kinds of collection")
            }
            // Newer files write it so.
            if isOldLinkList { key = key & ~(0x3F << 16) | 12 << 16 }
            let slot = Int(key & 0xFFFF)
            guard slots.insert(slot).inserted else {
                throw fail("column \(slot) has another owner")
            }
            guard seen.insert(name).inserted else { throw fail("there are two of them") }
            var target: Int64?
            if known == .link {
                guard slot < opposites.count else { throw fail("a link without a class") }
                let table = try opposites.int(slot)
                guard table != Self.noTable else { throw fail("a link without a class") }
                target = table
            }
            // Only strings of objects are ever enumerated.
            var textsOfColumn: UInt64?
            if let texts, index < texts.count, known == .string, collection == .none {
                let ref = try texts.ref(index)
                if ref != 0 { textsOfColumn = ref }
            }
            // The library's own column with the former numbers of rows.
            if name == "!ROW_INDEX" { continue }
            columns.append(
                (
                    CoreColumn(
                        name: name, type: known, collection: collection,
                        isNullable: bits & 16 != 0, isIndexed: attribute & 1 != 0,
                        isFullTextIndexed: attribute & 256 != 0, target: nil, key: key,
                        hasIntKeys: collection == .dictionary && word >> 16 == 0,
                        slot: slot,
                        texts: textsOfColumn, isSubtable: false), target
                ))
        }
        return columns
    }
}
