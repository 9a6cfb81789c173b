// Random trees: they are taken or refused, and what is refused changes nothing. What is taken is
// written as JSON and copied, and is then the same elsewhere.

import Testing

@testable import CoreSwift
@testable import TestSupport

private struct TreeMaker {
    var random: Random

    private static let names = [
        "name", "next", "others", "circle", "roles", "weight", "any", "anys", "anySet", "anyMap",
        "part", "parts", "partMap", "leaf", "howMany", "count", "text", "node", "leaves", "label",
        "size", "screw", "maker", "turns", "id", "int", "stringL", "decimalD", "$id", "$ref",
        "previous", "",
    ]

    mutating func tree(_ depth: Int) -> ValueTree {
        switch random.below(depth <= 0 ? 6 : 10) {
        case 0: return .null
        case 1: return .value(.int(Int64(random.below(6))))
        case 2, 3:
            return .value(.string(["a", "b", "c", "x", "2024-01-01", "AQI="][random.below(6)]))
        case 4: return .number(["1.5", "2.0", "1e999"][random.below(3)])
        case 5: return .value(.bool(true))
        case 6: return .list((0..<random.below(4)).map { _ in tree(depth - 1) })
        case 7: return .dictionary(entries(depth, ["k", "$oid", "a.b", "$link", "table", "key"]))
        default: return .dictionary(entries(depth, Self.names))
        }
    }

    private mutating func entries(_ depth: Int, _ names: [String]) -> [ValueTree.Entry] {
        (0..<random.below(5)).map { _ in
            .init(names[random.below(names.count)], tree(depth - 1))
        }
    }

    /// One that has a chance of being right.
    mutating func node(_ depth: Int) -> ValueTree {
        var entries: [ValueTree.Entry] = [.init("name", .value(.string("n\(random.below(8))")))]
        for name in ["next", "others", "circle", "roles", "part", "parts", "any", "leaf", "weight"]
        where random.below(3) == 0 {
            let isLast = depth <= 0
            switch name {
            case "next": entries.append(.init(name, isLast ? .null : node(depth - 1)))
            case "others", "circle":
                let count = isLast ? 0 : random.below(4)
                entries.append(.init(name, .list((0..<count).map { _ in node(depth - 1) })))
            case "roles":
                let value: ValueTree = isLast ? .null : node(depth - 1)
                entries.append(.init(name, ["k": value, "l": .null]))
            case "part": entries.append(.init(name, part(depth)))
            case "parts":
                entries.append(.init(name, .list((0..<random.below(3)).map { _ in part(depth) })))
            case "leaf":
                entries.append(
                    .init(name, ["text": "t", "node": isLast ? .null : node(depth - 1)]))
            case "weight": entries.append(.init(name, .value(.int(Int64(random.below(3))))))
            default: entries.append(.init(name, [1, ["k": [.null, "x"]], 1.5]))
            }
        }
        if depth == 3, random.below(3) == 0 { entries.append(.init("part", tree(depth))) }
        return .dictionary(entries)
    }

    private mutating func part(_ depth: Int) -> ValueTree {
        [
            "label": "p", "size": .value(.int(Int64(random.below(3)))),
            "maker": depth <= 0 ? .null : node(depth - 1),
            "screw": random.below(2) == 0 ? .null : ["turns": 1],
        ]
    }
}

@Suite struct CreationFuzzTests {
    private static let names = ["All", "Node", "Part", "Screw", "Leaf"]

    /// Everything that is in the realm, as text.
    private func content(_ realm: Realm) throws -> [String] {
        var texts: [String] = []
        for name in Self.names {
            let results = try realm.objects(name)
            for index in 0..<(try results.count()) {
                let object = try results.object(index)
                defer { object.release() }
                texts.append("\(name) \(object.objectKey): \(try object.jsonText())")
            }
        }
        return texts
    }

    @Test func `random trees are taken or refused, and what is refused changes nothing`() throws {
        for item in Campaign("creation fuzz", seconds: 3, atLeast: 1) {
            try run(item, rounds: 250)
        }
    }

    private func run(_ item: Campaign.Case, rounds: Int) throws {
        let directory = TemporaryDirectory()
        let realm = try CreationSchema.open(directory.file("one"))
        let other = try CreationSchema.open(directory.file("other"))
        var maker = TreeMaker(random: item.random)
        var taken = 0
        try realm.beginWrite()
        try other.beginWrite()
        for round in 0..<rounds {
            let className = round % 2 == 0 ? "Node" : Self.names[maker.random.below(5)]
            let tree = round % 2 == 0 ? maker.node(3) : maker.tree(4)
            let policy = [UpdatePolicy.modified, .all, .never][round / 2 % 7 % 3]
            let before = try content(realm)
            do {
                let object = try realm.create(
                    className, from: tree, update: policy, ignoresUnknown: round % 3 == 0)
                taken += 1
                let copy = try object.copy(to: other, update: .modified)
                var options = JSONOptions()
                options.linkDepth = 3
                let text = try object.handle.json(options)
                #expect(
                    try copy.get(className == "Node" ? "name" : className == "All" ? "id" : "text")
                        == object.get(
                            className == "Node" ? "name" : className == "All" ? "id" : "text"))
                if className != "Leaf" {
                    // Read back, it changes nothing.
                    let again = Creation(realm, .modified, ignoresUnknown: false)
                    let leaves = try realm.count("Leaf")
                    _ = try again.run(
                        try JSONReader.read(text), try realm.creationClass(named: className))
                    if try realm.count("Leaf") == leaves {
                        #expect(again.writtenCount == 0, "\(text)")
                    }
                }
            } catch {
                #expect(try content(realm) == before, "\(tree): \(error)")
            }
        }
        #expect(taken > 0)
        try realm.commit()
        try other.commit()
        #expect(try realm.check() == [])
        #expect(try other.check() == [])
    }
}
