// Classes and properties as pure data. A schema is what a program asks for at opening, what the
// file stores, and what an open realm shows; `SchemaValidation` checks the first, `SchemaDifference`
// lists how two of them differ.

/// The type of a property; raw values of `realm_property_type_e`.
public enum PropertyType: UInt32, Sendable {
    case int = 0
    case bool = 1
    case string = 2
    case binary = 4
    case mixed = 6
    case timestamp = 8
    case float = 9
    case double = 10
    case decimal128 = 11
    case object = 12
    case linkingObjects = 14
    case objectId = 15
    case uuid = 17
}

/// Raw values of `realm_collection_type_e`.
public enum CollectionType: UInt32, Sendable {
    case none = 0
    case list = 1
    case set = 2
    case dictionary = 4
}

/// Raw values of `realm_property_flags_e`.
public struct PropertyFlags: OptionSet, Hashable, Sendable {
    public let rawValue: Int32
    public init(rawValue: Int32) { self.rawValue = rawValue }
    public static let nullable = PropertyFlags(rawValue: 1)
    public static let primaryKey = PropertyFlags(rawValue: 2)
    public static let indexed = PropertyFlags(rawValue: 4)
    public static let fullTextIndexed = PropertyFlags(rawValue: 8)
    /// Beside `fullTextIndexed`: the index has the words of all scripts (`WordRules.unicode`).
    /// An extension of ours.
    public static let fullTextUnicode = PropertyFlags(rawValue: 16)
}

/// Raw values of `realm_class_flags_e`.
public enum ClassKind: Int32, Sendable {
    case topLevel = 0
    case embedded = 1
    case asymmetric = 2
}

public struct PropertySchema: Equatable, Sendable {
    public var name: String
    /// The name users of the schema see; empty when it is `name`.
    public var publicName: String
    /// The name for messages and for users: the public one, if there is one.
    var shownName: String { publicName.isEmpty ? name : publicName }
    public var type: PropertyType
    public var collection: CollectionType
    /// Class that `object` and `linkingObjects` properties point to; else empty.
    public var linkTarget: String
    /// Property of `linkTarget` that a `linkingObjects` property reverses; else empty.
    public var linkOrigin: String
    public var flags: PropertyFlags
    /// `invalid` until the property is in a file.
    public var key: PropertyKey
    /// What a new object gets that is created from values without one for the property. Belongs to
    /// the program, not to the file; objects created without values start with zeros and nulls.
    public var defaultValue: ValueTree?
    /// Computes it anew for each object, and wins over `defaultValue`.
    package var computedDefault: ComputedDefault?
    /// How the file holds the values; of schemas of files alone.
    var storage = PropertyStorage()

    public init(
        _ name: String, _ type: PropertyType, collection: CollectionType = .none,
        linkTarget: String = "", linkOrigin: String = "", flags: PropertyFlags = [],
        publicName: String = "", key: PropertyKey = .invalid, defaultValue: ValueTree? = nil
    ) {
        self.name = name
        self.publicName = publicName
        self.type = type
        self.collection = collection
        self.linkTarget = linkTarget
        self.linkOrigin = linkOrigin
        self.flags = flags
        self.key = key
        self.defaultValue = defaultValue
    }

    public var isNullable: Bool { flags.contains(.nullable) }
    public var isPrimaryKey: Bool { flags.contains(.primaryKey) }
    /// The rules of the full-text index, nil: there is none.
    public var wordRules: WordRules? {
        guard flags.contains(.fullTextIndexed) else { return nil }
        return flags.contains(.fullTextUnicode) ? .unicode : .latin
    }
    public var isComputed: Bool { type == .linkingObjects }
}

extension [PropertySchema] {
    /// No two have the same name. Comparing a few with each other is quicker than a set of them.
    var haveDistinctNames: Bool {
        guard count <= 16 else { return Set(map(\.name)).count == count }
        for index in indices {
            for other in 0..<index where self[other].name == self[index].name { return false }
        }
        return true
    }
}

/// What a file knows of a property besides what its schema says: what leaves without data for it
/// hold, and how a primary key is found.
struct PropertyStorage: Equatable, Sendable {
    /// The value of objects that are older than the property, as bytes of a mixed value; nil: null,
    /// or zero where it is required.
    var initial: [UInt8]?
    /// An integer primary key that has an index like others, because the objects got their keys
    /// before it was one.
    var isIndexedKey = false

