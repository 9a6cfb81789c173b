// Lists and dictionaries in mixed values, to any depth, against plain Swift values.

import Testing

@testable import CoreSwift
@testable import TestSupport

/// A mixed value with everything in it.
private indirect enum Tree: Equatable {
    case value(Value)
    case list([Tree])
    case dictionary([String: Tree])
}

extension RealmCollection {
    fileprivate func tree() throws -> Tree {
        if type == .dictionary {
            var result: [String: Tree] = [:]
            for index in try 0..<count() {
                guard case .string(let key) = try Value(key(index)) else { continue }
                result[key] = try element(index)
            }
            return .dictionary(result)
        }
        return .list(try (0..<count()).map { try element($0) })
    }

    private func element(_ index: Int) throws -> Tree {
        let value = try get(index)
        switch ValueType(rawValue: value.type) {
        case .list?: return try nested(index, .list).tree()
        case .dictionary?: return try nested(index, .dictionary).tree()
        default: return .value(try Value(value))
        }
    }

    fileprivate func put(_ tree: Tree, at index: Int) throws {
        switch tree {
        case .value(let value):
            try value.withRaw { raw throws(RealmError) in try insert(raw, at: index) }
        case .list(let elements): try insertNested(.list, at: index).fill(elements)
        case .dictionary(let entries): try insertNested(.dictionary, at: index).fill(entries)
        }
    }

    fileprivate func fill(_ elements: [Tree]) throws {
        for element in elements { try put(element, at: count()) }
    }

    fileprivate func fill(_ entries: [String: Tree]) throws {
        for (name, entry) in entries { try put(name, entry) }
    }

    fileprivate func put(_ name: String, _ entry: Tree) throws {
        try Value.string(name).withRaw { key throws(RealmError) in
            do {
                switch entry {
                case .value(let value):
                    try value.withRaw { raw throws(RealmError) in
                        _ = try insert(raw, key: key)
                    }
                case .list(let elements): try insertNested(.list, key: key).fill(elements)
                case .dictionary(let entries):
                    try insertNested(.dictionary, key: key).fill(entries)
                }
            } catch let error as RealmError {
                throw error
            } catch {
                Issue.record(error)
            }
        }
    }
}

@Suite struct NestedCollectionTests {
    /// Equal cells of a leaf are stored once, which one with a tree in its elements must not be: when its
    /// row dies before the commit, nobody gives that tree a place.
    @Test func `rows that die before their commit leave no trees without a place`() throws {
        let directory = TemporaryDirectory()
        let path = directory.file()
        do {
            let realm = try CreationSchema.open(path)
            try realm.beginWrite()
            for number in 0..<200 {
                let name = String(repeating: "name ", count: 10) + "\(number)"
                let node = try realm.create("Node", primaryKey: .string(name))
                let list = try node.collection("anys")
                guard number == 100 else {
                    for value in 0..<20 {
                        try Value.int(Int64(value)).withRaw { raw throws(RealmError) in
                            try list.insert(raw, at: value)
                        }
                    }
                    continue
                }
                let inner = try list.insertNested(.list, at: 0)
                for value in 0..<3000 { try inner.insert(.int(Int64(value)), at: value) }
            }
            try realm.tablesForWriting().settle()
            let name = String(repeating: "name ", count: 10) + "100"
            try realm.find("Node", primaryKey: .string(name))?.delete()
            try realm.commit()
            #expect(try realm.check() == [])
        }
        let realm = try CreationSchema.open(path)
        #expect(try realm.count("Node") == 199)
        #expect(try realm.check() == [])
    }

    private static let schema = Schema([
        ClassSchema(
            "Box", primaryKey: "id",
            properties: [
                PropertySchema("id", .int, flags: [.primaryKey]),
                PropertySchema("any", .mixed, flags: [.nullable]),
                PropertySchema("list", .mixed, collection: .list, flags: [.nullable]),
                PropertySchema("dict", .mixed, collection: .dictionary, flags: [.nullable]),
            ])
    ])

    private static func open(_ path: String) throws -> Realm {
        try Realm.open(TestSchema.configuration(path, schema))
    }

    private func root(_ object: DynamicObject, _ name: String, _ type: CollectionType) throws
        -> RealmCollection
    {
        let property = object.realm.schema.class_(object.handle.classKey)!.property(named: name)!
        return try object.handle.collection(property.key, type)
    }

    /// What tells the collections of a value apart is given by version: a copy must not begin anew.
    @Test func `a copy of nested lists takes others beside them`() throws {
        let directory = TemporaryDirectory()
        let realm = try Self.open(directory.file())
        try realm.write {
            let list = try root(try realm.create("Box", primaryKey: .int(1)), "list", .list)
            for number in 0..<3 {
                try list.insertNested(.list, at: number).fill([.value(.int(Int64(number)))])
            }
        }
        let path = directory.file("copy.realm")
        try realm.writeCopy(to: path)
        let copy = try Self.open(path)
        let box = try #require(try copy.find("Box", primaryKey: .int(1)))
        for number in 3..<9 {
            try copy.write {
                let list = try root(box, "list", .list)
                try list.insertNested(.list, at: number).fill([.value(.int(Int64(number)))])
                for index in 0...number {
                    let inner = try list.nested(index, .list)
                    try inner.insert(.int(-1), at: inner.count())
                }
            }
        }
        let expected = (0..<9).map { number in
            Tree.list(
                [.value(.int(Int64(number)))]
                    + (max(number, 3)..<9).map { _ in .value(.int(-1)) })
        }
        #expect(try root(box, "list", .list).tree() == .list(expected))
        #expect(try copy.check() == [])
    }

