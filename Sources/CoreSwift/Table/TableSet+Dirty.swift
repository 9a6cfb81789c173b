// Whether a write transaction has done anything yet, and the keys that it gives.

extension TableSet {
    /// The running write transaction has changed something, the schema included.
    var hasChanges: Bool {
        guard isWriting else { return false }
        var found = knownSchema == nil
        forEachTable { if $0.state.changes.isDirty { found = true } }
        return found
    }

    /// The next object key of each class that gives keys in sequence.
    func nextKeys() -> [ClassKey: ObjectKey] {
        var result: [ClassKey: ObjectKey] = [:]
        for item in stored.schema.classes {
            if let table = table(item.key) { result[item.key] = table.state.nextKey }
        }
        return result
    }

    /// The first number that the transaction gave a collection in a mixed value; nil if it gave none.
    var firstNumber: CollectionNumber? {
        guard let state = transaction?.pointee, state.nestedNumber > state.nestedStart else {
            return nil
        }
        return CollectionNumber(rawValue: state.nestedStart + 1)
    }
}
