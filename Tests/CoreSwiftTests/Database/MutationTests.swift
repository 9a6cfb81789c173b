// Damaged and hostile files. Whatever bytes change, opening, checking, reading and writing end with
// an error or with the right answer; with check values made right again, with an error or some
// answer; never with a crash or a hang.

import Glibc
import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite(.serialized) struct MutationTests {
    private struct Sample {
        var bytes: [UInt8] = []
        var digest: UInt64 = 0
        var answers: UInt64 = 0
    }

    private static let sample: Sample = {
        let directory = TemporaryDirectory()
        var sample = Sample()
        do {
            try SampleFile.make(directory.file(), items: 400, tags: 25)
            sample.bytes = TestSettings.readFile(directory.file())
            let read = try read(directory.file())
            sample.digest = read.digest
            sample.answers = read.answers
        } catch {
            Issue.record(error)
        }
        return sample
    }()

    private static func read(
        _ path: String
    ) throws(RealmError) -> (digest: UInt64, answers: UInt64) {
        let realm = try Realm.open(SampleFile.configuration(path))
        defer { realm.close() }
        let digest = try FileReading.digest(realm)
        var answers = ValueDigest()
        try FileReading.query(realm, &answers)
        return (digest, answers.value)
    }

    /// Calls `body` with the path of a file with these bytes.
    private static func withFile(
        _ directory: TemporaryDirectory, _ bytes: [UInt8], _ body: (String) throws -> Void
    ) rethrows {
        let path = directory.file()
        TestSettings.replaceFile(path, bytes)
        unlink(path + ".lock")
        try body(path)
    }

    // MARK: Random damage

    @Test func randomDamageIsAnErrorOrHarmless() throws {
        let directory = TemporaryDirectory()
        var errors = 0
        var count = 0
        for item in Campaign("random damage", seconds: 8, atLeast: 200) {
            count += 1
            var random = item.random
            var bytes = Self.sample.bytes
            Self.damage(&bytes, &random)
            Self.withFile(directory, bytes) { path in
                let problems = Realm.check(path: path)
                do throws(RealmError) {
                    let found = try Self.read(path)
                    #expect(
                        found.digest == Self.sample.digest && found.answers == Self.sample.answers,
                        "wrong data, seed \(item.seed)")
                } catch {
                    errors += 1
                    #expect(!problems.isEmpty, "check is content, seed \(item.seed): \(error)")
                }
            }
        }
        print("random damage: \(errors) errors in \(count) files")
    }

    private static func damage(_ bytes: inout [UInt8], _ random: inout Random) {
        let pages = bytes.count / Page.size
        switch random.below(10) {
        case 0, 1, 2:
            bytes[random.below(bytes.count)] ^= 1 << UInt8(random.below(8))
        case 3:
            // The fixed places, where errors are most dangerous.
            bytes[random.below(2) * Page.size + random.below(2200)] ^= 1 << UInt8(random.below(8))
        case 4, 5:
            for _ in 0..<(1 + random.below(8)) {
                bytes[random.below(bytes.count)] = UInt8(truncatingIfNeeded: random.next())
            }
        case 6:
            let size = [64, 512, 4096][random.below(3)]
            let start = random.below(bytes.count / size) * size
            let fill: UInt8 = random.below(2) == 0 ? 0 : 0xFF
            for index in start..<(start + size) { bytes[index] = fill }
        case 7:
            let from = random.below(pages) * Page.size
            let to = random.below(pages) * Page.size
            let page = Array(bytes[from..<(from + Page.size)])
            bytes.replaceSubrange(to..<(to + Page.size), with: page)
        case 8:
            bytes.removeLast(random.below(2) == 0 ? random.below(bytes.count) : 1 + random.below(9))
        default:
            bytes.append(contentsOf: (0..<random.below(9000)).map { _ in 0x5A })
        }
    }

    // MARK: Hostile changes

    @Test func changesWithRightCheckValuesNeverCrash() throws {
        let directory = TemporaryDirectory()
        var found = 0
        var count = 0
        for item in Campaign("hostile files", seconds: 14, atLeast: 150) {
            count += 1
            var random = item.random
            let surgeon = try FileSurgeon(Self.sample.bytes)
            for _ in 0..<(1 + random.below(3)) { Self.change(surgeon, &random) }
            surgeon.reseal()
            Self.withFile(directory, surgeon.bytes) { path in
                if !Realm.check(path: path).isEmpty { found += 1 }
                Self.use(path, &random)
            }
        }
        print("hostile files: \(found) of \(count) found by the check")
    }

    private static func change(_ surgeon: FileSurgeon, _ random: inout Random) {
        let node = surgeon.nodes[random.below(surgeon.nodes.count)]
        let block = surgeon.block(node)
        let used = max(64, min(Int(UnsafeRawPointer(block).u32(8)), node.count))
        switch random.below(12) {
        case 0:
            // The reference to it names another block.
            let other = surgeon.nodes[random.below(surgeon.nodes.count)]
            BlockReference(surgeon.base + other.place).store(surgeon.memory + node.place)
        case 1:
            // Its length, or its place a little off.
            let offset = random.below(2) == 0 ? 0 : 6
            surgeon.memory.put(
                surgeon.base.u8(node.place + offset) &+ UInt8(random.below(5)), node.place + offset)
        case 2:
            let words = (used - 8) / 8
            let from = random.below(words) * 8
            block.put(UnsafeRawPointer(block).u64(from), random.below(words) * 8)
        case 3:
            // Counts, depths and roots of the catalog.
            let place = surgeon.payload + random.below(600)
            putInteresting(surgeon.memory + place, &random)
        case 4:
            // The header and the root's fields.
            let place =
                random.below(3) == 0
                ? surgeon.slot + 12 + random.below(76)
                : surgeon.nodes[0].offset + random.below(80)
            putInteresting(surgeon.memory + place, &random)
        case 5:
            putInteresting(surgeon.memory + (surgeon.spaceMap + random.below(60)), &random)
        case 6, 7, 8:
            // Headers, directories, arrays of keys.
            putInteresting(block + random.below(min(used, 480) - 8), &random)
        default:
            putInteresting(block + random.below(used - 8), &random)
        }
    }

    /// Writes a number of 1 to 8 bytes that is likely to be on some border.
    private static func putInteresting(_ place: UnsafeMutableRawPointer, _ random: inout Random) {
        let old = UnsafeRawPointer(place).u64(0)
        let numbers: [UInt64] = [
            0, 1, .max, 1 << 63, (1 << 63) - 1, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF, 0xFFFF,
            0x8000, 4096, 2049, 1 << 62, old &+ 1, old &- 1, old << 1, random.next(),
            UInt64(random.below(256)), UInt64(random.below(20_000)),
            old ^ 1 << UInt64(random.below(64)),
        ]
        let value = numbers[random.below(numbers.count)]
        switch random.below(4) {
        case 0: place.put(UInt8(truncatingIfNeeded: value), 0)
        case 1: place.put(UInt16(truncatingIfNeeded: value), 0)
        case 2: place.put(UInt32(truncatingIfNeeded: value), 0)
        default: place.put(value, 0)
        }
    }

    // MARK: Using a hostile file

    /// Everything a program might do; errors are fine.
    private static func use(_ path: String, _ random: inout Random) {
        var seed = random
        func attempt(_ body: (Realm) throws(RealmError) -> Void) {
            do throws(RealmError) {
                let realm = try Realm.open(SampleFile.configuration(path))
                defer { realm.close() }
                try body(realm)
            } catch {}
        }
        attempt { realm throws(RealmError) in _ = try FileReading.digest(realm) }
        attempt { realm throws(RealmError) in
            for text in FileReading.queries {
                do throws(RealmError) { try query(realm, text) } catch {}
            }
        }
        attempt { realm throws(RealmError) in _ = try realm.statistics() }
        attempt { realm throws(RealmError) in
            _ = try? FileOperations.remove(path + "-copy", SystemCalls.shared)
            try realm.writeCopy(to: path + "-copy")
        }
        for _ in 0..<3 { attempt { realm throws(RealmError) in try write(realm, &seed) } }
        attempt { realm throws(RealmError) in _ = try realm.compact() }
        attempt { realm throws(RealmError) in try write(realm, &seed) }
        _ = Realm.check(path: path)
        random = seed
    }

    private static func query(_ realm: Realm, _ text: String) throws(RealmError) {
        guard let item = realm.schema.class_(named: "Item") else { return }
        let query = try Query.parse(text, arguments: [], schema: realm.schema, classKey: item.key)
        let reader = SnapshotReader(tables: try realm.readTables())
        _ = try query.findAll(reader)
        _ = try query.count(reader)
        _ = try query.findFirst(reader)
    }

    private static func change(
        _ trunk: DynamicObject, _ random: inout Random
    ) throws(RealmError) {
        guard let item = trunk.realm.schema.class_(named: "Trunk") else { return }
        let property = item.properties[1 + random.below(item.properties.count - 1)]
        let key = property.key
        if property.collection == .none {
            if random.below(4) == 0 { return try trunk.set(property.name, .int(1)) }
            let list = try trunk.handle.setCollection(key, .list)
            return try list.insert(.nested(.dictionary), at: 0)
        }
        if random.below(8) == 0 { return try trunk.delete() }
        let collection = try trunk.handle.collection(key, property.collection)
        let count = try collection.count()
        let index = count > 0 ? random.below(count) : 0
        switch random.below(4) {
        case 0: try collection.removeAll()
        case 1:
            if property.collection == .dictionary {
                _ = try collection.remove(key: try collection.key(index))
            } else {
                try collection.remove(at: index)
            }
        case 2 where property.collection == .list: try collection.move(from: index, to: 0)
        default:
            let value = try collection.get(index)
            switch property.collection {
            case .list: try collection.insert(value, at: random.below(count + 1))
            case .set: _ = try collection.insert(.int(Int64(random.below(9000))))
            default: _ = try collection.insert(value, key: try collection.key(index))
            }
        }
    }

    private static func write(_ realm: Realm, _ random: inout Random) throws(RealmError) {
        try realm.beginWrite()
        for _ in 0..<10 {
            let number = random.below(450)
            let key = SampleFile.item(number)
            let tag = Value.string(SampleFile.tagKey(random.below(30)))
            do throws(RealmError) {
                switch random.below(10) {
                case 0: try realm.find("Item", primaryKey: key)?.delete()
                case 1:
                    _ = try realm.create(
                        "Item", primaryKey: key, ["name": .string("new"), "count": .int(4)])
                case 2:
                    try realm.find("Item", primaryKey: key)?.set(
                        "note", .string(String(repeating: "x", count: random.below(3000))))
                case 3: try realm.find("Item", primaryKey: key)?.set("size", .int(-7))
                case 4:
                    if let target = try realm.find("Tag", primaryKey: tag) {
                        try realm.find("Item", primaryKey: key)?.set("tag", .link(target.link))
                    }
                case 5: try realm.find("Tag", primaryKey: tag)?.delete()
                case 6, 7, 8:
                    let number = Value.int(Int64(random.below(SampleFile.trunks)))
                    if let trunk = try realm.find("Trunk", primaryKey: number) {
                        try change(trunk, &random)
                    }
                default: _ = try realm.create("Event", ["kind": .int(1)])
                }
            } catch {}
        }
        try realm.commit()
    }
}
