// What a write transaction did, as it is noted while it goes on: entries one behind another in raw
// memory, so that a savepoint is a length to go back to, and noting a value that was set is eight bytes behind
// one of the same property, else sixteen. `RecordEncoder` makes the bytes of the log of it when the transaction is committed.
//
//   entry   0  1  Entry
//           1  1  flags: of collections the CollectionOperation.Kind (bits 0-2), type (3-5); derived (6),
//                 assignment (7)
//           2  2  column
//           4  4  class key; bit 31 is 1
//           8  8  object key
//   set:          16  8  object keys, whose bit 63 is 0, as many as there are: of the same property
//   added:        16  8  number
//   collection:   16  8  bytes of the entry, 24 number, 32 elements before, 40 index, 48 count,
//                 56 destination, 64 bytes of the path (4), 68 bytes of the dictionary's key + 1 (4),
//                 72 path, key, values; padded to 8
//   createdFrom:  the object key is the `createdFrom` of before
//   created:      16  8  last key
//
// Which objects were created behind all others is not here: `TableChanges.createdFrom` says so.

import CKernels

/// How much the log of a commit says.
enum RecordDetail: UInt8 {
    /// What changed, for readers who have the version at hand.
    case changes = 0
    /// With the values that came.
    case values = 1
}

struct CommitRecord {
    enum Entry: UInt8 {
        case deleted = 0
        case created
        case createdFrom
        case set
        case added
        case collection
    }

    static let headBytes = 16
    /// Tells the first word of an entry from an object key.
    static let headBit: UInt64 = 1 << 63
    static let derivedFlag: UInt8 = 0x40
    static let assignmentFlag: UInt8 = 0x80
    /// Of deleted objects: embedded ones whose owner let go of them.
    static let ownedFlag: UInt8 = 0x20

    let detail: RecordDetail
    private(set) var base: UnsafeMutableRawPointer
    private(set) var used = 0
    private var capacity = 4096
    /// What is being taken back is not noted.
    var isPaused = false
    /// The schema changes with the commit: it is recorded as that alone.
    var changesSchema = false
    /// Whose operations they are that happen, where they were read from another log.
    var origin: UInt64?
    /// Where the operation on a collection begins that was noted last; -1: none, or a savepoint was
    /// made since.
    private var lastCollection = -1
    /// The first word of the value set that was noted last; 0: something else was, or a savepoint was made since.
    private var lastSet: UInt64 = 0

    static func make(_ detail: RecordDetail) -> UnsafeMutablePointer<CommitRecord> {
        let record = UnsafeMutablePointer<CommitRecord>.allocate(capacity: 1)
        record.initialize(to: CommitRecord(detail))
        return record
    }

    private init(_ detail: RecordDetail) {
        self.detail = detail
        base = Self.resized(nil, capacity)
    }

    static func end(_ record: UnsafeMutablePointer<CommitRecord>) {
        ck_free(record.pointee.base)
        record.deinitialize(count: 1)
        record.deallocate()
    }

    // MARK: Savepoints

    mutating func mark() -> Int {
        lastCollection = -1
        lastSet = 0
        return used
    }

    /// Forgets what was noted since a mark; `restore` is told the `createdFrom` of then.
    mutating func cut(to mark: Int, _ restore: (ClassKey, ObjectKey) -> Void) {
        lastCollection = -1
        lastSet = 0
        guard mark < used else { return }
        var position = mark
        var moved: [RecordEntry] = []
        while position < used {
            let entry = RecordEntry(base + position)
            if entry.entry == .createdFrom { moved.append(entry) }
            position += entry.byteCount
            guard entry.entry == .set else { continue }
            while Self.furtherKey(base, position, used) != nil { position += 8 }
        }
        for entry in moved.reversed() { restore(entry.classKey, entry.key) }
        used = mark
    }

    /// One of the keys behind the first of values that were set.
    @inline(__always)
    static func furtherKey(_ base: UnsafeRawPointer, _ position: Int, _ end: Int) -> ObjectKey? {
        guard position < end else { return nil }
        let key = (base + position).objectKey(0)
        return key >= .first ? key : nil
    }

    // MARK: Noting

    @inline(__always)
    private static func head(
        _ entry: Entry, _ flags: UInt8, _ classKey: ClassKey, _ column: Int
    ) -> UInt64 {
        headBit | UInt64(entry.rawValue) | UInt64(flags) << 8
            | UInt64(UInt16(truncatingIfNeeded: column)) << 16 | UInt64(classKey.rawValue) << 32
    }

