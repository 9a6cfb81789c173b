// What stands behind collections: results of the engine with the session they belong to, or the engine's
// list, set or dictionary.

import CoreSwift
import CRuntime
import Foundation

/// The engine's results with their session.
public final class _ElementSource {
    let core: AnyResults
    let session: _RealmSession
    private let objects: EngineResults?
    /// The same, for what counts no references.
    private let reader: Unmanaged<EngineResults>?

    init(_ core: AnyResults, _ session: _RealmSession) {
        self.core = core
        self.session = session
        objects = core as? EngineResults
        reader = objects.map { Unmanaged.passUnretained($0) }
    }

    var isInvalid: Bool { !core.isValid }

    /// The class of the elements; nil of values.
    var objectClass: ClassKey? { objects?.classKey }

    var isFrozen: Bool { session.core.isFrozen }

    /// The number of elements; none where what they are of is not there any more.
    var count: Int {
        if session.core.isClosed { return 0 }
        return engine(.collection("Results")) { () throws(RealmError) in
            do throws(RealmError) {
                return try core.count()
            } catch {
                guard error.code == .staleAccessor || error.code == .invalidatedObject else {
                    throw error
                }
                return 0
            }
        }
    }

    func raw(_ index: Int) -> RawValue {
        engine(.collection("Results"), try core.get(index))
    }

    /// The element at a position where it is a list or dictionary in a mixed value.
    @inline(__always)
    func nested<Element>(_ raw: RawValue, _ index: Int) -> Element? {
        guard raw.type >= ValueType.list.rawValue, let type = raw.nestedType,
            let values = core as? ValueResults
        else { return nil }
        let found = engine(.collection("Results"), try values.nested(index, type))
        return found.flatMap {
            AnyRealmValue(nested: _ManagedCollection($0, session)) as? Element
        }
    }

    /// The object at a position.
    @inline(__always)
    func object<T: ObjectBase>(_ index: Int, _ type: T.Type) -> T {
        guard let objects else { return ObjectBase.from(raw(index), session, type) }
        let handle = engine(.collection("Results"), try objects.object(index))
        return session.accessor(handle, type)
    }

    /// The object at a position of an iteration. Where nobody but the iteration has the accessor that it gave last,
    /// that one stands for the object.
    @inline(__always)
    func object<T: ObjectBase>(_ index: Int, _ type: T.Type, _ last: inout ObjectBase?) -> T {
        // By its address: each reference more would be counted, which takes as long as all the rest.
        let address = withUnsafePointer(to: &last) {
            UnsafeRawPointer($0).load(as: UnsafeRawPointer?.self)
        }
        if let address, point(address, unsafeBitCast(type, to: UnsafeRawPointer.self), index) {
            // Just compared.
            return Unmanaged<T>.fromOpaque(address).takeUnretainedValue()
        }
        return otherObject(index, type, &last)
    }

    /// Has the accessor at an address stand for the object at a position; false where it can't.
    @inline(__always)
    private func point(
        _ address: UnsafeRawPointer, _ type: UnsafeRawPointer, _ index: Int
    ) -> Bool {
        let object = address.assumingMemoryBound(to: crt_object.self)
        guard crt_is_unshared(address), object.pointee.type == type,
            let plan = object.pointee.plan, crt_is_for_reuse(plan), object.pointee.aside == nil,
            let slot = object.pointee.handle, let reader
        else { return false }
        let isPointed = reader._withUnsafeGuaranteedRef { objects in
            engine(.collection("Results")) { () throws(RealmError) in
                try objects.point(ObjectHandle(checked: slot), at: index)
            }
        }
        if isPointed, plan.pointee.has_collections {
            Unmanaged<ObjectBase>.fromOpaque(address).takeUnretainedValue().dropCollections()
        }
        return isPointed
    }

    @inline(never)
    private func otherObject<T: ObjectBase>(
        _ index: Int, _ type: T.Type, _ last: inout ObjectBase?
    ) -> T {
        guard let objects else { return ObjectBase.from(raw(index), session, type) }
        let handle = engine(.collection("Results"), try objects.object(index))
        let address = withUnsafePointer(to: &last) {
            UnsafeRawPointer($0).load(as: UnsafeRawPointer?.self)
        }
        if let address, crt_is_unshared(address), let known = last, Swift.type(of: known) == type,
            known.becomes(handle)
        {
            return unsafeDowncast(known, to: T.self)
        }
        let made = session.accessor(handle, type)
        last = made
        return made
    }

    /// The same elements whatever happens to what they come from.
    func fixed() -> _ElementSource {
        if isFrozen || session.core.isClosed || isInvalid { return self }
        return engine(.collection("Results"), _ElementSource(try core.fixed(), session))
    }

    /// The counterpart in another realm of the file; nil where there is none.
    func resolved(_ other: _RealmSession) -> _ElementSource? {
        if other === session { return self }
        return engine(.collection("Results")) { () throws(RealmError) in
            do throws(RealmError) {
                return _ElementSource(try core.resolved(in: other.core), other)
            } catch {
                guard error.code == .invalidTableRef || error.code == .staleAccessor else {
                    throw error
                }
                return nil
            }
        }
    }

