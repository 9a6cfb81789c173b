// The crash campaign over any workload: random sessions on a recording file system, some of them
// killed, and for every moment images of the file as a crash could leave it then. Each image must
// open with the content of the last acknowledged commit or of the one in flight, pass the
// workload's checks, and take further commits.

@testable import CoreSwift

/// An opened file.
protocol CrashSession {
    associatedtype Model
    associatedtype Change
    var version: UInt64 { get }
    /// Reads everything and compares it; also checks the file's consistency.
    func verify(_ model: Model) throws
    func commit(_ change: Change) throws
    /// Whether all commits that returned are on stable storage.
    var isDurable: Bool { get }
    func close() throws
}

extension CrashSession {
    var isDurable: Bool { true }
}

protocol CrashWorkload {
    associatedtype Session: CrashSession
    var emptyModel: Session.Model { get }
    func open(_ path: String, _ files: FileSystem) throws -> Session
    /// Opens an image that is only read.
    func openToRead(_ path: String) throws -> Session
    /// A change and what it makes of the model.
    mutating func plan(
        _ model: Session.Model, _ random: inout Random
    ) -> (change: Session.Change, result: Session.Model)
}

extension CrashWorkload {
    func openToRead(_ path: String) throws -> Session { try open(path, SystemCalls.shared) }
}

final class CrashCampaign<Workload: CrashWorkload> {
    typealias Model = Workload.Session.Model

    private var random: Random
    private var workload: Workload
    private let directory = TemporaryDirectory()
    private let files = RecordingFileSystem()
    private let imagesPerEvent: Int
    /// Of a workload with more events some images are left out, evenly: many workloads show more than one.
    private let eventsMax = 500

    /// What may be found from some event on.
    private struct Expectation {
        /// Number of events recorded when this became true.
        var events: Int
        var version: UInt64
        var acknowledged: Model
        /// Results of commits that were tried since, and did not return or need not be durable.
        var inFlight: [Model]
    }
    private var expectations: [Expectation] = []
    private var version: UInt64 = 0
    private var model: Model
    private var inFlight: [Model] = []

    init(seed: UInt64, imagesPerEvent: Int = 6, _ make: (inout Random) -> Workload) {
        random = Random(seed)
        workload = make(&random)
        model = workload.emptyModel
        self.imagesPerEvent = imagesPerEvent
    }

    /// Runs the workload; returns the number of images examined.
    func run() throws -> Int {
        note()
        for _ in 0..<(2 + random.below(4)) { try session() }
        return try replay()
    }

    /// What was tried last is on stable storage.
    private func acknowledge(_ version: UInt64) {
        model = inFlight.last ?? model
        self.version = version
        inFlight = []
    }

    private func note() {
        expectations.append(
            Expectation(
                events: files.events.count, version: version, acknowledged: model,
                inFlight: inFlight))
    }

    /// The model that fits what the session shows.
    private func match(
        _ session: Workload.Session, _ acknowledged: Model, _ inFlight: [Model]
    ) throws -> Model {
        var failures: [String] = []
        for model in [acknowledged] + inFlight.reversed() {
            do {
                try session.verify(model)
                return model
            } catch { failures.append("\(error)") }
        }
        throw ToyFailure(description: failures.joined(separator: " | "))
    }

    /// Opens the file, commits a few times, then closes it or dies somewhere.
    private func session() throws {
        files.revive()
        files.resetCalls()
        switch random.below(6) {
        case 0: files.killAfter = 1 + random.below(120)
        case 1: files.killAtSync = 1 + random.below(8)
        case 2, 3:
            // Half of the time all of it is given up. Others may go on, so it may be several.
            for _ in 0...random.below(2) {
                files.failingSyncs[1 + random.below(8)] =
                    random.below(2) == 0 ? 0 : random.next()
            }
            files.aftermath =
                [.none, .writesFail(1), .writesFail(3), .death][random.below(4)]
        default: break
        }
        do {
            let session = try workload.open(directory.file(), files)
            // What recovery accepted is acknowledged now.
            model = try match(session, model, inFlight)
            guard session.version >= version else {
                throw ToyFailure(
                    description: "reopened at version \(session.version), was at \(version)")
            }
            version = session.version
            inFlight = []
            note()
            for _ in 0..<(1 + random.below(8)) {
                let (change, result) = workload.plan(inFlight.last ?? model, &random)
                inFlight.append(result)
                note()
                try session.commit(change)
                if session.isDurable { acknowledge(session.version) }
                note()
            }
            let reached = session.version
            try session.close()
            acknowledge(reached)
            note()
        } catch let error as RealmError {
            // A killed process reports errors nobody sees; others are failures.
            guard files.isDead || files.failedSyncs > 0 else { throw error }
        } catch {
            // Opening commits too (a schema); dying there shows as a failure to match.
            guard files.isDead || files.failedSyncs > 0 else { throw error }
        }
    }

    /// Images between every two events.
    private func replay() throws -> Int {
        var replay = CrashReplay()
        var images = 0
        var expected = 0
        for (index, event) in files.events.enumerated() {
            while expected + 1 < expectations.count, expectations[expected + 1].events <= index {
                expected += 1
            }
            for _ in 0..<imagesPerEvent where random.below(files.events.count) < eventsMax {
                let image = replay.image(&random)
                do { try examine(image, expectations[expected]) } catch {
                    throw ToyFailure(
                        description: "crash before event \(index) of \(files.events.count),"
                            + " acknowledged version \(expectations[expected].version): \(error)")
                }
                images += 1
            }
            replay.advance(event)
        }
        return images
    }

