// Whether the invariants of open collections hold (OpenCollection.swift, OpenCollection+Search.swift,
// LinkFinder.swift): called by tests with random changes, in builds with assertions.

extension Table {
    /// Traps where an invariant of one of the collections in use does not hold; throws when the
    /// file is damaged.
    func checkOpenCollections() throws(RealmError) {
        var nested = 0
        for collection in state.openCollections.items {
            invariant(
                state.openCollections.find(collection.pointee.key, collection.pointee.column)
                    == collection, "an open collection is not found")
            invariant(collection.pointee.parent == nil, "an element stands for itself")
            try check(collection, &nested)
            try checkCell(of: collection)
        }
        invariant(nested == state.openCollections.nestedCount, "\(nested) nested are open")
    }

    private func check(
        _ collection: UnsafeMutablePointer<OpenCollection>, _ nested: inout Int
    ) throws(RealmError) {
        collection.pointee.checkPieces()
        try collection.pointee.checkOrder()
        var found = 0
        for piece in 0..<collection.pointee.pieceCount {
            let values = try collection.pointee.values(ofPiece: piece)
            for value in values where NestedCell.type(value) != nil {
                if collection.pointee.children[NestedCell.number(value)] != nil { found += 1 }
            }
            let serial = collection.pointee.pieces[piece].serial
            invariant(
                collection.pointee.finder?.pointee.knows(values, collection.pointee.member, serial)
                    ?? true, "the finder misses elements of piece \(piece)")
        }
        let children = collection.pointee.children
        invariant(found == children.count, "6: \(children.count) children, \(found) elements")
        nested += children.count
        for (number, child) in children {
            invariant(
                child.pointee.number == number && child.pointee.parent == collection,
                "6: child \(number) is another's")
            invariant(
                child.pointee.finder == collection.pointee.finder, "a child has its own finder")
            try check(child, &nested)
        }
    }

    /// Invariant 4: what was not changed is what the row says.
    private func checkCell(
        of collection: UnsafeMutablePointer<OpenCollection>
    ) throws(RealmError) {
        guard !collection.pointee.isDirty,
            let place = try find(collection.pointee.key),
            var view = try CollectionView(
                self, place, collection.pointee.column, collection.pointee.type)
        else { return }
        invariant(view.count == collection.pointee.count, "4: the row has another count")
        for index in 0..<view.count {
            for column in 0..<collection.pointee.columnCount {
                let stored = try view.value(index, column)
                let value = try collection.pointee.value(index, column).value
                invariant(
                    NestedCell.type(stored) == NestedCell.type(value)
                        && (NestedCell.type(value) == nil
                            ? ValueOrder.compare(stored, value) == 0
                            : NestedCell.hasNumber(stored, NestedCell.number(value))),
                    "4: element \(index)")
            }
        }
    }
}

extension OpenCollection {
    fileprivate func values(ofPiece piece: Int) throws(RealmError) -> [RawValue] {
        var place = try leaf(piece)
        var values: [RawValue] = []
        for row in 0..<Int(counts[piece]) {
            place.row = row
            values.append(try table.value(place, valueColumn, valueInfo))
        }
        return values
    }

    /// Invariants 1, 2, 3 and 5.
    fileprivate func checkPieces() {
        var total = 0
        var start = 0
        var serials = Set<UInt32>()
        for piece in 0..<pieceCount {
            invariant(counts[piece] > 0, "1: piece \(piece) is empty")
            if piece < fingerPiece { start += Int(counts[piece]) }
            total += Int(counts[piece])
            serials.insert(pieces[piece].serial)
            guard let open = pieces[piece].open else {
                invariant(!pieces[piece].reference.isNone, "2: piece \(piece) is nowhere")
                continue
            }
            invariant(pieces[piece].reference.isNone, "2: piece \(piece) is a block, too")
            invariant(open.pointee.rows == Int(counts[piece]), "2: rows of piece \(piece)")
            invariant(pieces[piece].origin < 0, "3: open piece \(piece) has a node above it")
        }
        invariant(serials.count == pieceCount, "two pieces have one serial")
        invariant(total == count, "1: \(total) elements, not \(count)")
        invariant(pieceCount == 0 || fingerPiece < pieceCount, "5: finger at \(fingerPiece)")
        invariant(pieceCount == 0 || start == fingerStart, "5: finger at element \(fingerStart)")
        for (index, branch) in branches.enumerated() where !branch.isDirty {
            let below = (0..<pieceCount).filter { pieces[$0].origin == Int32(index) }
            let elements = below.reduce(0) { $0 + Int(counts[$1]) }
            invariant(
                below.count == branch.children && elements == branch.elements
                    && below.last.unsafelyUnwrapped - below[0] == below.count - 1,
                "3: node \(index)")
        }
    }

    /// Column 0 of sets and dictionaries ascends, and so do the words of pieces.
    fileprivate mutating func checkOrder() throws(RealmError) {
        guard type != .list, count > 0 else { return }
        for index in 1..<max(count, 1) {
            let below = try value(index - 1, 0).value
            let above = try value(index, 0).value
            invariant(
                CollectionOrder.compare(below, above, infos[0].kind) < 0,
                "elements \(index - 1) and \(index) are out of order")
        }
        var index = 0
        for piece in 0..<pieceCount {
            let first = try value(index, 0).value
            let found = try search(first)
            invariant(found.isFound && found.index == index, "piece \(piece) is not found")
            index += Int(counts[piece])
        }
    }
}
