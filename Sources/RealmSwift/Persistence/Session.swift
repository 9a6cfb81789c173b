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
    var primaryKey: Int64 { plan.pointee.primary_key }
    /// The keys of the properties of `info`, in its order; -1: not in the file.
    let keys: [Int64]
    /// The wrappers with their places and keys, without what needs counting of references.
    let slots: [Slot]
    /// Those with collections, which wrappers keep.
    private let collections: [Slot]
    /// How accessors are made; its memory is the binding's.
    let plan: UnsafeMutablePointer<crt_plan>

    /// A property of an instance.
    struct Slot {
        let offset: Int
        let wrapper: any AnyPersisted.Type
        let key: Int64
        let isComputed: Bool
    }

    fileprivate init(
        _ info: ClassInfo, _ schema: ClassSchema, _ plans: Plans, _ session: _RealmSession
    ) {
        self.info = info
        self.schema = schema
        classKey = schema.key
        keys = info.properties.map { schema.property(named: $0.column)?.key.rawValue ?? -1 }
        slots = zip(info.properties, keys).map {
            Slot(
                offset: $0.offset, wrapper: $0.wrapper, key: $1, isComputed: $0.shape.isComputed)
        }
        collections = slots.filter { $0.wrapper.valueType._rlmIsCollection }
        plan = .allocate(capacity: 1)
        let metadata = unsafeBitCast(info.type as AnyClass, to: UnsafeRawPointer.self)
        let size = Int(crt_instance_size(metadata))
        plan.initialize(
            to: crt_plan(
                type: metadata, image: nil, size: size,
                alignment_mask: Int(crt_instance_alignment_mask(metadata)),
                primary_key: schema.primaryKeyProperty?.key.rawValue ?? -1,
                session: Unmanaged.passUnretained(session).toOpaque(),
                binding: Unmanaged.passUnretained(self).toOpaque(), all: plans.memory,
                has_collections: !collections.isEmpty, class_key: schema.key.rawValue,
                is_retired: false))
        guard info.hasOnlyWrappers else { return }
        let sample = info.type.init()
        manageWrappers(sample)
        sample.plan = plan
        sample.session = session
        // Wrappers in managed state hold no references: their bytes are all there is to them. The reference to the
        // session is counted for each accessor.
        let bytes = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
        bytes.copyMemory(from: Unmanaged.passUnretained(sample).toOpaque(), byteCount: size)
        sample.plan = nil
        sample.session = nil
        // As `crt_object` has it: else accessors are made by the initializer.
        let fields = bytes.assumingMemoryBound(to: crt_object.self).pointee
        guard fields.type == metadata, fields.plan == plan,
            fields.session == Unmanaged.passUnretained(session).toOpaque()
        else {
            bytes.deallocate()
            return
        }
        plan.pointee.image = UnsafeRawPointer(bytes)
    }

    deinit {
        plan.pointee.image?.deallocate()
        plan.deallocate()
    }

    /// An object of the class that stands for a handle, which it takes over.
    @inline(__always)
    func accessor(_ handle: ObjectHandle, _ session: _RealmSession) -> ObjectBase {
        if let made = plan.accessor(handle) { return made }
        let object = info.type.init()
        object.belong(to: session, handle, plan)
        manageWrappers(object)
        return object
    }

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

/// The plans of a session by class key, in memory that stays as long as somebody may look at it: the block that is
/// told of changes of the schema, and threads that share a frozen realm.
private final class Plans {
    let memory: UnsafeMutablePointer<crt_plans>
    /// Tables that were too small.
    private var outgrown: [UnsafeMutablePointer<UnsafeMutablePointer<crt_plan>?>] = []

    init() {
        memory = .allocate(capacity: 1)
        memory.initialize(to: crt_plans(by_key: nil, count: 0, is_changed: false))
    }

    deinit {
        for table in outgrown { table.deallocate() }
        memory.pointee.by_key?.deallocate()
        memory.deallocate()
    }

    func put(_ plan: UnsafeMutablePointer<crt_plan>?, _ key: Int) {
        let old = memory.pointee.count
        if key >= old {
            let count = Swift.max(16, key * 2)
            let table = UnsafeMutablePointer<UnsafeMutablePointer<crt_plan>?>.allocate(
                capacity: count)
            table.initialize(repeating: nil, count: count)
            if let known = memory.pointee.by_key {
                table.update(from: known, count: old)
                outgrown.append(known)
            }
            memory.pointee.by_key = table
            memory.pointee.count = count
        }
        memory.pointee.by_key?[key] = plan
    }

    func removeAll() {
        for key in 0..<memory.pointee.count { memory.pointee.by_key?[key] = nil }
    }
}