    func check(_ index: Int) { checkIndex(index, count) }

    /// Misuse for a key path that leads to nothing that objects are sorted by.
    func checkSorting(_ path: String) {
        guard let objects else { return }
        var binding = session.binding(objects.classKey)
        let names = path.split(separator: ".").map(String.init)
        for (position, name) in names.enumerated() where !name.hasPrefix("@") {
            let info = binding.info
            let column = info.byName[name].map { info.properties[$0].column } ?? name
            // The class's own name: that of dynamic ones is the file's.
            let owner = info.isDynamic ? binding.schema.name : info.className
            guard let property = binding.schema.property(named: column) else {
                misuse(
                    "Cannot sort on key path '\(path)': property '\(owner).\(name)' does not exist."
                )
            }
            if property.collection != .none || property.type == .linkingObjects {
                // Of a collection only a number can be sorted by.
                if position + 1 < names.count, names[position + 1].hasPrefix("@") { return }
                misuse(
                    "Cannot sort on key path '\(path)': property '\(owner).\(name)' of type "
                        + "\(property.collection) is not supported.")
            }
            if position == names.count - 1 {
                if property.type == .object {
                    misuse(
                        "Cannot sort on key path '\(path)': property '\(owner).\(name)' of type "
                            + "object cannot be the final property in the key path.")
                }
            } else {
                guard property.type == .object else {
                    misuse(
                        "Cannot sort on key path '\(path)': property '\(owner).\(name)' of type "
                            + "\(property.type) is no link.")
                }
                binding = session.binding(named: property.linkTarget)
            }
        }
    }

    /// Misuse for a key path over links that leads to nothing.
    func checkKeyPath(_ path: String) {
        guard let objects else { return }
        var binding = session.binding(objects.classKey)
        let names = path.split(separator: ".").map(String.init)
        for (position, name) in names.enumerated() {
            if name.hasPrefix("@") { return }
            let property = binding.key(name).property
            if position == names.count - 1 { return }
            guard property.type == .object || property.type == .linkingObjects else {
                let info = binding.info
                misuse(
                    "Invalid keypath '\(path)': Property "
                        + "'\(info.isDynamic ? binding.schema.name : info.className).\(name)' is not a "
                        + "link or collection and can only appear at the end of a keypath.")
            }
            binding = session.binding(named: property.linkTarget)
        }
    }

    /// The address that descriptions show.
    var address: String {
        "0x" + String(UInt(bitPattern: Unmanaged.passUnretained(self).toOpaque()), radix: 16)
    }
}

/// The engine's list, set or dictionary with its session.
public final class _ManagedCollection {
    let core: EngineCollection
    let session: _RealmSession

    init(_ core: EngineCollection, _ session: _RealmSession) {
        self.core = core
        self.session = session
    }

    /// That of a property.
    convenience init(_ object: ObjectBase, _ key: Int64, _ type: CollectionType) {
        let core = engine(
            .object,
            try ObjectHandle(checked: object.slot.unsafelyUnwrapped).collection(
                CoreSwift.PropertyKey(rawValue: key), type))
        self.init(core, object._rlmSession)
    }

    var name: String { core.type.nameInTexts }

    var count: Int { call(try core.count()) }

    @inline(__always)
    func call<R>(_ body: () throws(RealmError) -> R) -> R { engine(.collection(name), body) }
    @inline(__always)
    func call<R>(_ call: @autoclosure () throws(RealmError) -> R) -> R {
        engine(.collection(name), try call())
    }

    /// Live results over the elements.
    func source() -> _ElementSource {
        _ElementSource(call(try core.results()), session)
    }

    func check(_ index: Int, upTo end: Int? = nil) { checkIndex(index, end ?? count) }

    func checkWritable() { call(try core.checkWritable()) }

    func resolved(_ other: _RealmSession) -> _ManagedCollection? {
        call(try core.resolve(in: other.core))
            .map { _ManagedCollection($0, other) }
    }

    var isInvalid: Bool { !core.isValid && (session.isHere || core.isOver) }
}

/// Misuse for an index that none of so many elements has.
func checkIndex(_ index: Int, _ count: @autoclosure () -> Int) {
    if index < 0 { misuse("Cannot pass a negative value for 'index'.") }
    let count = count()
    if index >= count {
        misuse("Index \(index) is out of bounds (must be less than \(count)).")
    }
}

/// The elements of anything that can be assigned to a list or set.
func anyElements(_ value: Any) -> [Any]? {
    guard let value = unwrapped(value) else { return [] }
    if let array = value as? [Any] { return array }
    if let array = value as? NSArray { return array.map { $0 } }
    if value is String || value is [String: Any] || value is NSDictionary { return nil }
    guard let sequence = value as? any Sequence else { return nil }
    func all<S: Sequence>(_ sequence: S) -> [Any] { sequence.map { $0 as Any } }
    return all(sequence)
}
