// All tables of one session: made from the catalog of a version, moved to another version, taken
// into a write transaction and out of it again. Used by one thread at a time.

import CKernels

/// Where the tables of a session are, in memory that does not move: hot calls find a table
/// without touching the `TableSet`.
struct TableDirectory {
    /// By class key; nil where the class is gone.
    var tables: UnsafeMutablePointer<Table?>
    var capacity: Int
    /// The version that they are of, and the newest one of the file.
    var version: UInt64
    let newest: UnsafeMutablePointer<UInt64>

    /// There is no newer version.
    @inline(__always) var isNewest: Bool { ck_load_u64(newest) == version }

    @inline(__always) func table(_ key: ClassKey) -> Table? {
        key.index < capacity ? tables[key.index] : nil
    }
}

final class TableSet {
    let store: Store
    /// Index entries of a file that is being filled.
    var filling: IndexRuns?
    let stamp: UnsafeMutablePointer<UInt64>
    private(set) var pin: Store.Pin {
        didSet { directory.pointee.version = pin.version }
    }
    /// The version of `pin` is not held.
    private var isResting = false
    private(set) var catalog: Catalog
    private(set) var stored: StoredSchema
    let directory: UnsafeMutablePointer<TableDirectory>
    /// Table states that handles may still point to although their class changed.
    private var retired: [Table] = []
    private(set) var transaction: UnsafeMutablePointer<TransactionState>?
    private var lease: WriteLease?
    /// What the session goes back to when the write transaction is rolled back.
    private var undo: (catalog: Catalog, stored: StoredSchema)?
    /// Commits of the program that the write transaction has taken in; its own will count as one more.
    var joined: UInt64 = 0
    /// The schema differs from the stored one and goes into the next commit.
    private var isSchemaDirty = false
    /// Some table has columns of another kind than `stored` says.
    private var isReshaped = false
    /// Why a change of the schema is there by half: the transaction can't be committed.
    private(set) var schemaFailure: RealmError?
    /// Who reads the change log from now on, by name: what they have acknowledged, nil for no more.
    var consumerChanges: [ByteText: UInt64?] = [:]
    /// Asked before the session moves to a version with another schema; throws to stay.
    var accepts: ((Schema) throws(RealmError) -> Void)?

    /// Takes over the pin. `known`: a schema block that was read before, which is not read again.
    init(
        store: Store, pin: Store.Pin, stamp: UnsafeMutablePointer<UInt64>, known: KnownSchema? = nil
    ) throws(RealmError) {
        self.store = store
        self.stamp = stamp
        self.pin = pin
        catalog = Catalog()
        stored = StoredSchema()
        let tables = UnsafeMutablePointer<Table?>.allocate(capacity: 16)
        tables.initialize(repeating: nil, count: 16)
        directory = .allocate(capacity: 1)
        directory.initialize(
            to: TableDirectory(
                tables: tables, capacity: 16, version: pin.version, newest: store.newestWord))
        do throws(RealmError) {
            try adopt(pin, known)
        } catch {
            store.unpin(pin.version)
            deallocateTables()
            throw error
        }
    }

    /// Frees everything and lets go of the version.
    func close() {
        if transaction != nil { discardChanges() }
        if !isResting { store.unpin(pin.version) }
        deallocateTables()
    }

    /// Lets go of the version; nobody reads until `resume`.
    func rest() {
        invariant(transaction == nil && !isResting)
        store.unpin(pin.version)
        isResting = true
    }

    /// Takes over the pin of a version, after `rest`. After an error it rests as before.
    func resume(at next: Store.Pin, known: KnownSchema?) throws(RealmError) {
        if next.version != pin.version {
            do throws(RealmError) {
                try adopt(next, known)
            } catch {
                store.unpin(next.version)
                throw error
            }
        }
        pin = next
        isResting = false
    }

    private func deallocateTables() {
        for key in 0..<tableCapacity {
            if let table = tables[key] { Self.deallocate(table) }
            tables[key] = nil
        }
        for table in retired { Self.deallocate(table) }
        retired = []
    }

