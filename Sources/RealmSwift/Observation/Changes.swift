// What observers are told.

import CoreSwift
public import Foundation

/// What happened to a collection.
public enum RealmCollectionChange<CollectionType> {
    /// The first call: the collection as it is.
    case initial(CollectionType)
    /// Elements came, went or changed. Deletions are positions before the change, the others after it.
    case update(CollectionType, deletions: [Int], insertions: [Int], modifications: [Int])
    /// Never told; realm-swift has it.
    case error(any Error)
}

/// What happened to a map.
public enum RealmMapChange<Collection: RealmKeyedCollection> {
    /// The first call: the map as it is.
    case initial(Collection)
    /// Keys came, went, or got other values.
    case update(
        Collection, deletions: [Collection.Key], insertions: [Collection.Key],
        modifications: [Collection.Key])
    /// Never told; realm-swift has it.
    case error(any Error)
}

/// What happened to an object.
public enum ObjectChange<T> {
    /// Properties changed.
    case change(T, [PropertyChange])
    /// The object was deleted; nothing is told after this.
    case deleted
    /// Never told; realm-swift has it.
    case error(NSError)
}

/// A property that changed.
public struct PropertyChange {
    /// The name of the property.
    public let name: String
    /// The value before; nil for collections.
    public let oldValue: Any?
    /// The value now; nil for collections.
    public let newValue: Any?
}

extension Realm {
    /// What happened to a realm.
    public enum Notification: String, Sendable {
        /// A transaction was committed, here or elsewhere, and the realm shows it.
        case didChange = "RLMRealmDidChangeNotification"
        /// A transaction was committed elsewhere, and the realm does not show it yet.
        case refreshRequired = "RLMRealmRefreshRequiredNotification"
    }
}

/// What happened to a collection, whatever its type.
public enum _ElementChange {
    case initial
    case update(deletions: [Int], insertions: [Int], modifications: [Int])

    init(_ changes: ElementChanges, isFirst: Bool) {
        self =
            isFirst
            ? .initial
            : .update(
                deletions: changes.deletions.indexes, insertions: changes.insertions.indexes,
                modifications: changes.modificationsAfter.indexes)
    }
}
