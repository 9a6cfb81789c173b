// Creating and updating objects from value trees: nested objects, collections and embedded objects
// in one go, found by primary key or made.
//
// First everything is planned (Creation+Planning, +Conversion; from nodes of the C interface
// NodeCreation): names are looked up, values converted to the types of their properties, objects found. Whatever is wrong with the tree is
// noticed there, before anything is written. Then rows are made, and then filled (+Writing), so
// that objects can link to each other in any way. A plan names objects by their place in `objects`.
//
// Invariants
//   1. Planning changes nothing in the realm.
//   2. An object that is mentioned several times, by its primary key or by `$id`, is planned once.
//   3. `existing` of a planned object is nil exactly when writing has to create it.

/// What happens when an object with the primary key of a new one is there already.
package enum UpdatePolicy: UInt32, Sendable {
    /// It is an error.
    case never = 0
    /// The object takes the values that are given and differ from those it has.
    case modified = 1
    /// The object takes all values that are given, also equal ones: all count as changed.
    case all = 2
}

/// A property as creation looks at it. A class, because a copy of the schema would count the
/// references of its texts, for every value of every object.
final class CreationProperty {
    let schema: PropertySchema
    let name: String
    let type: PropertyType
    let collection: CollectionType
    let key: PropertyKey
    let isNullable: Bool
    /// Of a property for objects; `.invalid` where the schema lacks it.
    let linkTargetKey: ClassKey

    init(_ schema: PropertySchema, _ all: Schema) {
        self.schema = schema
        name = schema.name
        type = schema.type
        collection = schema.collection
        key = schema.key
        isNullable = schema.isNullable
        linkTargetKey = all.class_(named: schema.linkTarget)?.key ?? .invalid
    }

    var publicName: String { schema.publicName }
    var shownName: String { schema.shownName }
    var linkTarget: String { schema.linkTarget }
    var typeDescription: String { schema.typeDescription }
    var hasDefault: Bool { schema.hasDefault }
    func makeDefault() throws(RealmError) -> ValueTree? {
        hasDefault ? try schema.makeDefault() : nil
    }
}

/// A class as creation looks at it; made once per schema.
final class CreationClass {
    let schema: ClassSchema
    /// Those that the file stores.
    let properties: [CreationProperty]
    let primaryKey: Int?
    private let byName: [String: Int]
    /// Whether defaults may describe other objects.
    let hasDefaultObjects: Bool
    /// Whether properties are for objects.
    let holdsObjects: Bool

    init(_ schema: ClassSchema, _ all: Schema) {
        self.schema = schema
        properties = schema.properties.filter { $0.key != .invalid }.map {
            CreationProperty($0, all)
        }
        primaryKey = properties.firstIndex { $0.name == schema.primaryKeyProperty?.name }
        hasDefaultObjects = properties.contains {
            $0.hasDefault && ($0.type == .object || $0.type == .mixed)
        }
        holdsObjects = properties.contains { $0.type == .object }
        var byName: [String: Int] = [:]
        for (index, property) in properties.enumerated() where !property.publicName.isEmpty {
            byName[property.publicName] = index
        }
        // A name of its own wins over a public name that another property has.
        for (index, property) in properties.enumerated() { byName[property.name] = index }
        self.byName = byName
    }

    var name: String { schema.name }
    var key: ClassKey { schema.key }
    var isEmbedded: Bool { schema.kind == .embedded }

    /// The primary key, as messages name it.
    var keySite: CreationSite { CreationSite(owner: self, property: primaryKey) }

    func checkIsCreatable() throws(RealmError) {
        guard isEmbedded else { return }
        throw RealmError(
            .illegalOperation,
            "class \(name) is embedded; its objects are created in their owner")
    }

    /// The property with this key; keys often come in the order of the class.
    func property(_ key: PropertyKey, near hint: Int) -> Int? {
        if hint < properties.count, properties[hint].key == key { return hint }
        return properties.firstIndex { $0.key == key }
    }

    /// The property with this name or public name. Values often come in the order of the class: the
    /// one at `hint` is looked at first.
    func property(_ name: String, near hint: Int = -1) -> Int? {
        if hint >= 0, hint < properties.count, properties[hint].name == name { return hint }
        return byName[name]
    }
}

