// When two schemas count as the same, as the C ABI's `realm_equals` has it and as a cached realm
// is found again: what is stored and shown of the data decides, not keys or public names.

extension Schema {
    /// Class order is irrelevant (classes are sorted), property order matters.
    package func describesSame(as other: Schema) -> Bool {
        classes.count == other.classes.count
            && zip(classes, other.classes).allSatisfy { $0.describesSame(as: $1) }
    }
}

extension ClassSchema {
    func describesSame(as other: ClassSchema) -> Bool {
        name == other.name && kind == other.kind
            && primaryKeyProperty?.name == other.primaryKeyProperty?.name
            && properties.count == other.properties.count
            && computedProperties.count == other.computedProperties.count
            && zip(allProperties, other.allProperties).allSatisfy { $0.describesSame(as: $1) }
    }
}

extension PropertySchema {
    func describesSame(as other: PropertySchema) -> Bool {
        name == other.name && type == other.type && collection == other.collection
            && linkTarget == other.linkTarget && linkOrigin == other.linkOrigin
            && isNullable == other.isNullable && isPrimaryKey == other.isPrimaryKey
            && needsIndex == other.needsIndex
            && wordRules == other.wordRules
    }

    private var needsIndex: Bool { flags.contains(.indexed) || isPrimaryKey }
}
