// Which values the log of a commit has besides those that came: of objects that it leaves out (`UnwrittenObjects`), the ones
// of before.

extension RecordEncoder {
    /// Takes out the objects whose values from before are to be written once and for all: those that the transaction
    /// deletes, or changes values of that may be long; all when it changes the schema. Of others values of before
    /// stand beside those set, the first time that they are.
    mutating func takeTouched(
        _ fates: [(table: Table, fates: Fates)]
    ) -> [UnwrittenObjects] {
        if unwritten.isEmpty { return [] }
        var written = unwritten
        if record.pointee.changesSchema {
            unwritten = []
            return written
        }
        for index in written.indices { written[index].keys = KeyRanges() }
        let runs = unwritten.runs
        for (table, fates) in fates {
            let indexes = unwritten.indices.filter { unwritten[$0].classKey == table.classKey }
            if indexes.isEmpty { continue }
            let (whole, brief) = touched(table, fates)
            for index in indexes {
                let objects = unwritten[index]
                written[index].keys = unwritten[index].keys.intersection(whole)
                unwritten[index].keys.subtract(whole)
                let keys = unwritten[index].keys.intersection(brief)
                if !keys.isEmpty { told.append((objects, keys)) }
            }
        }
        writeShortest(to: max(runs, UnwrittenObjects.touchedRunsMax), &written)
        unwritten.removeAll { $0.keys.isEmpty }
        written.removeAll { $0.keys.isEmpty }
        return written
    }

    /// Where changes here and there leave more runs than that, the shortest are written, too.
    private mutating func writeShortest(to runsMax: Int, _ written: inout [UnwrittenObjects]) {
        let over = unwritten.runs - runsMax
        if over <= 0 { return }
        var lengths: [RadixItem] = []
        for item in unwritten {
            for range in item.keys.ranges { lengths.append(RadixItem(key: range.more, payload: 0)) }
        }
        RadixSort.sort(&lengths)
        let longest = lengths[over - 1].key
        var equal = over - (lengths.firstIndex { $0.key == longest } ?? 0)
        for index in unwritten.indices {
            var short = KeyRanges()
            for range in unwritten[index].keys.ranges where range.more <= longest {
                if range.more == longest {
                    if equal == 0 { continue }
                    equal -= 1
                }
                short.insert(range)
            }
            unwritten[index].keys.subtract(short)
            written[index].keys.formUnion(short)
        }
    }

    /// Which objects of a class the transaction touches, and of which it changes only values of few bytes.
    private func touched(_ table: Table, _ fates: Fates) -> (whole: KeyRanges, brief: KeyRanges) {
        var result = (whole: fates.touched, brief: KeyRanges())
        for slot in columns(of: table.classKey) {
            var keys = columns[slot].keys
            keys.formUnion(columns[slot].unorderedKeys())
            keys.formUnion(KeyRanges(unordered: columns[slot].cells.map(\.key)))
            switch table.columns[columns[slot].column].kind {
            case .string, .binary, .mixed, .collection: result.whole.formUnion(keys)
            default: result.brief.formUnion(keys)
            }
        }
        return result
    }

    /// Writes the values from before at the end of a group.
    mutating func encodeBefore(
        _ table: Table, _ column: Int, _ keys: KeyRanges
    ) throws(RealmError) {
        if told.isEmpty { return }
        var told = KeyRanges()
        for (objects, touched) in self.told where objects.classKey == table.classKey {
            told.formUnion(known.add(touched.intersection(keys), of: objects, column))
        }
        guard !told.isEmpty, let before = base?.table(table.classKey) else {
            return bytes.byte(0)
        }
        let isInteger = before.columns[column].kind == .int
        bytes.byte((told == keys ? 1 : 2) + (isInteger ? 2 : 0))
        if told != keys { bytes.keys(told) }
        if isInteger {
            try bytes.integers(before, told, column)
        } else {
            _ = try bytes.values(before, told, column, orDefault: false)
        }
    }

    /// Leaves out the values of classes of which many objects were created.
    mutating func leaveOut(_ fates: [(table: Table, fates: Fates)]) {
        for (table, fates) in fates
        where fates.created.count >= tables.store.options.unwrittenObjectsMin
            && unwritten.runs + fates.created.ranges.count <= UnwrittenObjects.runsMax
        {
            unwritten.append(
                UnwrittenObjects(
                    version: version, classKey: table.classKey, keys: fates.created))
        }
    }
}
