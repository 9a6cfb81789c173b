import Testing

@testable import CoreSwift

/// What a query answers on a snapshot, without a session.
extension Query {
    func count(_ snapshot: SnapshotReader) throws(RealmError) -> Int {
        try ResultsDescription(self).count(snapshot)
    }

    /// The number of objects that satisfy the conditions, and the least key of one, without the ordering.
    func countMatches(
        _ snapshot: SnapshotReader, atMost most: Int = .max
    ) throws(RealmError) -> Int {
        try selection(snapshot).count(atMost: most)
    }
    func firstMatch(_ snapshot: SnapshotReader) throws(RealmError) -> ObjectKey? {
        try selection(snapshot).first()
    }

    /// How the conditions would be tested.
    func explain(_ snapshot: SnapshotReader) throws(RealmError) -> String {
        try ResultsDescription(withoutOrdering()).explain(snapshot, schema)
    }

    /// Keys of all objects selected, in the query's order.
    func findAll(_ snapshot: SnapshotReader) throws(RealmError) -> [ObjectKey] {
        try ResultsDescription(self).keys(snapshot)
    }

    /// The first object selected, in the query's order.
    func findFirst(_ snapshot: SnapshotReader) throws(RealmError) -> ObjectKey? {
        try ResultsDescription(self).findFirst(snapshot)
    }
}

extension Query {
    static func parse(
        _ text: String, arguments: [QueryArgument] = [], schema: Schema, classKey: ClassKey
    ) throws(RealmError) -> Query {
        try Array(text.utf8).withUnsafeBufferPointer { buffer throws(RealmError) in
            try parse(buffer, arguments, schema, classKey)
        }
    }

    static func parse(
        format: String, arguments: [QueryArgument] = [],
        variables: [String: QueryArgument] = [:], schema: Schema, classKey: ClassKey
    ) throws(RealmError) -> Query {
        try parse(
            format: Array(format.utf8), arguments: arguments, variables: variables,
            schema: schema, classKey: classKey)
    }

    /// A query of a class by its name. `usesColumns`: as those of users do; otherwise all is evaluated
    /// object by object.
    static func parse(
        _ text: String, _ owner: String, _ arguments: [QueryArgument] = [], in realm: Realm,
        usesColumns: Bool = true
    ) throws(RealmError) -> Query {
        guard let key = realm.schema.class_(named: owner)?.key else {
            throw RealmError(.noSuchTable, "no class '\(owner)'")
        }
        var bytes = Array(text.utf8)
        let count = bytes.count
        bytes.append(0)
        return try bytes.withUnsafeBufferPointer { bytes throws(RealmError) in
            try parse(
                UnsafeBufferPointer(rebasing: bytes[..<count]), arguments, realm.schema, key,
                values: nil, usesColumns: usesColumns)
        }
    }
}

extension Query {
    /// All that a query of a class finds, in its order, and that counting, finding the first and finding
    /// some agree.
    static func checkedKeys(
        _ text: String, _ owner: String, in realm: Realm, usesColumns: Bool = true
    ) throws -> [ObjectKey] {
        let query = try Query.parse(text, owner, in: realm, usesColumns: usesColumns)
        let reader = SnapshotReader(tables: try realm.readTables())
        let found = try query.findAll(reader)
        #expect(try query.count(reader) == found.count, "\(text)")
        #expect(try query.firstMatch(reader) == found.first, "\(text)")
        #expect(try query.countMatches(reader, atMost: 2) >= min(2, found.count), "\(text)")
        for limit in [1, 3, 70] {
            let least = try query.selection(reader).keys(limit: limit)
            #expect(least == Array(found.prefix(limit)), "\(text)")
        }
        return found
    }
}

extension Realm {
    /// Deletes some objects of a class, whoever links to them.
    func deleteSome(_ count: Int, of name: String, _ random: inout Random) throws {
        let all = try objects(name)
        for _ in 0..<count {
            let link = try all.get(random.below(try all.count())).linkTarget
            try find(all.classKey, key: link)?.delete()
        }
    }
}
