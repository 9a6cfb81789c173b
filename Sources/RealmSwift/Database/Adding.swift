// Objects become managed: the engine's object is made, or found by its primary key, and then the values of
// the instance are written to it, linked objects first becoming managed themselves.

import CoreSwift
import Foundation

/// The properties that the values of an unmanaged object gave: what an update writes.
final class GivenProperties {
    /// One bit for each of the first ones.
    private var first: UInt64 = 0
    private var others: Set<Int> = []

    func insert(_ place: Int) {
        if place < 64 { first |= 1 << place } else { others.insert(place) }
    }

    func contains(_ place: Int) -> Bool {
        place < 64 ? first & 1 << place != 0 : others.contains(place)
    }
}

extension _RealmSession {
    func checkWriting() {
        guard core.isWritable else {
            engine(.realm, try core.beginRead())
            misuse(
                "Can only add, remove, or create objects in a Realm in a write transaction - "
                    + "call beginWriteTransaction on an RLMRealm instance first.")
        }
    }

    /// Stores an object with everything it links to.
    func add(_ object: ObjectBase, _ policy: _AddingPolicy, isLinked: Bool = false) {
        if object.isInvalidated {
            misuse("Adding a deleted or invalidated object to a Realm is not permitted")
        }
        if object.slot != nil {
            if object.session === self { return checkWriting() }
            misuse(
                "Object is already managed by another Realm. Use create instead to copy it into this "
                    + "Realm.")
        }
        checkWriting()
        if object is EmbeddedObject { misuse("Embedded objects cannot be created directly") }
        let binding = binding(type(of: object))
        guard let index = binding.info.primaryKey else {
            if policy != .error, !isLinked {
                misuse(
                    "'\(binding.info.className)' does not have a primary key and can not be updated"
                )
            }
            let handle = engine(.realm, try core.createObject(binding.classKey))
            return manage(object, handle, policy)
        }
        let key = binding.info.properties[index]
        var made: (handle: ObjectHandle, isNew: Bool)?
        key.wrapper.withRaw(object, ClassInfo.address(object, key), self) { raw in
            made = create(
                binding.classKey, raw, policy, binding.info.className,
                unwrapped(key.wrapper.get(object, ClassInfo.address(object, key))) ?? "(null)")
        }
        // Of a type that can be no key, that was misuse.
        let (handle, isNew) = made.unsafelyUnwrapped
        manage(object, handle, policy, isNew: isNew)
    }

    /// A new object with a primary key, or the one that is there; misuse for that where it is an error.
    func create(
        _ classKey: ClassKey, _ primaryKey: RawValue, _ policy: _AddingPolicy,
        _ className: String, _ shownKey: @autoclosure () -> Any
    ) -> (handle: ObjectHandle, isNew: Bool) {
        engine(.realm) { () throws(RealmError) in
            if policy != .error {
                var isNew = true
                let handle = try core.getOrCreateObject(
                    classKey, primaryKey: primaryKey, created: &isNew)
                return (handle, isNew)
            }
            do throws(RealmError) {
                return (try core.createObject(classKey, primaryKey: primaryKey), true)
            } catch {
                guard error.code == .objectAlreadyExists else { throw error }
                misuse(
                    "Attempting to create an object of type '\(className)' with an existing "
                        + "primary key value '\(shownKey())'.")
            }
        }
    }

    /// Has an instance stand for the object of a handle, which it takes over, and writes its values.
    func manage(
        _ object: ObjectBase, _ handle: ObjectHandle, _ policy: _AddingPolicy, isNew: Bool = true
    ) {
        let binding = binding(handle.classKey)
        let given = isNew || object.aside == nil ? nil : object.aside as? GivenProperties
        if object.aside != nil { object.aside = nil }
        object.belong(to: self, handle, binding.plan)
        let start = Unmanaged.passUnretained(object).toOpaque()
        let slots = binding.slots
        for index in slots.indices {
            let slot = slots[index]
            if slot.isComputed
                || (given.map { !$0.contains(index) } ?? false)
            {
                slot.wrapper.manage(object, start + slot.offset, slot.key)
            } else {
                slot.wrapper.add(object, start + slot.offset, slot.key, policy)
            }
        }
    }

