import Glibc
import Testing

@testable import CoreSwift
@testable import TestSupport

/// What comes back of damaged files: all that does not depend on the damage, and nothing else.
@Suite struct SalvageTests {
    private let directory = TemporaryDirectory()
    private static let key = FileCipherTests.key

    /// The sample file, closed, and what is in it.
    private func make(
        key: [UInt8] = [], items: Int = 300
    ) throws -> (bytes: [UInt8], dump: RealmDump) {
        let path = directory.file("good.realm")
        try SampleFile.make(path, items: items)
        if !key.isEmpty { try Realm.changeEncryptionKey(path, from: [], to: key) }
        return (TestSettings.readFile(path), try RealmDump(path: path, key: key))
    }

    private struct Outcome {
        let report: SalvageReport
        let dump: RealmDump
    }

    /// Salvages the bytes; checks that the result is sound and has nothing that was never there.
    private func salvage(
        _ bytes: [UInt8], _ key: [UInt8], _ original: RealmDump?, _ what: String
    ) throws -> Outcome {
        let path = directory.file("damaged.realm")
        let target = directory.file("salvaged.realm")
        _ = unlink(target)
        TestSettings.writeFile(path, bytes)
        let report = try Salvage.run(path, key: key, to: target, targetKey: key)
        #expect(TestSettings.readFile(path) == bytes, "\(what): the file was written")
        #expect(access(path + ".lock", F_OK) != 0, "\(what): there is a lock file")
        var configuration = Configuration(path: target)
        configuration.encryptionKey = key
        let realm = try Realm.open(configuration)
        defer { realm.close() }
        #expect(try realm.check() == [], "\(what)")
        let dump = try RealmDump(realm)
        // An older version has other objects.
        if let original, report.newestVersion == nil {
            let strangers = dump.strangers(to: original)
            #expect(strangers.isEmpty, "\(what): \(strangers.first ?? "")")
        }
        let recovered = report.classes.filter { !$0.isEmbedded }.reduce(0) { $0 + $1.recovered }
        #expect(recovered == dump.count, "\(what)")
        return Outcome(report: report, dump: dump)
    }

    @Test(arguments: [[], SalvageTests.key])
    func aSoundFileComesBackWhole(key: [UInt8]) throws {
        let (bytes, dump) = try make(key: key)
        let outcome = try salvage(bytes, key, dump, "sound")
        #expect(outcome.report.isWhole)
        #expect(outcome.report.damage.isEmpty && outcome.report.losses.isEmpty)
        #expect(outcome.dump.objects == dump.objects)
        #expect(outcome.dump.anonymous == dump.anonymous)
    }

    /// Of a plain file each block is found by its kind, and what must come back follows from it.
    @Test func eachDamagedBlockCostsWhatDependsOnIt() throws {
        let (bytes, dump) = try make()
        let nodes = try FileSurgeon(bytes).nodes
        let all = dump.count
        for item in Campaign("salvage", seconds: 6, atLeast: 40) {
            var random = item.random
            // Kinds that there are few of are as likely as others.
            let kinds = Set(nodes.map(\.kind.rawValue)).sorted()
            let kind = kinds[item.number % kinds.count]
            let some = nodes.filter { $0.kind.rawValue == kind }
            let node = some[random.below(some.count)]
            var damaged = bytes
            let used = Int(bytes.withUnsafeBytes { $0.baseAddress!.u32(node.offset + 8) })
            let place = random.below(3) == 0 ? random.below(16) : random.below(max(used, 16))
            damaged[node.offset + place] ^= 1 << UInt8(random.below(8))
            let what = "\(node.kind) of class \(node.classKey), byte \(place), seed \(item.seed)"
            if node.kind == .schema {
                #expect(throws: RealmError.self) { try salvage(damaged, [], nil, what) }
                continue
            }
            if node.kind == .versionRoot {
                // The version before it has some objects more.
                let outcome = try salvage(damaged, [], nil, what)
                #expect(outcome.report.newestVersion == outcome.report.version + 1, "\(what)")
                #expect(outcome.dump.count > all, "\(what)")
                continue
            }
            let outcome = try salvage(damaged, [], dump, what)
            try check(outcome, node, dump, FileSurgeon(bytes), place, what)
        }
    }

