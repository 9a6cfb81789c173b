// Observers of realms, objects and collections.

import CoreSwift
public import Foundation

enum Observing {
    /// Misuse where nothing can be observed.
    static func check(_ session: _RealmSession, _ queue: DispatchQueue?) {
        if session.core.isFrozen {
            misuse("Frozen Realms do not change and do not have change notifications.")
        }
        if session.configuration.readOnly {
            misuse("Read-only Realms do not change and do not have change notifications.")
        }
        if queue == nil, !(session.confinement?.delivers ?? false) {
            misuse("Can only add notification blocks from within runloops.")
        }
    }

    static func text(_ error: RealmError) -> String {
        switch error.code {
        case .wrongTransactionState:
            "Cannot create asynchronous query after making changes in a write transaction."
        case .wrongThread, .invalidatedObject, .staleAccessor: misuseText(error, .query)
        default: error.message
        }
    }

    static func call<R>(_ call: @autoclosure () throws(RealmError) -> R) -> R {
        do throws(RealmError) {
            return try call()
        } catch {
            misuse(text(error))
        }
    }

    /// Runs `begin` here, or on the queue with the counterparts there.
    static func observe(
        _ session: _RealmSession, _ queue: DispatchQueue?,
        reference: () throws(RealmError) -> EngineReference,
        begin:
            @escaping (_RealmSession, EngineReference?, NotificationToken) throws(RealmError)
            -> Void
    ) -> NotificationToken {
        check(session, queue)
        let token = NotificationToken()
        guard let queue else {
            call(try begin(session, nil, token))
            return token
        }
        let late = Late(call(try reference()), begin, session.configuration, queue)
        queue.async { [weak token] in
            // Nil: ended before it began.
            if let token { late.run(token) }
        }
        return token
    }

    /// An observation that begins on a queue. A class and not a tuple, which the optimiser (6.3.1) fails on.
    private final class Late: @unchecked Sendable {
        typealias Begin = (_RealmSession, EngineReference?, NotificationToken) throws(RealmError)
            -> Void
        private let reference: EngineReference
        private let begin: Begin
        private let configuration: Realm.Configuration
        private let queue: DispatchQueue

        init(
            _ reference: EngineReference, _ begin: @escaping Begin,
            _ configuration: Realm.Configuration, _ queue: DispatchQueue
        ) {
            self.reference = reference
            self.begin = begin
            self.configuration = configuration
            self.queue = queue
        }

        func run(_ token: NotificationToken) {
            let there: _RealmSession
            do {
                there = try SessionCache.open(configuration, .queue(queue))
            } catch {
                misuse("\(error)")
            }
            do throws(RealmError) {
                try begin(there, reference, token)
            } catch {
                // What was to be observed is not there any more: nothing will ever be told.
                if error.code != .invalidatedObject, error.code != .staleAccessor {
                    misuse(Observing.text(error))
                }
            }
        }
    }

    /// Misuse for key paths that lead to nothing, before another queue finds it.
    static func checkKeyPaths(
        _ session: _RealmSession, _ classKey: ClassKey?, _ keyPaths: [String]?
    ) {
        _ = call(try filter(session, classKey, keyPaths))
    }

    static func filter(
        _ session: _RealmSession, _ classKey: ClassKey?, _ keyPaths: [String]?
    ) throws(RealmError) -> KeyPathFilter? {
        guard let keyPaths, let classKey else { return nil }
        return try session.core.keyPaths(classKey, keyPaths)
    }
}

// MARK: - Realms

extension Realm {
    /// Calls a block after each transaction that this realm shows, its own ones included.
    public func observe(
        _ block: @escaping (_ notification: Notification, _ realm: Realm) -> Void
    ) -> NotificationToken {
        Observing.check(session, nil)
        let token = engine(.query) { () throws(RealmError) in
            // The realm stays as long as it is observed.
            try core.addChangeObserver {
                block(core.following.isAsking ? .refreshRequired : .didChange, Realm(session))
            }
        }
        return NotificationToken(token, session)
    }
}

// MARK: - Objects

/// Keeps the handle that an observation belongs to.
private final class KeptHandle {
    let handle: ObjectHandle
    let session: _RealmSession
    init(_ handle: ObjectHandle, _ session: _RealmSession) {
        self.handle = handle
        self.session = session
    }
    deinit { handle.release() }
}

/// What `observe` has on both kinds of objects.
public protocol _ObservableObject: ObjectBase {}
extension RealmSwiftObject: _ObservableObject {}
extension RealmSwiftEmbeddedObject: _ObservableObject {}

