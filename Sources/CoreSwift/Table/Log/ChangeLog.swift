// Reading the change log: what commits did, operation by operation, for whoever applies or sends it.
// For what came of it all there is `ChangeSummary`.
//
// The log belongs to a version: it reaches back from there. Who reads has the version pinned; texts
// and paths point into it.

/// One operation of the log. Keys in ranges were all there.
enum ChangeOperation {
    /// What follows is what this version did. `origin`: of whom the operations were that it applied
    /// (`LogApplier`); nil: programs did it.
    case version(UInt64, hasValues: Bool, origin: UInt64?)
    /// The version changed classes or properties; what else it did is not in the log.
    case schemaChanged
    case deleted(ClassKey, ClosedRange<ObjectKey>)
    /// Created and still there behind the commit, with values that follow where the log has them,
    /// else those that the objects have in the version that is read.
    case created(ClassKey, ClosedRange<ObjectKey>)
    /// A value that a created object had behind the commit; properties that are not told have those of
    /// a new object.
    case initial(ClassKey, ObjectKey, column: Int, LogValue)
    /// Set, perhaps to the value that was there. Without values in the log nil, and for a range of
    /// objects.
    case set(ClassKey, ClosedRange<ObjectKey>, column: Int, LogValue?)
    /// The object that was linked to was deleted.
    case nulled(ClassKey, ClosedRange<ObjectKey>, column: Int)
    case added(ClassKey, ObjectKey, column: Int, Int64)
    /// Of a list, set or dictionary; its keys, the collections on the way to it and, for insertions
    /// and replacements in a log with values, the value are with it.
    case collection(CollectionPlaceInLog, CollectionOperation, LogValue?)
}

/// Which collection an operation of the log changed.
struct CollectionPlaceInLog {
    let classKey: ClassKey
    let key: ObjectKey
    let column: Int
    let type: CollectionType
    /// Which of those in the mixed values of the property; `.none`: the property is the collection.
    let number: CollectionNumber
    /// Elements before the operation; known for the first one of those that follow each other.
    let countBefore: Int
    /// The way from the collection of the property, as it was then.
    let path: UnsafeRawBufferPointer

    /// The way as positions, with the keys of dictionaries.
    func steps() throws(RealmError) -> [StandingCollection.Step] {
        var result: [StandingCollection.Step] = []
        var reader = LogByteReader(path)
        while !reader.isAtEnd {
            let word = try reader.count()
            let key = word & 1 == 0 ? nil : String(decoding: try reader.text(), as: UTF8.self)
            result.append(StandingCollection.Step(index: word >> 1, key: key))
        }
        return result
    }
}

/// The change log as a version has it.
struct ChangeLog {
    private let tables: TableSet
    private let directory: LogDirectory
    private let nodes: NodeSource
    private let tail: UnsafeRawBufferPointer
    /// The version.
    let newest: UInt64

    /// Nil when the version has no log. The tables keep it pinned.
    init?(_ tables: TableSet) {
        guard let log = tables.catalog.log else { return nil }
        self.tables = tables
        directory = log
        nodes = NodeSource(store: tables.store)
        newest = tables.version
        // The catalog ends with it.
        let pin = tables.pin
        tail = UnsafeRawBufferPointer(
            start: pin.payload + (pin.payloadCount - log.tail.count), count: log.tail.count)
    }

    /// What every version above this one did is in the log.
    var oldest: UInt64 { directory.from }
    var consumers: [ChangeConsumer] { directory.consumers }

    /// What led from one version to another, up to that of the log; nil where it does not reach.
    func changes(from old: UInt64, to new: UInt64) throws(RealmError) -> ChangeOperations? {
        guard old >= directory.from, old <= new, new <= newest else { return nil }
        let logs = try records(from: old, to: new).filter { !RecordHead.isSupplement($0.log) }
        guard logs.contains(where: { RecordHead.flags($0.log) & RecordEncoder.leavesOut != 0 })
        else { return ChangeOperations(logs) }
        let unwritten = UnwrittenValues(tables)
        for record in try records(from: old, to: newest) {
            try unwritten.note(record.version, record.log)
        }
        return ChangeOperations(logs, unwritten: unwritten)
    }

