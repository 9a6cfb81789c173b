// What is known of a model class: its properties with their places in instances, found once by looking at
// the class's fields and at one instance of it.

import CRuntime
import CoreSwift
import Foundation
@_spi(Reflection) import Swift

/// A property of a model class.
final class PropertyInfo: @unchecked Sendable {
    /// Its number among the properties of the class.
    let place: Int
    /// The name in the program.
    let name: String
    /// The name in the file.
    let column: String
    /// Where the wrapper is in an instance.
    let offset: Int
    let wrapper: any AnyPersisted.Type
    let shape: _PropertyShape
    let flags: UInt8
    /// Of linking objects: the property at the other end.
    let origin: String

    init(
        place: Int, name: String, column: String, offset: Int, wrapper: any AnyPersisted.Type,
        shape: _PropertyShape, flags: UInt8, origin: String
    ) {
        self.place = place
        self.name = name
        self.column = column
        self.offset = offset
        self.wrapper = wrapper
        self.shape = shape
        self.flags = flags
        self.origin = origin
    }

    var isPrimaryKey: Bool { flags & PersistedFlags.primaryKey != 0 }
    var valueType: any _Persistable.Type { wrapper.valueType }
}

/// A model class as discovery found it.
///
/// Immutable: used by realms of all threads.
final class ClassInfo: @unchecked Sendable {
    let type: ObjectBase.Type
    /// The name in the program, and in the file.
    let className: String
    let name: String
    let properties: [PropertyInfo]
    /// Those that values can be given for.
    let stored: [PropertyInfo]
    let byName: [String: Int]
    let primaryKey: Int?
    /// All stored properties are wrappers: instances can be made from an image.
    let hasOnlyWrappers: Bool
    let schema: ClassSchema
    /// What is wrong with the class; said when a schema with it is used.
    let problem: String?

    var isEmbedded: Bool { type is EmbeddedObject.Type }
    var isDynamic: Bool { type == DynamicObject.self }

    private static let lock = NSLock()
    @exclusivity(unchecked) nonisolated(unsafe) private static var known:
        [ObjectIdentifier: ClassInfo] = [:]

    /// What is known of a class; looked for the first time it is asked.
    static func of(_ type: ObjectBase.Type) -> ClassInfo {
        let id = ObjectIdentifier(type)
        if let info = lock.withLock({ known[id] }) { return info }
        let wasDiscovering = isDiscovering
        isDiscovering = true
        let made = ClassInfo(type)
        isDiscovering = wasDiscovering
        return lock.withLock {
            if let info = known[id] { return info }
            known[id] = made
            return made
        }
    }

    /// The calling thread makes instances to find the properties of a class.
    static var isDiscovering: Bool {
        get { Thread.current.threadDictionary["io.realm.discovering"] != nil }
        set { Thread.current.threadDictionary["io.realm.discovering"] = newValue ? true : nil }
    }

