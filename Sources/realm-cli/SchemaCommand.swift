// `realm schema FILE`: the classes and properties of a file, for people, programs, or as code.

import ArgumentParser
import CoreSwift

enum SchemaFormat: String, CaseIterable, ExpressibleByArgument {
    case text, json, swift, python
}

struct SchemaCommand: FileCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema",
        abstract: "Shows the classes of a file, also as Swift or Python classes.",
        discussion: """
            The classes in Swift and Python fit the file: a program that is built with them opens it \
            without a migration. Names that are no names in the language become such, and say what \
            they are called in the file. Backlinks are no part of a file, so they are to be added.
            """)

    @OptionGroup var source: FileArgument
    @Argument(
        help: ArgumentHelp("Only this class, and those it needs.", valueName: "class"),
        completion: ClassCompletion.kind)
    var className: String?
    @Option(help: "text, json, swift or python.")
    var format = SchemaFormat.text

    func work() throws {
        let realm = try source.open()
        defer { realm.close() }
        let output = Output()
        var classes = realm.schema.classes
        if let className {
            classes = Self.closure(try realm.class_(typed: className), realm.schema)
        }
        switch format {
        case .text: try output.write(try Self.text(classes, realm))
        case .json: try output.write(try json(classes, realm).rendered() + "\n")
        case .swift: try output.write(SwiftCode.text(classes))
        case .python: try output.write(PythonCode.text(classes))
        }
        try output.flush()
    }

    /// A class and all that can be reached from it, in the order of the schema.
    private static func closure(_ class_: ClassSchema, _ schema: Schema) -> [ClassSchema] {
        var names: Set<String> = [class_.name]
        var open = [class_]
        while let next = open.popLast() {
            for property in next.properties where property.type == .object {
                if names.insert(property.linkTarget).inserted,
                    let target = schema.class_(named: property.linkTarget)
                {
                    open.append(target)
                }
            }
        }
        return schema.classes.filter { names.contains($0.name) }
    }

    static func text(_ classes: [ClassSchema], _ realm: Realm) throws(RealmError) -> String {
        var parts: [String] = []
        for class_ in classes {
            let count = try realm.objectCount(class_.key)
            let kind = class_.kind == .topLevel ? "" : "\(class_.kind.name), "
            var text = "\(TextWidth.visible(class_.name)) (\(kind)\(grouped(count)) "
            text += count == 1 ? "object)\n" : "objects)\n"
            var table = TableLayout([.left, .left, .left])
            let rows = class_.properties.map { property in
                [
                    "  " + TextWidth.visible(property.name),
                    TextWidth.visible(property.typeDescription),
                    notes(property, class_).joined(separator: ", "),
                ]
            }
            for row in rows { table.note(row) }
            for row in rows { text += table.line(row) + "\n" }
            parts.append(text)
        }
        return parts.joined(separator: "\n")
    }

    private static func notes(_ property: PropertySchema, _ class_: ClassSchema) -> [String] {
        var notes: [String] = []
        if property.name == class_.primaryKey { notes.append("primary key") }
        if property.flags.contains(.indexed), !property.isPrimaryKey { notes.append("indexed") }
        switch property.wordRules {
        case .latin: notes.append("full text")
        case .unicode: notes.append("full text, all scripts")
        case nil: break
        }
        return notes
    }

    private func json(_ classes: [ClassSchema], _ realm: Realm) throws(RealmError) -> JSON {
        var list: [JSON] = []
        for class_ in classes {
            list.append(
                .object([
                    ("name", .text(class_.name)), ("kind", .text(class_.kind.name)),
                    ("objects", .number(try realm.objectCount(class_.key))),
                    ("primary_key", Self.given(class_.primaryKey)),
                    ("properties", .list(class_.properties.map(json))),
                ]))
        }
        let version = realm.schemaVersion
        return .object([
            ("file", .text(source.file)),
            (
                "schema_version",
                version == Configuration.unspecifiedVersion ? nil : .number(Int(clamping: version))
            ),
            ("classes", .list(list)),
        ])
    }

    private func json(_ property: PropertySchema) -> JSON {
        let isIndexed = property.flags.contains(.indexed) && !property.isPrimaryKey
        return .object([
            ("name", .text(property.name)), ("type", .text("\(property.type)")),
            ("nullable", .truth(property.isNullable)),
            ("collection", property.collection == .none ? nil : .text("\(property.collection)")),
            ("target", Self.given(property.linkTarget)),
            ("primary_key", property.isPrimaryKey ? .truth(true) : nil),
            ("indexed", isIndexed ? .truth(true) : nil),
            ("full_text", property.wordRules.map { .text("\($0)") }),
        ])
    }

    private static func given(_ text: String) -> JSON? { text.isEmpty ? nil : .text(text) }
}
