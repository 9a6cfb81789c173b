// One change of the schema of a file, in a write transaction of the realm that asks for it.
//
// With a block of the program between them, the differences are applied in two halves. Before it,
// classes and properties are added and properties that change their type get a new column; the old
// one stays under a name that no program can have, until it is clear that the class it links to was
// not renamed. After it, what the new schema lacks is dropped, primary keys are set, classes change
// their kind, indexes are built: the block works without the new ones.

struct SchemaChange {
    private let realm: Realm
    private let tables: TableSet
    private let request: SchemaRequest
    private let plan: SchemaPlan
    private var fills = DefaultFills()

    /// In front of the name of a property that the new schema has with another type.
    static let hiddenMark = "\0"

    init(_ realm: Realm, _ tables: TableSet, _ plan: SchemaPlan, _ request: SchemaRequest) {
        self.realm = realm
        self.tables = tables
        self.plan = plan
        self.request = request
    }

    /// Everything but the commit. After an error the transaction has to be rolled back.
    mutating func run() throws(RealmError) {
        guard let tell = request.progress else { return try runSteps() }
        let progress = SchemaProgress(tables, plan.differences, tell)
        try progress.start()
        tables.setProgress { rows throws(RealmError) in try progress.add(rows) }
        defer { tables.setProgress(nil) }
        try runSteps()
        try progress.end()
    }

    private mutating func runSteps() throws(RealmError) {
        let before = tables.stored
        switch plan.action {
        case .apply:
            try prepare(plan.differences)
            try finish(before)
        case .migrate:
            try prepare(plan.differences)
            try callBack()
            try finish(before)
        case .migrateByHand:
            try tables.setSchema(tables.stored, version: plan.version)
            try callBack()
            try checkByHand()
        case .reset:
            try reset()
            try finish(tables.stored)
        }
        if plan.isFirst || plan.action == .reset { try initialize() }
    }

    // MARK: Before the block

    /// Adds what is new, and brings what is to be dropped out of the way.
    mutating func prepare(_ differences: [SchemaDifference]) throws(RealmError) {
        var next = tables.stored
        for difference in differences {
            switch difference {
            case .classAdded(let item): try next.add(item)
            case .propertyAdded(let name, let property): try add(property, name, &next)
            case .propertyTypeChanged(let name, let old, let new):
                next.rename(name, old.name, to: Self.hiddenMark + old.name)
                try add(new, name, &next)
            case .propertyBecameRequired(let name, let property):
                next.rename(name, property.name, to: Self.hiddenMark + property.name)
                try add(property, name, &next)
            case .propertyBecameNullable(let name, let property):
                next.makeNullable(name, property.name)
            case .classRemoved, .classKindChanged, .propertyRemoved, .primaryKeyChanged,
                .indexAdded, .indexRemoved, .fullTextIndexAdded, .fullTextIndexRemoved:
                // After the block.
                continue
            }
        }
        try tables.setSchema(next, version: plan.version)
        realm.noteSchema(tables)
        try fills.run(realm, tables)
    }

    /// Adds a property without its indexes, which are built when the data is there.
    private mutating func add(
        _ property: PropertySchema, _ className: String, _ next: inout StoredSchema
    ) throws(RealmError) {
        var bare = property
        bare.flags.subtract([.indexed, .fullTextIndexed, .fullTextUnicode])
        guard let owner = request.schema.class_(named: className) else { return }
        let initial = try fills.initial(property, of: owner, realm)
        try next.add(bare, to: className, initial: initial)
    }

    // MARK: The block

    private func callBack() throws(RealmError) {
        guard let migrate = request.migrate else { return }
        let old = try realm.reader(at: tables.version)
        defer { old.close() }
        realm.migration = MigrationState(target: request.schema)
        defer { realm.migration = nil }
        let isDone = try migrate(old, realm, request.schema)
        guard !realm.isClosed, realm.isWritable else {
            throw RealmError(.migrationFailed, "the migration callback closed the realm")
        }
        guard isDone else {
            throw RealmError.failedCallback
        }
        if let edited = realm.migration?.editedKeys {
            for key in edited.sortedFew(by: { $0.rawValue < $1.rawValue }) { try checkKeys(key) }
        }
    }

