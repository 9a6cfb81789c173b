// The operations that lead from one version to another, or from one file to another: what a change log
// with values would say if a single commit had done it all. Applied to the older side with
// `LogApplier` they make it equal to the newer one.
//
// Within a file objects are the same whose keys are; of two files those with the same primary key,
// where their class has one (`ObjectMatch`). What both versions share is skipped unread.

final class VersionDifference {
    private var bytes = LogBytes()
    private let version: UInt64

    /// Nothing differs.
    var isEmpty: Bool { bytes.count == 0 }

    /// To be applied; they live as long as this object.
    var operations: ChangeOperations {
        ChangeOperations(isEmpty ? [] : [(version, bytes.buffer)])
    }

    /// Both must stay as they are meanwhile; a write transaction is settled. Throws `.schemaMismatch`
    /// where a class or property is not the same in both.
    init(from old: TableSet, to new: TableSet) throws(RealmError) {
        version = new.version
        if old.isWriting { try old.settle() }
        if new.isWriting { try new.settle() }
        let classes = try ComparedClass.all(old, new)
        let isOneFile = old.store === new.store
        let how = Comparing(
            sharesBlocks: isOneFile, match: isOneFile ? nil : try ObjectMatch(classes),
            forApplying: true)
        do throws(RealmError) {
            for pair in classes {
                if bytes.count == 0 { bytes.byte(RecordEncoder.hasValues | RecordEncoder.isBrief) }
                try encode(pair, how)
            }
            if bytes.count <= 1 {
                bytes.removeAll()
            } else {
                bytes.byte(0)
            }
        } catch {
            bytes.deallocate()
            throw error
        }
    }

    deinit { bytes.deallocate() }

    private func encode(_ pair: ComparedClass, _ how: Comparing) throws(RealmError) {
        var comparison = ClassComparison(pair, how)
        try comparison.run()
        let changes = comparison.result
        if changes.isEmpty { return }
        bytes.number(UInt64(pair.old.classKey.rawValue) + 1)
        bytes.keys(changes.deleted)
        bytes.keys(changes.inserted)
        let writer = Writer(pair: pair, match: how.match)
        for column in pair.columns {
            try writer.initials(&bytes, changes.inserted, column)
        }
        bytes.byte(0)
        var found = comparison.collections.found[...]
        // By column, and in it by object: each is found in the order of objects.
        var byColumn: [PropertyKey: [CollectionComparison.Found]] = [:]
        while let item = found.popFirst() {
            byColumn[item.changes.name.property, default: []].append(item)
        }
        for property in changes.properties {
            guard let column = pair.columns.first(where: { $0.old == property.property.column })
            else { continue }
            let collections = byColumn[property.property] ?? []
            try writer.sets(&bytes, property.keys, column, collections)
            try writer.changed(&bytes, column, collections)
        }
        bytes.byte(0)
    }
}

/// Writes the changes of a class.
private struct Writer {
    let pair: ComparedClass
    let match: ObjectMatch?

    /// The values of all new objects that differ from those that they have by themselves.
    func initials(
        _ bytes: inout LogBytes, _ keys: KeyRanges, _ column: (old: Int, new: Int)
    ) throws(RealmError) {
        if keys.isEmpty { return }
        let start = bytes.count
        bytes.number(column.old + 1)
        let values = bytes.count
        try self.values(&bytes, keys, column, orDefault: column.new != pair.new.primaryKeyColumn)
        let isDefault = bytes.buffer[values...].allSatisfy { $0 == LogBytes.defaultMark }
        if isDefault, bytes.count - values == keys.count { bytes.cut(to: start) }
    }

    /// Properties that are no collections, or hold another one.
    func sets(
        _ bytes: inout LogBytes, _ keys: KeyRanges, _ column: (old: Int, new: Int),
        _ collections: [CollectionComparison.Found]
    ) throws(RealmError) {
        var set = keys
        var changed = KeyRanges()
        for item in collections { changed.insert(item.changes.name.key) }
        set.subtract(changed)
        if set.isEmpty { return }
        bytes.group(.set, column.old)
        bytes.keys(set)
        try values(&bytes, set, column, orDefault: false)
    }

    private func values(
        _ bytes: inout LogBytes, _ keys: KeyRanges, _ column: (old: Int, new: Int),
        orDefault: Bool
    ) throws(RealmError) {
        let others = match?.newKeys(of: pair.new.classKey)
        // Both ascend.
        var next = 0
        try keys.forEach { key throws(RealmError) in
            var own = key
            if let others {
                while others[next].old < key { next += 1 }
                own = others[next].new
            }
            guard let place = try pair.new.find(own) else {
                return invariant(false, "object \(own) was compared and is not there")
            }
            try bytes.value(
                pair.new, place, own, column.new, orDefault: orDefault, match)
        }
    }

    func changed(
        _ bytes: inout LogBytes, _ column: (old: Int, new: Int),
        _ collections: [CollectionComparison.Found]
    ) throws(RealmError) {
        if collections.isEmpty { return }
        var objects: [ArraySlice<CollectionComparison.Found>] = []
        var start = 0
        for index in 1...collections.count
        where index == collections.count
            || collections[index].changes.name.key != collections[start].changes.name.key
        {
            objects.append(collections[start..<index])
            start = index
        }
        bytes.group(.collections, column.old)
        bytes.number(objects.count)
        var before = ObjectKey.first
        for object in objects {
            let key = object[object.startIndex].changes.name.key
            bytes.signed(key.rawValue &- before.rawValue)
            before = key
            bytes.number(object.reduce(0) { $0 + Self.count($1.changes) })
            for item in object { try operations(&bytes, item) }
        }
    }

    /// Elements that come have a value each, and are told one by one.
    private static func count(_ changes: CollectionChanges) -> Int {
        changes.operations.reduce(0) { $0 + (isTold($1) ? $1.count : 1) }
    }

    private static func isTold(_ operation: CollectionOperation) -> Bool {
        operation.kind == .inserted || operation.kind == .replaced || operation.kind == .removed
    }

    private func operations(
        _ bytes: inout LogBytes, _ found: CollectionComparison.Found
    ) throws(RealmError) {
        var path = LogBytes()
        defer { path.deallocate() }
        path.path(found.path)
        var new = found.new
        var isFirst = true
        for operation in found.changes.operations {
            for number in 0..<(Self.isTold(operation) ? operation.count : 1) {
                var one = operation
                if Self.isTold(operation) { one.count = 1 }
                // Those that go are the first of what is left, each time.
                if operation.kind != .removed { one.index += number }
                let flags = CommitRecord.flags(one, found.changes.type)
                bytes.byte(isFirst ? flags : flags & ~0x38)
                if isFirst {
                    bytes.place(found.changes.name.number, found.changes.countBefore, path.buffer)
                }
                isFirst = false
                bytes.positions(one)
                if let key = one.key { bytes.text(key) }
                if one.kind == .inserted || one.kind == .replaced {
                    try bytes.value(
                        new.value(one.index), of: pair.new, new.column, match)
                }
            }
        }
    }
}
