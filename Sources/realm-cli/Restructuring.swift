// Changes to the schema of a file that need no program: classes and properties get other names or go.
// Steps are checked against the schema of the file before anything is written, and carried out in one
// transaction. The second file of the tool, beside `Inspection`, that knows the engine.

import CoreSwift

struct Restructuring {
    /// Names are those of the file as it is.
    enum Step {
        case renameClass(String, to: String)
        case renameProperty(String, String, to: String)
        case dropClass(String)
        case dropProperty(String, String)
    }

    let path: String
    /// The encryption key; empty for a plain file.
    private let key: [UInt8]
    let steps: [Step]
    /// Nil: the file has none.
    let oldVersion: UInt64?
    let newVersion: UInt64
    /// What the steps do, a sentence each.
    let sentences: [String]
    private let target: Schema

    /// Looks at the file, and plans the steps that the texts of the options describe. Throws
    /// `.illegalOperation` and the like for what can't be done.
    init(
        _ path: String, key: [UInt8], renames: [String], classRenames: [String], drops: [String],
        version: UInt64?
    ) throws(RealmError) {
        let realm = try Inspection.open(path, key: key)
        defer { realm.close() }
        try realm.beginRead()
        self.path = path
        self.key = key
        let stored = realm.schemaVersion
        let known = stored == Configuration.unspecifiedVersion ? nil : stored
        oldVersion = known
        newVersion = version ?? (known ?? 0) + 1
        if let known, newVersion <= known {
            throw RealmError(
                .invalidSchemaVersion,
                "a migration takes a higher schema version than the file's, \(known); it can't be "
                    + "\(newVersion)")
        }
        var plan = Plan(realm.schema)
        for text in classRenames { try plan.renameClass(text) }
        for text in drops { try plan.drop(text) }
        for text in renames { try plan.renameProperty(text) }
        steps = plan.steps
        target = try plan.target()
        let preview = try realm.preview(SchemaRequest(target, version: newVersion))
        if let refusal = preview.refusal { throw refusal }
        var sentences: [String] = []
        for step in steps {
            sentences.append(
                Self.sentence(step, objects: try Self.objects(step, realm)))
        }
        self.sentences = sentences
    }

    /// How many objects go with a class.
    private static func objects(_ step: Step, _ realm: Realm) throws(RealmError) -> Int {
        guard case .dropClass(let name) = step, let item = realm.schema.class_(named: name) else {
            return 0
        }
        return try realm.objectCount(item.key)
    }

    private static func sentence(_ step: Step, objects: Int) -> String {
        switch step {
        case .renameClass(let old, let new): return "class '\(old)' is renamed to '\(new)'"
        case .renameProperty(let class_, let old, let new):
            return "property '\(class_).\(old)' is renamed to '\(new)'"
        case .dropClass(let name):
            return "class '\(name)' is dropped, with \(grouped(objects)) "
                + (objects == 1 ? "object" : "objects")
        case .dropProperty(let class_, let name): return "property '\(class_).\(name)' is dropped"
        }
    }

    /// Carries the steps out. Throws `.deleteOpenedRealm` when somebody has the file open.
    func run() throws(RealmError) {
        guard try !Realm.isOpenAnywhere(path) else {
            throw RealmError(
                .mismatchedConfig,
                "another program has the file open; close it there before its schema is changed")
        }
        var configuration = Configuration(path: path)
        configuration.encryptionKey = key
        configuration.schema = target
        configuration.schemaVersion = newVersion
        configuration.migrate = { [steps] _, realm, target throws(RealmError) in
            try Self.change(realm, steps, target)
            return true
        }
        try Realm.open(configuration).close()
    }

    private static func change(
        _ realm: Realm, _ steps: [Step], _ target: Schema
    ) throws(RealmError) {
        var names: [String: String] = [:]
        for case .renameClass(let old, let new) in steps {
            try realm.renameClass(old, to: new, in: target)
            names[old] = new
        }
        for case .renameProperty(let class_, let old, let new) in steps {
            try realm.renameProperty(names[class_] ?? class_, old, to: new, in: target)
        }
        for case .dropClass(let name) in steps { _ = try realm.removeClass(name) }
    }
}

/// Steps in the making, and the schema that they lead to.
private struct Plan {
    let schema: Schema
    var steps: [Restructuring.Step] = []
    private var classNames: [String: String] = [:]
    private var droppedClasses: Set<String> = []
    /// By class, then property.
    private var propertyNames: [String: [String: String]] = [:]
    private var droppedProperties: [String: Set<String>] = [:]

    init(_ schema: Schema) { self.schema = schema }

    private func refused(_ message: String) -> RealmError { RealmError(.illegalOperation, message) }

