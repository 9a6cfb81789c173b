// Tells the observers of one realm what has changed: when the realm moves to another version, and
// after its own commits, but not within them. All observers stand at the version that they heard of
// last; each delivery compares that with the realm's version once, for all of them.
//
// Belongs to the realm's thread. Registrations may end on any thread: what they are is guarded by
// `lock`, and what they held is let go where they ended, or when their callback has returned.
//
// Invariants
//   1. A callback runs only while its registration has a body; both are asked for under the lock.
//   2. `watches` is touched by the realm's thread alone, and by nobody else after the realm closed.
//   3. No two watches of one handle stand at the same version, but within a delivery.
//   4. `settled` is the realm's version only while `deliver` would tell nobody, take out nothing and move
//      no watch. Whatever adds a watch, ends something or moves one sets it back, on any thread.

import CKernels

final class Notifier {
    private unowned let realm: Realm
    private let lock = Lock()
    private var watches: [Watch] = []
    /// The watches of each handle: one, but while observers of it stand at different versions.
    private var byHandle: [UInt: [Watch]] = [:]
    private var hasTwins = false
    private var lastNumber = 0
    private var isDelivering = false
    /// What the observer that is being called was told last; nil while none is.
    private(set) var told: HeldVersion?
    /// Those of its watch that come behind it.
    private var untold: ArraySlice<Registration> = []
    /// The realm's thread, as far as known; 0: none. Under `lock`.
    private var thread: UInt = 0
    /// Registrations and handles that ended and are still in watches; under `lock`.
    private var endedCount = 0
    /// Handles that ended on other threads; under `lock`.
    private var gone: [UInt] = []
    /// The version that all watches stand at with nothing left to tell; 0: it has to be looked. For
    /// `Realm.isFresh`, which counts no reference.
    let settled: UnsafeMutablePointer<UInt64>
    /// Stands in `settled` while nobody observes anything.
    static let settledAtAll = UInt64.max
    /// Has commits carry a log of what they did, from the oldest version of a watch on.
    private var need: LogNeed?
    /// Versions in use.
    private var versions: [WeakVersion] = []

    private struct WeakVersion {
        weak var version: HeldVersion?
    }

    init(_ realm: Realm) {
        self.realm = realm
        settled = .allocate(capacity: 1)
        settled.initialize(to: 0)
    }

    deinit { settled.deallocate() }

    /// The next `deliver` has to look; on any thread.
    private func unsettle() { ck_store_u64(settled, 0) }

    /// Nobody observes objects or collections of the realm.
    var isIdle: Bool { watches.isEmpty }

    /// Whether the caller is on the realm's thread; asked on any, when the realm may be going away.
    private var isOnThread: Bool { lock.withLock { thread == ck_thread_pointer() } }

    private func noteThread() {
        let gone = lock.withLock { () -> [UInt] in
            thread = ck_thread_pointer()
            defer { self.gone = [] }
            return self.gone
        }
        for handle in gone { forgetHere(handle) }
    }

    /// The realm goes to another thread.
    func leaveThread() {
        lock.withLock {
            thread = 0
            unsettle()
        }
    }

    // MARK: Registering

    /// Observes a subject, which `handle` stands for. The caller has checked both.
    func add(
        _ handle: UInt, _ filter: KeyPathFilter?, _ body: Registration.Body,
        _ subject: () throws(RealmError) -> Watch.Subject
    ) throws(RealmError) -> NotificationToken {
        noteThread()
        try realm.writeBase()
        let base = try held(try realm.readTables().version)
        if need == nil {
            need = try LogNeed(try realm.readTables().store, from: base.version)
        }
        lastNumber += 1
        let registration = Registration(lastNumber, filter, body)
        if let known = byHandle[handle]?.first(where: { $0.base === base && !$0.isForgotten }) {
            known.append(registration)
            unsettle()
        } else {
            let watch = Watch(handle, try subject(), base)
            watch.append(registration)
            append(watch)
        }
        realm.wakeSoon()
        return NotificationToken(self, registration)
    }

    private func append(_ watch: Watch) {
        unsettle()
        watches.append(watch)
        noteHandle(of: watch)
    }

    private func noteHandle(of watch: Watch) {
        byHandle[watch.handle, default: []].append(watch)
        hasTwins = hasTwins || (byHandle[watch.handle]?.count ?? 0) > 1
    }

    /// The version, shared by all that stand at it.
    private func held(_ version: UInt64) throws(RealmError) -> HeldVersion {
        versions.removeAll { $0.version == nil }
        for entry in versions {
            if let known = entry.version, known.version == version { return known }
        }
        let tables = try realm.readTables()
        // A write transaction may show a schema that is not committed.
        let made = try HeldVersion(
            tables.store, version, known: tables.isWriting ? nil : tables.knownSchema)
        versions.append(WeakVersion(version: made))
        return made
    }

