// What the class page of realm-objc's `RLMObject` has, so that code ported from it reads alike. The default
// realm is `Realm()`; failing to open it is misuse with the error's text.

import Foundation

extension RealmSwiftObject {
    private static func defaultRealm() -> Realm {
        do {
            return try Realm()
        } catch {
            misuse("\(error)")
        }
    }

    /// A new object in the default realm.
    @discardableResult
    public static func createInDefaultRealm(withValue value: Any) -> Self {
        create(in: defaultRealm(), withValue: value)
    }

    /// A new object in a realm.
    @discardableResult
    public static func create(in realm: Realm, withValue value: Any) -> Self {
        made(realm, value, .error)
    }

    /// A new object in the default realm, or all of one with the primary key written anew.
    @discardableResult
    public static func createOrUpdateInDefaultRealm(withValue value: Any) -> Self {
        made(defaultRealm(), value, .all)
    }

    /// The same, writing only what differs.
    @discardableResult
    public static func createOrUpdateModifiedInDefaultRealm(withValue value: Any) -> Self {
        made(defaultRealm(), value, .modified)
    }

    /// A new object in a realm, or all of one with the primary key written anew.
    @discardableResult
    public static func createOrUpdate(in realm: Realm, withValue value: Any) -> Self {
        made(realm, value, .all)
    }

    /// The same, writing only what differs.
    @discardableResult
    public static func createOrUpdateModified(in realm: Realm, withValue value: Any) -> Self {
        made(realm, value, .modified)
    }

    private static func made(_ realm: Realm, _ value: Any, _ update: Realm.UpdatePolicy) -> Self {
        func create<T: RealmSwiftObject>(_ type: T.Type) -> T {
            realm.create(type, value: value, update: update)
        }
        return create(self)
    }

    private static func all<T: RealmSwiftObject>(_ type: T.Type, _ realm: Realm) -> Results<T> {
        realm.objects(type)
    }

    /// The object of a realm with a primary key.
    public static func object(in realm: Realm, forPrimaryKey key: Any) -> Self? {
        func find<T: RealmSwiftObject>(_ type: T.Type) -> T? {
            realm.object(ofType: type, forPrimaryKey: key)
        }
        return find(self)
    }

    /// The object of the default realm with a primary key.
    public static func object(forPrimaryKey key: Any) -> Self? {
        object(in: defaultRealm(), forPrimaryKey: key)
    }
}

/// What programs for Apple's platforms do at the ends of loops: here the block just runs.
public func autoreleasepool<Result>(invoking body: () throws -> Result) rethrows -> Result {
    try body()
}