    /// Writes the values of an unmanaged embedded object to one that is there. False where it can't.
    func update(_ old: ObjectBase, from new: ObjectBase, _ policy: _AddingPolicy) -> Bool {
        guard type(of: old) == type(of: new), let handle = old.handle else { return false }
        manage(new, handle.clone(), policy, isNew: false)
        return true
    }

    /// The link to an object, which is added if no realm manages it.
    func link(_ object: ObjectBase, _ policy: _AddingPolicy) -> RawValue {
        if object.slot == nil {
            if object is EmbeddedObject { misuse("Embedded objects cannot be created directly") }
            add(object, policy, isLinked: true)
        }
        guard let handle = object.handle, object.session === self else {
            misuse(
                "Object is already managed by another Realm. Use create instead to copy it into this "
                    + "Realm.")
        }
        if !handle.isValid { misuse("Object has been deleted or invalidated.") }
        return .link(handle.classKey, handle.objectKey)
    }

    // MARK: From values

    /// Stores a new object with values.
    func create(_ type: ObjectBase.Type, _ value: Any, _ policy: _AddingPolicy) -> ObjectBase {
        checkWriting()
        if type is EmbeddedObject.Type { misuse("Embedded objects cannot be created directly") }
        let binding = binding(type)
        if policy != .error, binding.primaryKey == -1 {
            misuse("'\(binding.info.className)' does not have a primary key and can not be updated")
        }
        let object = type.init()
        let copying = Copying(to: self)
        if let source = RealmSwift.object(value) { copying.note(source, object) }
        object.assign(value, isInitializer: true, copying)
        add(object, policy)
        return object
    }

    /// Stores a new object of a class by its name.
    func createDynamic(_ name: String, _ value: Any, _ policy: _AddingPolicy) -> DynamicObject {
        checkWriting()
        let binding = binding(named: name)
        if binding.schema.kind == .embedded {
            misuse("Embedded objects cannot be created directly")
        }
        let writer = DynamicWriter(session: self, policy: policy)
        return accessor(writer.create(binding, value), DynamicObject.self)
    }
}

/// Values go to a realm: its objects are linked to, those of others are copied, each once.
final class Copying {
    let session: _RealmSession
    private var made: [Source: ObjectBase] = [:]
    private struct Source: Hashable {
        let session: ObjectIdentifier
        let classKey: ClassKey
        let objectKey: ObjectKey
    }

    init(to session: _RealmSession) { self.session = session }

    private func source(_ object: ObjectBase) -> Source? {
        guard let handle = object.handle, let session = object.session else { return nil }
        return Source(
            session: ObjectIdentifier(session), classKey: handle.classKey,
            objectKey: handle.objectKey)
    }

    /// The copy of an object is known from now on: something may lead back to it.
    func note(_ object: ObjectBase, _ copy: ObjectBase) {
        if let source = source(object) { made[source] = copy }
    }

    func copy(of object: ObjectBase) -> ObjectBase? { source(object).flatMap { made[$0] } }
}

/// What an object is made from.
enum ObjectValues {
    /// By the names of properties.
    case named([String: Any])
    /// In the order of properties.
    case ordered([Any])
    /// The values of another object.
    case object(ObjectBase)

    /// Nil for what is none of them; misuse for more values in an array than there are properties, `count`.
    init?(_ value: Any, count: Int) {
        switch unwrapped(value) {
        case let values as [String: Any]: self = .named(values)
        case let object as ObjectBase: self = .object(object)
        case let projection as any _ProjectionRoot: self = .object(projection._rlmRoot)
        case let values as NSDictionary:
            let named = values.compactMap { key, value in (key as? String).map { ($0, value) } }
            self = .named(Dictionary(named, uniquingKeysWith: { _, last in last }))
        case let values?:
            guard let values = values as? [Any] ?? (values as? NSArray)?.map({ $0 }) else {
                return nil
            }
            if values.count > count {
                misuse(
                    "Invalid array input: more values (\(values.count)) than properties (\(count))."
                )
            }
            self = .ordered(values)
        case nil: return nil
        }
    }
}

