// Random work on objects for the crash and fault campaigns: two classes with primary keys, indexed
// properties, links, short and long values. A change is planned on the model and then carried out
// on a realm, so that it can be tried again after an error.

@testable import CoreSwift

struct ObjectModel: Equatable {
    struct Item: Equatable {
        var name: String
        var count: Int64?
        var blob: [UInt8]
        /// Primary key of the item it points to.
        var next: Int64?
        var tag: String?
        /// A list, now and then too long for its row.
        var marks: [Int64] = []
        /// A list of links by primary key, with repetitions.
        var friends: [Int64] = []
        /// Embedded objects by their only number, in a dictionary.
        var parts: [String: Int64] = [:]
        /// A set of mixed values.
        var anything: Set<Int64> = []

        // What follows from the number of the item, in the other types that properties have.
        var price: Value { .decimal128(Decimal128(count ?? 0) / Decimal128(8)) }
        var code: Value {
            count.map { .objectId(ObjectId(high: UInt64(bitPattern: $0), low: 7)) } ?? .null
        }
        var token: Value { .uuid(UUIDValue(high: UInt64(blob.count), low: 1)) }
        /// A mixed value of changing type; long ones have blocks of their own.
        var cargo: Value {
            switch (count ?? 0) & 3 {
            case 0: return .binary(blob)
            case 1: return price
            case 2: return token
            default: return count.map { .int($0) } ?? .null
            }
        }
    }
    var items: [Int64: Item] = [:]
    /// Tags by name, which is their primary key, with a weight.
    var tags: [String: Double] = [:]

    mutating func removeItem(_ id: Int64) {
        items[id] = nil
        for (other, item) in items where item.next == id { items[other]?.next = nil }
        for (other, item) in items where item.friends.contains(id) {
            items[other]?.friends.removeAll { $0 == id }
        }
    }

    mutating func removeTag(_ name: String) {
        tags[name] = nil
        for (other, item) in items where item.tag == name { items[other]?.tag = nil }
    }
}

enum ObjectStep {
    case create(Int64, ObjectModel.Item)
    case change(Int64, ObjectModel.Item)
    case delete(Int64)
    case createTag(String, Double)
    case deleteTag(String)
    /// Instead of a transaction: the file is compacted, which takes commits of its own.
    case compact

    var isCompaction: Bool {
        if case .compact = self { return true }
        return false
    }
}

struct ObjectWorkload: CrashWorkload {
    static let schema = Schema([
        ClassSchema(
            "Item", primaryKey: "id",
            properties: [
                PropertySchema("id", .int, flags: [.primaryKey]),
                PropertySchema(
                    "name", .string, flags: [.indexed, .fullTextIndexed, .fullTextUnicode]),
                PropertySchema("count", .int, flags: [.nullable, .indexed]),
                PropertySchema("blob", .binary),
                PropertySchema("next", .object, linkTarget: "Item", flags: [.nullable]),
                PropertySchema("tag", .object, linkTarget: "Tag", flags: [.nullable]),
                PropertySchema("marks", .int, collection: .list),
                PropertySchema("friends", .object, collection: .list, linkTarget: "Item"),
                PropertySchema(
                    "parts", .object, collection: .dictionary, linkTarget: "Part",
                    flags: [.nullable]),
                PropertySchema("anything", .mixed, collection: .set, flags: [.nullable]),
                PropertySchema("price", .decimal128),
                PropertySchema("code", .objectId, flags: [.nullable, .indexed]),
                PropertySchema("token", .uuid),
                PropertySchema("cargo", .mixed, flags: [.nullable, .indexed]),
                // Holds what `tag` does.
                PropertySchema("mixedTag", .mixed, flags: [.nullable]),
            ]),
        ClassSchema(
            "Part", properties: [PropertySchema("size", .int)], kind: .embedded),
        ClassSchema(
            "Tag", primaryKey: "name",
            properties: [
                PropertySchema("name", .string, flags: [.primaryKey]),
                PropertySchema("weight", .double),
            ]),
    ])

    static func configuration(_ path: String) -> Configuration {
        var configuration = Configuration(path: path)
        configuration.schema = schema
        configuration.schemaVersion = 1
        return configuration
    }

