import Glibc
import Testing

@testable import CoreSwift
@testable import TestSupport

/// Commits of blocks that become one version of the file: to the program they are commits as others.
@Suite(.serialized) struct GroupedCommitTests {
    private let directory = TemporaryDirectory()

    private func open(_ files: FileSystem = SystemCalls.shared) throws -> Realm {
        try Realm.open(ObjectWorkload.configuration(directory.file()), files: files)
    }

    private func tag(_ realm: Realm, _ name: String) throws {
        _ = try realm.create("Tag", primaryKey: .string(name), ["weight": .double(1)])
    }

    private func names(_ realm: Realm) throws -> [String] {
        let tags = try realm.objects("Tag")
        return try (0..<tags.count()).map { index in
            let tag = DynamicObject(try tags.object(index))
            guard case .string(let name) = try tag.get("name") else { return "" }
            return name
        }.sorted()
    }

    private func syncs(_ files: RecordingFileSystem) -> Int {
        files.events.count { if case .sync = $0 { true } else { false } }
    }

    private func headers(_ files: RecordingFileSystem) -> Int {
        files.events.count {
            if case .write(let offset, let bytes) = $0 {
                return offset <= Page.size && bytes.count == FileHeader.slotBytes
            }
            return false
        }
    }

    @Test func `blocks that commit one after another are one version, with a number each`() throws {
        let files = RecordingFileSystem()
        let realm = try open(files)
        let group = try BlockGroup(realm)
        _ = try realm.refresh()
        let first = try #require(realm.version)
        let before = headers(files)
        var seen: [UInt64] = []
        for number in 0..<200 {
            try group.commit { [self] in
                seen.append(realm.version ?? 0)
                if number % 10 == 0 { #expect(try names(realm).count == number) }
                try tag(realm, "tag \(number)")
            }
        }
        // However slow the machine is, they are of one turn.
        realm.asynchronous?.longTurn = 3_600_000_000_000
        try group.drain()
        #expect(headers(files) - before < 100)
        #expect(seen == (0..<200).map { first + $0 })
        #expect(realm.version == first + 200)
        #expect(try names(realm).count == 200)
        #expect(try realm.check() == [])
        realm.close()
        let again = try open()
        #expect(try names(again).count == 200)
        #expect(again.version == first + 200)
        again.close()
    }

    @Test func `a block that is rolled back is undone alone`() throws {
        let realm = try open()
        let group = try BlockGroup(realm)
        _ = try realm.refresh()
        let first = try #require(realm.version)
        for number in 0..<40 {
            if number % 4 == 1 {
                // It throws, rolls back, or leaves the transaction open.
                try group.run { [self] in
                    let before = try names(realm)
                    try tag(realm, "lost \(number)")
                    try realm.find("Tag", primaryKey: .string("tag 0"))?.delete()
                    if number % 8 == 1 {
                        try realm.rollback()
                        #expect(try names(realm) == before)
                    }
                }
            } else {
                try group.commit { [self] in try tag(realm, "tag \(number)") }
            }
        }
        try group.drain()
        #expect(realm.version == first + 30)
        let expected = (0..<40).filter { $0 % 4 != 1 }.map { "tag \($0)" }.sorted()
        #expect(try names(realm) == expected)
        #expect(try realm.check() == [])
        realm.close()
    }

    /// Everything that looks at the version in between, in the block after its commit and before it.
    @Test func `who needs a version in between gets it`() throws {
        let realm = try open()
        let other = try open()
        let group = try BlockGroup(realm)
        _ = try realm.refresh()
        let first = try #require(realm.version)
        var frozen: [(Realm, Int)] = []
        var held: ThreadSafeReference?
        for number in 0..<60 {
            try group.run { [self] in
                let version = first + UInt64(number)
                #expect(realm.version == version)
                // Before the change and after: in the transaction both are without it.
                if number % 6 == 1 { frozen.append((try realm.freeze(), number)) }
                let outer = try realm.savepoint()
                try tag(realm, "lost \(number)")
                let inner = try realm.savepoint()
                if number > 0 {
                    try realm.find("Tag", primaryKey: .string("tag \(number - 1)"))?.delete()
                }
                if number % 6 == 2 { frozen.append((try realm.freeze(), number)) }
                if number % 6 == 3 {
                    _ = try other.refresh()
                    #expect(try names(other).count == number)
                }
                if number % 2 == 0 { try realm.rollback(to: inner) }
                try realm.rollback(to: outer)
                let item = try realm.create("Tag", primaryKey: .string("tag \(number)"))
                if number % 6 == 4 { held = try ThreadSafeReference(item.handle) }
                try realm.commitAsynchronously(allowsGrouping: true) { #expect($0 == nil) }
                switch number % 6 {
                case 0: frozen.append((try realm.freeze(), number + 1))
                case 1:
                    _ = try other.refresh()
                    #expect(try names(other).count == number + 1)
                    #expect(other.version == realm.version)
                case 2: #expect(try names(realm).count == number + 1)
                case 3: #expect(realm.version == version + 1)
                case 4:
                    let found = try held?.object(in: other)
                    #expect(found?.isValid == true)
                    found?.release()
                default: break
                }
            }
        }
        try group.drain()
        group.turn(0)
        #expect(try names(realm).count == 60)
        #expect(realm.version == first + 60)
        #expect(frozen.count == 30)
        for (version, count) in frozen {
            #expect(try names(version).count == count)
            version.close()
        }
        #expect(try realm.check() == [])
        other.close()
        realm.close()
    }

    @Test func `other commits take those before them along`() throws {
        let realm = try open()
        let other = try open()
        let group = try BlockGroup(realm)
        _ = try realm.refresh()
        let first = try #require(realm.version)
        for number in 0..<30 {
            switch number % 5 {
            case 1:
                try group.run { [self] in
                    try tag(realm, "tag \(number)")
                    try realm.commit()
                    #expect(try names(realm).count == number + 1)
                }
            case 2:
                try group.commit(allowsGrouping: false) { [self] in
                    try tag(realm, "tag \(number)")
                }
            case 3:
                // Behind its commit the block writes through another realm of the thread, or this one.
                try group.run { [self] in
                    try tag(realm, "tag \(number)")
                    try realm.commitAsynchronously(allowsGrouping: true) { #expect($0 == nil) }
                    let writer = number % 2 == 0 ? other : realm
                    try writer.beginWrite()
                    #expect(try names(writer).count == number + 1)
                    try writer.rollback()
                }
            default: try group.commit { [self] in try tag(realm, "tag \(number)") }
            }
        }
        try group.drain()
        #expect(realm.version == first + 30)
        #expect(try names(realm).count == 30)
        other.close()
        realm.close()
    }

    @Test func `a realm that is closed in a block keeps what was committed`() throws {
        for inTransaction in [false, true] {
            let realm = try open()
            let group = try BlockGroup(realm)
            let before = try names(realm).count
            for number in 0..<3 {
                try group.commit { [self] in try tag(realm, "\(inTransaction) \(number)") }
            }
            try group.run { [self] in
                try tag(realm, "\(inTransaction) last")
                if !inTransaction {
                    try realm.commitAsynchronously(allowsGrouping: true) { #expect($0 == nil) }
                }
                realm.close()
            }
            try group.run {}
            group.turns { realm.isClosed }
            #expect(realm.isClosed)
            #expect(group.completed == 4, "\(inTransaction)")
            let again = try open()
            #expect(try names(again).count == before + (inTransaction ? 3 : 4))
            #expect(try again.check() == [])
            again.close()
        }
    }

    @Test func `observers hear of all that was committed, in this realm and in another`() throws {
        let realm = try open()
        let other = try open()
        let group = try BlockGroup(realm)
        let otherGroup = try BlockGroup(other)
        var calls = 0
        let changes = try realm.addChangeObserver { calls += 1 }
        let tags = try other.objects("Tag")
        let handle = UnsafeRawPointer(Unmanaged.passUnretained(tags).toOpaque())
        var inserted = 0
        let token = try tags.observe(handle: handle) { inserted += $0.insertions.count }
        for number in 0..<50 {
            try group.commit { [self] in try tag(realm, "tag \(number)") }
        }
        // One observer comes in the middle: from then on each commit is written.
        let own = try realm.objects("Tag")
        let ownHandle = UnsafeRawPointer(Unmanaged.passUnretained(own).toOpaque())
        var ownInserted = 0
        var ownToken: NotificationToken?
        try group.commit { [self] in
            ownToken = try own.observe(handle: ownHandle) {
                ownInserted += $0.insertions.count
            }
            try tag(realm, "last")
        }
        for number in 50..<60 {
            try group.commit { [self] in try tag(realm, "tag \(number)") }
        }
        try group.drain()
        otherGroup.turns { inserted >= 61 }
        #expect(calls >= 61)
        #expect(inserted == 61)
        #expect(ownInserted == 11)
        changes.invalidate()
        token.invalidate()
        ownToken?.invalidate()
        other.close()
        realm.close()
    }

    @Test func `the log of a consumer has every commit by itself`() throws {
        let realm = try open()
        let group = try BlockGroup(realm)
        try group.commit { [self] in try tag(realm, "before") }
        try group.commit { try realm.addLogConsumer("audit") }
        for number in 0..<20 {
            try group.commit {
                let known = try realm.find("Tag", primaryKey: .string("before"))
                try known?.set("weight", .double(Double(number)))
            }
        }
        try group.drain()
        let from = try #require(try realm.logConsumers.first).acknowledged
        var weights: [Double] = []
        var versions: Set<UInt64> = []
        try realm.readLog(from: from) { operation in
            versions.insert(operation.version)
            if operation.kind == .set, case .double(let weight)? = try? Value(operation.value) {
                weights.append(weight)
            }
            return true
        }
        #expect(weights == (0..<20).map { Double($0) })
        #expect(versions.count == 20)
        realm.close()
    }

    @Test func `what can't be written is told to all of the group`() throws {
        let files = RecordingFileSystem()
        let realm = try open(files)
        let group = try BlockGroup(realm)
        try group.commit { [self] in try tag(realm, "first") }
        try group.drain()
        let before = try names(realm)
        // Told, or out of the call: the last block commits by itself, and so does one whose turn is over.
        var failed: [Int] = []
        var refused: [Int] = []
        for number in 0..<10 {
            try group.run { [self] in
                try tag(realm, "tag \(number)")
                files.writesFailWith = ENOSPC
                do {
                    try realm.commitAsynchronously(allowsGrouping: true) { failure in
                        if failure?.code == .outOfDiskSpace { failed.append(number) }
                    }
                } catch let error as RealmError {
                    #expect(error.code == .outOfDiskSpace)
                    refused.append(number)
                    throw error
                }
            }
        }
        group.turns { failed.count + refused.count >= 10 }
        files.writesFailWith = nil
        #expect(failed == failed.sorted() && failed.count >= 1)
        #expect(refused.last == 9)
        #expect((failed + refused).sorted() == Array(0..<10))
        #expect(throws: RealmError.self) { try group.drain() }
        #expect(try names(realm) == before)
        // And it works again.
        try group.commit { [self] in try tag(realm, "again") }
        try group.drain()
        #expect(try names(realm).count == before.count + 1)
        #expect(try realm.check() == [])
        realm.close()
    }

    /// Three times four blocks; true when somebody was told of an error.
    private func runWithFault(_ files: RecordingFileSystem, _ path: String) throws -> Bool {
        let configuration = ObjectWorkload.configuration(path)
        var acknowledged: Set<String> = []
        var tried: Set<String> = []
        var hadError = false
        for round in 0..<3 {
            var opened: Realm?
            for _ in 0..<3 where opened == nil {
                do { opened = try Realm.open(configuration, files: files) } catch {
                    hadError = true
                }
            }
            let realm = try #require(opened)
            let group = try BlockGroup(realm)
            func failed() {
                hadError = true
                group.hasFailed = true
            }
            var left = 0
            for index in 0..<4 {
                let name = "\(round) \(index)"
                let block = { [self] () throws -> Void in
                    do {
                        try tag(realm, name)
                        tried.insert(name)
                        try realm.commitAsynchronously(allowsGrouping: true) { failure in
                            left -= 1
                            if failure == nil { acknowledged.insert(name) } else { failed() }
                        }
                        left += 1
                    } catch {
                        failed()
                    }
                }
                do { try group.run(block) } catch { failed() }
            }
            do { try group.drain() } catch { hadError = true }
            group.turns { left == 0 }
            guard left == 0 else {
                throw ToyFailure(description: "\(left) completions are missing")
            }
            realm.close()
            group.turn(0)
            let found = try Realm.open(configuration)
            let names = Set(try names(found))
            guard names.isSuperset(of: acknowledged), names.isSubset(of: tried) else {
                throw ToyFailure(
                    description: "\(names.sorted()), acknowledged \(acknowledged.sorted())")
            }
            let problems = try found.check()
            guard problems.isEmpty else { throw ToyFailure(description: problems.joined()) }
            found.close()
        }
        return hadError || acknowledged.count < 12
    }

    @Test(arguments: [EIO, ENOSPC, EINTR])
    func `every system call may fail once`(code: Int32) throws {
        var number = 1
        var reported = 0
        while true {
            let path = directory.file("fault-\(code)-\(number).realm")
            let files = RecordingFileSystem()
            files.isRecording = false
            files.faults[number] = .error(code)
            do {
                if try runWithFault(files, path) { reported += 1 }
            } catch {
                Issue.record("call \(number) (\(files.lastFault)) failing with \(code): \(error)")
                return
            }
            unlink(path)
            unlink(path + ".lock")
            if files.calls < number { break }
            number += 1
        }
        print("grouped faults: \(number - 1) calls failed with \(code), \(reported) reported")
        #expect(number > 50)
        #expect(code == EINTR ? reported == 0 : reported > number / 3)
    }

    @Test func `transactions that threads wait in share syncs`() throws {
        let files = RecordingFileSystem()
        files.isRecording = false
        var patient = ObjectWorkload.configuration(directory.file())
        // Under a sanitizer no other comes within 0.3 ms.
        patient.sharedWaitMax = 100_000_000
        let configuration = patient
        let keeper = try Realm.open(configuration, files: files)
        let first = try #require(try keeper.refresh() ? keeper.version : keeper.version)
        let before = files.syncCount
        files.syncTakes = 2000
        let each = 25
        onThreads(8) { number in
            do {
                let realm = try Realm.open(configuration, files: files)
                for index in 0..<each {
                    try realm.write {
                        _ = try realm.create(
                            "Tag", primaryKey: .string("\(number) \(index)"),
                            ["weight": .double(1)])
                    }
                    #expect(try realm.find("Tag", primaryKey: .string("\(number) \(index)")) != nil)
                }
                realm.close()
            } catch {
                Issue.record("\(error)")
            }
        }
        files.syncTakes = 0
        // One each would be 200.
        #expect(files.syncCount - before <= 8 * each / 2, "\(files.syncCount - before)")
        _ = try keeper.refresh()
        #expect(try names(keeper).count == 8 * each)
        #expect(keeper.version == first + UInt64(8 * each))
        #expect(try keeper.check() == [])
        // A sync that fails fails all that wait for it, and nothing is taken for durable.
        files.killAtSync = files.syncCount + 1
        let failed = Counter()
        onThreads(4) { number in
            let realm = try? Realm.open(configuration, files: files)
            do {
                try realm?.write {
                    _ = try realm?.create("Tag", primaryKey: .string("lost \(number)"))
                }
            } catch { failed.add() }
            realm?.close()
        }
        #expect(failed.value > 0)
        keeper.close()
    }

    @Test func `threads with a realm each group their commits`() throws {
        let keeper = try open()
        let path = directory.file()
        let each = TestSettings.number("REALM_RACE_STEPS", 60)
        onThreads(4) { number in
            do {
                let realm = try Realm.open(ObjectWorkload.configuration(path))
                let group = try BlockGroup(realm)
                for index in 0..<each {
                    try group.commit {
                        _ = try realm.create(
                            "Tag", primaryKey: .string("\(number) \(index)"),
                            ["weight": .double(1)])
                    }
                    if index % 20 == 7 { _ = try realm.refresh() }
                    if index % 20 == 13 { try group.drain() }
                }
                try group.drain()
                realm.close()
                group.turn(0)
            } catch {
                Issue.record("\(error)")
            }
        }
        _ = try keeper.refresh()
        #expect(try names(keeper).count == 4 * each)
        #expect(try keeper.check() == [])
        keeper.close()
    }
}
