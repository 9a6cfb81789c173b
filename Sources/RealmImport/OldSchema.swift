// The classes of a file of realm-core in terms of ours, and what has no counterpart.

import CoreSwift
import RealmCoreFile

struct OldSchema {
    /// A class that comes along.
    struct Class {
        let name: String
        /// Index in `CoreFile.tables`.
        let table: Int
        let isEmbedded: Bool
        /// Columns that come along, by their places in the table.
        let columns: [Int]
        let primaryKey: Int?
    }

    private(set) var classes: [Class] = []
    private(set) var schema = Schema()
    /// What does not come along, and what comes as something else.
    private(set) var notes: [String] = []

    init(_ file: CoreFile) {
        var descriptions: [ClassSchema] = []
        if file.hasSyncHistory {
            notes.append("the history of its synchronisation stays behind")
        }
        if let note = Self.internalTables(file) { notes.append(note) }
        for (index, table) in file.tables.enumerated() {
            guard let name = table.className else { continue }
            guard table.kind != .asymmetric else {
                notes.append("class '\(name)' stays behind: its objects only wait to be sent")
                continue
            }
            notes += table.omitted.map { "class '\(name)': left out: " + $0 }
            let isEmbedded = table.kind == .embedded
            var primaryKey: Int?
            if let place = table.primaryKey {
                if !isEmbedded, Self.isKey(table.columns[place]) {
                    primaryKey = place
                } else {
                    notes.append(
                        "class '\(name)': '\(table.columns[place].name)' can't be a primary key here"
                    )
                }
            }
            var columns: [Int] = []
            var properties: [PropertySchema] = []
            for (place, column) in table.columns.enumerated() {
                var target = ""
                if column.type == .link {
                    let table = column.target.map { file.tables[$0] }
                    guard let table, table.kind != .asymmetric, let name = table.className else {
                        notes.append(
                            "class '\(name)': '\(column.name)' stays behind: it links to what does")
                        continue
                    }
                    target = name
                }
                columns.append(place)
                properties.append(property(column, target, isKey: primaryKey == place, of: name))
            }
            descriptions.append(
                ClassSchema(
                    name, primaryKey: primaryKey.map { table.columns[$0].name } ?? "",
                    properties: properties, kind: isEmbedded ? .embedded : .topLevel))
            classes.append(
                Class(
                    name: name, table: index, isEmbedded: isEmbedded, columns: columns,
                    primaryKey: primaryKey))
        }
        schema = Schema(descriptions)
    }

    /// Tables that come along otherwise: schema version, primary keys.
    private static let knownTables: Set<String> = ["metadata", "pk"]
    private static let namesMax = 20

    /// Says that other tables of the library itself stay behind, as those of a synchronisation; nil without any.
    private static func internalTables(_ file: CoreFile) -> String? {
        let names = file.tables.filter { $0.className == nil && !knownTables.contains($0.name) }
            .map { "'\($0.name)'" }
        guard !names.isEmpty else { return nil }
        let more = names.count > namesMax ? " and \(names.count - namesMax) more" : ""
        return "tables of the library itself stay behind: "
            + names.prefix(namesMax).joined(separator: ", ") + more
    }

    private static func isKey(_ column: CoreColumn) -> Bool {
        column.collection == .none && [.int, .string, .objectID, .uuid].contains(column.type)
    }

    private mutating func property(
        _ column: CoreColumn, _ target: String, isKey: Bool, of name: String
    ) -> PropertySchema {
        let (type, collection) = (Self.type(column.type), Self.collection(column.collection))
        var flags: PropertyFlags = []
        let isNullable =
            switch (type, collection) {
            case (.mixed, _), (.object, .none), (.object, .dictionary): true
            case (.object, _): false
            default: column.isNullable
            }
        if isNullable { flags.insert(.nullable) }
        if isKey { flags.insert(.primaryKey) }
        if column.isIndexed {
            switch (type, collection) {
            case (.int, .none), (.bool, .none), (.string, .none), (.timestamp, .none),
                (.objectId, .none), (.uuid, .none), (.mixed, .none), (.string, .list):
                flags.insert(.indexed)
            default:
                notes.append("class '\(name)': the index of '\(column.name)' stays behind")
            }
        }
        if column.isFullTextIndexed, type == .string, collection == .none {
            flags.insert(.fullTextIndexed)
        }
        if column.hasIntKeys {
            notes.append("class '\(name)': the keys of '\(column.name)' are texts now")
        }
        return PropertySchema(
            column.name, type, collection: collection, linkTarget: target, flags: flags)
    }

    private static func type(_ type: CoreType) -> PropertyType {
        switch type {
        case .int: .int
        case .bool: .bool
        case .string: .string
        case .binary: .binary
        case .mixed, .typedLink: .mixed
        case .timestamp: .timestamp
        case .float: .float
        case .double: .double
        case .decimal: .decimal128
        case .link: .object
        case .objectID: .objectId
        case .uuid: .uuid
        }
    }

    private static func collection(_ collection: CoreCollection) -> CollectionType {
        switch collection {
        case .none: .none
        case .list: .list
        case .set: .set
        case .dictionary: .dictionary
        }
    }
}
