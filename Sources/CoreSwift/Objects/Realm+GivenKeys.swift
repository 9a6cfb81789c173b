// Objects under keys that they had in another file, for who makes one file of another.

extension Realm {
    /// Whether objects of the class can be given keys: those of integer primary keys are their own.
    package func takesKeys(_ classKey: ClassKey) throws(RealmError) -> Bool {
        try !table(classKey).hasIntegerKey
    }

    /// A new object under a key of the caller's, with these values, or none; as
    /// `createObject(_:primaryKey:_:_:_:)` otherwise. Later objects get keys above it. `key` is from 0 on and
    /// below 2^62. Throws `.objectAlreadyExists` where an object has it, and `.illegalOperation` for classes
    /// whose objects can't be given keys.
    package func createObject(
        _ classKey: ClassKey, key: ObjectKey, primaryKey: RawValue?, _ count: Int,
        _ keys: UnsafePointer<PropertyKey>, _ values: UnsafePointer<RawValue>
    ) throws(RealmError) -> ObjectHandle {
        try withKey(key, of: classKey) { () throws(RealmError) in
            try createObject(classKey, primaryKey: primaryKey, count, keys, values)
        }
    }

    /// Runs `create`, in which the next object of the class gets `key` instead of the next one in
    /// sequence: of embedded objects, which are created in their owners. Errors as above.
    @inline(__always)
    package func withKey(
        _ key: ObjectKey, of classKey: ClassKey,
        _ create: () throws(RealmError) -> ObjectHandle
    ) throws(RealmError) -> ObjectHandle {
        let table = try table(classKey)
        if !table.isAppended(key), try table.find(key) != nil {
            throw RealmError(
                .objectAlreadyExists, "\(table.named) has an object with key \(key) already")
        }
        guard session.pointee.status == .writing else { throw notWriting() }
        guard key >= .first, key < IntegerKeys.indirectBase, !table.hasIntegerKey else {
            throw RealmError(
                .illegalOperation, "\(table.named): an object can't be given the key \(key)")
        }
        return try table.withNextKey(key, create)
    }
}
