// What a realm shows of its file's schema: the classes and properties it asked for, in the order
// it asked for them, with the keys of the file; and, as the subset mode says, what else is there.

enum ShownSchema {
    static func make(stored: Schema, requested: Schema?, mode: SchemaSubsetMode) -> Schema {
        guard let requested else { return stored }
        let addsClasses = mode == .allClasses || mode == .complete
        let addsProperties = mode == .allProperties || mode == .complete
        var classes: [ClassSchema] = []
        for wanted in requested.classes {
            var shown = wanted
            if let found = stored.class_(named: wanted.name) {
                shown.key = found.key
                shown.properties = wanted.properties.map { property in
                    var copy = property
                    let stored = found.property(named: property.name)
                    copy.key = stored?.key ?? .invalid
                    // TEXT needs the index, not the wish for one: some modes do not make it.
                    let index: PropertyFlags = [.fullTextIndexed, .fullTextUnicode]
                    copy.flags.subtract(index)
                    copy.flags.formUnion(stored?.flags.intersection(index) ?? [])
                    return copy
                }
                if addsProperties {
                    let names = Set(wanted.properties.map(\.name))
                    shown.properties += found.properties.filter { !names.contains($0.name) }
                }
            }
            shown.computedProperties = wanted.computedProperties.enumerated().map {
                var copy = $0.element
                copy.key = .computed($0.offset)
                return copy
            }
            classes.append(shown)
        }
        if addsClasses {
            let names = Set(requested.classes.map(\.name))
            classes += stored.classes.filter { !names.contains($0.name) }
        }
        return Schema(classes)
    }
}
