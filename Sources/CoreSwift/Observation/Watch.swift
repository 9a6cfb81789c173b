// One thing that is observed through one handle, and who is to be told. It stands at the version that
// was told last, which it keeps from going away.

import CKernels

/// A version of a file, with tables to read it. Belongs to one thread; may end on any.
final class HeldVersion {
    let tables: TableSet
    private let stamp: UnsafeMutablePointer<UInt64>

    /// The version is held by somebody already.
    init(
        _ store: Store, _ version: UInt64, known: KnownSchema?
    ) throws(RealmError) {
        let pin = try store.pin(version: version)
        let stamp = UnsafeMutablePointer<UInt64>.allocate(capacity: 1)
        stamp.initialize(to: 1)
        do throws(RealmError) {
            tables = try TableSet(store: store, pin: pin, stamp: stamp, known: known)
        } catch {
            stamp.deallocate()
            throw error
        }
        self.stamp = stamp
    }

    deinit {
        tables.close()
        stamp.deallocate()
    }

    var version: UInt64 { tables.version }
}

/// One observer. Its fields are guarded by the lock of its notifier, but those that never change.
final class Registration {
    enum Body {
        case object((ObjectChanges) -> Void)
        case elements((ElementChanges) -> Void)
        case keys((KeyChanges) -> Void)
    }

    /// In the order of registration.
    let number: Int
    let filter: KeyPathFilter?
    /// Nil when it is over.
    var body: Body?
    /// It was not called yet.
    var isNew = true

    init(_ number: Int, _ filter: KeyPathFilter?, _ body: Body) {
        self.number = number
        self.filter = filter
        self.body = body
    }
}

final class Watch {
    enum Subject {
        case object(WatchedObject)
        /// Observed as list or set: moves of lists are told.
        case collection(WatchedCollection)
        case dictionary(WatchedCollection)
        case results(WatchedResults)
        /// Results that are the elements of a collection of objects, one by one.
        case members(WatchedCollection)
        case values(WatchedValues)
        /// Results that were not valid when somebody began to observe them.
        case nothing
    }

    /// What the change was, for one observer.
    enum Told {
        case object(ObjectChanges)
        case elements(ElementChanges)
        case keys(KeyChanges)

        var isEmpty: Bool {
            switch self {
            case .object(let changes): return changes.isEmpty
            case .elements(let changes): return changes.isEmpty
            case .keys(let changes): return changes.isEmpty
            }
        }
    }

    /// The handle that is observed, or what stands for it.
    let handle: UInt
    let subject: Subject
    private(set) var base: HeldVersion
    var registrations: [Registration] = []
    /// Some of them were not called yet.
    var hasNew = false
    /// Some of them have filters, or had.
    private var hasFilters = false
    /// The handle is gone, or the realm closed.
    var isForgotten = false
    /// The end of what is observed was told.
    private var isOver = false

    init(_ handle: UInt, _ subject: Subject, _ base: HeldVersion) {
        self.handle = handle
        self.subject = subject
        self.base = base
    }

    /// Whether it is an object that did not change, and nobody is to be told: goes to the version then.
    func passes(_ context: ChangeContext, to target: HeldVersion) -> Bool {
        guard case .object(let object) = subject, !context.summary.changesSchema,
            !context.isTouched(object.classKey, object.key),
            !hasNew, !hasFilters
        else { return false }
        base = target
        return true
    }

    func append(_ registration: Registration) {
        registrations.append(registration)
        hasNew = hasNew || registration.isNew
        hasFilters = hasFilters || registration.filter != nil
    }

    /// The same at an earlier version, for observers that were not told yet.
    func before(_ base: HeldVersion) -> Watch {
        switch subject {
        case .results(let results):
            return Watch(handle, .results(WatchedResults(results.description)), base)
        default: return Watch(handle, subject, base)
        }
    }

    /// Goes to another version; what changed on the way for each of the observers.
    func advance(
        _ context: ChangeContext, to target: HeldVersion, _ registrations: [Registration]
    ) throws(RealmError) -> [Told] {
        let told = try changes(context, registrations)
        base = target
        return told
    }

    private func changes(
        _ context: ChangeContext, _ registrations: [Registration]
    ) throws(RealmError) -> [Told] {
        if isOver { return registrations.map { _ in nothing } }
        var told: [Told] = []
        told.reserveCapacity(registrations.count)
        switch subject {
        case .object(let object):
            for registration in registrations {
                let changes = try object.changes(context, registration.filter)
                isOver = changes.isDeleted
                told.append(.object(changes))
            }
        case .collection(let collection):
            for registration in registrations {
                let changes = try collection.elementChanges(
                    context, registration.filter, tellsMoves: collection.place.type == .list)
                told.append(.elements(end(changes)))
            }
        case .members(let collection):
            for registration in registrations {
                if collection.place.type == .dictionary {
                    let changes = try collection.elementChanges(
                        context, registration.filter, tellsMoves: false)
                    told.append(.elements(end(changes)))
                    continue
                }
                // Owners that are gone leave such results empty, but valid.
                var changes = try collection.memberChanges(context, registration.filter)
                changes.wasCleared = false
                told.append(.elements(changes))
            }
        case .dictionary(let dictionary):
            for registration in registrations {
                var changes = try dictionary.keyChanges(context, registration.filter)
                if changes == nil {
                    changes = KeyChanges()
                    changes?.wasDeleted = true
                }
                isOver = changes?.wasDeleted ?? true
                told.append(.keys(changes ?? KeyChanges()))
            }
        case .results(let results):
            try results.prepare(context.old)
            let all = try results.changes(context, registrations.map(\.filter))
            told = all.map { .elements($0) }
        case .values(let values):
            let changes = end(try values.changes(context))
            told = registrations.map { _ in .elements(changes) }
        case .nothing:
            isOver = true
            told = registrations.map { _ in .elements(ElementChanges(deleted: 0)) }
        }
        return told
    }

    private func end(_ changes: ElementChanges?) -> ElementChanges {
        let changes = changes ?? ElementChanges(deleted: 0)
        isOver = changes.wasDeleted
        return changes
    }

    private var nothing: Told {
        switch subject {
        case .object: return .object(ObjectChanges())
        case .dictionary: return .keys(KeyChanges())
        default: return .elements(ElementChanges())
        }
    }
}