extension _ObservableObject {
    /// Calls a block when properties change or the object is deleted.
    ///
    /// - Parameter keyPaths: the properties that count; nil: all of this object.
    /// - Parameter queue: where the block is called, with the object there; nil: where the realm belongs.
    public func observe(
        keyPaths: [String]? = nil, on queue: DispatchQueue? = nil,
        _ block: @escaping (ObjectChange<Self>) -> Void
    ) -> NotificationToken {
        let object = managedHandle(
            "Only objects which are managed by a Realm support change notifications")
        _rlmCheckValid()
        let mine = _rlmSession
        if queue != nil { Observing.checkKeyPaths(mine, object.classKey, keyPaths) }
        return Observing.observe(mine, queue) { () throws(RealmError) in
            try EngineReference(object)
        } begin: { session, reference, token throws(RealmError) in
            let handle = try reference?.object(in: session.core) ?? object.clone()
            try Self.begin(handle, session, keyPaths, token, block)
        }
    }

    /// The same with key paths: `observe(keyPaths: [\.name, \.age])`.
    public func observe(
        keyPaths: [PartialKeyPath<Self>], on queue: DispatchQueue? = nil,
        _ block: @escaping (ObjectChange<Self>) -> Void
    ) -> NotificationToken {
        observe(keyPaths: keyPaths.map { KeyPathNames.name($0) }, on: queue, block)
    }

    private static func begin(
        _ handle: ObjectHandle, _ session: _RealmSession, _ keyPaths: [String]?,
        _ token: NotificationToken, _ block: @escaping (ObjectChange<Self>) -> Void
    ) throws(RealmError) {
        try handle.checkValid()
        let kept = KeptHandle(handle, session)
        let object = session.accessor(handle.clone(), Self.self)
        let memory = PropertyMemory(object)
        var isFirst = true
        let filter = try Observing.filter(session, handle.classKey, keyPaths)
        let made = try handle.observe(filter) { changes in
            defer { isFirst = false }
            if changes.isDeleted { return block(.deleted) }
            let properties = memory.changes(changes.properties)
            if isFirst && properties.isEmpty { return }
            block(.change(object, properties))
        }
        token.take(made, keeping: kept, session)
    }
}

/// The values of an object as its observer knows them.
private final class PropertyMemory {
    private unowned let object: ObjectBase
    private var values: [Int64: Any] = [:]
    private let binding: _ClassBinding?

    init(_ object: ObjectBase) {
        self.object = object
        binding = object.binding
        for property in binding?.schema.properties ?? [] where property.collection == .none {
            values[property.key.rawValue] = object.value(forKey: name(property))
        }
    }

    private func name(_ property: PropertySchema) -> String {
        property.publicName.isEmpty ? property.name : property.publicName
    }

    func changes(_ keys: [CoreSwift.PropertyKey]) -> [PropertyChange] {
        var result: [PropertyChange] = []
        for property in binding?.schema.properties ?? [] where keys.contains(property.key) {
            guard property.collection == .none else {
                result.append(PropertyChange(name: name(property), oldValue: nil, newValue: nil))
                continue
            }
            let old = values[property.key.rawValue]
            let new = object.value(forKey: name(property))
            values[property.key.rawValue] = new
            result.append(PropertyChange(name: name(property), oldValue: old, newValue: new))
        }
        return result
    }
}

// MARK: - Collections

extension RealmCollection {
    /// Calls a block soon with the collection as it is, and then after each change of it.
    ///
    /// - Parameter keyPaths: the properties of elements that count as modifications; nil: all, and those of
    ///   objects that they link to.
    /// - Parameter queue: where the block is called, with the collection there; nil: where the realm belongs.
    public func observe(
        keyPaths: [String]? = nil, on queue: DispatchQueue? = nil,
        _ block: @escaping (RealmCollectionChange<Self>) -> Void
    ) -> NotificationToken {
        _rlmObserve(keyPaths, queue, block)
    }
}