    /// All of them, with those that supplement others.
    func records(
        from old: UInt64, to new: UInt64
    ) throws(RealmError) -> [(version: UInt64, log: UnsafeRawBufferPointer)] {
        var logs: [(version: UInt64, log: UnsafeRawBufferPointer)] = []
        var order = RecordOrder(behind: old)
        var left = nodes.blocksMax
        var waiting = Array(directory.entries.reversed())
        while let entry = waiting.popLast() {
            guard entry.last > old, entry.from < new else { continue }
            left -= 1
            guard left >= 0 else { throw nodes.endless() }
            let block = try nodes.logBlock(entry)
            if entry.level > 0 {
                waiting += LogBlock.entries(block, level: entry.level).reversed()
            } else {
                try add(LogBlock.records(block), old, new, &logs, &order)
            }
        }
        try add(tail, old, new, &logs, &order)
        return logs
    }

    private func add(
        _ bytes: UnsafeRawBufferPointer, _ old: UInt64, _ new: UInt64,
        _ logs: inout [(version: UInt64, log: UnsafeRawBufferPointer)],
        _ order: inout RecordOrder
    ) throws(RealmError) {
        var records = LogRecords(bytes)
        while let record = try records.next() {
            if record.version <= old { continue }
            guard order.follows(record.version, record.log) else {
                throw RealmError(
                    .invalidDatabase, "change log: version \(record.version) is out of order")
            }
            if record.version <= new { logs.append(record) }
        }
    }
}

/// How records begin.
enum RecordHead {
    static func flags(_ log: UnsafeRawBufferPointer) -> UInt8 { log.first ?? 0 }

    /// Whether the record tells no operations, but what those before it left out.
    static func isSupplement(_ log: UnsafeRawBufferPointer) -> Bool {
        let both = RecordEncoder.supplements | RecordEncoder.isBrief
        return flags(log) & both == both
    }

    static func earlierValues(
        _ log: UnsafeRawBufferPointer
    ) throws(RealmError) -> UnsafeRawBufferPointer? {
        guard flags(log) & RecordEncoder.hasEarlier != 0 else { return nil }
        var reader = LogByteReader(log)
        if try reader.byte() & RecordEncoder.isApplied != 0 { _ = try reader.number() }
        return try reader.text()
    }
}

/// The operations of some versions, one after another.
struct ChangeOperations {
    private enum State {
        case version, classes, deleted, created, values, unwritten, groups, group, before,
            operations
    }

    let logs: [(version: UInt64, log: UnsafeRawBufferPointer)]
    /// Where the values are that the records leave out; nil: they are not told.
    let unwritten: UnwrittenValues?
    /// Objects that the record leaves out the values of.
    private var leftOut: [ClassKey: KeyRanges] = [:]
    private var cursor: UnwrittenValues.Cursor?
    /// Of the record, while values are read from elsewhere.
    private var outer: LogByteReader?
    private var nextLog = 0
    private var reader = LogByteReader(UnsafeRawBufferPointer(start: nil, count: 0))
    private var state = State.version
    private var hasValues = false
    private var tellsBefore = false
    private var stopsAtBefore = false
    private var hasIntegersBefore = false
    private var classKey = ClassKey.invalid
    private var column = 0
    private var kind = GroupKind.set
    /// Runs, collections or operations that are left of what is being read.
    private var left = 0
    private var lastKey = ObjectKey.first
    /// The run whose keys come one by one, with their values behind all runs.
    private var ranges: [ClosedRange<ObjectKey>] = []
    private var rangeIndex = 0
    private var keyInRange = 0
    private var created: [ClosedRange<ObjectKey>] = []
    /// Those of the group.
    private var grouped: [ClosedRange<ObjectKey>] = []
    /// Where the integers of created objects end.
    private var initialEnd = 0
    /// Integers of created objects are passed over, where they stand by themselves.
    private var skipsInitial = false
    private var operationsLeft = 0
    private var place: CollectionPlaceInLog?