extension ObjectBase {
    /// Gives an unmanaged object values, and notes which. `copying`: where they come from another realm.
    func assign(_ value: Any, isInitializer: Bool, _ copying: Copying? = nil) {
        let info = classInfo
        let given = aside as? GivenProperties ?? GivenProperties()
        aside = given
        if type(of: value) == [String: Any].self, let values = value as? [String: Any] {
            return set(values, info, given, copying)
        }
        switch ObjectValues(value, count: info.stored.count) {
        case .object(let source): copy(source, info, given, copying)
        case .named(let values): set(values, info, given, copying)
        case .ordered(let values):
            for (property, value) in zip(info.stored, values) {
                set(property, value, info, given, copying)
            }
        case nil:
            misuse(
                "Invalid value '\(value)' to initialize object of type '\(info.className)': missing "
                    + "key '\(info.properties.first?.name ?? "")'")
        }
    }

    private func set(
        _ values: [String: Any], _ info: ClassInfo, _ given: GivenProperties, _ copying: Copying?
    ) {
        for property in info.stored {
            guard let value = values[property.name] else { continue }
            set(property, value, info, given, copying)
        }
    }

    private func copy(
        _ source: ObjectBase, _ info: ClassInfo, _ given: GivenProperties, _ copying: Copying?
    ) {
        source._rlmCheckValid()
        for property in info.stored {
            guard let value = source.valueIfPresent(property.name) else { continue }
            set(property, value, info, given, copying)
        }
    }

    private func set(
        _ property: PropertyInfo, _ value: Any, _ info: ClassInfo, _ given: GivenProperties,
        _ copying: Copying?
    ) {
        given.insert(property.place)
        var value = value
        if let copying, property.shape.isLink { value = property.valueType.adopt(value, copying) }
        if property.wrapper.set(self, ClassInfo.address(self, property), value) { return }
        if isNull(value) {
            misuse("Must provide a non-nil value.; '\(info.className).\(property.name)'")
        }
        misuse(
            "Invalid value '\(value)' of type '\(type(of: value))' for '\(property.typeName)' property "
                + "'\(info.className).\(property.name)'.")
    }
}

extension _Persistable {
    /// What objects of another realm become in this one: their values, to be copied.
    fileprivate static func adopt(_ value: Any, _ copying: Copying) -> Any {
        let shape = _rlmShape
        guard shape.isLink, let type = shape.target else { return value }
        func one(_ value: Any) -> Any {
            guard let object = RealmSwift.object(value), object.slot != nil,
                object.session !== copying.session || shape.isEmbedded
            else { return value }
            if !shape.isEmbedded, let known = copying.copy(of: object) { return known }
            let copy = type.init()
            if !shape.isEmbedded { copying.note(object, copy) }
            copy.assign(object, isInitializer: true, copying)
            return copy
        }
        if shape.collection == .none { return one(value) }
        let content = (value as? any _AssignableCollection)?._rlmContent ?? value
        if let values = content as? [String: Any] { return values.mapValues(one) }
        if let values = anyElements(content) { return values.map(one) }
        return value
    }
}

extension PropertyInfo {
    /// The type as messages name it.
    var typeName: String {
        let name = PropertyType(shape.type).description
        let full = shape.isOptional ? "\(name)?" : name
        return switch shape.collection {
        case .none: full
        case .list: "array<\(full)>"
        case .set: "set<\(full)>"
        case .dictionary: "dictionary<string, \(full)>"
        }
    }
}

/// What stands for an object where values are given: projections.
public protocol _ProjectionRoot {
    var _rlmRoot: ObjectBase { get }
}
