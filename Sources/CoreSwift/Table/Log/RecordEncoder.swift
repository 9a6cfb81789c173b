// Makes the log of a commit of what was noted while its transaction went on (`CommitRecord`): by class
// and column, each object and property once, with what it came to. What happened to objects that the
// transaction created or deleted is left out.
//
//   log         flags: 1 = with values, 2 = the schema changed (then no classes follow), 4 = applied from
//               another log; of those the origin (number); 8 = the record supplements those before it: it
//               tells no operations, but what they left out; 16 = earlier values follow as a text
//               (`UnwrittenValues`); 32 = then those of the created objects whose values are left out:
//               class key + 1, keys; 0; 64 = groups end with values of before, as those of supplements do, which have
//               no objects, and in files of earlier libraries others; 128 = keys, groups and sums are as
//               here: always, but in files of earlier libraries (there a group is column * 4 + kind, sums are signed, and
//               8 = the version is the one behind that of the record, whose number it skipped, `CommitGroup`);
//               then classes: class key + 1, class; 0
//   class       keys of deleted objects; keys of created ones; with values also (with flag 64 only if there are
//               such): columns (column + 1, a value per created object that is not left out, in the order of
//               the keys); 0. Then groups; 0
//   group       (column * 8 + kind) + 1, then by kind
//     0 set       keys; with values a value per key
//     1 nulled    keys of objects whose link is null because its target was deleted
//     2 added     keys; an integer per key
//     3 changed   how many collections there are; for each the distance of the object's key from the
//                 one before (signed), how many operations, and these
//     4 set to    keys; an integer per key. Only with values: all of properties of integers
//     5 created   keys of created objects whose other values are left out; how many bytes follow, and an integer per
//                 key, of which null and zero have changed places where null can be: 0 is what a new object has
//   before      with flag 64, but of collections: of objects whose values the log does not have: 0 = none, 1 = all of
//               the group, 2 = keys; then a value per key; 3 and 4 are 1 and 2 with an integer per key
//   operation   flags (of `CommitRecord`; type 0: the collection is that of the operation before);
//               else number, elements before, bytes of the path, path: steps of index * 2 (+ 1 and the
//               key as text, in dictionaries). Then by kind: inserted, removed, replaced: index and
//               count - 1; moved: index and destination; cleared: count. Of dictionaries, unless
//               cleared: the key as text. With values, inserted and replaced: the values
//
// A value that a new object has by itself is a byte of its own there (`LogBytes.defaultMark`): null, or
// zero where null is none, and empty collections. It loses to whatever somebody sets.

enum GroupKind: Int {
    case set = 0
    case nulled
    case added
    case collections
    case integers
    case initialIntegers
}

struct RecordEncoder {
    static let hasValues: UInt8 = 1
    static let changesSchema: UInt8 = 2
    static let isApplied: UInt8 = 4
    static let skipsNumber: UInt8 = 8
    static let supplements: UInt8 = 8
    static let hasEarlier: UInt8 = 16
    static let leavesOut: UInt8 = 32
    static let tellsBefore: UInt8 = 64
    static let isBrief: UInt8 = 128

    fileprivate struct Lives {
        /// By object key, in the order of time: 1 of an object that was deleted, 0 of one that was created.
        var events: [RadixItem] = []
        var isAscending = true
        var columns: [Int] = []
    }

    /// What happened to objects of a class.
    struct Fates {
        var deleted = KeyRanges()
        var created = KeyRanges()
        /// Both, and those that came and went.
        var touched = KeyRanges()
    }

    let tables: TableSet
    let record: UnsafeMutablePointer<CommitRecord>
    /// Of the version that the transaction makes.
    let version: UInt64
    /// What the log does not have, before the commit and, once it is encoded, behind it.
    var unwritten: [UnwrittenObjects]
    /// Of those of the version before: the objects of which few bytes change.
    var told: [(objects: UnwrittenObjects, keys: KeyRanges)] = []
    /// Of which a record behind their creation has told values, property by property.
    let known: ToldObjects
    var columns: [RecordedColumn] = []
    private var classes: [ClassKey: Lives] = [:]
    /// What the log has left out before and the transaction changes: a record of its own, in front of the other one.
    var supplement = LogBytes()
    /// The log of the transaction; empty when nothing happened.
    private(set) var bytes = LogBytes()

    init(
        _ tables: TableSet, _ record: UnsafeMutablePointer<CommitRecord>, _ version: UInt64
    ) {
        self.tables = tables
        self.record = record
        self.version = version
        unwritten = tables.catalog.log?.unwritten ?? []
        known = ToldObjects.taken(from: tables)
    }

