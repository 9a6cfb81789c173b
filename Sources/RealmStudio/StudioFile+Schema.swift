// New classes and properties: what a change would do, told before it is done; then the change, as a program does it
// that opens the file with the new schema and the next schema version.

import CoreSwift

extension StudioFile {
    /// What the file would have to do, in sentences, and why it can't, if so.
    func previewSchema(_ request: Request) throws -> [UInt8] {
        let realm = try opened()
        let asked = try schemaRequest(request, realm)
        let preview = try realm.preview(asked)
        return jsonObject { output in
            output.member("from", Self.text(realm.schemaVersion))
            output.member("to", Self.text(asked.version))
            output.member("changes", preview.differences.map(\.description))
            if let refusal = preview.refusal { output.member("refusal", refusal.message) }
            output.member("rewrites", preview.migrates)
        }
    }

    /// Makes the change. What could be undone before can't any more: it was of another schema.
    func changeSchema(_ request: Request) throws -> [UInt8] {
        try checkMayWrite()
        let realm = try opened()
        let asked = try schemaRequest(request, realm)
        try realm.updateSchema(asked)
        return try schema()
    }

    static func text(_ version: UInt64) -> String {
        version == Configuration.unspecifiedVersion ? "none" : "\(version)"
    }

    private func schemaRequest(_ request: Request, _ realm: Realm) throws -> SchemaRequest {
        var classes = realm.schema.classes
        let property = try request.tree("property").map { try self.property(try Request($0)) }
        let name = try request.text("class")
        if try request.truth("isNew") {
            guard !name.isEmpty else { throw StudioError.refused("the class has no name") }
            guard !classes.contains(where: { $0.name == name }) else {
                throw StudioError.refused("there is a class '\(name)' already")
            }
            guard let property else {
                throw StudioError.refused("a class has at least one property")
            }
            var made = ClassSchema(name, properties: [property])
            if try request.truth("isEmbedded") { made.kind = .embedded }
            if property.isPrimaryKey { made.primaryKey = property.name }
            classes.append(made)
        } else {
            guard let index = classes.firstIndex(where: { $0.name == name }) else {
                throw StudioError.noClass(name)
            }
            guard let property else { throw StudioError.refused("no property is given") }
            guard classes[index].property(named: property.name) == nil else {
                throw StudioError.refused("\(name) has a property '\(property.name)' already")
            }
            classes[index].properties.append(property)
        }
        let version = realm.schemaVersion
        return SchemaRequest(
            Schema(classes), version: version == Configuration.unspecifiedVersion ? 0 : version + 1)
    }

    private func property(_ request: Request) throws -> PropertySchema {
        let name = try request.text("name")
        guard !name.isEmpty else { throw StudioError.refused("the property has no name") }
        let typeName = try request.text("type")
        let type: PropertyType =
            switch typeName {
            case "mixed": .mixed
            case "link": .object
            default: try ValueText.type(named: typeName)
            }
        let collections: [String: CollectionType] = [
            "none": .none, "list": .list, "set": .set, "dictionary": .dictionary,
        ]
        guard let collection = collections[try request.optionalText("collection") ?? "none"] else {
            throw StudioError.refused("there are lists, sets and dictionaries, nothing else")
        }
        var flags: PropertyFlags = []
        // Links that may be missing, and mixed values, which may be null, are always nullable.
        let isAlwaysNullable =
            type == .mixed
            || (type == .object && (collection == .none || collection == .dictionary))
        if try isAlwaysNullable || (request.truth("nullable") && type != .object) {
            flags.insert(.nullable)
        }
        if try request.truth("primaryKey") { flags.insert(.primaryKey) }
        if try request.truth("indexed") { flags.insert(.indexed) }
        return PropertySchema(
            name, type, collection: collection,
            linkTarget: type == .object ? try request.text("target") : "", flags: flags)
    }
}
