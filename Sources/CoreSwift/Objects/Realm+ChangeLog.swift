// The change log for programs: consumers by name, and reading what commits did. docs/CHANGE_LOG.md.

/// One operation of the log. Texts and bytes in it are borrowed for the call that tells it.
package struct LoggedOperation {
    /// Raw values of `realm_change_log_kind_e`.
    package enum Kind: UInt32, Sendable {
        case version, schemaChanged, deleted, created, set, nulled, added
        case inserted, removed, replaced, moved, cleared
        /// An element of the collection that is the value of the operation before it.
        case element
    }

    package var kind: Kind
    /// What was committed with it.
    package var version: UInt64
    package var classKey = ClassKey.invalid
    /// The objects, a run of keys that were all there.
    package var firstObject = ObjectKey(rawValue: -1)
    package var lastObject = ObjectKey(rawValue: -1)
    package var property = PropertyKey.invalid
    /// Of operations on a collection; else of a value that is one.
    package var collection = CollectionType.none
    /// Of a collection in a mixed value: it keeps the number; 0: the property itself.
    package var collectionNumber: UInt64 = 0
    /// It follows from the deletion of an object.
    package var isDerived = false
    package var index = 0
    /// Elements that were inserted, removed or cleared; of a value that is a collection, those that follow.
    package var count = 0
    package var destination = 0
    /// Of a dictionary, else null.
    package var key = RawValue.null
    /// Null without one; of a collection only its type: its `count` elements follow.
    package var value = RawValue.null
}

extension Realm {
    /// Who has to acknowledge the log, and has up to which version.
    package var logConsumers: [ChangeConsumer] {
        get throws(RealmError) { try readTables().consumers }
    }

    /// Keeps the log of the versions behind the one that this write transaction makes, with values, until
    /// the consumer has acknowledged them. Does nothing for one that is there.
    package func addLogConsumer(_ name: String) throws(RealmError) {
        try tablesForWriting().addConsumer(name)
    }

    /// The consumer is done with a version and those before it. In a write transaction.
    package func acknowledgeLog(_ name: String, _ version: UInt64) throws(RealmError) {
        try tablesForWriting().acknowledge(name, version)
    }

    /// Nothing is kept for the consumer any more. In a write transaction.
    package func removeLogConsumer(_ name: String) throws(RealmError) {
        try tablesForWriting().removeConsumer(name)
    }

    /// Calls `body` with what led from a version to the one that the realm reads, in order, until it
    /// returns false. `.badVersion` when the log does not reach back to it.
    package func readLog(
        from version: UInt64, _ body: @escaping (LoggedOperation) -> Bool
    ) throws(RealmError) {
        try withLog(from: version) { operations, tables throws(RealmError) in
            try LogTeller(tables: tables, body: body).tell(operations)
        }
    }

    /// Calls `body` with the log from a version on and the tables at its end, which stay meanwhile.
    func withLog(
        from version: UInt64, _ body: (ChangeOperations, TableSet) throws(RealmError) -> Void
    ) throws(RealmError) {
        try withHeldTables { tables throws(RealmError) in
            guard let log = ChangeLog(tables),
                let operations = try log.changes(from: version, to: tables.version)
            else {
                throw RealmError(
                    .badVersion,
                    "the change log of '\(path)' does not reach from version \(version) to "
                        + "\(tables.version)")
            }
            try body(operations, tables)
        }
    }

    /// Calls `body` with tables that stay where they are while a callback moves or closes the realm.
    func withHeldTables(
        _ body: (TableSet) throws(RealmError) -> Void
    ) throws(RealmError) {
        let tables = try readTables()
        try writeBase()
        let held = try HeldVersion(tables.store, tables.version, known: nil)
        try withExtendedLifetime(held) { () throws(RealmError) in try body(held.tables) }
    }
}

/// Makes operations for programs of those of the log.
struct LogTeller {
    let tables: TableSet
    let body: (LoggedOperation) -> Bool

    /// Until the program wants no more.
    func tell(_ operations: ChangeOperations) throws(RealmError) {
        var operations = operations
        while let operation = try operations.next() {
            guard try tell(operation, operations.version) else { return }
        }
    }

