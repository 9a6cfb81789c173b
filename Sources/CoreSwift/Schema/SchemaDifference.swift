// How the schema of a file differs from a requested one, as data. Opening decides by its mode what
// to do about each difference; migrations carry them out.
//
// Not compared: public names and computed properties (neither is stored), keys, and the order of
// properties. A property that is the primary key on either side has no index difference, since
// the key serves as its index.

/// One step from the schema of a file to a requested schema.
package enum SchemaDifference: Equatable, Sendable {
    case classAdded(ClassSchema)
    case classRemoved(ClassSchema)
    /// Class as requested.
    case classKindChanged(ClassSchema, from: ClassKind)
    case propertyAdded(className: String, PropertySchema)
    case propertyRemoved(className: String, PropertySchema)
    /// Type, collection kind or link target differ; nullability may too.
    case propertyTypeChanged(className: String, from: PropertySchema, to: PropertySchema)
    /// Only nullability differs; the property as requested.
    case propertyBecameNullable(className: String, PropertySchema)
    case propertyBecameRequired(className: String, PropertySchema)
    /// Names of the key properties; empty for none.
    case primaryKeyChanged(className: String, from: String, to: String)
    case indexAdded(className: String, PropertySchema)
    case indexRemoved(className: String, PropertySchema)
    case fullTextIndexAdded(className: String, PropertySchema)
    case fullTextIndexRemoved(className: String, PropertySchema)
}

extension SchemaDifference: CustomStringConvertible {
    /// Whether only indexes are concerned: data and its shape stay.
    package var isIndexOnly: Bool {
        switch self {
        case .indexAdded, .indexRemoved, .fullTextIndexAdded, .fullTextIndexRemoved: return true
        default: return false
        }
    }

    /// The class that is concerned.
    var className: String {
        switch self {
        case .classAdded(let item), .classRemoved(let item), .classKindChanged(let item, _):
            return item.name
        case .propertyAdded(let name, _), .propertyRemoved(let name, _),
            .propertyTypeChanged(let name, _, _), .propertyBecameNullable(let name, _),
            .propertyBecameRequired(let name, _), .primaryKeyChanged(let name, _, _),
            .indexAdded(let name, _), .indexRemoved(let name, _), .fullTextIndexAdded(let name, _),
            .fullTextIndexRemoved(let name, _):
            return name
        }
    }

    /// A sentence for error messages.
    package var description: String {
        switch self {
        case .classAdded(let class_):
            return "class '\(class_.name)' has been added"
        case .classRemoved(let class_):
            return "class '\(class_.name)' has been removed"
        case .classKindChanged(let class_, let old):
            return "class '\(class_.name)' has been changed from \(old.name) to "
                + class_.kind.name
        case .propertyAdded(let name, let property):
            return "property '\(name).\(property.name)' has been added"
        case .propertyRemoved(let name, let property):
            return "property '\(name).\(property.name)' has been removed"
        case .propertyTypeChanged(let name, let old, let new):
            return "property '\(name).\(new.name)' has been changed from "
                + "\(old.typeDescription) to \(new.typeDescription)"
        case .propertyBecameNullable(let name, let property):
            return "property '\(name).\(property.name)' has been made optional"
        case .propertyBecameRequired(let name, let property):
            return "property '\(name).\(property.name)' has been made required"
        case .primaryKeyChanged(let name, "", let new):
            return "primary key '\(name).\(new)' has been added"
        case .primaryKeyChanged(let name, let old, ""):
            return "primary key '\(name).\(old)' has been removed"
        case .primaryKeyChanged(let name, let old, let new):
            return "the primary key of class '\(name)' has been changed from '\(old)' to '\(new)'"
        case .indexAdded(let name, let property):
            return "property '\(name).\(property.name)' has been made indexed"
        case .indexRemoved(let name, let property):
            return "property '\(name).\(property.name)' has been made unindexed"
        case .fullTextIndexAdded(let name, let property):
            return "property '\(name).\(property.name)' has been given a full-text index"
                + (property.wordRules == .unicode ? " of Unicode words" : "")
        case .fullTextIndexRemoved(let name, let property):
            return "property '\(name).\(property.name)' has lost its full-text index"
        }
    }
}

