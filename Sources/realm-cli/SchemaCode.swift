// The classes of a schema as declarations of RealmSwift and of the Python package. What a name in the file
// can't be in the language gets another one, beside which the stored name stands.

import CoreSwift

/// Gives each name of a file one that a language takes, no two the same. A name that can stay does, and no other
/// name becomes one that the file has.
private struct Names {
    private var used: Set<String>
    private let stored: Set<String>

    /// `taken`: names that mean something else; `stored`: all names of the file that will be asked for.
    init(taken: Set<String>, stored: [String]) {
        used = taken
        self.stored = Set(stored)
    }

    /// Python takes what NFKC makes of an identifier for its name. Swift's library tells only what this and folding
    /// of cases change together: a few letters that the former leaves alone are not trusted either.
    private static func isStable(_ scalar: Unicode.Scalar) -> Bool {
        if scalar == "ß" || scalar == "ς" { return true }
        let properties = scalar.properties
        guard properties.changesWhenNFKCCaseFolded else {
            return !(0x1100...0x11FF).contains(scalar.value)
        }
        let lower = properties.lowercaseMapping.unicodeScalars
        guard let only = lower.first, lower.count == 1, only != scalar else { return false }
        return !only.properties.changesWhenNFKCCaseFolded
            && Array(only.properties.uppercaseMapping.unicodeScalars) == [scalar]
    }

    /// Letters, digits and underscores, of ASCII or above, but no digit first; what is taken gets an underscore
    /// at its end.
    mutating func make(_ name: String, fallback: String) -> String {
        var made = ""
        for scalar in name.unicodeScalars {
            let isWord =
                scalar.isASCII
                ? scalar == "_" || ("0"..."9").contains(scalar) || ("a"..."z").contains(scalar)
                    || ("A"..."Z").contains(scalar)
                : scalar.properties.isXIDContinue && scalar.properties.isXIDStart
                    && Self.isStable(scalar)
            made.unicodeScalars.append(isWord ? scalar : "_")
        }
        // A name of nothing but underscores, or with one in front, means something else in Python.
        while made.first == "_" { made.removeFirst() }
        if made.isEmpty { made = fallback }
        if let first = made.unicodeScalars.first, ("0"..."9").contains(first) {
            made = fallback + made
        }
        let isSame = made.unicodeScalars.elementsEqual(name.unicodeScalars)
        if !isSame || used.contains(made) {
            while used.contains(made) || stored.contains(made) { made += "_" }
        }
        used.insert(made)
        return made
    }
}

/// A text as a literal of either language: what is not printable ASCII as an escape sequence. `unicode` writes
/// the number of a scalar.
private func literal(_ text: String, _ unicode: (UInt32) -> String) -> String {
    var output = "\""
    for scalar in text.unicodeScalars {
        switch scalar {
        case "\"": output += "\\\""
        case "\\": output += "\\\\"
        case " "..."~": output.unicodeScalars.append(scalar)
        default: output += unicode(scalar.value)
        }
    }
    return output + "\""
}

private func classNames(_ classes: [ClassSchema], taken: Set<String>) -> [String: String] {
    var names = Names(taken: taken, stored: classes.map(\.name))
    var result: [String: String] = [:]
    for class_ in classes { result[class_.name] = names.make(class_.name, fallback: "Class") }
    return result
}

/// The types of properties in a language.
private struct TypeNames {
    let scalars: [PropertyType: String]
    /// What follows a type whose values may be null.
    let optional: String
    /// What stands before elements of a collection, and what behind them.
    let collections: [CollectionType: String]
    let end: String

    /// `classes`: what the classes of the file are called.
    func text(
        _ property: PropertySchema, isOptional: Bool, _ classes: [String: String]
    ) -> String {
        var element =
            scalars[property.type] ?? classes[property.linkTarget] ?? property.linkTarget
        if isOptional { element += optional }
        guard let start = collections[property.collection] else { return element }
        return start + element + end
    }
}

// MARK: Swift

enum SwiftCode {
    private static let keywords: Set<String> = [
        "Any", "Protocol", "Self", "Type", "actor", "as", "associatedtype", "async", "await",
        "break",
        "case", "catch", "class", "continue", "default", "defer", "deinit", "do", "else", "enum",
        "extension", "fallthrough", "false", "fileprivate", "for", "func", "guard", "if", "import",
        "in", "init", "inout", "internal", "is", "let", "nil", "operator", "precedencegroup",
        "private", "protocol", "public", "repeat", "rethrows", "return", "self", "static", "struct",
        "subscript", "super", "switch", "throw", "throws", "true", "try", "typealias", "var",
        "where", "while",
        // Of Object itself.
        "description", "debugDescription", "hash", "hashValue", "invalidated", "isInvalidated",
        "isFrozen", "isSameObject", "observe", "objectSchema", "realm", "freeze", "thaw",
    ]
    private static let types: Set<String> = [
        "AnyRealmValue", "Bool", "Class", "Data", "Date", "Decimal128", "Double", "EmbeddedObject",
        "Float", "Int", "List", "Map", "MutableSet", "Object", "ObjectBase", "ObjectId", "Optional",
        "Persisted", "Projection", "Property", "Realm", "Results", "Schema", "String", "UUID",
    ]

    static func text(_ classes: [ClassSchema]) -> String {
        let names = classNames(classes, taken: keywords.union(types))
        return "import Foundation\nimport RealmSwift\n"
            + classes.map { "\n" + declaration($0, names) }.joined()
    }

    private static func literal(_ text: String) -> String {
        realm_cli.literal(text) { "\\u{" + String($0, radix: 16) + "}" }
    }

