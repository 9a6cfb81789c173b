// Random programs beside observers of results over values: of lists, sets and dictionaries, as they are,
// filtered, sorted and told apart. What each is told leads from what it saw to what is there.

import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite(.serialized) struct ValueObserverTests {
    private static let schema = Schema([
        ClassSchema(
            "Holder",
            properties: [
                PropertySchema("list", .int, collection: .list),
                PropertySchema("set", .int, collection: .set),
                PropertySchema("map", .int, collection: .dictionary),
                PropertySchema("any", .mixed, collection: .list, flags: .nullable),
            ])
    ])

    /// Results with the values that were there when it was told last.
    private final class Replay {
        let name: String
        let results: ValueResults
        var state: [Value] = []
        var told: [ElementChanges] = []
        var token: NotificationToken?

        init(_ name: String, _ results: ValueResults) throws {
            self.name = name
            self.results = results
            state = try values()
            let handle = UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque())
            token = try results.observe(handle: handle) { [unowned self] in told.append($0) }
        }

        func values() throws -> [Value] {
            try (0..<results.count()).map { try Value(try results.get($0)) }
        }

        func problem() throws -> String? {
            defer { told = [] }
            guard told.count <= 1 else { return "\(name): \(told.count) calls" }
            let now = try values()
            guard let changes = told.first else {
                return now == state ? nil : "\(name): \(state) became \(now), and none was told"
            }
            var next: [Value] = state
            for index in changes.deletions.indexes.reversed() {
                guard index < next.count else { return "\(name): deletion \(index)" }
                next.remove(at: index)
            }
            for index in changes.insertions.indexes {
                guard index <= next.count, index < now.count else {
                    return "\(name): insertion \(index) of \(now.count)"
                }
                next.insert(now[index], at: index)
            }
            let gone = Set(changes.deletions.indexes)
            let new = Set(changes.insertions.indexes)
            let after = changes.modificationsAfter.indexes
            guard changes.modifications.count == after.count else {
                return "\(name): modifications differ"
            }
            for (before, place) in zip(changes.modifications.indexes, after) {
                guard !gone.contains(before), !new.contains(place), place < next.count,
                    place < now.count
                else { return "\(name): \(before) is modified at \(place)" }
                next[place] = now[place]
            }
            for move in changes.moves where !gone.contains(move.from) || !new.contains(move.to) {
                return "\(name): \(move.from) was not moved to \(move.to)"
            }
            guard next == now else {
                return "\(name): \(state) by \(changes) became \(next), is \(now)"
            }
            if changes.wasCleared, !now.isEmpty { return "\(name): cleared, and has \(now)" }
            state = now
            return nil
        }
    }

    @Test func `what observers of values are told leads from what they saw to what is there`()
        throws
    {
        for item in Campaign("observers of values", seconds: 3, atLeast: 3) {
            let directory = TemporaryDirectory()
            let configuration = TestSchema.configuration(directory.file(), Self.schema)
            let writer = try Realm.open(configuration)
            let reader = try Realm.open(configuration)
            var random = item.random
            var key = ObjectKey.invalid
            try writer.write { key = try writer.create("Holder").key }
            _ = try reader.refresh()
            let classKey = try #require(reader.schema.class_(named: "Holder")).key
            let holder = DynamicObject(try reader.object(classKey, key))
            let target = DynamicObject(try writer.object(classKey, key))
            var replays: [Replay] = []
            for name in ["list", "set", "map", "any"] {
                let plain = try #require(
                    try holder.collection(name).results() as? ValueResults)
                replays.append(try Replay(name, plain))
                for text in [
                    "SELF > 20", "SELF > 10 SORT(SELF DESC)", "TRUEPREDICATE DISTINCT(SELF)",
                    "TRUEPREDICATE SORT(SELF ASC) LIMIT(3)",
                ] {
                    replays.append(try Replay("\(name) \(text)", try plain.filter(text)))
                }
                if name == "map" {
                    replays.append(try Replay("keys", try holder.collection(name).keyResults()))
                }
            }
            _ = try reader.refresh()
            for replay in replays {
                #expect(replay.told.count == 1 && replay.told.first?.isEmpty == true)
                replay.told = []
            }
            for round in 0..<25 {
                for _ in 0...random.below(2) {
                    try writer.write { try Self.change(target, &random, 1 + random.below(8)) }
                }
                _ = try reader.refresh()
                for replay in replays {
                    let problem = try replay.problem()
                    try #require(
                        problem == nil, "seed \(item.seed), round \(round): \(problem ?? "")")
                }
            }
            replays = []
            writer.close()
            reader.close()
        }
    }

    private static func change(
        _ holder: DynamicObject, _ random: inout Random, _ steps: Int
    ) throws {
        for _ in 0..<steps {
            let value = RawValue.int(Int64(random.below(40)))
            let list = try holder.collection(random.below(2) == 0 ? "list" : "any")
            let count = try list.count()
            let bag = try holder.collection("set")
            let map = try holder.collection("map")
            switch random.below(12) {
            case 0, 1: try list.insert(value, at: random.below(count + 1))
            case 2 where count > 0: try list.set(value, at: random.below(count))
            case 3 where count > 0: try list.remove(at: random.below(count))
            case 4 where count > 0:
                try list.move(from: random.below(count), to: random.below(count))
            case 5 where random.below(5) == 0: try list.removeAll()
            case 6: _ = try bag.insert(value)
            case 7: _ = try bag.remove(value)
            case 8 where random.below(5) == 0: try bag.removeAll()
            case 9 where random.below(5) == 0: try map.removeAll()
            case let choice where choice > 9:
                try Value.string("k\(random.below(12))").withRaw { key throws(RealmError) in
                    if choice == 10 {
                        _ = try map.insert(value, key: key)
                    } else {
                        _ = try map.remove(key: key)
                    }
                }
            default: break
            }
        }
    }
}
