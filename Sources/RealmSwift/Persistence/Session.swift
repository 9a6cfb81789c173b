// One opened realm: the engine's, and what this module knows of its classes. A `Realm` is a reference to
// one; objects and collections hold one.

import CoreSwift
import CRuntime
import Foundation

/// What a session knows of a class: the keys of its properties in this file, and how accessors are made.
public final class _ClassBinding {
    let info: ClassInfo
    /// The class as the file has it.
    let schema: ClassSchema
    let classKey: ClassKey
    /// The key of the primary key, -1 without one.
    let primaryKey: Int64
    /// The keys of the properties of `info`, in its order; -1: not in the file.
    let keys: [Int64]
    /// The wrappers with their places and keys, without what needs counting of references.
    let slots: [Slot]
    /// Those with collections, which wrappers keep.
    private let collections: [Slot]
    /// The bytes of an accessor; nil where accessors are made by their initializer.
    private let image: UnsafeMutableRawPointer?
    private let size: Int
    private let alignmentMask: Int
    private let metadata: UnsafeRawPointer
    private static let headerBytes = 16
    private let schemaFlag: SchemaFlag
    /// The session has another one for the class.
    @exclusivity(unchecked) fileprivate var isRetired = false

    /// A property of an instance.
    struct Slot {
        let offset: Int
        let wrapper: any AnyPersisted.Type
        let key: Int64
        let isComputed: Bool
    }

    fileprivate init(_ info: ClassInfo, _ schema: ClassSchema, _ flag: SchemaFlag) {
        self.info = info
        self.schema = schema
        schemaFlag = flag
        classKey = schema.key
        primaryKey = schema.primaryKeyProperty?.key.rawValue ?? -1
        keys = info.properties.map { schema.property(named: $0.column)?.key.rawValue ?? -1 }
        slots = zip(info.properties, keys).map {
            Slot(
                offset: $0.offset, wrapper: $0.wrapper, key: $1, isComputed: $0.shape.isComputed)
        }
        collections = slots.filter { $0.wrapper.valueType._rlmIsCollection }
        metadata = unsafeBitCast(info.type as AnyClass, to: UnsafeRawPointer.self)
        size = Int(crt_instance_size(metadata))
        alignmentMask = Int(crt_instance_alignment_mask(metadata))
        guard info.hasOnlyWrappers else {
            image = nil
            return
        }
        let sample = info.type.init()
        let start = Unmanaged.passUnretained(sample).toOpaque()
        for slot in slots { slot.wrapper.manage(sample, start + slot.offset, slot.key) }
        // Wrappers in managed state hold no references: their bytes are all there is to them.
        let bytes = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
        bytes.copyMemory(from: Unmanaged.passUnretained(sample).toOpaque(), byteCount: size)
        image = bytes
    }

    deinit { image?.deallocate() }

    /// An object of the class that stands for a handle, which it takes over.
    @inline(__always)
    func accessor(_ handle: ObjectHandle, _ session: _RealmSession) -> ObjectBase {
        let object: ObjectBase
        if let image, let made = crt_allocate(metadata, size, alignmentMask) {
            memcpy(
                made + Self.headerBytes, image + Self.headerBytes, size - Self.headerBytes)
            object = Unmanaged<ObjectBase>.fromOpaque(made).takeRetainedValue()
        } else {
            object = info.type.init()
        }
        object.slot = handle.slot
        object.binding = self
        object.session = session
        if image == nil { manageWrappers(object) }
        return object
    }

    /// An accessor can be used again for another object of its class: accessors are copies of the image, and all that
    /// one has of an object are the handle and cached collections.
    @inline(__always)
    var isForReuse: Bool { image != nil && !isRetired && !schemaFlag.isChanged }

    /// The wrappers of an instance read from the realm from now on.
    func manageWrappers(_ object: ObjectBase) {
        let start = Unmanaged.passUnretained(object).toOpaque()
        for slot in slots { slot.wrapper.manage(object, start + slot.offset, slot.key) }
    }