    @inline(__always)
    private mutating func append(
        _ head: UInt64, _ key: ObjectKey, bytes: Int = headBytes
    ) -> UnsafeMutableRawPointer {
        if used &+ bytes > capacity { grow(bytes) }
        let target = base + used
        target.put(head, 0)
        target.put(key, 8)
        used &+= bytes
        lastSet = 0
        return target
    }

    @inline(__always)
    private mutating func append(
        _ entry: Entry, _ flags: UInt8, _ classKey: ClassKey, _ column: Int, _ key: ObjectKey,
        bytes: Int = headBytes
    ) -> UnsafeMutableRawPointer {
        append(Self.head(entry, flags, classKey, column), key, bytes: bytes)
    }

    @inline(never)
    private mutating func grow(_ bytes: Int) {
        capacity = max(capacity * 2, used + bytes)
        base = Self.resized(base, capacity)
    }

    private static func resized(
        _ memory: UnsafeMutableRawPointer?, _ bytes: Int
    ) -> UnsafeMutableRawPointer {
        // Large memory is moved by the system, not copied.
        guard let result = ck_realloc(memory, bytes) else {
            fatalError("no memory for \(bytes) bytes of what a transaction did")
        }
        return result
    }

    @inline(__always)
    mutating func noteSet(_ classKey: ClassKey, _ key: ObjectKey, _ column: Int, isDerived: Bool) {
        let head = Self.head(.set, isDerived ? Self.derivedFlag : 0, classKey, column)
        guard head == lastSet, used &+ 8 <= capacity, !isPaused else { return noteSet(head, key) }
        (base + used).put(key, 0)
        used &+= 8
    }

    @inline(never)
    private mutating func noteSet(_ head: UInt64, _ key: ObjectKey) {
        if isPaused { return }
        guard head == lastSet else {
            _ = append(head, key)
            lastSet = head
            return
        }
        grow(8)
        (base + used).put(key, 0)
        used &+= 8
    }

    mutating func noteAdded(
        _ classKey: ClassKey, _ key: ObjectKey, _ column: Int, _ delta: Int64
    ) {
        if isPaused { return }
        append(.added, 0, classKey, column, key, bytes: Self.headBytes + 8).put(delta, 16)
    }

    mutating func noteDeleted(_ classKey: ClassKey, _ key: ObjectKey, isOwned: Bool) {
        if isPaused { return }
        _ = append(.deleted, isOwned ? Self.ownedFlag : 0, classKey, 0, key)
    }

    mutating func noteCreated(_ classKey: ClassKey, _ keys: ClosedRange<ObjectKey>) {
        if isPaused { return }
        append(.created, 0, classKey, 0, keys.lowerBound, bytes: Self.headBytes + 8)
            .put(keys.upperBound, 16)
    }

    mutating func noteCreatedFrom(_ classKey: ClassKey, before: ObjectKey) {
        _ = append(.createdFrom, 0, classKey, 0, before)
    }

    // MARK: Collections

    mutating func note(
        _ classKey: ClassKey, _ collection: StandingCollection, _ change: CollectionChange
    ) throws(RealmError) {
        if isPaused { return }
        var operation: CollectionOperation
        var elementKey: RawValue?
        var value: RawValue?
        switch change {
        case .inserted(let index, let key, let new):
            operation = .inserted(index)
            elementKey = key
            value = new
        case .replaced(let index, let new, let isDerived):
            operation = .replaced(index)
            operation.isDerived = isDerived
            value = new
        case .removed(let index, let isDerived):
            operation = .removed(index)
            operation.isDerived = isDerived
        case .moved(let from, let to):
            operation = CollectionOperation(kind: .moved, index: from, destination: to)
        case .cleared(let isAssignment):
            operation = CollectionOperation(
                kind: .cleared, isAssignment: isAssignment, index: 0, count: collection.count)
        }
        if collection.type == .dictionary, elementKey == nil, operation.kind != .cleared {
            elementKey = try collection.key(operation.index)
        }
        if joins(classKey, collection, operation) { return }
        var path = LogBytes()
        path.path(collection.path)
        let keyBytes = elementKey?.bytes
        var values = LogBytes()
        if detail == .values, let value { values.value(value) }
        let size = path.count + (keyBytes?.count ?? 0) + values.count
        let bytes = (RecordEntry.tailOffset + size + 7) & ~7
        lastCollection = used
        let target = append(
            .collection, Self.flags(operation, collection.type), classKey, collection.column,
            collection.key, bytes: bytes)
        target.put(UInt64(bytes), 16)
        target.put(collection.number, 24)
        target.put(UInt64(collection.count), 32)
        target.put(UInt64(operation.index), 40)
        target.put(UInt64(operation.count), 48)
        target.put(UInt64(operation.destination), 56)
        target.put(UInt32(path.count), 64)
        target.put(UInt32(keyBytes.map { $0.count + 1 } ?? 0), 68)
        var tail = target + RecordEntry.tailOffset
        for part in [path.buffer, keyBytes, values.buffer] {
            guard let part, let start = part.baseAddress, part.count > 0 else { continue }
            tail.copyMemory(from: start, byteCount: part.count)
            tail += part.count
        }
        // The padding, so that no bytes of this process get anywhere.
        let end = target + bytes
        while tail < end {
            tail.put(UInt8(0), 0)
            tail += 1
        }
        path.deallocate()
        values.deallocate()
    }