    let itemsMax: Int64
    let stepsMax: Int
    var isChecked = true
    /// With which the file is encrypted; empty: it is plain.
    let key: [UInt8]
    /// Half of them have space maps of all shapes, and files that are swept.
    let spaceLimits: SpaceLimits
    /// The change log is kept for a consumer that lags behind.
    var keepsLog = false
    /// Changes are committed by blocks that run asynchronously, and become one version where they can.
    var isGrouped = false
    /// Microseconds: while a sync goes on, the next commit may write its blocks.
    var syncTakes: UInt32 = 0
    /// Changes make many objects, and blocks are written before the commit.
    var isLong = false
    /// Calls of long transactions end where such parts of the file do.
    var partPages = 9

    init(_ random: inout Random, itemsMax: Int64 = 250, spaceLimits: SpaceLimits? = nil) {
        self.itemsMax = itemsMax
        stepsMax = [2, 10, 60][random.below(3)]
        key = random.below(2) == 0 ? [] : [UInt8](repeating: 3, count: 64)
        let isSwept = random.below(2) == 0
        self.spaceLimits = spaceLimits ?? (isSwept ? .tiny : SpaceLimits())
    }

    var emptyModel: ObjectModel { ObjectModel() }

    func open(_ path: String, _ files: FileSystem) throws -> ObjectSession {
        var configuration = Self.configuration(path)
        configuration.encryptionKey = key
        configuration.spaceLimits = spaceLimits
        if isLong {
            configuration.pendingPagesMax = 8
            configuration.partPages = partPages
        }
        if keepsLog { configuration.unwrittenObjectsMin = 2 + stepsMax / 10 }
        let session = ObjectSession(
            try Realm.open(configuration, files: files), isChecked: isChecked,
            keepsLog: keepsLog)
        session.triesFirst = isLong
        (files as? RecordingFileSystem)?.syncTakes = syncTakes
        if isGrouped { session.group = try BlockGroup(session.realm) }
        return session
    }

    mutating func plan(
        _ model: ObjectModel, _ random: inout Random
    ) -> (change: [ObjectStep], result: ObjectModel) {
        if random.below(10) == 0 { return ([.compact], model) }
        var result = model
        var steps: [ObjectStep] = []
        if isLong, random.below(2) == 0 { planSeries(&result, &steps, &random) }
        for _ in 0..<(1 + random.below(stepsMax)) {
            let id = Int64(random.below(Int(itemsMax))) * 37 % 1009 - 100
            switch random.below(12) {
            case 0...6:
                let item = makeItem(result, &random)
                steps.append(result.items[id] == nil ? .create(id, item) : .change(id, item))
                result.items[id] = item
            case 7, 8:
                guard result.items[id] != nil else { continue }
                steps.append(.delete(id))
                result.removeItem(id)
            case 9, 10:
                let name = "tag \(random.below(20))"
                guard result.tags[name] == nil else { continue }
                let weight = Double(random.below(1000)) / 8
                steps.append(.createTag(name, weight))
                result.tags[name] = weight
            default:
                let name = "tag \(random.below(20))"
                guard result.tags[name] != nil else { continue }
                steps.append(.deleteTag(name))
                result.removeTag(name)
            }
        }
        return (steps, result)
    }

    /// Objects that fill leaves, of which some go again; or all.
    private func planSeries(
        _ model: inout ObjectModel, _ steps: inout [ObjectStep], _ random: inout Random
    ) {
        // A number that no series has.
        var number = random.below(1_000_000)
        while model.tags.keys.contains(where: { $0.hasPrefix("\(number) ") }) { number += 1 }
        var made: [String] = []
        for index in 0..<(200 + random.below(800)) {
            let length = random.below(150) == 0 ? 6000 : 90
            let name = "\(number) \(index) " + String(repeating: "y", count: length)
            made.append(name)
            steps.append(.createTag(name, Double(index)))
            model.tags[name] = Double(index)
            if random.below(50) == 0 {
                let gone = made[random.below(made.count)]
                guard model.tags[gone] != nil else { continue }
                steps.append(.deleteTag(gone))
                model.removeTag(gone)
            }
        }
        if random.below(3) > 0 { return }
        for name in made.dropFirst(random.below(100)) where model.tags[name] != nil {
            steps.append(.deleteTag(name))
            model.removeTag(name)
        }
    }

