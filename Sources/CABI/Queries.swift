// Queries: parsing with arguments, combining, describing and executing.

import CRealm
import CoreSwift

/// The object of a `realm_query_t`. It does not keep the realm open.
final class QueryObject {
    let query: LiveQuery
    /// The text that was given out last.
    private var text: CText?

    init(_ query: LiveQuery) { self.query = query }

    func description() -> UnsafePointer<CChar> {
        let text = CText(query.description)
        self.text = text
        return text.pointer
    }
}

func queryHeld(_ handle: OpaquePointer?) throws(RealmError) -> QueryObject {
    try held(handle, .query, as: QueryObject.self)
}

private func queryText(
    _ pointer: UnsafePointer<CChar>?
) throws(RealmError) -> UnsafeBufferPointer<UInt8> {
    try cBytes(pointer, "query_string").bindMemory(to: UInt8.self)
}

/// A new handle to the query that `body` makes of a text and its arguments, which are copied.
private func makeQuery(
    _ text: UnsafePointer<CChar>?, _ count: Int, _ args: UnsafePointer<realm_query_arg_t>?,
    _ body: (UnsafeBufferPointer<UInt8>, [QueryArgument]) throws(RealmError) -> LiveQuery
) throws(RealmError) -> OpaquePointer? {
    let arguments = try queryArguments(count, args)
    return makeHandle(.query, QueryObject(try body(try queryText(text), arguments)))
}

/// Copies the arguments of a query.
func queryArguments(
    _ count: Int, _ arguments: UnsafePointer<realm_query_arg_t>?
) throws(RealmError) -> [QueryArgument] {
    guard count > 0, let arguments else {
        if count == 0 { return [] }
        throw RealmError(.invalidArgument, "args is NULL and num_args is not 0")
    }
    var made: [QueryArgument] = []
    made.reserveCapacity(count)
    for i in 0..<count { made.append(try QueryArgument(arguments[i], i)) }
    return made
}

extension QueryArgument {
    init(_ argument: realm_query_arg_t, _ index: Int) throws(RealmError) {
        let count = argument.is_list ? argument.nb_args : 1
        guard count >= 0, count == 0 || argument.arg != nil else {
            throw RealmError(.invalidArgument, "argument $\(index) has no value")
        }
        var values: [Value] = []
        for i in 0..<count {
            if let value = argument.arg?[i] { values.append(try queryValue(value, index)) }
        }
        if argument.is_list {
            self = .list(values)
        } else {
            self = .scalar(values.first ?? .null)
        }
    }
}

/// A value of an argument. Lists and dictionaries carry nothing and count as null.
private func queryValue(_ value: realm_value_t, _ index: Int) throws(RealmError) -> Value {
    if value.type == RLM_TYPE_LIST || value.type == RLM_TYPE_DICTIONARY { return .null }
    let raw = RawValue(value)
    if !raw.isNull, value.type == RLM_TYPE_STRING || value.type == RLM_TYPE_BINARY {
        // A size above Int.max would arrive negative.
        guard raw.word1 <= UInt64(Int.max) else {
            throw RealmError(.invalidArgument, "argument $\(index) is larger than memory")
        }
        if value.type == RLM_TYPE_STRING, String(validating: raw.bytes, as: UTF8.self) == nil {
            throw RealmError(.invalidQueryArg, "argument $\(index) is a string that is not UTF-8")
        }
    }
    return try Value(raw)
}

/// Parses `query_string` for the objects of a class and returns a new handle. `$0` in the text
/// stands for `args[0]` and so on; text and arguments are copied. The query does not keep the
/// realm open. Fails:
///
/// - RLM_ERR_NO_SUCH_TABLE for an unknown class;
/// - RLM_ERR_INVALID_QUERY_STRING for a text that is no query; the message has the position;
/// - RLM_ERR_INVALID_QUERY for unknown properties and types that cannot be compared;
/// - RLM_ERR_INVALID_QUERY_ARG for a missing argument, or one that does not fit its property or is
///   a string that is not UTF-8;
/// - RLM_ERR_ILLEGAL_OPERATION for a full-text search without a full-text index.
@c @implementation
public func realm_query_parse(
    _ realm: OpaquePointer?, _ target_table: realm_class_key_t,
    _ query_string: UnsafePointer<CChar>?, _ num_args: Int,
    _ args: UnsafePointer<realm_query_arg_t>?
) -> OpaquePointer? {
    boundary(realm, nil) { realm throws(RealmError) in
        try makeQuery(query_string, num_args, args) { text, arguments throws(RealmError) in
            try realm.query(ClassKey(target_table), text, arguments: arguments)
        }
    }
}

