import Testing

@testable import CoreSwift

/// Random workloads on a recording file system; after each write, images of the file as a crash
/// could leave it must open at the last acknowledged version or the one in flight.
///
/// REALM_CRASH_IMAGES sets the number of images, REALM_TEST_SEED the seed.
@Suite(.serialized) struct CrashTests {
    @Test func everyCrashImageOpensAtAnAcknowledgedVersionOrTheOneInFlight() throws {
        let wanted = TestSettings.number("REALM_CRASH_IMAGES", 2000)
        let seed = TestSettings.seed("crash images")
        var images = 0
        var workload: UInt64 = 0
        while images < wanted {
            let run = ToyCrashRun(seed: seed &+ workload &* 7919)
            do {
                images += try run.run()
            } catch {
                Issue.record("workload seed \(seed &+ workload &* 7919): \(error)")
                return
            }
            workload += 1
        }
        print("crash images: \(images) in \(workload) workloads")
    }
}

/// One workload of the toy client, with kills of its process, and the images of all its moments.
private final class ToyCrashRun {
    private var random: Random
    private let directory = TemporaryDirectory()
    private let files = RecordingFileSystem()
    private var stamp: UInt64 = 0

    /// What may be found: the acknowledged version, and models of versions tried after it.
    private struct Expectation {
        /// Number of events recorded when this became true.
        var events: Int
        var version: UInt64
        var model: ToyModel
        var inFlight: [ToyModel]
    }
    private var expectations: [Expectation] = []
    private var version: UInt64 = 0
    private var model: ToyModel = [:]
    private var inFlight: [ToyModel] = []

    init(seed: UInt64) {
        random = Random(seed)
        var options = StoreOptions()
        options.reservedBytes = 64 << 20
        if random.below(2) == 0 { options.spaceLimits = .tiny }
        self.options = options
    }

    func run() throws -> Int {
        note()
        for _ in 0..<(2 + random.below(4)) { try session() }
        return try replay()
    }

    private func note() {
        expectations.append(
            Expectation(
                events: files.events.count, version: version, model: model, inFlight: inFlight))
    }

    /// Opens the file, commits a few times, then closes it or dies somewhere.
    private func session() throws {
        files.revive()
        files.resetCalls()
        switch random.below(3) {
        case 0: files.killAfter = 1 + random.below(120)
        case 1: files.killAtSync = 1 + random.below(8)
        default: break
        }
        do {
            let store = try Store.open(path: directory.file(), options: options, files: files)
            let start = try store.pinNewest()
            // What recovery accepted is acknowledged now.
            if start.version == version + 1, version > 0 {
                guard
                    let found = inFlight.first(where: {
                        (try? ToyClient.verify(store, start, $0)) != nil
                    })
                else { throw ToyFailure(description: "recovered version fits no attempt") }
                model = found
            } else if version > 0, start.version != version {
                throw ToyFailure(
                    description: "reopened at version \(start.version), expected \(version)")
            }
            version = start.version
            inFlight = []
            note()
            try ToyClient.verify(store, start, model)
            store.unpin(start.version)
            var held: [UInt64] = []
            for _ in 0..<(1 + random.below(8)) {
                stamp += 1
                let changes = ToyClient.randomChanges(&random, stamp)
                var next = model
                for (leaf, stamp) in changes { next[leaf] = stamp }
                inFlight.append(next)
                note()
                let pin = try ToyClient.commit(store, &model, changes)
                version = pin.version
                inFlight = []
                note()
                if random.below(3) == 0 {
                    held.append(pin.version)
                } else {
                    store.unpin(pin.version)
                }
                if held.count > 2 { store.unpin(held.remove(at: random.below(held.count))) }
            }
            try store.close()
        } catch let error as RealmError {
            // A killed process reports errors nobody sees; others are failures.
            guard files.isDead else { throw error }
        }
    }

    private let options: StoreOptions

    /// Images between every two events.
    private func replay() throws -> Int {
        var replay = CrashReplay()
        var images = 0
        var expected = 0
        for (index, event) in files.events.enumerated() {
            for _ in 0..<6 {
                while expected + 1 < expectations.count, expectations[expected + 1].events <= index
                {
                    expected += 1
                }
                try examine(replay.image(&random), expectations[expected], index)
                images += 1
            }
            replay.advance(event)
        }
        return images
    }

    private func examine(_ image: FileImage, _ expectation: Expectation, _ index: Int) throws {
        let path = directory.file("image.realm")
        TestSettings.writeFile(path, image.bytes)
        let place = "crash before event \(index) of \(files.events.count)"
        do {
            let store = try Store.open(path: path, options: options, files: SystemCalls.shared)
            let pin = try store.pinNewest()
            let models =
                pin.version == expectation.version || expectation.version == 0
                ? [expectation.model]
                : pin.version == expectation.version + 1 ? expectation.inFlight : []
            guard !models.isEmpty else {
                throw ToyFailure(description: "opened at version \(pin.version)")
            }
            var failures: [String] = []
            var found: ToyModel?
            for model in models where found == nil {
                do {
                    try ToyClient.verify(store, pin, model)
                    found = model
                } catch { failures.append("\(error)") }
            }
            guard var model = found else {
                throw ToyFailure(description: failures.joined(separator: " | "))
            }
            store.unpin(pin.version)
            if random.below(4) == 0 {
                // Work goes on from what was found.
                let next = try ToyClient.commit(store, &model, [1: 1_000_000, 2: nil])
                try ToyClient.verify(store, next, model)
                store.unpin(next.version)
                try store.close()
                let again = try Store.open(path: path, options: options, files: SystemCalls.shared)
                let last = try again.pinNewest()
                try ToyClient.verify(again, last, model)
            }
        } catch {
            throw ToyFailure(
                description: "\(place), acknowledged version \(expectation.version): \(error)")
        }
    }
}
