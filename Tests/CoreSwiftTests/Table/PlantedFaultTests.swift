// Faults planted in a sound file, with all check values made right again: the check finds each.

import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite struct PlantedFaultTests {
    private static let sample: [UInt8] = {
        let directory = TemporaryDirectory()
        do {
            try SampleFile.make(directory.file())
        } catch {
            Issue.record(error)
        }
        return TestSettings.readFile(directory.file())
    }()

    // Class keys are given in the order of names.
    private let event = 0
    private let item = 1
    private let tag = 2

    /// Changes the sample, checks it and expects a problem with this text in it.
    private func plant(
        _ text: String, location: SourceLocation = #_sourceLocation,
        reseals: Bool = true, _ change: (FileSurgeon) throws -> Void
    ) throws {
        let surgeon = try FileSurgeon(Self.sample)
        try change(surgeon)
        if reseals { surgeon.reseal() }
        #expect(surgeon.bytes != Self.sample, "nothing was planted", sourceLocation: location)
        let directory = TemporaryDirectory()
        TestSettings.writeFile(directory.file(), surgeon.bytes)
        let problems = Realm.check(path: directory.file())
        #expect(
            problems.contains { $0.contains(text) },
            "found only \(problems.prefix(4))", sourceLocation: location)
    }

    @Test func theSampleIsSoundAndHasEverything() throws {
        let directory = TemporaryDirectory()
        TestSettings.writeFile(directory.file(), Self.sample)
        #expect(Realm.check(path: directory.file()) == [])
        let surgeon = try FileSurgeon(Self.sample)
        for kind in [
            BlockKind.rowLeaf, .rowBranch, .indexLeaf, .indexBranch, .bigValue, .schema,
        ] {
            #expect(!surgeon.all(kind).isEmpty, "\(kind)")
        }
        surgeon.reseal()
        #expect(surgeon.bytes == Self.sample)
        for node in surgeon.all(.rowLeaf, classKey: item) {
            #expect(LeafView(surgeon.block(node)).tombstones != nil)
        }
    }

    @Test func aFlippedBitInAnyBlockIsFound() throws {
        let surgeon = try FileSurgeon(Self.sample)
        for node in surgeon.nodes.dropFirst() {
            try plant("page \(node.page)", reseals: false) {
                let place = $0.block(node) + (node.count - 1)
                place.put(UnsafeRawPointer(place).u8(0) ^ 0x10, 0)
            }
        }
    }

    // MARK: Rows

    @Test func faultsInBranchesAreFound() throws {
        func branch(_ surgeon: FileSurgeon) -> UnsafeMutableRawPointer {
            surgeon.block(surgeon.all(.rowBranch, classKey: item)[0])
        }
        try plant("its parent says 1") { RowBranch.setRows(branch($0), 0, 1) }
        try plant("out of order") {
            let node = branch($0)
            RowBranch.setKey(node, 1, RowBranch.key(node, 2).advanced(by: 1))
        }
        try plant("is not in the leaf's range") {
            let node = branch($0)
            RowBranch.setKey(node, 1, RowBranch.key(node, 1).advanced(by: 4))
        }
        try plant("level") { branch($0).put(2 as UInt16, 16) }
        try plant("in use twice") {
            let node = branch($0)
            BlockReference(RowBranch.reference(node, 1)).store(node + RowBranch.referencesOffset)
        }
        try plant("leaked") { RowBranch.setCount(branch($0), RowBranch.count(branch($0)) - 1) }
        try plant("of kind") {
            let leaf = $0.all(.indexLeaf, classKey: item)[0]
            BlockReference($0.base + leaf.place).store(branch($0) + RowBranch.referencesOffset)
        }
    }

    @Test func faultsInTheCatalogAreFound() throws {
        try plant("the catalog says 7") { $0.memory.put(7 as UInt64, $0.classPlaces[item]! + 16) }
        try plant("the next object key") { $0.memory.put(3 as UInt64, $0.classPlaces[event]! + 8) }
        try plant("the next object key") {
            $0.memory.put(UInt64(1) << 62, $0.classPlaces[item]! + 8)
        }
        try plant("level") { $0.memory.put(2 as UInt16, $0.classPlaces[item]! + 4) }
        try plant("the catalog says 9") {
            $0.memory.put(9 as UInt64, $0.indexPlaces[item]![1] + 8)
        }
        try plant("is for column") { $0.memory.put(8 as UInt16, $0.indexPlaces[item]![1]) }
        try plant("its schema asks for") { $0.memory.put(2 as UInt32, $0.classPlaces[item]!) }
        try plant("the schema does not") { $0.memory.put(9 as UInt32, $0.classPlaces[event]!) }
        try plant("catalog") { $0.memory.put(1 as UInt16, $0.classPlaces[event]! + 6) }
        try plant("catalog") { $0.memory.put(8 as UInt32, $0.payload) }
        try plant("is empty, but has 1 levels") {
            BlockReference.none.store($0.memory + ($0.indexPlaces[item]![1] + 16))
            $0.memory.put(0 as UInt64, $0.indexPlaces[item]![1] + 8)
        }
    }

    @Test func faultsInTheSchemaAreFound() throws {
        func schema(_ surgeon: FileSurgeon) -> UnsafeMutableRawPointer {
            surgeon.block(surgeon.all(.schema)[0])
        }
        try plant("serial") { schema($0).put(1 as UInt32, 20) }
        try plant("has key") { schema($0).put(1 as UInt32, 16) }
        try plant("schema block") { schema($0).put(40 as UInt32, 8) }
        try plant("schema block") { schema($0).put(400 as UInt32, 24) }
        // The target of Item.tag, the first place with this name.
        try plant("which the schema lacks") { surgeon in
            let block = surgeon.all(.schema)[0]
            let bytes = surgeon.bytes[block.offset..<(block.offset + block.count)]
            let name = Array("Tag".utf8)
            for start in bytes.indices.dropLast(3)
            where Array(bytes[start..<(start + 3)]) == name && bytes[start - 2] == 3 {
                surgeon.memory.put(UInt8(ascii: "X"), start)
                return
            }
        }
    }

    // MARK: Leaves

    private func leaf(_ surgeon: FileSurgeon, _ key: Int, _ number: Int = 1) -> LeafView {
        LeafView(surgeon.block(surgeon.all(.rowLeaf, classKey: key)[number]))
    }

    private func writable(_ pointer: UnsafeRawPointer) -> UnsafeMutableRawPointer {
        UnsafeMutableRawPointer(mutating: pointer)
    }

    @Test func faultsInLeavesAreFound() throws {
        try plant("live rows") { writable(leaf($0, item).base).put(5 as UInt32, 24) }
        try plant("live rows") {
            let view = leaf($0, item)
            let row = (0..<view.rows).first { !view.isDead($0) }!
            LeafLayout.setBit(writable(view.tombstones!), row)
        }
        try plant("out of order") {
            let view = leaf($0, item)
            #expect(view.keyWidth == 2)
            writable(view.keys).put(UnsafeRawPointer(view.keys).u16(8), 6)
        }
        try plant("is not in the leaf's range") {
            let view = leaf($0, item)
            writable(view.base).put(view.keyBase.advanced(by: -3), 16)
        }
        // Cells of collections and mixed values are only looked at in rows that live.
        for (key, number) in [(item, 1), (trunk, 0)] {
            try plant("tombstones begin at") {
                writable(leaf($0, key, number).base).put(0x4000_0000 as UInt32, 36)
            }
        }
        try plant("encoding") { writable(leaf($0, item).column(1)!.entry).put(77 as UInt8, 0) }
        try plant("kind") {
            writable(leaf($0, item).column(1)!.entry).put(ColumnEncoding.bits.rawValue, 0)
        }
        try plant("ends at") {
            let view = leaf($0, item)
            writable(view.column(4)!.entry).put(view.base.u32(8) - 64, 4)
        }
        try plant("flags") {
            let entry = leaf($0, item).column(4)!.entry
            writable(entry).put(entry.u8(2) | 0x80, 2)
        }
        try plant("required") {
            let entry = leaf($0, item).column(4)!.entry
            writable(entry).put(entry.u8(2) | 1, 2)
        }
    }

    @Test func wrongBoundsAreFound() throws {
        let size = 11
        // The bounds of columns without index; dead rows make them inexact.
        try plant("outside of the bounds") {
            let column = leaf($0, item).column(size)!
            writable(column.bounds).put(column.minimumInt + 1, 0)
        }
        try plant("outside of the bounds") {
            let column = leaf($0, item).column(4)!
            writable(column.bounds).put((column.maximumDouble - 0.1).bitPattern, 8)
        }
        try plant("outside of the bounds") {
            let column = leaf($0, item).column(2)!
            writable(column.bounds).put(column.maximumPrefix - 1 << 40, 8)
        }
        try plant("has values but no bounds") {
            let entry = leaf($0, item).column(size)!.entry
            writable(entry).put(entry.u8(2) & ~2, 2)
        }
        try plant("said to be exact") {
            let column = leaf($0, event, 0).column(0)!
            #expect(column.flags.contains(.boundsExact))
            writable(column.bounds).put(column.maximumInt + 1, 8)
        }
        try plant("holds NaN") {
            let view = leaf($0, item)
            let column = view.column(4)!
            let row = (0..<column.rows).first { !view.isDead($0) }!
            writable(column.data).put(Double.nan.bitPattern, row * 8)
        }
    }

    @Test func valuesThatIndexesDoNotKnowAreFound() throws {
        for column in [1, 3, 7] {
            try plant("has another value than the entry") {
                let view = leaf($0, item)
                let source = view.column(column)!
                let row = (0..<view.rows).first { !view.isDead($0) && !source.isNull($0) }!
                let place =
                    source.encoding == .string16 || source.encoding == .stringFixed
                    ? source.bytes(row).baseAddress! : source.data + row * source.width
                writable(place).put(place.u8(0) ^ 1, 0)
            }
        }
    }

    @Test func faultsInValuesOfTheirOwnBlocksAreFound() throws {
        func value(_ surgeon: FileSurgeon) -> FileSurgeon.Node { surgeon.all(.bigValue)[0] }
        try plant("value of") { $0.block(value($0)).put(5999 as UInt32, 8) }
        try plant("value of") { $0.memory.put(100_000 as UInt64, value($0).place + 32) }
        try plant("of kind") { $0.block(value($0)).put(UInt8(1), 0) }
        try plant("in use twice") {
            let values = $0.all(.bigValue)
            BlockReference($0.base + values[1].place).store($0.memory + values[0].place)
        }
    }

    @Test func wrongKeysOfObjectsAreFound() throws {
        // Indirect keys come last.
        try plant("does not go with object key") {
            let node = $0.all(.rowLeaf, classKey: item).last!
            let view = LeafView($0.block(node))
            let column = view.column(0)!
            let row = (0..<view.rows).last { !view.isDead($0) && !column.isNull($0) }!
            #expect(column.encoding == .packed && column.width == 2)
            // Up to zero: a value that would be its own key.
            writable(column.data).put(UInt16(truncatingIfNeeded: -column.base), row * 2)
        }
    }

    // MARK: Links

    @Test func linksToNowhereAreFound() throws {
        for column in [9, 10] {
            try plant("which is not there") {
                let view = leaf($0, item)
                let source = view.column(column)!
                #expect(source.encoding == .packed)
                let row = (0..<view.rows).first {
                    !view.isDead($0) && !source.isNull($0)
                        && source.objectKey($0) < IntegerKeys.indirectBase
                }!
                let place = source.data + row * source.width
                // Keys of items are multiples of three, those of tags below 60.
                writable(place).put(column == 9 ? place.u8(0) ^ 1 : 251, 0)
            }
        }
    }

    // MARK: Mixed values

    /// The bytes of the first mixed value of this type.
    private func mixed(_ surgeon: FileSurgeon, _ type: ValueType) -> UnsafeRawPointer {
        let view = leaf(surgeon, item)
        let column = view.column(15)!
        let row = (0..<view.rows).first { row in
            let bytes = column.bytes(row)
            return !view.isDead(row) && !column.isNull(row) && bytes.count > 0
                && bytes[0] == UInt8(type.rawValue)
        }!
        return column.bytes(row).baseAddress!
    }

    @Test func faultsInMixedValuesAreFound() throws {
        try plant("a mixed value is of unknown type 99") {
            writable(mixed($0, .int)).put(99 as UInt8, 0)
        }
        try plant("a mixed value of type uuid has") {
            writable(mixed($0, .double)).put(UInt8(ValueType.uuid.rawValue), 0)
        }
        try plant("a mixed boolean is 7") { writable(mixed($0, .bool)).put(7 as UInt8, 1) }
        try plant("links to object 251, which is not there") {
            writable(mixed($0, .link)).put(251 as Int64, 5)
        }
        try plant("links to class 77, which there is not") {
            writable(mixed($0, .link)).put(77 as UInt32, 1)
        }
        try plant("a mixed value links to object -1") {
            writable(mixed($0, .link)).put(-1 as Int64, 5)
        }
    }

    // MARK: Collections

    private let trunk = 3

    /// The cell in tree form of the first trunk that has one in this column.
    private func treeCell(_ surgeon: FileSurgeon, _ column: Int) -> UnsafeMutableRawPointer {
        let view = leaf(surgeon, trunk, 0)
        let source = view.column(column)!
        let row = (0..<view.rows).first { CollectionCell.isTree(source.bytes($0)) }!
        return writable(source.bytes(row).baseAddress!)
    }

    @Test func faultsInCellsOfCollectionsAreFound() throws {
        for count in [1 << 63, 1 << 62, UInt64.max, 3] {
            try plant("elements") { treeCell($0, 1).put(count, CollectionCell.countOffset) }
        }
        try plant("block is of kind") { treeCell($0, 1).put(0 as UInt8, 1) }
        try plant("cell") { treeCell($0, 1).put(1 as UInt8, 2) }
        try plant("cell") { treeCell($0, 1).put(7 as UInt8, 0) }
        // Another column's tree.
        try plant("in use twice") { surgeon in
            BlockReference(treeCell(surgeon, 1) + CollectionCell.rootOffset)
                .store(treeCell(surgeon, 3) + CollectionCell.rootOffset)
        }
    }

    @Test func faultsInElementsAreFound() throws {
        func block(_ surgeon: FileSurgeon, _ column: Int) -> LeafView {
            LeafView(
                surgeon.block(surgeon.all(.collectionLeaf, classKey: trunk, column: column)[0]))
        }
        // The set's elements must ascend.
        try plant("is not above the one before") {
            let column = block($0, 3).column(0)!
            #expect(column.width == 2)
            writable(column.data).put(UnsafeRawPointer(column.data).u16(20), 24)
        }
        try plant("which is not there") {
            let column = block($0, 6).column(0)!
            writable(column.data).put(251 as UInt8, 0)
        }
        try plant("encoding") { writable(block($0, 1).column(0)!.entry).put(77 as UInt8, 0) }
        try plant("its parent says 1") {
            let branches = $0.all(.collectionBranch, classKey: trunk, column: 1)
            RowBranch.setRows($0.block(branches[0]), 0, 1)
        }
    }

    @Test func nestedCollectionsInBlocksOfTheirOwnAreRefused() throws {
        // Only the check of a leaf goes down into cells: a cell elsewhere would not be checked.
        func content(_ surgeon: FileSurgeon) -> UnsafeMutableRawPointer {
            let values = surgeon.all(.bigValue, classKey: trunk, column: 12)
            return surgeon.block(values[0]) + Table.externalHeader
        }
        for type in [ValueType.list, .dictionary] {
            try plant("a nested collection in a block of its own") {
                #expect(UnsafeRawPointer(content($0)).u8(0) == UInt8(ValueType.string.rawValue))
                content($0).put(UInt8(type.rawValue), 0)
            }
        }
    }

    @Test func bulkReadsOfMiscountedLeavesAreAnErrorNotATrap() throws {
        let surgeon = try FileSurgeon(Self.sample)
        let branch = surgeon.block(surgeon.all(.rowBranch, classKey: item)[0])
        let rows = RowBranch.rows(branch, 0)
        RowBranch.setRows(branch, 0, rows + 50)
        surgeon.reseal()
        let directory = TemporaryDirectory()
        TestSettings.writeFile(directory.file(), surgeon.bytes)
        let realm = try Realm.open(SampleFile.configuration(directory.file()))
        defer { realm.close() }
        let named = realm.schema.classes.first { $0.key == ClassKey(rawValue: UInt32(item)) }!
        let all = try realm.objects(named.name)
        var keys = [ObjectKey](repeating: .invalid, count: 100)
        #expect(try all.readKeys(from: rows - 1, count: 1, into: &keys) == 1)
        for (first, count) in [(rows, 1), (rows, 100), (rows + 10, 0), (rows + 49, 100)] {
            let code = errorCode { _ = try all.readKeys(from: first, count: count, into: &keys) }
            #expect(code == (count == 0 ? nil : .invalidDatabase), "\(count) from \(first)")
        }
    }

    @Test func readingForgedCellsIsAnErrorNotATrap() throws {
        let surgeon = try FileSurgeon(Self.sample)
        treeCell(surgeon, 1).put(UInt64.max, CollectionCell.countOffset)
        surgeon.reseal()
        let directory = TemporaryDirectory()
        TestSettings.writeFile(directory.file(), surgeon.bytes)
        let realm = try Realm.open(SampleFile.configuration(directory.file()))
        defer { realm.close() }
        #expect(
            errorCode {
                let object = try realm.find("Trunk", primaryKey: .int(0))!
                _ = try object.collection("numbers").get(0)
            } == .invalidDatabase)
    }

    // MARK: Indexes

    @Test(arguments: [1, 3, 7, 13, 14, 16, 2 | 0x4000, 9 | 0x8000, 10 | 0x8000])
    func faultsInIndexesAreFound(column: Int) throws {
        func node(_ surgeon: FileSurgeon) -> IndexLeaf {
            IndexLeaf(surgeon.block(surgeon.all(.indexLeaf, classKey: item, column: column)[0]))
        }
        try plant("object") {
            let leaf = node($0)
            #expect(leaf.keyWidth > 0)
            writable(leaf.keys).put(leaf.keys.u8(leaf.keyWidth * 3) ^ 1, leaf.keyWidth * 3)
        }
        try plant("index") {
            let suffix = node($0).suffix(node($0).count / 2)
            let last = suffix.baseAddress! + (suffix.count - 1)
            writable(last).put(last.u8(0) ^ 0x55, 0)
        }
        try plant("entries") {
            let leaf = node($0)
            writable(leaf.base).put(UInt32(leaf.count - 1), 12)
        }
    }

    @Test func faultsInFullTextIndexesAreFound() throws {
        func node(_ surgeon: FileSurgeon) -> IndexLeaf {
            IndexLeaf(
                surgeon.block(surgeon.all(.indexLeaf, classKey: tag, column: 1 | 0x4000)[0]))
        }
        try plant("word 'about': object 61 is not there") {
            let leaf = node($0)
            let last = (0..<leaf.count).last { leaf.suffix($0).elementsEqual("about".utf8) }!
            #expect(leaf.keyWidth == 1)
            writable(leaf.keys).put(UInt8(leaf.keyBase.distance(to: 61)), last)
        }
        try plant("word '9ab': object 9 does not have it") {
            let leaf = node($0)
            let last = (0..<leaf.count).last { leaf.suffix($0).elementsEqual("9".utf8) }!
            // The text that follows, "about", lends its letters.
            writable(leaf.offsets).put(leaf.offsets.u16(last * 2 + 2) + 2, last * 2 + 2)
        }
        try plant("1 words of objects are missing") {
            // A text whose words the index has not.
            let view = leaf($0, tag, 0)
            let text = view.column(1)!.bytes(12)
            #expect(text.elementsEqual("about 12".utf8))
            writable(text.baseAddress!).put(UInt8(ascii: "c"), 4)
        }
        try plant("index of column 2 is of kind 9") { surgeon in
            surgeon.memory.put(9 as UInt8, surgeon.indexPlaces[item]![2] + 2)
        }
        try plant("full-text index 2 of class 1 is for column 2") { surgeon in
            surgeon.memory.put(3 as UInt8, surgeon.indexPlaces[item]![2] + 2)
        }
    }

    @Test func faultsInBranchesOfIndexesAreFound() throws {
        func branch(_ surgeon: FileSurgeon) -> IndexBranch {
            IndexBranch(surgeon.block(surgeon.all(.indexBranch, classKey: item, column: 1)[0]))
        }
        try plant("its parent says 1") { writable(branch($0).child(0)).put(1 as UInt64, 16) }
        try plant("separator") {
            let separator = branch($0).separator(1)
            let last = separator.bytes + (separator.count - 1)
            writable(last).put(last.u8(0) &+ 1, 0)
        }
        try plant("separator") {
            let separator = branch($0).separator(1)
            writable(separator.bytes).put(UInt8(0), 0)
        }
        try plant("leaves the block") { writable(branch($0).child(1)).put(5000 as UInt32, 0) }
    }

    @Test func equalPrimaryKeysAreFound() throws {
        try plant("same primary key") { surgeon in
            // Neighbours in the index: the second gets the first one's value, in its row as well.
            let leaf = IndexLeaf(
                surgeon.block(surgeon.all(.indexLeaf, classKey: tag, column: 0)[0]))
            let index = (0..<(leaf.count - 1)).last {
                leaf.suffix($0).count < 30 && leaf.suffix($0 + 1).count < 30
                    && leaf.key($0) < leaf.key($0 + 1)
            }!
            let first = [UInt8](leaf.suffix(index))
            writable(leaf.suffix(index + 1).baseAddress!).copyMemory(
                from: first, byteCount: first.count)
            let view = self.leaf(surgeon, tag, 0)
            let column = view.column(0)!
            let from = column.bytes(view.row(of: leaf.key(index))!)
            let to = column.bytes(view.row(of: leaf.key(index + 1))!)
            writable(to.baseAddress!).copyMemory(from: from.baseAddress!, byteCount: from.count)
        }
        try plant("same primary key") { surgeon in
            // Keys that the index holds cut.
            let view = self.leaf(surgeon, tag, 0)
            let column = view.column(0)!
            let long = (0..<view.rows).filter { column.bytes($0).count == 602 }
            writable(column.bytes(long[2]).baseAddress!).copyMemory(
                from: column.bytes(long[1]).baseAddress!, byteCount: 602)
        }
    }

    // MARK: Root

    @Test func faultsInTheRootAreFound() throws {
        // The inline map: form, count, then distance and 2 * pages of the first entry.
        func entry(_ surgeon: FileSurgeon) -> UnsafeMutableRawPointer {
            surgeon.memory + (surgeon.spaceMap + 2)
        }
        try plant("leaked") {
            #expect($0.base.u8($0.spaceMap) == 0)
            entry($0).put(UnsafeRawPointer(entry($0)).u8(0) + 1, 0)
        }
        try plant("space map") { $0.memory.put(0xFF as UInt8, $0.spaceMap) }
        try plant("written list") {
            let root = $0.nodes[0].offset
            let runs = root + Int($0.base.u32(root + 56))
            $0.memory.put(UInt64(1) << 40, runs)
        }
        try plant("pages") {
            $0.memory.put($0.base.u64($0.slot + 80) - 1, $0.slot + 80)
        }
        try plant("root") { $0.memory.put(0 as UInt32, $0.nodes[0].offset + 8) }
    }
}
