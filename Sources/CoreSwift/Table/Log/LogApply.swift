// Applies the operations of a change log with values to a write transaction of another file (or of the
// same one, later): objects, properties and elements are found by what identifies them, and changed as
// they were. The state must be the one that the operations began with; both files have the same
// classes and columns. In another state operations may fit or not: what would damage the file (links to
// nothing, keys out of their order) is refused.
//
// Per version: first all objects come to be, then values and elements, last objects go. What follows
// from a deletion (links that are nulled or leave their lists) is in the operations at its place, so
// that positions are right; the deletion itself then finds nothing to do. An object that was deleted
// and another that has its key are one that starts anew.

struct LogApplier {
    private struct Removal {
        let table: Table
        let keys: ClosedRange<ObjectKey>
    }

    /// Objects that were linked to while they were not there: what came and went within a version is, for a while.
    private final class Absent {
        var keys: [ClassKey: Set<ObjectKey>] = [:]
    }

    private let tables: TableSet
    private let origin: UInt64
    private var removals: [Removal] = []
    private let absent = Absent()

    /// The tables of a write transaction. `origin`: whose operations they are, for who reads the log of
    /// this file and does not want to hear of them again.
    init(_ tables: TableSet, origin: UInt64 = 0) {
        self.tables = tables
        self.origin = origin
    }

    /// Applies the operations. Throws `.invalidArgument` where one does not fit what is there; the
    /// transaction is then to be rolled back. A transaction has one origin: what a program does in it
    /// afterwards counts as applied, and what it did before is refused.
    mutating func apply(_ operations: ChangeOperations) throws(RealmError) {
        guard tables.isWriting else {
            throw RealmError(
                .wrongTransactionState, "operations are applied in a write transaction")
        }
        if let record = tables.transaction?.pointee.changes.record {
            guard record.pointee.used == 0 || record.pointee.origin == origin else {
                throw RealmError(
                    .wrongTransactionState,
                    "operations of origin \(origin) are applied in a transaction of their own: this "
                        + "one has changed something already")
            }
            record.pointee.origin = origin
        }
        for version in 0..<operations.versionCount {
            var first = operations.only(version)
            removals = []
            while let operation = try first.next() { try applyLife(operation) }
            var second = operations.only(version)
            while let operation = try second.next() { try applyValue(operation) }
            for removal in removals { try remove(removal) }
        }
        try checkLinks()
    }

    private static func misfit(_ what: String) -> RealmError {
        RealmError(.invalidArgument, "change log: \(what) does not fit this realm")
    }

    private func misfit(_ what: String) -> RealmError { Self.misfit(what) }

    private func table(_ key: ClassKey) throws(RealmError) -> Table {
        guard let table = tables.table(key) else { throw misfit("class \(key)") }
        return table
    }

    // MARK: Objects

    private mutating func applyLife(_ operation: ChangeOperation) throws(RealmError) {
        switch operation {
        case .version(_, let hasValues, _):
            guard hasValues else { throw misfit("a log without values") }
        case .schemaChanged: throw misfit("a change of the schema")
        case .deleted(let classKey, let keys):
            removals.append(Removal(table: try table(classKey), keys: keys))
        case .created(let classKey, let keys):
            let table = try table(classKey)
            for key in keys {
                if try table.find(key) == nil {
                    try table.recreateRow(key, primaryKey: nil)
                    table.state.nextKey = table.nextKey(after: key)
                } else {
                    try startAnew(table, key)
                }
            }
        default: break
        }
    }

    /// An object is to be another one with its key. Its removal came before, and is none then.
    private mutating func startAnew(_ table: Table, _ key: ObjectKey) throws(RealmError) {
        guard let index = removals.lastIndex(where: { $0.table == table && $0.keys.contains(key) })
        else { throw misfit("object \(key) of class \(table.classKey), which is there,") }
        let keys = removals.remove(at: index).keys
        if keys.lowerBound < key {
            removals.append(
                Removal(table: table, keys: keys.lowerBound...key.advanced(by: -1)))
        }
        if key < keys.upperBound {
            removals.append(Removal(table: table, keys: key.advanced(by: 1)...keys.upperBound))
        }
        for column in 0..<table.columnCount
        where column != table.primaryKeyColumn && !table.columns[column].isVacated {
            if table.isCollection(column) {
                try table.removeAll(try table.collection(key, column))
            } else {
                try table.put(raw: table.absent(table.columns[column]), key, column)
            }
        }
    }