    // MARK: Ending

    /// A registration is over; on any thread.
    fileprivate func end(_ registration: Registration) {
        let body = lock.withLock { () -> Registration.Body? in
            defer { registration.body = nil }
            if registration.body != nil {
                endedCount += 1
                unsettle()
            }
            return registration.body
        }
        // What the callback holds may run the caller's code when it is let go.
        withExtendedLifetime(body) {}
        if isOnThread, !isDelivering { pruneIfMany() }
    }

    /// A handle is gone: nobody is told of its subject any more, whatever tokens live on. On any thread.
    func forget(_ handle: UInt) {
        let isHere = lock.withLock { () -> Bool in
            unsettle()
            if thread == ck_thread_pointer() { return true }
            gone.append(handle)
            return false
        }
        if isHere { forgetHere(handle) }
    }

    private func forgetHere(_ handle: UInt) {
        guard let gone = byHandle.removeValue(forKey: handle) else { return }
        for watch in gone { watch.isForgotten = true }
        lock.withLock { endedCount += gone.count }
        if !isDelivering { pruneIfMany() }
    }

    /// Takes out what is over when that is a good part of all, so that each end costs little.
    private func pruneIfMany() {
        if lock.withLock({ endedCount }) * 4 >= watches.count { prune() }
    }

    /// Takes out what is over, so that the versions it stood at can go.
    private func prune() {
        let didEnd = lock.withLock { () -> Bool in
            defer { endedCount = 0 }
            guard endedCount > 0 else { return false }
            for watch in watches { watch.registrations.removeAll { $0.body == nil } }
            return true
        }
        if didEnd { takeOut() }
    }

    private func takeOut() {
        let count = watches.count
        watches.removeAll { $0.registrations.isEmpty || $0.isForgotten }
        guard watches.count < count else { return }
        byHandle = [:]
        hasTwins = false
        for watch in watches { noteHandle(of: watch) }
        noteNeed()
    }

    private func noteNeed() {
        if let oldest = watches.lazy.map(\.base.version).min() {
            need?.move(to: oldest)
        } else {
            need = nil
        }
    }

    /// The realm was closed, or its versions are given up: nothing is told any more.
    func endAll() {
        let ended = watches
        watches = []
        unsettle()
        byHandle = [:]
        need = nil
        for watch in ended { watch.isForgotten = true }
    }

    // MARK: Delivering

    /// Tells the observers what changed since they were told last. Callbacks may do anything: end
    /// registrations and add some, write, close the realm. Not from within a callback.
    func deliver() throws(RealmError) {
        if isDelivering { return }
        if watches.isEmpty { return settle(Self.settledAtAll) }
        noteThread()
        prune()
        guard let version = realm.version else { return }
        var contexts = Contexts()
        var queue = try due(version, &contexts)
        if queue.isEmpty {
            noteNeed()
            return settle(version)
        }
        isDelivering = true
        defer {
            isDelivering = false
            if hasTwins { join() }
            prune()
            noteNeed()
        }
        var next = 0
        while next < queue.count {
            let watch = queue[next]
            next += 1
            guard !realm.isClosed, let version = realm.version else { return }
            if watch.isForgotten { continue }
            let target = try contexts.target(version) { version throws(RealmError) in
                try held(version)
            }
            let context = try contexts.context(watch.base, target)
            if let rest = try deliver(watch, context, target) {
                append(rest)
                queue.append(rest)
            }
        }
        // A callback may have moved the realm.
        if let now = realm.version, watches.contains(where: { $0.base.version != now }) {
            realm.wakeSoon()
        }
    }

    /// All watches stand at the version, and nobody has to be told anything.
    private func settle(_ version: UInt64) {
        lock.withLock {
            // What ended meanwhile on another thread still has to be taken out.
            guard version == Self.settledAtAll || (endedCount == 0 && gone.isEmpty) else { return }
            ck_store_u64(settled, version)
        }
    }

    /// The watches of which somebody may have to be told something; the others go to the version.
    private func due(
        _ version: UInt64, _ contexts: inout Contexts
    ) throws(RealmError) -> [Watch] {
        let target = try held(version)
        contexts.note(target)
        var queue: [Watch] = []
        for watch in watches {
            if watch.base === target {
                if watch.hasNew { queue.append(watch) }
                continue
            }
            let context = try contexts.context(watch.base, target)
            if !watch.passes(context, to: target) { queue.append(watch) }
        }
        return queue
    }