/// As `realm_query_parse()` for a format string in the way of NSPredicate: `%@`, `%d` and the like
/// take the arguments from left to right, `%K` takes a string with a key path. What else differs
/// from the other texts: keywords in any case of letters, `-` is no part of names, 0 and 1 are
/// Booleans beside one, nothing contains the empty text, LIKE knows backslashes as escapes. Fails
/// also: RLM_ERR_INVALID_QUERY_ARG for too few or too many arguments.
@c @implementation
public func realm_query_parse_format(
    _ realm: OpaquePointer?, _ target_table: realm_class_key_t,
    _ format: UnsafePointer<CChar>?, _ num_args: Int,
    _ args: UnsafePointer<realm_query_arg_t>?
) -> OpaquePointer? {
    boundary(nil) { () throws(RealmError) in
        let realm = try realmHeld(realm)
        return try makeQuery(format, num_args, args) { text, arguments throws(RealmError) in
            try realm.query(
                ClassKey(target_table), format: Array(text), arguments: arguments)
        }
    }
}

private func parse(
    _ collection: OpaquePointer?, _ kind: HandleKind, _ text: UnsafePointer<CChar>?,
    _ count: Int, _ args: UnsafePointer<realm_query_arg_t>?
) -> OpaquePointer? {
    boundary(nil) { () throws(RealmError) in
        let collection = try held(collection, kind, as: RealmCollection.self)
        return try makeQuery(text, count, args) { text, arguments throws(RealmError) in
            try collection.query(text, arguments: arguments)
        }
    }
}

/// As `realm_query_parse()` for the objects of a list, in its order and as often as they are
/// there; later changes of the list count. For other values too, when the text calls them SELF, as
/// in "SELF > 3 SORT(SELF DESC)". Fails also: RLM_ERR_ILLEGAL_OPERATION for lists of such values and
/// a text without SELF, RLM_ERR_INVALIDATED_OBJECT.
@c @implementation
public func realm_query_parse_for_list(
    _ target_list: OpaquePointer?, _ query_string: UnsafePointer<CChar>?, _ num_args: Int,
    _ args: UnsafePointer<realm_query_arg_t>?
) -> OpaquePointer? {
    parse(target_list, .list, query_string, num_args, args)
}

/// As `realm_query_parse_for_list()` for the objects or values of a set.
@c @implementation
public func realm_query_parse_for_set(
    _ target_set: OpaquePointer?, _ query_string: UnsafePointer<CChar>?, _ num_args: Int,
    _ args: UnsafePointer<realm_query_arg_t>?
) -> OpaquePointer? {
    parse(target_set, .set, query_string, num_args, args)
}

/// Returns a new handle to a query with the conditions of `query` and those of `query_string`;
/// the ordering clauses of the text follow those of `query`, which stays as it is. Fails: as
/// `realm_query_parse()`.
@c @implementation
public func realm_query_append_query(
    _ query: OpaquePointer?, _ query_string: UnsafePointer<CChar>?, _ num_args: Int,
    _ args: UnsafePointer<realm_query_arg_t>?
) -> OpaquePointer? {
    boundary(nil) { () throws(RealmError) in
        let first = try queryHeld(query).query
        return try makeQuery(query_string, num_args, args) { text, arguments throws(RealmError) in
            try first.and(text, arguments: arguments)
        }
    }
}

/// The query as text, with arguments put in and internal property names. Borrowed until the next
/// call for `query` or its end.
@c @implementation
public func realm_query_get_description(_ query: OpaquePointer?) -> UnsafePointer<CChar>? {
    boundary(nil, try queryHeld(query).description())
}

/// Returns a new handle to a query with the conditions of `target_results` and those of
/// `query_string`. Sort, distinct and limit of the results are not taken over; the ordering
/// clauses of the text are. For results over values the text calls them SELF. Fails:
/// RLM_ERR_STALE_ACCESSOR, RLM_ERR_INVALID_TABLE_REF for results over values and a text without
/// SELF, otherwise as `realm_query_parse()`.
@c @implementation
public func realm_query_parse_for_results(
    _ target_results: OpaquePointer?, _ query_string: UnsafePointer<CChar>?, _ num_args: Int,
    _ args: UnsafePointer<realm_query_arg_t>?
) -> OpaquePointer? {
    boundary(nil) { () throws(RealmError) in
        try makeQuery(query_string, num_args, args) { text, arguments throws(RealmError) in
            try withResults(
                target_results,
                { results throws(RealmError) in
                    try results.query().and(text, arguments: arguments)
                },
                values: { values throws(RealmError) in
                    guard Query.namesSelf(text) else {
                        throw values.notDefined("a query without SELF", .invalidTableRef)
                    }
                    return try values.query(text, arguments: arguments)
                })
        }
    }
}

/// As `realm_query_parse_for_results()` for results over values alone, with any text, also one that
/// does not speak of the value ("TRUEPREDICATE LIMIT(2)"). Values are found in the order of their
/// collection, or that of the text's clauses. Fails: RLM_ERR_ILLEGAL_OPERATION for results over
/// objects, RLM_ERR_STALE_ACCESSOR, otherwise as `realm_query_parse()`.
@c @implementation
public func realm_query_parse_for_values(
    _ results: OpaquePointer?, _ query_string: UnsafePointer<CChar>?, _ num_args: Int,
    _ args: UnsafePointer<realm_query_arg_t>?
) -> OpaquePointer? {
    boundary(nil) { () throws(RealmError) in
        try makeQuery(query_string, num_args, args) { text, arguments throws(RealmError) in
            try withResults(
                results,
                { _ throws(RealmError) -> LiveQuery in
                    throw RealmError(
                        .illegalOperation, "a query over values needs results over values")
                },
                values: { values throws(RealmError) in
                    try values.query(text, arguments: arguments)
                })
        }
    }
}

