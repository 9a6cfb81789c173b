// Links in collections to an object that is deleted: they leave lists and sets, and become null in
// dictionaries. Called for each object that links to it, by `deleteRow`.

extension Table {
    /// Removes the links to a deleted object from the collection of a property, or from those in a
    /// mixed value.
    func removeLinks(
        _ link: RawValue, from source: ObjectKey, column: Int
    ) throws(RealmError) {
        if let place = try find(source), isCell(place, source, column),
            try removeLinksFromCell(link, place, source, column)
        {
            return
        }
        let collection = try self.collection(source, column)
        if collection.pointee.type == .set {
            // In order, and none of its elements is a collection.
            let place = try collection.pointee.search(link)
            if place.isFound { try removeLink(link, from: collection, at: place.index) }
            return
        }
        guard let finder = try linkFinder(collection) else {
            return try removeLinks(link, fromAllOf: collection)
        }
        for place in finder.pointee.pieces(of: link.linkTarget) {
            let positions = try self.positions(of: link, in: place.collection, place.piece)
            for index in positions.reversed() {
                try removeLink(link, from: place.collection, at: index)
            }
        }
    }

    /// What knows where the links of the collection are, once that is worth while.
    private func linkFinder(
        _ collection: UnsafeMutablePointer<OpenCollection>
    ) throws(RealmError) -> UnsafeMutablePointer<LinkFinder>? {
        if let known = collection.pointee.finder, known.pointee.isOvergrown {
            LinkFinder.leave(collection)
        }
        collection.pointee.linkSearches += 1
        if collection.pointee.linkSearches == 1 { return nil }
        let finder = collection.pointee.finder ?? LinkFinder.make(collection)
        while let next = finder.pointee.nextWaiting() {
            do throws(RealmError) {
                try read(next.collection, next.piece, for: finder)
            } catch {
                // It was not read to its end.
                LinkFinder.leave(collection)
                throw error
            }
        }
        return finder
    }

    /// Tells the finder of the links in a piece, and of the collections.
    private func read(
        _ collection: UnsafeMutablePointer<OpenCollection>, _ piece: Int,
        for finder: UnsafeMutablePointer<LinkFinder>
    ) throws(RealmError) {
        let column = collection.pointee.valueColumn
        let info = collection.pointee.valueInfo
        let member = collection.pointee.member
        let serial = collection.pointee.pieces[piece].serial
        let start = collection.pointee.start(ofPiece: piece)
        var place = try collection.pointee.leaf(piece)
        for row in 0..<Int(collection.pointee.counts[piece]) {
            place.row = row
            let value = try self.value(place, column, info)
            if let type = NestedCell.type(value) {
                if let child = try nestedCollection(collection, at: start + row, type) {
                    finder.pointee.add(child)
                }
            } else {
                finder.pointee.note(value, member, serial)
            }
        }
    }

    /// Goes through all elements, and through those of collections among them.
    private func removeLinks(
        _ link: RawValue, fromAllOf collection: UnsafeMutablePointer<OpenCollection>
    ) throws(RealmError) {
        let column = collection.pointee.valueColumn
        let info = collection.pointee.valueInfo
        for piece in (0..<collection.pointee.pieceCount).reversed() {
            if info.kind == .mixed {
                let start = collection.pointee.start(ofPiece: piece)
                var place = try collection.pointee.leaf(piece)
                for row in 0..<Int(collection.pointee.counts[piece]) {
                    place.row = row
                    guard let type = NestedCell.type(try value(place, column, info)),
                        let child = try nestedCollection(collection, at: start + row, type)
                    else { continue }
                    try removeLinks(link, fromAllOf: child)
                }
            }
            for index in try positions(of: link, in: collection, piece).reversed() {
                try removeLink(link, from: collection, at: index)
            }
        }
    }

    /// Where a piece holds the link, ascending.
    private func positions(
        of link: RawValue, in collection: UnsafeMutablePointer<OpenCollection>, _ piece: Int
    ) throws(RealmError) -> [Int] {
        let column = collection.pointee.valueColumn
        let info = collection.pointee.valueInfo
        let start = collection.pointee.start(ofPiece: piece)
        let rows = Int(collection.pointee.counts[piece])
        var place = try collection.pointee.leaf(piece)
        var found: [Int] = []
        if place.state == .open {
            for row in try place.open.pointee.columns[column].rows(with: link, of: rows) {
                found.append(start + row)
            }
            return found
        }
        if info.kind == .link, let values = place.view.column(column),
            values.flags.contains(.hasBounds)
        {
            let target = link.linkTarget.rawValue
            if target < values.minimumInt || target > values.maximumInt { return [] }
        }
        for row in 0..<rows {
            place.row = row
            if isSameLink(try value(place, column, info), link) { found.append(start + row) }
        }
        return found
    }

    private func removeLink(
        _ link: RawValue, from collection: UnsafeMutablePointer<OpenCollection>, at index: Int
    ) throws(RealmError) {
        let isDictionary = collection.pointee.type == .dictionary
        try willChange(
            collection,
            isDictionary
                ? .replaced(at: index, .null, isDerived: true)
                : .removed(at: index, isDerived: true))
        noteLink(collection, link, isAddition: false)
        if isDictionary {
            let (leaf, row) = try collection.pointee.changeRow(at: index)
            setElement(
                leaf, row, collection.pointee.valueColumn, collection.pointee.valueInfo, .null)
        } else {
            try collection.pointee.removeRow(at: index)
        }
    }
}