/// Where in the classes a value was given; for messages.
struct CreationSite {
    let owner: CreationClass
    var property: Int?
    /// Of an element of a collection: its position, or its key.
    var index: Int?
    var key: String?

    var description: String {
        guard let property else { return owner.name }
        var text = "\(owner.name).\(owner.properties[property].name)"
        if let index { text += "[\(index)]" }
        if let key { text += "[\"\(key)\"]" }
        return text
    }

    func checkNull(_ property: CreationProperty) throws(RealmError) {
        if property.isNullable { return }
        throw RealmError(
            .propertyNotNullable,
            "\(description) takes \(property.typeDescription), null is no value for it")
    }

    /// Whether a list or dictionary may be in so many others.
    func checkNesting(_ depth: Int, isInSet: Bool) throws(RealmError) {
        guard !isInSet else {
            throw RealmError(
                .illegalOperation, "\(description): a set holds no lists and dictionaries")
        }
        guard depth < ElementLayout.depthMax else {
            throw RealmError(
                .limitExceeded,
                "\(description): collections are nested deeper than the limit, which is "
                    + "\(ElementLayout.depthMax)")
        }
    }
}

/// What a property, or an element of a collection, will hold.
enum PlannedContent {
    case value(Value)
    /// A value whose text the caller keeps until all is written.
    case raw(RawValue)
    /// A link to a planned object.
    case object(Int)
    /// A planned object that is made in its place.
    case embedded(Int)
    /// A link to the object that has this `$id`.
    case reference(String)
    case list([PlannedContent])
    case dictionary([(key: String, value: PlannedContent)])
}

struct PlannedObject {
    let class_: CreationClass
    let primaryKey: Value?
    /// Key of the object that is there, or was made.
    var existing: ObjectKey?
    /// Of one with a row of its own, until it was filled.
    var handle: ObjectHandle?
    /// Of an object with a row of its own: the row was made for this plan.
    var wasCreated = false
    var isNew: Bool { existing == nil }
    /// Values were given, not just the key of an object that ought to be there.
    var isDescribed: Bool
    let site: CreationSite
    /// By property.
    var contents: [PlannedContent?] = []

    init(
        _ class_: CreationClass, primaryKey: Value? = nil, existing: ObjectKey? = nil,
        isDescribed: Bool = true, _ site: CreationSite
    ) {
        self.class_ = class_
        self.primaryKey = primaryKey
        self.existing = existing
        self.isDescribed = isDescribed
        self.site = site
        // `Array(repeating:)` looks its type up at run time.
        contents.reserveCapacity(class_.properties.count)
        for _ in class_.properties.indices { contents.append(nil) }
    }
}

/// A plan and its writing. A class, so that what is done to it by parts never copies it.
final class Creation {
    let realm: Realm
    let policy: UpdatePolicy
    /// Names that the class does not have are passed over.
    let ignoresUnknown: Bool

    var objects: [PlannedObject] = []
    /// Objects whose values are still to be planned.
    var waiting: [(object: Int, values: [(property: Int, tree: ValueTree)])] = []
    /// Planned objects by class and primary key, the first `keysKnown` of them; see `planned`.
    private var byPrimaryKey: [ClassKey: [ExactValue: Int]] = [:]
    private var keysKnown = 0
    /// Planned objects by `$id`.
    var byIdentifier: [String: Int] = [:]
    var references: [(identifier: String, target: CreationClass?, site: CreationSite)] = []

    /// Properties and elements that were written; for tests of what a policy leaves alone.
    var writtenCount = 0
    /// Embedded objects that are there and whose values are still to be written.
    var embedded: [(handle: ObjectHandle, object: Int, isNew: Bool)] = []

    init(_ realm: Realm, _ policy: UpdatePolicy, ignoresUnknown: Bool) {
        self.realm = realm
        self.policy = policy
        self.ignoresUnknown = ignoresUnknown
    }

    deinit {
        endHandles()
        endEmbedded()
    }

    /// Lets go of what is held for objects that are still to be filled.
    private func endHandles() {
        for index in objects.indices { objects[index].handle?.release() }
    }

    /// Forgets all planned objects.
    func restart() {
        endHandles()
        objects.removeAll(keepingCapacity: true)
        byPrimaryKey.removeAll(keepingCapacity: true)
        keysKnown = 0
    }

