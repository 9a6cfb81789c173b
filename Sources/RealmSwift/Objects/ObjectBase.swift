// What objects and embedded objects have in common: the engine's handle once a realm manages them, and
// how values of properties get in and out.

public import CoreSwift
import CRuntime
import Foundation

/// The base of `Object` and `EmbeddedObject`; programs derive from those.
///
/// Invariants
///   1. `slot` is nil exactly while the object is unmanaged; a handle is given back when the object goes.
///   2. A managed object has a session and a binding; the session keeps the binding.
///
/// The fields are never accessed twice at a time, which the compiler does not know of an open class: checks
/// for it would double what a read costs in packages that build this one without our flags (Package.swift).
open class ObjectBase {
    /// The engine's handle.
    @exclusivity(unchecked) @usableFromInline final var slot: UnsafeMutableRawPointer?
    @exclusivity(unchecked) final var session: _RealmSession?
    /// What the session knows of the class; it keeps it.
    @exclusivity(unchecked) final var plan: UnsafeMutablePointer<crt_plan>?
    /// Of a recording object its `_Recorder`, of one made from values the names that these gave.
    @exclusivity(unchecked) final var aside: AnyObject?

    /// An object that no realm manages, with the default values of its properties.
    public required init() {}

    deinit {
        if let slot { ObjectHandle(checked: slot).release() }
    }

    final var binding: _ClassBinding? {
        plan.map { Unmanaged.fromOpaque($0.pointee.binding).takeUnretainedValue() }
    }

    /// Stands for an object of the session from now on, whose handle it takes over.
    final func belong(
        to session: _RealmSession, _ handle: ObjectHandle,
        _ plan: UnsafeMutablePointer<crt_plan>
    ) {
        slot = handle.slot
        self.plan = plan
        self.session = session
    }

    /// Has an accessor that nobody uses stand for another object of its session and class, whose handle it takes over;
    /// false where it can't.
    final func becomes(_ handle: ObjectHandle) -> Bool {
        guard let slot, let plan, crt_is_for_reuse(plan), aside == nil,
            ObjectHandle(checked: slot).classKey == handle.classKey
        else { return false }
        ObjectHandle(checked: slot).release()
        self.slot = handle.slot
        dropCollections()
        return true
    }

    /// What it has of the object that it stood for goes.
    final func dropCollections() {
        if let plan, plan.pointee.has_collections { binding?.dropCollections(self) }
    }

    final var handle: ObjectHandle? { slot.map { ObjectHandle(checked: $0) } }

    /// The handle; misuse for unmanaged objects.
    final func managedHandle(_ text: @autoclosure () -> String) -> ObjectHandle {
        guard let slot else { misuse(text()) }
        return ObjectHandle(checked: slot)
    }

    // MARK: Values

    public final var _rlmSession: _RealmSession {
        // A wrapper is in managed state only in a managed object (1).
        session.unsafelyUnwrapped
    }

    final var _rlmRecorder: _Recorder? { aside as? _Recorder }

    @inline(never) @usableFromInline
    final func _rlmFail(_ error: RealmError) -> Never { misuse(misuseText(error, .object)) }

    final func _rlmCheckValid() {
        guard let slot else { return }
        engine(.object, try ObjectHandle(checked: slot).checkValid())
    }

    /// Reads one value; text is borrowed until the realm changes.
    @usableFromInline
    final func _rlmRead(_ key: Int64) -> RawValue {
        var raw = RawValue.null
        do throws(RealmError) {
            try ObjectHandle(checked: slot.unsafelyUnwrapped).getValue(
                CoreSwift.PropertyKey(rawValue: key), &raw)
        } catch {
            _rlmFail(error)
        }
        return raw
    }

    @usableFromInline
    final func _rlmWriteInt(_ key: Int64, _ value: Int64) { _rlmWrite(key, .int(value)) }

    @usableFromInline
    final func _rlmWriteWord(_ key: Int64, _ word: UInt64, _ type: UInt32) {
        var raw = RawValue.null
        raw.word0 = word
        raw.type = type
        _rlmWrite(key, raw)
    }

    /// Writes one value.
    @usableFromInline
    final func _rlmWrite(_ key: Int64, _ raw: RawValue) {
        if key == plan.unsafelyUnwrapped.pointee.primary_key {
            _rlmCheckValid()
            misuse("Primary key can't be changed after an object is inserted.")
        }
        do throws(RealmError) {
            try ObjectHandle(checked: slot.unsafelyUnwrapped).setValue(
                CoreSwift.PropertyKey(rawValue: key), raw)
        } catch {
            _rlmFail(error)
        }
    }

    /// Writes one value of an object that is being added: where only changes are to be written, it
    /// is compared first.
    @usableFromInline
    final func _rlmWrite(_ key: Int64, _ raw: RawValue, _ policy: _AddingPolicy) {
        // Adding gives objects their keys itself; those that were found have them.
        if key == plan.unsafelyUnwrapped.pointee.primary_key { return }
        if policy == .modified {
            let old = _rlmRead(key)
            if old.isNull && raw.isNull { return }
            if !old.isNull, !raw.isNull, old.type == raw.type, ValueOrder.equal(old, raw) {
                return
            }
        }
        _rlmWrite(key, raw)
    }

