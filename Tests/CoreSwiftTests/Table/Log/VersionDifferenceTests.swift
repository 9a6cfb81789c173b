// Comparing into operations: what they are applied to becomes equal.

import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite struct VersionDifferenceTests {
    private func open(_ path: String, _ schema: Schema = ChangeDoorTests.schema) throws -> Realm {
        try Realm.open(TestSchema.configuration(path, schema))
    }

    private func run(_ realm: Realm, _ program: inout RandomProgram, _ steps: Int) throws {
        try realm.beginWrite()
        for _ in 0..<steps { try program.step() }
        try realm.commit()
    }

    private func apply(_ difference: VersionDifference, to realm: Realm) throws {
        try realm.write {
            var applier = LogApplier(try realm.tablesForWriting())
            try applier.apply(difference.operations)
            try realm.tablesForWriting().checkInvariants()
        }
    }

    /// Applies what leads from the realm's state to `goal`, which must then be equal.
    private func leads(_ realm: Realm, to goal: TableSet, _ place: String) throws {
        try realm.write {
            let tables = try realm.tablesForWriting()
            let difference = try VersionDifference(from: tables, to: goal)
            var applier = LogApplier(tables)
            do {
                try applier.apply(difference.operations)
            } catch {
                throw ToyFailure(description: "\(place): \(error)")
            }
            try tables.checkInvariants()
        }
        #expect(try realm.check() == [], "\(place)")
        let made = try NamedModel(try realm.readTables())
        let wanted = try NamedModel(goal)
        guard made == wanted else {
            throw ToyFailure(description: "\(place): \(made.differences(wanted))")
        }
        let left = try VersionDifference(from: try realm.readTables(), to: goal)
        var operations = left.operations
        var told: [String] = []
        while told.count < 5, let operation = try operations.next() { told.append("\(operation)") }
        #expect(left.isEmpty, "\(place): \(told)")
    }

    @Test func `operations between two versions lead from each to the other`() throws {
        for item in Campaign("difference of versions", seconds: 4, atLeast: 3) {
            let directory = TemporaryDirectory()
            let realm = try open(directory.file())
            var program = RandomProgram(realm, seed: item.seed)
            try run(realm, &program, 200)
            let path = directory.file("mirror.realm")
            try realm.writeCopy(to: path)
            let mirror = try open(path)
            let other = directory.file("other.realm")
            try realm.writeCopy(to: other)
            let twin = try open(other)
            var before = try realm.freeze()
            for transaction in 0..<5 {
                let place = "seed \(item.seed), transaction \(transaction)"
                for _ in 0...program.random.below(2) {
                    try run(realm, &program, 1 + program.random.below(transaction < 2 ? 200 : 30))
                }
                let after = try realm.freeze()
                let old = try before.readTables()
                let new = try after.readTables()
                let forwards = try VersionDifference(from: old, to: new)
                var model = try ReplayModel(old)
                try model.applyAll(forwards.operations, new)
                let stored = try ReplayModel(new)
                try #require(stored == model, "\(place): \(stored.differences(model))")
                // Of the two versions themselves, which share blocks.
                try apply(forwards, to: mirror)
                try equals(mirror, stored, place)
                try apply(try VersionDifference(from: new, to: old), to: mirror)
                try equals(mirror, try ReplayModel(old), place + ", back")
                try apply(forwards, to: mirror)
                try equals(mirror, stored, place + ", again")
                #expect(try mirror.check() == [], "\(place)")
                // Of a copy, which shares none, and has other keys by and by.
                try leads(twin, to: new, place + ", copy")
                before.close()
                before = after
            }
            before.close()
            mirror.close()
            twin.close()
            realm.close()
        }
    }

    private func equals(_ realm: Realm, _ model: ReplayModel, _ place: String) throws {
        let now = try ReplayModel(try realm.readTables())
        try #require(now == model, "\(place): \(now.differences(model))")
    }

    /// A file with the same classes and properties, made in another order: all keys are others.
    private func openTurned(_ path: String) throws -> Realm {
        var classes = ChangeDoorTests.schema.classes
        for index in classes.indices { classes[index].properties.reverse() }
        try open(path, Schema(classes.filter { ["Screw", "All"].contains($0.name) })).close()
        return try Realm.open(TestSchema.configuration(path, Schema(classes), version: 2))
    }

    @Test(arguments: [false, true])
    func `operations between two files that never knew each other lead from each to the other`(
        isTurned: Bool
    ) throws {
        for item in Campaign("difference of files", seconds: 3, atLeast: 3) {
            let directory = TemporaryDirectory()
            let first = try open(directory.file("first.realm"))
            let path = directory.file("second.realm")
            let second = isTurned ? try openTurned(path) : try open(path)
            var random = item.random
            var one = RandomProgram(first, seed: item.seed)
            var other = RandomProgram(second, seed: item.seed &+ 1)
            for round in 0..<4 {
                let place = "seed \(item.seed), round \(round)"
                try run(first, &one, 1 + random.below(200))
                try run(second, &other, 1 + random.below(200))
                let isBack = random.below(2) == 0
                let from = isBack ? second : first
                let to = isBack ? first : second
                try leads(from, to: try to.readTables(), place)
            }
            first.close()
            second.close()
        }
    }

    @Test func `embedded objects in another order are moved, and keep what they are`() throws {
        let directory = TemporaryDirectory()
        let realm = try CreationSchema.open(directory.file())
        var random = Random(3)
        try realm.beginWrite()
        let list = try realm.create("Node", primaryKey: .string("n")).collection("parts")
        for index in 0..<12 { try list.insertEmbedded(at: index).release() }
        try realm.commit()
        for _ in 0..<60 {
            let before = try realm.freeze()
            try realm.write {
                for _ in 0...random.below(4) {
                    let count = try list.count()
                    switch random.below(4) {
                    case 0 where count > 3: try list.remove(at: random.below(count))
                    case 1: try list.insertEmbedded(at: random.below(count + 1)).release()
                    default: try list.move(from: random.below(count), to: random.below(count))
                    }
                }
            }
            let old = try before.readTables()
            let new = try realm.readTables()
            let difference = try VersionDifference(from: old, to: new)
            var model = try ReplayModel(old)
            try model.applyAll(difference.operations, new)
            #expect(try model == ReplayModel(new))
            // Only those that went are deleted.
            let gone = try VersionComparison(from: old, to: new).summary().classes
                .flatMap { $0.deleted.keys }
            var told: [ObjectKey] = []
            var operations = difference.operations
            while let operation = try operations.next() {
                if case .deleted(_, let range) = operation {
                    var some = KeyRanges()
                    some.insert(range)
                    told += some.keys
                }
            }
            #expect(told == gone)
            try before.freezeCheck(difference, directory, ReplayModel(new))
            before.close()
        }
        realm.close()
    }

    /// Two files whose lists have the same parts in the same places, though the keys of these are the other way round.
    @Test(arguments: [false, true])
    func `embedded objects that have the same values stay where they are`(differ: Bool) throws {
        let directory = TemporaryDirectory()
        let realm = try CreationSchema.open(directory.file())
        try realm.beginWrite()
        let list = try realm.create("Node", primaryKey: .string("n")).collection("parts")
        for index in 0..<2 { try list.insertEmbedded(at: index).release() }
        try realm.commit()
        let path = directory.file("mirror.realm")
        try realm.writeCopy(to: path)
        let mirror = try CreationSchema.open(path)
        try realm.write {
            try list.move(from: 0, to: 1)
            guard differ else { return }
            // What they hold counts, too.
            let part = try #require(try list.object(0))
            let screw = try #require(
                realm.schema.class_(named: "Part")?.property(named: "screw"))
            try part.createEmbedded(screw.key).release()
            part.release()
        }
        let difference = try VersionDifference(
            from: try mirror.readTables(), to: try realm.readTables())
        var kinds: [CollectionOperation.Kind] = []
        var operations = difference.operations
        while let operation = try operations.next() {
            if case .collection(_, let operation, _) = operation { kinds.append(operation.kind) }
        }
        #expect(kinds == (differ ? [.moved] : []))
        #expect(difference.isEmpty == !differ)
        realm.close()
        mirror.close()
    }

    @Test func `files with other classes or properties are not compared`() throws {
        let directory = TemporaryDirectory()
        let one = try CreationSchema.open(directory.file("one.realm"))
        func message(_ change: (inout [ClassSchema]) -> Void) throws -> String {
            var classes = CreationSchema.schema.classes
            change(&classes)
            let path = directory.file("other.realm")
            let other = try open(path, Schema(classes))
            defer {
                other.close()
                _ = try? Realm.deleteFiles(path)
            }
            var messages: [String] = []
            for (from, to) in [(one, other), (other, one)] {
                do throws(RealmError) {
                    _ = try VersionDifference(
                        from: try from.readTables(), to: try to.readTables())
                } catch {
                    #expect(error.code == .schemaMismatch)
                    messages.append(error.message)
                }
            }
            #expect(messages.count == 2)
            return messages.first ?? ""
        }
        func index(_ name: String) throws -> Int {
            try #require(CreationSchema.schema.classes.firstIndex { $0.name == name })
        }
        let leaf = try index("Leaf")
        let all = try index("All")
        #expect(try message { $0[leaf].properties[0].flags = [.nullable] }.contains("Leaf.text"))
        #expect(try message { $0[leaf].properties.removeLast() }.contains("Leaf.any"))
        let withoutKey = try message {
            $0[all].primaryKey = ""
            $0[all].properties[0].flags = []
        }
        #expect(withoutKey.contains("All"))
        let more = ClassSchema("More", properties: [PropertySchema("a", .int)])
        #expect(try message { $0.append(more) }.contains("More"))
        one.close()
    }

    // MARK: Origin

    @Test func `the log of a file tells whose operations were applied to it`() throws {
        let directory = TemporaryDirectory()
        let source = try CreationSchema.open(directory.file("source.realm"))
        let target = try CreationSchema.open(directory.file("target.realm"))
        try source.write { _ = try source.create("Leaf", ["text": .string("theirs")]) }
        try target.write { try target.tablesForWriting().addConsumer("unsent") }
        let start = try #require(target.version)
        let difference = try VersionDifference(
            from: try target.readTables(), to: try source.readTables())
        for origin in [0, 7, 1 << 40] as [UInt64] {
            try target.write {
                let tables = try target.tablesForWriting()
                var applier = LogApplier(tables, origin: origin)
                let step =
                    origin == 0
                    ? difference
                    : try VersionDifference(
                        from: tables, to: try source.readTables())
                try applier.apply(step.operations)
            }
            try source.write { _ = try source.create("Leaf", ["text": .string("\(origin)")]) }
        }
        try target.write { _ = try target.create("Leaf", ["text": .string("ours")]) }
        let tables = try target.readTables()
        let log = try #require(ChangeLog(tables))
        var operations = try #require(try log.changes(from: start, to: tables.version))
        var origins: [UInt64?] = []
        while let operation = try operations.next() {
            if case .version(_, _, let origin) = operation { origins.append(origin) }
        }
        #expect(origins == [0, 7, 1 << 40, nil])
        try target.beginWrite()
        _ = try target.create("Leaf")
        var applier = LogApplier(try target.tablesForWriting(), origin: 7)
        #expect(
            errorCode { try applier.apply(difference.operations) } == .wrongTransactionState)
        try target.rollback()
        source.close()
        target.close()
    }
}

extension ReplayModel {
    mutating func applyAll(_ operations: ChangeOperations, _ tables: TableSet) throws {
        var operations = operations
        var deleted: [ChangeOperation] = []
        while let operation = try operations.next() {
            // As the applier does: what goes is there until all else has happened.
            if case .deleted = operation {
                deleted.append(operation)
            } else {
                try apply(operation, tables)
            }
        }
        for operation in deleted { try apply(operation, tables) }
    }
}

extension Realm {
    /// Applies a difference to a copy of this frozen realm, which must then be `model`.
    fileprivate func freezeCheck(
        _ difference: VersionDifference, _ directory: TemporaryDirectory, _ model: ReplayModel
    ) throws {
        let path = directory.file("copy.realm")
        try writeCopy(to: path)
        let copy = try CreationSchema.open(path)
        try copy.write {
            var applier = LogApplier(try copy.tablesForWriting())
            try applier.apply(difference.operations)
            try copy.tablesForWriting().checkInvariants()
        }
        #expect(try ReplayModel(try copy.readTables()) == model)
        copy.close()
        _ = try Realm.deleteFiles(path)
    }
}