    init(
        _ logs: [(version: UInt64, log: UnsafeRawBufferPointer)],
        unwritten: UnwrittenValues? = nil
    ) {
        self.logs = logs
        self.unwritten = unwritten
    }

    /// What the operation that came last was committed with.
    private(set) var version: UInt64 = 0

    /// How many versions did something.
    var versionCount: Int { logs.count }

    /// The operations of one of them, from the beginning.
    func only(_ index: Int) -> ChangeOperations {
        ChangeOperations([logs[index]], unwritten: unwritten)
    }

    /// For who needs no values: the same without those that the records leave out, and without integers of such objects.
    var withoutUnwritten: ChangeOperations {
        var result = ChangeOperations(logs)
        result.skipsInitial = true
        return result
    }

    /// Calls `body` with the values that the records leave out.
    func forEachUnwritten(
        _ body: (UInt64, ClassKey, UnwrittenValues.Piece) -> Void
    ) throws(RealmError) {
        guard let unwritten else { return }
        for index in logs.indices
        where RecordHead.flags(logs[index].log) & RecordEncoder.leavesOut != 0 {
            var first = only(index)
            _ = try first.next()
            for (classKey, keys) in first.leftOut.sortedFew(by: {
                $0.key.rawValue < $1.key.rawValue
            }) {
                var cursor = unwritten.cursor(first.version, classKey, keys)
                while let piece = try cursor.next() { body(first.version, classKey, piece) }
            }
        }
    }

    mutating func next() throws(RealmError) -> ChangeOperation? {
        while true {
            switch state {
            case .version:
                guard nextLog < logs.count else { return nil }
                reader = LogByteReader(logs[nextLog].log)
                version = logs[nextLog].version
                nextLog += 1
                let flags = try reader.byte()
                reader.isBrief = flags & RecordEncoder.isBrief != 0
                if flags & RecordEncoder.skipsNumber != 0, !reader.isBrief { version &+= 1 }
                if flags & RecordEncoder.changesSchema != 0 { return .schemaChanged }
                hasValues = flags & RecordEncoder.hasValues != 0
                tellsBefore = flags & RecordEncoder.tellsBefore != 0
                state = .classes
                let origin = flags & RecordEncoder.isApplied != 0 ? try reader.number() : nil
                if flags & RecordEncoder.hasEarlier != 0 { _ = try reader.text() }
                leftOut = [:]
                if flags & RecordEncoder.leavesOut != 0 { try readLeftOut() }
                return .version(version, hasValues: hasValues, origin: origin)
            case .classes:
                let number = try reader.number()
                if number == 0 {
                    state = .version
                    continue
                }
                guard let key = UInt32(exactly: number - 1) else { throw damaged() }
                classKey = ClassKey(rawValue: key)
                try beginRuns(.deleted)
            case .deleted:
                if let range = try nextRun() { return .deleted(classKey, range) }
                created = []
                try beginRuns(.created)
            case .created:
                if let range = try nextRun() {
                    if hasValues { created.append(range) }
                    return .created(classKey, range)
                }
                let hasInitial = hasValues && !(tellsBefore && created.isEmpty)
                if let keys = leftOut[classKey] {
                    var written = KeyRanges(ranges: created)
                    written.subtract(keys)
                    created = written.ranges
                }
                ranges = []
                state = hasInitial ? .values : .groups
            case .values:
                if let found = try nextInitial() { return found }
                state = .groups
                if let unwritten, let keys = leftOut[classKey] {
                    cursor = unwritten.cursor(version, classKey, keys)
                    outer = reader
                    state = try beginPiece() ? .unwritten : .groups
                }
            case .unwritten:
                if let found = try nextInitial() { return found }
                state = try beginPiece() ? .unwritten : .groups
            case .groups: try beginGroup()
            case .group:
                if let found = try nextInGroup() { return found }
                state = .groups
                if tellsBefore, try beginBefore() { state = .before }
            case .before:
                if stopsAtBefore { return nil }
                while try nextValueBefore() != nil {}
            case .operations:
                if let found = try nextOperation() { return found }
                state = .groups
            }
        }
    }