    /// A handle of the first object, the root, for the caller to release; written before.
    func takeRoot() throws(RealmError) -> ObjectHandle {
        if let handle = objects[0].handle {
            objects[0].handle = nil
            return handle
        }
        guard let key = objects[0].existing else {
            throw RealmError(.unknown, "creating \(objects[0].class_.name) gave no object")
        }
        return try realm.object(objects[0].class_.key, key)
    }

    /// Few objects are looked at one by one, which is faster than to hash their keys.
    private static let lookedThrough = 16

    /// The planned object of the class with this primary key.
    func planned(_ key: Value, _ class_: CreationClass) -> Int? {
        if objects.count <= Self.lookedThrough {
            for index in objects.indices where objects[index].class_ === class_ {
                if let known = objects[index].primaryKey, ExactValue(known) == ExactValue(key) {
                    return index
                }
            }
            return nil
        }
        while keysKnown < objects.count {
            let object = objects[keysKnown]
            if let key = object.primaryKey {
                byPrimaryKey[object.class_.key, default: [:]][ExactValue(key)] = keysKnown
            }
            keysKnown += 1
        }
        return byPrimaryKey[class_.key]?[ExactValue(key)]
    }

    /// Creates or updates the object that the tree describes; a handle of it.
    func run(_ tree: ValueTree, _ class_: CreationClass) throws(RealmError) -> ObjectHandle {
        _ = try realm.tablesForWriting()
        try plan(tree, class_)
        try write()
        return try takeRoot()
    }
}

extension Realm {
    /// Creates an object from a dictionary of values by property name (or public name), or a list
    /// of all values in declaration order. Values for links are such trees in turn, the primary key
    /// of an object, or a link; objects with the primary key of one that is there are treated as
    /// `update` says. What is missing keeps its value in an object that is there, and takes its
    /// default in a new one; `.missingPropertyValue` without one. Needs a write transaction.
    ///
    /// Text stands for types that JSON has none for: ISO 8601 for timestamps, base64 for binaries,
    /// hexadecimal for object ids, UUIDs, decimals; or MongoDB's extended JSON (`$oid`, `$date` …).
    ///
    /// Everything is checked before anything is written. Complexity: linear in the tree.
    package func createObject(
        _ classKey: ClassKey, from tree: ValueTree, update: UpdatePolicy = .never,
        ignoresUnknown: Bool = false
    ) throws(RealmError) -> ObjectHandle {
        let class_ = try creationClass(classKey)
        return try Creation(self, update, ignoresUnknown: ignoresUnknown).run(tree, class_)
    }

    /// What creation knows of a class that the realm shows.
    func creationClass(_ classKey: ClassKey) throws(RealmError) -> CreationClass {
        _ = try table(classKey)
        if let known = creationClasses[classKey] { return known }
        guard let class_ = schema.class_(classKey) else {
            throw RealmError(.noSuchTable, "'\(path)' has no class with key \(classKey)")
        }
        let made = CreationClass(class_, schema)
        creationClasses[classKey] = made
        return made
    }

    /// The same of one that is not shown, which links lead to all the same: as the file has it.
    func writtenClass(_ classKey: ClassKey) throws(RealmError) -> CreationClass {
        if creationClasses[classKey] == nil, schema.class_(classKey) == nil {
            let stored = try readTables().schema
            if let class_ = stored.class_(classKey) { return CreationClass(class_, stored) }
        }
        return try creationClass(classKey)
    }

    /// A class as the realm shows it, or as the file has it where the realm does not show it.
    func storedClass(_ classKey: ClassKey) throws(RealmError) -> ClassSchema? {
        if let shown = schema.class_(classKey) { return shown }
        return try readTables().schema.class_(classKey)
    }

    /// The class of a property's objects.
    func creationClass(for property: CreationProperty) throws(RealmError) -> CreationClass {
        if property.linkTargetKey == .invalid {
            return try creationClass(named: property.linkTarget)
        }
        return try creationClass(property.linkTargetKey)
    }

    func creationClass(named name: String) throws(RealmError) -> CreationClass {
        guard let key = schema.class_(named: name)?.key, key != .invalid else {
            throw RealmError(.noSuchTable, "'\(path)' has no class '\(name)'")
        }
        return try creationClass(key)
    }
}
