// Whether a realm with observers knows without looking that a refresh would do nothing.

import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite struct FreshRealmTests {
    private let directory = TemporaryDirectory()

    private func open() throws -> Realm {
        let realm = try TestSchema.open(directory.file())
        _ = try realm.refresh()
        return realm
    }

    private func add(_ realm: Realm, _ id: Int64) throws {
        try realm.write {
            _ = try realm.create("Dog", primaryKey: .int(id), ["name": .string("x")])
        }
    }

    @Test func `observers with nothing to hear leave a realm fresh`() throws {
        let realm = try open()
        let writer = try open()
        #expect(realm.isFresh)
        let dogs = try realm.objects("Dog")
        let handle = UnsafeRawPointer(Unmanaged.passUnretained(dogs).toOpaque())
        var calls = 0
        let first = try dogs.observe(handle: handle) { _ in calls += 1 }
        #expect(!realm.isFresh)
        _ = try realm.refresh()
        #expect(calls == 1)
        _ = try realm.refresh()
        #expect(calls == 1 && realm.isFresh)

        // Somebody who joins has to be told, though no version came.
        let second = try dogs.observe(handle: handle) { _ in calls += 10 }
        #expect(!realm.isFresh)
        _ = try realm.refresh()
        _ = try realm.refresh()
        #expect(calls == 11 && realm.isFresh)

        try add(writer, 1)
        #expect(!realm.isFresh)
        #expect(try realm.refresh())
        #expect(calls == 22)
        _ = try realm.refresh()
        #expect(realm.isFresh)

        // Its own commits are to be told, too.
        try add(realm, 2)
        #expect(!realm.isFresh)
        _ = try realm.refresh()
        _ = try realm.refresh()
        #expect(calls == 33 && realm.isFresh)
        for token in [first, second] { token.invalidate() }
        realm.close()
        #expect(!realm.isFresh)
        writer.close()
    }

    @Test func `an observer that ended on another thread is looked for once, and its version goes`()
        throws
    {
        let realm = try open()
        let writer = try open()
        try add(writer, 1)
        _ = try realm.refresh()
        let dogs = try realm.objects("Dog")
        let handle = UnsafeRawPointer(Unmanaged.passUnretained(dogs).toOpaque())
        // One of eight: not so many that its end alone takes it out.
        nonisolated(unsafe) var tokens: [NotificationToken] = []
        for _ in 0..<8 { tokens.append(try dogs.observe(handle: handle) { _ in }) }
        for _ in 0..<2 { _ = try realm.refresh() }
        #expect(realm.isFresh)
        onAnotherThread { tokens[0].invalidate() }
        #expect(!realm.isFresh)
        for _ in 0..<2 { _ = try realm.refresh() }
        #expect(realm.isFresh)
        onAnotherThread { for token in tokens { token.invalidate() } }
        #expect(!realm.isFresh)
        for _ in 0..<2 { _ = try realm.refresh() }
        #expect(realm.isFresh)
        // Nobody observes: other versions come without a look, and none is held.
        for id in 2..<6 {
            try add(writer, Int64(id))
            #expect(!realm.isFresh)
            #expect(try realm.refresh())
            #expect(realm.isFresh)
        }
        #expect(try realm.liveVersionCount() == 1)
        realm.close()
        writer.close()
    }

    @Test func `in a callback, and while a write transaction is open, it is as before`() throws {
        let realm = try open()
        let dogs = try realm.objects("Dog")
        let handle = UnsafeRawPointer(Unmanaged.passUnretained(dogs).toOpaque())
        var seen: [Bool] = []
        let token = try dogs.observe(handle: handle) { _ in
            seen.append((try? realm.refresh()) ?? true)
        }
        try realm.beginWrite()
        #expect(!realm.isFresh && seen == [false])
        _ = try realm.create("Dog", primaryKey: .int(1), ["name": .string("x")])
        try realm.rollback()
        for _ in 0..<2 { _ = try realm.refresh() }
        #expect(realm.isFresh && seen == [false])
        token.invalidate()
        realm.close()
    }
}