    private func class_(_ name: String) throws(RealmError) -> ClassSchema {
        if let found = schema.class_(named: name) { return found }
        let known = schema.classes.map { $0.name }.joined(separator: ", ")
        throw RealmError(
            .noSuchTable,
            "the file has no class '\(name)'"
                + (known.isEmpty ? "" : "; its classes are \(known)"))
    }

    /// `Class.property`; names may have dots, too.
    private func property(_ text: String) throws(RealmError) -> (String, String) {
        var missing: (String, String)?
        for dot in text.indices where text[dot] == "." {
            let owner = String(text[..<dot])
            let name = String(text[text.index(after: dot)...])
            guard let found = schema.class_(named: owner) else { continue }
            if found.property(named: name) != nil { return (owner, name) }
            missing = (owner, name)
        }
        guard let missing else {
            let owner = text.prefix { $0 != "." }
            _ = try class_(String(owner))
            throw RealmError(.noSuchTable, "the file has no class '\(owner)'")
        }
        let known = try class_(missing.0).properties.map { $0.name }.joined(separator: ", ")
        throw RealmError(
            .invalidProperty,
            "class '\(missing.0)' has no property '\(missing.1)'; its properties are \(known)")
    }

    /// What is left and right of `=`.
    private func sides(_ text: String) throws(RealmError) -> (String, String) {
        guard let sign = text.lastIndex(of: "="), sign != text.startIndex,
            text.index(after: sign) != text.endIndex
        else {
            throw RealmError(.invalidArgument, "'\(text)' is not of the form OLD=NEW")
        }
        return (String(text[..<sign]), String(text[text.index(after: sign)...]))
    }

    mutating func renameClass(_ text: String) throws(RealmError) {
        let (old, new) = try sides(text)
        _ = try class_(old)
        guard classNames[old] == nil else { throw refused("class '\(old)' is renamed twice") }
        guard schema.class_(named: new) == nil, !classNames.values.contains(new) else {
            throw refused("class '\(old)' can't be renamed to '\(new)': that class is there")
        }
        classNames[old] = new
        steps.append(.renameClass(old, to: new))
    }

    mutating func drop(_ text: String) throws(RealmError) {
        if schema.class_(named: text) != nil || !text.contains(".") {
            _ = try class_(text)
            guard classNames[text] == nil else {
                throw refused("class '\(text)' is renamed, so it can't be dropped")
            }
            guard droppedClasses.insert(text).inserted else { return }
            steps.append(.dropClass(text))
        } else {
            let (owner, name) = try property(text)
            guard droppedProperties[owner, default: []].insert(name).inserted else { return }
            steps.append(.dropProperty(owner, name))
        }
    }

    mutating func renameProperty(_ text: String) throws(RealmError) {
        let (old, new) = try sides(text)
        let (owner, name) = try property(old)
        let subject = "property '\(owner).\(name)'"
        if droppedClasses.contains(owner) || droppedProperties[owner]?.contains(name) == true {
            throw refused("\(subject) is dropped, so it can't be renamed")
        }
        guard propertyNames[owner]?[name] == nil else {
            throw refused("\(subject) is renamed twice")
        }
        let isTaken = propertyNames[owner]?.values.contains(new) ?? false
        let isThere = try class_(owner).property(named: new) != nil
        if isTaken || isThere && droppedProperties[owner]?.contains(new) != true {
            throw refused("\(subject) can't be renamed to '\(new)': that property is there")
        }
        propertyNames[owner, default: [:]][name] = new
        steps.append(.renameProperty(owner, name, to: new))
    }

    /// The schema of the file after the steps.
    func target() throws(RealmError) -> Schema {
        var classes: [ClassSchema] = []
        for item in schema.classes where !droppedClasses.contains(item.name) {
            var properties: [PropertySchema] = []
            for property in item.properties
            where droppedProperties[item.name]?.contains(property.name) != true {
                if droppedClasses.contains(property.linkTarget) {
                    throw RealmError(
                        .crossTableLinkTarget,
                        "class '\(property.linkTarget)' can't be dropped: "
                            + "'\(item.name).\(property.name)' links to it; drop that, too")
                }
                properties.append(
                    PropertySchema(
                        renamed(property.name, of: item.name), property.type,
                        collection: property.collection,
                        linkTarget: classNames[property.linkTarget] ?? property.linkTarget,
                        flags: property.flags))
            }
            let hasKey = properties.contains { $0.isPrimaryKey }
            classes.append(
                ClassSchema(
                    classNames[item.name] ?? item.name,
                    primaryKey: hasKey ? renamed(item.primaryKey, of: item.name) : "",
                    properties: properties, kind: item.kind))
        }
        return Schema(classes)
    }

    private func renamed(_ property: String, of owner: String) -> String {
        propertyNames[owner]?[property] ?? property
    }
}
