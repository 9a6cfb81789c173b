// Random programs beside observers of everything: what each is told leads from what it saw to what is
// there, and the fast way tells what the general one does.

import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite(.serialized) struct NotificationReplayTests {
    private static let schema = Schema([
        ClassSchema(
            "Item", primaryKey: "id",
            properties: [
                PropertySchema("id", .int, flags: .primaryKey),
                PropertySchema("name", .string),
                PropertySchema("rank", .int),
                PropertySchema("group", .int, flags: .nullable),
                PropertySchema("score", .double, flags: .nullable),
                PropertySchema("born", .timestamp, flags: [.nullable, .indexed]),
                PropertySchema("cost", .decimal128, flags: .nullable),
                PropertySchema("next", .object, linkTarget: "Item", flags: .nullable),
                PropertySchema("dept", .object, linkTarget: "Dept", flags: .nullable),
                PropertySchema("friends", .object, collection: .list, linkTarget: "Item"),
                PropertySchema("peers", .object, collection: .set, linkTarget: "Item"),
                PropertySchema("ints", .int, collection: .list),
            ],
            computedProperties: [
                PropertySchema(
                    "before", .linkingObjects, collection: .list, linkTarget: "Item",
                    linkOrigin: "next")
            ]),
        ClassSchema(
            "Dept",
            properties: [
                PropertySchema("name", .string),
                PropertySchema("budget", .int),
                PropertySchema("head", .object, linkTarget: "Item", flags: .nullable),
            ]),
        ClassSchema("Other", properties: [PropertySchema("text", .string)]),
    ])

    private static let queries = [
        "TRUEPREDICATE", "rank < 50", "rank < 50 AND group != 30", "NOT rank < 50",
        "rank < 60 SORT(name ASC)", "rank < 60 SORT(rank DESC, name ASC)",
        "TRUEPREDICATE SORT(name DESC)", "TRUEPREDICATE SORT(group ASC) SORT(rank ASC)",
        "name BEGINSWITH 't' SORT(score ASC)", "rank > 3 SORT(born DESC, id DESC)",
        "TRUEPREDICATE SORT(cost ASC)", "ints.@count > 1 SORT(rank ASC)", "ANY ints > 50",
        "dept.budget > 30", "dept.budget > 30 SORT(rank ASC)", "next.rank < 40 SORT(next.name ASC)",
        "next.next.rank < 40", "next == NULL SORT(dept.budget DESC, rank ASC)",
        "TRUEPREDICATE SORT(dept.head.rank ASC)", "ANY friends.rank > 50", "friends.@count > 1",
        "@links.@count > 1", "before.@count > 0 SORT(rank ASC)",
        "rank < 50 SORT(name ASC) LIMIT(10)",
        "TRUEPREDICATE DISTINCT(group)", "SUBQUERY(friends, $f, $f.rank > 30).@count > 0",
        "id > 50 SORT(rank ASC)", "name IN {'t1', 't2', 't3'} OR rank == 7",
    ]
    private static let paths = [
        "name", "dept.budget", "next.next.rank", "friends.name", "dept.head.next",
    ]

    @Test func `what observers are told leads from what they saw to what is there`() throws {
        for item in Campaign("observers", seconds: 6, atLeast: 3) {
            try replay(seed: item.seed, rounds: 12)
        }
    }

    @Test func `the same when all results are made anew`() throws {
        WatchedResults.alwaysRunsAgain = true
        defer { WatchedResults.alwaysRunsAgain = false }
        for item in Campaign("observers of results made anew", seconds: 2, atLeast: 1) {
            try replay(seed: item.seed, rounds: 6)
        }
    }

    private func replay(seed: UInt64, rounds: Int) throws {
        let directory = TemporaryDirectory()
        let configuration = TestSchema.configuration(directory.file(), Self.schema)
        let writer = try Realm.open(configuration)
        let reader = try Realm.open(configuration)
        var program = RandomProgram(writer, seed: seed)
        try write(writer, &program, steps: 200)
        _ = try reader.refresh()
        let item = try #require(reader.schema.class_(named: "Item"))
        var replays: [ElementReplay] = []
        var handles: [AnyObject] = []
        for (number, text) in Self.queries.enumerated() {
            let results = try reader.query(item.key, text).findAll()
            handles.append(results)
            for path in [nil, Self.paths[number % Self.paths.count]] {
                replays.append(try watch(results, text, path, reader, item))
            }
        }
        let all = try reader.results(item.key)
        let keys = try all.keys()
        var objects: [(key: ObjectKey, handle: ObjectHandle, told: Box)] = []
        var tokens: [NotificationToken] = []
        for key in keys.prefix(12) {
            let object = try reader.object(item.key, key)
            for name in ["friends", "peers"] {
                let property = try #require(item.property(named: name))
                let collection = try object.collection(property.key, property.collection)
                handles.append(collection)
                replays.append(try watch(collection, "\(name) of \(key)"))
                let results = try #require(try collection.results() as? Results)
                handles.append(results)
                replays.append(
                    try watch(results, "results of \(name) of \(key)", nil, reader, item))
                let sorted = try results.sorted("rank ASC")
                handles.append(sorted)
                replays.append(try watch(sorted, "sorted \(name) of \(key)", nil, reader, item))
            }
            let told = Box()
            tokens.append(try object.observe { told.changes.append($0) })
            objects.append((key, object, told))
        }
        _ = try reader.refresh()
        for replay in replays {
            #expect(replay.callCount == 1, "first call of \(replay.name)")
            let problem = try replay.check { _ in false }
            try #require(problem == nil, "seed \(seed): \(problem ?? "")")
        }
        for object in objects { object.told.changes = [] }
        for round in 0..<rounds {
            let before = try reader.freeze()
            for _ in 0...program.random.below(2) {
                try write(
                    writer, &program, steps: 1 + program.random.below(round % 4 == 3 ? 60 : 6))
            }
            _ = try reader.refresh()
            let tables = try reader.readTables()
            let summary = try ChangeSummary.make(from: try before.readTables(), to: tables)
            let reach = ForwardReach(tables: tables, summary: summary)
            for replay in replays {
                let problem = try replay.check { key in
                    guard let path = replay.path else { return try reach.reaches(item.key, key) }
                    return try reach.changed(item, key, along: path[...])
                }
                try #require(problem == nil, "seed \(seed), round \(round): \(problem ?? "")")
            }
            let changes = summary.changes(of: item.key)
            for object in objects where !object.told.isOver {
                let told = object.told.changes
                object.told.changes = []
                // One that comes with its key is another.
                object.told.isOver = told.contains { $0.isDeleted }
                var expected = ObjectChanges()
                expected.isDeleted = changes?.deleted.contains(object.key) ?? false
                expected.properties = changes?.properties(of: object.key) ?? []
                try #require(
                    told == (expected.isEmpty ? [] : [expected]), "seed \(seed), round \(round)")
            }
            before.close()
        }
        withExtendedLifetime((handles, tokens)) {}
        for object in objects { object.handle.release() }
        writer.close()
        reader.close()
    }

    private final class Box {
        var changes: [ObjectChanges] = []
        var isOver = false
    }

    private func write(_ realm: Realm, _ program: inout RandomProgram, steps: Int) throws {
        try realm.beginWrite()
        for _ in 0..<steps { try program.step() }
        try realm.commit()
    }

    private func watch(
        _ results: Results, _ name: String, _ path: String?, _ realm: Realm, _ item: ClassSchema
    ) throws -> ElementReplay {
        let filter = try path.map { try realm.keyPaths(item.key, [$0]) }
        let replay = try ElementReplay(
            name + (path.map { " by " + $0 } ?? ""), path?.split(separator: ".").map(String.init),
            isCollection: results.plain != nil
        ) { [unowned results] in
            try (0..<results.count()).map { index in
                let value = try results.get(index)
                return value.isNull ? Ordering.nullLink : value.linkTarget
            }
        }
        let handle = UnsafeRawPointer(Unmanaged.passUnretained(results).toOpaque())
        replay.token = try results.observe(filter, handle: handle) { [unowned replay] in
            replay.note($0)
        }
        return replay
    }

    private func watch(_ collection: RealmCollection, _ name: String) throws -> ElementReplay {
        let replay = try ElementReplay(name, nil, isCollection: true) { [unowned collection] in
            guard collection.isValid else { return [] }
            return try (0..<collection.count()).map { try collection.get($0).linkTarget }
        }
        replay.token = try collection.observe { [unowned replay] in replay.note($0) }
        return replay
    }
}
