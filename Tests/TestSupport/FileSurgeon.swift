// Opens up a closed realm file in memory: finds all its blocks, lets tests change any byte, and
// closes it again with every check value right, so that only checks of content can notice.

@testable import CoreSwift

final class FileSurgeon {
    struct Node {
        var kind: BlockKind
        var classKey: Int
        /// Column of an index, as `IndexKind.tagColumn` has it.
        var column: Int
        var level: Int
        /// Offset in the file of the reference to the block.
        var place: Int
        var page: Int
        var pages: Int
        var offset: Int { page * Page.size }
        var count: Int { pages * Page.size }
    }

    let count: Int
    let memory: UnsafeMutableRawPointer
    /// Parents before their children; the first is the root.
    private(set) var nodes: [Node] = []
    /// Offsets of the catalog's entries: class key -> entry, (class key, position) -> index entry.
    private(set) var classPlaces: [Int: Int] = [:]
    private(set) var indexPlaces: [Int: [Int]] = [:]
    private(set) var payload = 0
    private(set) var spaceMap = 0
    let slot: Int
    let version: UInt64

    init(_ bytes: [UInt8]) throws {
        count = bytes.count
        memory = .allocate(byteCount: max(count, 1), alignment: Page.size)
        memory.copyMemory(from: bytes, byteCount: count)
        let base = UnsafeRawPointer(memory)
        var newest: FileHeader?
        for slot in 0...1 {
            if case .valid(let header) = FileHeader.decode(
                base + FileHeader.slotOffset(slot), slot: slot),
                header.version > newest?.version ?? 0
            {
                newest = header
            }
        }
        guard let header = newest else { throw ToyFailure(description: "no header") }
        version = header.version
        slot = FileHeader.slotOffset(header.slot)
        add(.versionRoot, 0, 0, 0, slot + 48)
        try readRoot(header.root)
    }

    deinit { memory.deallocate() }

    var bytes: [UInt8] { Array(UnsafeRawBufferPointer(start: memory, count: count)) }
    var base: UnsafeRawPointer { UnsafeRawPointer(memory) }
    func block(_ node: Node) -> UnsafeMutableRawPointer { memory + node.offset }

    /// The blocks of a kind, in the order of their tree.
    func all(_ kind: BlockKind, classKey: Int? = nil, column: Int? = nil) -> [Node] {
        nodes.filter {
            $0.kind == kind && (classKey == nil || $0.classKey == classKey)
                && (column == nil || $0.column == column)
        }
    }

    // MARK: Reading

    private func add(
        _ kind: BlockKind, _ classKey: Int, _ column: Int, _ level: Int, _ place: Int
    ) {
        let reference = BlockReference(base + place)
        nodes.append(
            Node(
                kind: kind, classKey: classKey, column: column, level: level, place: place,
                page: Int(reference.page), pages: reference.pageCount))
    }

    private func readRoot(_ reference: BlockReference) throws {
        let root = try VersionRoot(base + nodes[0].offset, reference)
        payload = root.payload - base
        spaceMap = root.spaceMap - base
        readSpaceMap(root)
        guard root.payloadCount > 0 else { return }
        let catalog = try Catalog(root.payload, count: root.payloadCount)
        if !catalog.schema.isNone { add(.schema, 0, 0, 0, payload + 16) }
        var place = payload + 48
        for item in catalog.classes {
            let key = Int(item.classKey.rawValue)
            classPlaces[key] = place
            if !item.root.isNone { addRows(key, item.depth, place + 24) }
            place += 56
            for index in item.indexes {
                indexPlaces[key, default: []].append(place)
                let column = index.kind.tagColumn(index.column)
                if !index.root.isNone { addIndex(key, column, index.depth, place + 16) }
                place += 48
            }
        }
        if let log = catalog.log { addLog(log, place + 4) }
    }

    /// The blocks of the change log, whose directory begins at `place`; the column is the level.
    private func addLog(_ log: LogDirectory, _ place: Int) {
        var place = place + 16
        for consumer in log.consumers { place += 10 + consumer.name.utf8.count }
        for entry in log.entries {
            addLogBlock(entry.level, place + 17)
            place += 17 + BlockReference.byteCount
        }
    }

    private func addLogBlock(_ level: Int, _ place: Int) {
        add(.changeLog, 0, level, level, place)
        guard level > 0 else { return }
        let block = base + nodes[nodes.count - 1].offset
        for index in 0..<Int(block.u32(BlockField.count)) {
            addLogBlock(level - 1, nodes[nodes.count - 1].offset + LogBlock.referenceOffset(index))
        }
    }

    private func readSpaceMap(_ root: VersionRoot) {
        var position = spaceMap
        func number() -> Int {
            var value = 0
            var shift = 0
            while true {
                let byte = Int(base.u8(position))
                position += 1
                value |= (byte & 0x7F) << shift
                shift += 7
                if byte < 0x80 { return value }
            }
        }
        guard number() == 1 else { return }
        for _ in 0..<number() {
            _ = number()
            add(.spaceMap, 0, 0, 0, position)
            position += BlockReference.byteCount
        }
    }

