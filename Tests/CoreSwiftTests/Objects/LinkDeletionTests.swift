// Deleting objects that lists, sets and dictionaries hold, many of them and many times, also in
// lists of a mixed value: random programs against plain Swift values.

import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite struct LinkDeletionTests {
    private static let schema = Schema([
        ClassSchema("Target", properties: [PropertySchema("id", .int)]),
        ClassSchema(
            "Holder",
            properties: [
                PropertySchema("list", .object, collection: .list, linkTarget: "Target"),
                PropertySchema("bag", .object, collection: .set, linkTarget: "Target"),
                PropertySchema(
                    "map", .object, collection: .dictionary, linkTarget: "Target",
                    flags: [.nullable]),
                PropertySchema("mixed", .mixed, collection: .list, flags: [.nullable]),
                PropertySchema("nested", .mixed, flags: [.nullable]),
            ]),
    ])

    private let directory = TemporaryDirectory()

    private func opened() throws -> Realm {
        try Realm.open(TestSchema.configuration(directory.file(), Self.schema))
    }

    /// A holder's contents; numbers are keys of targets, nil is null or another value.
    private struct Model: Equatable {
        var list: [ObjectKey] = []
        var bag: Set<ObjectKey> = []
        var map: [String: ObjectKey?] = [:]
        var mixed: [ObjectKey?] = []
        var nested: [[ObjectKey?]] = []

        mutating func forget(_ key: ObjectKey) {
            list.removeAll { $0 == key }
            bag.remove(key)
            for (name, value) in map where value == key { map[name] = .some(nil) }
            mixed.removeAll { $0 == key }
            for index in nested.indices { nested[index].removeAll { $0 == key } }
        }
    }

    private struct Handles {
        let list, bag, map, mixed, nested: RealmCollection
        let targetClass: ClassKey

        init(_ holder: DynamicObject) throws {
            list = try holder.collection("list")
            bag = try holder.collection("bag")
            map = try holder.collection("map")
            mixed = try holder.collection("mixed")
            let class_ = try #require(holder.realm.schema.class_(holder.handle.classKey))
            nested = try holder.handle.collection(
                try #require(class_.property(named: "nested")).key, .list)
            targetClass = try #require(holder.realm.schema.class_(named: "Target")).key
        }

        func link(_ key: ObjectKey?) -> RawValue {
            key.map { .link(targetClass, $0) } ?? .int(7)
        }

        private func keys(_ collection: RealmCollection) throws -> [ObjectKey?] {
            try (0..<collection.count()).map { index in
                let value = try collection.get(index)
                return value.type == ValueType.link.rawValue ? value.linkTarget : nil
            }
        }

        func model() throws -> Model {
            var result = Model()
            result.list = try keys(list).compactMap { $0 }
            result.bag = Set(try keys(bag).compactMap { $0 })
            for (index, value) in try keys(map).enumerated() {
                guard case .string(let name) = try Value(map.key(index)) else { continue }
                result.map[name] = .some(value)
            }
            result.mixed = try keys(mixed)
            for index in 0..<(try nested.count()) {
                result.nested.append(try keys(try nested.nested(index, .list)))
            }
            return result
        }
    }

    private func change(
        _ model: inout Model, _ handles: Handles, _ targets: [ObjectKey], _ random: inout Random,
        many: Int
    ) throws {
        func target() -> ObjectKey { targets[random.below(targets.count)] }
        switch random.below(9) {
        case 0:
            for _ in 0..<(1 + random.below(many)) {
                let count = model.list.count
                let index = random.below(2) == 0 ? count : random.below(count + 1)
                let key = target()
                try handles.list.insert(handles.link(key), at: index)
                model.list.insert(key, at: index)
            }
        case 1:
            for _ in 0..<(1 + random.below(many)) {
                let key = target()
                _ = try handles.bag.insert(handles.link(key))
                model.bag.insert(key)
            }
        case 2:
            for _ in 0..<(1 + random.below(many)) {
                let name = "key \(random.below(3 * many))"
                let key = target()
                try Value.string(name).withRaw { raw throws(RealmError) in
                    _ = try handles.map.insert(handles.link(key), key: raw)
                }
                model.map[name] = .some(key)
            }
        case 3:
            for _ in 0..<(1 + random.below(many)) {
                let index = random.below(model.mixed.count + 1)
                let key = random.below(3) == 0 ? nil : target()
                try handles.mixed.insert(handles.link(key), at: index)
                model.mixed.insert(key, at: index)
            }
        case 4:
            let index = random.below(model.nested.count + 1)
            let list = try handles.nested.insertNested(.list, at: index)
            model.nested.insert([], at: index)
            for place in 0..<random.below(6) {
                let key = target()
                try list.insert(handles.link(key), at: place)
                model.nested[index].append(key)
            }
        case 5 where !model.nested.isEmpty:
            let index = random.below(model.nested.count)
            let list = try handles.nested.nested(index, .list)
            for _ in 0..<(1 + random.below(many / 4 + 1)) {
                let key = target()
                let place = random.below(model.nested[index].count + 1)
                try list.insert(handles.link(key), at: place)
                model.nested[index].insert(key, at: place)
            }
        case 6 where model.nested.count > 1:
            let from = random.below(model.nested.count)
            let to = random.below(model.nested.count)
            try handles.nested.move(from: from, to: to)
            model.nested.insert(model.nested.remove(at: from), at: to)
        case 7 where !model.list.isEmpty && !model.mixed.isEmpty:
            let from = random.below(model.list.count)
            let to = random.below(model.list.count)
            try handles.list.move(from: from, to: to)
            model.list.insert(model.list.remove(at: from), at: to)
            let place = random.below(model.mixed.count)
            let key = target()
            try handles.mixed.set(handles.link(key), at: place)
            model.mixed[place] = key
        case 8 where !model.list.isEmpty && !model.nested.isEmpty:
            for _ in 0..<random.below(many) where !model.list.isEmpty {
                let index = random.below(model.list.count)
                try handles.list.remove(at: index)
                model.list.remove(at: index)
            }
            let index = random.below(model.nested.count)
            try handles.nested.remove(at: index)
            model.nested.remove(at: index)
        default: return
        }
    }

    @Test func `collections forget objects that are deleted`() throws {
        for item in Campaign("link deletion", seconds: 2, atLeast: 4) {
            // Every third program has collections of several pieces.
            let isLarge = item.seed % 3 == 0
            try deletes(item.random, many: isLarge ? 1500 : 40, rounds: isLarge ? 10 : 30)
        }
    }

    private func deletes(_ start: Random, many: Int, rounds: Int) throws {
        var random = start
        let realm = try opened()
        try realm.beginWrite()
        let holder = try realm.create("Holder")
        let handles = try Handles(holder)
        _ = try holder.handle.setCollection(handles.nested.propertyKey, .list)
        let class_ = handles.targetClass
        var targets: [ObjectKey] = []
        var model = Model()
        for _ in 0..<rounds {
            while targets.count < many {
                targets.append(try realm.create("Target").handle.objectKey)
            }
            for _ in 0..<3 { try change(&model, handles, targets, &random, many: many) }
            for _ in 0..<random.below(many / 3) {
                let key = targets.remove(at: random.below(targets.count))
                let target = try realm.object(class_, key)
                try target.delete()
                target.release()
                model.forget(key)
                #expect(try handles.list.count() == model.list.count)
                if random.below(20) == 0 {
                    try change(&model, handles, targets, &random, many: 3)
                }
            }
            let table = try #require(try realm.readTables().table(holder.handle.classKey))
            try table.checkOpenCollections()
            #expect(try handles.model() == model)
            switch random.below(4) {
            case 0:
                try realm.commit()
                #expect(try handles.model() == model)
                let problems = try realm.check()
                #expect(problems == [])
                try realm.beginWrite()
            case 1:
                // A query settles: the collections are opened again for what follows.
                let results = try realm.query(class_, "id == 5").findAll()
                #expect(try results.count() == 0)
            default: break
            }
        }
        try realm.commit()
        #expect(try realm.check() == [String]())
    }
}
