// Filling a new file that nobody else has open, by many commits, faster and in less memory than transactions that
// could be read in between: for who makes one file of another.

extension Realm {
    /// Begins to fill the file, which has no objects yet, in a write transaction. Until `endFilling` objects
    /// are created and given values, and `commitPart` is called where much was written. Meanwhile
    ///
    /// * links may lead anywhere: **the caller answers for their targets being there at the end**, unless
    ///   `checkLinks(to:)` was called,
    /// * objects are not found by primary key, by links to them or by queries, and are not deleted,
    /// * primary keys are not compared.
    ///
    /// After an error, or a transaction that was rolled back, the file is of no use.
    package func beginFilling() throws(RealmError) {
        try tablesForWriting().startFilling(rollbacks: session.pointee.rollbacks)
    }

    /// From now on links to objects of the class are looked up, as at other times.
    package func checkLinks(to classKey: ClassKey) throws(RealmError) {
        try table(classKey).lookUpLinks()
    }

    /// Commits what was written, and begins the next write transaction.
    package func commitPart() throws(RealmError) {
        try tablesOfFilling().spillIndexes()
        try commitAndGoOn()
    }

    /// Puts what waits for indexes aside where it takes much memory, without a commit: for who makes many objects
    /// between two of them.
    package func spillPart() throws(RealmError) {
        try tablesOfFilling().spillIndexes(ofBytes: TableSet.spillBytes)
    }

    /// Commits what was written and makes all indexes; the write transaction is over then. Throws
    /// `.objectAlreadyExists` where two objects have one primary key, or long ones that begin alike.
    package func endFilling() throws(RealmError) {
        try endFilling(portionBytes: TableSet.portionBytes)
    }

    /// `portionBytes`: what of an index is made between two commits.
    func endFilling(portionBytes: Int) throws(RealmError) {
        try commitPart()
        try tablesOfFilling().finishFilling(portionBytes: portionBytes) {
            () throws(RealmError) in try commitAndGoOn()
        }
        try commit()
    }

    private func commitAndGoOn() throws(RealmError) {
        try commit()
        try beginWrite()
    }

    private func tablesOfFilling() throws(RealmError) -> TableSet {
        let tables = try tablesForWriting()
        guard let filling = tables.filling, filling.rollbacks == session.pointee.rollbacks else {
            throw RealmError(
                .illegalOperation,
                tables.filling == nil
                    ? "'\(path)' is not being filled"
                    : "'\(path)': a part was rolled back, the file can't be filled any more")
        }
        return tables
    }
}

extension ObjectHandle {
    /// Appends elements to a list, as `RealmCollection.insert(_:at:)` does one by one; on an error earlier
    /// ones are written.
    package func append(
        _ propertyKey: PropertyKey, _ count: Int, _ values: UnsafePointer<RawValue>
    ) throws(RealmError) {
        let (place, column) = try placeToFill(propertyKey)
        if table.fillCell(place, objectKey, column, count, values) { return }
        let list = try collection(propertyKey, .list)
        let end = try list.count()
        for index in 0..<count { try list.insert(values[index], at: end + index) }
    }

    /// The same for integers, or for links, all to objects of the property's class, by their keys.
    package func append(
        _ propertyKey: PropertyKey, _ count: Int, numbers: UnsafePointer<Int64>
    ) throws(RealmError) {
        let (place, column) = try placeToFill(propertyKey)
        if try table.fillCell(place, objectKey, column, count, numbers: numbers) { return }
        let list = try collection(propertyKey, .list)
        let end = try list.count()
        for index in 0..<count {
            try list.insert(table.element(column, numbers[index]), at: end + index)
        }
    }

    @inline(__always)
    private func placeToFill(
        _ propertyKey: PropertyKey
    ) throws(RealmError) -> (RowPlace, column: Int) {
        let place = try row()
        let column = try Self.column(table, propertyKey)
        guard session.pointee.status == .writing else { throw realm.notWriting() }
        return (place, column)
    }
}