    private func addRows(_ key: Int, _ level: Int, _ place: Int) {
        add(level > 0 ? .rowBranch : .rowLeaf, key, 0, level, place)
        let node = nodes[nodes.count - 1]
        let block = base + node.offset
        guard level == 0 else {
            for index in 0..<RowBranch.count(block) {
                addRows(key, level - 1, RowBranch.reference(block, index) - base)
            }
            return
        }
        let view = LeafView(block)
        for index in 0..<view.columnCount {
            guard let column = view.column(index), let externals = column.externals else {
                continue
            }
            for row in 0..<view.rows where LeafLayout.bit(externals, row) && !view.isDead(row) {
                add(.bigValue, key, index, 0, column.bytes(row).baseAddress! - base)
            }
        }
        addCollections(view, key, SampleFile.columns[key], property: -1)
    }

    /// The trees that the cells of a leaf name; `property` is the column whose elements it holds.
    private func addCollections(
        _ view: LeafView, _ key: Int, _ infos: [ColumnInfo], property: Int
    ) {
        var trees: [(place: Int, layout: ElementLayout)] = []
        try? NestedCell.trees(view, infos, infos.count, property: property) { tree, layout in
            trees.append((tree - base, layout))
        }
        for tree in trees {
            addElements(
                key, tree.layout, Int(base.u8(tree.place + 1)),
                tree.place + CollectionCell.rootOffset)
        }
    }

    private func addElements(_ key: Int, _ layout: ElementLayout, _ level: Int, _ place: Int) {
        let kind = level > 0 ? BlockKind.collectionBranch : .collectionLeaf
        add(kind, key, layout.tagColumn, level, place)
        let node = nodes[nodes.count - 1]
        let block = base + node.offset
        guard level == 0 else {
            for index in 0..<RowBranch.count(block) {
                addElements(key, layout, level - 1, RowBranch.reference(block, index) - base)
            }
            return
        }
        let view = LeafView(block)
        for index in 0..<view.columnCount {
            guard let column = view.column(index), let externals = column.externals else {
                continue
            }
            for row in 0..<view.rows where LeafLayout.bit(externals, row) && !view.isDead(row) {
                add(.bigValue, key, layout.tagColumn, 0, column.bytes(row).baseAddress! - base)
            }
        }
        let infos = (0..<layout.columnCount).map { layout.infos[$0] }
        addCollections(view, key, infos, property: layout.tagColumn & 0x3FFF)
    }

    private func addIndex(_ key: Int, _ column: Int, _ level: Int, _ place: Int) {
        add(level > 0 ? .indexBranch : .indexLeaf, key, column, level, place)
        guard level > 0 else { return }
        let branch = IndexBranch(base + nodes[nodes.count - 1].offset)
        for index in 0..<branch.count {
            addIndex(key, column, level - 1, branch.reference(index) - base)
        }
    }

    // MARK: Closing

    /// Makes every check value right for what the blocks hold and the references say now.
    func reseal() {
        for node in nodes.dropFirst().reversed() { sealReference(at: node.place) }
        redigest()
        sealReference(at: nodes[0].place)
        sealHeader()
    }

    private func sealReference(at place: Int) {
        let reference = BlockReference(base + place)
        let start = Int(reference.page) * Page.size
        guard reference.pageCount > 0, start + reference.pageCount * Page.size <= count else {
            return
        }
        let check = ContentHash.of(
            base + start, count: reference.pageCount * Page.size, seed0: reference.location,
            seed1: reference.version)
        memory.put(check.low, place + 16)
        memory.put(check.high, place + 24)
    }

    /// The root's digest over the blocks that its version wrote.
    private func redigest() {
        let reference = BlockReference(base + nodes[0].place)
        guard let root = try? VersionRoot(base + nodes[0].offset, reference) else { return }
        var digest = WrittenDigest()
        var index = 0
        for number in 0..<min(root.runCount, 1000) {
            var page = Int(truncatingIfNeeded: root.run(number).page & 0xFFFF_FFFF)
            for _ in 0..<root.run(number).blocks where index < root.blockCount {
                let pages = root.blockPages(index)
                index += 1
                guard page > 0, (page + pages) * Page.size <= count else { continue }
                let location = BlockReference.location(page: UInt64(page), count: pages)
                digest.add(
                    location: location,
                    check: ContentHash.of(
                        base + page * Page.size, count: pages * Page.size, seed0: location,
                        seed1: version))
                page += pages
            }
        }
        memory.put(digest.low, nodes[0].offset + 32)
        memory.put(digest.high, nodes[0].offset + 40)
    }

    private func sealHeader() {
        memory.put(0 as UInt64, slot + 496)
        memory.put(0 as UInt64, slot + 504)
        let check = ContentHash.of(
            base + slot, count: FileHeader.slotBytes, seed0: 0, seed1: 0)
        memory.put(check.low, slot + 496)
        memory.put(check.high, slot + 504)
        if case .valid(let header) = FileHeader.decode(base + slot, slot: slot / Page.size) {
            SyncRecord(header).encode(memory + SyncRecord.offset(slot: header.slot))
        }
    }
}
