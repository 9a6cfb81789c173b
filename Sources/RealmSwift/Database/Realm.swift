// A realm as programs have it: opening, transactions, objects.

import CoreSwift
import CRuntime
public import Foundation

/// A realm: the objects of one file, as one thread, queue or actor sees them.
///
/// ```swift
/// let realm = try Realm()
/// try realm.write {
///     realm.add(Dog(value: ["name": "Rex", "age": 3]))
/// }
/// let puppies = realm.objects(Dog.self).where { $0.age < 2 }
/// ```
///
/// Opening a file again on the same thread, queue or actor gives the same realm. Objects and collections
/// belong to the place where their realm was opened; `freeze()` and `ThreadSafeReference` take them elsewhere.
public struct Realm {
    let session: _RealmSession
    var core: EngineRealm { session.core }

    init(_ session: _RealmSession) { self.session = session }

    // MARK: Opening

    /// Opens the default realm.
    ///
    /// - Parameter queue: the serial queue that the realm belongs to; nil: the calling thread.
    /// - Throws: `Realm.Error`.
    public init(queue: DispatchQueue? = nil) throws {
        try self.init(configuration: .defaultConfiguration, queue: queue)
    }

    /// Opens the realm of a configuration.
    ///
    /// - Throws: `Realm.Error`; `schemaMismatch` where the file's classes are others and its schema
    ///   version is not lower.
    public init(
        configuration: Configuration = .defaultConfiguration, queue: DispatchQueue? = nil
    ) throws {
        let confinement = queue.map { Confinement.queue($0) } ?? .current()
        if queue != nil, !confinement.scheduler.isOnThread {
            try refuse("Realm opened from incorrect dispatch queue.")
        }
        self.init(try SessionCache.open(configuration, confinement))
    }

    /// Opens the file at a URL with the other settings of the default configuration.
    public init(fileURL: URL) throws {
        var configuration = Configuration.defaultConfiguration
        configuration.fileURL = fileURL
        try self.init(configuration: configuration)
    }

    /// Opens a realm that belongs to an actor.
    ///
    /// - Parameter downloadBeforeOpen: for programs that have it; nothing is downloaded here.
    public init<A: Actor>(
        configuration: Configuration = .defaultConfiguration, actor: isolated A,
        downloadBeforeOpen: OpenBehavior = .never
    ) async throws {
        self.init(try SessionCache.open(configuration, .actor(actor)))
    }

    /// Opens a realm that belongs to the main actor.
    ///
    /// - Parameter downloadBeforeOpen: for programs that have it; nothing is downloaded here.
    @MainActor public init(
        configuration: Configuration = .defaultConfiguration, downloadBeforeOpen: OpenBehavior
    ) async throws {
        try self.init(configuration: configuration)
    }

    /// Opens the realm, with all that has to be done to the file first on another thread, and calls back
    /// on a queue with the realm there.
    @discardableResult
    public static func asyncOpen(
        configuration: Configuration = .defaultConfiguration,
        callbackQueue: DispatchQueue = .main,
        callback: @escaping (Result<Realm, any Swift.Error>) -> Void
    ) -> AsyncOpenTask {
        let task = AsyncOpenTask()
        var preparing = configuration
        preparing.migrationProgress = { part in
            configuration.migrationProgress?(part)
            task.tell(part)
        }
        let wanted = preparing
        // It is called once, on the queue.
        let call = UncheckedBox(callback)
        DispatchQueue.global().async {
            // Migrating, copying and compacting happens here; the callback finds the file as it should be.
            let prepared = UncheckedBox(
                Result { () throws in
                    if task.isCancelled { throw CancellationError() }
                    return try Realm(configuration: wanted)
                })
            callbackQueue.async {
                if task.isCancelled { return call.value(.failure(CancellationError())) }
                switch prepared.value {
                case .failure(let error): call.value(.failure(error))
                case .success:
                    call.value(
                        Result { try Realm(configuration: configuration, queue: callbackQueue) })
                }
            }
        }
        return task
    }

    /// An opening under way.
    public final class AsyncOpenTask: Sendable {
        private let lock = NSLock()
        nonisolated(unsafe) private var cancelled = false
        nonisolated(unsafe) private var told: [@Sendable (Double) -> Void] = []
        nonisolated(unsafe) private var last: Double?
        var isCancelled: Bool { lock.withLock { cancelled } }

        func tell(_ part: Double) {
            lock.withLock {
                last = part
                for block in told { block(part) }
            }
        }

        /// Calls a block on a queue with how much of a migration is done, from 0 to 1; also with what was told before it
        /// came.
        public func addProgressNotification(
            queue: DispatchQueue = .main, block: @escaping @Sendable (Double) -> Void
        ) {
            lock.withLock {
                let tell: @Sendable (Double) -> Void = { part in queue.async { block(part) } }
                told.append(tell)
                if let last { tell(last) }
            }
        }

        /// Ends the opening as soon as that can be; the callback gets a `CancellationError`.
        public func cancel() { lock.withLock { cancelled = true } }
    }

    // MARK: State