    private func check(
        _ outcome: Outcome, _ node: FileSurgeon.Node, _ dump: RealmDump, _ surgeon: FileSurgeon,
        _ place: Int, _ what: String
    ) throws {
        let report = outcome.report
        let lost = report.classes.reduce(0) { $0 + $1.lost }
        switch node.kind {
        case .indexLeaf, .indexBranch, .spaceMap:
            #expect(report.isWhole, "\(what): \(report)")
            #expect(outcome.dump.objects == dump.objects, "\(what)")
        case .rowLeaf:
            let rows = LeafView(surgeon.block(node)).liveRows
            // Embedded objects go with their owners.
            let name = SampleFile.schema.classes[node.classKey].name
            let own = report.classes.first { $0.name == name }
            #expect(own?.lost == rows || node.classKey == Self.embeddedKey, "\(what): \(report)")
            #expect(outcome.dump.count >= dump.count - rows, "\(what)")
            if node.classKey == Self.embeddedKey {
                #expect(outcome.dump.count == dump.count, "\(what)")
            }
        case .rowBranch:
            // The references in the damaged branch prove their blocks, all but one that was hit.
            let isReference =
                place >= RowBranch.referencesOffset
                && place < RowBranch.referencesOffset
                    + RowBranch.count(surgeon.block(node)) * BlockReference.byteCount
            if !isReference { #expect(report.isWhole, "\(what): \(report)") }
        case .bigValue:
            let values = report.classes.reduce(0) { $0 + $1.valuesLost + $1.elementsLost }
            #expect(values == 1 && lost == 0, "\(what): \(report)")
            #expect(outcome.dump.changed(from: dump) == 1, "\(what)")
        case .collectionLeaf, .collectionBranch:
            let elements = report.classes.reduce(0) { $0 + $1.elementsLost + $1.linksLost }
            #expect(elements > 0, "\(what)")
            #expect(outcome.dump.count == dump.count, "\(what)")
            #expect(outcome.dump.changed(from: dump) == 1, "\(what)")
        default: break
        }
    }

    /// Wheel, the last by name.
    private static let embeddedKey = 4

    /// Of an encrypted file the leaves of classes are known, and other pages are damaged anywhere.
    @Test func eachDamagedBlockOfAnEncryptedFileCostsWhatDependsOnIt() throws {
        let (bytes, dump) = try make(key: Self.key)
        let path = directory.file("leaves.realm")
        TestSettings.writeFile(path, bytes)
        let file = try DamagedFile(path, key: Self.key, SystemCalls.shared)
        let source = try SalvageSource(file)
        defer { source.close() }
        for item in Campaign("salvage encrypted", seconds: 4, atLeast: 20) {
            var random = item.random
            var damaged = bytes
            if item.number % 2 == 0 {
                let owner = source.classes[random.below(source.classes.count)]
                guard owner.schema.kind != .embedded else { continue }
                let leaf = owner.leaves[random.below(owner.leaves.count)].reference
                let rows = try owner.admit(leaf).liveRows
                let start = file.store.codec.offset(leaf.page)
                let end = file.store.codec.offset(leaf.page + UInt64(leaf.pageCount))
                damaged[start + random.below(end - start)] ^= 1 << UInt8(random.below(8))
                let what = "leaf of \(owner.schema.name), seed \(item.seed)"
                let outcome = try salvage(damaged, Self.key, dump, what)
                let lost = outcome.report.classes.reduce(0) { $0 + $1.lost }
                #expect(lost >= rows, "\(what)")
                let own = outcome.report.classes.first { $0.name == owner.schema.name }
                #expect(own?.lost == rows, "\(what)")
            } else {
                let place = 8192 + random.below(damaged.count - 8192)
                damaged[place] ^= 1 << UInt8(random.below(8))
                do {
                    _ = try salvage(damaged, Self.key, dump, "byte \(place), seed \(item.seed)")
                } catch let error as RealmError {
                    #expect(error.code == .invalidDatabase, "seed \(item.seed): \(error.message)")
                }
            }
        }
    }

    @Test func leavesBelowDamagedBranchesOfAnEncryptedFileAreFound() throws {
        let path = directory.file("branches.realm")
        try SampleFile.make(path, items: 400)
        try Realm.changeEncryptionKey(path, from: [], to: Self.key)
        // Leaves of several versions, by several writers.
        for step in 0..<4 {
            var configuration = Configuration(path: path)
            configuration.encryptionKey = Self.key
            let realm = try Realm.open(configuration)
            for number in 0..<3 {
                try realm.beginWrite()
                try realm.find("Item", primaryKey: SampleFile.item(step * 90 + number))?.set(
                    "size", .int(-1))
                try realm.commit()
            }
            realm.close()
        }
        let bytes = TestSettings.readFile(path)
        let dump = try RealmDump(path: path, key: Self.key)
        unlink(path + ".lock")
        let file = try DamagedFile(path, key: Self.key, SystemCalls.shared)
        let source = try SalvageSource(file)
        defer { source.close() }
        var count = 0
        for item in source.classes {
            for branch in item.branches {
                var damaged = bytes
                damaged[file.store.codec.offset(branch.page) + 700] ^= 8
                let outcome = try salvage(damaged, Self.key, dump, "branch of \(item.schema.name)")
                #expect(outcome.report.damage.count == 1)
                #expect(outcome.report.isWhole, "\(item.schema.name): \(outcome.report)")
                count += 1
            }
        }
        #expect(count > 0)
    }

    @Test(arguments: [[], SalvageTests.key])
    func damagedHeadersAreNoLossWhileSomethingNamesTheRoot(key: [UInt8]) throws {
        let (bytes, dump) = try make(key: key)
        for slots in [[0], [1], [0, 1]] {
            var damaged = bytes
            // Behind what an encrypted file needs to make its keys.
            for slot in slots { damaged[slot * Page.size + 200] ^= 4 }
            if key.isEmpty {
                for slot in slots { damaged[slot * Page.size + 45] ^= 4 }
            }
            let outcome = try salvage(damaged, key, dump, "header slots \(slots)")
            let isWhole = outcome.report.classes.allSatisfy { $0.isWhole }
            #expect(isWhole, "\(slots): \(outcome.report)")
            #expect(outcome.dump.objects == dump.objects, "\(slots)")
            #expect(outcome.report.damage.count >= slots.count, "\(slots)")
        }
    }

    @Test func rootsAreSearchedInPlainFilesWithoutAnyHeader() throws {
        var (bytes, dump) = try make()
        for index in 0..<2 * Page.size { bytes[index] = 0xA5 }
        let outcome = try salvage(bytes, [], dump, "no header")
        #expect(outcome.dump.objects == dump.objects)
        #expect(outcome.report.source.contains("search"))
    }

    @Test func anEncryptedFileWithoutBothSlotsHasNoKeys() throws {
        var bytes = try make(key: Self.key).bytes
        for index in 0..<2 * Page.size { bytes[index] = 0xA5 }
        let error = #expect(throws: RealmError.self) {
            try salvage(bytes, Self.key, nil, "no header")
        }
        #expect(error?.message.contains("how the file is encrypted") == true)
    }

