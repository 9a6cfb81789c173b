// The groups of one evaluation: a row for each, its keys and then what was computed. Texts are copied, so that
// nothing points into the file.

package final class GroupTable {
    /// Values of a row.
    package let columnCount: Int
    package let count: Int
    /// Row after row.
    private let values: [RawValue]
    private let texts: TextArena

    init(columnCount: Int, count: Int, _ values: [RawValue]) {
        self.columnCount = columnCount
        self.count = count
        let arena = TextArena()
        self.values = values.map { value in
            guard !value.isNull,
                value.type == ValueType.string.rawValue || value.type == ValueType.binary.rawValue
            else { return value }
            var copy = arena.string(value.bytes)
            copy.type = value.type
            return copy
        }
        texts = arena
    }

    /// Texts are borrowed from the table.
    package func value(_ row: Int, _ column: Int) -> RawValue { values[row * columnCount + column] }

    /// Copies `count` rows from `first` on, as many as there are; returns how many.
    package func read(
        from first: Int, count: Int, into target: UnsafeMutablePointer<RawValue>
    ) -> Int {
        let rows = max(0, min(count, self.count - first))
        for index in 0..<rows * columnCount { target[index] = values[first * columnCount + index] }
        return rows
    }
}
