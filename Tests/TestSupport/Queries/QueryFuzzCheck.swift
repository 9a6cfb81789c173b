// What holds for every text and all arguments (QUERY_RULES E1 to E5, V1): an error of the language's
// kinds, at a position if it is one of syntax; or a query that finds the same objects whether it is
// planned or not, and whose canonical text is a query again, with the same text and the same
// objects. And no second of processor time passes.
//
// Not a test by itself: the fuzzer's program and the replay of its corpus call it.

import Glibc

@testable import CoreSwift

/// The example model in an in-memory realm, filled so that most conditions select something.
final class QueryFuzzModel: RuleModel {
    init(path: String) throws {
        try super.init(path: path, indexed: true)
        try realm.beginWrite()
        func point(_ x: Double, _ y: Double) -> RuleItem {
            .embedded([
                ("type", .string("Point")),
                ("coordinates", .list([.value(.double(x)), .value(.double(y))])),
            ])
        }
        try add(
            5,
            [
                ("title", .string("e\u{301}toile")), ("tons", .int(11)),
                ("log", .string("storm over the reef")), ("weight_kg", .int(-1)),
                ("spot", point(0.5, 0.5)), ("spots", .list([point(1, 1), point(20, -30)])),
                ("cargo", .value(.double(2.5))), ("marks", .ints(7, -7)),
                ("price", .value(.decimal128(Decimal128("NaN") ?? .nan))),
            ])
        try realm.commit()
    }
}

struct QueryFuzzCheck {
    let model: QueryFuzzModel
    private let owner: DynamicObject

    init(_ model: QueryFuzzModel) throws {
        self.model = model
        guard let first = try model.realm.find("Vessel", primaryKey: .int(1)) else {
            throw RealmError(.runtime, "the model has no vessel 1")
        }
        owner = first
    }

    /// Errors of the language; `.runtime` is what a pattern of MATCHES without end ends with,
    /// `.limitExceeded` what SUBQUERYs in SUBQUERYs do.
    private static let kinds: Set<ErrorCode> = [
        .invalidQueryString, .invalidQuery, .invalidQueryArg, .invalidSortDescriptor,
        .illegalOperation, .invalidArgument, .runtime, .limitExceeded,
    ]
    /// Steps that nesting may take, so that a second is enough.
    private static let workMax = 1 << 22

    /// What is wrong with the answers to an input; nil if nothing is.
    func failure(_ bytes: [UInt8]) -> String? {
        guard let input = QueryFuzzInput(bytes, model) else { return nil }
        let start = processorTime()
        var failure: String?
        do throws(RealmError) {
            failure = try ask(input)
        } catch {
            if !Self.kinds.contains(error.code) {
                failure = "fails with \(error.code): \(error.message)"
            } else if error.message.isEmpty {
                failure = "fails with \(error.code) and says nothing"
            } else if error.code == .invalidQueryString, !error.message.contains("at byte ") {
                failure = "has an error of syntax without a position: \(error.message)"
            }
        }
        let seconds = processorTime() - start
        if failure == nil, seconds > 1 { failure = "takes \(seconds) s" }
        return failure
    }

    private func processorTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    private func ask(_ input: QueryFuzzInput) throws(RealmError) -> String? {
        switch input.target {
        case .objects(let name):
            let key = try classKey(name)
            let query = try parse(input.text, input.arguments, key)
            let found = try objects(query)
            let plain = try objects(parse(input.text, input.arguments, key, usesColumns: false))
            if plain != found { return "finds \(found), \(plain) with expressions alone" }
            return again(query, found) { text throws(RealmError) in
                let query = try parse(text, [], key)
                return (query, try objects(query))
            }
        case .formatted(let name):
            let key = try classKey(name)
            let query = try Query.parse(
                format: input.text, arguments: input.arguments,
                variables: ["LIMIT": .scalar(.int(3))], schema: model.realm.schema, classKey: key)
            query.filter.workMax = Self.workMax
            return again(query, try objects(query)) { text throws(RealmError) in
                let query = try parse(text, [], key)
                return (query, try objects(query))
            }
        case .values(let name):
            let source = try elements(name)
            let key = source.place.classKey
            let query = try parse(input.text, input.arguments, key, values: source.kind)
            func positions(_ query: Query) throws(RealmError) -> [Int64] {
                try ResultsDescription(query, in: .values(source))
                    .findValues(SnapshotReader(tables: model.realm.readTables()))
                    .positions.map(Int64.init)
            }
            return again(query, try positions(query)) { text throws(RealmError) in
                let query = try parse(text, [], key, values: source.kind)
                return (query, try positions(query))
            }
        }
    }

    /// The canonical text of a query must be one, too.
    private func again<Found: Equatable>(
        _ query: Query, _ found: Found,
        _ parse: ([UInt8]) throws(RealmError) -> (Query, Found)
    ) -> String? {
        let canonical = query.description
        do throws(RealmError) {
            let (second, refound) = try parse(Array(canonical.utf8))
            if refound != found { return "finds \(found), as '\(canonical)' \(refound)" }
            let text = second.description
            return text == canonical ? nil : "is '\(canonical)', and that is '\(text)'"
        } catch {
            return "fails as '\(canonical)': \(error.message)"
        }
    }

    private func classKey(_ name: String) throws(RealmError) -> ClassKey {
        guard let found = model.realm.schema.class_(named: name) else {
            throw RealmError(.noSuchTable, "the model has no class \(name)")
        }
        return found.key
    }

    private func parse(
        _ text: [UInt8], _ arguments: [QueryArgument], _ classKey: ClassKey,
        values: ColumnKind? = nil, usesColumns: Bool = true
    ) throws(RealmError) -> Query {
        try text.withUnsafeBufferPointer { buffer throws(RealmError) in
            let query = try Query.parse(
                buffer, arguments, model.realm.schema, classKey, values: values,
                usesColumns: usesColumns)
            query.filter.workMax = Self.workMax
            return query
        }
    }

    private func objects(_ query: Query) throws(RealmError) -> [ObjectKey] {
        try query.findAll(SnapshotReader(tables: model.realm.readTables()))
    }

    private func elements(_ name: String) throws(RealmError) -> ValueSource {
        let key = owner.handle.classKey
        guard let property = model.realm.schema.class_(key)?.property(named: name) else {
            throw RealmError(.invalidProperty, "the model has no property \(name)")
        }
        let collection = try owner.handle.collection(property.key, property.collection)
        let column = collection.type == .dictionary ? 1 : 0
        return ValueSource(
            place: CollectionPlace(collection), kind: try collection.elementInfo(column).kind)
    }
}