extension UnsafeMutablePointer where Pointee == crt_plan {
    /// An accessor for a handle, which it takes over; nil, and the handle is the caller's, where accessors are made by
    /// their initializer.
    @inline(__always)
    func accessor(_ handle: ObjectHandle) -> ObjectBase? {
        guard pointee.image != nil else { return nil }
        return Unmanaged<ObjectBase>.fromOpaque(crt_make_accessor(self, handle.slot))
            .takeRetainedValue()
    }

    /// An accessor of this type for an object of any class of the same session; nil, and the handle is the caller's,
    /// where that takes more.
    @inline(__always)
    func accessor<T: ObjectBase>(_ handle: ObjectHandle, _ type: T.Type) -> T? {
        let all = pointee.all
        let key = Int(handle.classKey.rawValue)
        guard !all.pointee.is_changed, key < all.pointee.count,
            let plan = all.pointee.by_key.unsafelyUnwrapped[key], plan.pointee.image != nil,
            plan.pointee.type == unsafeBitCast(type, to: UnsafeRawPointer.self)
        else { return nil }
        // Just compared.
        return Unmanaged<T>.fromOpaque(crt_make_accessor(plan, handle.slot)).takeRetainedValue()
    }
}

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
    /// The engine notes there that the schema changed, and not by a block with a weak reference to the session: that
    /// would make each accessor's reference to it slower.
    private let plans = Plans()
    /// By class of the program, once they were asked for; not of frozen realms, which several threads use. A class
    /// has its place by its address: a dictionary takes five times as long.
    @exclusivity(unchecked) private var byType = [KnownType](repeating: KnownType(), count: 32)
    private struct KnownType {
        var type: ObjectIdentifier?
        var plan: UnsafeMutablePointer<crt_plan>?
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
    /// Of a realm with copies of unmanaged objects: which these are.
    weak var copies: MemoryCopies?
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
                _ClassBinding(infosByName[item.name] ?? .of(DynamicObject.self), item, plans, self))
        }
    }

    /// The schema changed: new accessors have the new keys.
    func rebind() {
        plans.memory.pointee.is_changed = false
        lock.withLock {
            retired += bindings.compactMap { $0 }
            for binding in retired { binding.plan.pointee.is_retired = true }
            bindings = []
            plans.removeAll()
            byType = [KnownType](repeating: KnownType(), count: 32)
            bind()
        }
    }

    /// Has the session follow changes of the schema that others make.
    func followSchema() {
        let plans = plans
        schemaToken = try? core.addSchemaObserver { plans.memory.pointee.is_changed = true }
    }

    deinit {
        SessionCache.forget(self)
        core.prepareForRelease()
    }

    private func put(_ binding: _ClassBinding) {
        let index = Int(binding.classKey.rawValue)
        while bindings.count <= index { bindings.append(nil) }
        bindings[index] = binding
        plans.put(binding.plan, index)
    }

    /// What is known of a class by its key.
    @inline(__always)
    func binding(_ key: ClassKey) -> _ClassBinding {
        if plans.memory.pointee.is_changed { rebind() }
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
                infosByName[item.name] ?? .of(DynamicObject.self), item, plans, self)
            put(made)
            return made
        }
    }

    /// What is known of a class of the program; misuse if the realm does not have it.
    @inline(__always)
    func binding(_ type: ObjectBase.Type) -> _ClassBinding {
        guard let plan = plan(type) else { return lookUpBinding(type) }
        return Unmanaged.fromOpaque(plan.pointee.binding).takeUnretainedValue()
    }

    /// That of a class of the program that was asked for before; else nil.
    @inline(__always)
    func plan(_ type: ObjectBase.Type) -> UnsafeMutablePointer<crt_plan>? {
        let id = ObjectIdentifier(type)
        let known = byType[Self.place(id)]
        return known.type == id && !plans.memory.pointee.is_changed ? known.plan : nil
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
            byType[Self.place(id)] = KnownType(type: id, plan: found.plan)
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
        object.belong(to: self, handle, binding.plan)
        return object
    }

    // MARK: Frozen and live

    /// A frozen realm of the version that is read.
    func frozen() -> _RealmSession {
        if core.isFrozen { return self }
        engine(.transaction, try core.beginRead())
        if core.isWritable {
            misuse("Cannot freeze a Realm in a write transaction: it has no version yet.")
        }
        if let lastFrozen, lastFrozen.core.version == core.version { return lastFrozen }
        let made = engine(.transaction, try core.freeze())
        let session = _RealmSession(made, configuration, nil, Array(infosByName.values))
        lastFrozen = session
        return session
    }

    /// The calling thread, queue or actor is the realm's.
    var isHere: Bool { confinement?.scheduler.isOnThread ?? true }

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
