// Deletion of rows, with what follows from it: links to them, index entries, blocks and embedded
// objects.

extension Table {
    /// Deletes a live row: links to it become null or leave their collections, its own entries
    /// leave the indexes, its blocks are given up, and the embedded objects that it owns are
    /// deleted as well. `isOwned`: an embedded object whose owner has let go of it already.
    func deleteRow(_ key: ObjectKey, isOwned: Bool = false) throws(RealmError) {
        guard !state.isFilling else {
            throw RealmError(
                .illegalOperation,
                "object \(key) of \(named) can't be deleted while the file is filled")
        }
        // Handles must not take the row for theirs any more.
        state.stamp.pointee &+= 1
        var waiting: [OwnedObject] = []
        try deleteOne(key, isOwned: isOwned, &waiting)
        // Not by recursion: embedded objects may be nested as deep as memory allows.
        while let next = waiting.popLast() {
            try next.table.deleteOne(next.key, isOwned: true, &waiting)
        }
    }

    private func releaseLinks(to key: ObjectKey) throws(RealmError) {
        for (source, column) in state.incoming {
            guard let table = state.tables[source.index] else { continue }
            var last = ObjectKey.invalid
            for linking in try table.sources(of: key, in: state.classKey, column: column)
            where linking != last {
                last = linking
                guard let place = try table.find(linking) else { continue }
                let info = table.state.columns[column]
                let isNested =
                    info.kind == .mixed
                    ? try NestedCell.type(table.value(place, linking, column)) != nil : false
                if info.kind == .collection || isNested {
                    let link = RawValue.link(state.classKey, key)
                    try table.removeLinks(link, from: linking, column: column)
                } else {
                    try table.willSet(place, linking, column, .null, isDerived: true)
                    _ = try table.store(place, linking, column, info, .null)
                }
            }
        }
    }

    private func deleteOne(
        _ key: ObjectKey, isOwned: Bool, _ owned: inout [OwnedObject]
    ) throws(RealmError) {
        try finishFresh()
        if !isOwned { try releaseLinks(to: key) }
        guard var place = try find(key) else { return }
        try willDelete(key, isOwned: isOwned)
        for index in 0..<state.columnCount {
            let info = state.columns[index]
            if info.isVacated { continue }
            let isNested =
                info.kind == .mixed ? NestedCell.type(try value(place, key, index)) != nil : false
            if isNested, info.valueIndex >= 0 {
                try changeValueIndex(
                    info, key, try value(place, key, index), isAddition: false)
            }
            if info.kind == .collection || isNested {
                try dropCollection(place, key, index, &owned)
                // Which may have moved the row.
                guard let current = try find(key) else { return }
                place = current
                continue
            }
            if info.inverseIndex >= 0 {
                let old = try value(place, key, index)
                noteLink(info, key, old, isAddition: false)
                if let child = ownedObject(old) { owned.append(child) }
            }
            if info.valueIndex >= 0, !(info.isKey && key < IntegerKeys.indirectBase) {
                try changeValueIndex(
                    info, key, try value(place, key, index), isAddition: false)
            }
            if info.wordIndex >= 0 {
                changeWords(info, key, from: try value(place, key, index), to: .null)
            }
            if info.kind.hasHeap { try dropExternal(place, index) }
        }
        guard state.rowCount > 0 else {
            throw RealmError(
                .invalidDatabase,
                "class \(state.classKey) has more objects than it counts")
        }
        state.rowCount -= 1
        if place.state == .open {
            place.open.pointee.dead.put(1 as UInt8, place.row)
            place.open.pointee.deadRows += 1
            return
        }
        // The finger's leaf is at hand when deletions run along the keys.
        if place.state != .transient || place.view.tombstones == nil {
            place = try patchable(place, key)
        }
        LeafPatch.kill(place.view, place.row)
        state.tree.hasStaleCounts = true
    }

    func dropExternal(_ place: RowPlace, _ index: Int) throws(RealmError) {
        if place.state == .open {
            dropExternal(place.open, place.row, index)
        } else if let column = place.view.column(index), let externals = column.externals,
            LeafLayout.bit(externals, place.row),
            let record = column.bytes(place.row).baseAddress
        {
            memory.pointee.drop(BlockReference(record))
        }
    }
}