    deinit {
        tables.deallocate()
        directory.deallocate()
    }

    private var tables: UnsafeMutablePointer<Table?> { directory.pointee.tables }
    var tableCapacity: Int { directory.pointee.capacity }

    var isWriting: Bool { transaction != nil }
    /// The one that is read; commits that wait to be written count.
    var version: UInt64 { pin.version + joined }
    var schema: Schema { stored.schema }
    /// The schema as the file has it; nil while a transaction changes it.
    var knownSchema: KnownSchema? {
        isSchemaDirty ? nil : KnownSchema(block: catalog.schema, schema: stored)
    }
    var schemaVersion: UInt64 { catalog.schemaVersion }

    /// From now on several threads may read at once; no changes any more.
    func share() {
        forEachTable { $0.state.isShared = true }
    }

    @inline(__always) func table(_ key: ClassKey) -> Table? {
        directory.pointee.table(key)
    }

    // MARK: Versions

    /// Moves to another version; takes over its pin and gives up the old one.
    func advance(to next: Store.Pin) throws(RealmError) {
        invariant(transaction == nil)
        let old = pin
        do throws(RealmError) {
            try adopt(next)
        } catch {
            store.unpin(next.version)
            throw error
        }
        pin = next
        store.unpin(old.version)
    }

    private func adopt(_ pin: Store.Pin, _ known: KnownSchema? = nil) throws(RealmError) {
        let next = try Catalog(pin.payload, count: pin.payloadCount)
        if next.schema != catalog.schema {
            let schema =
                if let known, known.block == next.schema {
                    known.schema
                } else {
                    try readSchema(next.schema, format: next.format)
                }
            try accepts?(schema.schema)
            stored = schema
            catalog = next
            try rebuild()
        } else {
            catalog = next
        }
        for root in catalog.classes {
            guard let table = table(root.classKey) else {
                throw RealmError(
                    .invalidDatabase,
                    "catalog names class \(root.classKey), the schema does not",
                    path: store.path)
            }
            try root.checkTotals(pages: store.lockFile.filePages)
            try Self.setRoots(table, root)
        }
        try continueKeys()
        self.stamp.pointee &+= 1
    }

    /// Has the keys that are given next be those of this client, where it has a number.
    private func continueKeys() throws(RealmError) {
        if store.options.clientNumber == 0 { return }
        try forEachTable { table throws(RealmError) in
            table.state.nextKey = try table.nextKey(continuing: table.state.nextKey)
        }
    }

    private func readSchema(
        _ reference: BlockReference, format: UInt32
    ) throws(RealmError) -> StoredSchema {
        if reference.isNone { return StoredSchema() }
        let nodes = NodeSource(store: store)
        let tag = BlockTag(.schema, classKey: ClassKey(rawValue: 0))
        let block = try nodes.admit(reference, tag, 0) { _, _, _ throws(RealmError) in }
        let used = Int(block.u32(BlockField.bytesUsed))
        guard used <= reference.pageCount << Page.shift else {
            throw RealmError(
                .invalidDatabase, "page \(reference.page): schema of \(used) bytes",
                path: store.path)
        }
        return try StoredSchema(block, count: used, format: format)
    }

    private static func setRoots(_ table: Table, _ root: ClassRoot) throws(RealmError) {
        guard root.indexes.count == table.state.indexCount else {
            throw RealmError(
                .invalidDatabase,
                "catalog: class \(root.classKey) has \(root.indexes.count) indexes, its "
                    + "schema asks for \(table.state.indexCount)")
        }
        table.state.tree.setRoot(root.root, depth: root.depth)
        table.state.rowCount = root.rows
        table.state.nextKey = root.nextKey
        table.clearFinger()
        for (position, index) in root.indexes.enumerated() {
            let target = table.state.indexes + position
            guard target.pointee.column == index.column,
                target.pointee.kind == index.kind
            else {
                throw RealmError(
                    .invalidDatabase,
                    "catalog: \(index.kind.name) \(position) of class \(root.classKey) "
                        + "is for column \(index.column)")
            }
            index.root.store(target.pointee.tree.rootPlace)
            target.pointee.tree.depth = index.depth
            target.pointee.tree.count = index.entries
            target.pointee.isNew = false
        }
    }