    private init(_ type: ObjectBase.Type) {
        self.type = type
        className = type.className()
        name = type._realmObjectName() ?? type.className()
        var discovery = Discovery(type)
        discovery.look()
        properties = discovery.properties
        stored = properties.filter { !$0.shape.isComputed }
        byName = Dictionary(
            properties.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
        primaryKey = properties.firstIndex { $0.isPrimaryKey }
        hasOnlyWrappers = discovery.hasOnlyWrappers
        problem = discovery.problem
        schema = ClassInfo.schema(name, type, properties)
    }

    private static func schema(
        _ name: String, _ type: ObjectBase.Type, _ properties: [PropertyInfo]
    ) -> ClassSchema {
        var stored: [PropertySchema] = []
        var computed: [PropertySchema] = []
        let required = Set(type.requiredProperties())
        let sample = properties.isEmpty ? nil : type.init()
        for property in properties {
            let shape = property.shape
            var flags: PropertyFlags = shape.isOptional ? .nullable : []
            if property.isPrimaryKey { flags.insert(.primaryKey) }
            if property.flags & PersistedFlags.indexed != 0 { flags.insert(.indexed) }
            if property.flags & PersistedFlags.fullText != 0 { flags.insert(.fullTextIndexed) }
            if property.flags & PersistedFlags.unicodeText != 0 { flags.insert(.fullTextUnicode) }
            // A mixed value can always be null; so can links, to be able to lead nowhere.
            if shape.type == .mixed { flags.insert(.nullable) }
            if shape.type == .object, shape.collection == .none || shape.collection == .dictionary {
                flags.insert(.nullable)
            }
            if required.contains(property.name), !shape.isLink { flags.remove(.nullable) }
            let target = shape.target.map { $0._realmObjectName() ?? $0.className() } ?? ""
            var made = PropertySchema(
                property.column, shape.type,
                collection: shape.isComputed ? .list : shape.collection, linkTarget: target,
                linkOrigin: property.origin, flags: flags,
                publicName: property.column == property.name ? "" : property.name)
            if let sample { property.putDefault(into: &made, sample) }
            if shape.isComputed { computed.append(made) } else { stored.append(made) }
        }
        let key = properties.first { $0.isPrimaryKey }?.column ?? ""
        return ClassSchema(
            name, primaryKey: key, properties: stored, computedProperties: computed,
            kind: type is EmbeddedObject.Type ? .embedded : .topLevel,
            publicName: type.className() == name ? "" : type.className())
    }

    /// The property with this name, or misuse.
    func property(_ name: String) -> PropertyInfo {
        guard let index = byName[name] else {
            misuse("Invalid property name '\(name)' for class '\(className)'.")
        }
        return properties[index]
    }

    /// The address of a property's wrapper.
    static func address(_ object: ObjectBase, _ property: PropertyInfo) -> UnsafeMutableRawPointer {
        Unmanaged.passUnretained(object).toOpaque() + property.offset
    }
}

/// Looks at the fields of a class and at one instance of it.
private struct Discovery {
    let type: ObjectBase.Type
    private(set) var properties: [PropertyInfo] = []
    private(set) var hasOnlyWrappers = true
    private(set) var problem: String?

    init(_ type: ObjectBase.Type) { self.type = type }

    private mutating func refuse(_ text: String) { if problem == nil { problem = text } }

    mutating func look() {
        if type == ObjectBase.self || type == Object.self || type == EmbeddedObject.self
            || type is DynamicObject.Type
        {
            return
        }
        let sample = type.init()
        let start = Unmanaged.passUnretained(sample).toOpaque()
        let ignored = Set(type.ignoredProperties())
        let indexed = Set(type.indexedProperties())
        var names = type.propertiesMapping()
        names.merge(type._realmColumnNames() ?? [:]) { mine, _ in mine }
        let origins = type.linkingObjectsProperties()
        let key = type.primaryKey()
        var fields: [(name: String, offset: Int, type: any Any.Type)] = []
        // 1: the type is a class.
        _forEachField(of: type, options: _EachFieldOptions(rawValue: 1)) { name, offset, type, _ in
            fields.append((String(cString: name), offset, type))
            return true
        }
        // Of older declarations, what properties without a wrapper hold is stored, too.
        let isLegacy =
            type is any LegacyDeclarations.Type
            || !fields.contains {
                $0.type is any AnyPersisted.Type && !($0.type is any DirectProperty.Type)
            }
        for field in fields {
            let isDirect = field.type is any DirectProperty.Type
            guard let wrapper = field.type as? any AnyPersisted.Type, isLegacy || !isDirect else {
                // The four fields of ObjectBase come first.
                if field.offset >= ObjectBase.fieldsEnd { hasOnlyWrappers = false }
                if isLegacy { refuseLazy(field.name, field.type, ignored) }
                continue
            }
            let name =
                field.name.hasPrefix("_") && !isDirect ? String(field.name.dropFirst()) : field.name
            if isDirect { hasOnlyWrappers = false }
            if ignored.contains(name) {
                hasOnlyWrappers = false
                continue
            }
            if properties.contains(where: { $0.name == name }) {
                refuse(
                    "Property '\(name)' is declared multiple times in the class hierarchy of "
                        + "'\(type.className())'")
                continue
            }
            var flags = wrapper.flags(start + field.offset)
            if indexed.contains(name) { flags |= PersistedFlags.indexed }
            if key == name { flags |= PersistedFlags.primaryKey }
            let declared = wrapper.origin(start + field.offset) ?? ""
            let info = PropertyInfo(
                place: properties.count, name: name, column: names[name] ?? name,
                offset: field.offset, wrapper: wrapper,
                shape: wrapper.valueType._rlmShape, flags: flags,
                origin: declared.isEmpty ? origins[name]?.propertyName ?? "" : declared)
            check(info)
            properties.append(info)
        }
        checkKeys(key)
    }

