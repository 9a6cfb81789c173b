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
public enum UpdatePolicy: UInt32, Sendable {
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

    init(_ schema: PropertySchema) {
        self.schema = schema
        name = schema.name
        type = schema.type
        collection = schema.collection
        key = schema.key
        isNullable = schema.isNullable
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

    init(_ schema: ClassSchema) {
        self.schema = schema
        properties = schema.properties.filter { $0.key != .invalid }.map { CreationProperty($0) }
        primaryKey = properties.firstIndex { $0.name == schema.primaryKeyProperty?.name }
        hasDefaultObjects = properties.contains {
            $0.hasDefault && ($0.type == .object || $0.type == .mixed)
        }
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

struct Creation {
    let realm: Realm
    let policy: UpdatePolicy
    /// Names that the class does not have are passed over.
    let ignoresUnknown: Bool

    var objects: [PlannedObject] = []
    /// Objects whose values are still to be planned.
    var waiting: [(object: Int, values: [(property: Int, tree: ValueTree)])] = []
    /// Planned objects by class and primary key.
    var byPrimaryKey: [ExactKey: Int] = [:]
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

    /// Creates or updates the object that the tree describes.
    mutating func run(_ tree: ValueTree, _ class_: CreationClass) throws(RealmError) -> ObjectKey {
        _ = try realm.tablesForWriting()
        let root = try plan(tree, class_)
        try write()
        guard let key = objects[root].existing else {
            throw RealmError(.unknown, "creating \(class_.name) gave no object")
        }
        return key
    }
}

/// A primary key with its class, compared by bytes: Swift finds canonically equivalent texts equal.
struct ExactKey: Hashable {
    let classKey: ClassKey
    let type: UInt8
    let word: Int64
    let bytes: [UInt8]

    init(_ classKey: ClassKey, _ value: Value) {
        self.classKey = classKey
        switch value {
        case .int(let number): (type, word, bytes) = (1, number, [])
        case .string(let text): (type, word, bytes) = (2, 0, Array(text.utf8))
        case .objectId(let id):
            (type, word, bytes) = (3, Int64(bitPattern: id.high), Array(String(id.low).utf8))
        case .uuid(let id):
            (type, word, bytes) = (4, Int64(bitPattern: id.high), Array(String(id.low).utf8))
        default: (type, word, bytes) = (0, 0, [])
        }
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
    public func createObject(
        _ classKey: ClassKey, from tree: ValueTree, update: UpdatePolicy = .never,
        ignoresUnknown: Bool = false
    ) throws(RealmError) -> ObjectHandle {
        let class_ = try creationClass(classKey)
        var creation = Creation(self, update, ignoresUnknown: ignoresUnknown)
        return try object(classKey, try creation.run(tree, class_))
    }

    /// What creation knows of a class that the realm shows.
    func creationClass(_ classKey: ClassKey) throws(RealmError) -> CreationClass {
        _ = try table(classKey)
        if let known = creationClasses[classKey] { return known }
        guard let schema = schema.class_(classKey) else {
            throw RealmError(.noSuchTable, "'\(path)' has no class with key \(classKey)")
        }
        let made = CreationClass(schema)
        creationClasses[classKey] = made
        return made
    }

    func creationClass(named name: String) throws(RealmError) -> CreationClass {
        guard let key = schema.class_(named: name)?.key, key != .invalid else {
            throw RealmError(.noSuchTable, "'\(path)' has no class '\(name)'")
        }
        return try creationClass(key)
    }
}
