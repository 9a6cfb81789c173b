// What a realm shows of its file's schema: the classes and properties it asked for, in the order
// it asked for them, with the keys of the file; and, as the subset mode says, what else is there.

enum ShownSchema {
    /// `before`: what the realm showed, the keys of whose computed properties stay what they are.
    static func make(
        stored: Schema, requested: Schema?, mode: SchemaSubsetMode, before: Schema
    ) -> Schema {
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
            let known = before.class_(named: wanted.name)?.computedProperties ?? []
            // No key of what it showed is another property's.
            var next = known.lazy.map { $0.key.column + 1 }.max() ?? 0
            shown.computedProperties = wanted.computedProperties.map { property in
                var copy = property
                let same = known.first {
                    $0.name == property.name && $0.linkTarget == property.linkTarget
                        && $0.linkOrigin == property.linkOrigin
                }
                copy.key = same?.key ?? .computed(next)
                if same == nil { next += 1 }
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
