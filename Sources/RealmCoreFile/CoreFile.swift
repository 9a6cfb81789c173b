// A file of realm-core, formats 9 to 24, plain or encrypted, opened for reading: its tables with their
// properties, and their objects one after the other. The file is never written to, and what lies beside it
// neither. Bytes are not believed: whatever they are, the outcome is values or a CoreFileError.
//
// Not for use by several threads at a time. Programs that open the file with the old library while this one
// has it open wait, if it has a lock file; `checkUnchanged` tells whether somebody wrote to it nevertheless.

public final class CoreFile {
    /// 0 of a file without data.
    public let formatVersion: Int
    /// That of the application; nil if it never set one.
    public private(set) var schemaVersion: UInt64?
    /// The number of the last commit; nil if the file does not tell.
    public private(set) var commitVersion: UInt64?
    /// Whether the file has history of a synchronisation, which is not read.
    public private(set) var hasSyncHistory = false
    public private(set) var tables: [CoreTable] = []
    /// Texts that were no UTF-8 and were read with U+FFFD in place of what is wrong, so far.
    public var repairedTexts: Int { store.repairedTexts }

    let store: NodeStore
    let reader: ValueReader
    /// Tables that were read since nodes were last forgotten: each node has one place in a pass.
    private var readTables: Set<Int> = []

    /// `key`: empty, or the 64 bytes of the file's encryption key. A file that is in use by the old library is
    /// an error of the code `.inUse`, unless `evenInUse`.
    public init(
        _ path: String, key: [UInt8] = [], evenInUse: Bool = false
    ) throws(CoreFileError) {
        let bytes = try FileBytes(path, key: key, evenInUse: evenInUse)
        store = try NodeStore(bytes)
        reader = ValueReader(store)
        let header = try Header(bytes)
        formatVersion = header.format
        reader.hasDictionaryClusters = header.format == 21 || header.format == 22
        guard header.top != 0 else { return }
        try readGroup(header)
        store.holdForever()
        let metadata = tables.firstIndex { $0.name == "metadata" }
        if let metadata,
            let column = tables[metadata].columns.firstIndex(where: {
                $0.name == "version" && $0.type == .int && $0.collection == .none
            })
        {
            try forEachObject(of: metadata) { (_, values) throws(CoreFileError) in
                if schemaVersion == nil, case .int(let version) = values[column], version != -1 {
                    schemaVersion = UInt64(bitPattern: version)
                }
            }
        }
        if isOld { try readOldPrimaryKeys() }
    }

    /// Formats without object keys.
    var isOld: Bool { formatVersion <= 9 }

    /// Throws `.inUse` where somebody committed to the file since it was opened: what was read may be of
    /// several versions then.
    public func checkUnchanged() throws(CoreFileError) { try store.bytes.checkUnchanged() }

    /// Hands out the objects of a table, by its index in `tables`: the key of each, and the values of some of
    /// its columns, or of all in their order. Keys ascend. In format 9 they are the numbers of the rows.
    public func forEachObject(
        of table: Int, columns: [Int]? = nil,
        _ body: (Int64, [CoreValue]) throws(CoreFileError) -> Void
    ) throws(CoreFileError) {
        let chosen = try begin(table, columns)
        do throws(CoreFileError) {
            if isOld {
                try readRows(tables[table], chosen, body)
            } else {
                try readObjects(tables[table], chosen, body)
            }
        } catch {
            throw error.within("table '\(tables[table].name)'")
        }
    }

    /// The same, many objects at a time and without memory for each value: what imports are made of. In
    /// format 9 a cluster is one row.
    public func forEachCluster(
        of table: Int, columns: [Int], _ body: (CoreCluster) throws(CoreFileError) -> Void
    ) throws(CoreFileError) {
        let chosen = try begin(table, columns)
        do throws(CoreFileError) {
            if isOld {
                try readRows(tables[table], chosen) { (key, values) throws(CoreFileError) in
                    reader.keeper.clear()
                    try body(CoreCluster(reader, key, chosen, values))
                }
            } else {
                try readClusters(tables[table], chosen, body)
            }
        } catch {
            throw error.within("table '\(tables[table].name)'")
        }
    }

    /// Begins to read a table. Returns the columns.
    private func begin(_ table: Int, _ columns: [Int]?) throws(CoreFileError) -> [CoreColumn] {
        guard tables.indices.contains(table) else {
            throw CoreFileError(.misuse, "table \(table) of \(tables.count)")
        }
        guard columns?.allSatisfy(tables[table].columns.indices.contains) ?? true else {
            throw CoreFileError(.misuse, "columns of '\(tables[table].name)' that it has not")
        }
        if !readTables.insert(table).inserted {
            store.startPass()
            readTables = [table]
        }
        store.letGo()
        return columns?.map { tables[table].columns[$0] } ?? tables[table].columns
    }

    /// How many objects a table has, as the file tells; reading them may show that it is wrong.
    public func objectCount(of table: Int) throws(CoreFileError) -> Int {
        guard tables.indices.contains(table) else {
            throw CoreFileError(.misuse, "table \(table) of \(tables.count)")
        }
        // Each node has one place in a pass; this is one.
        store.startPass()
        readTables = []
        defer { store.startPass() }
        var ref = tables[table].root
        if isOld {
            guard let column = tables[table].columns.first(where: { $0.type != .timestamp }) else {
                return 0
            }
            ref = try store.references(ref, "columns").refIfThere(column.slot)
        }
        let root = try store.node(ref, "objects")
        guard root.isInner else { return isOld ? root.count : try ClusterTree(store).count(root) }
        let place = isOld ? root.count - 1 : 2
        return Int(clamping: min(try root.tagged(place), UInt64(store.bytes.size) * 128))
    }