extension RealmCollection {
    /// The same with the collection before and after each change, frozen: `before` has the elements that were deleted,
    /// and all values that were there. It is nil in the first call. The version of the last call stays in the file
    /// until the next one.
    ///
    /// - Parameter withOldValues: false: both are nil.
    public func observe(
        keyPaths: [String]? = nil, on queue: DispatchQueue? = nil, withOldValues: Bool,
        _ block:
            @escaping (_ change: RealmCollectionChange<Self>, _ before: Self?, _ after: Self?) ->
            Void
    ) -> NotificationToken {
        var known: Self?
        return observe(keyPaths: keyPaths, on: queue) { change in
            guard withOldValues else { return block(change, nil, nil) }
            let before = known
            switch change {
            case .initial(let collection), .update(let collection, _, _, _):
                known = collection.isInvalidated ? nil : collection.freeze()
            case .error: break
            }
            block(change, before, known)
        }
    }
}

extension _ElementSource {
    /// Observes results; `make` wraps them for the block.
    static func observe<C>(
        _ source: _ElementSource, _ keyPaths: [String]?, _ queue: DispatchQueue?,
        _ make: @escaping (_ElementSource) -> C,
        _ block: @escaping (RealmCollectionChange<C>) -> Void
    ) -> NotificationToken {
        if queue != nil {
            Observing.checkKeyPaths(
                source.session, source.objectClass, keyPaths)
        }
        return Observing.observe(source.session, queue) { () throws(RealmError) in
            try EngineReference(source.core)
        } begin: { session, reference, token throws(RealmError) in
            let core = try reference?.results(in: session.core) ?? source.core
            let there = reference == nil ? source : _ElementSource(core, session)
            let collection = make(there)
            var isFirst = true
            let filter = try Observing.filter(session, there.objectClass, keyPaths)
            let made = try core.observe(filter, handle: session.nameObservation()) { changes in
                defer { isFirst = false }
                block(RealmCollectionChange(collection, changes, isFirst: isFirst))
            }
            token.take(made, keeping: there, session)
        }
    }
}

extension _ManagedCollection {
    /// Of collections of objects.
    var elementClass: ClassKey? {
        (call(try core.results()) as? EngineResults)?.classKey
    }

    /// Observes a collection: `begin` is handed one of its own where it is told.
    static func observe(
        _ collection: _ManagedCollection?, _ keyPaths: [String]?, _ queue: DispatchQueue?,
        _ begin:
            @escaping (_ManagedCollection, KeyPathFilter?) throws(RealmError) -> EngineToken
    ) -> NotificationToken {
        guard let collection else {
            misuse("Change notifications are only supported on managed collections.")
        }
        if queue != nil {
            Observing.checkKeyPaths(collection.session, collection.elementClass, keyPaths)
        }
        return Observing.observe(collection.session, queue) { () throws(RealmError) in
            try EngineReference(collection.core)
        } begin: { session, reference, token throws(RealmError) in
            let core =
                try reference?.collection(collection.core.type, in: session.core)
                ?? collection.core.copy()
            let filter = try Observing.filter(
                session, (try core.results() as? EngineResults)?.classKey, keyPaths)
            let made = try begin(_ManagedCollection(core, session), filter)
            token.take(made, keeping: core, session)
        }
    }
}

extension Results {
    public func _rlmObserve(
        _ keyPaths: [String]?, _ queue: DispatchQueue?,
        _ block: @escaping (RealmCollectionChange<Results>) -> Void
    ) -> NotificationToken {
        _ElementSource.observe(source, keyPaths, queue, { Results($0) }, block)
    }
}

extension LinkingObjects {
    public func _rlmObserve(
        _ keyPaths: [String]?, _ queue: DispatchQueue?,
        _ block: @escaping (RealmCollectionChange<LinkingObjects>) -> Void
    ) -> NotificationToken {
        let origin = origin
        return _ElementSource.observe(
            _rlmResults.source, keyPaths, queue, { LinkingObjects(origin, $0) }, block)
    }
}

extension Map {
    /// Calls a block soon with the map as it is, and then after each change of it.
    public func observe(
        keyPaths: [String]? = nil, on queue: DispatchQueue? = nil,
        _ block: @escaping (RealmMapChange<Map>) -> Void
    ) -> NotificationToken {
        _ManagedCollection.observe(_rlmManaged, keyPaths, queue) {
            there, filter throws(RealmError) in
            let map = Map(.managed(there))
            var isFirst = true
            return try there.core.observeKeys(filter) { changes in
                defer { isFirst = false }
                if isFirst { return block(.initial(map)) }
                func keys(_ names: [String]) -> [Key] { names.compactMap { Key._rlmConvert($0) } }
                block(
                    .update(
                        map, deletions: keys(changes.deletions),
                        insertions: keys(changes.insertions),
                        modifications: keys(changes.modifications)))
            }
        }
    }
}