    private func makeItem(_ model: ObjectModel, _ random: inout Random) -> ObjectModel.Item {
        let length = random.below(30) == 0 ? 3000 + random.below(20_000) : random.below(60)
        let byte = UInt8(random.below(256))
        let keys = model.items.keys.sorted()
        let tags = model.tags.keys.sorted()
        return ObjectModel.Item(
            name: "name \(random.below(50)) " + String(repeating: "x", count: random.below(80)),
            count: random.below(4) == 0 ? nil : Int64(random.below(100)) - 50,
            blob: [UInt8](repeating: byte, count: length),
            next: keys.isEmpty || random.below(2) == 0 ? nil : keys[random.below(keys.count)],
            tag: tags.isEmpty || random.below(3) == 0 ? nil : tags[random.below(tags.count)],
            marks: makeMarks(&random),
            friends: keys.isEmpty
                ? [] : (0..<random.below(4)).map { _ in keys[random.below(keys.count)] },
            parts: Dictionary(
                (0..<random.below(3)).map { _ in
                    ("part \(random.below(5))", Int64(random.below(1000)))
                }, uniquingKeysWith: { first, _ in first }),
            anything: Set((0..<random.below(4)).map { _ in Int64(random.below(300)) }))
    }

    private func makeMarks(_ random: inout Random) -> [Int64] {
        let count = random.below(40) == 0 ? 1500 + random.below(4000) : random.below(5)
        return (0..<count).map { _ in Int64(random.below(1_000_000)) }
    }
}

final class ObjectSession: CrashSession {
    let realm: Realm
    /// Whether verifying includes the check of the file.
    private let isChecked: Bool
    private let keepsLog: Bool
    private var held: [Realm] = []
    private var random = Random(2)
    fileprivate(set) var group: BlockGroup?
    private var before: Realm?
    /// Changes are made and undone before they are made at times.
    fileprivate(set) var triesFirst = false

    init(_ realm: Realm, isChecked: Bool, keepsLog: Bool = false) {
        self.realm = realm
        self.isChecked = isChecked
        self.keepsLog = keepsLog
    }

    deinit { try? close() }

    var version: UInt64 {
        _ = try? realm.refresh()
        return realm.version ?? 0
    }

    var isDurable: Bool { group?.isIdle ?? true }

    func close() throws {
        try group?.drain()
        held.forEach { $0.close() }
        held = []
        before?.close()
        before = nil
        realm.close()
    }

    func commit(_ change: [ObjectStep]) throws {
        if let group, change.first?.isCompaction != true {
            // One that is undone alone comes before it at times.
            if random.below(4) == 0 {
                try group.run { [self] in for step in change { try carryOut(step) } }
            }
            try group.commit { [self] in
                for step in change { try carryOut(step) }
                if random.below(3) == 0 { try tryAndFreeze(change) }
            }
            // Some blocks wait until others have come.
            if random.below(3) == 0 { try group.drain() }
            return
        }
        try group?.drain()
        if case .compact? = change.first {
            if random.below(4) > 0 {
                held.forEach { $0.close() }
                held = []
                before?.close()
                before = nil
            }
            _ = try realm.compact()
            return
        }
        if triesFirst, random.below(4) == 0 {
            try realm.beginWrite()
            do { for step in change { try carryOut(step) } } catch {
                try realm.rollback()
                throw error
            }
            try realm.rollback()
        }
        try realm.beginWrite()
        do {
            if keepsLog { try acknowledgeNowAndThen() }
            if triesFirst, random.below(4) == 0 {
                let savepoint = try realm.savepoint()
                for step in change { try carryOut(step) }
                try realm.rollback(to: savepoint)
            }
            for step in change { try carryOut(step) }
        } catch {
            try realm.rollback()
            throw error
        }
        try realm.commit()
        // Older versions stay in use for a while.
        if random.below(3) == 0 { held.append(try realm.freeze()) }
        if held.count > 2 { held.remove(at: random.below(held.count)).close() }
    }

    /// In a block: needs the version before it, with savepoints and other changes on top of it.
    private func tryAndFreeze(_ change: [ObjectStep]) throws {
        let savepoint = try realm.savepoint()
        for step in change {
            switch step {
            case .create(let id, _), .change(let id, _):
                try realm.find("Item", primaryKey: .int(id))?.delete()
            case .createTag(let name, _):
                try realm.find("Tag", primaryKey: .string(name))?.delete()
            default: break
            }
        }
        let frozen = try realm.freeze()
        if let before, before.version == frozen.version {
            guard try before.objectCounts() == frozen.objectCounts() else {
                throw ToyFailure(description: "a version has two contents")
            }
        }
        before?.close()
        before = frozen
        try realm.rollback(to: savepoint)
        if random.below(2) == 0 { try realm.release(savepoint) }
    }

