// Asks queries of the rules' example model. Each query runs in its planned form, with expressions
// alone, and once more from its canonical text.

import Testing

@testable import CoreSwift
@testable import TestSupport

final class RuleWorld: RuleModel {
    private let directory = TemporaryDirectory()

    /// How many of the queries were asked as predicates without text, too.
    private(set) var predicatesBuilt = 0

    init() throws { try super.init(path: directory.file()) }

    // MARK: Asking

    func query(
        _ text: String, _ arguments: [QueryArgument], _ className: String, usesColumns: Bool = true
    ) throws -> Query {
        _ = try realm.readTables()
        return try Query.parse(text, className, arguments, in: realm, usesColumns: usesColumns)
    }

    /// Primary keys of the objects selected.
    private func found(_ query: Query, _ className: String) throws -> [Value] {
        let snapshot = SnapshotReader(tables: try realm.readTables())
        let keys = try query.findAll(snapshot)
        #expect(try query.count(snapshot) == keys.count)
        let item = realm.schema.class_(named: className)!
        return try keys.map {
            let object = try realm.find(item.key, key: $0)!
            return try object.get(item.primaryKey)
        }
    }

    /// Checks a query in every form; returns what it selects.
    func ask(
        _ text: String, _ arguments: [QueryArgument] = [], of className: String = "Vessel"
    ) throws -> [Value] {
        let planned = try query(text, arguments, className)
        let result = try found(planned, className)
        let plain = try query(text, arguments, className, usesColumns: false)
        #expect(try found(plain, className) == result, "with expressions alone: \(text)")
        if let predicate = PredicateFromText.predicate(text, arguments) {
            predicatesBuilt += 1
            let key = realm.schema.class_(named: className)!.key
            do {
                let built = try Query.make(predicate, schema: realm.schema, classKey: key)
                #expect(try found(built, className) == result, "built without text: \(text)")
                #expect(try found(query(built.description, [], className), className) == result)
            } catch {
                Issue.record("\(text), built without text: \(error)")
            }
        }
        let canonical = planned.description
        do {
            let again = try query(canonical, [], className)
            #expect(try found(again, className) == result, "\(text) as \(canonical)")
            #expect(again.description == canonical)
        } catch {
            Issue.record("\(text) as \(canonical): \(error)")
        }
        return result
    }

    func ids(_ text: String, _ arguments: [QueryArgument] = []) throws -> [Int64] {
        try ask(text, arguments).map {
            if case .int(let id) = $0 { return id }
            return -1
        }
    }

    func names(_ text: String, _ arguments: [QueryArgument] = []) throws -> [String] {
        try ask(text, arguments, of: "Sailor").map {
            if case .string(let name) = $0 { return name }
            return ""
        }
    }

    /// Ids that a format string selects; in another canonical text, the same.
    func formatIds(
        _ format: String, _ arguments: [QueryArgument] = [],
        _ variables: [String: QueryArgument] = [:]
    ) throws -> [Int64] {
        _ = try realm.readTables()
        let item = realm.schema.class_(named: "Vessel")!
        let query = try Query.parse(
            format: format, arguments: arguments, variables: variables, schema: realm.schema,
            classKey: item.key)
        let result = try found(query, "Vessel")
        let canonical = query.description
        do {
            let again = try self.query(canonical, [], "Vessel")
            #expect(try found(again, "Vessel") == result, "\(format) as \(canonical)")
            #expect(again.description == canonical, "\(format)")
        } catch {
            Issue.record("\(format) as \(canonical): \(error)")
        }
        return result.map {
            if case .int(let id) = $0 { return id }
            return -1
        }
    }

    func link(_ className: String, _ key: Value) throws -> QueryArgument {
        .scalar(try value(.object(className, key)))
    }

    /// Checks a table of queries and the ids that they select.
    func check(_ rules: [(rule: String, text: String, ids: [Int64])]) {
        for item in rules {
            do {
                let found = try ids(item.text)
                #expect(found == item.ids, "\(item.rule): \(item.text)")
            } catch {
                Issue.record("\(item.rule): \(item.text): \(error)")
            }
        }
    }

    /// Checks that queries are refused, in both forms, with a code and a message.
    func refuse(_ rules: [(rule: String, text: String, code: ErrorCode, excerpt: String)]) {
        for item in rules {
            for usesColumns in [true, false] {
                do {
                    _ = try query(item.text, [], "Vessel", usesColumns: usesColumns)
                    Issue.record("\(item.rule): '\(item.text)' was accepted")
                } catch let error as RealmError {
                    #expect(error.code == item.code, "\(item.rule): \(error.message)")
                    #expect(
                        error.message.contains(item.excerpt), "\(item.rule): \(error.message)")
                } catch {
                    Issue.record(error)
                }
            }
        }
    }
}