    /// The collections that an accessor has made go.
    func dropCollections(_ object: ObjectBase) {
        if collections.isEmpty { return }
        let start = Unmanaged.passUnretained(object).toOpaque()
        for slot in collections { slot.wrapper.manage(object, start + slot.offset, slot.key) }
    }

    /// The key of a property by its name in the program, or misuse.
    func key(_ name: String) -> (key: Int64, property: PropertySchema) {
        let column = info.byName[name].map { info.properties[$0].column } ?? name
        guard let property = schema.property(named: column) else {
            misuse("Invalid property name '\(name)' for class '\(info.className)'.")
        }
        return (property.key.rawValue, property)
    }
}

/// Says that the schema of a realm is another one. Of the thread of its session.
private final class SchemaFlag { @exclusivity(unchecked) var isChanged = false }

/// One opened realm; programs have it as `Realm`.
///
/// There is no weak reference to one: the first would make all others slower.
public final class _RealmSession {
    let core: EngineRealm
    let configuration: Realm.Configuration
    /// Where it is confined to; nil of frozen ones.
    let confinement: Confinement?
    /// By class key.
    @exclusivity(unchecked) private var bindings: [_ClassBinding?] = []
    /// Accessors that are older than a change of the schema have these.
    private var retired: [_ClassBinding] = []
    private var schemaToken: ChangeToken?
    /// Set by the engine, and not by a block with a weak reference to the session: that would make each
    /// accessor's reference to it slower.
    private let schemaFlag = SchemaFlag()
    /// By class of the program, once they were asked for; not of frozen realms, which several threads use. A class
    /// has its place by its address: a dictionary takes five times as long.
    @exclusivity(unchecked) private var byType = [KnownType](repeating: KnownType(), count: 32)
    private struct KnownType {
        var type: ObjectIdentifier?
        unowned(unsafe) var binding: _ClassBinding?
    }
    @inline(__always)
    private static func place(_ type: ObjectIdentifier) -> Int {
        let address = UInt(bitPattern: type)
        return Int(truncatingIfNeeded: (address >> 4 ^ address >> 9) & 31)
    }
    @exclusivity(unchecked) private var infosByName: [String: ClassInfo]
    private let lock = NSLock()
    /// The frozen realm made last.
    private weak var lastFrozen: _RealmSession?
    /// The observations of results so far.
    private var observationCount: UInt = 0
    /// A name for an observation of results: no address, which another one could have when this one has ended.
    func nameObservation() -> UnsafeRawPointer {
        observationCount += 1
        // Objects and collections are named by addresses, which are even.
        return UnsafeRawPointer(bitPattern: observationCount << 1 | 1).unsafelyUnwrapped
    }
    /// Where `SessionCache` has it.
    var cacheKey: AnyHashable?

    init(
        _ core: EngineRealm, _ configuration: Realm.Configuration, _ confinement: Confinement?,
        _ infos: [ClassInfo]
    ) {
        self.core = core
        self.configuration = configuration
        self.confinement = confinement
        infosByName = Dictionary(infos.map { ($0.name, $0) }, uniquingKeysWith: { a, _ in a })
        bind()
    }

    private func bind() {
        for item in core.schema.classes where item.key != .invalid {
            put(
                _ClassBinding(infosByName[item.name] ?? .of(DynamicObject.self), item, schemaFlag))
        }
    }

    /// The schema changed: new accessors have the new keys.
    func rebind() {
        schemaFlag.isChanged = false
        lock.withLock {
            retired += bindings.compactMap { $0 }
            for binding in retired { binding.isRetired = true }
            bindings = []
            byType = [KnownType](repeating: KnownType(), count: 32)
            bind()
        }
    }

    /// Has the session follow changes of the schema that others make.
    func followSchema() {
        let flag = schemaFlag
        schemaToken = try? core.addSchemaObserver { flag.isChanged = true }
    }

    deinit {
        SessionCache.forget(self)
        core.prepareForRelease()
    }

    private func put(_ binding: _ClassBinding) {
        let index = Int(binding.classKey.rawValue)
        while bindings.count <= index { bindings.append(nil) }
        bindings[index] = binding
    }

