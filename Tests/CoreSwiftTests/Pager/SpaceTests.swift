import Testing

@testable import CoreSwift
@testable import TestSupport

/// Reuse of pages: growth, pinned readers, giving back the end of the file, large maps.
@Suite struct SpaceTests {
    private let directory = TemporaryDirectory()

    private func open() throws -> Store {
        var options = StoreOptions()
        options.inMemory = true
        return try Store.open(
            path: directory.file(), options: options, files: SystemCalls.shared)
    }

    /// Commits one leaf per step for `steps` steps over `leaves` leaves.
    private func churn(
        _ store: Store, _ model: inout ToyModel, leaves: Int, steps: Int, stamp: inout UInt64,
        _ random: inout Random
    ) throws {
        for _ in 0..<steps {
            stamp += 1
            let pin = try ToyClient.commit(
                store, &model, [random.below(leaves): stamp], capacity: leaves)
            store.unpin(pin.version)
        }
    }

    private func fill(
        _ store: Store, _ model: inout ToyModel, leaves: Int, stamp: inout UInt64
    ) throws {
        stamp += 1
        var changes: [Int: UInt64?] = [:]
        for leaf in 0..<leaves { changes[leaf] = stamp }
        let pin = try ToyClient.commit(store, &model, changes, capacity: leaves)
        store.unpin(pin.version)
    }

    @Test(arguments: [30, 120, 1000])
    func aPinnedReaderCostsAtMostTwiceWhatDiffers(leaves: Int) throws {
        let store = try open()
        var model: ToyModel = [:]
        var random = Random(5)
        var stamp: UInt64 = 0
        try fill(store, &model, leaves: leaves, stamp: &stamp)
        let steps = TestSettings.number("REALM_CHURN", Campaign.rounds(2000))
        // First without the reader, so that the file has the slack that small commits need.
        try churn(store, &model, leaves: leaves, steps: steps / 2, stamp: &stamp, &random)
        let before = try store.statistics()
        let pinned = try store.pinNewest()
        let pinnedModel = model
        try churn(store, &model, leaves: leaves, steps: steps, stamp: &stamp, &random)
        let after = try store.statistics()
        let now = try store.pinNewest()
        var old = Set<UInt64>()
        var new = Set<UInt64>()
        for (pin, isOld) in [(pinned, true), (now, false)] {
            for reference in try ToyClient.references(store, pin).leaves.values {
                for page in reference.page..<reference.page + UInt64(reference.pageCount) {
                    if isOld { old.insert(page) } else { new.insert(page) }
                }
            }
        }
        let differs = old.subtracting(new).count
        print(
            "pinned reader, \(leaves) leaves: differs \(differs) pages, grew"
                + " \(after.filePages - before.filePages), \(before) -> \(after)")
        #expect(after.filePages - before.filePages <= 2 * differs)
        #expect(after.pendingPages >= differs)
        #expect(after.liveVersions == 2)
        try ToyClient.verify(store, pinned, pinnedModel)
        try ToyClient.verify(store, now, model)
        store.unpin(pinned.version)
        store.unpin(now.version)
        // What was kept for the reader is reusable now.
        try churn(store, &model, leaves: leaves, steps: 2, stamp: &stamp, &random)
        #expect(try store.statistics().pendingPages < 40)
    }

    @Test(arguments: [30, 120, 1000])
    func withoutReadersTheFileSettles(leaves: Int) throws {
        let store = try open()
        var model: ToyModel = [:]
        var random = Random(6)
        var stamp: UInt64 = 0
        try fill(store, &model, leaves: leaves, stamp: &stamp)
        let filled = try store.statistics()
        let steps = TestSettings.number("REALM_CHURN", Campaign.rounds(2000))
        for _ in 0..<4 {
            try churn(store, &model, leaves: leaves, steps: steps / 4, stamp: &stamp, &random)
            print("churn, \(leaves) leaves: \(try store.statistics())")
        }
        let settled = try store.statistics()
        #expect(settled.filePages <= filled.filePages * 2 + 64)
    }