    // MARK: Table states

    /// Makes table states for the classes of `stored`; states of classes that are as before stay,
    /// also where the indexes differ: handles point to them.
    private func rebuild() throws(RealmError) {
        let capacity = max(tableCapacity, Int(stored.nextClassKey) + 16)
        if capacity > tableCapacity {
            let larger = UnsafeMutablePointer<Table?>.allocate(capacity: capacity)
            larger.initialize(repeating: nil, count: capacity)
            larger.update(from: tables, count: tableCapacity)
            tables.deallocate()
            directory.pointee.tables = larger
            directory.pointee.capacity = capacity
        }
        var keep = Set<Int>()
        for item in stored.schema.classes {
            let key = item.key.index
            keep.insert(key)
            let infos = try TableLayout.columns(item, stored.schema)
            if let old = tables[key] {
                if !TableLayout.hasSameColumns(old, infos, item) {
                    TableLayout.reshape(old, infos, item, nodeSource())
                } else if !TableLayout.isSame(old, infos, item) {
                    TableLayout.setIndexes(old, infos, nodeSource())
                }
                old.state.tables = tables
                old.state.tableCapacity = tableCapacity
                old.state.incoming = []
                old.state.schema = stored.schema
                continue
            }
            tables[key] = TableLayout.makeState(
                item, infos, nodes: nodeSource(), stamp: stamp, directory: directory.pointee,
                schema: stored.schema)
        }
        for key in 0..<tableCapacity where !keep.contains(key) {
            if let table = tables[key] {
                table.retire()
                retired.append(table)
            }
            tables[key] = nil
        }
        noteIncoming()
    }

    /// Tells each table which columns can link to it.
    private func noteIncoming() {
        forEachTable { table in
            for column in 0..<table.state.columnCount {
                let info = table.state.columns[column]
                if info.isVacated { continue }
                if info.valueKind == .mixed {
                    forEachTable { $0.state.incoming.append((table.state.classKey, column)) }
                } else if info.inverseIndex >= 0 {
                    self.table(info.linkTarget)?.state.incoming.append(
                        (table.state.classKey, column))
                }
            }
        }
    }

    private func nodeSource() -> NodeSource {
        var nodes = NodeSource(store: store)
        nodes.memory = transaction?.pointee.memory
        return nodes
    }

    private static func deallocate(_ table: Table) {
        for index in 0..<table.state.indexCount {
            table.state.indexes[index].pending.deallocate()
            table.state.indexes[index].tree.rootPlace.deallocate()
        }
        table.state.indexes.deinitialize(count: table.state.indexCount)
        table.state.indexes.deallocate()
        table.state.ownedByColumns.deallocate()
        table.state.tree.deallocate()
        table.deallocate()
    }

    func forEachTable<Failure>(_ body: (Table) throws(Failure) -> Void) throws(Failure) {
        for key in 0..<tableCapacity {
            if let table = tables[key] { try body(table) }
        }
    }

    /// Tells the tables, also those that are new, which transaction they are in.
    private func setTransaction(_ transaction: UnsafeMutablePointer<TransactionState>?) {
        self.transaction = transaction
        let memory = transaction?.pointee.memory
        func tell(_ table: Table) {
            table.state.transaction = transaction
            table.state.tree.nodes.memory = memory
            for index in 0..<table.state.indexCount {
                table.state.indexes[index].tree.nodes.memory = memory
            }
        }
        forEachTable(tell)
        // Handles may still ask them whether something has changed.
        for table in retired { tell(table) }
        noteListeners()
    }

    // MARK: Writing

