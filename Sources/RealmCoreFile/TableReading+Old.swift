// What a table is in format 9: no keys of columns, and lists are columns of types of their own.

extension TableReading {
    func old(_ ref: UInt64) throws(CoreFileError) -> (CoreTable, Targets) {
        let top = try store.references(ref, "table", atLeast: 2)
        guard top.count == 2 else {
            throw CoreFileError(
                .unsupported,
                "its upgrade to a newer format was interrupted; open the file with the library that "
                    + "began it, which finishes it")
        }
        let spec = try store.references(try top.ref(0), "properties", atLeast: 3)
        var table = CoreTable(
            name: name, kind: .ordinary, key: Int64(slot), columns: [], root: try top.ref(1))
        var targets: Targets = []
        try oldColumns(spec, &table, &targets)
        return (table, targets)
    }

    private func oldColumns(
        _ spec: Node, _ table: inout CoreTable, _ targets: inout Targets
    ) throws(CoreFileError) {
        let types = try store.integers(try spec.ref(0), "types of properties")
        let names = try TextLeaf(
            store, try store.node(try spec.ref(1), "names of properties"), .names)
        let attributes = try store.integers(try spec.ref(2), "attributes of properties")
        guard types.count == attributes.count, names.count <= types.count,
            types.count <= Self.columnsMax
        else {
            throw spec.fail(
                "\(types.count) types, \(names.count) names and \(attributes.count) attributes")
        }
        try store.spend(types.count, types)
        try store.hold(types.count * Self.columnBytes, types)
        let subspecsRef = try spec.refIfThere(3)
        let subspecs = subspecsRef == 0 ? nil : try store.references(subspecsRef, "subspecs")
        let textsRef = try spec.refIfThere(4)
        let texts = textsRef == 0 ? nil : try store.references(textsRef, "enumerated texts")
        var place = 0
        var nextSubspec = 0
        var nextText = 0
        var seen: Set<String> = []
        func subspec() throws(CoreFileError) -> (Node, Int) {
            guard let subspecs, nextSubspec < subspecs.count else {
                throw spec.fail("what a column leads to is missing")
            }
            nextSubspec += 1
            return (subspecs, nextSubspec - 1)
        }
        for index in 0..<types.count {
            let type = try types.int(index)
            let attribute = try attributes.int(index)
            let slot = place
            place += attribute & 1 != 0 ? 2 : 1
            if type == 14 {
                _ = try subspec()
                _ = try subspec()
                continue
            }
            guard index < names.count else { throw types.fail("property \(index) has no name") }
            var name = try names.bytes(index).map { store.text($0) } ?? ""
            if name.isEmpty { name = "col_\(index)" }
            if !seen.insert(name).inserted {
                name += "_\(index)"
                guard seen.insert(name).inserted else {
                    throw types.fail("two properties of the name '\(name)'")
                }
            }
            var kind: CoreType?
            var collection = CoreCollection.none
            var target: Int64?
            var textsOfColumn: UInt64?
            var isNullable = attribute & 16 != 0
            switch type {
            case 3:
                kind = .string
                guard let texts, nextText < texts.count else {
                    throw types.fail("property '\(name)': its texts are missing")
                }
                textsOfColumn = try texts.ref(nextText)
                nextText += 1
            case 5:
                let (array, element) = try subspec()
                let inner = try store.references(try array.ref(element), "subspec", atLeast: 3)
                let innerTypes = try store.integers(try inner.ref(0), "types of a subtable")
                let innerAttributes = try store.integers(
                    try inner.ref(2), "attributes of a subtable")
                if innerTypes.count == 1, innerAttributes.count == 1,
                    let innerKind = CoreType(rawValue: Int(try innerTypes.int(0))),
                    ![.mixed, .link, .typedLink].contains(innerKind)
                {
                    kind = innerKind
                    isNullable = try innerAttributes.int(0) & 16 != 0
                }
                collection = .list
                if kind == nil {
                    table.omitted.append(
                        "\(name): a subtable, which only programs in C++ could make")
                    continue
                }
            case 6:
                table.omitted.append("\(name): mixed values of format 9, which only C++ could make")
                continue
            case 7: kind = nil
            case 12, 13:
                kind = .link
                let (array, element) = try subspec()
                target = Int64(bitPattern: try array.tagged(element))
                if type == 13 { collection = .list } else { isNullable = true }
            default: kind = CoreType(rawValue: Int(type))
            }
            guard let kind else {
                throw types.fail("property '\(name)': type \(type) in format 9")
            }
            if name == "!OID" || name == "!ROW_INDEX" { continue }
            if let target { targets.append((table.columns.count, target)) }
            table.columns.append(
                CoreColumn(
                    name: name, type: kind, collection: collection, isNullable: isNullable,
                    isIndexed: attribute & 1 != 0, isFullTextIndexed: false, target: nil,
                    key: nil, hasIntKeys: false, slot: slot, texts: textsOfColumn,
                    isSubtable: type == 5))
        }
    }
}