    /// What is stored as soon as it is declared can't be made at its first use.
    private mutating func refuseLazy(
        _ field: String, _ type: any Any.Type, _ ignored: Set<String>
    ) {
        let prefix = "$__lazy_storage_$_"
        guard field.hasPrefix(prefix), let storage = type as? any OptionalStorage.Type,
            storage.wrapped is any DirectProperty.Type
        else { return }
        let name = String(field.dropFirst(prefix.count))
        if ignored.contains(name) { return }
        refuse(
            "Lazy managed property '\(name)' is not allowed on a Realm Swift object class. Either add "
                + "the property to the ignored properties list or make it non-lazy.")
    }

    private mutating func check(_ info: PropertyInfo) {
        let shape = info.shape
        if shape.type == .object, shape.collection == .none, !shape.isOptional, !shape.isCustom {
            refuse("Object property '\(info.name)' must be marked as optional.")
        }
        if shape.type == .linkingObjects, info.origin.isEmpty {
            let target = shape.target?.className() ?? ""
            refuse(
                "LinkingObjects<\(target)> property '\(info.name)' must set the origin property "
                    + "name with @Persisted(originProperty: \"name\").")
        }
        if shape.type == .object, shape.isOptional,
            shape.collection == .list || shape.collection == .set
        {
            let kind = shape.collection == .list ? "List" : "MutableSet"
            refuse(
                "\(kind)<\(shape.target?.className() ?? "")> property '\(info.name)' must not be "
                    + "marked as optional.")
        }
        if shape.type == .object, shape.collection == .dictionary, !shape.isOptional {
            refuse(
                "Map<String, \(shape.target?.className() ?? "")> property '\(info.name)' must be "
                    + "marked as optional.")
        }
    }

    private mutating func checkKeys(_ key: String?) {
        let keys = properties.filter { $0.isPrimaryKey }
        if keys.count > 1 {
            refuse(
                "Properties '\(keys[0].name)' and '\(keys[1].name)' are both marked as the primary "
                    + "key of '\(type.className())'")
        }
        if let key, !properties.contains(where: { $0.name == key }) {
            refuse(
                "Primary key property '\(key)' does not exist on object '\(type.className())'")
        }
        if let first = keys.first,
            ![.string, .int, .objectId, .uuid].contains(first.shape.type)
                || first.shape.collection != .none
        {
            refuse(
                "Property '\(first.name)' cannot be made the primary key of '\(type.className())' "
                    + "because it is not a 'string', 'int', 'objectId', or 'uuid' property.")
        }
        if properties.isEmpty, type.ignoredProperties().isEmpty {
            refuse(
                "No properties are defined for '\(type.className())'. Did you remember to mark them "
                    + "with '@Persisted'?")
        }
    }
}

/// Where a lazy variable keeps its value.
private protocol OptionalStorage {
    static var wrapped: any Any.Type { get }
}
extension Optional: OptionalStorage {
    fileprivate static var wrapped: any Any.Type { Wrapped.self }
}

extension ObjectBase {
    /// Where the fields of subclasses begin.
    fileprivate static let fieldsEnd: Int = Int(
        crt_instance_size(unsafeBitCast(ObjectBase.self as AnyClass, to: UnsafeRawPointer.self)))
}
