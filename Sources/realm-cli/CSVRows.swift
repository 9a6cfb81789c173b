// Records of CSV as values for objects of a class: what `ObjectText` writes, and what spreadsheets do.

import CoreSwift

struct CSVRows {
    private let class_: ClassSchema
    private let schema: Schema
    private let reader: DataReader
    /// The class has no properties: both the line of names and each object are empty.
    private let isOfNone: Bool
    /// Of each field the property; nil: it is passed over.
    private let columns: [PropertySchema?]

    /// Reads the names in the first line.
    init(
        _ class_: ClassSchema, _ schema: Schema, _ reader: DataReader, ignoresUnknown: Bool
    ) throws(RealmError) {
        self.class_ = class_
        self.schema = schema
        self.reader = reader
        guard let names = try reader.nextRecord() else {
            throw reader.wrong("the line with the names of the properties is missing")
        }
        var columns: [PropertySchema?] = []
        isOfNone = class_.properties.isEmpty && names.count == 1 && names[0].isNull
        for name in names.map(\.text) where !isOfNone {
            let found = class_.properties.first { $0.name == name }
            guard found != nil || ignoresUnknown else {
                throw reader.wrong(
                    "class '\(class_.name)' has no property '\(name)'; it has "
                        + class_.properties.map(\.name).joined(separator: ", "), .invalidProperty)
            }
            if let found, columns.contains(found) {
                throw reader.wrong("'\(name)' is there twice")
            }
            columns.append(found)
        }
        self.columns = columns
    }

    /// The values of the next record.
    func next() throws(RealmError) -> [ValueTree.Entry]? {
        guard let fields = try reader.nextRecord() else { return nil }
        if isOfNone, fields.count == 1, fields[0].isNull { return [] }
        guard fields.count == columns.count else {
            // An empty line, where it is not a null.
            if columns.count > 1, fields.count == 1, fields[0].isNull { return try next() }
            throw reader.wrong("\(fields.count) fields, for \(columns.count) names")
        }
        var entries: [ValueTree.Entry] = []
        for (field, property) in zip(fields, columns) {
            guard let property else { continue }
            do throws(RealmError) {
                if let value = try value(field, property) {
                    entries.append(.init(property.name, value))
                }
            } catch {
                throw reader.wrong("\(property.name): \(error.message)", error.code)
            }
        }
        return entries
    }

    /// Nil: none is given.
    private func value(
        _ field: DataReader.Field, _ property: PropertySchema
    ) throws(RealmError) -> ValueTree? {
        let text = field.text
        if property.collection != .none { return text.isEmpty ? nil : try JSONReader.read(text) }
        if field.isNull, property.isNullable { return .null }
        switch property.type {
        case .string, .binary: return .value(.string(text))
        case .mixed: return text.isEmpty ? .null : try JSONReader.read(text)
        case .object: return field.isNull ? .null : try link(text, property)
        default: return text.isEmpty ? nil : Self.scalar(text, property.type)
        }
    }

    /// A value that is no number of its type stays text, and is refused as what it is.
    private static func scalar(_ text: String, _ type: PropertyType) -> ValueTree {
        switch type {
        case .int:
            if let number = Int64(text) { return .value(.int(number)) }
            // 2.0 and 1e3 are integers, too.
            if Double(text)?.isFinite == true, !text.contains("x") { return .number(text) }
        case .bool:
            switch text.lowercased() {
            case "true", "1", "yes": return true
            case "false", "0", "no": return false
            default: break
            }
        case .float:
            if let number = Float(text), !text.contains("x") { return .value(.float(number)) }
        case .double:
            if let number = Double(text), !text.contains("x") { return .value(.double(number)) }
        default: break
        }
        return .value(.string(text))
    }

    /// An embedded object is JSON, a link the primary key of an object; see `ObjectText`.
    private func link(_ text: String, _ property: PropertySchema) throws(RealmError) -> ValueTree {
        guard let target = schema.class_(named: property.linkTarget),
            let key = target.primaryKeyProperty, !CSV.looksLikeJSON(text)
        else { return try JSONReader.read(text) }
        return Self.scalar(text, key.type)
    }
}
