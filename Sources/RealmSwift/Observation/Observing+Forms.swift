// The forms of `observe` with key paths of Swift, on actors, and for sections: each leads to one of the others.

import CoreSwift
public import Foundation

// MARK: - Key paths

extension RealmCollection where Element: _KeyPathRoot {
    /// The same with key paths: `observe(keyPaths: [\.name, \.owner?.name])`.
    public func observe(
        keyPaths: [PartialKeyPath<Element>], on queue: DispatchQueue? = nil,
        _ block: @escaping (RealmCollectionChange<Self>) -> Void
    ) -> NotificationToken {
        observe(keyPaths: keyPaths.map { KeyPathNames.name($0) }, on: queue, block)
    }

    /// The same on an actor.
    public func observe<A: Actor>(
        keyPaths: [PartialKeyPath<Element>], on actor: A,
        _isolation: isolated (any Actor)? = #isolation,
        _ block: @Sendable @escaping (isolated A, RealmCollectionChange<Self>) -> Void
    ) async -> NotificationToken {
        await observe(keyPaths: keyPaths.map { KeyPathNames.name($0) }, on: actor, block)
    }
}

extension _ObservableObject {
    /// The same for a block that takes the object as one of another class: a superclass, as `ObjectBase`.
    @_disfavoredOverload
    public func observe<T: ObjectBase>(
        keyPaths: [String]? = nil, on queue: DispatchQueue? = nil,
        _ block: @escaping (ObjectChange<T>) -> Void
    ) -> NotificationToken {
        observe(keyPaths: keyPaths, on: queue) { (change: ObjectChange<Self>) in
            block(change.typed(T.self))
        }
    }
}

extension _ObservableObject {
    /// The same with key paths of that class.
    @_disfavoredOverload
    public func observe<T: ObjectBase>(
        keyPaths: [PartialKeyPath<T>], on queue: DispatchQueue? = nil,
        _ block: @escaping (ObjectChange<T>) -> Void
    ) -> NotificationToken {
        observe(keyPaths: keyPaths.map { KeyPathNames.name($0) }, on: queue, block)
    }
}

extension ObjectChange {
    /// The same with the object as one of another class.
    fileprivate func typed<Other>(_ type: Other.Type) -> ObjectChange<Other> {
        switch self {
        case .change(let object, let properties):
            guard let other = object as? Other else {
                misuse("Object type '\(Swift.type(of: object))' is no '\(Other.self)'")
            }
            return .change(other, properties)
        case .deleted: return .deleted
        case .error(let error): return .error(error)
        }
    }
}

extension _ObservableObject where Self: ThreadConfined {
    /// The same for a block that takes the object as one of another class: a superclass.
    @_disfavoredOverload
    public func observe<A: Actor, T: Object>(
        keyPaths: [String]? = nil, on actor: A, _isolation: isolated (any Actor)? = #isolation,
        _ block: @Sendable @escaping (isolated A, ObjectChange<T>) -> Void
    ) async -> NotificationToken {
        await observe(keyPaths: keyPaths, on: actor) { actor, change in
            block(actor, (change as ObjectChange<Self>).typed(T.self))
        }
    }

    /// The same with key paths of that class.
    @_disfavoredOverload
    public func observe<A: Actor, T: Object>(
        keyPaths: [PartialKeyPath<T>], on actor: A,
        _isolation: isolated (any Actor)? = #isolation,
        _ block: @Sendable @escaping (isolated A, ObjectChange<T>) -> Void
    ) async -> NotificationToken {
        await observe(keyPaths: keyPaths.map { KeyPathNames.name($0) }, on: actor, block)
    }

    /// Calls a block on an actor when one of these properties changes, or the object is deleted.
    public func observe<A: Actor>(
        keyPaths: [PartialKeyPath<Self>], on actor: A,
        _isolation: isolated (any Actor)? = #isolation,
        _ block: @Sendable @escaping (isolated A, ObjectChange<Self>) -> Void
    ) async -> NotificationToken {
        await observe(keyPaths: keyPaths.map { KeyPathNames.name($0) }, on: actor, block)
    }
}

// MARK: - Maps

extension Map {
    /// The same with key paths of the values.
    public func observe<T: ObjectBase>(
        keyPaths: [PartialKeyPath<T>], on queue: DispatchQueue? = nil,
        _ block: @escaping (RealmMapChange<Map>) -> Void
    ) -> NotificationToken where Value == T? {
        observe(keyPaths: keyPaths.map { KeyPathNames.name($0) }, on: queue, block)
    }

    /// Calls a block on an actor with what happens to the map, beginning with `.initial`.
    public func observe<A: Actor>(
        keyPaths: [String]? = nil, on actor: A, _isolation: isolated (any Actor)? = #isolation,
        _ block: @Sendable @escaping (isolated A, RealmMapChange<Map>) -> Void
    ) async -> NotificationToken {
        await Observing.observe(
            self, on: actor, _isolation: _isolation, block
        ) { there, tell in
            there.observe(keyPaths: keyPaths, tell)
        }
    }
}

extension Map {
    /// The same with key paths of the values.
    public func observe<A: Actor, T: ObjectBase>(
        keyPaths: [PartialKeyPath<T>], on actor: A,
        _isolation: isolated (any Actor)? = #isolation,
        _ block: @Sendable @escaping (isolated A, RealmMapChange<Map>) -> Void
    ) async -> NotificationToken where Value == T? {
        await observe(keyPaths: keyPaths.map { KeyPathNames.name($0) }, on: actor, block)
    }
}

// MARK: - Sections

extension RealmSectionedResult {
    /// Calls a block on an actor with what happens, beginning with `.initial`.
    public func observe<A: Actor>(
        keyPaths: [String]? = nil, on actor: A, _isolation: isolated (any Actor)? = #isolation,
        _ block: @Sendable @escaping (isolated A, SectionedResultsChange<Self>) -> Void
    ) async -> NotificationToken {
        let here = UncheckedBox(self)
        return await Observing.observe(
            _rlmElements, on: actor, _isolation: _isolation, block
        ) { there, tell in
            here.value._rlmOver(there).observe(keyPaths: keyPaths, tell)
        }
    }
}

extension RealmSectionedResult where SectionElement: _KeyPathRoot {
    /// The same with key paths of the elements.
    public func observe(
        keyPaths: [PartialKeyPath<SectionElement>], on queue: DispatchQueue? = nil,
        _ block: @escaping (SectionedResultsChange<Self>) -> Void
    ) -> NotificationToken {
        observe(keyPaths: keyPaths.map { KeyPathNames.name($0) }, on: queue, block)
    }

    /// The same on an actor.
    public func observe<A: Actor>(
        keyPaths: [PartialKeyPath<SectionElement>], on actor: A,
        _isolation: isolated (any Actor)? = #isolation,
        _ block: @Sendable @escaping (isolated A, SectionedResultsChange<Self>) -> Void
    ) async -> NotificationToken {
        await observe(keyPaths: keyPaths.map { KeyPathNames.name($0) }, on: actor, block)
    }
}