    /// The configuration that the realm was opened with.
    public var configuration: Configuration { session.configuration }

    /// The classes of the realm.
    public var schema: Schema { Schema(core.schema) }

    /// There are no objects in the realm.
    public var isEmpty: Bool {
        engine(.realm) { () throws(RealmError) in
            try core.beginRead()
            for item in core.schema.classes where item.key != .invalid {
                if try core.objectCount(item.key) > 0 { return false }
            }
            return true
        }
    }

    /// A write transaction is open.
    public var isInWriteTransaction: Bool { core.isWritable }

    /// Shows the writes of others by itself, where it belongs to something that runs blocks; true at first. Set
    /// false, it stays at its version until `refresh()` or a write, and its observers get `.refreshRequired`.
    /// Frozen realms have false.
    public var autorefresh: Bool {
        get { core.isFollowing }
        nonmutating set {
            if core.isFrozen {
                if newValue { misuse("Auto-refresh cannot be enabled for frozen Realms.") }
                return
            }
            checkThread()
            engine(.transaction, try core.follow(newValue))
        }
    }

    // MARK: Writing

    /// Runs a block in a write transaction. What the block throws undoes all changes, and is thrown on. The
    /// block may end the transaction itself.
    ///
    /// - Parameter tokens: observers of this realm that are not told of the changes.
    /// - Throws: what the block throws; `Realm.Error` where the changes could not be saved.
    @discardableResult
    public func write<Result>(
        withoutNotifying tokens: [NotificationToken] = [], _ block: () throws -> Result
    ) throws -> Result {
        try begin(refuse)
        do {
            let result = try block()
            if isInWriteTransaction { try commitWrite(withoutNotifying: tokens) }
            return result
        } catch {
            if isInWriteTransaction { cancelWrite() }
            throw error
        }
    }

    /// Begins a write transaction on the newest version; waits for other writers. The observers of this
    /// realm are told first of what is pending.
    public func beginWrite() { begin { misuse($0) } }

    private func begin(_ refuse: (String) throws -> Never) rethrows {
        if core.isFrozen { try refuse("Can't perform transactions on a frozen Realm") }
        if session.configuration.readOnly {
            try refuse("Can't perform transactions on read-only Realms.")
        }
        if core.isWritable { try refuse("The Realm is already in a write transaction") }
        do throws(RealmError) {
            try core.beginWrite()
        } catch {
            try refuse(misuseText(error, .transaction))
        }
    }

    /// Saves the changes and ends the transaction.
    ///
    /// - Throws: `Realm.Error`, for instance `outOfDiskSpace`; the changes are undone then.
    public func commitWrite(withoutNotifying tokens: [NotificationToken] = []) throws {
        guard core.isWritable else {
            try checkedEngine(.transaction, try core.beginRead())
            try refuse("Can't commit a non-existing write transaction")
        }
        let silent = try tokens.flatMap { try $0.engineTokens(of: session) }
        try asRealmError(core.path) { () throws(RealmError) in
            try core.commit(
                withoutNotifying: silent, realmTokens: tokens.flatMap { $0.realmTokens })
        }
    }

    /// Undoes the changes and ends the transaction. Objects that were added in it are invalidated.
    public func cancelWrite() {
        guard core.isWritable else {
            checkThread()
            misuse("Can't cancel a non-existing write transaction")
        }
        engine(.transaction, try core.rollback())
    }

    private func checkThread() {
        engine(.transaction, try core.beginRead())
    }

    /// Runs a block as a part of the write transaction that is open, or in one of its own. What the block throws
    /// takes back what it changed, and no more, and is thrown on.
    @discardableResult
    public func writeNested<Result>(_ block: () throws -> Result) throws -> Result {
        guard core.isWritable else { return try write(block) }
        let begin = try checkedEngine(.transaction, try core.savepoint())
        let result: Result
        do {
            result = try block()
        } catch {
            if core.isWritable {
                engine(.transaction) { () throws(RealmError) in
                    try core.rollback(to: begin)
                    try core.release(begin)
                }
            }
            throw error
        }
        if core.isWritable {
            engine(.transaction, try core.release(begin))
        }
        return result
    }

    // MARK: Adding and creating

    /// What happens where an object with the primary key is there already.
    public enum UpdatePolicy: Int, Sendable {
        /// Misuse.
        case error = 1
        /// Properties with other values are written.
        case modified = 3
        /// All properties are written.
        case all = 2

        var adding: _AddingPolicy {
            switch self {
            case .error: .error
            case .modified: .modified
            case .all: .all
            }
        }
    }

    /// Stores an object and everything that it links to. The instance is managed from then on; one that
    /// the realm has already is left as it is.
    public func add(_ object: Object, update: UpdatePolicy = .error) {
        session.add(object, update.adding)
    }

    /// The form of realm-swift 3: true is `.all`.
    @available(*, deprecated, message: "Pass .error, .modified or .all.")
    public func add(_ object: Object, update: Bool) { add(object, update: update ? .all : .error) }