    private func examine(_ image: FileImage, _ expectation: Expectation) throws {
        let path = directory.file("image.realm")
        try image.save(path)
        let goesOn = random.below(4) == 0
        let session =
            try goesOn
            ? workload.open(path, SystemCalls.shared) : workload.openToRead(path)
        guard session.version >= expectation.version else {
            throw ToyFailure(description: "opened at version \(session.version)")
        }
        let found = try match(session, expectation.acknowledged, expectation.inFlight)
        guard goesOn else {
            try session.close()
            return
        }
        // Work goes on from what was found.
        let (change, result) = workload.plan(found, &random)
        try session.commit(change)
        try session.verify(result)
        try session.close()
        let again = try workload.open(path, SystemCalls.shared)
        try again.verify(result)
        try again.close()
    }
}

// MARK: The toy client as a workload

struct ToyWorkload: CrashWorkload {
    final class Session: CrashSession {
        /// As of as many processes; those that fail are closed, and another goes on.
        private(set) var stores: [Store]
        /// Opened the file first, read-only, and left what opening should write to the writer.
        private let reader: Store?
        private var held: [(store: Store, version: UInt64)] = []
        private var random = Random(1)
        private var model: ToyModel = [:]

        init(_ stores: [Store], reader: Store?) {
            self.stores = stores
            self.reader = reader
        }

        var version: UInt64 { stores[0].newestVersion }

        func verify(_ model: ToyModel) throws {
            for store in stores {
                let pin = try store.pinNewest()
                defer { store.unpin(pin.version) }
                try ToyClient.verify(store, pin, model)
            }
        }

        /// Some commits are not synced, and then they are together with others.
        /// Several numbers at once, as transactions have that were joined.
        func commit(_ change: [Int: UInt64?]) throws {
            while true {
                let chosen = random.below(stores.count)
                let store = stores[chosen]
                do { return try commit(change, store) } catch let error as RealmError {
                    guard stores.count > 1 else { throw error }
                    stores.remove(at: chosen)
                    held.removeAll { $0.store === store }
                    try? store.close()
                }
            }
        }

        private func commit(_ change: [Int: UInt64?], _ store: Store) throws {
            let isSoft = random.below(2) == 0
            let pin = try ToyClient.commit(
                store, &model, change, joinsGroup: isSoft || random.below(3) > 0, soft: isSoft,
                versions: random.below(2) == 0 ? 1 : UInt64(1 + random.below(400)))
            if isSoft, random.below(4) == 0 { try store.makeDurable(pin.version) }
            if random.below(3) == 0 {
                held.append((store, pin.version))
            } else {
                store.unpin(pin.version)
            }
            if held.count > 2 {
                let released = held.remove(at: random.below(held.count))
                released.store.unpin(released.version)
            }
        }

        var isDurable: Bool { stores[0].lockFile.unsyncedVersion == 0 }

        func close() throws {
            for store in stores { try store.close() }
            try reader?.close()
        }
    }

    private var stamp: UInt64 = 0
    private var options = StoreOptions()
    private let startsReadOnly: Bool
    private let processes: Int

    init(_ random: inout Random) {
        options.reservedBytes = 64 << 20
        if random.below(2) == 0 {
            options.spaceLimits = .tiny
            options.sharedSealingPagesMin = 1
        }
        startsReadOnly = random.below(3) == 0
        processes = 1 + random.below(3)
        if random.below(2) == 0 { options.encryptionKey = [UInt8](repeating: 3, count: 64) }
    }

    var emptyModel: ToyModel { [:] }

    /// By one process: what it finds, others take from it.
    func openToRead(_ path: String) throws -> Session {
        Session(
            [try Store.open(path: path, options: options, files: SystemCalls.shared)], reader: nil)
    }

    func open(_ path: String, _ files: FileSystem) throws -> Session {
        var reader: Store?
        if startsReadOnly {
            var options = options
            options.readOnly = true
            reader = try Store.open(path: path, options: options, files: files)
        }
        var stores: [Store] = []
        for _ in 0..<processes {
            stores.append(try Store.open(path: path, options: options, files: files))
        }
        // What a reader found after a crash is sure to stay from the next write on.
        if startsReadOnly { try stores[0].beginWrite(wait: true)?.abandon() }
        return Session(stores, reader: reader)
    }

    mutating func plan(
        _ model: ToyModel, _ random: inout Random
    ) -> (change: [Int: UInt64?], result: ToyModel) {
        stamp += 1
        let change = ToyClient.randomChanges(&random, stamp)
        var result = model
        for (leaf, stamp) in change { result[leaf] = stamp }
        return (change, result)
    }
}

extension CrashCampaign {
    /// Runs a workload for each case; the description of the first failure. Tests call `crashImages` of a
    /// workload, which is optimised for its types.
    static func run(
        _ campaign: Campaign, imagesPerEvent: Int = 6, _ make: (inout Random) -> Workload
    ) -> String? {
        CrashTally.run(campaign) { item in
            try CrashCampaign(seed: item.seed, imagesPerEvent: imagesPerEvent, make).run()
        }
    }
}

extension ToyWorkload {
    static func crashImages(
        _ campaign: Campaign, imagesPerEvent: Int = 6, _ make: (inout Random) -> ToyWorkload
    ) -> String? {
        CrashCampaign.run(campaign, imagesPerEvent: imagesPerEvent, make)
    }
}
