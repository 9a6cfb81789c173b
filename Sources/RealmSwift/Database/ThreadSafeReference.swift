// Taking objects and collections to other threads.

public import CoreSwift
import Foundation

/// The engine's reference, or what needs none as it is frozen.
public final class _Reference: @unchecked Sendable {
    enum Target {
        case engine(EngineReference)
        case frozen(Any)
    }
    let target: Target
    private let lock = NSLock()
    private var isResolved = false

    init(_ target: Target) { self.target = target }

    /// Misuse the second time.
    func take() {
        lock.withLock {
            if isResolved { misuse("Can only resolve a thread safe reference once.") }
            isResolved = true
        }
    }

    var wasTaken: Bool { lock.withLock { isResolved } }
}

/// Carries an object or a collection to another thread, queue or actor.
///
/// ```swift
/// let reference = ThreadSafeReference(to: dog)
/// queue.async {
///     let realm = try! Realm(configuration: configuration, queue: queue)
///     guard let dog = realm.resolve(reference) else { return }  // deleted meanwhile
/// }
/// ```
///
/// A reference is resolved once.
public struct ThreadSafeReference<Confined: ThreadConfined>: @unchecked Sendable {
    let reference: _Reference

    /// Misuse for what no realm manages, and for what is not there any more.
    public init(to threadConfined: Confined) {
        guard let realm = threadConfined.realm else {
            misuse(
                "Cannot construct reference to unmanaged object, which can be passed across threads "
                    + "directly")
        }
        if threadConfined.isInvalidated {
            misuse("Cannot construct reference to invalidated object")
        }
        if realm.isFrozen {
            reference = _Reference(.frozen(threadConfined))
        } else {
            reference = _Reference(.engine(threadConfined._rlmReference()))
        }
    }

    /// It was resolved.
    public var isInvalidated: Bool { reference.wasTaken }
}

extension Realm {
    /// What a reference names, in this realm; nil if it was deleted. The realm moves to the version that
    /// the reference was made at, if that is newer; so it is misuse in a write transaction, where it cannot move.
    public func resolve<Confined: ThreadConfined>(
        _ reference: ThreadSafeReference<Confined>
    ) -> Confined? {
        if core.isWritable {
            misuse("Cannot resolve thread safe references during a write transaction.")
        }
        reference.reference.take()
        switch reference.reference.target {
        case .frozen(let value): return value as? Confined
        case .engine(let engine): return Confined._rlmResolve(engine, session)
        }
    }
}

/// A property whose value may be read on any thread: it is resolved where it is read.
///
/// ```swift
/// @ThreadSafe var dog = dog
/// queue.async { print(dog?.name ?? "deleted") }
/// ```
@propertyWrapper
public final class ThreadSafe<T: ThreadConfined>: @unchecked Sendable {
    private let lock = NSLock()
    private var reference: EngineReference?
    private var configuration: Realm.Configuration?
    private var frozen: T?

    /// A reference to something managed, or to nothing.
    public init(wrappedValue: T?) { assign(wrappedValue) }

    /// Of a value that no realm manages: misuse.
    public var wrappedValue: T? {
        get {
            let (reference, configuration, frozen) = lock.withLock {
                (self.reference, self.configuration, self.frozen)
            }
            if let frozen { return frozen }
            guard let reference, let configuration else { return nil }
            do {
                return T._rlmResolve(reference, try SessionCache.open(configuration, .current()))
            } catch {
                misuse("\(error)")
            }
        }
        set { assign(newValue) }
    }

    private func assign(_ value: T?) {
        guard let value else {
            return lock.withLock { (reference, configuration, frozen) = (nil, nil, nil) }
        }
        guard let realm = value.realm else {
            misuse("Only managed objects may be wrapped as thread safe.")
        }
        let made = realm.isFrozen ? nil : value._rlmReference()
        lock.withLock {
            reference = made
            configuration = realm.configuration
            frozen = realm.isFrozen ? value : nil
        }
    }
}

// MARK: - What references lead to

extension ObjectBase {
    public final func _rlmReference() -> CoreSwift.ThreadSafeReference {
        let handle = managedHandle("Cannot construct reference to unmanaged object.")
        return engine(.query, try EngineReference(handle))
    }

    static func resolve<T: ObjectBase>(
        _ reference: EngineReference, _ session: _RealmSession, _ type: T.Type
    ) -> T? {
        let handle = engine(.query, try reference.object(in: session.core))
        guard handle.isValid else {
            handle.release()
            return nil
        }
        return session.accessor(handle, type)
    }
}

extension RealmSwiftObject {
    public static func _rlmResolve(
        _ reference: CoreSwift.ThreadSafeReference, _ session: _RealmSession
    ) -> Self? { resolve(reference, session, self) }
}

extension RealmSwiftEmbeddedObject {
    public static func _rlmResolve(
        _ reference: CoreSwift.ThreadSafeReference, _ session: _RealmSession
    ) -> Self? { resolve(reference, session, self) }
}

extension _ElementSource {
    func reference() -> EngineReference {
        engine(.query, try EngineReference(core))
    }

    static func resolve(_ reference: EngineReference, _ session: _RealmSession) -> _ElementSource? {
        let source = _ElementSource(
            engine(.query, try reference.results(in: session.core)),
            session)
        return source.isInvalid ? nil : source
    }
}

extension Results {
    public func _rlmReference() -> CoreSwift.ThreadSafeReference { source.reference() }
    public static func _rlmResolve(
        _ reference: CoreSwift.ThreadSafeReference, _ session: _RealmSession
    ) -> Results? { _ElementSource.resolve(reference, session).map { Results($0) } }
}

extension LinkingObjects {
    public func _rlmReference() -> CoreSwift.ThreadSafeReference { _rlmResults.source.reference() }
    public static func _rlmResolve(
        _ reference: CoreSwift.ThreadSafeReference, _ session: _RealmSession
    ) -> LinkingObjects? {
        _ElementSource.resolve(reference, session).map { LinkingObjects("", $0) }
    }
}

extension _ManagedCollection {
    func reference() -> EngineReference {
        call(try EngineReference(core))
    }

    static func resolve(
        _ reference: EngineReference, _ type: CollectionType, _ session: _RealmSession
    ) -> _ManagedCollection? {
        let core = engine(.query, try reference.collection(type, in: session.core))
        return core.isValid ? _ManagedCollection(core, session) : nil
    }
}