    /// The form of realm-swift 3: true is `.all`.
    @available(*, deprecated, message: "Pass .error, .modified or .all.")
    @discardableResult
    public func create<T: Object>(
        _ type: T.Type, value: Any = [:] as [String: Any], update: Bool
    ) -> T { create(type, value: value, update: update ? .all : .error) }

    /// Stores several objects.
    public func add<S: Sequence>(_ objects: S, update: UpdatePolicy = .error)
    where S.Iterator.Element: Object {
        for object in objects { add(object, update: update) }
    }

    /// The older form: `true` is `.all`.
    @available(*, deprecated, message: "Use add(_:update:) with a policy.")
    public func add<S: Sequence>(_ objects: S, update: Bool) where S.Iterator.Element: Object {
        add(objects, update: update ? .all : .error)
    }

    /// Stores a new object with values as for `Object.init(value:)`, and returns it. Where an object with
    /// the primary key is updated, properties without a value stay as they are.
    @discardableResult
    public func create<T: Object>(
        _ type: T.Type, value: Any = [:] as [String: Any], update: UpdatePolicy = .error
    ) -> T {
        let object = session.create(type, value, update.adding)
        guard let typed = object as? T else { misuse("'\(object)' is no '\(type)'") }
        return typed
    }

    /// Stores a new object of a class by its name.
    @discardableResult
    public func dynamicCreate(
        _ typeName: String, value: Any = [:] as [String: Any], update: UpdatePolicy = .error
    ) -> DynamicObject {
        session.createDynamic(typeName, value, update.adding)
    }

    // MARK: Deleting

    /// Deletes an object; it is invalidated, also where the transaction is cancelled: what it stood for is found again
    /// then, by another one.
    public func delete(_ object: ObjectBase) {
        guard let handle = object.handle, object.session === session else {
            misuse("Can only delete an object from the Realm it belongs to.")
        }
        engine(.realm, try handle.delete())
        handle.end()
    }

    /// Deletes several objects.
    public func delete<S: Sequence>(_ objects: S) where S.Iterator.Element: ObjectBase {
        for object in Array(objects) where !object.isInvalidated { delete(object) }
    }

    /// Deletes the objects of a list, which is empty then.
    public func delete<Element: ObjectBase>(_ objects: List<Element>) {
        let collection = objects.managed
        collection.call(try collection.core.deleteAll())
    }

    /// Deletes the objects of a map; its keys lead to nothing then.
    public func delete<Key, Element: ObjectBase>(_ map: Map<Key, Element?>) {
        for object in map.values.compactMap({ $0 }) where !object.isInvalidated { delete(object) }
    }

    /// Deletes all objects of results.
    public func delete<Element: ObjectBase>(_ objects: Results<Element>) {
        guard let core = objects.core as? EngineResults else { return }
        engine(.realm, try core.deleteAll())
    }

    /// Deletes all objects of the realm.
    public func deleteAll() {
        engine(.realm) { () throws(RealmError) in
            guard core.isWritable else {
                throw RealmError(.wrongTransactionState, "no write transaction is open")
            }
            for item in core.schema.classes where item.kind == .topLevel && item.key != .invalid {
                try core.results(item.key).deleteAll()
            }
        }
    }

    // MARK: Versions

    /// Moves to the newest version, and tells observers what changed. True if there was a newer one.
    @discardableResult
    public func refresh() -> Bool {
        if core.isFrozen {
            misuse("Frozen Realms do not change and do not have change notifications.")
        }
        return engine(.transaction, try core.refresh())
    }

    /// The realm is frozen.
    public var isFrozen: Bool { core.isFrozen }

    /// The realm as it is now: it never changes, and any thread may read it.
    public func freeze() -> Realm { Realm(session.frozen()) }

    /// The live realm of the calling thread for this file.
    public func thaw() -> Realm { Realm(session.live()) }

    /// The object as it is now.
    public func freeze<T: ObjectBase>(_ object: T) -> T { object.frozenCopy() }

    /// The live object; nil if it was deleted.
    public func thaw<T: ObjectBase>(_ object: T) -> T? { object.thawedCopy() }

    /// A collection as it is now.
    public func freeze<C: RealmCollection>(_ collection: C) -> C { collection.freeze() }

    /// The live collection; nil if it is not there any more.
    public func thaw<C: RealmCollection>(_ collection: C) -> C? { collection.thaw() }

    /// Lets go of the version that the realm shows: objects and lists become invalid, results empty, and what
    /// observes them hears no more; an open write transaction is undone. The realm itself stays valid, and
    /// shows the newest version when it is asked for something. Waits for asynchronous commits.
    public func invalidate() {
        engine(.transaction, try core.invalidate())
    }
}

extension Realm: Equatable {
    /// Whether both are the same realm of the same thread, queue or actor.
    public static func == (a: Realm, b: Realm) -> Bool { a.session === b.session }
}

@available(*, unavailable)
extension Realm: @unchecked Sendable {}

/// A type of which realms have objects.
public protocol RealmFetchable: RealmCollectionValue {
    /// The name of the class.
    static func className() -> String
}
extension RealmSwiftObject: RealmFetchable {}