    private func damaged() -> RealmError {
        RealmError(
            .invalidDatabase,
            "change log: makes no sense at byte \(reader.position) of "
                + "\(reader.bytes.count)")
    }

    // MARK: Keys

    private mutating func beginRuns(_ next: State) throws(RealmError) {
        left = try reader.count()
        lastKey = .first
        state = next
    }

    private mutating func nextRun() throws(RealmError) -> ClosedRange<ObjectKey>? {
        guard left > 0 else { return nil }
        left -= 1
        let range = try reader.keyRange(after: lastKey)
        lastKey = range.upperBound
        return range
    }

    /// The keys of `ranges` one by one.
    private mutating func nextKey() -> ObjectKey? {
        guard rangeIndex < ranges.count else { return nil }
        let range = ranges[rangeIndex]
        let key = range.lowerBound.advanced(by: keyInRange)
        if key == range.upperBound {
            rangeIndex += 1
            keyInRange = 0
        } else {
            keyInRange += 1
        }
        return key
    }

    private mutating func begin(_ keys: [ClosedRange<ObjectKey>]) {
        ranges = keys
        rangeIndex = 0
        keyInRange = 0
    }

    private mutating func readRanges() throws(RealmError) -> [ClosedRange<ObjectKey>] {
        var result: [ClosedRange<ObjectKey>] = []
        try reader.keys { result.append($0) }
        return result
    }

    // MARK: Values

    private mutating func readLeftOut() throws(RealmError) {
        while true {
            let number = try reader.number()
            if number == 0 { return }
            guard let key = UInt32(exactly: number - 1) else { throw damaged() }
            leftOut[ClassKey(rawValue: key)] = KeyRanges(ranges: try readRanges())
        }
    }

    /// Goes on with values from elsewhere; false behind the last ones.
    private mutating func beginPiece() throws(RealmError) -> Bool {
        guard let piece = try cursor?.next() else {
            if let outer { reader = outer }
            cursor = nil
            outer = nil
            return false
        }
        reader = LogByteReader(piece.values)
        created = piece.keys.ranges
        ranges = []
        return true
    }

    private mutating func nextInitial() throws(RealmError) -> ChangeOperation? {
        while true {
            guard let key = nextKey() else {
                let number = try reader.count()
                if number == 0 { return nil }
                column = number - 1
                // Or nothing would end the columns of no objects.
                guard !created.isEmpty else { throw damaged() }
                begin(created)
                continue
            }
            let value = try reader.value()
            if !value.isDefault { return .initial(classKey, key, column: column, value) }
        }
    }

    private mutating func beginGroup() throws(RealmError) {
        let number = try reader.count()
        if number == 0 {
            state = .classes
            return
        }
        let bits = reader.isBrief ? 3 : 2
        guard let kind = GroupKind(rawValue: (number - 1) & (1 << bits - 1)),
            hasValues || kind != .integers && kind != .initialIntegers,
            kind != .initialIntegers || !tellsBefore
        else { throw damaged() }
        self.kind = kind
        column = (number - 1) >> bits
        switch kind {
        case .set where hasValues, .added, .integers:
            begin(try readRanges())
            grouped = ranges
            state = .group
        case .set, .nulled:
            grouped = []
            try beginRuns(.group)
        case .initialIntegers:
            begin(try readRanges())
            let size = try reader.count()
            initialEnd = reader.position + size
            if skipsInitial { _ = try reader.raw(size) } else { state = .group }
        case .collections:
            left = try reader.count()
            lastKey = .first
            operationsLeft = 0
            place = nil
            state = .operations
        }
    }