    private func acknowledgeNowAndThen() throws {
        let tables = try realm.tablesForWriting()
        guard let consumer = tables.consumers.first else { return try tables.addConsumer("log") }
        // The commits since then are all there.
        let log = ChangeLog(tables)
        guard let left = try log?.changes(from: consumer.acknowledged, to: tables.version),
            left.versionCount <= Int(tables.version - consumer.acknowledged)
        else { throw ToyFailure(description: "the change log has a gap") }
        if random.below(6) == 0 { try tables.acknowledge("log", tables.version) }
    }

    fileprivate func carryOut(_ step: ObjectStep) throws {
        switch step {
        case .create(let id, let item):
            try fill(try realm.create("Item", primaryKey: .int(id)), item)
        case .change(let id, let item):
            guard let object = try realm.find("Item", primaryKey: .int(id)) else {
                throw ToyFailure(description: "item \(id) is missing")
            }
            try fill(object, item)
        case .delete(let id):
            try realm.find("Item", primaryKey: .int(id))?.delete()
        case .createTag(let name, let weight):
            _ = try realm.create("Tag", primaryKey: .string(name), ["weight": .double(weight)])
        case .deleteTag(let name):
            try realm.find("Tag", primaryKey: .string(name))?.delete()
        case .compact: break
        }
    }

    private func fill(_ object: DynamicObject, _ item: ObjectModel.Item) throws {
        try object.set("name", .string(item.name))
        try object.set("count", item.count.map { .int($0) } ?? .null)
        try object.set("blob", .binary(item.blob))
        let next = try item.next.flatMap { try realm.find("Item", primaryKey: .int($0)) }
        try object.set("next", next.map { .link($0.link) } ?? .null)
        let tag = try item.tag.flatMap { try realm.find("Tag", primaryKey: .string($0)) }
        try object.set("tag", tag.map { .link($0.link) } ?? .null)
        try object.set("mixedTag", tag.map { .link($0.link) } ?? .null)
        try object.set("price", item.price)
        try object.set("code", item.code)
        try object.set("token", item.token)
        try object.set("cargo", item.cargo)
        let marks = try object.collection("marks")
        // Keep what stays, so that elements change in place, too.
        while try marks.count() > item.marks.count { try marks.remove(at: 0) }
        for (index, mark) in item.marks.enumerated() {
            if try index < marks.count() {
                try marks.set(.int(mark), at: index)
            } else {
                try marks.insert(.int(mark), at: index)
            }
        }
        let friends = try object.collection("friends")
        try friends.removeAll()
        for id in item.friends {
            // An item may be planned before the one that it points to is there.
            guard let friend = try realm.find("Item", primaryKey: .int(id)) else { continue }
            try friends.insert(
                .link(friend.link.classKey, friend.link.objectKey), at: try friends.count())
        }
        let parts = try object.collection("parts")
        for index in try (0..<parts.count()).reversed() {
            guard case .string(let name) = try Value(parts.key(index)), item.parts[name] == nil
            else { continue }
            try parts.remove(at: index)
        }
        for (name, size) in item.parts {
            let part = try Value.string(name).withRaw { raw throws(RealmError) in
                DynamicObject(try parts.insertEmbedded(key: raw))
            }
            try part.set("size", .int(size))
        }
        let anything = try object.collection("anything")
        try anything.removeAll()
        for number in item.anything { _ = try anything.insert(Self.mixed(number)) }
    }

    /// A value that equals the number, of varying type.
    private static func mixed(_ number: Int64) -> RawValue {
        number % 3 == 0
            ? .double(Double(number)) : number % 3 == 1 ? .float(Float(number)) : .int(number)
    }

    private func verifyCollections(_ object: DynamicObject, _ item: ObjectModel.Item) throws -> Bool
    {
        let marks = try object.collection("marks")
        guard try marks.count() == item.marks.count else { return false }
        for (index, mark) in item.marks.enumerated() {
            guard try marks.get(index).intValue == mark else { return false }
        }
        let friends = try object.collection("friends")
        guard try friends.count() == item.friends.count else { return false }
        for (index, id) in item.friends.enumerated() {
            let friend = try friends.object(index).map { DynamicObject($0) }
            guard try friend?.get("id") == .int(id) else { return false }
        }
        let parts = try object.collection("parts")
        guard try parts.count() == item.parts.count else { return false }
        for (index, name) in item.parts.keys.sorted().enumerated() {
            let part = try parts.object(index).map { DynamicObject($0) }
            guard try Value(parts.key(index)) == .string(name),
                try part?.get("size") == item.parts[name].map({ .int($0) }),
                try part.map({ DynamicObject(try $0.handle.parent()).key }) == object.key
            else { return false }
        }
        let anything = try object.collection("anything")
        guard try anything.count() == item.anything.count else { return false }
        for (index, number) in item.anything.sorted().enumerated() {
            guard try ValueOrder.equal(anything.get(index), .int(number)) else { return false }
        }
        return true
    }