    /// The properties of a class that the transaction touched.
    func columns(of classKey: ClassKey) -> [Int] { classes[classKey]?.columns ?? [] }

    mutating func deallocate() {
        supplement.deallocate()
        bytes.deallocate()
    }

    /// Makes the log of the transaction, whose tables are settled.
    mutating func encode() throws(RealmError) {
        var fates: [(table: Table, fates: Fates)] = []
        if !record.pointee.changesSchema {
            collect()
            for item in tables.schema.classes {
                guard let table = tables.table(item.key), table.state.changes.isDirty else {
                    continue
                }
                fates.append((table, try self.fates(table)))
            }
        }
        try encodeSupplement(fates)
        if record.pointee.changesSchema {
            bytes.byte(Self.changesSchema | Self.isBrief)
            return
        }
        let before = unwritten.count
        if record.pointee.detail == .values { leaveOut(fates) }
        bytes.byte(
            (record.pointee.detail == .values ? Self.hasValues : 0)
                | (record.pointee.origin != nil ? Self.isApplied : 0)
                | (unwritten.count > before ? Self.leavesOut : 0) | Self.isBrief)
        if let origin = record.pointee.origin { bytes.number(origin) }
        if unwritten.count > before {
            for item in unwritten[before...] {
                bytes.number(UInt64(item.classKey.rawValue) + 1)
                bytes.keys(item.keys)
            }
            bytes.byte(0)
        }
        let empty = bytes.count
        for item in fates { try encode(item.table, item.fates) }
        if bytes.count == empty {
            bytes.removeAll()
        } else {
            bytes.byte(0)
        }
    }

    // MARK: Sorting out

    /// Notes what was set, which is most of it, in passing; columns of which there is more to say have
    /// their entries listed in a second round.
    private mutating func collect() {
        var slots: [UInt64: Int] = [:]
        var slot = -1
        var hasCells = false
        var position = 0
        let base = UnsafeRawPointer(record.pointee.base)
        let end = record.pointee.used
        while position < end {
            let start = base + position
            switch start.u8(0) {
            case CommitRecord.Entry.set.rawValue:
                slot = find(RecordEntry(start).name, after: slot, &slots)
                columns.withUnsafeMutableBufferPointer { all in
                    let column = all.baseAddress.unsafelyUnwrapped + slot
                    if start.u8(1) & CommitRecord.derivedFlag != 0 {
                        column.pointee.hasCells = true
                    }
                    position = column.pointee.noteSets(base, position, end)
                    hasCells = hasCells || column.pointee.hasCells
                }
            case CommitRecord.Entry.added.rawValue, CommitRecord.Entry.collection.rawValue:
                slot = find(RecordEntry(start).name, after: slot, &slots)
                columns[slot].hasCells = true
                hasCells = true
                position &+= RecordEntry(start).byteCount
            default:
                let entry = RecordEntry(start)
                if entry.entry == .deleted {
                    note(entry.classKey, entry.key, isDeletion: true)
                } else if entry.entry == .created {
                    for key in entry.key...entry.lastKey {
                        note(entry.classKey, key, isDeletion: false)
                    }
                }
                position &+= entry.byteCount
            }
        }
        for index in columns.indices { columns[index].closeRun() }
        if hasCells { collectCells(slots) }
    }

    private mutating func collectCells(_ slots: [UInt64: Int]) {
        var slots = slots
        var slot = -1
        var position = 0
        let base = UnsafeRawPointer(record.pointee.base)
        let end = record.pointee.used
        while position < end {
            let entry = RecordEntry(base + position)
            let payload = UInt64(position)
            position += entry.byteCount
            guard entry.start.u8(0) >= CommitRecord.Entry.set.rawValue else { continue }
            slot = find(entry.name, after: slot, &slots)
            if columns[slot].hasCells { columns[slot].note(entry.key.word, payload) }
            guard entry.entry == .set else { continue }
            while let key = CommitRecord.furtherKey(base, position, end) {
                if columns[slot].hasCells { columns[slot].note(key.word, payload) }
                position += 8
            }
        }
    }

    /// The column of this name: class and column as entries have them.
    @inline(__always)
    private mutating func find(
        _ name: UInt64, after slot: Int, _ slots: inout [UInt64: Int]
    ) -> Int {
        if slot >= 0 {
            if columns[slot].name == name { return slot }
            let following = columns[slot].following
            if columns[following].name == name { return following }
        }
        return findSlowly(name, after: slot, &slots)
    }