    private mutating func nextInGroup() throws(RealmError) -> ChangeOperation? {
        switch kind {
        case .set where hasValues:
            guard let key = nextKey() else { return nil }
            return .set(classKey, key...key, column: column, try reader.value())
        case .integers:
            guard let key = nextKey() else { return nil }
            let value = LogValue(integer: try reader.integer())
            return .set(classKey, key...key, column: column, value)
        case .initialIntegers: return try nextInitialInteger()
        case .set, .nulled:
            guard let range = try nextRun() else { return nil }
            if tellsBefore { grouped.append(range) }
            return kind == .set
                ? .set(classKey, range, column: column, nil)
                : .nulled(classKey, range, column: column)
        default:
            guard let key = nextKey() else { return nil }
            if !reader.isBrief {
                return .added(classKey, key, column: column, try reader.signed())
            }
            let sum = try reader.integer()
            guard !sum.isNull else { throw damaged() }
            return .added(classKey, key, column: column, sum.intValue)
        }
    }

    /// Null and zero have changed places: 0 is what a new object has, which is not told.
    private mutating func nextInitialInteger() throws(RealmError) -> ChangeOperation? {
        while let key = nextKey() {
            let value = try reader.integer()
            if !value.isNull, value.intValue == 0 { continue }
            return .initial(
                classKey, key, column: column,
                LogValue(integer: value.isNull ? .int(0) : value))
        }
        guard reader.position == initialEnd else { throw damaged() }
        return nil
    }

    // MARK: Values from before

    /// The next value that an object had before the record set another one; goes past everything else.
    mutating func nextBefore() throws(RealmError) -> (
        classKey: ClassKey, key: ObjectKey, column: Int, value: LogValue
    )? {
        stopsAtBefore = true
        while true {
            if state == .before, let (key, value) = try nextValueBefore() {
                return (classKey, key, column, value)
            }
            if try next() == nil, state != .before { return nil }
        }
    }

    /// Returns whether there are any.
    private mutating func beginBefore() throws(RealmError) -> Bool {
        let form = try reader.byte()
        guard form <= (reader.isBrief ? 4 : 2) else { throw damaged() }
        if form == 0 { return false }
        hasIntegersBefore = form > 2
        begin(form & 1 == 1 ? grouped : try readRanges())
        return true
    }

    private mutating func nextValueBefore() throws(RealmError) -> (ObjectKey, LogValue)? {
        if let key = nextKey() {
            if hasIntegersBefore { return (key, LogValue(integer: try reader.integer())) }
            return (key, try reader.value())
        }
        state = .groups
        return nil
    }

    // MARK: Collections

    private mutating func nextOperation() throws(RealmError) -> ChangeOperation? {
        while operationsLeft == 0 {
            guard left > 0 else { return nil }
            left -= 1
            let next = lastKey.rawValue.addingReportingOverflow(try reader.signed())
            guard !next.overflow, next.partialValue >= 0 else { throw damaged() }
            lastKey = ObjectKey(rawValue: next.partialValue)
            operationsLeft = try reader.count()
            place = nil
        }
        operationsLeft -= 1
        let flags = try reader.byte()
        if let type = CollectionType(rawValue: UInt32(flags >> 3 & 7)), type != .none {
            place = CollectionPlaceInLog(
                classKey: classKey, key: lastKey, column: column, type: type,
                number: CollectionNumber(rawValue: try reader.number()),
                countBefore: try reader.count(), path: try reader.text())
        }
        guard let place, let kind = CollectionOperation.Kind(rawValue: flags & 7) else {
            throw damaged()
        }
        var operation = CollectionOperation(
            kind: kind, isDerived: flags & CommitRecord.derivedFlag != 0,
            isAssignment: flags & CommitRecord.assignmentFlag != 0, index: 0)
        switch kind {
        case .inserted, .removed, .replaced:
            operation.index = try reader.count()
            operation.count = try reader.count() + 1
        case .moved:
            operation.index = try reader.count()
            operation.destination = try reader.count()
        case .cleared: operation.count = try reader.count()
        }
        if place.type == .dictionary, kind != .cleared {
            operation.key = String(decoding: try reader.text(), as: UTF8.self)
        }
        var value: LogValue?
        if hasValues, kind == .inserted || kind == .replaced { value = try reader.value() }
        return .collection(place, operation, value)
    }
}