    @Test(arguments: [[], SalvageTests.key])
    func truncatedFilesGiveWhatIsLeft(key: [UInt8]) throws {
        let (bytes, dump) = try make(key: key, items: 600)
        for item in Campaign("salvage truncated", seconds: 2, atLeast: 12) {
            var random = item.random
            let count = random.below(bytes.count)
            do {
                _ = try salvage(
                    Array(bytes[..<count]), key, dump, "\(count) bytes, seed \(item.seed)")
            } catch let error as RealmError {
                #expect(error.code == .invalidDatabase, "\(count) bytes: \(error.message)")
            }
        }
    }

    @Test func outIsNeverOverwrittenAndKeysAreChecked() throws {
        let path = directory.file()
        try SampleFile.make(path, items: 20)
        func code(_ key: [UInt8], _ target: String, _ targetKey: [UInt8] = []) -> ErrorCode? {
            do throws(RealmError) {
                _ = try Salvage.run(path, key: key, to: target, targetKey: targetKey)
                return nil
            } catch {
                return error.code
            }
        }
        #expect(code([], path) == .fileAlreadyExists)
        let other = directory.file("other.realm")
        TestSettings.writeFile(other, [1])
        #expect(code([], other) == .fileAlreadyExists)
        #expect(TestSettings.readFile(other) == [1])
        let target = directory.file("new.realm")
        #expect(code(Self.key, target) == .invalidDatabase)
        #expect(code([], target, [1, 2]) == .invalidEncryptionKey)
        #expect(code([], directory.file("missing/x.realm")) == .fileNotFound)
        #expect(code([], target, Self.key) == nil)
        let dump = try RealmDump(path: path)
        #expect(try RealmDump(path: target, key: Self.key).objects == dump.objects)
        _ = unlink(target)
        try Realm.changeEncryptionKey(path, from: [], to: Self.key)
        #expect(code([], target) == .invalidDatabase)
        #expect(code(Self.key, target) == nil)
        #expect(try RealmDump(path: target).objects == dump.objects)
    }

    /// Blocks that lie, with every check value right: an error or a report, never a crash or a hang.
    @Test func forgedBlocksDoNotCrash() throws {
        let bytes = try make(items: 120).bytes
        for item in Campaign("salvage forged", seconds: 4, atLeast: 40) {
            var random = item.random
            let surgeon = try FileSurgeon(bytes)
            for _ in 0..<(1 + random.below(3)) {
                let node = surgeon.nodes[random.below(surgeon.nodes.count)]
                let block = surgeon.block(node)
                let other = surgeon.nodes[random.below(surgeon.nodes.count)]
                switch random.below(4) {
                case 0: block.put(UInt32(truncatingIfNeeded: random.next()), random.below(64) * 4)
                case 1: block.put(UInt8(random.below(256)), random.below(node.count))
                case 2: block.put(UInt32(random.below(3)) &- 1, random.below(node.count / 4) * 4)
                default:
                    // Another block of the file in its place: trees that share blocks, or go round.
                    BlockReference(surgeon.base + other.place).store(surgeon.memory + node.place)
                }
            }
            surgeon.reseal()
            do {
                _ = try salvage(surgeon.bytes, [], nil, "forged, seed \(item.seed)")
            } catch is RealmError {
            }
        }
    }
}
