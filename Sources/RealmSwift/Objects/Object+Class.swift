// What the class page of realm-objc's `RLMObject` has, so that code ported from it reads alike. The default
// realm is `Realm()`; failing to open it is misuse with the error's text.

public import Foundation

extension RealmSwiftObject {
    fileprivate static func defaultRealm() -> Realm {
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

extension ObjectBase {
    /// The class as it is in the program; nil of `DynamicObject`, whose objects are of any class.
    public static func sharedSchema() -> ObjectSchema? {
        let info = ClassInfo.of(self)
        return info.isDynamic ? nil : ObjectSchema(info.schema)
    }

    /// The properties of the class: those that are stored, and then those that list linking objects.
    public static func _getProperties() -> [Property] { sharedSchema()?.properties ?? [] }
}

extension RealmFetchable where Self: RealmSwiftObject {
    /// All objects of the class in the default realm.
    public static func allObjects() -> Results<Self> { allObjects(in: defaultRealm()) }

    /// All objects of the class in a realm.
    public static func allObjects(in realm: Realm) -> Results<Self> { realm.objects(Self.self) }

    /// The objects of the default realm that satisfy a format string.
    public static func objects(where predicateFormat: String, _ args: Any...) -> Results<Self> {
        allObjects().filter(PredicateText(predicateFormat, args))
    }

    /// The objects of a realm that satisfy a format string.
    public static func objects(
        in realm: Realm, where predicateFormat: String, _ args: Any...
    ) -> Results<Self> {
        allObjects(in: realm).filter(PredicateText(predicateFormat, args))
    }

    /// The objects of the default realm that satisfy a predicate; nil: all.
    public static func objects(with predicate: NSPredicate?) -> Results<Self> {
        objects(in: defaultRealm(), with: predicate)
    }

    /// The objects of a realm that satisfy a predicate; nil: all.
    public static func objects(in realm: Realm, with predicate: NSPredicate?) -> Results<Self> {
        let all = allObjects(in: realm)
        return predicate.map { all.filter($0) } ?? all
    }
}

extension _ObservableObject {
    /// Calls a block with whether the object was deleted, or with the properties that changed.
    public func addNotificationBlock(
        _ block: @escaping (_ deleted: Bool, _ changes: [PropertyChange]?, (any Error)?) -> Void,
        queue: DispatchQueue? = nil
    ) -> NotificationToken {
        observe(on: queue) { (change: ObjectChange<Self>) in
            switch change {
            case .change(_, let properties): block(false, properties, nil)
            case .deleted: block(true, nil, nil)
            case .error(let error): block(false, nil, error)
            }
        }
    }
}

extension ObjectBase {
    /// Whether both are the same object of the same realm.
    public final func isEqual(to other: ObjectBase?) -> Bool { isSameObject(as: other) }
}

/// A property that links to objects of another class: what `linkingObjectsProperties()` names.
public struct PropertyDescriptor {
    let propertyName: String

    /// The property of a class.
    public init(with type: ObjectBase.Type, propertyName: String) {
        self.propertyName = propertyName
    }
}

/// What programs for Apple's platforms do at the ends of loops: here the block just runs.
public func autoreleasepool<Result>(invoking body: () throws -> Result) rethrows -> Result {
    try body()
}
