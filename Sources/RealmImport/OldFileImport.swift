// Writes the objects of a file of realm-core into a new file of ours: `realm import`.
//
// Objects are made first, with the values that lead nowhere; then links, collections and mixed values are
// put into them, which find their targets now. Embedded objects are made where they are owned, and filled
// when their table is read: those within embedded objects by reading it again. The new file gets its name
// when it is complete.

import CoreSwift
import RealmCoreFile

/// How a file is imported.
public struct ImportOptions: Sendable {
    /// The key of the old file, 64 bytes; empty: it is not encrypted.
    public var key: [UInt8]
    /// The one that the new file is encrypted with, or none.
    public var newKey: [UInt8]
    /// Also while programs have the old file open.
    public var evenInUse: Bool

    public init(key: [UInt8] = [], newKey: [UInt8] = [], evenInUse: Bool = false) {
        self.key = key
        self.newKey = newKey
        self.evenInUse = evenInUse
    }
}

/// What came along.
public struct ImportReport: Sendable {
    public struct Class: Sendable {
        public let name: String
        public let isEmbedded: Bool
        public internal(set) var objects = 0
    }

    /// That of the old file.
    public let format: Int
    public let schemaVersion: UInt64?
    public internal(set) var classes: [Class]
    /// What is different in the new file by its nature.
    public let notes: [String]
    /// The first values and objects that were left out.
    public internal(set) var losses: [String] = []
    /// How many were left out.
    public internal(set) var lossCount = 0
}

public struct OldFileImport {
    private static let objectsPerCommit = 20_000
    private static let lossesMax = 100
    /// Embedded objects within embedded objects.
    private static let levelsMax = 100

    private let file: CoreFile
    private let realm: Realm
    private let old: OldSchema
    private var report: ImportReport
    /// By index in `CoreFile.tables`.
    private var targets: [Int: Target] = [:]
    private var written = 0

    private struct Target {
        let place: Int
        let schema: ClassSchema
        /// Keys in the old file, ascending, and in the new one; of ordinary classes.
        var keys: [Int64] = []
        var made: [ObjectKey] = []
        /// Embedded objects that were made, by their old keys; nil once they are filled.
        var owned: [Int64: ObjectKey?] = [:]
        var unfilled = 0

        func counterpart(_ key: Int64) -> ObjectKey? {
            var (low, high) = (0, keys.count)
            while low < high {
                let middle = (low + high) / 2
                if keys[middle] < key { low = middle + 1 } else { high = middle }
            }
            return low < keys.count && keys[low] == key ? made[low] : nil
        }
    }

    /// Imports `source`, which is only read, into the new file `path`. On an error there is no new file.
    ///
    /// Throws `.fileAlreadyExists` when there is something at `path`, `.invalidDatabase` for files that are
    /// damaged, none of realm-core, or encrypted with another key, `.invalidEncryptionKey` for keys of a wrong
    /// length, `.unsupportedFileFormatVersion`, and `.fileOperationFailed` for files that can't be read or
    /// are in use.
    public static func run(
        _ source: String, to path: String, _ options: ImportOptions = ImportOptions()
    ) throws(RealmError) -> ImportReport {
        for key in [options.key, options.newKey] where !key.isEmpty && key.count != 64 {
            throw RealmError(
                .invalidEncryptionKey, "an encryption key has 64 bytes, not \(key.count)")
        }
        guard !NewFile.isTaken(path) else {
            throw RealmError(.fileAlreadyExists, "'\(path)': can't import into it, the file exists")
        }
        let file: CoreFile
        do throws(CoreFileError) {
            file = try CoreFile(source, key: options.key, evenInUse: options.evenInUse)
        } catch {
            throw Self.error(error)
        }
        let old = OldSchema(file)
        let temporary = NewFile.temporaryName(path)
        defer { NewFile.remove(temporary) }
        var configuration = Configuration(path: temporary)
        configuration.encryptionKey = options.newKey
        configuration.schema = old.schema
        configuration.schemaVersion = file.schemaVersion ?? 0
        configuration.notifiesAutomatically = false
        let realm = try Realm.open(configuration)
        defer { realm.close() }
        var session = OldFileImport(file, realm, old)
        do throws(CoreFileError) {
            try session.copy()
            try file.checkUnchanged()
        } catch {
            // What failed in the new file stopped the reading of the old one.
            throw session.failure ?? Self.error(error)
        }
        try realm.writeCopy(to: path, encryptionKey: options.newKey)
        return session.report
    }

