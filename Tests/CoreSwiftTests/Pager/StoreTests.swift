import Testing

@testable import CoreSwift

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
}
