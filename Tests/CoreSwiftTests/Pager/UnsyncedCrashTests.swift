// Power losses before anything of a session is on stable storage. All commits of a session, or all but
// the first, are soft: none is synced. Then the process is killed, and perhaps another one goes on in the
// same way. The images are not drawn but swept: of the writes behind the last sync each beginning, each one
// missing, alone and torn, and each two missing. All open, at a version that was published, whole, and not
// before what was synced; what has all writes opens at the newest.

import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite(.serialized) struct UnsyncedCrashTests {
    @Test func `a power loss before any sync leaves a version that was published`() {
        var older = 0
        let failure = CrashTally.run(
            Campaign("crash images without a sync", seconds: 5, atLeast: 20)
        ) { item in
            // Each combination comes in turn.
            var sweep = UnsyncedSweep(
                item.random, isEncrypted: item.number & 1 == 1, syncsFirst: item.number & 2 == 2,
                sessions: 1 + item.number >> 2 & 1)
            defer { older += sweep.olderImages }
            return try sweep.run()
        }
        if let failure { Issue.record("\(failure)") }
        #expect(older > 0)
    }
}

struct UnsyncedSweep {
    private var random: Random
    private let directory = TemporaryDirectory()
    private let files = RecordingFileSystem()
    private var options = StoreOptions()
    private let syncsFirst: Bool
    private let sessions: Int
    private var stamp: UInt64 = 0
    private var model: ToyModel = [:]
    /// Contents by version.
    private var contents: [UInt64: ToyModel] = [:]
    /// When so many events are over, the version is published, or on stable storage.
    private var published: [(events: Int, version: UInt64)] = []
    private var durable: [(events: Int, version: UInt64)] = []
    private var images = 0
    /// Those that opened before the newest version that was published.
    private(set) var olderImages = 0

    init(_ random: Random, isEncrypted: Bool, syncsFirst: Bool, sessions: Int) {
        self.random = random
        self.syncsFirst = syncsFirst
        self.sessions = sessions
        options.reservedBytes = 64 << 20
        if isEncrypted { options.encryptionKey = [UInt8](repeating: 3, count: 64) }
        if self.random.below(2) == 0 { options.spaceLimits = .tiny }
    }

    /// The number of images.
    mutating func run() throws -> Int {
        try prepare()
        let first = files.events.count
        for _ in 0..<sessions { try session() }
        try sweep(from: first)
        return images
    }

    // MARK: Writing

    /// A file with a few commits that are on stable storage, closed.
    private mutating func prepare() throws {
        let store = try open(files)
        for _ in 0..<random.below(4) { try commit(store, soft: false) }
        try store.close()
        noteDurable(store.newestVersion)
    }

    private func open(_ files: FileSystem) throws -> Store {
        try Store.open(path: directory.file(), options: options, files: files)
    }

    private mutating func session() throws {
        files.revive()
        files.resetCalls()
        let store = try open(files)
        // Who opens a file to write syncs what it found.
        contents[store.newestVersion] = model
        if store.lockFile.unsyncedVersion == 0 { noteDurable(store.newestVersion) }
        if syncsFirst { try commit(store, soft: false) }
        for _ in 0..<(1 + random.below(6)) { try commit(store, soft: true) }
        // Nothing it does now has an effect.
        files.killAfter = 0
        try? store.close()
    }

    private mutating func commit(_ store: Store, soft: Bool) throws {
        stamp += 1
        var changes: [Int: UInt64?] = [:]
        for _ in 0..<(1 + random.below(3)) {
            let leaf = random.below(ToyClient.leavesMax)
            changes[leaf] = random.below(6) == 0 ? .some(nil) : .some(stamp)
        }
        let pin = try ToyClient.commit(
            store, &model, changes, joinsGroup: soft, soft: soft,
            versions: random.below(4) == 0 ? UInt64(1 + random.below(400)) : 1)
        contents[pin.version] = model
        published.append((files.events.count, pin.version))
        if !soft { noteDurable(pin.version) }
        store.unpin(pin.version)
    }

    private mutating func noteDurable(_ version: UInt64) {
        contents[version] = model
        durable.append((files.events.count, version))
    }

    // MARK: Sweeping

    private mutating func sweep(from first: Int) throws {
        var replay = CrashReplay()
        for (index, event) in files.events.enumerated() {
            replay.advance(event)
            guard index >= first, let count = replay.pendingCount, count > 0 else { continue }
            let last = count - 1
            try examine(replay, index) { _ in .all }
            for part in [WrittenPart.front, .back] {
                try examine(replay, index) { $0 == last ? part : .all }
            }
            let isEnd = isSynced(behind: index)
            guard isEnd || isHeader(event) else { continue }
            for one in 0..<last {
                for part in [WrittenPart.none, .front, .back] {
                    try examine(replay, index) { $0 == one ? part : .all }
                }
            }
            guard isEnd else { continue }
            for one in 0..<count {
                try examine(replay, index) { $0 == one ? .all : .none }
                for other in 0..<one {
                    try examine(replay, index) { $0 == one || $0 == other ? .none : .all }
                }
            }
        }
    }

    /// Whether the next event is a sync, or there is none.
    private func isSynced(behind index: Int) -> Bool {
        guard index + 1 < files.events.count else { return true }
        if case .sync = files.events[index + 1] { return true }
        return false
    }

    private func isHeader(_ event: FileEvent) -> Bool {
        guard case .write(let offset, _) = event else { return false }
        return offset < Int(FileHeader.firstBlockPage) * Page.size
    }

    private mutating func examine(
        _ replay: CrashReplay, _ index: Int, _ part: (Int) -> WrittenPart
    ) throws {
        let path = directory.file("image.realm")
        try replay.image(part).save(path)
        do {
            try check(
                path, index,
                isWhole: (0..<(replay.pendingCount ?? 0)).allSatisfy { part($0) == .all })
        } catch {
            let parts = (0..<(replay.pendingCount ?? 0)).map { "\(part($0))" }
            throw ToyFailure(
                description: "crash behind event \(index) of \(files.events.count) with "
                    + parts.joined(separator: " ") + ": \(error)")
        }
        images += 1
    }

    private mutating func check(_ path: String, _ index: Int, isWhole: Bool) throws {
        let store = try Store.open(path: path, options: options, files: SystemCalls.shared)
        let version = store.newestVersion
        let sure = durable.last { $0.events <= index + 1 }?.version ?? 0
        let newest = published.last { $0.events <= index + 1 }
        guard version >= sure else {
            throw ToyFailure(description: "opened at version \(version), \(sure) was synced")
        }
        if isWhole, let newest, newest.events == index + 1, version != newest.version {
            throw ToyFailure(description: "opened at version \(version) of \(newest.version)")
        }
        if let newest, version < newest.version { olderImages += 1 }
        guard var model = contents[version] else {
            throw ToyFailure(description: "opened at version \(version), which was never published")
        }
        try verify(store, model)
        if images % 8 == 0 {
            // Work goes on from what was found.
            let changes: [Int: UInt64?] = [images % ToyClient.leavesMax: 1 << 40]
            let pin = try ToyClient.commit(store, &model, changes)
            store.unpin(pin.version)
            try store.close()
            let again = try Store.open(path: path, options: options, files: SystemCalls.shared)
            try verify(again, model)
            try again.close()
            return
        }
        try store.close()
    }

    private func verify(_ store: Store, _ model: ToyModel) throws {
        let pin = try store.pinNewest()
        defer { store.unpin(pin.version) }
        try ToyClient.verify(store, pin, model)
    }
}