    // MARK: State

    /// The realm that manages the object; nil for unmanaged objects.
    public final var realm: Realm? { session.map { Realm($0) } }

    /// The object was deleted, or its realm invalidated. Its properties must not be used any more. Any thread may ask;
    /// on others than the realm's it is not known of what was deleted by other means than this object.
    open var isInvalidated: Bool {
        guard let handle, !handle.isValid else { return false }
        return session?.isHere != false || handle.isOver
    }

    /// The object belongs to a frozen realm: any thread may read it, and it never changes.
    public final var isFrozen: Bool { session?.core.isFrozen ?? false }

    /// What is known of the class: its properties in the order of their declaration.
    public final var objectSchema: ObjectSchema {
        ObjectSchema(binding?.schema ?? classInfo.schema)
    }

    final var classInfo: ClassInfo { binding?.info ?? ClassInfo.of(type(of: self)) }

    /// Whether both are the same object of the same realm. Of unmanaged ones: the same instance.
    public final func isSameObject(as other: ObjectBase?) -> Bool {
        guard let other else { return false }
        if self === other { return true }
        guard let mine = handle, let its = other.handle, session != nil, mine.isValid, its.isValid
        else { return false }
        if session === other.session { return mine.isEqual(its) }
        return isFrozen && other.isFrozen && mine.objectKey == its.objectKey
            && mine.classKey == its.classKey && session?.core.path == other.session?.core.path
            && session?.core.version == other.session?.core.version
    }

    // MARK: For classes to override

    /// A property by name. Setting a value of another type than the property's, or a name that the class
    /// has not, is misuse.
    open subscript(key: String) -> Any? {
        get { value(forKey: key) }
        set { setValue(newValue, forKey: key) }
    }

    /// The class and a line for each property; links five deep, long values cut.
    open var description: String {
        if isInvalidated { return "[invalid object]" }
        return text(depth: 5)
    }

    /// The same, for the debugger.
    open var debugDescription: String { description }

    /// What `==` says. Objects of a class with a primary key, and frozen ones, are equal when they are the same
    /// object; others when they are the same instance.
    open func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? ObjectBase else { return false }
        if self === other { return true }
        guard comparesByRow, other.comparesByRow else { return false }
        return isSameObject(as: other)
    }

    /// The hash of the object, as in sets: the same for equal objects.
    open var hash: Int {
        guard comparesByRow, let handle else { return ObjectIdentifier(self).hashValue }
        var hasher = Hasher()
        hasher.combine(handle.classKey)
        hasher.combine(handle.objectKey)
        return hasher.finalize()
    }

    /// Whether the class is of embedded objects.
    public class func isEmbedded() -> Bool { false }

    /// The name of the class without its module.
    public class func className() -> String { String(describing: self) }

    /// The name of the class in the file where that is another; nil: the class's name.
    open class func _realmObjectName() -> String? { nil }

    /// The names that properties have in the file where those are others.
    open class func propertiesMapping() -> [String: String] { [:] }

    /// The older name of `propertiesMapping`, which wins over it.
    open class func _realmColumnNames() -> [String: String]? { nil }

    /// Whether the class is among those that realms have whose configuration names none.
    open class func shouldIncludeInDefaultSchema() -> Bool { true }

    /// The name of the property that is the primary key, of classes that do not say it with
    /// `@Persisted(primaryKey: true)`.
    open class func primaryKey() -> String? { nil }

    /// The names of properties with an index beside those with `@Persisted(indexed: true)`.
    open class func indexedProperties() -> [String] { [] }

    /// The names of properties that are not stored.
    open class func ignoredProperties() -> [String] { [] }

    /// Values that new objects have by the names of properties; they win over those of the declarations.
    open class func defaultPropertyValues() -> [String: Any] { [:] }

    /// The names of optional properties that must have a value in the file.
    open class func requiredProperties() -> [String] { [] }

    /// Where the linking objects of properties come from that do not say it themselves.
    open class func linkingObjectsProperties() -> [String: PropertyDescriptor] { [:] }
}

extension ObjectBase: Hashable {
    /// What `isEqual(_:)` says, which classes override.
    public static func == (a: ObjectBase, b: ObjectBase) -> Bool { a === b || a.isEqual(b) }

    private var comparesByRow: Bool {
        slot != nil && (isFrozen || (plan?.pointee.primary_key ?? -1) != -1)
    }

    /// `hash`, which classes override.
    public func hash(into hasher: inout Hasher) { hasher.combine(hash) }
    /// `hash`, as of `NSObject`.
    public var hashValue: Int { hash }
}

@available(*, unavailable)
extension ObjectBase: @unchecked Sendable {}