    private func remove(_ removal: Removal) throws(RealmError) {
        // Embedded objects may have gone with their owners.
        for key in removal.keys where try removal.table.find(key) != nil {
            try removal.table.deleteRow(key, isOwned: removal.table.isEmbedded)
        }
    }

    // MARK: Values

    private func applyValue(_ operation: ChangeOperation) throws(RealmError) {
        switch operation {
        case .initial(let classKey, let key, let column, let value):
            try set(try table(classKey), key, column, value)
        case .set(let classKey, let keys, let column, let value):
            guard let value else { throw misfit("a log without values") }
            try set(try table(classKey), keys.lowerBound, column, value)
        case .nulled(let classKey, let keys, let column):
            let table = try table(classKey)
            try check(table, column)
            for key in keys { try table.put(raw: .null, key, column) }
        case .added(let classKey, let key, let column, let delta):
            let table = try table(classKey)
            try check(table, column)
            guard let place = try table.find(key) else { throw Self.missing(table, key) }
            _ = try table.add(place, key, column, delta)
        case .collection(let place, let operation, let value):
            try apply(place, operation, value)
        default: break
        }
    }

    private func checkObject(_ table: Table, _ key: ObjectKey) throws(RealmError) {
        guard try table.find(key) != nil else { throw Self.missing(table, key) }
    }

    fileprivate static func missing(_ table: Table, _ key: ObjectKey) -> RealmError {
        misfit("a change of object \(key) of \(table.named), which is not there,")
    }

    private func check(_ table: Table, _ column: Int) throws(RealmError) {
        guard column < table.columnCount, !table.columns[column].isVacated else {
            throw misfit("column \(column) of class \(table.classKey)")
        }
    }

    private func set(
        _ table: Table, _ key: ObjectKey, _ column: Int, _ value: LogValue
    ) throws(RealmError) {
        try check(table, column)
        guard let type = value.collection else {
            let raw = try value.scalar()
            if column == table.primaryKeyColumn { return try table.enterPrimaryKey(raw, key) }
            try table.checkType(raw, column)
            try noteLink(raw)
            return try table.put(raw: raw, key, column)
        }
        if table.isCollection(column) {
            guard table.columns[column].collection == type else {
                throw misfit("a \(type) in column \(column) of class \(table.classKey)")
            }
            try checkObject(table, key)
            try table.removeAll(try table.collection(key, column))
        } else {
            try table.put(raw: .null, key, column)
            try table.put(raw: .empty(type), key, column)
        }
        try fill(table, try table.collection(key, column), value)
    }

    // MARK: Elements

    private func apply(
        _ place: CollectionPlaceInLog, _ operation: CollectionOperation, _ value: LogValue?
    ) throws(RealmError) {
        let table = try table(place.classKey)
        try check(table, place.column)
        try checkObject(table, place.key)
        var collection = try table.collection(place.key, place.column)
        for step in try place.steps() {
            guard step.index < collection.pointee.count,
                let type = NestedCell.type(
                    try collection.pointee.value(step.index, collection.pointee.valueColumn).value),
                let inner = try table.nestedCollection(collection, at: step.index, type)
            else { throw misfit("a collection at \(step.index) of object \(place.key)") }
            collection = inner
        }
        let count = collection.pointee.count
        let end = operation.kind == .inserted ? count + 1 : count
        guard collection.pointee.type == place.type,
            operation.kind == .cleared
                || (max(operation.index, operation.destination) < end
                    && operation.index + operation.count <= end)
        else { throw misfit("\(operation.kind) at \(operation.index) of \(count) elements") }
        switch operation.kind {
        case .inserted:
            guard let value else { throw misfit("a log without values") }
            try insert(table, collection, operation.index, operation.key, value)
        case .replaced:
            guard let value else { throw misfit("a log without values") }
            try replace(table, collection, operation.index, value)
        case .removed:
            for _ in 0..<operation.count { try table.remove(collection, at: operation.index) }
        case .moved:
            guard place.type == .list else { throw misfit("a move within a \(place.type)") }
            try table.move(collection, from: operation.index, to: operation.destination)
        case .cleared: try table.removeAll(collection, isAssignment: operation.isAssignment)
        }
    }

