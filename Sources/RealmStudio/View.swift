// What a table of the page shows: objects of a class, those of a query, in the order that the page asked
// for. Rows are read by their position in live results; nothing is skipped over to get there.

import CoreSwift

struct View {
    let results: Results
    let class_: ClassSchema
    /// Seconds for finding, counting and ordering, when the view was made.
    var seconds = 0.0

    /// What the page names a view by; the parts of the request that decide what is in it.
    struct Description: Sendable {
        var className: String
        var query: String
        /// Empty: the order of the query, or that of the class.
        var sort: String
        var isAscending: Bool

        init(_ request: Request) throws {
            className = try request.text("class")
            query = try request.optionalText("query") ?? ""
            sort = try request.optionalText("sort") ?? ""
            isAscending = try !request.truth("descending")
        }

        var name: String {
            // Lengths keep texts apart that only together are the same.
            "\(className.utf8.count),\(query.utf8.count),\(isAscending):\(className)\(query)\(sort)"
        }
    }

    /// The name of a property as a query has it, in quotes: names may have anything in them. As an argument it would be a
    /// path, and end at a dot.
    static func nameInQuery(_ name: String) -> String {
        var quoted = "#\""
        // By scalars: with an accent behind it a quotation mark is another character.
        for scalar in name.unicodeScalars {
            if scalar == "\"" || scalar == "\\" { quoted.unicodeScalars.append("\\") }
            quoted.unicodeScalars.append(scalar)
        }
        return quoted + "\""
    }

    static func make(
        _ description: Description, _ class_: ClassSchema, _ realm: Realm
    ) throws -> View {
        let start = StudioFile.now
        var results = try realm.results(class_.key)
        let text = description.query
        if text.utf8.contains(where: { $0 > 0x20 }) {
            do throws(RealmError) {
                results = try results.filter(text)
            } catch {
                throw QueryMistake(
                    error: error, query: text,
                    place: Query.place(
                        of: error, in: text, schema: realm.schema, classKey: class_.key))
            }
        }
        if !description.sort.isEmpty {
            let property = try class_.property(asked: description.sort)
            let direction = description.isAscending ? "ASC" : "DESC"
            results = try results.filter(
                "TRUEPREDICATE SORT(\(Self.nameInQuery(property.name)) \(direction))")
        }
        _ = try results.count()
        if try results.count() > 0 { _ = try results.get(0) }
        return View(results: results, class_: class_, seconds: StudioFile.now - start)
    }
}

extension StudioFile {
    func view(_ request: Request) throws -> (view: View, isNew: Bool) {
        let realm = try opened()
        let description = try View.Description(request)
        return try view(description.name) {
            try View.make(description, try class_(description.className), realm)
        }
    }
}
