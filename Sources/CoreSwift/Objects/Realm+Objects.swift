// Creating, finding and counting objects.

extension Realm {
    private func name(_ key: ClassKey) -> String { schema.class_(key)?.name ?? "\(key)" }

    /// A new object of a class without primary key.
    @inline(__always)
    package func createObject(_ classKey: ClassKey) throws(RealmError) -> ObjectHandle {
        let table = try table(classKey)
        if table.primaryKeyColumn >= 0, try !dropsKey(table) {
            throw RealmError(
                .missingPrimaryKey,
                "class \(name(classKey)) has a primary key; objects are created with one")
        }
        if table.isEmbedded {
            throw RealmError(
                .illegalOperation,
                "class \(name(classKey)) is embedded; its objects are created in their owner")
        }
        guard session.pointee.status == .writing else { throw notWriting() }
        let (key, place) = try table.createSequential()
        return ObjectHandle.make(session, table, key, place)
    }

    /// A new object with a primary key; `.objectAlreadyExists` when the key is taken.
    @inline(__always)
    package func createObject(
        _ classKey: ClassKey, primaryKey: RawValue
    ) throws(RealmError) -> ObjectHandle {
        let table = try table(classKey)
        // Ascending integers, the usual bulk load, need no look-up: the last key is at hand.
        if table.hasIntegerKey, migration == nil, let key = IntegerKeys.direct(primaryKey),
            session.pointee.status == .writing, table.isAppended(key)
        {
            let place = try table.createPrimaryKey(primaryKey).place
            return ObjectHandle.make(session, table, key, place)
        }
        var created = false
        let handle = try getOrCreate(table, primaryKey, &created)
        if !created {
            handle.release()
            throw RealmError(
                .objectAlreadyExists,
                "class \(name(classKey)) has an object with primary key \(describe(primaryKey)) "
                    + "already")
        }
        return handle
    }

    /// A new object with these values, or none. `primaryKey`: nil for a class without one; it is not
    /// among the values.
    @inline(__always)
    package func createObject(
        _ classKey: ClassKey, primaryKey: RawValue?, _ count: Int,
        _ keys: UnsafePointer<PropertyKey>, _ values: UnsafePointer<RawValue>
    ) throws(RealmError) -> ObjectHandle {
        let handle =
            if let primaryKey {
                try createObject(classKey, primaryKey: primaryKey)
            } else {
                try createObject(classKey)
            }
        do throws(RealmError) {
            try handle.setValues(count, keys, values)
        } catch {
            try takeBack(handle)
            throw error
        }
        return handle
    }

    /// Of a new object that an error left half-made nothing stays.
    @inline(never)
    private func takeBack(_ handle: ObjectHandle) throws(RealmError) {
        defer { handle.release() }
        do throws(RealmError) {
            try handle.delete()
        } catch {
            // The file can't be read. As where a savepoint can't be gone back to.
            try rollback()
            throw error
        }
    }

    /// The object with this primary key, created if it is not there.
    package func getOrCreateObject(
        _ classKey: ClassKey, primaryKey: RawValue, created: inout Bool
    ) throws(RealmError) -> ObjectHandle {
        return try getOrCreate(try table(classKey), primaryKey, &created)
    }

    private func getOrCreate(
        _ table: Table, _ primaryKey: RawValue, _ created: inout Bool
    ) throws(RealmError) -> ObjectHandle {
        // By the key that the class is going to have, whatever it has still.
        if migration != nil, let handle = try createObjectBeforeKey(table, primaryKey) {
            created = true
            return handle
        }
        let column = table.primaryKeyColumn
        guard column >= 0 else {
            throw RealmError(
                .unexpectedPrimaryKey,
                "class \(name(table.classKey)) has no primary key")
        }
        try table.checkType(primaryKey, column)
        if let key = try table.findPrimaryKey(primaryKey), let place = try table.find(key) {
            created = false
            return ObjectHandle.make(session, table, key, place)
        }
        guard session.pointee.status == .writing else { throw notWriting() }
        let (key, place) = try table.createPrimaryKey(primaryKey)
        created = true
        return ObjectHandle.make(session, table, key, place)
    }

    /// The object with this primary key, or nil; also nil when the value cannot be a key.
    @inline(__always)
    package func findObject(
        _ classKey: ClassKey, primaryKey: RawValue
    ) throws(RealmError) -> ObjectHandle? {
        let table = try table(classKey)
        // What is given is meant for the key that comes, whose values are not settled.
        if migration != nil, try changesKey(table) { return nil }
        // Integer keys are object keys: one descent says both whether and where.
        if table.hasIntegerKey, let key = IntegerKeys.direct(primaryKey) {
            guard let place = try table.find(key) else { return nil }
            return ObjectHandle.make(session, table, key, place)
        }
        return try findSlowly(table, primaryKey)
    }

    private func findSlowly(
        _ table: Table, _ primaryKey: RawValue
    ) throws(RealmError) -> ObjectHandle? {
        let column = table.primaryKeyColumn
        guard column >= 0 else { return nil }
        let info = table.columns[column]
        guard primaryKey.isNull ? info.isNullable : primaryKey.type == info.valueType else {
            return nil
        }
        // No key is that long, and the size may be more than memory has.
        let isText = info.kind.isText && !primaryKey.isNull
        if isText && primaryKey.word1 > UInt64(Table.textBytesMax) { return nil }
        guard let key = try table.findPrimaryKey(primaryKey), let place = try table.find(key)
        else { return nil }
        return ObjectHandle.make(session, table, key, place)
    }

    /// The object with this key; `.noSuchObject` when there is none.
    @inline(__always)
    package func object(_ classKey: ClassKey, _ key: ObjectKey) throws(RealmError) -> ObjectHandle {
        let table = try table(classKey)
        guard let place = try table.find(key) else {
            throw RealmError(
                .noSuchObject, "class \(name(classKey)) has no object with key \(key)")
        }
        return ObjectHandle.make(session, table, key, place)
    }

    /// The same, or nil.
    package func findObject(
        _ classKey: ClassKey, _ key: ObjectKey
    ) throws(RealmError) -> ObjectHandle? {
        let table = try table(classKey)
        return try table.find(key).map { ObjectHandle.make(session, table, key, $0) }
    }

    /// The number of objects of a class.
    package func objectCount(_ classKey: ClassKey) throws(RealmError) -> Int {
        return try table(classKey).rowCount
    }

    private func describe(_ value: RawValue) -> String {
        do throws(RealmError) {
            switch try Value(value) {
            case .null: return "null"
            case .int(let number): return "\(number)"
            case .string(let text): return "\"\(text)\""
            case let other: return "\(other)"
            }
        } catch {
            return "of type \(value.type)"
        }
    }

    /// Text that a write transaction's memory holds, copied to where it stays as long as the
    /// transaction: later changes of other objects must not move it.
    func keep(_ value: RawValue) -> RawValue {
        guard !value.isNull,
            value.type == ValueType.string.rawValue || value.type == ValueType.binary.rawValue
        else { return value }
        let bytes = value.bytes
        let copy = borrowed.copy(bytes)
        var result = value
        result.word0 = UInt64(UInt(bitPattern: copy))
        return result
    }
}