    static func flags(_ operation: CollectionOperation, _ type: CollectionType) -> UInt8 {
        operation.kind.rawValue | UInt8(truncatingIfNeeded: type.rawValue) << 3
            | (operation.isDerived ? derivedFlag : 0)
            | (operation.isAssignment ? assignmentFlag : 0)
    }

    /// Lets the operation that was noted last go on, if this one does: only of those without values.
    private mutating func joins(
        _ classKey: ClassKey, _ collection: StandingCollection, _ operation: CollectionOperation
    ) -> Bool {
        guard detail == .changes, lastCollection >= 0, collection.type != .dictionary else {
            return false
        }
        let entry = RecordEntry(base + lastCollection)
        guard entry.classKey == classKey, entry.key == collection.key,
            entry.column == collection.column, entry.number == collection.number,
            let joined = entry.operation.joined(with: operation)
        else { return false }
        let target = base + lastCollection
        target.put(UInt64(joined.index), 40)
        target.put(UInt64(joined.count), 48)
        return true
    }
}

/// An entry of a record, which is trusted memory.
struct RecordEntry {
    static let tailOffset = 72
    let start: UnsafeRawPointer

    init(_ start: UnsafeRawPointer) { self.start = start }

    var entry: CommitRecord.Entry { CommitRecord.Entry(rawValue: start.u8(0)) ?? .set }
    var flags: UInt8 { start.u8(1) }
    var column: Int { Int(start.u16(2)) }
    var classKey: ClassKey { ClassKey(rawValue: start.u32(4) & 0x7FFF_FFFF) }
    var key: ObjectKey { start.objectKey(8) }
    /// Of the property: column and class key.
    var name: UInt64 { (start.u64(0) & ~CommitRecord.headBit) >> 16 }
    var isDerived: Bool { flags & CommitRecord.derivedFlag != 0 }

    /// Without the further keys of values that were set.
    var byteCount: Int {
        switch entry {
        case .deleted, .createdFrom, .set: return CommitRecord.headBytes
        case .created, .added: return CommitRecord.headBytes + 8
        case .collection: return Int(start.u64(16))
        }
    }

    /// Of `created`.
    var lastKey: ObjectKey { start.objectKey(16) }
    /// Of `added`.
    var delta: Int64 { start.i64(16) }

    // MARK: Of collections

    var number: CollectionNumber { CollectionNumber(rawValue: start.u64(24)) }
    var countBefore: Int { Int(start.u64(32)) }
    var pathBytes: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: start + Self.tailOffset, count: Int(start.u32(64)))
    }
    /// Of dictionaries.
    var elementKey: UnsafeRawBufferPointer? {
        let count = Int(start.u32(68))
        if count == 0 { return nil }
        return UnsafeRawBufferPointer(
            start: start + Self.tailOffset + Int(start.u32(64)), count: count - 1)
    }
    /// With the padding behind it.
    var valueBytes: UnsafeRawBufferPointer {
        let offset = Self.tailOffset + Int(start.u32(64)) + max(0, Int(start.u32(68)) - 1)
        return UnsafeRawBufferPointer(start: start + offset, count: byteCount - offset)
    }
    /// Without the dictionary's key.
    var operation: CollectionOperation {
        CollectionOperation(
            kind: CollectionOperation.Kind(rawValue: flags & 7) ?? .cleared,
            isDerived: isDerived, isAssignment: flags & CommitRecord.assignmentFlag != 0,
            index: Int(start.u64(40)), count: Int(start.u64(48)), destination: Int(start.u64(56)))
    }
}
