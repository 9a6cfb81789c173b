// A class with texts, for tests of text operators: each rule is asked of a column of its own words,
// of a dictionary column, of mixed values, through a link, and of the matcher alone.

import Testing

@testable import CoreSwift
@testable import TestSupport

struct TextWorld {
    let world: TableWorld

    static let schema = Schema([
        ClassSchema(
            "Note",
            properties: [
                PropertySchema("row", .int),
                PropertySchema("title", .string, flags: [.nullable]),
                PropertySchema("indexed", .string, flags: [.nullable, .indexed]),
                PropertySchema("cargo", .mixed, flags: [.nullable]),
                PropertySchema("seal", .binary, flags: [.nullable]),
                PropertySchema("tons", .int),
                PropertySchema("next", .object, linkTarget: "Note", flags: [.nullable]),
            ])
    ])

    /// Rows with these titles, nil for null. `repeats` rows of each make the column a dictionary.
    init(_ titles: [String?], repeats: Int = 1) throws {
        world = try TableWorld(Self.schema)
        try world.beginWrite()
        for _ in 0..<repeats {
            for (row, title) in titles.enumerated() {
                var values: [String: Value] = ["row": .int(Int64(row)), "tons": .int(1)]
                if let title {
                    values["title"] = .string(title)
                    values["indexed"] = .string(title)
                    values["cargo"] = .string(title)
                    values["seal"] = .binary(Array(title.utf8))
                }
                let target = try world.add("Note", values)
                try world.add(
                    "Note",
                    [
                        "row": .int(-1), "tons": .int(2),
                        "next": .link(
                            Link(world.key("Note"), target)),
                    ])
            }
        }
        try world.tables.commit()
    }

    /// Row numbers of the objects with `tons == 1` that a query finds, each once.
    func find(_ text: String, _ arguments: [QueryArgument] = []) throws -> Set<Int64> {
        let query = try world.query("Note", text, arguments)
        let again = try world.query("Note", query.description)
        let keys = try query.findAll(world.reader)
        #expect(try again.findAll(world.reader) == keys, "\(query.description)")
        let table = try world.reader.table(world.key("Note"))
        var rows: Set<Int64> = []
        for key in keys {
            let place = try #require(try table.row(key))
            let row = try table.value(place.leaf, place.row, 0).intValue
            if row >= 0 { rows.insert(row) }
        }
        return rows
    }

    /// Rows for which `operation` with the text holds, after asking in every way.
    func check(_ operation: String, _ needle: String) throws -> Set<Int64> {
        let argument = [QueryArgument.scalar(.string(needle))]
        let rows = try find("tons == 1 AND title \(operation) $0", argument)
        #expect(
            try find("title \(operation) $0 AND tons == 1", argument) == rows, "whole column")
        #expect(try find("tons == 1 AND indexed \(operation) $0", argument) == rows, "indexed")
        // Null is below every string in direct string properties only (U4).
        if operation.hasPrefix("<") || operation.hasPrefix(">") { return rows }
        #expect(try find("tons == 1 AND cargo \(operation) $0", argument) == rows, "mixed")
        let linked = try world.query("Note", "next.title \(operation) $0", argument)
        let direct = try world.query("Note", "tons == 1 AND title \(operation) $0", argument)
        if !operation.hasPrefix("!=") {
            #expect(
                try linked.count(world.reader) == direct.count(world.reader), "through a link")
        }
        return rows
    }
}