    /// Starts a write transaction on the lease's base version, moving there first.
    func beginWrite(_ lease: WriteLease) throws(RealmError) {
        invariant(transaction == nil)
        if lease.base.version != pin.version {
            try advance(to: try store.pin(version: lease.base.version))
        }
        self.lease = lease
        undo = (catalog, stored)
        setTransaction(TransactionState.make(lease))
        stamp.pointee &+= 1
        if let detail = recordDetail() { startRecord(detail) }
    }

    /// Takes over a schema: classes and columns that are new have no data, those that are gone lose
    /// theirs, indexes are dropped and built. Goes into the commit, which fails if this did.
    func setSchema(_ next: StoredSchema, version: UInt64) throws(RealmError) {
        if next != stored {
            do throws(RealmError) {
                try takeSchema(next)
            } catch {
                schemaFailure = error
                throw error
            }
        }
        catalog.schemaVersion = version
        stamp.pointee &+= 1
    }

    private func takeSchema(_ next: StoredSchema) throws(RealmError) {
        try settle()
        transaction?.pointee.changes.record?.pointee.changesSchema = true
        try release(next)
        stored = next
        isSchemaDirty = true
        try rebuild()
        setTransaction(transaction)
        try buildIndexes()
    }

    /// Has the integer primary key of a class written into its leaves (`Table.materializeKeys`).
    func materializeKeys(_ table: Table) throws(RealmError) {
        do throws(RealmError) {
            try settle()
            isReshaped = true
            try table.materializeKeys()
        } catch {
            schemaFailure = error
            throw error
        }
    }

    /// Has `tell` called with numbers of rows that changes of the schema went through, until the write
    /// transaction ends.
    func setProgress(_ tell: ((Int) throws(RealmError) -> Void)?) {
        transaction?.pointee.onProgress = tell
    }

    /// Gives up what the classes, columns and indexes own that `next` does not have.
    private func release(_ next: StoredSchema) throws(RealmError) {
        var gone: [Table] = []
        for item in stored.schema.classes {
            guard let table = table(item.key) else { continue }
            guard let left = next.schema.class_(item.key) else {
                try table.deleteAllRows()
                gone.append(table)
                continue
            }
            let dropped = Set(left.vacated.map(\.key)).subtracting(item.vacated.map(\.key))
            for property in item.properties where dropped.contains(property.key) {
                try table.releaseColumn(property.key.column)
            }
        }
        try settle()
        for table in gone {
            try table.compactLeaves()
            for position in 0..<table.state.indexCount { try table.dropIndex(position) }
        }
        for item in next.schema.classes {
            guard let table = table(item.key) else { continue }
            let infos = try TableLayout.columns(item, next.schema)
            for position in TableLayout.superfluous(table, infos) { try table.dropIndex(position) }
        }
    }

    /// Fills the indexes that are new.
    private func buildIndexes() throws(RealmError) {
        try forEachTable { table throws(RealmError) in
            for position in 0..<table.state.indexCount
            where table.state.rowCount > 0 && table.state.indexes[position].isNew {
                try table.buildIndex(position)
            }
            for position in 0..<table.state.indexCount {
                table.state.indexes[position].isNew = false
            }
        }
    }

    /// Makes every table ready for scans.
    func settle() throws(RealmError) {
        guard transaction != nil else { return }
        try forEachTable { table throws(RealmError) in
            if table.state.changes.isDirty || table.state.freshKey >= .first
                || !table.state.openLeaves.isEmpty || table.hasPendingChanges
                || !table.state.openCollections.isEmpty
            {
                try table.settle()
            }
        }
    }

