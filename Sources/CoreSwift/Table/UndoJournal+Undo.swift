// Going back to a savepoint: the steps of the journal, last first. Since each is taken back in the
// state that its change left, positions are right, objects that something links to are there again
// before the link is, and what goes has nothing left that belongs to it.
//
// Rows come back under their keys and collections in mixed values under their numbers, so that
// handles and the links of others find them.

extension TableSet {
    /// What savepoints of the write transaction keep; nil while there are none.
    var journal: UndoJournal? {
        guard let journal = transaction?.pointee.undo, !journal.isEmpty else { return nil }
        return journal
    }

    /// A new savepoint of the write transaction.
    func makeSavepoint(_ number: UInt64) throws(RealmError) {
        guard let transaction else { return invariant(false, "no write transaction") }
        try tellCreated()
        let journal = transaction.pointee.undo ?? UndoJournal()
        transaction.pointee.undo = journal
        if journal.isEmpty { try add(journal) }
        journal.mark(number, record: transaction.pointee.changes.record?.pointee.mark() ?? 0)
    }

    /// Whether a savepoint has not ended.
    func stands(_ savepoint: UInt64) -> Bool { journal?.start(of: savepoint) != nil }

    /// Takes back what changed since a savepoint that stands, and ends those made after it. `redo`
    /// hears what that changes.
    func undo(to savepoint: UInt64, hearing redo: UndoJournal? = nil) throws(RealmError) {
        guard let transaction, let journal = transaction.pointee.undo,
            let start = journal.start(of: savepoint)
        else { return }
        // Also tells what was kept back. What follows must not be heard.
        try remove(journal)
        if let redo { try add(redo) }
        try cuttingRecord(to: journal.record(of: savepoint)) { () throws(RealmError) in
            while let step = journal.pop(downTo: start) { try undo(step) }
        }
        if let redo { try remove(redo) }
        try add(journal)
        journal.endAfter(savepoint)
    }

    /// Does again what was taken back, as `undo` heard it.
    func redo(_ steps: UndoJournal) throws(RealmError) {
        while let step = steps.pop(downTo: 0) { try undo(step) }
        try tellCreated()
    }

    /// Ends a savepoint with those made after it.
    func end(savepoint: UInt64) throws(RealmError) {
        guard let transaction, let journal = transaction.pointee.undo else { return }
        try tellCreated()
        journal.end(savepoint)
        if journal.isEmpty { try remove(journal) }
    }

    private func undo(_ step: UndoJournal.Step) throws(RealmError) {
        switch step {
        case .delete(let table, let keys):
            for key in keys.reversed() where try table.find(key) != nil {
                try table.deleteRow(key, isOwned: table.isEmbedded)
            }
        case .restore(let table, let key, let values): try table.restoreRow(key, values)
        case .set(let table, let key, let column, let value):
            try table.restore(value, key, column)
        case .insert(let place, let index, let element):
            let collection = try place.open()
            try place.table.insert(element, into: collection, at: index)
        case .replace(let place, let index, let value):
            try place.table.replace(try place.open(), at: index, value)
        case .remove(let place, let index):
            try place.table.remove(try place.open(), at: index)
        case .move(let place, let from, let to):
            try place.table.move(try place.open(), from: from, to: to)
        case .fill(let place, let elements):
            let collection = try place.open()
            try place.table.removeAll(collection)
            try place.table.fill(collection, elements)
        }
    }
}

extension UndoJournal.Place {
    /// The collection, opened.
    fileprivate func open() throws(RealmError) -> UnsafeMutablePointer<OpenCollection> {
        var result = try table.collection(key, column)
        for index in path {
            let value = try result.pointee.value(index, result.pointee.valueColumn).value
            guard let type = NestedCell.type(value),
                let inner = try table.nestedCollection(result, at: index, type)
            else {
                throw RealmError(
                    .brokenInvariant,
                    "going back to a savepoint: property \(table.named(column: column)) of object "
                        + "\(key) has no collection at \(path)")
            }
            result = inner
        }
        return result
    }
}