    private static func declaration(_ class_: ClassSchema, _ names: [String: String]) -> String {
        let name = names[class_.name] ?? class_.name
        let base = class_.kind == .embedded ? "EmbeddedObject" : "Object"
        var text = ""
        if class_.kind == .asymmetric { text += "// In the file this is an asymmetric class.\n" }
        text += "class \(name): \(base) {\n"
        var properties = Names(taken: keywords, stored: class_.properties.map(\.name))
        var mapped: [(String, String)] = []
        for property in class_.properties {
            let shown = properties.make(property.name, fallback: "property")
            if shown != property.name { mapped.append((shown, property.name)) }
            text += "    @Persisted\(options(property)) var \(shown): \(type(property, names))\n"
        }
        if name != class_.name {
            text += "\n    override class func _realmObjectName() -> String? "
            text += "{ \(literal(class_.name)) }\n"
        }
        if !mapped.isEmpty {
            text +=
                "\n    override class func propertiesMapping() -> [String: String] {\n        [\n"
            for (shown, stored) in mapped {
                text += "            \(literal(shown)): \(literal(stored)),\n"
            }
            text += "        ]\n    }\n"
        }
        return text + "}\n"
    }

    private static func options(_ property: PropertySchema) -> String {
        if property.isPrimaryKey { return "(primaryKey: true)" }
        switch property.wordRules {
        case .latin: return "(fullText: .latin)"
        case .unicode: return "(fullText: .unicode)"
        case nil: return property.flags.contains(.indexed) ? "(indexed: true)" : ""
        }
    }

    private static let typeNames = TypeNames(
        scalars: [
            .int: "Int", .bool: "Bool", .string: "String", .binary: "Data", .mixed: "AnyRealmValue",
            .timestamp: "Date", .float: "Float", .double: "Double", .decimal128: "Decimal128",
            .objectId: "ObjectId", .uuid: "UUID",
        ],
        optional: "?",
        collections: [.list: "List<", .set: "MutableSet<", .dictionary: "Map<String, "], end: ">")

    private static func type(_ property: PropertySchema, _ names: [String: String]) -> String {
        // Elements of lists and sets of objects are never null, those of dictionaries and links always may be.
        let isOptional =
            property.type == .object
            ? property.collection == .none || property.collection == .dictionary
            : property.isNullable && property.type != .mixed
        return typeNames.text(property, isOptional: isOptional, names)
    }
}

// MARK: Python

enum PythonCode {
    private static let keywords: Set<String> = [
        "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class",
        "continue", "def", "del", "elif", "else", "except", "finally", "for", "from", "global",
        "if",
        "import", "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try",
        "while", "with", "yield",
    ]
    /// What the annotations name: a class or property of the name would hide it.
    private static let types: Set<String> = [
        "Any", "Decimal", "UUID", "bool", "bytes", "datetime", "dict", "float", "int", "list",
        "realm", "set", "str",
    ]
    /// Of objects themselves, with a name of their own.
    private static let members: Set<String> = [
        "changes", "copy", "is_valid", "observe", "realm", "to_dict", "to_json",
    ]

    static func text(_ classes: [ClassSchema]) -> String {
        let names = classNames(classes, taken: keywords.union(types))
        return """
            from __future__ import annotations

            from datetime import datetime
            from decimal import Decimal
            from typing import Any
            from uuid import UUID

            import realm

            """ + classes.map { "\n\n" + declaration($0, names) }.joined()
    }

    private static func literal(_ text: String) -> String {
        realm_cli.literal(text) {
            $0 < 0x100
                ? "\\x" + hexadecimal($0, 2)
                : $0 < 0x10000 ? "\\u" + hexadecimal($0, 4) : "\\U" + hexadecimal($0, 8)
        }
    }

    private static func declaration(_ class_: ClassSchema, _ names: [String: String]) -> String {
        let name = names[class_.name] ?? class_.name
        let base = class_.kind == .embedded ? "realm.EmbeddedObject" : "realm.Object"
        let stored = name == class_.name ? "" : ", stored_name=\(literal(class_.name))"
        var text = ""
        if class_.kind == .asymmetric { text += "# In the file this is an asymmetric class.\n" }
        text += "class \(name)(\(base)\(stored)):\n"
        var properties = Names(
            taken: keywords.union(types).union(members), stored: class_.properties.map(\.name))
        for property in class_.properties {
            let shown = properties.make(property.name, fallback: "property")
            text += "    \(shown): \(type(property, names))"
            let options = options(property, shown)
            text += options.isEmpty ? "\n" : " = realm.Field(\(options.joined(separator: ", ")))\n"
        }
        if class_.properties.isEmpty { text += "    pass\n" }
        return text
    }

    private static func options(_ property: PropertySchema, _ shown: String) -> [String] {
        var options: [String] = []
        if property.isPrimaryKey { options.append("primary_key=True") }
        if property.flags.contains(.indexed), !property.isPrimaryKey {
            options.append("indexed=True")
        }
        if let rules = property.wordRules { options.append("full_text=\"\(rules)\"") }
        if shown != property.name { options.append("name_in_file=\(literal(property.name))") }
        return options
    }

    private static let typeNames = TypeNames(
        scalars: [
            .int: "int", .bool: "bool", .string: "str", .binary: "bytes", .mixed: "Any",
            .timestamp: "datetime", .float: "realm.Float32", .double: "float",
            .decimal128: "Decimal", .objectId: "realm.ObjectId", .uuid: "UUID",
        ],
        optional: " | None",
        collections: [.list: "list[", .set: "set[", .dictionary: "dict[str, "], end: "]")

    private static func type(_ property: PropertySchema, _ names: [String: String]) -> String {
        typeNames.text(
            property, isOptional: property.isNullable && property.type != .mixed, names)
    }
}
