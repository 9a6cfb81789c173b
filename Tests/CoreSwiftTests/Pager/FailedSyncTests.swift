import Glibc
import Testing

@testable import CoreSwift
@testable import TestSupport

/// A failed fdatasync leaves pages that read well and that no later sync writes. Whatever happens behind
/// it, what is acknowledged afterwards is on the disk. The disk of these tests keeps of a failed sync
/// nothing; `CrashTests` has all that lies between, by chance.
@Suite struct FailedSyncTests {
    private final class World {
        let directory = TemporaryDirectory()
        let files = RecordingFileSystem()
        var options = StoreOptions()
        var model: ToyModel = [:]

        init(_ encrypted: Bool, isNew: Bool = false) throws {
            options.reservedBytes = 64 << 20
            if encrypted { options.encryptionKey = FileCipherTests.key }
            if isNew { return }
            // A version from an earlier session, noted as durable.
            let store = try open()
            try commit(store, 1)
            try store.close()
        }

        func open(readOnly: Bool = false) throws -> Store {
            var options = options
            options.readOnly = readOnly
            return try Store.open(path: directory.file(), options: options, files: files)
        }

        @discardableResult
        func commit(_ store: Store, _ stamp: UInt64, soft: Bool = false) throws -> UInt64 {
            var changes: [Int: UInt64?] = [:]
            for leaf in 0..<6 { changes[Int(stamp % 3) + leaf * 2] = stamp }
            let pin = try ToyClient.commit(
                store, &model, changes, joinsGroup: true, soft: soft)
            store.unpin(pin.version)
            return pin.version
        }

        /// The next sync fails, and then this happens.
        func failNextSync(_ aftermath: RecordingFileSystem.Aftermath) {
            files.aftermath = aftermath
            files.failingSyncs = [files.syncCount + 1: 0]
        }

        func verify(_ store: Store) throws {
            let pin = try store.pinNewest()
            defer { store.unpin(pin.version) }
            try ToyClient.verify(store, pin, model)
        }

        /// The power goes, and with it what was not synced: the file has exactly this content then.
        func expectSafe(_ comment: Comment) throws {
            var replay = CrashReplay()
            for event in files.events { replay.advance(event) }
            let path = directory.file("after.realm")
            try replay.least.save(path)
            let store = try Store.open(path: path, options: options, files: SystemCalls.shared)
            #expect(throws: Never.self, comment) { try verify(store) }
            try store.close()
            unlink(path + ".lock")
        }

        /// Closes, also when it is as good as dead, and goes on in another process.
        func reopen(_ store: Store) throws -> Store {
            try? store.close()
            files.revive()
            return try open()
        }

        /// The model of the version that the store shows: that before a commit that failed, or of it.
        func settle(_ store: Store, before: ToyModel, after: ToyModel) throws {
            model = before
            if (try? verify(store)) == nil {
                model = after
                try verify(store)
            }
        }
    }

    /// Nor what is acknowledged in a file whose maker died before the file's name was durable.
    @Test(arguments: [false, true])
    func `the name of a file is durable with the first commit`(encrypted: Bool) throws {
        var call = 0
        var isMade = false
        while !isMade {
            call += 1
            let world = try World(encrypted, isNew: true)
            world.files.killAfter = call
            do {
                try world.open().close()
                isMade = true
            } catch {}
            world.files.revive()
            let store = try world.open()
            try world.commit(store, 2)
            try world.expectSafe("killed at call \(call)")
            try store.close()
        }
        #expect(call > 10)
    }

    private static let aftermaths: [(String, RecordingFileSystem.Aftermath)] = [
        ("the wipe works", .none), ("the wipe fails", .writesFail(1)), ("killed", .death),
    ]

    private func each(
        _ body: (World, RecordingFileSystem.Aftermath, Comment) throws -> Void
    ) throws {
        for encrypted in [false, true] {
            for (name, aftermath) in Self.aftermaths {
                let world = try World(encrypted)
                do { try body(world, aftermath, "encrypted \(encrypted), \(name)") } catch {
                    Issue.record("encrypted \(encrypted), \(name): \(error)")
                }
            }
        }
    }

    @Test func `a commit whose sync failed is not built upon`() throws {
        try each { world, aftermath, comment in
            var store = try world.open()
            try world.commit(store, 2)
            let before = world.model
            world.failNextSync(aftermath)
            #expect(throws: RealmError.self) { try world.commit(store, 3) }
            var after = before
            for leaf in 0..<6 { after[leaf * 2] = 3 }
            store = try world.reopen(store)
            try world.settle(store, before: before, after: after)
            try world.expectSafe(comment)
            for stamp in 4...7 as ClosedRange<UInt64> {
                try world.commit(store, stamp)
                try world.expectSafe(comment)
            }
            try store.close()
            try world.expectSafe(comment)
        }
    }

