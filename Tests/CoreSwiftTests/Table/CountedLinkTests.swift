// Inverse indexes of lists, in which an object may link to another one several times: random
// programs against plain Swift values, and merges that fail half-way, also of plain links.

import Glibc
import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite struct CountedLinkTests {
    private static let schema = Schema([
        ClassSchema(
            "Target", primaryKey: "id",
            properties: [PropertySchema("id", .int, flags: [.primaryKey])]),
        ClassSchema(
            "Source", primaryKey: "id",
            properties: [
                PropertySchema("id", .int, flags: [.primaryKey]),
                PropertySchema("links", .object, collection: .list, linkTarget: "Target"),
                PropertySchema("any", .mixed, collection: .list, flags: [.nullable]),
                PropertySchema("to", .object, linkTarget: "Target", flags: [.nullable]),
            ]),
    ])

    private let directory = TemporaryDirectory()

    private func open() throws -> Realm {
        try Realm.open(TestSchema.configuration(directory.file(), Self.schema))
    }

    private func table(_ realm: Realm, _ name: String) throws -> Table {
        try realm.table(try #require(realm.schema.class_(named: name)?.key))
    }

    private func collection(_ realm: Realm, _ source: Int, _ name: String) throws
        -> RealmCollection
    {
        try #require(try realm.find("Source", primaryKey: .int(Int64(source)))).collection(name)
    }

    private func insert(_ target: DynamicObject, into list: RealmCollection, at index: Int) throws {
        try Value.link(target.link).withRaw { raw throws(RealmError) in
            try list.insert(raw, at: index)
        }
    }

    /// The sources of every target as the lists have them: ascending, as often as they link.
    private func expectSources(_ realm: Realm, _ lists: [[Int]], _ targets: Int) throws {
        let table = try table(realm, "Source")
        let target = try #require(realm.schema.class_(named: "Target")?.key)
        var expected = [[ObjectKey]](repeating: [], count: targets)
        for (source, list) in lists.enumerated() {
            for target in list { expected[target].append(ObjectKey(source)) }
        }
        for column in [1, 2] {
            for id in 0..<targets {
                let found = try table.sources(of: ObjectKey(id), in: target, column: column)
                #expect(found == expected[id], "sources of target \(id) in column \(column)")
                let count = try table.sourceCount(of: ObjectKey(id), in: target, column: column)
                #expect(count == expected[id].count)
            }
        }
    }

    /// The same of plain links.
    private func expectLinks(_ realm: Realm, _ links: [Int?], _ targets: Int) throws {
        let table = try table(realm, "Source")
        let target = try #require(realm.schema.class_(named: "Target")?.key)
        var expected = [[ObjectKey]](repeating: [], count: targets)
        for (source, target) in links.enumerated() {
            if let target { expected[target].append(ObjectKey(source)) }
        }
        for id in 0..<targets {
            let found = try table.sources(of: ObjectKey(id), in: target, column: 3)
            #expect(found == expected[id], "sources of target \(id)")
        }
    }

    private func fill(_ realm: Realm, _ lists: [[Int]], _ targets: Int) throws {
        try realm.write {
            let objects = try (0..<targets).map {
                try realm.create("Target", primaryKey: .int(Int64($0)))
            }
            for (source, list) in lists.enumerated() {
                let object = try realm.create("Source", primaryKey: .int(Int64(source)))
                for name in ["links", "any"] {
                    let links = try object.collection(name)
                    for (index, target) in list.enumerated() {
                        try insert(objects[target], into: links, at: index)
                    }
                }
            }
        }
    }

    /// Lists of up to six, in which every third element repeats one before it.
    private func randomLists(_ count: Int, _ targets: Int, _ random: inout Random) -> [[Int]] {
        (0..<count).map { _ in
            var list: [Int] = []
            for _ in 0..<Int.random(in: 0..<7, using: &random) {
                let repeated =
                    Int.random(in: 0..<3, using: &random) == 0
                    ? list.randomElement(using: &random) : nil
                list.append(repeated ?? Int.random(in: 0..<targets, using: &random))
            }
            return list
        }
    }

    @Test(arguments: [(targets: 2, sources: 300), (40, 2_000), (3_000, 1_500)])
    func `links of lists count as often as they are there`(targets: Int, sources: Int) throws {
        var random = Random(TestSettings.seed("counted links"))
        let realm = try open()
        var lists = randomLists(sources, targets, &random)
        try fill(realm, lists, targets)
        #expect(try realm.check() == [])
        try expectSources(realm, lists, targets)
        for _ in 0..<4 {
            try realm.beginWrite()
            for step in 0..<1_000 {
                let source = Int.random(in: 0..<sources, using: &random)
                let isInsertion =
                    lists[source].isEmpty || Int.random(in: 0..<5, using: &random) < 3
                let index = Int.random(
                    in: 0..<lists[source].count + (isInsertion ? 1 : 0), using: &random)
                let known = lists[source].randomElement(using: &random)
                let target =
                    step.isMultiple(of: 2) ? known : Int.random(in: 0..<targets, using: &random)
                for name in ["links", "any"] {
                    let list = try collection(realm, source, name)
                    if isInsertion {
                        let object = try realm.find("Target", primaryKey: .int(Int64(target ?? 0)))
                        try insert(try #require(object), into: list, at: index)
                    } else {
                        try list.remove(at: index)
                    }
                }
                if isInsertion {
                    lists[source].insert(target ?? 0, at: index)
                } else {
                    lists[source].remove(at: index)
                }
                if step == 500 { try expectSources(realm, lists, targets) }
            }
            try realm.commit()
            #expect(try realm.check() == [])
            try expectSources(realm, lists, targets)
        }
    }

    /// Pages of the leaves of the inverse index of a column, in order.
    private func inverseLeaves(_ realm: Realm, column: Int) throws -> [UInt64] {
        let table = try table(realm, "Source")
        let tree = try #require(try table.inverseTree(column))
        #expect(tree.depth == 1)
        let branch = try tree.branch(tree.rootPlace, 1)
        return (0..<branch.count).map { BlockReference(branch.reference($0)).page }
    }

    private func invert(_ page: UInt64) throws {
        let descriptor = Glibc.open(directory.file(), O_RDWR | O_CLOEXEC)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        var byte: UInt8 = 0
        let offset = Int(page) * 4096 + 100
        try #require(pread(descriptor, &byte, 1, offset) == 1)
        byte = ~byte
        try #require(pwrite(descriptor, &byte, 1, offset) == 1)
    }

    /// A block of the index turns out to be damaged when some of its leaves are merged already:
    /// the transaction goes on as before, and everything is there when the block is.
    @Test(arguments: [1, 2])
    func `a merge that fails changes nothing`(column: Int) throws {
        var random = Random(TestSettings.seed("failing merge"))
        let (targets, sources) = (4_000, 3_000)
        var lists = randomLists(sources, targets, &random)
        let name = column == 1 ? "links" : "any"
        let pages: [UInt64] = try {
            let realm = try open()
            defer { realm.close() }
            try fill(realm, lists, targets)
            return try inverseLeaves(realm, column: column)
        }()
        try #require(pages.count >= 4)
        let realm = try open()
        try realm.beginWrite()
        func change(_ ids: StrideTo<Int>) throws {
            for id in ids {
                let source = Int.random(in: 0..<sources, using: &random)
                let object = try #require(try realm.find("Target", primaryKey: .int(Int64(id))))
                for name in ["links", "any"] {
                    let list = try collection(realm, source, name)
                    for _ in 0..<3 { try insert(object, into: list, at: 0) }
                }
                lists[source] = [id, id, id] + lists[source]
            }
        }
        // The first leaves become memory of the transaction.
        try change(stride(from: 0, to: 300, by: 3))
        let table = try table(realm, "Source")
        let target = try #require(realm.schema.class_(named: "Target")?.key)
        _ = try table.sourceCount(of: 0, in: target, column: column)
        try invert(try #require(pages.last))
        try change(stride(from: 0, to: targets, by: 7))
        for _ in 0..<3 {
            let code = errorCode {
                _ = try table.sourceCount(of: 0, in: target, column: column)
            }
            #expect(code == .invalidDatabase)
        }
        try invert(try #require(pages.last))
        try expectSources(realm, lists, targets)
        try realm.commit()
        #expect(try realm.check() == [])
        try expectSources(realm, lists, targets)
        for source in stride(from: 0, to: sources, by: 100) {
            let list = try collection(realm, source, name)
            #expect(try list.count() == lists[source].count)
        }
    }

    /// The same, where a merge looks at a leaf only when it changes it.
    @Test func `a merge of plain links that fails changes nothing`() throws {
        var random = Random(TestSettings.seed("failing merge of links"))
        let (targets, sources) = (4_000, 16_000)
        var links = [Int?](repeating: nil, count: sources)
        func set(_ realm: Realm, _ source: Int, _ target: Int) throws {
            let object = try #require(try realm.find("Source", primaryKey: .int(Int64(source))))
            let other = try #require(try realm.find("Target", primaryKey: .int(Int64(target))))
            try object.set("to", .link(other.link))
            links[source] = target
        }
        let pages: [UInt64] = try {
            let realm = try open()
            defer { realm.close() }
            try fill(realm, [[Int]](repeating: [], count: sources), targets)
            try realm.write {
                for source in 0..<sources where source % 80 != 0 {
                    try set(realm, source, Int.random(in: 0..<targets, using: &random))
                }
            }
            return try inverseLeaves(realm, column: 3)
        }()
        try #require(pages.count >= 4)
        let realm = try open()
        try realm.beginWrite()
        // The first leaf becomes memory of the transaction, and no other one is looked at.
        for target in 0..<100 { try set(realm, target * 80, target) }
        let table = try table(realm, "Source")
        #expect(try table.inverseTree(3) != nil)
        try invert(try #require(pages.last))
        for target in stride(from: 0, to: targets, by: 7) { try set(realm, target * 2, target) }
        for _ in 0..<3 {
            #expect(errorCode { _ = try table.inverseTree(3) } == .invalidDatabase)
        }
        try invert(try #require(pages.last))
        try expectLinks(realm, links, targets)
        try realm.commit()
        #expect(try realm.check() == [])
        try expectLinks(realm, links, targets)
    }
}