    /// Tells the observers of one watch. Those that it did not come to because a callback moved the
    /// realm are given back, at the version where they were.
    private func deliver(
        _ watch: Watch, _ context: ChangeContext, _ target: HeldVersion
    ) throws(RealmError) -> Watch? {
        let base = watch.base
        let registrations = watch.registrations
        let told = try watch.advance(context, to: target, registrations)
        watch.hasNew = false
        for (index, registration) in registrations.enumerated() {
            if !registration.isNew && told[index].isEmpty { continue }
            if realm.isClosed || watch.isForgotten { return nil }
            if index > 0, realm.version != target.version {
                let rest = watch.before(base)
                for left in registrations[index...] { rest.append(left) }
                watch.registrations.removeAll { known in
                    rest.registrations.contains { $0 === known }
                }
                return rest
            }
            guard let body = lock.withLock({ registration.body }) else { continue }
            registration.isNew = false
            self.told = base
            untold = registrations[(index + 1)...]
            defer {
                self.told = nil
                untold = []
            }
            switch (body, told[index]) {
            case (.object(let call), .object(let changes)): call(changes)
            case (.elements(let call), .elements(let changes)): call(changes)
            case (.keys(let call), .keys(let changes)): call(changes)
            default: invariant(false, "an observer of another kind of thing")
            }
        }
        return nil
    }

    // MARK: Silence

    /// Whether the token is of an observer of this realm.
    func owns(_ token: NotificationToken) -> Bool { token.notifier === self }

    /// The realm has just committed on top of `before`: these observers are not told of it. Those that
    /// were not told of `before` yet hear of both.
    func skip(_ tokens: [NotificationToken], from before: UInt64) throws(RealmError) {
        guard let version = realm.version else { return }
        let target = try held(version)
        var contexts = Contexts()
        for watch in watches where watch.base.version == before && !watch.isForgotten {
            let silent = watch.registrations.filter { known in
                tokens.contains { $0.registration === known } && !untold.contains { $0 === known }
            }
            if silent.isEmpty { continue }
            if silent.count == watch.registrations.count {
                _ = try watch.advance(contexts.context(watch.base, target), to: target, silent)
                continue
            }
            let apart = watch.before(target)
            for registration in silent { apart.append(registration) }
            watch.registrations.removeAll { known in silent.contains { $0 === known } }
            append(apart)
        }
    }

    /// Watches of one handle at one version become one.
    private func join() {
        for (_, twins) in byHandle where twins.count > 1 {
            for (index, watch) in twins.enumerated() {
                guard
                    let first = twins[..<index].first(where: {
                        $0.base === watch.base && !$0.registrations.isEmpty
                    })
                else { continue }
                for registration in watch.registrations { first.append(registration) }
                first.registrations.sortFew { $0.number < $1.number }
                watch.registrations = []
            }
        }
        takeOut()
    }

    /// What a delivery made of versions, for all its observers.
    private struct Contexts {
        private var all: [ChangeContext] = []
        private var last: HeldVersion?
        private var lastContext: (base: HeldVersion, target: HeldVersion, context: ChangeContext)?

        mutating func note(_ target: HeldVersion) { last = target }

        mutating func target(
            _ version: UInt64, _ make: (UInt64) throws(RealmError) -> HeldVersion
        ) throws(RealmError) -> HeldVersion {
            if let last, last.version == version { return last }
            let made = try make(version)
            last = made
            return made
        }

        mutating func context(
            _ base: HeldVersion, _ target: HeldVersion
        ) throws(RealmError) -> ChangeContext {
            if let lastContext, lastContext.base === base, lastContext.target === target {
                return lastContext.context
            }
            let made: ChangeContext
            if let known = all.first(where: {
                $0.old === base.tables && $0.new === target.tables
            }) {
                made = known
            } else {
                made = try ChangeContext(from: base.tables, to: target.tables)
                all.append(made)
            }
            lastContext = (base, target, made)
            return made
        }
    }
}

/// Ends an observation when it goes away; on any thread. What the callback holds is let go then, or
/// when the callback that runs has returned.
package final class NotificationToken: @unchecked Sendable {
    fileprivate private(set) weak var notifier: Notifier?
    fileprivate let registration: Registration

    init(_ notifier: Notifier, _ registration: Registration) {
        self.notifier = notifier
        self.registration = registration
    }

    package func invalidate() {
        if let notifier {
            notifier.end(registration)
        } else {
            // The realm is gone, and with it all that could call.
            registration.body = nil
        }
    }

    deinit { invalidate() }
}
