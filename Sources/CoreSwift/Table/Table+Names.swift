// What messages call classes and properties: the names of the schema, which a table knows for this
// purpose alone.

extension Schema {
    /// A class as messages name it: 'Person', or by its key where the schema does not have it.
    func named(_ key: ClassKey) -> String {
        class_(key).map { "'\($0.name)'" } ?? "class \(key)"
    }

    /// A property as messages name it: 'Person.age'.
    func named(_ key: ClassKey, column: Int) -> String {
        guard let item = class_(key),
            let property = item.properties.first(where: { $0.key.column == column })
        else { return "\(column) of \(named(key))" }
        return "'\(item.name).\(property.shownName)'"
    }
}

extension Table {
    var named: String { state.schema.named(state.classKey) }

    func named(_ key: ClassKey) -> String { state.schema.named(key) }

    func named(column: Int) -> String { state.schema.named(state.classKey, column: column) }
}