extension Schema {
    /// The steps from this schema (of a file) to `requested`, by class name, for each class in
    /// the order: kind, removed properties, changed and added ones as requested, primary key.
    package func differences(to requested: Schema) -> [SchemaDifference] {
        // Nearly always the classes are the same ones; both schemas have them in the order of names.
        if classes.count == requested.classes.count,
            classes.indices.allSatisfy({ classes[$0].name == requested.classes[$0].name })
        {
            return classes.indices.flatMap {
                classes[$0].differences(to: requested.classes[$0])
            }
        }
        let old = Dictionary(classes.map { ($0.name, $0) }, uniquingKeysWith: { a, _ in a })
        let new = Set(requested.classes.map(\.name))
        var found: [(String, [SchemaDifference])] = []
        for class_ in requested.classes {
            if let stored = old[class_.name] {
                found.append((class_.name, stored.differences(to: class_)))
            } else {
                found.append((class_.name, [.classAdded(class_)]))
            }
        }
        for class_ in classes where !new.contains(class_.name) {
            found.append((class_.name, [.classRemoved(class_)]))
        }
        found.sortFew { $0.0.utf8.lexicographicallyPrecedes($1.0.utf8) }
        return found.flatMap(\.1)
    }
}

extension ClassSchema {
    /// The steps from this class (of a file) to `requested`, a class of the same name.
    func differences(to requested: ClassSchema) -> [SchemaDifference] {
        var found: [SchemaDifference] = []
        if kind != requested.kind { found.append(.classKindChanged(requested, from: kind)) }
        // Nearly always the properties are the same in the same order.
        if properties.count == requested.properties.count,
            properties.indices.allSatisfy({ properties[$0].name == requested.properties[$0].name })
        {
            for index in properties.indices {
                found += properties[index].differences(
                    to: requested.properties[index], className: name)
            }
            addKeyChange(to: requested, &found)
            return found
        }
        let old = Dictionary(properties.map { ($0.name, $0) }, uniquingKeysWith: { a, _ in a })
        let new = Set(requested.properties.map(\.name))
        for property in properties where !new.contains(property.name) {
            found.append(.propertyRemoved(className: name, property))
        }
        for property in requested.properties {
            if let stored = old[property.name] {
                found.append(contentsOf: stored.differences(to: property, className: name))
            } else {
                found.append(.propertyAdded(className: name, property))
            }
        }
        addKeyChange(to: requested, &found)
        return found
    }

    private func addKeyChange(to requested: ClassSchema, _ found: inout [SchemaDifference]) {
        let oldKey = primaryKeyProperty?.name ?? ""
        let newKey = requested.primaryKeyProperty?.name ?? ""
        if oldKey != newKey {
            found.append(.primaryKeyChanged(className: name, from: oldKey, to: newKey))
        }
    }
}

extension PropertySchema {
    fileprivate func differences(
        to requested: PropertySchema, className: String
    ) -> [SchemaDifference] {
        if type != requested.type || collection != requested.collection
            || linkTarget != requested.linkTarget
        {
            // The property is made anew, with its indexes.
            return [.propertyTypeChanged(className: className, from: self, to: requested)]
        }
        var found: [SchemaDifference] = []
        if isNullable != requested.isNullable {
            found.append(
                requested.isNullable
                    ? .propertyBecameNullable(className: className, requested)
                    : .propertyBecameRequired(className: className, requested))
        }
        if !isPrimaryKey, !requested.isPrimaryKey, hasOwnIndex != requested.hasOwnIndex {
            found.append(
                requested.hasOwnIndex
                    ? .indexAdded(className: className, requested)
                    : .indexRemoved(className: className, requested))
        }
        if wordRules != requested.wordRules {
            found.append(
                requested.wordRules == nil
                    ? .fullTextIndexRemoved(className: className, requested)
                    : .fullTextIndexAdded(className: className, requested))
        }
        return found
    }
}
