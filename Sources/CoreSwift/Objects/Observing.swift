// Observing objects, collections and results: what may be observed, and when. `handle` names what
// the observation belongs to: when that goes, nobody is told any more.

extension Realm {
    /// Throws unless something of this realm can be observed now.
    fileprivate func checkObservable() throws(RealmError) {
        try checkUsable()
        if isFrozen {
            throw RealmError(
                .wrongTransactionState, "a frozen realm never changes: nothing can be observed")
        }
        if settings.mode == .immutable {
            throw RealmError(
                .wrongTransactionState,
                "the realm at '\(path)' is immutable: nothing can be observed")
        }
    }

    /// Throws in a write transaction that has changed something: observers begin at a version.
    fileprivate func checkUnchanged() throws(RealmError) {
        try writeBase()
        guard let tables, tables.hasChanges else { return }
        throw RealmError(
            .wrongTransactionState,
            "observers must be added before the write transaction changes anything")
    }

    fileprivate func checkFilter(
        _ filter: KeyPathFilter?, _ classKey: ClassKey
    ) throws(RealmError) {
        guard let filter, filter.classKey != classKey else { return }
        throw RealmError(
            .invalidArgument,
            "the key paths begin at \(schema.named(filter.classKey)), the objects are of "
                + schema.named(classKey))
    }

    /// The key paths of an array, for `observe`.
    package func keyPaths(
        _ classKey: ClassKey, _ paths: [String]
    ) throws(RealmError) -> KeyPathFilter {
        _ = try readTables()
        return try KeyPathFilter(schema, classKey, paths: paths)
    }
}

extension ObjectHandle {
    /// Calls `body` soon and then after each change of the object, until the token or the handle is
    /// released.
    package func observe(
        _ filter: KeyPathFilter? = nil, _ body: @escaping (ObjectChanges) -> Void
    ) throws(RealmError) -> NotificationToken {
        let realm = realm
        try realm.checkObservable()
        _ = try row()
        try realm.checkFilter(filter, classKey)
        try realm.checkUnchanged()
        let subject = WatchedObject(classKey: classKey, key: objectKey)
        let token = try realm.observers().add(UInt(bitPattern: slot), filter, .object(body)) {
            .object(subject)
        }
        noteObserved()
        return token
    }
}

extension RealmCollection {
    private func observe(
        _ filter: KeyPathFilter?, _ body: Registration.Body,
        _ subject: (WatchedCollection)
            -> Watch.Subject
    ) throws(RealmError) -> NotificationToken {
        try realm.checkObservable()
        _ = try count()
        let info = try valueInfo()
        if info.kind == .link { try realm.checkFilter(filter, info.linkTarget) }
        try realm.checkUnchanged()
        let watched = subject(WatchedCollection(place: CollectionPlace(self)))
        isObserved = true
        return try realm.observers().add(observedName, filter, body) { watched }
    }

    /// Calls `body` soon and then after each change of the list or set, until the token or the last
    /// reference to the collection is gone.
    package func observe(
        _ filter: KeyPathFilter? = nil, _ body: @escaping (ElementChanges) -> Void
    ) throws(RealmError) -> NotificationToken {
        try observe(filter, .elements(body)) { .collection($0) }
    }

    /// The same for a dictionary.
    package func observeKeys(
        _ filter: KeyPathFilter? = nil, _ body: @escaping (KeyChanges) -> Void
    ) throws(RealmError) -> NotificationToken {
        try observe(filter, .keys(body)) { .dictionary($0) }
    }

    /// What stands for the collection with its notifier.
    private var observedName: UInt {
        UInt(bitPattern: Unmanaged.passUnretained(self).toOpaque())
    }

    /// The collection goes away.
    func endObservation() { realm.notifier?.forget(observedName) }
}

extension AnyResults {
    /// Calls `body` soon and then after each change of the results, until the token is released or
    /// `handle`, an address that is not used for anything else meanwhile, is forgotten.
    package func observe(
        _ filter: KeyPathFilter? = nil, handle: UnsafeRawPointer,
        _ body: @escaping (ElementChanges) -> Void
    ) throws(RealmError) -> NotificationToken {
        try realm.checkObservable()
        let subject = try subject(filter)
        try realm.checkUnchanged()
        return try realm.observers().add(UInt(bitPattern: handle), filter, .elements(body)) {
            subject
        }
    }

    /// Ends what `observe` began for a handle.
    package func endObservation(handle: UnsafeRawPointer) {
        realm.notifier?.forget(UInt(bitPattern: handle))
    }

    private func subject(_ filter: KeyPathFilter?) throws(RealmError) -> Watch.Subject {
        let description = description
        if let results = self as? Results {
            guard results.isValid else { return .nothing }
            if case .snapshot = description.source { throw snapshotsStay() }
            try realm.checkFilter(filter, results.classKey)
            if let plain = results.plain {
                return .members(WatchedCollection(place: CollectionPlace(plain)))
            }
            return .results(WatchedResults(description))
        }
        guard let values = self as? ValueResults else { return .nothing }
        if values.source.kept != nil { throw snapshotsStay() }
        guard values.isValid else { return .nothing }
        return .values(WatchedValues(description: description, source: values.source))
    }

    private func snapshotsStay() -> RealmError {
        RealmError(.illegalOperation, "a snapshot stays as it is: it cannot be observed")
    }
}