    private static func error(_ error: CoreFileError) -> RealmError {
        let code: ErrorCode =
            switch error.code {
            case .unreadable, .inUse: .fileOperationFailed
            case .unsupported: .unsupportedFileFormatVersion
            case .notRealm, .damaged, .wrongKey: .invalidDatabase
            case .misuse: .invalidArgument
            }
        return RealmError(code, error.message)
    }

    private init(_ file: CoreFile, _ realm: Realm, _ old: OldSchema) {
        self.file = file
        self.realm = realm
        self.old = old
        report = ImportReport(
            format: file.formatVersion, schemaVersion: file.schemaVersion,
            classes: old.classes.map { .init(name: $0.name, isEmbedded: $0.isEmbedded) },
            notes: old.notes)
        for (place, item) in old.classes.enumerated() {
            guard let schema = realm.schema.class_(named: item.name) else { continue }
            targets[item.table] = Target(place: place, schema: schema)
        }
    }

    // MARK: Order of work

    /// The error of the new file that made the reading stop.
    private var failure: RealmError?

    private mutating func copy() throws(CoreFileError) {
        try writing { me throws(RealmError) in try me.realm.beginWrite() }
        for item in old.classes where !item.isEmbedded { try create(item) }
        for item in old.classes where !item.isEmbedded {
            let rest = item.columns.filter { !isPlain(item, $0) }
            if !rest.isEmpty { try fill(item, rest) }
        }
        var level = 0
        while targets.values.contains(where: { $0.unfilled > 0 }), level < Self.levelsMax {
            for item in old.classes where (targets[item.table]?.unfilled ?? 0) > 0 {
                try fill(item, item.columns)
            }
            level += 1
        }
        for item in old.classes {
            guard let count = targets[item.table]?.unfilled, count > 0 else { continue }
            lose("class '\(item.name)': \(count) objects that own each other too deep", count)
        }
        if file.repairedTexts > 0 {
            lose(
                "\(file.repairedTexts) texts were no UTF-8; what is wrong in them is U+FFFD now",
                file.repairedTexts)
        }
        try writing { me throws(RealmError) in try me.realm.commit() }
    }

    /// Runs what writes to the new file; its error ends the reading.
    private mutating func writing(
        _ body: (inout OldFileImport) throws(RealmError) -> Void
    ) throws(CoreFileError) {
        do throws(RealmError) {
            try body(&self)
        } catch {
            failure = error
            throw CoreFileError(.misuse, error.message)
        }
    }

    private mutating func commitSometimes() throws(RealmError) {
        written += 1
        guard written % Self.objectsPerCommit == 0 else { return }
        try realm.commit()
        try realm.beginWrite()
    }

    /// Whether the values of a column lead nowhere.
    private func isPlain(_ item: OldSchema.Class, _ column: Int) -> Bool {
        let column = file.tables[item.table].columns[column]
        return column.collection == .none && ![.link, .mixed, .typedLink].contains(column.type)
    }

    private mutating func create(_ item: OldSchema.Class) throws(CoreFileError) {
        guard let target = targets[item.table] else { return }
        let columns = item.columns.filter { isPlain(item, $0) }
        let properties = self.properties(item, columns)
        let key = item.primaryKey.flatMap { columns.firstIndex(of: $0) }
        try file.forEachObject(of: item.table, columns: columns) {
            (old, values) throws(CoreFileError) in
            try writing { me throws(RealmError) in
                guard let handle = try me.make(item, target.schema, old, key.map { values[$0] })
                else { return }
                defer { handle.release() }
                me.targets[item.table]?.keys.append(old)
                me.targets[item.table]?.made.append(handle.objectKey)
                me.report.classes[target.place].objects += 1
                for (index, value) in values.enumerated() where index != key {
                    try me.set(handle, properties[index], value, item, old)
                }
                try me.commitSometimes()
            }
        }
    }