    /// A commit of a leaf of four pages, two pages above it and a root, into a file of which an eighth is free in
    /// pieces of a leaf: what commits free is theirs again from the next but one on, wherever it lies.
    @Test(arguments: [false, true])
    func commitsGoToFewPlacesInAFileFullOfHoles(sweeps: Bool) throws {
        let leaves = 600
        let slots = 690
        var random = Random(11)
        let places = (0..<slots).shuffled(using: &random).map { UInt64(2 + 4 * $0) }
        let end = UInt64(2 + 4 * slots)
        let space = SpaceMap(version: 1, pageCount: end + 8)
        var leaf = places.prefix(leaves).map { SpaceEntry(page: $0, count: 4) }
        for page in places[leaves...] { try space.insert(SpaceEntry(page: page, count: 4)) }
        var others = (0..<8).map { SpaceEntry(page: end + $0, count: 1) }
        var freed: [SpaceEntry] = []
        var runs = 0
        let commits = 6000
        for commit in 0..<commits {
            if sweeps { space.ceiling = end - 40 }
            for entry in freed { try space.insert(entry) }
            var taker = PageTaker(space, 7)
            let target = random.below(leaves)
            let middle = target * 6 / leaves
            freed = [leaf[target], others[middle], others[6], others[7]]
            leaf[target].page = taker.take(4, space)
            for place in [middle, 6, 7] { others[place].page = taker.take(1, space) }
            taker.settle(space)
            _ = space.noteGrowth()
            space.committed(UInt64(commit + 2))
            var last = leaf[target]
            if commit >= commits / 2 { runs += 1 }
            for place in [middle, 6, 7] {
                if others[place].page != last.end, commit >= commits / 2 { runs += 1 }
                last = others[place]
            }
        }
        let perCommit = Double(runs) * 2 / Double(commits)
        print("commits in a file of holes: \(perCommit) runs each, \(space.pageCount) pages")
        #expect(perCommit < 2.1)
        #expect(space.pageCount < end + 64)
        try space.checkInvariants()
    }