    @Test func `nor when the sync of the next opening fails as well`() throws {
        try each { world, aftermath, comment in
            var store = try world.open()
            let before = world.model
            world.failNextSync(aftermath)
            #expect(throws: RealmError.self) { try world.commit(store, 3) }
            var after = before
            for leaf in 0..<6 { after[leaf * 2] = 3 }
            for _ in 0..<3 {
                try? store.close()
                world.files.revive()
                world.failNextSync(.none)
                // Nothing to sync where the version is known to be durable.
                if let opened = try? world.open() { store = opened }
            }
            store = try world.reopen(store)
            try world.settle(store, before: before, after: after)
            try world.commit(store, 5)
            try world.expectSafe(comment)
            try store.close()
        }
    }

    @Test func `what a reader found behind it is written again by the writer`() throws {
        try each { world, aftermath, comment in
            let store = try world.open()
            let before = world.model
            world.failNextSync(aftermath)
            #expect(throws: RealmError.self) { try world.commit(store, 3) }
            var after = before
            for leaf in 0..<6 { after[leaf * 2] = 3 }
            try? store.close()
            world.files.revive()
            let reader = try world.open(readOnly: true)
            let writer = try world.open()
            try world.settle(reader, before: before, after: after)
            try writer.beginWrite(wait: true)?.abandon()
            try world.expectSafe(comment)
            try world.commit(writer, 5)
            try world.expectSafe(comment)
            try writer.close()
            try reader.close()
        }
    }

    /// Others read the versions of a group before they are durable, and go on from them.
    @Test func `another process makes durable what one could not`() throws {
        try each { world, aftermath, comment in
            let store = try world.open()
            let other = try world.open()
            try world.commit(store, 2, soft: true)
            let last = try world.commit(store, 3, soft: true)
            world.failNextSync(aftermath)
            #expect(throws: RealmError.self) { try store.makeDurable(last) }
            world.files.heal()
            try world.commit(other, 4)
            try world.expectSafe(comment)
            try? store.close()
            try world.commit(other, 5)
            try world.expectSafe(comment)
            try other.close()
        }
    }

    @Test func `a durable commit that fails on top of a group leaves the group to others`() throws {
        try each { world, aftermath, comment in
            let store = try world.open()
            let other = try world.open()
            try world.commit(store, 2, soft: true)
            let before = world.model
            world.failNextSync(aftermath)
            #expect(throws: RealmError.self) { try world.commit(store, 3) }
            world.files.heal()
            world.model = before
            try world.verify(other)
            // Closing syncs what others left, or the next commit does.
            try? store.close()
            try world.commit(other, 4)
            try world.expectSafe(comment)
            try other.close()
        }
    }

    @Test func `a group whose sync failed comes back whole or not at all`() throws {
        try each { world, aftermath, comment in
            var store = try world.open()
            let before = world.model
            try world.commit(store, 2, soft: true)
            let last = try world.commit(store, 3, soft: true)
            let after = world.model
            world.failNextSync(aftermath)
            #expect(throws: RealmError.self) { try store.makeDurable(last) }
            store = try world.reopen(store)
            try world.settle(store, before: before, after: after)
            try world.expectSafe(comment)
            try world.commit(store, 4)
            try world.expectSafe(comment)
            try store.close()
        }
    }

    /// The other one has made the group durable, and overwritten the header of the version before it.
    @Test func `a group that another process made durable is not continued`() throws {
        try each { world, aftermath, comment in
            let store = try world.open()
            let other = try world.open()
            try world.commit(store, 2, soft: true)
            let before = world.model
            world.files.aftermath = aftermath
            world.files.failingSyncs = [world.files.syncCount + 2: 0]
            #expect(throws: RealmError.self) { try world.commit(other, 3) }
            world.files.heal()
            try? other.close()
            world.model = before
            try world.expectSafe(comment)
            try world.commit(store, 4, soft: true)
            // Its header may be all that arrives.
            let after = world.model
            world.model = before
            let bytes = TestSettings.readFile(world.directory.file())
            var replay = CrashReplay()
            for event in world.files.events { replay.advance(event) }
            let image = replay.least
            for slot in 0...1 {
                let offset = FileHeader.slotOffset(slot)
                image.write(
                    Array(bytes[offset..<offset + FileHeader.slotBytes]), 0, FileHeader.slotBytes,
                    at: offset)
            }
            let path = world.directory.file("torn.realm")
            try image.save(path)
            let torn = try Store.open(
                path: path, options: world.options, files: SystemCalls.shared)
            #expect(throws: Never.self, comment) { try world.verify(torn) }
            try torn.close()
            unlink(path + ".lock")
            world.model = after
            try store.makeDurable(store.newestVersion)
            try world.expectSafe(comment)
            try store.close()
        }
    }

    @Test func `a failed commit that was wiped stays away`() throws {
        for encrypted in [false, true] {
            for isGroup in [false, true] {
                let world = try World(encrypted)
                var store = try world.open()
                let before = world.model
                if isGroup { try world.commit(store, 2, soft: true) }
                world.failNextSync(.none)
                #expect(throws: RealmError.self) {
                    if isGroup { try store.makeDurable(store.newestVersion) }
                    try world.commit(store, 3)
                }
                store = try world.reopen(store)
                world.model = before
                try world.verify(store)
                try store.close()
            }
        }
    }
}
