// Observers of realms, objects and collections: on the main actor, on queues, on actors.

import Foundation
import Testing

@_spi(RealmSwiftTesting) @testable import RealmSwift

/// What an observer was told.
final class Log: @unchecked Sendable {
    private let lock = NSLock()
    private var lines: [String] = []
    var all: [String] { lock.withLock { lines } }
    func add(_ line: String) { lock.withLock { lines.append(line) } }

    func add<C: RealmCollection>(_ change: RealmCollectionChange<C>) {
        switch change {
        case .initial(let collection): add("initial \(collection.count)")
        case .update(_, let deletions, let insertions, let modifications):
            add("-\(deletions) +\(insertions) ~\(modifications)")
        case .error(let error): add("\(error)")
        }
    }

    /// Waits until so many lines are there, a minute at most.
    func wait(_ count: Int) async throws -> [String] {
        for _ in 0..<30_000 where all.count < count { try await Task.sleep(nanoseconds: 2_000_000) }
        return all
    }
}

actor Keeper {
    var realm: Realm?
    private var token: NotificationToken?
    let log = Log()

    func open(_ configuration: Realm.Configuration) async throws {
        realm = try await Realm(configuration: configuration, actor: self)
    }

    func add(_ name: String) async throws {
        guard let realm else { return }
        try await realm.asyncWrite { _ = realm.create(Dog.self, value: ["name": name]) }
    }

    func observe() async {
        guard let realm else { return }
        token = await realm.objects(Dog.self).observe(on: self) { actor, change in
            actor.log.add(change)
        }
    }

    func count() -> Int { realm?.objects(Dog.self).count ?? -1 }
    func close() { realm?.core.close() }
}

@Suite struct NotificationTests {
    @MainActor @Test func collectionsTellWhatChanged() async throws {
        let realm = try Realm(configuration: memory())
        let log = Log()
        let token = realm.objects(Dog.self).sorted(byKeyPath: "age").observe { log.add($0) }
        #expect(try await log.wait(1) == ["initial 0"])
        try realm.write { for age in [1, 3, 5] { realm.create(Dog.self, value: ["age": age]) } }
        #expect(try await log.wait(2).last == "-[] +[0, 1, 2] ~[]")
        try realm.write {
            realm.create(Dog.self, value: ["age": 2])
            realm.objects(Dog.self).where { $0.age == 5 }.first?.name = "old"
            realm.delete(realm.objects(Dog.self).where { $0.age == 1 })
        }
        #expect(try await log.wait(3).last == "-[0] +[0] ~[2]")
        token.invalidate()
        try realm.write { realm.deleteAll() }
        try await Task.sleep(nanoseconds: 30_000_000)
        #expect(log.all.count == 3)
    }

    @MainActor @Test func listsSetsAndMapsTellWhatChanged() async throws {
        let realm = try Realm(configuration: memory())
        let it = Everything()
        try realm.write { realm.add(it) }
        let log = Log()
        let tokens = [
            it.ints.observe { log.add($0) },
            it.intSet.observe { log.add($0) },
            it.scores.observe { change in
                switch change {
                case .initial(let map): log.add("initial \(map.count)")
                case .update(_, let deletions, let insertions, let modifications):
                    log.add("-\(deletions) +\(insertions) ~\(modifications)")
                case .error: log.add("error")
                }
            },
        ]
        #expect(try await log.wait(3) == ["initial 0", "initial 0", "initial 0"])
        try realm.write { it.ints.append(objectsIn: [1, 2]) }
        #expect(try await log.wait(4).last == "-[] +[0, 1] ~[]")
        try realm.write { it.intSet.insert(1) }
        #expect(try await log.wait(5).last == "-[] +[0] ~[]")
        try realm.write { it.scores["a"] = 1 }
        #expect(try await log.wait(6).last == "-[] +[\"a\"] ~[]")
        try realm.write { it.scores["a"] = 2 }
        #expect(try await log.wait(7).last == "-[] +[] ~[\"a\"]")
        _ = tokens
    }