    private mutating func findSlowly(
        _ name: UInt64, after slot: Int, _ slots: inout [UInt64: Int]
    ) -> Int {
        var found = slots[name] ?? -1
        if found < 0 {
            found = columns.count
            slots[name] = found
            let classKey = ClassKey(rawValue: UInt32(truncatingIfNeeded: name >> 16))
            columns.append(
                RecordedColumn(name: name, classKey: classKey, column: Int(name & 0xFFFF)))
            classes[classKey, default: Lives()].columns.append(found)
        }
        if slot >= 0 { columns[slot].following = found }
        return found
    }

    private mutating func note(
        _ classKey: ClassKey, _ key: ObjectKey, isDeletion: Bool
    ) {
        if let last = classes[classKey]?.events.last, last.objectKey > key {
            classes[classKey]?.isAscending = false
        }
        classes[classKey, default: Lives()].events.append(
            RadixItem(key: key.word, payload: isDeletion ? 1 : 0))
    }

    // MARK: Classes

    private func fates(_ table: Table) throws(RealmError) -> Fates {
        var lives = classes[table.classKey] ?? Lives()
        // Stable, so that what happened to one object stays in order.
        if !lives.isAscending { RadixSort.sort(&lives.events) }
        var result = Fates()
        var index = 0
        while index < lives.events.count {
            let first = lives.events[index]
            while index + 1 < lives.events.count, lives.events[index + 1].key == first.key {
                index += 1
            }
            // What was there is what was deleted first, and what is there was created last.
            let key = first.objectKey
            if first.payload == 1 { result.deleted.insert(key) }
            if lives.events[index].payload == 0 { result.created.insert(key) }
            result.touched.insert(key)
            index += 1
        }
        if table.state.changes.createdFrom != .max {
            let appended = try table.liveKeys(from: table.state.changes.createdFrom)
            result.touched.formUnion(appended)
            result.created.formUnion(appended)
        }
        return result
    }

    private mutating func encode(_ table: Table, _ fates: Fates) throws(RealmError) {
        let start = bytes.count
        bytes.number(UInt64(table.classKey.rawValue) + 1)
        bytes.keys(fates.deleted)
        bytes.keys(fates.created)
        if record.pointee.detail == .values { try encodeCreated(table, fates.created) }
        let body = bytes.count
        let slots = columns(of: table.classKey)
        for slot in slots.sortedFew(by: { columns[$0].column < columns[$1].column }) {
            try encode(table, slot, fates.touched)
        }
        if body == bytes.count, fates.deleted.isEmpty, fates.created.isEmpty {
            return bytes.cut(to: start)
        }
        bytes.byte(0)
    }

    /// The values of created objects, or their integers where the others are left out.
    private mutating func encodeCreated(_ table: Table, _ keys: KeyRanges) throws(RealmError) {
        let isLeftOut = unwritten.contains {
            $0.version == version && $0.classKey == table.classKey
        }
        guard isLeftOut else {
            return try bytes.initialValues(
                table,
                of: UnwrittenObjects(version: version, classKey: table.classKey, keys: keys))
        }
        bytes.byte(0)
        var integers = LogBytes()
        defer { integers.deallocate() }
        for column in 0..<table.columnCount where table.isToldAtOnce(column) {
            integers.removeAll()
            try integers.integers(table, keys, column, areInitial: true)
            if integers.buffer.allSatisfy({ $0 == 0 }) { continue }
            bytes.group(.initialIntegers, column)
            bytes.keys(keys)
            bytes.text(integers.buffer)
        }
    }

    // MARK: Columns