    /// Blocks lie behind one another from the free end of the file on, and holes before it are used first.
    @Test func theFreeEndOfTheFileAndWhatItGrowsByAreOneRun() throws {
        let space = SpaceMap(version: 1, pageCount: 1000)
        try space.insert(SpaceEntry(page: 100, count: 40))
        try space.insert(SpaceEntry(page: 940, count: 60))
        #expect(
            space.reserve(200) == [SpaceRun(page: 100, count: 40), SpaceRun(page: 940, count: 160)])
        try space.checkInvariants()
        let fits = SpaceMap(version: 1, pageCount: 1000)
        try fits.insert(SpaceEntry(page: 100, count: 40))
        try fits.insert(SpaceEntry(page: 940, count: 60))
        // The largest place goes first, and what is left fits into the other one.
        let runs = fits.reserve(90)
        #expect(runs == [SpaceRun(page: 100, count: 30), SpaceRun(page: 940, count: 60)])
        for run in runs { fits.settle(run, used: run.count) }
        #expect(fits.pageCount == 1000)
        #expect(fits.freePages == 10)
        try fits.checkInvariants()
    }

    @Test func theEndOfTheFileIsGivenBackWhenItIsFree() throws {
        let store = try open()
        var model: ToyModel = [:]
        var stamp: UInt64 = 0
        try fill(store, &model, leaves: 2000, stamp: &stamp)
        let full = try store.statistics()
        let pinned = try store.pinNewest()
        let pinnedModel = model
        var removal: [Int: UInt64?] = [:]
        for leaf in 20..<2000 { removal[leaf] = .some(nil) }
        store.unpin(try ToyClient.commit(store, &model, removal, capacity: 2000).version)
        for step in 1...5 {
            let pin = try ToyClient.commit(
                store, &model, [step: stamp + UInt64(step)], capacity: 2000)
            store.unpin(pin.version)
        }
        // The reader still needs it all.
        #expect(try store.statistics().filePages >= full.filePages)
        try ToyClient.verify(store, pinned, pinnedModel)
        store.unpin(pinned.version)
        for step in 1...30 {
            let pin = try ToyClient.commit(
                store, &model, [step % 20: stamp + 100 + UInt64(step)], capacity: 40)
            try ToyClient.verify(store, pin, model)
            store.unpin(pin.version)
        }
        let end = try store.statistics()
        print("given back: \(full) -> \(end)")
        #expect(end.filePages < full.filePages / 2)
        #expect(
            TestSettings.readFile(directory.file()).count == end.filePages * Page.size)
    }

    /// Commits. Before, the map that the writer has in memory is compared with what a fresh reading of it gives.
    private func commitExactly(
        _ writer: Store, _ model: inout ToyModel, _ changes: [Int: UInt64?], capacity: Int,
        _ turns: inout Turns
    ) throws -> Store.Pin {
        let lease = try #require(try writer.beginWrite(wait: true))
        let own = writer.space
        let isOthers = own.map { $0.version != lease.base.version } ?? true
        writer.group.lock()
        let space: SpaceMap
        do {
            defer { writer.group.unlock() }
            space = try writer.loadSpace(lease.base, [])
        }
        if isOthers { turns.all += 1 }
        if isOthers, own === space { turns.followed += 1 }
        try space.checkInvariants()
        let live = writer.mutex.withLock {
            writer.liveVersions(newest: lease.base.version, reclaim: false)
        }
        let fresh = try writer.readSpace(lease.base, live: live)
        #expect(space.version == fresh.version)
        #expect(space.pageCount == fresh.pageCount)
        #expect(space.basePageCount == fresh.basePageCount)
        #expect(space.isInline == fresh.isInline)
        #expect(space.operations == fresh.operations)
        #expect(space.chunks.map(\.first) == fresh.chunks.map(\.first))
        #expect(space.chunks.map(\.reference) == fresh.chunks.map(\.reference))
        #expect(space.chunks.map(\.operations) == fresh.chunks.map(\.operations))
        #expect(space.chunks.map(\.entries) == fresh.chunks.map(\.entries))
        #expect(space.freePages == fresh.freePages)
        #expect(space.pendingPages == fresh.pendingPages)
        let (pending, _) = space.derived
        #expect(pending == fresh.derived.pending)
        return try ToyClient.commit(lease, &model, changes, capacity: capacity)
    }

    /// How often a writer came behind another, and how often its map was brought up to date by the changes.
    private struct Turns {
        var all = 0
        var followed = 0
    }

    /// With several commits in a turn, readers that hold versions, and times at which the file shrinks.
    @Test func writersInTurnsFollowEachOthersChangesOfALargeMap() throws {
        let stores = [try open(), try open(), try open()]
        var model: ToyModel = [:]
        var random = Random(9)
        var stamp: UInt64 = 0
        let leaves = 3000
        try fill(stores[0], &model, leaves: leaves, stamp: &stamp)
        var removal: [Int: UInt64?] = [:]
        for leaf in stride(from: 0, to: leaves, by: 3) { removal[leaf] = .some(nil) }
        let pin = try ToyClient.commit(stores[0], &model, removal, capacity: leaves)
        stores[0].unpin(pin.version)
        var turns = Turns()
        var held: [(store: Store, version: UInt64)] = []
        var largest = 0
        for turn in 0..<120 {
            let writer = stores[turn % 7 == 0 ? 2 : turn % 2]
            for _ in 0..<1 + random.below(4) {
                stamp += 1
                var changes: [Int: UInt64?] = [:]
                for _ in 0..<1 + random.below(turn % 20 == 0 ? 200 : 6) {
                    changes[random.below(leaves)] =
                        random.below(turn > 80 ? 2 : 6) == 0 ? .some(nil) : .some(stamp)
                }
                let pin = try commitExactly(
                    writer, &model, changes, capacity: leaves, &turns)
                if random.below(5) == 0 {
                    held.append((writer, pin.version))
                } else {
                    writer.unpin(pin.version)
                }
                largest = max(largest, try #require(writer.space).entryCount)
            }
            if held.count > 3 {
                let old = held.remove(at: random.below(held.count))
                old.store.unpin(old.version)
            }
        }
        print("turns: \(turns), \(largest) entries")
        #expect(largest > 750)
        #expect(turns.all > 100)
        #expect(turns.followed >= turns.all - 3)
        try ToyClient.verify(stores[1], try stores[1].pinNewest(), model)
    }

    @Test func largeFragmentedMapsAreKeptInChunksAndReadBack() throws {
        let store = try open()
        let other = try open()
        var model: ToyModel = [:]
        var random = Random(7)
        var stamp: UInt64 = 0
        let leaves = 6000
        try fill(store, &model, leaves: leaves, stamp: &stamp)
        // Every third leaf goes: thousands of holes.
        var removal: [Int: UInt64?] = [:]
        for leaf in stride(from: 0, to: leaves, by: 3) { removal[leaf] = .some(nil) }
        store.unpin(try ToyClient.commit(store, &model, removal, capacity: leaves).version)
        var held: [Store.Pin] = []
        for round in 0..<60 {
            // Two stores in turn: each reads the map the other left.
            let writer = round % 10 < 5 ? store : other
            var changes: [Int: UInt64?] = [:]
            stamp += 1
            for _ in 0..<random.below(30) {
                changes[random.below(leaves)] = random.below(3) == 0 ? .some(nil) : .some(stamp)
            }
            let pin = try ToyClient.commit(writer, &model, changes, capacity: leaves)
            try #require(writer.space).checkInvariants()
            if round % 7 == 0, writer === store {
                held.append(pin)
            } else {
                writer.unpin(pin.version)
            }
            if held.count > 3 { store.unpin(held.removeFirst().version) }
            let references = try ToyClient.references(store, try store.pinNewest())
            let problems = try store.check(
                reachable: Array(references.leaves.values)
                    + (references.index.map { [$0] } ?? []))
            store.unpin(store.newestVersion)
            #expect(problems == [])
        }
        let space = try store.readSpace(try store.pinNewest(), live: nil)
        print(
            "large map: \(space.entryCount) entries, \(space.chunks.count) chunks,"
                + " \(space.operations.count) operations")
        #expect(space.chunks.count > 1)
        try ToyClient.verify(store, try store.pinNewest(), model)
    }

    @Test func brokenMapsAreNamedByTheirInvariants() throws {
        let map = SpaceMap(version: 3, pageCount: 100)
        try map.insert(SpaceEntry(page: 10, count: 4))
        try map.checkInvariants()
        let sound = map.chunks
        let broken: [([SpaceEntry], String)] = [
            ([SpaceEntry(page: 10, count: 4), SpaceEntry(page: 12, count: 3)], "1:"),
            ([SpaceEntry(page: 98, count: 4)], "buckets"),
            ([SpaceEntry(page: 10, count: 4), SpaceEntry(page: 14, count: 1)], "2:"),
            ([SpaceEntry(page: 10, count: 4, written: 1, freed: 2)], "wait for no version"),
            ([], "counted"),
        ]
        for (entries, fact) in broken {
            map.chunks[0].entries = entries
            let error = #expect(throws: RealmError.self) { try map.checkInvariants() }
            #expect(error?.message.contains(fact) == true, "\(error?.message ?? "")")
        }
        map.chunks = sound
        try map.checkInvariants()
    }

    @Test func aFileThatWasCutGrowsOverTheBeginningOfAChunk() throws {
        let map = SpaceMap(version: 3, pageCount: 400)
        map.isInline = false
        map.chunks.append(SpaceChunk(first: 420))
        try map.checkInvariants()
        #expect(map.grow(5) == SpaceRun(page: 400, count: 5))
        #expect(map.pageCount == 450)
        #expect(map.chunks.map(\.entries.count) == [1, 1])
        try map.checkInvariants()
    }

    /// Long random use with tiny limits: division, joining, inline and back, trimming.
    @Test func mapsOfEveryShapeStayConsistent() throws {
        let campaign = Campaign("map shapes", seconds: 2, atLeast: 600)
        var random = Random(campaign.seed)
        var options = StoreOptions()
        options.inMemory = true
        options.spaceLimits = .tiny
        let stores = try (0..<2).map { _ in
            try Store.open(
                path: directory.file(), options: options, files: SystemCalls.shared)
        }
        var model: ToyModel = [:]
        var held: [(Store, Store.Pin, ToyModel)] = []
        var shapes: Set<Int> = []
        var turns = Turns()
        for item in campaign {
            let step = item.number + 1
            let store = stores[random.below(step / 200 % 2 == 0 ? 20 : 3) == 0 ? 1 : 0]
            var changes: [Int: UInt64?] = [:]
            // Phases of growing and of shrinking.
            let shrinks = step / 100 % 2 == 1
            for _ in 0..<random.below(12) {
                changes[random.below(200)] =
                    random.below(10) < (shrinks ? 8 : 2) ? .some(nil) : .some(UInt64(step))
            }
            let pin = try commitExactly(store, &model, changes, capacity: 200, &turns)
            try ToyClient.verify(store, pin, model)
            try #require(store.space).checkInvariants()
            shapes.insert(try store.readSpace(pin, live: nil).chunks.count)
            if random.below(10) == 0 {
                held.append((store, pin, model))
            } else {
                store.unpin(pin.version)
            }
            if held.count > 4 || (random.below(50) == 0 && !held.isEmpty) {
                let (owner, old, oldModel) = held.remove(at: random.below(held.count))
                try ToyClient.verify(owner, old, oldModel)
                owner.unpin(old.version)
            }
        }
        print("map shapes: chunks \(shapes.sorted()), \(turns)")
        #expect(shapes.count > 3)
        #expect(turns.followed * 3 > turns.all)
    }
}
