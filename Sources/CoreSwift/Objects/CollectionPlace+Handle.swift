// From handles of collections to their places, and back.

extension CollectionPlace {
    init(_ collection: RealmCollection) {
        var steps: [Step] = []
        var root = collection
        while let parent = root.parent {
            steps.append(Step(type: root.type, number: root.number, position: root.position))
            root = parent
        }
        self.init(
            classKey: collection.classKey, objectKey: collection.objectKey,
            propertyKey: collection.propertyKey, column: collection.column, rootType: root.type,
            steps: steps.reversed())
    }

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
        _ classKey: ClassKey, _ key: ObjectKey
    ) throws(RealmError) -> ObjectHandle {
        let table = try table(classKey)
        guard let place = try table.find(key) else { return .gone(session, table, key) }
        return ObjectHandle.make(session, table, key, place)
    }
}