    private func fill(
        _ table: Table, _ collection: UnsafeMutablePointer<OpenCollection>, _ value: LogValue
    ) throws(RealmError) {
        var elements = try value.elements()
        while let (key, element) = try elements.next() {
            try insert(
                table, collection, collection.pointee.count,
                key.map { String(decoding: $0, as: UTF8.self) }, element)
        }
    }

    /// Recursion ends with the depth that values in a log can have.
    private func insert(
        _ table: Table, _ collection: UnsafeMutablePointer<OpenCollection>, _ index: Int,
        _ key: String?, _ value: LogValue
    ) throws(RealmError) {
        let type = value.collection
        let raw = if let type { RawValue.empty(type) } else { try value.scalar() }
        try check(table, collection, raw)
        if collection.pointee.type == .dictionary {
            guard let key else { throw misfit("an element without key") }
            try Value.string(key).withRaw { name throws(RealmError) in
                try checkOrder(collection, name, at: index)
                try table.insert(collection, at: index, key: name, raw)
            }
        } else {
            if collection.pointee.type == .set { try checkOrder(collection, raw, at: index) }
            try table.insert(collection, at: index, raw)
        }
        try fillElement(table, collection, index, value)
    }

    private func replace(
        _ table: Table, _ collection: UnsafeMutablePointer<OpenCollection>, _ index: Int,
        _ value: LogValue
    ) throws(RealmError) {
        let type = value.collection
        let raw = if let type { RawValue.empty(type) } else { try value.scalar() }
        try check(table, collection, raw)
        if let type,
            NestedCell.type(
                try collection.pointee.value(index, collection.pointee.valueColumn).value) == type
        {
            // It is another one, not what was there with other elements.
            try table.replace(collection, at: index, .null)
        }
        try table.replace(collection, at: index, raw)
        try fillElement(table, collection, index, value)
    }

    private func check(
        _ table: Table, _ collection: UnsafeMutablePointer<OpenCollection>, _ value: RawValue
    ) throws(RealmError) {
        if NestedCell.type(value) != nil, collection.pointee.valueInfo.kind == .mixed { return }
        try table.checkType(value, collection.pointee.column, collection.pointee.valueInfo)
        try noteLink(value)
    }

    /// Notes a link to an object that is not there. Embedded ones were made before.
    private func noteLink(_ value: RawValue) throws(RealmError) {
        guard value.type == ValueType.link.rawValue, !value.isNull else { return }
        if try table(value.linkClass).find(value.linkTarget) == nil {
            absent.keys[value.linkClass, default: []].insert(value.linkTarget)
        }
    }

    /// Whether the links to objects that were not there have all gone again.
    private func checkLinks() throws(RealmError) {
        for (classKey, keys) in absent.keys {
            let target = try table(classKey)
            for key in keys where try target.find(key) == nil {
                for (source, column) in target.incoming {
                    guard let table = tables.table(source) else { continue }
                    guard try table.sources(of: key, in: classKey, column: column).isEmpty else {
                        throw misfit("a link to object \(key) of class \(classKey)")
                    }
                }
            }
        }
    }

    /// Whether a key of a dictionary or an element of a set is missing, and belongs there.
    private func checkOrder(
        _ collection: UnsafeMutablePointer<OpenCollection>, _ value: RawValue, at index: Int
    ) throws(RealmError) {
        let place = try collection.pointee.search(value)
        guard !place.isFound, place.index == index else {
            throw misfit("an element of a \(collection.pointee.type) at \(index)")
        }
    }

    private func fillElement(
        _ table: Table, _ collection: UnsafeMutablePointer<OpenCollection>, _ index: Int,
        _ value: LogValue
    ) throws(RealmError) {
        guard let type = value.collection,
            let inner = try table.nestedCollection(collection, at: index, type)
        else { return }
        try fill(table, inner, value)
    }
}

extension Table {
    /// Stores a value of the log as it is: embedded objects that it lets go of are deleted apart.
    fileprivate func put(raw value: RawValue, _ key: ObjectKey, _ column: Int) throws(RealmError) {
        guard let place = try find(key) else { throw LogApplier.missing(self, key) }
        try willSet(place, key, column, value)
        _ = try store(place, key, column, state.columns[column], value)
    }

    /// The primary key of an object that was created under its object key.
    fileprivate func enterPrimaryKey(_ value: RawValue, _ key: ObjectKey) throws(RealmError) {
        if state.hasIntegerKey, key < IntegerKeys.indirectBase { return }
        guard let place = try find(key) else { return }
        _ = try enterKey(place, key, value)
    }
}
