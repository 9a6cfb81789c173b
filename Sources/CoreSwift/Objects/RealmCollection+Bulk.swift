// Many elements of a list, set or dictionary in one call: what bindings iterate with. The place of
// the collection is found once for all of them, where one call an element finds it for each.

extension RealmCollection {
    /// Reads elements from position `first` on: `count` of them, fewer at the end; of a dictionary
    /// the values. Returns how many there were. Text is borrowed until the realm moves or changes.
    package func read(
        from first: Int, count: Int, into target: UnsafeMutablePointer<RawValue>
    ) throws(RealmError) -> Int {
        try read(type == .dictionary ? 1 : 0, first, count, target)
    }

    /// The same for the keys of a dictionary.
    package func readKeys(
        from first: Int, count: Int, into target: UnsafeMutablePointer<RawValue>
    ) throws(RealmError) -> Int {
        try read(0, first, count, target)
    }

    private func read(
        _ column: Int, _ first: Int, _ count: Int, _ target: UnsafeMutablePointer<RawValue>
    ) throws(RealmError) -> Int {
        guard first >= 0, count >= 0 else {
            throw RealmError(
                .indexOutOfBounds, "cannot read \(count) elements from index \(first)")
        }
        try refresh()
        var rows = 0
        let keeps = realm.isWritable
        try elements.forEach(column, from: first, count: count, table) { value, _ in
            target[rows] = keeps ? realm.keep(value) : value
            rows += 1
            return true
        }
        return rows
    }
}