    /// What is known of a class by its key.
    @inline(__always)
    func binding(_ key: ClassKey) -> _ClassBinding {
        if schemaFlag.isChanged { rebind() }
        let index = Int(key.rawValue)
        if index < bindings.count, let found = bindings[index] { return found }
        return makeBinding(key)
    }

    @inline(never)
    private func makeBinding(_ key: ClassKey) -> _ClassBinding {
        // Frozen realms are used by several threads.
        lock.withLock {
            let index = Int(key.rawValue)
            if index < bindings.count, let found = bindings[index] { return found }
            engine(.realm) { () throws(RealmError) in try core.beginRead() }
            guard let item = core.schema.class_(key) else {
                misuse("Object type with key \(key) not managed by the Realm")
            }
            let made = _ClassBinding(
                infosByName[item.name] ?? .of(DynamicObject.self), item, schemaFlag)
            put(made)
            return made
        }
    }

    /// What is known of a class of the program; misuse if the realm does not have it.
    @inline(__always)
    func binding(_ type: ObjectBase.Type) -> _ClassBinding {
        let id = ObjectIdentifier(type)
        let known = byType[Self.place(id)]
        if known.type == id, !schemaFlag.isChanged, let binding = known.binding { return binding }
        return lookUpBinding(type)
    }

    @inline(never)
    private func lookUpBinding(_ type: ObjectBase.Type) -> _ClassBinding {
        let info = ClassInfo.of(type)
        guard let item = core.schema.class_(named: info.name), item.key != .invalid else {
            misuse("Object type '\(info.className)' not managed by the Realm")
        }
        let found = binding(item.key)
        if !core.isFrozen {
            let id = ObjectIdentifier(type)
            byType[Self.place(id)] = KnownType(type: id, binding: found)
        }
        return found
    }

    /// By the class's name in the file or the program.
    func binding(named name: String) -> _ClassBinding {
        let item =
            core.schema.class_(named: name)
            ?? core.schema.classes.first { $0.publicName == name }
        guard let item, item.key != .invalid else {
            misuse("Object type '\(name)' not managed by the Realm")
        }
        return binding(item.key)
    }

    /// The object that a handle names, which it takes over.
    @inline(__always)
    func accessor<T: ObjectBase>(_ handle: ObjectHandle, _ type: T.Type) -> T {
        let binding = binding(handle.classKey)
        if binding.info.type == type {
            // Just compared.
            return unsafeDowncast(binding.accessor(handle, self), to: T.self)
        }
        return otherAccessor(handle, type, binding)
    }

    /// The same where another class is asked for than the object's: a superclass, or a dynamic one.
    @inline(never)
    private func otherAccessor<T: ObjectBase>(
        _ handle: ObjectHandle, _ type: T.Type, _ binding: _ClassBinding
    ) -> T {
        let object =
            type == DynamicObject.self
            ? dynamicAccessor(handle, binding) : binding.accessor(handle, self)
        guard let typed = object as? T else {
            misuse(
                "Object type '\(binding.info.className)' is no '\(String(describing: T.self))'")
        }
        return typed
    }

    private func dynamicAccessor(_ handle: ObjectHandle, _ binding: _ClassBinding) -> ObjectBase {
        let object = DynamicObject()
        object.slot = handle.slot
        object.binding = binding
        object.session = self
        return object
    }

    // MARK: Frozen and live

    /// A frozen realm of the version that is read.
    func frozen() -> _RealmSession {
        if core.isFrozen { return self }
        engine(.transaction) { () throws(RealmError) in try core.beginRead() }
        if core.isWritable {
            misuse("Cannot freeze a Realm in a write transaction: it has no version yet.")
        }
        if let lastFrozen, lastFrozen.core.version == core.version { return lastFrozen }
        let made = engine(.transaction) { () throws(RealmError) in try core.freeze() }
        let session = _RealmSession(made, configuration, nil, Array(infosByName.values))
        lastFrozen = session
        return session
    }

    /// The live realm of the calling thread for the same file.
    func live() -> _RealmSession {
        if !core.isFrozen { return self }
        do {
            return try SessionCache.open(configuration, .current())
        } catch {
            misuse("\(error)")
        }
    }
}