    /// Writes the transaction as a new version and moves there. After an error the changes are
    /// gone and the session is at the version it started from; after one of a sync that other threads
    /// share it is at the new one, and the file can't be used any more. `waits`: until the version is on
    /// stable storage; else the caller sees to that with `Store.makeDurable`. `tells`: the caller has
    /// realms of this process look at it. `goesOn`: another write transaction begins at once.
    func commit(
        waits: Bool = true, tells: Bool = false, goesOn: Bool = false
    ) throws(RealmError) {
        guard let transaction, let lease else { return }
        do throws(RealmError) {
            if let schemaFailure { throw schemaFailure }
            try tellCreated()
            try settle()
            try forEachTable { table throws(RealmError) in try table.compactLeaves() }
            if store.options.clientNumber != 0 {
                try forEachTable { table throws(RealmError) in try table.checkKeysGiven() }
            }
            // It would move blocks that have just been written, too.
            store.sweep.isMoving = store.sweep.isWalking && lease.early.isEmpty
            if store.sweep.isMoving { sweepSome(transaction.pointee.memory) }
            let sharesSync = waits && store.mayShareSync
            let next = try write(
                transaction.pointee.memory, lease, isSoft: !waits || sharesSync, tells, goesOn)
            endWrite()
            isReshaped = false
            let old = pin
            pin = next
            stamp.pointee &+= 1
            store.unpin(old.version)
            if goesOn { try beginWrite(try store.goOnWriting()) }
            if sharesSync {
                try store.makeDurable(next.version, waitMax: store.options.sharedWaitMax)
            }
        } catch {
            rollBack()
            throw error
        }
    }

    private func write(
        _ memory: UnsafeMutablePointer<TransactionMemory>, _ lease: WriteLease, isSoft: Bool,
        _ tells: Bool, _ keepsWriter: Bool
    ) throws(RealmError) -> Store.Pin {
        var next = Catalog()
        next.format = isSchemaDirty ? stored.format : catalog.format
        next.schemaVersion = catalog.schemaVersion
        next.schema = catalog.schema
        let sweeps = store.sweep.isMoving
        let writesSchema =
            isSchemaDirty || (sweeps && !catalog.schema.isNone && store.sweep.moves(catalog.schema))
        let schemaBlock = writesSchema ? StoredSchema.makeBlock(stored.encoded()) : nil
        defer { schemaBlock?.memory.deallocate() }
        if writesSchema, !catalog.schema.isNone { memory.pointee.freed.append(catalog.schema) }
        var log = try logCommit()
        defer { log?.deallocate() }
        if sweeps { log?.move(store.sweep.moves) }
        memory.pointee.freed += log?.freed ?? []
        let builder = try lease.prepareCommit(
            pages: memory.pointee.blocks.pageTotal + (schemaBlock?.pages ?? 0) + (log?.pages ?? 0),
            freed: memory.pointee.freed, versions: joined + 1)
        builder.keepsWriter = keepsWriter
        for item in stored.schema.classes {
            guard let table = table(item.key) else { continue }
            next.classes.append(table.place(builder))
        }
        if let schemaBlock {
            next.schema = builder.place(schemaBlock.memory, pages: schemaBlock.pages)
        }
        next.log = log?.place(builder)
        let pin = try builder.publish(catalog: next.encoded(), soft: isSoft, tells: tells)
        catalog = next
        return pin
    }

    /// Undoes the write transaction.
    func rollBack() {
        guard transaction != nil else { return }
        discardChanges()
    }

    private func discardChanges() {
        let lease = self.lease
        let undo = self.undo
        endWrite()
        lease?.abandon()
        if let undo {
            catalog = undo.catalog
            do throws(RealmError) {
                if isReshaped || stored != undo.stored {
                    stored = undo.stored
                    try rebuild()
                }
                for root in catalog.classes {
                    if let table = table(root.classKey) { try Self.setRoots(table, root) }
                }
                try continueKeys()
            } catch {
                // These are the tables as they were read before.
                invariant(false, error.message)
            }
        }
        isReshaped = false
        stamp.pointee &+= 1
    }

    /// Frees the memory of the transaction.
    private func endWrite() {
        forEachTable { $0.discardTransaction() }
        for table in retired { table.discardTransaction() }
        if let transaction { TransactionState.end(transaction) }
        setTransaction(nil)
        lease = nil
        undo = nil
        joined = 0
        isSchemaDirty = false
        schemaFailure = nil
        consumerChanges = [:]
    }
}