    @Test func `a handle of a nested list follows its element and ends with it`() throws {
        let directory = TemporaryDirectory()
        let realm = try Self.open(directory.file())
        try realm.beginWrite()
        let box = try realm.create("Box", primaryKey: .int(1))
        let list = try root(box, "list", .list)
        try list.insert(.int(1), at: 0)
        let inner = try list.insertNested(.list, at: 1)
        try inner.insert(.int(10), at: 0)
        try list.insert(.int(0), at: 0)
        try list.remove(at: 1)
        try inner.insert(.int(11), at: 1)
        #expect(
            try list.tree() == .list([.value(.int(0)), .list([10, 11].map { .value(.int($0)) })]))
        try list.move(from: 1, to: 0)
        try realm.commit()
        #expect(try inner.count() == 2)
        #expect(try list.nested(0, .list).isEqual(inner))
        let frozen = try realm.freeze()
        try realm.beginWrite()
        try list.set(.int(7), at: 0)
        #expect(!inner.isValid)
        #expect(errorCode { _ = try inner.count() } == .invalidatedObject)
        try realm.commit()
        #expect(!inner.isValid)
        // It is gone here, and still there in the version before.
        #expect(try inner.resolve(in: frozen)?.count() == 2)
        #expect(try inner.resolve(in: realm) == nil)
        let there = try #require(try list.resolve(in: frozen)?.nested(0, .list))
        #expect(try there.count() == 2)
        let problems = try realm.check()
        #expect(problems == [])
    }

    @Test func `a mixed property holds a list, a dictionary or a value in turn`() throws {
        let directory = TemporaryDirectory()
        let realm = try Self.open(directory.file())
        try realm.beginWrite()
        let box = try realm.create("Box", primaryKey: .int(1))
        let key = realm.schema.class_(box.handle.classKey)!.property(named: "any")!.key
        let list = try box.handle.collection(key, .list)
        #expect(!list.isValid)
        _ = try box.handle.setCollection(key, .list)
        #expect(list.isValid)
        try list.insert(.int(5), at: 0)
        // The same kind again keeps what is there.
        _ = try box.handle.setCollection(key, .list)
        #expect(try list.count() == 1)
        let dictionary = try box.handle.setCollection(key, .dictionary)
        #expect(!list.isValid)
        try dictionary.put("a", .list([.value(.link(box.link))]))
        try realm.commit()
        #expect(try dictionary.tree() == .dictionary(["a": .list([.value(.link(box.link))])]))
        try realm.beginWrite()
        try box.set("any", .string("text"))
        #expect(!dictionary.isValid)
        try realm.commit()
        let problems = try realm.check()
        #expect(problems == [])
    }

    @Test func `links at any depth go with their target`() throws {
        let directory = TemporaryDirectory()
        let realm = try Self.open(directory.file())
        try realm.beginWrite()
        let box = try realm.create("Box", primaryKey: .int(1))
        let other = try realm.create("Box", primaryKey: .int(2))
        let link = Tree.value(.link(other.link))
        let list = try root(box, "list", .list)
        try list.fill([link, .list([link, .value(.int(1)), .dictionary(["k": link])]), link])
        try realm.commit()
        #expect(try realm.check() == [String]())
        try realm.beginWrite()
        try other.delete()
        try realm.commit()
        #expect(
            try list.tree()
                == .list([.list([.value(.int(1)), .dictionary(["k": .value(.null)])])]))
        let problems = try realm.check()
        #expect(problems == [])
    }

    @Test func `collections nest a hundred deep and no deeper`() throws {
        let directory = TemporaryDirectory()
        let realm = try Self.open(directory.file())
        try realm.beginWrite()
        let box = try realm.create("Box", primaryKey: .int(1))
        var inner = try root(box, "list", .list)
        for _ in 1..<100 { inner = try inner.insertNested(.list, at: 0) }
        #expect(errorCode { _ = try inner.insertNested(.list, at: 0) } == .limitExceeded)
        try inner.insert(.int(1), at: 0)
        try realm.commit()
        #expect(try inner.get(0).intValue == 1)
        var problems = try realm.check()
        #expect(problems == [])
        try realm.beginWrite()
        try box.delete()
        try realm.commit()
        problems = try realm.check()
        #expect(problems == [])
    }

    @Test func `random trees of values stay what they are`() throws {
        for item in Campaign("nested collections", seconds: 4, atLeast: 3) {
            try run(item, steps: 25)
        }
    }

    private func run(_ item: Campaign.Case, steps: Int) throws {
        let directory = TemporaryDirectory()
        let path = directory.file()
        var random = item.random
        var realm = try Self.open(path)
        try realm.write {
            _ = try realm.create("Box", primaryKey: .int(1))
            _ = try realm.create("Box", primaryKey: .int(2))
        }
        var model: [Tree] = []
        var entries: [String: Tree] = [:]
        var committed = (model, entries)
        for step in 0..<steps {
            try realm.beginWrite()
            let box = try #require(try realm.find("Box", primaryKey: .int(1)))
            let list = try root(box, "list", .list)
            let dictionary = try root(box, "dict", .dictionary)
            for _ in 0..<(1 + random.below(6)) {
                try change(list, &model, &random, realm, depth: 0)
                try change(dictionary, &entries, &random, realm, depth: 0)
            }
            try realm.readTables().table(box.handle.classKey)?.checkOpenCollections()
            if random.below(4) == 0 {
                try realm.rollback()
                (model, entries) = committed
            } else {
                try realm.commit()
                committed = (model, entries)
            }
            if random.below(8) == 0 {
                realm.close()
                realm = try Self.open(path)
            }
            let again = try #require(try realm.find("Box", primaryKey: .int(1)))
            let found = try root(again, "list", .list).tree()
            #expect(found == .list(model), "seed \(item.seed), step \(step)")
            let pairs = try root(again, "dict", .dictionary).tree()
            #expect(pairs == .dictionary(entries), "seed \(item.seed), step \(step)")
            let problems = try realm.check()
            #expect(problems == [], "seed \(item.seed), step \(step)")
        }
    }

    private func makeTree(_ random: inout Random, _ realm: Realm, depth: Int) throws -> Tree {
        switch random.below(depth < 4 ? 10 : 6) {
        case 0: return .value(.int(Int64(random.below(1000))))
        case 1: return .value(.string("text \(random.below(100))"))
        case 2: return .value(.string(String(repeating: "x", count: random.below(6000))))
        case 3: return .value(.null)
        case 4: return .value(.double(Double(random.below(100))))
        case 5:
            let target = try #require(try realm.find("Box", primaryKey: .int(2)))
            return .value(.link(target.link))
        case 6, 7:
            let count = random.below(20) == 0 ? 400 : random.below(5)
            return .list(
                try (0..<count).map { _ in try makeTree(&random, realm, depth: depth + 1) })
        default:
            var result: [String: Tree] = [:]
            for _ in 0..<random.below(5) {
                result["key \(random.below(30))"] = try makeTree(&random, realm, depth: depth + 1)
            }
            return .dictionary(result)
        }
    }

    private func change(
        _ list: RealmCollection, _ model: inout [Tree], _ random: inout Random, _ realm: Realm,
        depth: Int
    ) throws {
        let index = model.isEmpty ? 0 : random.below(model.count)
        switch random.below(6) {
        case 0, 1:
            let tree = try makeTree(&random, realm, depth: depth)
            try list.put(tree, at: index)
            model.insert(tree, at: index)
        case 2 where !model.isEmpty:
            try list.remove(at: index)
            model.remove(at: index)
        case 3 where !model.isEmpty:
            let other = random.below(model.count)
            try list.move(from: index, to: other)
            model.insert(model.remove(at: index), at: other)
        case 4, 5:
            guard !model.isEmpty else { return }
            switch model[index] {
            case .list(var inner):
                try change(list.nested(index, .list), &inner, &random, realm, depth: depth + 1)
                model[index] = .list(inner)
            case .dictionary(var inner):
                try change(
                    list.nested(index, .dictionary), &inner, &random, realm, depth: depth + 1)
                model[index] = .dictionary(inner)
            case .value: return
            }
        default: return
        }
    }

    private func change(
        _ dictionary: RealmCollection, _ model: inout [String: Tree], _ random: inout Random,
        _ realm: Realm, depth: Int
    ) throws {
        let name = "key \(random.below(30))"
        guard let old = model[name], random.below(4) > 0 else {
            let tree = try makeTree(&random, realm, depth: depth)
            // A collection over one of the same kind keeps its content.
            _ = try Value.string(name).withRaw { raw throws(RealmError) in
                try dictionary.remove(key: raw)
            }
            try dictionary.put(name, tree)
            model[name] = tree
            return
        }
        let index = try #require(
            try Value.string(name).withRaw { raw throws(RealmError) in
                try dictionary.find(key: raw)
            })
        switch old {
        case .list(var inner):
            try change(dictionary.nested(index, .list), &inner, &random, realm, depth: depth + 1)
            model[name] = .list(inner)
        case .dictionary(var inner):
            try change(
                dictionary.nested(index, .dictionary), &inner, &random, realm, depth: depth + 1)
            model[name] = .dictionary(inner)
        case .value:
            _ = try Value.string(name).withRaw { raw throws(RealmError) in
                try dictionary.remove(key: raw)
            }
            model[name] = nil
        }
    }
}
