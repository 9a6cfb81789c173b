// The classes of a realm as programs see them.

import CoreSwift
import Foundation

/// The classes of a realm.
public struct Schema: Equatable, CustomStringConvertible, Sendable {
    /// The classes, by name.
    public let objectSchema: [ObjectSchema]

    init(_ schema: EngineSchema) { objectSchema = schema.classes.map { ObjectSchema($0) } }

    /// The class with a name.
    public subscript(className: String) -> ObjectSchema? {
        objectSchema.first { $0.className == className }
    }

    public var description: String {
        "Schema {\n" + objectSchema.map { "\t\($0)\n" }.joined() + "}"
    }
}

/// A class: its name and properties.
public struct ObjectSchema: Equatable, CustomStringConvertible, Sendable {
    let item: ClassSchema

    init(_ item: ClassSchema) { self.item = item }

    /// The name in the program.
    public var className: String { item.publicName.isEmpty ? item.name : item.publicName }
    /// The class in the program; `DynamicObject` where it has none.
    public var objectClass: AnyClass {
        ClassScan.all().first { ClassInfo.of($0).name == item.name } ?? DynamicObject.self
    }
    /// The stored properties, and then those that list linking objects.
    public var properties: [Property] {
        (item.properties + item.computedProperties).map { Property($0) }
    }
    /// The property that identifies the objects.
    public var primaryKeyProperty: Property? { item.primaryKeyProperty.map { Property($0) } }
    /// The objects are parts of others.
    public var isEmbedded: Bool { item.kind == .embedded }
    /// Always false: such objects exist for synchronisation only.
    public var isAsymmetric: Bool { false }

    /// The property with a name.
    public subscript(propertyName: String) -> Property? {
        properties.first { $0.name == propertyName }
    }

    public static func == (a: ObjectSchema, b: ObjectSchema) -> Bool {
        a.className == b.className && a.properties == b.properties && a.isEmbedded == b.isEmbedded
    }

    public var description: String {
        "\(className) {\n" + properties.map { "\t\t\($0)\n" }.joined() + "\t}"
    }
}

/// A property of a class.
public struct Property: Equatable, CustomStringConvertible, Sendable {
    let item: PropertySchema

    init(_ item: PropertySchema) { self.item = item }

    /// The name in the program.
    public var name: String { item.publicName.isEmpty ? item.name : item.publicName }
    /// The name in the file.
    public var columnName: String { item.name }
    /// The type, or that of the elements.
    public var type: PropertyType { PropertyType(item.type) }
    /// It is a `List`.
    public var isArray: Bool { item.collection == .list || item.isComputed }
    /// It is a `MutableSet`.
    public var isSet: Bool { item.collection == .set }
    /// It is a `Map`.
    public var isMap: Bool { item.collection == .dictionary }
    /// It has an index.
    public var isIndexed: Bool { item.flags.contains(.indexed) || item.isPrimaryKey }
    /// It can be nil; of collections, the elements can.
    public var isOptional: Bool { item.isNullable && item.type != .mixed }
    /// The class that links lead to.
    public var objectClassName: String? { item.linkTarget.isEmpty ? nil : item.linkTarget }

    public static func == (a: Property, b: Property) -> Bool {
        a.name == b.name && a.type == b.type && a.isOptional == b.isOptional
            && a.isArray == b.isArray && a.isSet == b.isSet && a.isMap == b.isMap
            && a.isIndexed == b.isIndexed && a.objectClassName == b.objectClassName
    }

    public var description: String {
        "\(name) \(type)\(isOptional ? "?" : "")" + (isArray ? " array" : "")
            + (isSet ? " set" : "") + (isMap ? " map" : "") + (isIndexed ? " indexed" : "")
    }
}