    /// False: no more.
    private func tell(_ operation: ChangeOperation, _ version: UInt64) throws(RealmError) -> Bool {
        switch operation {
        case .version(_, _, let origin):
            var told = LoggedOperation(kind: .version, version: version)
            if let origin { told.value = .int(Int64(bitPattern: origin)) }
            return body(told)
        case .schemaChanged: return body(LoggedOperation(kind: .schemaChanged, version: version))
        case .deleted(let classKey, let keys):
            return body(make(.deleted, version, classKey, keys))
        case .created(let classKey, let keys):
            return body(make(.created, version, classKey, keys))
        case .initial(let classKey, let key, let column, let value):
            return try tell(make(.set, version, classKey, key...key, column), value)
        case .set(let classKey, let keys, let column, let value):
            return try tell(make(.set, version, classKey, keys, column), value)
        case .nulled(let classKey, let keys, let column):
            var told = make(.nulled, version, classKey, keys, column)
            told.isDerived = true
            return body(told)
        case .added(let classKey, let key, let column, let delta):
            var told = make(.added, version, classKey, key...key, column)
            told.value = .int(delta)
            return body(told)
        case .collection(let place, let operation, let value):
            return try tell(place, operation, value, version)
        }
    }

    private func make(
        _ kind: LoggedOperation.Kind, _ version: UInt64, _ classKey: ClassKey,
        _ keys: ClosedRange<ObjectKey>, _ column: Int? = nil
    ) -> LoggedOperation {
        var told = LoggedOperation(kind: kind, version: version)
        told.classKey = classKey
        told.firstObject = keys.lowerBound
        told.lastObject = keys.upperBound
        if let column, let table = tables.table(classKey), column < table.columnCount {
            told.property = table.columns[column].propertyKey
        }
        return told
    }

    private func tell(
        _ place: CollectionPlaceInLog, _ operation: CollectionOperation, _ value: LogValue?,
        _ version: UInt64
    ) throws(RealmError) -> Bool {
        let kind: LoggedOperation.Kind
        switch operation.kind {
        case .inserted: kind = .inserted
        case .removed: kind = .removed
        case .replaced: kind = .replaced
        case .moved: kind = .moved
        case .cleared: kind = .cleared
        }
        var told = make(kind, version, place.classKey, place.key...place.key, place.column)
        told.collection = place.type
        told.collectionNumber = place.number.rawValue
        told.isDerived = operation.isDerived
        told.index = operation.index
        told.count = operation.count
        told.destination = operation.destination
        let key = Array((operation.key ?? "").utf8)
        return try key.withUnsafeBufferPointer { bytes throws(RealmError) in
            if place.type == .dictionary, operation.kind != .cleared {
                told.key = text(UnsafeRawBufferPointer(bytes))
            }
            return try tell(told, value)
        }
    }

    private func text(_ bytes: UnsafeRawBufferPointer) -> RawValue {
        // The text of no bytes needs an address, too.
        if let start = bytes.baseAddress { return .string(start, bytes.count) }
        let empty: StaticString = ""
        return .string(empty.utf8Start, 0)
    }

    /// The operation with its value, and the elements of that behind it.
    private func tell(
        _ operation: LoggedOperation, _ value: LogValue?
    ) throws(RealmError) -> Bool {
        var told = operation
        guard let value else { return body(told) }
        guard let type = value.collection else {
            if !value.isDefault { told.value = try value.scalar() }
            return body(told)
        }
        var elements = try value.elements()
        told.value = .nested(type)
        if told.collection == .none { told.collection = type }
        told.count = elements.count
        guard body(told) else { return false }
        while let (key, element) = try elements.next() {
            var part = LoggedOperation(kind: .element, version: operation.version)
            part.classKey = operation.classKey
            part.firstObject = operation.firstObject
            part.lastObject = operation.lastObject
            part.property = operation.property
            if let key { part.key = text(key) }
            guard try tell(part, element) else { return false }
        }
        return true
    }
}