    var isPlain: Bool { self == PropertyStorage() }
}

public struct ClassSchema: Equatable, Sendable {
    public var name: String
    public var kind: ClassKind
    /// Name of the primary key property; empty when there is none.
    public var primaryKey: String
    /// Stored properties in declaration order.
    public var properties: [PropertySchema]
    /// Linking-objects properties in declaration order.
    public var computedProperties: [PropertySchema]
    /// `invalid` until the class is in a file.
    public var key: ClassKey
    /// What the program calls the class, where that is not its name in the file; else empty.
    /// Queries take both. Not stored.
    public var publicName: String
    /// Properties that were dropped: their columns stay in leaves until these are rewritten, and no
    /// other property gets them. Of schemas of files alone, by column.
    var vacated: [PropertySchema] = []

    /// For messages about queries: what the program calls the class.
    var shownName: String { publicName.isEmpty ? name : publicName }

    public init(
        _ name: String, primaryKey: String = "", properties: [PropertySchema],
        computedProperties: [PropertySchema] = [], kind: ClassKind = .topLevel,
        publicName: String = "", key: ClassKey = .invalid
    ) {
        self.name = name
        self.publicName = publicName
        self.kind = kind
        self.primaryKey = primaryKey
        self.properties = properties
        self.computedProperties = computedProperties
        self.key = key
    }

    /// The stored or computed property with this internal name.
    public func property(named name: String) -> PropertySchema? {
        properties.first { $0.name == name } ?? computedProperties.first { $0.name == name }
    }

    /// The property that identifies objects: named as primary key and flagged as such.
    public var primaryKeyProperty: PropertySchema? {
        primaryKey.isEmpty ? nil : properties.first { $0.name == primaryKey && $0.isPrimaryKey }
    }

    /// How many columns the leaves of the class may have: those of properties and vacated ones.
    var columnCount: Int { properties.count + vacated.count }

    /// The properties by column, vacated ones among them.
    var columns: [PropertySchema] {
        if vacated.isEmpty, properties.indices.allSatisfy({ properties[$0].key.column == $0 }) {
            return properties
        }
        return (properties + vacated).sortedFew { $0.key.column < $1.key.column }
    }
}

public struct Schema: Equatable, Sendable {
    /// Sorted by name, byte order.
    public private(set) var classes: [ClassSchema]
    /// So many are looked through sooner than halved.
    private static let fewClasses = 16

    public init(_ classes: [ClassSchema] = []) {
        self.classes = classes.sortedFew {
            $0.name.utf8.lexicographicallyPrecedes($1.name.utf8)
        }
    }

    @inline(never)
    public func class_(named name: String) -> ClassSchema? {
        index(named: name).map { classes[$0] }
    }

    /// Texts are equal in other bytes, too, where Unicode says so, as they are to `validate`. Such have
    /// letters beyond ASCII, but for three signs that stand for a K, a semicolon and an accent.
    @inline(never)
    private func index(named name: String) -> Int? {
        if classes.count > Self.fewClasses {
            let place = place(of: name)
            if place < classes.count, classes[place].name.utf8.elementsEqual(name.utf8) {
                return place
            }
            if name.utf8.allSatisfy({ $0 < 0x80 }) { return nil }
        }
        return classes.firstIndex { $0.name == name }
    }

    /// Where a class of this name is, or would be.
    private func place(of name: String) -> Int {
        // Not the class itself, which would be copied for each look.
        classes.indices.partitionPoint {
            classes[$0].name.utf8.lexicographicallyPrecedes(name.utf8)
        }
    }

    mutating func insert(_ item: ClassSchema) {
        classes.insert(item, at: place(of: item.name))
    }

    /// Changes a class, but not its name.
    mutating func change(_ name: String, _ body: (inout ClassSchema) -> Void) {
        if let place = index(named: name) { body(&classes[place]) }
    }

    public func class_(_ key: ClassKey) -> ClassSchema? {
        classes.first { $0.key == key }
    }

    /// The place of the class with this name in the file, or else with this public name.
    func classIndex(called name: String) -> Int? {
        index(named: name)
            ?? classes.firstIndex { !$0.publicName.isEmpty && $0.publicName == name }
    }
}