    func verify(_ model: ObjectModel) throws {
        try group?.drain()
        _ = try realm.refresh()
        func fail(_ what: String) -> ToyFailure {
            ToyFailure(description: "version \(realm.version ?? 0): \(what)")
        }
        guard let itemClass = realm.schema.class_(named: "Item"),
            let tagClass = realm.schema.class_(named: "Tag")
        else { throw fail("classes are missing") }
        guard try realm.objectCount(itemClass.key) == model.items.count,
            try realm.objectCount(tagClass.key) == model.tags.count
        else { throw fail("counts differ") }
        if let partClass = realm.schema.class_(named: "Part") {
            let parts = model.items.values.reduce(0) { $0 + $1.parts.count }
            guard try realm.objectCount(partClass.key) == parts else {
                throw fail("there are orphans among the parts, or some are missing")
            }
        }
        let problems = isChecked ? try realm.check() : []
        guard problems.isEmpty else { throw fail(problems.prefix(4).joined(separator: "; ")) }
        var names: [String: Int] = [:]
        for (id, item) in model.items {
            guard let object = try realm.find("Item", primaryKey: .int(id)) else {
                throw fail("item \(id) is missing")
            }
            guard try object.get("name") == .string(item.name),
                try object.get("count") == item.count.map({ .int($0) }) ?? .null,
                try object.get("blob") == .binary(item.blob)
            else { throw fail("item \(id) differs") }
            guard try object.linked("next")?.get("id") == item.next.map({ .int($0) }),
                try object.linked("tag")?.get("name") == item.tag.map({ .string($0) }),
                try object.get("mixedTag") == object.get("tag")
            else { throw fail("links of item \(id) differ") }
            guard try object.get("price") == item.price, try object.get("code") == item.code,
                try object.get("token") == item.token, try object.get("cargo") == item.cargo
            else { throw fail("decimals, ids or mixed values of item \(id) differ") }
            guard try verifyCollections(object, item) else {
                throw fail("collections of item \(id) differ")
            }
            names[item.name, default: 0] += 1
        }
        for (name, weight) in model.tags {
            guard let object = try realm.find("Tag", primaryKey: .string(name)),
                try object.get("weight") == .double(weight)
            else { throw fail("tag \(name) differs") }
        }
        // The indexes on names and the backlinks of tags say the same.
        let texts = names.map { (words: $0.key.split(separator: " "), count: $0.value) }
        for (name, count) in names.prefix(5) {
            let found = try realm.objects("Item").filter("name == '\(name)'").count()
            guard found == count else { throw fail("index finds \(found) of \(count) '\(name)'") }
            let words = name.split(separator: " ")
            let expected = texts.reduce(0) {
                $0 + (words.allSatisfy($1.words.contains) ? $1.count : 0)
            }
            let text = words.joined(separator: " ")
            let matches = try realm.objects("Item").filter("name TEXT '\(text)'").count()
            guard matches == expected else {
                throw fail("full-text index finds \(matches) of '\(text)'")
            }
        }
        guard let tagProperty = itemClass.property(named: "tag") else {
            throw fail("the property is missing")
        }
        for name in model.tags.keys.sorted().prefix(5) {
            let expected = model.items.values.filter { $0.tag == name }.count
            guard let tag = try realm.find("Tag", primaryKey: .string(name)) else { continue }
            let found = try tag.handle.backlinks(
                from: itemClass.key, property: tagProperty.key
            ).count()
            guard found == expected else {
                throw fail("tag \(name) has \(found) backlinks instead of \(expected)")
            }
        }
    }
}

extension Realm {
    /// Objects of each class.
    fileprivate func objectCounts() throws -> [Int] {
        try schema.classes.map { try objectCount($0.key) }
    }
}

extension ObjectWorkload {
    static func crashImages(
        _ campaign: Campaign, imagesPerEvent: Int = 6, _ make: (inout Random) -> ObjectWorkload
    ) -> String? {
        CrashCampaign.run(campaign, imagesPerEvent: imagesPerEvent, make)
    }
}
