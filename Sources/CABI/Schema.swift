// Schema objects: made from and read into the C records.

import CRealm
import CoreSwift

/// The object of a `realm_schema_t`: a schema of its own, or a view of what a realm shows.
final class SchemaObject {
    private var read: () -> Schema
    private let isLive: Bool
    var schema: Schema { read() }

    init(_ schema: Schema) {
        read = { schema }
        isLive = false
    }

    /// A live view: `read` gives the schema of the moment.
    init(live read: @escaping () -> Schema) {
        self.read = read
        isLive = true
    }

    /// Changes a class of the schema; `.illegalOperation` for that of a realm.
    func change(
        class name: String, _ body: (inout ClassSchema) throws(RealmError) -> Void
    ) throws(RealmError) {
        guard !isLive else {
            throw RealmError(
                .illegalOperation, "the schema of an open realm can't be changed by its handle")
        }
        var classes = schema.classes
        guard let place = classes.firstIndex(where: { $0.name.utf8.elementsEqual(name.utf8) })
        else { throw RealmError(.noSuchTable, "the schema has no class '\(name)'") }
        try body(&classes[place])
        let changed = Schema(classes)
        read = { changed }
    }
}

/// Returns a new handle to a schema of `num_classes` classes. `class_properties[i]` has the
/// properties of `classes[i]`: first `num_properties` stored ones, then `num_computed_properties`
/// computed ones. Everything is copied, keys are ignored, and nothing is validated but the
/// records themselves. Fails: RLM_ERR_INVALID_ARGUMENT for missing arrays or texts, texts that
/// are not UTF-8, and numbers that are no type.
@c @implementation
public func realm_schema_new(
    _ classes: UnsafePointer<realm_class_info_t>?, _ num_classes: Int,
    _ class_properties: UnsafeMutablePointer<UnsafePointer<realm_property_info_t>?>?
) -> OpaquePointer? {
    boundary(nil) { () throws(RealmError) in
        guard num_classes >= 0 else {
            throw RealmError(.invalidArgument, "num_classes is larger than memory")
        }
        var made: [ClassSchema] = []
        for i in 0..<num_classes {
            guard let classes, let class_properties else {
                throw RealmError(
                    .invalidArgument, "classes and class_properties must not be NULL")
            }
            made.append(try ClassSchema(classes[i], class_properties[i], "classes[\(i)]"))
        }
        return makeHandle(.schema, SchemaObject(Schema(made)))
    }
}

/// Checks a schema against the rules; `validation_mode` has bits of
/// realm_schema_validation_mode_e. Fails: RLM_ERR_SCHEMA_VALIDATION_FAILED with every broken
/// rule on a line of the message.
@c @implementation
public func realm_schema_validate(_ schema: OpaquePointer?, _ validation_mode: UInt64) -> Bool {
    succeeds { () throws(RealmError) in
        let object = try held(schema, .schema, as: SchemaObject.self)
        try object.schema.validate(SchemaValidationMode(rawValue: validation_mode))
    }
}

/// Gives a class of a schema the name that the program calls it by, where that is not its name in
/// the file; an empty text or NULL takes it away. Queries take both names behind `@links` and in
/// `obj()`, their errors tell the public one. Public names belong to the schema that a realm is
/// opened with and are not stored. One that another class has, as its name or its public one, makes
/// the schema invalid. Fails: RLM_ERR_NO_SUCH_TABLE, RLM_ERR_ILLEGAL_OPERATION for the schema of an
/// open realm.
@c @implementation
public func realm_schema_set_class_public_name(
    _ schema: OpaquePointer?, _ class_name: UnsafePointer<CChar>?,
    _ public_name: UnsafePointer<CChar>?
) -> Bool {
    succeeds { () throws(RealmError) in
        let object = try held(schema, .schema, as: SchemaObject.self)
        let name = try text(class_name, "class_name")
        let publicName = public_name == nil ? "" : try text(public_name, "public_name")
        try object.change(class: name) { $0.publicName = publicName }
    }
}

extension ClassSchema {
    init(
        _ info: realm_class_info_t, _ properties: UnsafePointer<realm_property_info_t>?,
        _ subject: @autoclosure () -> String
    ) throws(RealmError) {
        let (total, overflow) = info.num_properties.addingReportingOverflow(
            info.num_computed_properties)
        guard info.num_properties >= 0, info.num_computed_properties >= 0, !overflow,
            total == 0 || properties != nil
        else {
            throw RealmError(.invalidArgument, "\(subject()): its properties are NULL")
        }
        var stored: [PropertySchema] = []
        var computed: [PropertySchema] = []
        if let properties {
            for i in 0..<total {
                let property = try PropertySchema(properties[i], "\(subject()), property \(i)")
                if i < info.num_properties {
                    stored.append(property)
                } else {
                    computed.append(property)
                }
            }
        }
        guard let kind = ClassKind(rawValue: info.flags & Int32(RLM_CLASS_MASK.rawValue)) else {
            throw RealmError(.invalidArgument, "\(subject()): \(info.flags) are no class flags")
        }
        self.init(
            try schemaText(info.name, "\(subject()).name"),
            primaryKey: try schemaText(info.primary_key, "\(subject()).primary_key"),
            properties: stored, computedProperties: computed, kind: kind)
    }

    /// The record of this class. Its texts live for ever.
    var info: realm_class_info_t {
        realm_class_info_t(
            name: CNames.of(name), primary_key: CNames.of(primaryKey),
            num_properties: properties.count,
            num_computed_properties: computedProperties.count, key: key.rawValue,
            flags: kind.rawValue)
    }
}

extension PropertySchema {
    init(_ info: realm_property_info_t, _ subject: @autoclosure () -> String) throws(RealmError) {
        guard let type = PropertyType(rawValue: info.type.rawValue) else {
            throw RealmError(
                .invalidArgument, "\(subject()): \(info.type.rawValue) is not a property type")
        }
        guard let collection = CollectionType(rawValue: info.collection_type.rawValue) else {
            throw RealmError(
                .invalidArgument,
                "\(subject()): \(info.collection_type.rawValue) is not a collection type")
        }
        self.init(
            try schemaText(info.name, "\(subject()).name"), type, collection: collection,
            linkTarget: try schemaText(info.link_target, "\(subject()).link_target"),
            linkOrigin: try schemaText(
                info.link_origin_property_name, "\(subject()).link_origin_property_name"),
            flags: PropertyFlags(rawValue: info.flags),
            publicName: try schemaText(info.public_name, "\(subject()).public_name"))
    }

    /// The record of this property. Its texts live for ever.
    var info: realm_property_info_t {
        realm_property_info_t(
            name: CNames.of(name), public_name: CNames.of(publicName),
            type: realm_property_type_e(rawValue: type.rawValue),
            collection_type: realm_collection_type_e(rawValue: collection.rawValue),
            link_target: CNames.of(linkTarget),
            link_origin_property_name: CNames.of(linkOrigin), key: key.rawValue,
            flags: flags.rawValue)
    }
}

private func schemaText(
    _ pointer: UnsafePointer<CChar>?, _ subject: @autoclosure () -> String
) throws(RealmError) -> String {
    guard let pointer else {
        throw RealmError(.invalidArgument, "\(subject()) is NULL (empty text stands for none)")
    }
    guard let text = String(validatingCString: pointer) else {
        throw RealmError(.invalidArgument, "\(subject()) is not UTF-8 text")
    }
    return text
}
