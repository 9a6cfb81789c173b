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

extension RealmCollectionChange {
    /// What the engine tells of a collection.
    init(_ collection: CollectionType, _ changes: ElementChanges, isFirst: Bool) {
        self =
            isFirst
            ? .initial(collection)
            : .update(
                collection, deletions: changes.deletions.indexes,
                insertions: changes.insertions.indexes,
                modifications: changes.modificationsAfter.indexes)
    }

    /// The same change of another view of the collection.
    func of<Other>(_ other: (CollectionType) -> Other) -> RealmCollectionChange<Other> {
        switch self {
        case .initial(let collection): .initial(other(collection))
        case .update(let collection, let deletions, let insertions, let modifications):
            .update(
                other(collection), deletions: deletions, insertions: insertions,
                modifications: modifications)
        case .error(let error): .error(error)
        }
    }
}