    @MainActor @Test func objectsTellOldAndNewValues() async throws {
        let realm = try Realm(configuration: memory())
        let dog = Dog(value: ["name": "Rex", "age": 1])
        try realm.write { realm.add(dog) }
        let log = Log()
        let all = dog.observe { change in
            switch change {
            case .change(let object, let properties):
                for one in properties {
                    log.add(
                        "\(object.name): \(one.name) \(one.oldValue ?? "nil") \(one.newValue ?? "nil")"
                    )
                }
            case .deleted: log.add("deleted")
            case .error: log.add("error")
            }
        }
        let some = dog.observe(keyPaths: [\.age]) { change in
            if case .change = change { log.add("age") }
        }
        try await Task.sleep(nanoseconds: 20_000_000)
        try realm.write { dog.nick = "R" }
        #expect(try await log.wait(1) == ["Rex: nick nil R"])
        some.invalidate()
        try realm.write { dog.age = 2 }
        #expect(try await log.wait(2).last == "Rex: age 1 2")
        try realm.write { realm.delete(dog) }
        #expect(try await log.wait(3).last == "deleted")
        all.invalidate()
        #expect(
            misuse { _ = Dog().observe { _ in } }
                == "Only objects which are managed by a Realm support change notifications")
    }

    @MainActor @Test func realmsTellTransactionsAndTokensAreSkipped() async throws {
        let realm = try Realm(configuration: memory())
        let log = Log()
        let token = realm.observe { notification, _ in log.add(notification.rawValue) }
        let results = realm.objects(Dog.self).observe { log.add($0) }
        #expect(try await log.wait(1) == ["initial 0"])
        try realm.write(withoutNotifying: [results]) { realm.create(Dog.self) }
        #expect(try await log.wait(2).last == "RLMRealmDidChangeNotification")
        try realm.write(withoutNotifying: [token]) { realm.create(Dog.self) }
        #expect(try await log.wait(3).last == "-[] +[1] ~[]")
        try await Task.sleep(nanoseconds: 20_000_000)
        #expect(log.all.count == 3)
    }

    @MainActor @Test func changesOfOtherThreadsAreTold() async throws {
        let configuration = memory()
        let realm = try Realm(configuration: configuration)
        let log = Log()
        let token = realm.objects(Dog.self).observe { log.add($0) }
        #expect(try await log.wait(1) == ["initial 0"])
        Thread {
            guard let there = try? Realm(configuration: configuration) else { return }
            try? there.write { _ = there.create(Dog.self, value: ["name": "Rex"]) }
        }.start()
        #expect(try await log.wait(2).last == "-[] +[0] ~[]")
        #expect(realm.objects(Dog.self).first?.name == "Rex")
        token.invalidate()
    }

    @MainActor @Test func realmsStayWhereTheyAreIfTheyAreToldTo() async throws {
        let configuration = memory()
        let realm = try Realm(configuration: configuration)
        #expect(realm.autorefresh)
        let log = Log()
        let tokens = [
            realm.observe { notification, _ in log.add(notification.rawValue) },
            realm.objects(Dog.self).observe { log.add($0) },
        ]
        #expect(try await log.wait(1) == ["initial 0"])
        realm.autorefresh = false
        let add = {
            onAnotherThread {
                let there = try? Realm(configuration: configuration)
                try? there?.write { _ = there?.create(Dog.self) }
            }
        }
        add()
        #expect(try await log.wait(2).last == "RLMRealmRefreshRequiredNotification")
        #expect(realm.isEmpty && !realm.autorefresh)
        #expect(realm.refresh() && realm.objects(Dog.self).count == 1)
        #expect(log.all.dropFirst(2) == ["RLMRealmDidChangeNotification", "-[] +[0] ~[]"])
        // Writing shows what there is, and one's own writes are told.
        add()
        #expect(try await log.wait(5).last == "RLMRealmRefreshRequiredNotification")
        try realm.write { _ = realm.create(Dog.self) }
        #expect(realm.objects(Dog.self).count == 3)
        #expect(try await log.wait(9).dropFirst(5).contains("-[] +[2] ~[]"))
        // What came meanwhile is shown when it follows again.
        add()
        #expect(try await log.wait(10).last == "RLMRealmRefreshRequiredNotification")
        realm.autorefresh = true
        #expect(try await log.wait(12).last == "-[] +[3] ~[]")
        for token in tokens { token.invalidate() }
        let frozen = realm.freeze()
        frozen.autorefresh = false
        #expect(!frozen.autorefresh)
        #expect(
            misuse { frozen.autorefresh = true }
                == "Auto-refresh cannot be enabled for frozen Realms."
        )
    }

    /// The block of an observer is the place to refresh.
    @MainActor @Test func observersRefreshTheRealmThatAsksForIt() async throws {
        let configuration = memory()
        let realm = try Realm(configuration: configuration)
        realm.autorefresh = false
        let log = Log()
        let token = realm.observe { notification, realm in
            log.add("\(notification) \(realm.objects(Dog.self).count)")
            if notification == .refreshRequired { log.add("\(realm.refresh())") }
        }
        onAnotherThread {
            let there = try? Realm(configuration: configuration)
            try? there?.write { _ = there?.create(Dog.self) }
        }
        #expect(try await log.wait(3) == ["refreshRequired 0", "didChange 1", "true"])
        token.invalidate()
    }

    @MainActor @Test func blocksAreCalledOnQueues() async throws {
        let realm = try Realm(configuration: memory())
        let queue = DispatchQueue(label: "observer")
        let log = Log()
        let token = realm.objects(Dog.self).observe(on: queue) { change in
            dispatchPrecondition(condition: .onQueue(queue))
            log.add(change)
        }
        #expect(try await log.wait(1) == ["initial 0"])
        let dog = Dog(value: ["name": "Rex"])
        try realm.write { realm.add(dog) }
        #expect(try await log.wait(2).last == "-[] +[0] ~[]")
        let other = dog.observe(on: queue) { change in
            if case .change(let object, _) = change { log.add(object.name) }
        }
        // It has begun there.
        queue.sync {}
        try realm.write { dog.name = "Max" }
        let lines = try await log.wait(4)
        #expect(Set(lines.suffix(2)) == ["Max", "-[] +[] ~[0]"])
        token.invalidate()
        other.invalidate()
        queue.sync {}
    }

    @Test func realmsBelongToQueues() throws {
        let configuration = memory()
        let queue = DispatchQueue(label: "owner")
        try queue.sync {
            let realm = try Realm(configuration: configuration, queue: queue)
            try realm.write { _ = realm.create(Dog.self) }
            #expect(try Realm(configuration: configuration, queue: queue) == realm)
            #expect(realm.objects(Dog.self).count == 1)
        }
        #expect(
            misuse { _ = try? Realm(configuration: configuration, queue: queue) }
                == "Realm opened from incorrect dispatch queue.")
    }

    /// Dispatch makes another object for it at each call.
    @MainActor @Test func theMainQueueIsTheMainActor() throws {
        let configuration = memory()
        let realm = try Realm(configuration: configuration)
        #expect(try Realm(configuration: configuration, queue: .main) == realm)
        #expect(try Realm(configuration: configuration, queue: .main) == realm)
        #expect(realm.isEmpty)
    }

    @Test func queuesAreKnownAgainByWhatTheyAre() throws {
        let configuration = memory()
        let queues = [DispatchQueue(label: "a"), DispatchQueue(label: "b")]
        let realms = try queues.map { queue in
            try queue.sync { UncheckedBox(try Realm(configuration: configuration, queue: queue)) }
        }
        try queues[1].sync {
            #expect(realms[1].value.isEmpty)
            let again = try Realm(configuration: configuration, queue: queues[1])
            #expect(again == realms[1].value)
        }
        // `sync` works on the thread that calls it, `async` doesn't.
        let text = Log()
        let done = DispatchSemaphore(value: 0)
        queues[1].async {
            text.add(misuse { _ = realms[0].value.isEmpty } ?? "none")
            done.signal()
        }
        done.wait()
        #expect(text.all == ["Realm accessed from incorrect thread."])
        // A queue that runs on another one is at home on both.
        let inner = DispatchQueue(label: "inner", target: queues[0])
        inner.sync { #expect(realms[0].value.isEmpty) }
    }

    @Test func realmsBelongToActors() async throws {
        let configuration = memory()
        let keeper = Keeper()
        try await keeper.open(configuration)
        await keeper.observe()
        #expect(try await keeper.log.wait(1) == ["initial 0"])
        try await keeper.add("Rex")
        #expect(await keeper.count() == 1)
        #expect(try await keeper.log.wait(2).last == "-[] +[0] ~[]")
        await keeper.close()
    }

    @MainActor @Test func changesAreSequences() async throws {
        let realm = try Realm(configuration: memory())
        var seen: [String] = []
        for await change in realm.objects(Dog.self).changes {
            switch change {
            case .initial: seen.append("initial")
            case .update(let dogs, _, let insertions, _): seen.append("\(dogs.count) \(insertions)")
            case .error: seen.append("error")
            }
            if seen.count == 3 { break }
            try realm.write { _ = realm.create(Dog.self) }
        }
        #expect(seen == ["initial", "1 [0]", "2 [1]"])
    }

    @MainActor @Test func asynchronousTransactions() async throws {
        let realm = try Realm(configuration: memory())
        let log = Log()
        realm.writeAsync {
            realm.create(Dog.self, value: ["name": "Rex"])
            log.add("block")
        } onComplete: { error in
            log.add(error == nil ? "done" : "failed")
        }
        #expect(realm.isPerformingAsynchronousWriteOperations && realm.isEmpty)
        #expect(try await log.wait(2) == ["block", "done"])
        #expect(realm.objects(Dog.self).first?.name == "Rex")
        let count = try await realm.asyncWrite {
            realm.create(Dog.self)
            return realm.objects(Dog.self).count
        }
        #expect(count == 2)
        struct Stop: Error {}
        await #expect(throws: Stop.self) {
            try await realm.asyncWrite {
                realm.create(Dog.self)
                throw Stop()
            }
        }
        #expect(realm.objects(Dog.self).count == 2)
        let number = realm.beginAsyncWrite { log.add("never") }
        try realm.cancelAsyncWrite(number)
        #expect(throws: Realm.Error.self) { try realm.cancelAsyncWrite(number) }
    }

    @MainActor @Test func observersEndWithTheirTokens() async throws {
        let realm = try Realm(configuration: memory())
        let log = Log()
        var token: NotificationToken? = realm.objects(Dog.self).observe { log.add($0) }
        #expect(try await log.wait(1) == ["initial 0"])
        #expect(token != nil)
        token = nil
        try realm.write { _ = realm.create(Dog.self) }
        try await Task.sleep(nanoseconds: 20_000_000)
        #expect(log.all.count == 1)
        let frozen = realm.objects(Dog.self).freeze()
        #expect(
            misuse { _ = frozen.observe { _ in } }
                == "Frozen Realms do not change and do not have change notifications.")
        #expect(
            misuse { _ = List<Dog>().observe { _ in } }
                == "Change notifications are only supported on managed collections.")
    }

    @Test func threadsWithoutRunLoopsObserveNothing() throws {
        let text = onAnotherThread {
            (try? Realm(configuration: memory())).flatMap { realm in
                misuse { _ = realm.objects(Dog.self).observe { _ in } }
            }
        }
        #expect(text == "Can only add notification blocks from within runloops.")
    }

    @MainActor @Test func openingInTheBackgroundTellsHowFarMigrationsAre() async throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("realm-progress-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var configuration = Realm.Configuration(
            fileURL: folder.appendingPathComponent("a.realm"), objectTypes: [OldSettings.self])
        do {
            let realm = try Realm(configuration: configuration)
            try realm.write { realm.create(OldSettings.self, value: [1]) }
        }
        configuration.objectTypes = [Settings.self]
        configuration.schemaVersion = 1
        let log = Log()
        let newer = configuration
        nonisolated(unsafe) var opening: Realm.AsyncOpenTask?
        let title = try await withCheckedThrowingContinuation { continuation in
            opening = Realm.asyncOpen(configuration: newer) { result in
                continuation.resume(
                    with: result.map { $0.objects(Settings.self).first?.title ?? "" })
            }
            opening?.addProgressNotification { part in
                MainActor.assumeIsolated { log.add("\(part)") }
            }
        }
        #expect(title == "untitled")
        #expect(try await log.wait(1).last == "1.0")
        // Who comes when all is done hears of that.
        let late = Log()
        opening?.addProgressNotification { part in
            MainActor.assumeIsolated { late.add("\(part)") }
        }
        #expect(try await late.wait(1) == ["1.0"])
    }

    @MainActor @Test func openingInTheBackground() async throws {
        let configuration = memory()
        let realm = try await withCheckedThrowingContinuation { continuation in
            Realm.asyncOpen(configuration: configuration) { result in
                continuation.resume(with: result.map { UncheckedBox($0) })
            }
        }.value
        #expect(realm.isEmpty)
        try realm.write { _ = realm.create(Dog.self) }
    }
}