    private mutating func encode(
        _ table: Table, _ slot: Int, _ touched: KeyRanges
    ) throws(RealmError) {
        let base = UnsafeRawPointer(record.pointee.base)
        let column = columns[slot].column
        guard columns[slot].hasCells else { return try encodeSet(table, slot, touched) }
        var cells = columns[slot].cells
        columns[slot].cells = []
        // Stable, so that what happened to one object stays in order.
        if !columns[slot].isAscending { RadixSort.sort(&cells) }
        var set = KeyRanges()
        var nulled = KeyRanges()
        var added = KeyRanges()
        var sums: [Int64] = []
        var changed: [Range<Int>] = []
        var index = 0
        while index < cells.count {
            let key = cells[index].objectKey
            let start = index
            var isSet = false
            var isProgram = false
            while index < cells.count, cells[index].objectKey == key {
                let head = base + cells[index].offset
                if head.u8(0) == CommitRecord.Entry.set.rawValue {
                    isSet = true
                    if head.u8(1) & CommitRecord.derivedFlag == 0 { isProgram = true }
                }
                index += 1
            }
            if !touched.isEmpty, touched.contains(key) { continue }
            if isSet {
                // What a program set first does not follow from a deletion alone.
                if !isProgram {
                    nulled.insert(key)
                } else {
                    set.insert(key)
                }
            } else if RecordEntry(base + cells[start].offset).entry == .added {
                added.insert(key)
                var sum: Int64 = 0
                for cell in cells[start..<index] {
                    sum &+= RecordEntry(base + cell.offset).delta
                }
                sums.append(sum)
            } else {
                changed.append(start..<index)
            }
        }
        try encodeSet(table, column, keys: set)
        if !nulled.isEmpty {
            bytes.group(.nulled, column)
            bytes.keys(nulled)
        }
        if !added.isEmpty {
            bytes.group(.added, column)
            bytes.keys(added)
            for sum in sums { bytes.integer(.int(sum)) }
        }
        if changed.isEmpty { return }
        bytes.group(.collections, column)
        bytes.number(changed.count)
        var before = ObjectKey.first
        for range in changed {
            bytes.signed(cells[range.lowerBound].objectKey.rawValue &- before.rawValue)
            before = cells[range.lowerBound].objectKey
            bytes.number(range.count)
            try encodeOperations(cells[range], base)
        }
    }

    /// A column of which values were set.
    private mutating func encodeSet(
        _ table: Table, _ slot: Int, _ touched: KeyRanges
    ) throws(RealmError) {
        columns[slot].closeUnordered()
        var set = columns[slot].keys
        set.subtract(touched)
        try encodeSet(table, columns[slot].column, keys: set)
    }

    private mutating func encodeSet(
        _ table: Table, _ column: Int, keys: KeyRanges
    ) throws(RealmError) {
        if keys.isEmpty { return }
        let hasValues = record.pointee.detail == .values
        let isInteger = hasValues && table.columns[column].kind == .int
        bytes.group(isInteger ? .integers : .set, column)
        bytes.keys(keys)
        if isInteger {
            try bytes.integers(table, keys, column)
        } else if hasValues {
            _ = try bytes.values(table, keys, column, orDefault: false)
        }
    }

    private mutating func encodeOperations(
        _ cells: ArraySlice<RadixItem>, _ base: UnsafeRawPointer
    ) throws(RealmError) {
        var last: RecordEntry?
        for cell in cells {
            let entry = RecordEntry(base + cell.offset)
            let isSame = last.map { Self.isSame($0, entry) } ?? false
            bytes.byte(isSame ? entry.flags & ~0x38 : entry.flags)
            if !isSame { bytes.place(entry.number, entry.countBefore, entry.pathBytes) }
            last = entry
            let operation = entry.operation
            bytes.positions(operation)
            if let key = entry.elementKey { bytes.text(key) }
            if record.pointee.detail == .values,
                operation.kind == .inserted || operation.kind == .replaced
            {
                try bytes.rawValue(entry.valueBytes)
            }
        }
    }

    private static func isSame(_ a: RecordEntry, _ b: RecordEntry) -> Bool {
        a.number == b.number && a.flags & 0x38 == b.flags & 0x38
            && a.pathBytes.elementsEqual(b.pathBytes)
    }
}

extension LogBytes {
    mutating func group(_ kind: GroupKind, _ column: Int) {
        number(column * 8 + kind.rawValue + 1)
    }
}

extension RadixItem {
    fileprivate var objectKey: ObjectKey { ObjectKey(word: key) }
    fileprivate var offset: Int { Int(payload) }
}

extension Table {
    /// The keys of live rows from one on; of a settled table. Reads only the leaves that have them.
    func liveKeys(from key: ObjectKey) throws(RealmError) -> KeyRanges {
        var result = KeyRanges()
        if !state.tree.isEmpty {
            try addLiveKeys(from: key, state.tree.rootPlace, state.tree.depth, &result)
        }
        return result
    }

    private func addLiveKeys(
        from key: ObjectKey, _ place: UnsafeRawPointer, _ level: Int, _ result: inout KeyRanges
    ) throws(RealmError) {
        guard level == 0 else {
            let node = try branch(place, level)
            for child in RowBranch.child(node, covering: key)..<RowBranch.count(node) {
                try addLiveKeys(from: key, RowBranch.reference(node, child), level - 1, &result)
            }
            return
        }
        let view = LeafView(try leaf(place))
        if view.keyWidth == 0, view.tombstones == nil, view.rows > 0, view.keyBase >= key {
            return result.insert(view.keyBase...view.key(view.rows - 1))
        }
        for row in 0..<view.rows where !view.isDead(row) && view.key(row) >= key {
            result.insert(view.key(row))
        }
    }
}