    private func readGroup(_ header: Header) throws(CoreFileError) {
        let top = try store.references(header.top, "top of the file", atLeast: 3)
        guard [3, 5, 7, 9, 10, 11, 12].contains(top.count) else {
            throw top.fail("the top of the file has \(top.count) elements")
        }
        let size = try top.tagged(2)
        guard size <= UInt64(store.bytes.size) else {
            throw .damaged(
                "the file should have \(size) bytes and has \(store.bytes.size): it was truncated")
        }
        if !header.isStreaming { store.limit = Int(size) }
        if top.count > 6 { commitVersion = try top.tagged(6) }
        if top.count > 7 {
            let history = try top.tagged(7)
            hasSyncHistory = history == 3 || history == 4
        }
        let names = try TextLeaf(store, try store.node(try top.ref(0), "table names"), .names)
        let refs = try store.references(try top.ref(1), "tables")
        guard names.count == refs.count else {
            throw refs.fail("\(refs.count) tables with \(names.count) names")
        }
        var seen: Set<String> = []
        var targets: [TableReading.Targets] = []
        for index in 0..<refs.count {
            let word = UInt64(bitPattern: try refs.int(index))
            guard word != 0, word & 1 == 0 else {
                guard !isOld else { throw refs.fail("table \(index) is missing") }
                continue
            }
            let name = try names.bytes(index).map { store.text($0) } ?? ""
            guard seen.insert(name).inserted else {
                throw refs.fail("two tables of the name '\(name)'")
            }
            do throws(CoreFileError) {
                let reading = TableReading(store: store, name: name, slot: index)
                let (table, links) = isOld ? try reading.old(word) : try reading.new(word)
                tables.append(table)
                targets.append(links)
            } catch {
                throw error.within("table '\(name)'")
            }
        }
        for (index, table) in tables.enumerated() {
            guard reader.tables.updateValue(index, forKey: table.key) == nil else {
                throw .damaged("table '\(table.name)': its key \(table.key) is that of another one")
            }
        }
        for index in tables.indices {
            for (column, key) in targets[index] {
                guard let target = reader.tables[key] else {
                    throw .damaged(
                        "table '\(tables[index].name)', property "
                            + "'\(tables[index].columns[column].name)': links to table \(key), "
                            + "which there is not")
                }
                tables[index].columns[column].target = target
            }
        }
    }

    /// Format 9 keeps the names of primary keys in a table.
    private func readOldPrimaryKeys() throws(CoreFileError) {
        guard let list = tables.firstIndex(where: { $0.name == "pk" }),
            let classes = tables[list].columns.firstIndex(where: { $0.name == "pk_table" }),
            let properties = tables[list].columns.firstIndex(where: { $0.name == "pk_property" })
        else { return }
        var keys: [String: String] = [:]
        try forEachObject(of: list) { (_, values) throws(CoreFileError) in
            if case .string(let name) = values[classes],
                case .string(let property) = values[properties]
            {
                keys["class_" + name] = property
            }
        }
        for index in tables.indices {
            guard let name = keys[tables[index].name] else { continue }
            tables[index].primaryKey = tables[index].columns.firstIndex { $0.name == name }
        }
    }
}

/// The first 24 bytes of a file:
///
///    0  reference to the top, twice; 16  "T-DB"; 20  format version, twice; 23  bit 0: which of the two counts
///
/// A file that was written in one go has its top in the last 16 bytes, before a magic number.
struct Header {
    private static let footerMagic: UInt64 = 0x3034_1252_37E5_26C8

    let top: UInt64
    let format: Int
    let isStreaming: Bool

    init(_ bytes: FileBytes) throws(CoreFileError) {
        try bytes.load(0, 24)
        func word(_ offset: Int) -> UInt64 {
            UInt64(littleEndian: bytes.start.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        }
        func byte(_ offset: Int) -> UInt8 {
            bytes.start.load(fromByteOffset: offset, as: UInt8.self)
        }
        guard word(16) & 0xFFFF_FFFF == 0x4244_2D54 else {
            throw CoreFileError(.notRealm, "not a file of realm-core")
        }
        guard bytes.size % 8 == 0 else {
            throw .damaged("the file has \(bytes.size) bytes, not a multiple of 8: truncated")
        }
        let slot = Int(byte(23) & 1)
        format = Int(byte(20 + slot))
        var top = word(slot * 8)
        isStreaming = slot == 0 && top == .max
        if isStreaming {
            guard bytes.size >= 40 else {
                throw .damaged("truncated: the end of the file is missing")
            }
            try bytes.load(bytes.size - 16, 16)
            guard word(bytes.size - 8) == Self.footerMagic else {
                throw .damaged("truncated: the end of the file is missing")
            }
            top = word(bytes.size - 16)
        }
        self.top = top
        if format == 0 && top == 0 { return }
        guard [9, 10, 11, 20, 21, 22, 23, 24].contains(format) else {
            throw CoreFileError(
                .unsupported,
                "format \(format) of realm-core: 9 to 11 and 20 to 24 can be read")
        }
    }
}