    /// Nil, with a loss noted, where another object has the primary key.
    private mutating func make(
        _ item: OldSchema.Class, _ schema: ClassSchema, _ old: Int64, _ key: CoreValue?
    ) throws(RealmError) -> ObjectHandle? {
        guard let key else { return try realm.createObject(schema.key) }
        do throws(RealmError) {
            guard let value = try Self.value(key) else { return nil }
            return try value.withRaw { raw throws(RealmError) in
                try realm.createObject(schema.key, primaryKey: raw)
            }
        } catch {
            guard Self.isAboutData(error) else { throw error }
            lose("class '\(item.name)', object \(old): \(error.message)")
            return nil
        }
    }

    private mutating func fill(_ item: OldSchema.Class, _ columns: [Int]) throws(CoreFileError) {
        guard let target = targets[item.table] else { return }
        let properties = self.properties(item, columns)
        try file.forEachObject(of: item.table, columns: columns) {
            (old, values) throws(CoreFileError) in
            try writing { me throws(RealmError) in
                let key: ObjectKey
                if item.isEmbedded {
                    guard case .some(.some(let owned)) = me.targets[item.table]?.owned[old] else {
                        return
                    }
                    key = owned
                    me.targets[item.table]?.owned[old] = .some(nil)
                    me.targets[item.table]?.unfilled -= 1
                } else {
                    guard let made = me.targets[item.table]?.counterpart(old) else { return }
                    key = made
                }
                let handle = try me.realm.object(target.schema.key, key)
                defer { handle.release() }
                for (index, value) in values.enumerated() {
                    try me.set(handle, properties[index], value, item, old)
                }
                try me.commitSometimes()
            }
        }
    }

    private func properties(_ item: OldSchema.Class, _ columns: [Int]) -> [PropertySchema] {
        columns.compactMap {
            targets[item.table]?.schema.property(named: file.tables[item.table].columns[$0].name)
        }
    }

    // MARK: Values

    private mutating func set(
        _ handle: ObjectHandle, _ property: PropertySchema, _ value: CoreValue,
        _ item: OldSchema.Class, _ old: Int64
    ) throws(RealmError) {
        // New objects have it.
        if value == .null { return }
        do throws(RealmError) {
            try set(handle, property, value)
        } catch {
            guard Self.isAboutData(error) else { throw error }
            lose(
                "class '\(item.name)', object \(old), property '\(property.name)': \(error.message)"
            )
        }
    }

    private mutating func set(
        _ handle: ObjectHandle, _ property: PropertySchema, _ value: CoreValue
    ) throws(RealmError) {
        switch value {
        case .list(let values):
            let list = try handle.setCollection(property.key, .list)
            for value in values { try append(value, to: list) }
        case .set(let values):
            let set = try handle.collection(property.key, .set)
            for value in values {
                if let own = try own(value) {
                    _ = try own.withRaw { raw throws(RealmError) in try set.insert(raw) }
                }
            }
        case .dictionary(let entries):
            let dictionary = try handle.setCollection(property.key, .dictionary)
            for entry in entries { try put(entry, into: dictionary) }
        case .link(let table, let key) where targets[table]?.schema.kind == .embedded:
            guard property.type == .object, claim(table, key) else { return }
            let made = try handle.createEmbedded(property.key)
            own(table, key, made)
        default:
            if let own = try own(value) {
                try own.withRaw { raw throws(RealmError) in
                    try handle.setValue(property.key, raw)
                }
            }
        }
    }

    private mutating func append(
        _ value: CoreValue, to list: RealmCollection
    ) throws(RealmError) {
        let end = try list.count()
        switch value {
        case .list(let values):
            let inner = try list.insertNested(.list, at: end)
            for value in values { try append(value, to: inner) }
        case .dictionary(let entries):
            let inner = try list.insertNested(.dictionary, at: end)
            for entry in entries { try put(entry, into: inner) }
        case .link(let table, let key) where targets[table]?.schema.kind == .embedded:
            guard claim(table, key) else { return }
            own(table, key, try list.insertEmbedded(at: end))
        default:
            guard let own = try own(value) else { return }
            try own.withRaw { raw throws(RealmError) in try list.insert(raw, at: end) }
        }
    }