// MARK: - Results from results and texts

/// Returns a new handle to the elements for which a query holds, and then what its clauses make of
/// them. Unlike `realm_results_filter()`, which tests before it sorts, makes distinct and cuts, this
/// works on what the calls before it left: behind a limit it tests the elements within it, behind a
/// distinct those that this kept. Results over values take texts in which the value is SELF. Fails:
/// RLM_ERR_STALE_ACCESSOR, otherwise as `realm_query_parse()`.
@c @implementation
public func realm_results_refine(
    _ results: OpaquePointer?, _ query_string: UnsafePointer<CChar>?, _ num_args: Int,
    _ args: UnsafePointer<realm_query_arg_t>?
) -> OpaquePointer? {
    boundary(nil) { () throws(RealmError) in
        let arguments = try queryArguments(num_args, args)
        let text = try queryText(query_string)
        return makeHandle(.results, try anyResultsHeld(results).filter(text, arguments))
    }
}

/// As `realm_results_refine()` for a format string, see `realm_query_parse_format()`. Fails also:
/// RLM_ERR_ILLEGAL_OPERATION for results over values.
@c @implementation
public func realm_results_refine_format(
    _ results: OpaquePointer?, _ format: UnsafePointer<CChar>?, _ num_args: Int,
    _ args: UnsafePointer<realm_query_arg_t>?
) -> OpaquePointer? {
    boundary(nil) { () throws(RealmError) in
        let results = try resultsHeld(results, "a format string")
        let arguments = try queryArguments(num_args, args)
        let text = Array(try queryText(format))
        return makeHandle(.results, try results.filter(format: text, arguments))
    }
}

// MARK: - Explaining

/// Returns how the query would be executed now, as text for people, to be freed with
/// `realm_free()`: a line each for the class, the index or scan that the candidates come from, what
/// is tested on them, and the ordering; of a query over values, whose they are, and what is tested
/// on each. The form of the text may change. Fails: RLM_ERR_CLOSED_REALM.
@c @implementation
public func realm_query_explain(_ query: OpaquePointer?) -> UnsafeMutablePointer<CChar>? {
    boundary(nil, copyForC(try queryHeld(query).query.explain()))
}

/// Returns how the elements would be found now; see `realm_query_explain()`. Fails:
/// RLM_ERR_STALE_ACCESSOR.
@c @implementation
public func realm_results_explain(_ results: OpaquePointer?) -> UnsafeMutablePointer<CChar>? {
    boundary(nil, copyForC(try anyResultsHeld(results).explain()))
}

// MARK: - Executing

/// Writes the number of objects or values that the query finds; DISTINCT, LIMIT and OFFSET count.
/// Fails:
/// RLM_ERR_CLOSED_REALM.
@c @implementation
public func realm_query_count(_ query: OpaquePointer?, _ out_count: UnsafeMutablePointer<Int>?)
    -> Bool
{
    succeeds { () throws(RealmError) in
        let count = try queryHeld(query).query.count()
        out_count?.pointee = count
    }
}

/// Writes the first object that the query finds, in its order, as a link; of a query over values,
/// the first value. Without any, `out_found` is false and `out_value` is left alone. LIMIT(0) is
/// not heeded where the query has neither SORT nor DISTINCT. Fails: RLM_ERR_CLOSED_REALM,
/// RLM_ERR_STALE_ACCESSOR when the collection of the values is gone.
@c @implementation
public func realm_query_find_first(
    _ query: OpaquePointer?, _ out_value: UnsafeMutablePointer<realm_value_t>?,
    _ out_found: UnsafeMutablePointer<Bool>?
) -> Bool {
    succeeds { () throws(RealmError) in
        let first = try queryHeld(query).query.findFirstValue()
        out_found?.pointee = first != nil
        if let first { out_value?.raw.pointee = first }
    }
}

/// Returns a new handle to live results of the query, with its ordering. Fails:
/// RLM_ERR_CLOSED_REALM.
@c @implementation
public func realm_query_find_all(_ query: OpaquePointer?) -> OpaquePointer? {
    boundary(nil, makeHandle(.results, try queryHeld(query).query.find()))
}

/// Deletes every object that the query finds; DISTINCT, LIMIT and OFFSET count. Values that it finds
/// leave their collection. Fails:
/// RLM_ERR_WRONG_TRANSACTION_STATE without a write transaction, RLM_ERR_CLOSED_REALM.
@c @implementation
public func realm_query_delete_all(_ query: OpaquePointer?) -> Bool {
    succeeds(try queryHeld(query).query.deleteAll())
}