extension Table {
    /// A row as it was, under its key.
    fileprivate func restoreRow(
        _ key: ObjectKey, _ values: [UndoJournal.Kept?]
    ) throws(RealmError) {
        var primaryKey: RawValue?
        if primaryKeyColumn >= 0, case .value(let value)? = values[primaryKeyColumn] {
            primaryKey = value
        }
        try recreateRow(key, primaryKey: primaryKey)
        for (column, value) in values.enumerated() where column != primaryKeyColumn {
            guard let value else { continue }
            // Rows begin with nulls.
            if case .value(let raw) = value, raw.isNull { continue }
            try restore(value, key, column)
        }
    }

    /// What a property of a live row held.
    fileprivate func restore(
        _ value: UndoJournal.Kept, _ key: ObjectKey, _ column: Int
    ) throws(RealmError) {
        switch value {
        case .value(let raw): try restoreValue(raw, key, column)
        case .collection(let type, let number, let elements):
            if !isCollection(column) {
                try withNumber(number) { () throws(RealmError) in
                    try restoreValue(.empty(type), key, column)
                }
            }
            try fill(try collection(key, column), elements)
        }
    }

    private func restoreValue(
        _ value: RawValue, _ key: ObjectKey, _ column: Int
    ) throws(RealmError) {
        guard let place = try find(key) else {
            throw RealmError(
                .brokenInvariant, "going back to a savepoint: object \(key) of \(named) is gone")
        }
        try willSet(place, key, column, value)
        _ = try store(place, key, column, state.columns[column], value)
    }

    /// The collection that `body` makes in a mixed value gets this number.
    private func withNumber(
        _ number: CollectionNumber, _ body: () throws(RealmError) -> Void
    ) throws(RealmError) {
        let last = transaction.pointee.nestedNumber
        transaction.pointee.nestedNumber = number.rawValue - 1
        defer { transaction.pointee.nestedNumber = last }
        try body()
    }

    // MARK: Elements

    fileprivate func fill(
        _ collection: UnsafeMutablePointer<OpenCollection>, _ elements: [UndoJournal.Element]
    ) throws(RealmError) {
        for (index, element) in elements.enumerated() {
            try insert(element, into: collection, at: index)
        }
    }

    /// Recursion ends with the depth that collections in mixed values can have.
    fileprivate func insert(
        _ element: UndoJournal.Element, into collection: UnsafeMutablePointer<OpenCollection>,
        at index: Int
    ) throws(RealmError) {
        let key = collection.pointee.type == .dictionary ? element.key : nil
        try put(element.value, in: collection, at: index) { value throws(RealmError) in
            try insert(collection, at: index, key: key, value)
        }
    }

    fileprivate func replace(
        _ collection: UnsafeMutablePointer<OpenCollection>, at index: Int,
        _ value: UndoJournal.Kept
    ) throws(RealmError) {
        try put(value, in: collection, at: index) { value throws(RealmError) in
            try replace(collection, at: index, value)
        }
    }

    /// Has `store` store the value of an element, then fills the collection that it is.
    private func put(
        _ value: UndoJournal.Kept, in collection: UnsafeMutablePointer<OpenCollection>,
        at index: Int, _ store: (RawValue) throws(RealmError) -> Void
    ) throws(RealmError) {
        switch value {
        case .value(let raw): try store(raw)
        case .collection(let type, let number, let elements):
            try withNumber(number) { () throws(RealmError) in try store(.empty(type)) }
            guard let inner = try nestedCollection(collection, at: index, type) else { return }
            try fill(inner, elements)
        }
    }
}

extension RawValue {
    /// An empty collection in a mixed value; it gets its number where it is stored.
    static func empty(_ type: CollectionType) -> RawValue {
        RawValue(word0: 0, word1: 0, type: type == .list ? .list : .dictionary)
    }
}