    private mutating func put(
        _ entry: CoreEntry, into dictionary: RealmCollection
    ) throws(RealmError) {
        let name: Value =
            switch entry.key {
            case .string(let text): .string(text)
            case .int(let number): .string(String(number))
            default: throw RealmError(.invalidDatabase, "a key of a dictionary is no text")
            }
        // Not within the closure below, which would hold all of this.
        let own: Value?
        switch entry.value {
        case .list, .dictionary: own = nil
        case .link(let table, _) where targets[table]?.schema.kind == .embedded: own = nil
        default: own = try self.own(entry.value) ?? .null
        }
        if let own {
            try name.withRaw { key throws(RealmError) in
                try own.withRaw { raw throws(RealmError) in
                    _ = try dictionary.insert(raw, key: key)
                }
            }
            return
        }
        switch entry.value {
        case .list(let values):
            let inner = try name.withRaw { key throws(RealmError) in
                try dictionary.insertNested(.list, key: key)
            }
            for value in values { try append(value, to: inner) }
        case .dictionary(let entries):
            let inner = try name.withRaw { key throws(RealmError) in
                try dictionary.insertNested(.dictionary, key: key)
            }
            for entry in entries { try put(entry, into: inner) }
        case .link(let table, let old):
            guard claim(table, old) else { return }
            let made = try name.withRaw { key throws(RealmError) in
                try dictionary.insertEmbedded(key: key)
            }
            self.own(table, old, made)
        default: break
        }
    }

    /// A value of ours; nil, with a loss noted, for a link to an object that is not there.
    private mutating func own(_ value: CoreValue) throws(RealmError) -> Value? {
        guard case .link(let table, let key) = value else { return try Self.value(value) }
        guard let target = targets[table], let made = target.counterpart(key) else {
            lose("a link to object \(key) of '\(file.tables[table].name)', which there is not")
            return nil
        }
        return .link(Link(target.schema.key, made))
    }

    private static func value(_ value: CoreValue) throws(RealmError) -> Value? {
        switch value {
        case .null: return .null
        case .int(let value): return .int(value)
        case .bool(let value): return .bool(value)
        case .string(let value): return .string(value)
        case .binary(let value): return .binary(value)
        case .timestamp(let seconds, let nanoseconds):
            return .timestamp(Timestamp(seconds: seconds, nanoseconds: nanoseconds))
        case .float(let value): return .float(value)
        case .double(let value): return .double(value)
        case .decimal(let high, let low): return .decimal128(Decimal128(low: low, high: high))
        case .objectID(let bytes): return .objectId(try ObjectId(bytes: bytes))
        case .uuid(let bytes): return .uuid(try UUIDValue(bytes: bytes))
        case .link, .list, .set, .dictionary: return nil
        }
    }

    // MARK: Embedded objects

    /// Whether an embedded object has no owner yet; a loss is noted where it has.
    private mutating func claim(_ table: Int, _ key: Int64) -> Bool {
        guard targets[table]?.owned[key] == nil else {
            lose("object \(key) of '\(file.tables[table].name)' has two owners; the first keeps it")
            return false
        }
        return true
    }

    private mutating func own(_ table: Int, _ key: Int64, _ made: ObjectHandle) {
        targets[table]?.owned[key] = .some(made.objectKey)
        targets[table]?.unfilled += 1
        if let place = targets[table]?.place { report.classes[place].objects += 1 }
        made.release()
    }

    private mutating func lose(_ what: String, _ count: Int = 1) {
        report.lossCount += count
        if report.losses.count < Self.lossesMax { report.losses.append(what) }
    }

    /// Whether an error says that something of the old file can't be a value of the new one; others are
    /// about writing that.
    private static func isAboutData(_ error: RealmError) -> Bool {
        switch error.code {
        case .objectAlreadyExists, .limitExceeded: true
        default:
            error.code.rawValue >= ErrorCode.invalidArgument.rawValue
                && error.code.rawValue < ErrorCode.invalidArgument.rawValue + 1000
        }
    }
}
