import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite struct StoreTests {
    private let directory = TemporaryDirectory()

    private func open(_ options: StoreOptions = StoreOptions()) throws -> Store {
        try Store.open(path: directory.file(), options: options, files: SystemCalls.shared)
    }

    @Test func aNewFileIsVersionOneAndEmpty() throws {
        let store = try open()
        let pin = try store.pinNewest()
        #expect(pin.version == 1)
        #expect(pin.payloadCount == 0)
        #expect(store.newestVersion == 1)
        #expect(store.liveVersionCount() == 1)
        #expect(try store.check(reachable: []) == [])
        store.unpin(1)
        try store.close()
        try store.close()
    }

    @Test func commitsAreReadBackAfterReopening() throws {
        var model: ToyModel = [:]
        var random = Random(1)
        for round in 0..<10 {
            let store = try open()
            let start = try store.pinNewest()
            try ToyClient.verify(store, start, model)
            store.unpin(start.version)
            for step in 0..<20 {
                let changes = ToyClient.randomChanges(&random, UInt64(1 + round * 20 + step))
                let pin = try ToyClient.commit(store, &model, changes)
                #expect(pin.version == UInt64(2 + round * 20 + step))
                try ToyClient.verify(store, pin, model)
                store.unpin(pin.version)
            }
            try store.close()
        }
    }

    @Test func pinnedVersionsStayReadableWhileOthersAreWritten() throws {
        let store = try open()
        var model: ToyModel = [:]
        var random = Random(2)
        var held: [(Store.Pin, ToyModel)] = []
        for step in 1...300 {
            let pin = try ToyClient.commit(
                store, &model, ToyClient.randomChanges(&random, UInt64(step)))
            if random.below(4) == 0 { held.append((pin, model)) } else { store.unpin(pin.version) }
            if held.count > 5 {
                let (old, oldModel) = held.remove(at: random.below(held.count))
                try ToyClient.verify(store, old, oldModel)
                store.unpin(old.version)
            }
        }
        for (pin, oldModel) in held { try ToyClient.verify(store, pin, oldModel) }
        #expect(store.liveVersionCount() >= held.count)
    }

    @Test func twoStoresOfOneFileSeeEachOthersCommits() throws {
        let first = try open()
        let second = try open()
        var model: ToyModel = [:]
        var random = Random(3)
        for step in 1...100 {
            let writer = step % 3 == 0 ? second : first
            let reader = step % 3 == 0 ? first : second
            let pin = try ToyClient.commit(
                writer, &model, ToyClient.randomChanges(&random, UInt64(step)))
            #expect(reader.newestVersion == pin.version)
            let other = try reader.pinNewest()
            try ToyClient.verify(reader, other, model)
            reader.unpin(other.version)
            writer.unpin(pin.version)
        }
    }

    private func code(_ options: StoreOptions) -> ErrorCode? {
        do {
            _ = try open(options)
            return nil
        } catch let error as RealmError {
            return error.code
        } catch { return .unknown }
    }

    @Test func lockFilesOfAnotherLayoutInUseAreRefused() throws {
        let store = try open()
        let path = directory.file() + ".lock"
        let lock = try OpenFile(path, .readWrite, SystemCalls.shared)
        var layout: UInt32 = 99
        try lock.write(&layout, count: 4, at: 8, "change the layout")
        #expect(code(StoreOptions()) == .incompatibleLockFile)
        try store.close()
        // Nobody uses it any more: it is written anew.
        #expect(code(StoreOptions()) == nil)
    }

    @Test func aFileThatWasReplacedWhileOpenIsRefused() throws {
        let store = try open()
        let other = TemporaryDirectory()
        try Store.open(
            path: other.file(), options: StoreOptions(), files: SystemCalls.shared
        ).close()
        let bytes = TestSettings.readFile(other.file())
        _ = SystemCalls.shared.remove(directory.file())
        TestSettings.writeFile(directory.file(), bytes)
        #expect(code(StoreOptions()) == .incompatibleSession)
        try store.close()
        #expect(code(StoreOptions()) == nil)
    }

    @Test func readOnlyAndImmutableStoresDoNotWrite() throws {
        var model: ToyModel = [:]
        let writer = try open()
        writer.unpin(try ToyClient.commit(writer, &model, [1: 1, 2: 1]).version)
        // As if its process had died: nothing says that the version is on stable storage.
        let bytes = TestSettings.readFile(directory.file())
        try writer.close()
        TestSettings.writeFile(directory.file(), bytes)
        for isImmutable in [true, false] {
            var options = StoreOptions()
            options.immutable = isImmutable
            options.readOnly = true
            let store = try open(options)
            let pin = try store.pinNewest()
            try ToyClient.verify(store, pin, model)
            #expect(throws: RealmError.self) { try store.beginWrite(wait: true) }
            if !isImmutable {
                // A writer that joins goes on from there.
                let second = try open()
                let next = try ToyClient.commit(second, &model, [3: 7])
                try ToyClient.verify(second, next, model)
                try second.close()
            }
            try store.close()
        }
    }
}