    private func initialize() throws(RealmError) {
        guard let initialize = request.initializeData else { return }
        guard try initialize(realm) else {
            throw RealmError.failedCallback
        }
        guard !realm.isClosed, realm.isWritable else {
            throw RealmError(.callback, "the data initialization callback closed the realm")
        }
    }

    /// In manual mode the block has to have done everything.
    private func checkByHand() throws(RealmError) {
        let left = tables.schema.differences(to: request.schema).filter {
            !$0.isClassRemoved
        }
        guard left.isEmpty else {
            throw RealmError(
                .schemaMismatch,
                "after the migration the schema of the file still differs from the requested one:"
                    + SchemaPlan.list(left))
        }
    }

    // MARK: After the block

    private func finish(_ before: StoredSchema) throws(RealmError) {
        try dropKeys()
        var next = tables.stored
        var embedded: [ClassSchema] = []
        var keyed: [String] = []
        for difference in tables.schema.differences(to: request.schema) {
            switch difference {
            case .propertyRemoved(let name, let property):
                let isHidden = property.name.hasPrefix(Self.hiddenMark)
                if dropsProperties || isHidden { next.vacate(name, property.name) }
            case .indexAdded(let name, let property), .indexRemoved(let name, let property),
                .fullTextIndexAdded(let name, let property),
                .fullTextIndexRemoved(let name, let property):
                next.setIndexes(name, property)
            case .primaryKeyChanged(let name, _, let new):
                if new.isEmpty { continue }
                next.setPrimaryKey(name, new)
                keyed.append(name)
            case .classKindChanged(let item, _):
                if item.kind == .embedded {
                    embedded.append(item)
                } else {
                    next.setKind(item.name, item.kind)
                }
            case .classAdded, .classRemoved, .propertyAdded, .propertyTypeChanged,
                .propertyBecameNullable, .propertyBecameRequired:
                // Done before the block, which can't undo it; or classes that stay as they are.
                continue
            }
        }
        try tables.setSchema(next, version: plan.version)
        for name in keyed {
            if let item = tables.schema.class_(named: name) { try checkKeys(item.key) }
        }
        if !embedded.isEmpty {
            realm.noteSchema(tables)
            for item in embedded {
                try EmbeddingChange(realm, tables, before, mends: request.mendsBacklinks)
                    .run(item.name)
            }
        }
        realm.noteSchema(tables)
    }

    /// Additive modes keep properties that the requested schema lacks.
    private var dropsProperties: Bool {
        request.mode != .additiveDiscovered && request.mode != .additiveExplicit
    }

    /// Takes primary keys away that the requested schema does not have, so that it can have others.
    private func dropKeys() throws(RealmError) {
        var next = tables.stored
        for difference in tables.schema.differences(to: request.schema) {
            guard case .primaryKeyChanged(let name, let old, _) = difference, !old.isEmpty,
                let item = tables.schema.class_(named: name), let table = tables.table(item.key)
            else { continue }
            let isKept = request.schema.class_(named: name)?.property(named: old) != nil
            if isKept { try tables.materializeKeys(table) }
            next.dropPrimaryKey(name)
        }
        try tables.setSchema(next, version: plan.version)
    }

    /// Throws `.migrationFailed` when two objects have one primary key.
    private func checkKeys(_ key: ClassKey) throws(RealmError) {
        guard let table = tables.table(key), table.primaryKeyColumn >= 0,
            let twice = try table.repeatedKey()
        else { return }
        throw RealmError(
            .migrationFailed,
            "the primary key \(table.named(column: table.primaryKeyColumn)) is not unique: several "
                + "objects have the value \(twice)")
    }

    // MARK: Reset

    /// Takes everything out of the file, for all who have it open.
    private mutating func reset() throws(RealmError) {
        var empty = tables.stored
        for item in tables.schema.classes { empty.remove(className: item.name) }
        try tables.setSchema(empty, version: plan.version)
        let all = tables.schema.differences(to: request.schema)
        try prepare(all)
    }
}
