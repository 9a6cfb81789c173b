// What a commit adds to the log besides what it did: of objects that the log leaves out (`UnwrittenObjects`) and that it
// changes, the values of before. They are what the record of the commit that created the objects had not, and stand in a
// record of their own.

extension RecordEncoder {
    /// Makes the supplement, where there is anything to say.
    mutating func encodeSupplement(
        _ fates: [(table: Table, fates: Fates)]
    ) throws(RealmError) {
        let written = takeTouched(fates)
        if written.isEmpty, told.isEmpty { return }
        let store = tables.store
        let pin = try store.pin(version: tables.pin.version)
        try TableSet.with(pin, store) { base throws(RealmError) in
            var earlier = LogBytes()
            defer { earlier.deallocate() }
            for item in written { try earlier.values(base, before: item) }
            supplement.byte(
                Self.supplements | Self.isBrief | Self.tellsBefore
                    | (earlier.count > 0 ? Self.hasEarlier : 0))
            if earlier.count > 0 { supplement.text(earlier.buffer) }
            let empty = supplement.count
            for item in fates {
                if let table = base.table(item.table.classKey) { try encodeBefore(table) }
            }
            if supplement.count == empty, earlier.count == 0 {
                supplement.removeAll()
            } else {
                supplement.byte(0)
            }
        }
    }

    /// Takes out the objects whose values from before are to be written once and for all: those that the transaction
    /// deletes, or changes values of that may be long; all when it changes the schema. Of others the value of before
    /// is told the first time that one is set.
    private mutating func takeTouched(
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
            let touched = touched(table, fates)
            for index in indexes {
                let objects = unwritten[index]
                written[index].keys = unwritten[index].keys.intersection(touched.whole)
                unwritten[index].keys.subtract(touched.whole)
                var keys = unwritten[index].keys.intersection(touched.brief)
                if !objects.hasIntegers {
                    keys.formUnion(unwritten[index].keys.intersection(touched.integers))
                }
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

    /// Which objects of a class the transaction touches, and of which it changes only values of few bytes or integers.
    private mutating func touched(
        _ table: Table, _ fates: Fates
    ) -> (whole: KeyRanges, brief: KeyRanges, integers: KeyRanges) {
        var result = (whole: fates.touched, brief: KeyRanges(), integers: KeyRanges())
        for slot in columns(of: table.classKey) {
            columns[slot].closeUnordered()
            let keys = touched(slot)
            switch table.columns[columns[slot].column].kind {
            case .string, .binary, .mixed, .collection: result.whole.formUnion(keys)
            case .int: result.integers.formUnion(keys)
            default: result.brief.formUnion(keys)
            }
        }
        return result
    }

    /// The objects that something happened to a property of, once those in no order are with the others.
    private func touched(_ slot: Int) -> KeyRanges {
        var keys = columns[slot].keys
        keys.formUnion(KeyRanges(unordered: columns[slot].cells.map(\.key)))
        return keys
    }

    /// Writes values of a class as it was before, those that no record has told: as values of before of groups
    /// without objects.
    private mutating func encodeBefore(_ table: Table) throws(RealmError) {
        let start = supplement.count
        supplement.number(UInt64(table.classKey.rawValue) + 1)
        supplement.keys(KeyRanges())
        supplement.keys(KeyRanges())
        let empty = supplement.count
        let slots = columns(of: table.classKey)
        for slot in slots.sortedFew(by: { columns[$0].column < columns[$1].column }) {
            let column = columns[slot].column
            var keys = KeyRanges()
            for (objects, touched) in told
            where objects.classKey == table.classKey && objects.leavesOut(column, of: table) {
                keys.formUnion(
                    known.add(touched.intersection(self.touched(slot)), of: objects, column))
            }
            if keys.isEmpty { continue }
            let isInteger = table.columns[column].kind == .int
            supplement.group(.set, column)
            supplement.keys(KeyRanges())
            supplement.byte(isInteger ? 4 : 2)
            supplement.keys(keys)
            if isInteger {
                try supplement.integers(table, keys, column)
            } else {
                _ = try supplement.values(table, keys, column, orDefault: false)
            }
        }
        if supplement.count == empty { return supplement.cut(to: start) }
        supplement.byte(0)
    }

    /// Leaves out the values of classes of which many objects were created.
    mutating func leaveOut(_ fates: [(table: Table, fates: Fates)]) {
        for (table, fates) in fates
        where fates.created.count >= tables.store.options.unwrittenObjectsMin
            && unwritten.runs + fates.created.ranges.count <= UnwrittenObjects.runsMax
        {
            unwritten.append(
                UnwrittenObjects(
                    version: version, classKey: table.classKey, keys: fates.created,
                    hasIntegers: true))
        }
    }
}
