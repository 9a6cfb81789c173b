// How properties and classes are named in messages, and small questions about them that
// validation and differences share.

extension PropertySchema {
    /// The type as a reader of a message writes it: "int?", "list<Dog>", "dictionary<mixed?>".
    package var typeDescription: String {
        let bare: String
        switch type {
        case .object, .linkingObjects: bare = linkTarget.isEmpty ? "object" : linkTarget
        case .objectId: bare = "object id"
        default: bare = "\(type)"
        }
        let element = isNullable ? bare + "?" : bare
        if type == .linkingObjects { return "linking objects of \(bare).\(linkOrigin)" }
        switch collection {
        case .none: return element
        case .list: return "list<\(element)>"
        case .set: return "set<\(element)>"
        case .dictionary: return "dictionary<\(element)>"
        }
    }

    /// Whether the property has an index of its own. A primary key needs none besides itself.
    var hasOwnIndex: Bool { flags.contains(.indexed) && !isPrimaryKey }
}

extension ClassSchema {
    /// Stored and computed properties in declaration order.
    var allProperties: [PropertySchema] {
        computedProperties.isEmpty ? properties : properties + computedProperties
    }

    /// Classes that stored properties link to.
    var linkTargets: [String] {
        properties.filter { $0.type == .object }.map(\.linkTarget)
    }
}

extension ClassKind {
    /// "top-level", for messages.
    package var name: String {
        switch self {
        case .topLevel: return "top-level"
        case .embedded: return "embedded"
        case .asymmetric: return "asymmetric"
        }
    }
}
