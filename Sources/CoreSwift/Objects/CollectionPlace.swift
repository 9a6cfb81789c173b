// Names a list, set or dictionary by keys, without holding its realm: what references between threads
// and queries over collections keep of it.

/// Where a list, set or dictionary is.
struct CollectionPlace {
    let classKey: ClassKey
    let objectKey: Int64
    let propertyKey: Int64
    /// Of the collection of the property itself.
    let rootType: CollectionType
    /// From there to a collection inside mixed elements.
    private var steps: [(type: CollectionType, number: UInt64, position: Int)] = []

    init(_ collection: RealmCollection) {
        classKey = collection.classKey
        objectKey = collection.objectKey
        propertyKey = collection.propertyKey
        var root = collection
        while let parent = root.parent {
            steps.insert((root.type, root.number, root.position), at: 0)
            root = parent
        }
        rootType = root.type
    }

    var type: CollectionType { steps.last?.type ?? rootType }

    /// The collection in a realm; one that is not valid when it is not there.
    func collection(in realm: Realm) throws(RealmError) -> RealmCollection {
        let owner = try realm.handle(classKey, objectKey)
        defer { owner.release() }
        var found: RealmCollection
        if owner.isValid {
            found = try owner.collection(propertyKey, rootType)
        } else {
            let column = try ObjectHandle.column(owner.table, propertyKey)
            found = RealmCollection(owner.clone(), column, rootType, propertyKey: propertyKey)
        }
        for step in steps {
            found = RealmCollection(
                found, step.type, number: step.number, position: step.position)
        }
        return found
    }
}

extension Realm {
    /// A handle of an object, valid or not; `.noSuchTable` without its class.
    func handle(
        _ classKey: ClassKey, _ key: Int64
    ) throws(RealmError) -> ObjectHandle {
        let table = try table(classKey)
        guard let place = try table.find(key) else { return .gone(session, table, key) }
        return ObjectHandle.make(session, table, key, place)
    }
}
