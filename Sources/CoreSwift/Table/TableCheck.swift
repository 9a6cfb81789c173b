// Verification of everything a version holds above the pager: schema and catalog, the tree of every
// class, every column of every leaf, values in blocks of their own, every index entry, every link.
// Trusts nothing: each block's check value is computed again, also of blocks that passed the gate
// before, and the walk goes on after a fault to find the others.
//
// Rows are in TableCheck+Rows.swift, columns in TableCheck+Columns.swift, indexes in
// TableCheck+Indexes.swift. `Database` calls this and has the pager check the space map with the
// list of blocks found here.

/// Problems found; beyond a limit they are only counted.
struct CheckReport {
    static let problemsMax = 500
    private var listed: [String] = []
    private(set) var count = 0

    mutating func add(_ problem: String) {
        count += 1
        if listed.count < Self.problemsMax { listed.append(problem) }
    }

    var problems: [String] {
        count > listed.count ? listed + ["and \(count - listed.count) more problems"] : listed
    }
}

/// What the walk over the rows of a class found out.
struct ClassFacts {
    /// Keys of live rows, ascending.
    var keys: [ObjectKey] = []
    /// Non-null links by column.
    var links: [Int: Int] = [:]
    /// Words of texts by column, of columns with a full-text index.
    var words: [Int: WordSum] = [:]
    /// Links in mixed values and in lists, sets and dictionaries by column.
    var countedLinks: [Int: [CountedLink]] = [:]
    /// Every row could be read.
    var isReadable = true
    /// Of all rows whose keys are in the range of the next one (`ClientKeys`), dead ones included.
    var greatestKey = ObjectKey.invalid
}

final class TableCheck {
    let tables: TableSet
    var report = CheckReport()
    /// Every block of the version that belongs to the trees, in the order found.
    private(set) var reachable: [BlockReference] = []
    /// Every block was found: what is not in `reachable` is in no tree.
    private(set) var isComplete = true
    private var seenPages: Set<UInt64> = []
    var facts: [ClassKey: ClassFacts] = [:]

    init(_ tables: TableSet) { self.tables = tables }

    func run() {
        checkSchema()
        checkLog()
        for item in tables.schema.classes {
            guard let table = tables.table(item.key) else { continue }
            facts[item.key] = checkRows(table, item)
        }
        for item in tables.schema.classes {
            guard let table = tables.table(item.key) else { continue }
            checkLinks(table, item)
            for position in 0..<table.state.indexCount { checkIndex(table, item, position) }
        }
    }

    // MARK: Blocks

    /// The bytes of a block, if its check value, its kind and `structure` are right. A block that
    /// is in use elsewhere is reported and not walked again.
    func block<Context>(
        _ reference: BlockReference, _ tag: BlockTag, _ place: String, _ context: Context,
        _ structure: StructureCheck<Context>
    ) -> UnsafeRawPointer? {
        guard let block = admitted(reference, tag, place) else { return nil }
        do throws(RealmError) {
            try structure(block, reference.pageCount << Page.shift, context)
        } catch {
            noteFailure("\(place): page \(reference.page): ", error)
            return nil
        }
        tables.store.markVerified(reference)
        return block
    }

    // Not part of `block`, of which the compiler makes a copy for each structure.
    @inline(never)
    private func admitted(
        _ reference: BlockReference, _ tag: BlockTag, _ place: String
    ) -> UnsafeRawPointer? {
        do throws(RealmError) {
            guard seenPages.insert(reference.page).inserted else {
                throw RealmError(
                    .invalidDatabase, "page \(reference.page): the block is in use twice")
            }
            let block = try tables.store.admit(reference, fresh: true)
            reachable.append(reference)
            guard block.u64(BlockField.tag) == tag.rawValue else {
                throw RealmError(
                    .invalidDatabase,
                    "page \(reference.page): block is of kind \(block.u8(BlockField.kind)), column "
                        + "\(block.u16(BlockField.column)), class \(block.u32(BlockField.classKey)); its place needs kind "
                        + "\(tag.kind)")
            }
            return block
        } catch {
            noteFailure("\(place): ", error)
            return nil
        }
    }

    private func noteFailure(_ place: String, _ error: RealmError) {
        isComplete = false
        report.add("\(place)\(error.message)")
    }

    // MARK: Schema and catalog

    private func checkSchema() {
        let stored = tables.stored
        let catalog = tables.catalog
        if !catalog.schema.isNone {
            let tag = BlockTag(.schema, classKey: ClassKey(rawValue: 0))
            _ = block(catalog.schema, tag, "schema", 0) { _, _, _ throws(RealmError) in }
        }
        for problem in stored.schema.problems([]) { report.add("schema: \(problem)") }
        var serials: Set<Int64> = []
        for item in stored.schema.classes {
            if !item.primaryKey.isEmpty, item.primaryKeyProperty == nil {
                report.add(
                    "schema: class \(item.name) names \(item.primaryKey) as its primary key, "
                        + "which is not flagged so")
            }
            for property in item.columns {
                let serial = property.key.rawValue >> 16
                if serial >= Int64(stored.nextSerial) || serial < 0 {
                    report.add(
                        "schema: property \(item.name).\(property.name) has serial \(serial), the "
                            + "next one is \(stored.nextSerial)")
                }
                if !serials.insert(serial).inserted {
                    report.add(
                        "schema: property \(item.name).\(property.name) has serial \(serial), "
                            + "which another has too")
                }
            }
        }
        var listed: Set<ClassKey> = []
        for root in catalog.classes where !listed.insert(root.classKey).inserted {
            report.add("catalog: class \(root.classKey) is listed twice")
        }
        for item in stored.schema.classes where !listed.contains(item.key) {
            report.add("catalog: class \(item.name) is missing")
        }
    }
}

/// Names of things in problems.
extension ClassSchema {
    func label(_ column: Int) -> String {
        // Where nothing was dropped, properties stand in the order of their columns.
        let isThere = properties.indices.contains(column) && properties[column].key.column == column
        let property =
            isThere ? properties[column] : properties.first { $0.key.column == column }
        return "\(name).\(property?.name ?? "\(column)")"
    }
}
