// Lists: the ordered elements of a property.

import CoreSwift
public import Foundation

/// An ordered collection in a property: `@Persisted var dogs: List<Dog>`.
///
/// Of an unmanaged object it is kept in memory; when the object is added, the same list is stored.
public final class List<Element: RealmCollectionValue>: RealmCollection, MutableCollection,
    RangeReplaceableCollection
{
    var backing: CollectionBacking<[Element]>

    init(_ backing: CollectionBacking<[Element]>) { self.backing = backing }

    /// An empty list that no realm manages.
    public init() { backing = .plain([]) }

    /// A list that no realm manages.
    public convenience init<S: Sequence>(objectsIn objects: S) where S.Element == Element {
        self.init()
        append(objectsIn: objects)
    }

    public var count: Int {
        switch backing {
        case .plain(let elements): elements.count
        case .managed(let collection): collection.count
        case .recording: 1
        }
    }

    // MARK: Elements

    public subscript(position: Int) -> Element {
        get {
            switch backing {
            case .plain(let elements):
                checkIndex(position, elements.count)
                return elements[position]
            case .managed(let collection):
                let raw = collection.call { () throws(RealmError) -> RawValue in
                    do throws(RealmError) {
                        return try collection.core.get(position)
                    } catch {
                        if error.code == .indexOutOfBounds { collection.check(position) }
                        throw error
                    }
                }
                return collection.nested(raw, position)
                    ?? Element._rlmFrom(raw, collection.session)
            case .recording(let recorder): return Element._rlmRecorded(recorder)
            }
        }
        set {
            switch backing {
            case .plain(let elements):
                checkIndex(position, elements.count)
                mutate { $0[position] = newValue }
            case .managed(let collection): replace(collection, position, newValue)
            case .recording: misuse("Lists cannot be changed while a key path is read.")
            }
        }
    }

    public func makeIterator() -> RLMIterator<Element> {
        switch backing {
        case .plain(let elements): RLMIterator(elements)
        case .managed(let collection): RLMIterator(collection.source())
        case .recording: RLMIterator([self[0]])
        }
    }

    /// In place: the array must not be held twice.
    private func mutate(_ body: (inout [Element]) -> Void) {
        guard case .plain(var elements) = backing else { return }
        backing = .plain([])
        body(&elements)
        backing = .plain(elements)
    }

    private func replace(_ collection: _ManagedCollection, _ index: Int, _ element: Element) {
        collection.checkWritable()
        collection.check(index)
        if Element._rlmShape.isEmbedded, let object = embeddedForm(element) {
            if object.slot != nil {
                misuse("Cannot add an existing managed embedded object to a List.")
            }
            let handle = collection.call(try collection.core.setEmbedded(at: index))
            return collection.session.manage(object, handle, .error)
        }
        let element = AnyRealmValue.settled(element)
        element._rlmWithRaw(collection.session, .error) { raw in
            collection.call { () throws(RealmError) in try collection.core.set(raw, at: index) }
        }
        collection.fill(element, index, .error)
    }

    private func insert(
        _ collection: _ManagedCollection, _ index: Int, _ element: Element, _ policy: _AddingPolicy
    ) {
        if Element._rlmShape.isEmbedded, let object = embeddedForm(element) {
            collection.checkWritable()
            if object.slot != nil {
                misuse("Cannot add an existing managed embedded object to a List.")
            }
            let handle = collection.call(try collection.core.insertEmbedded(at: index))
            return collection.session.manage(object, handle, policy)
        }
        let element = AnyRealmValue.settled(element)
        element._rlmWithRaw(collection.session, policy) { raw in
            collection.call { () throws(RealmError) in try collection.core.insert(raw, at: index) }
        }
        collection.fill(element, index, policy)
    }

    // MARK: Changing

    /// Adds an element behind the last one.
    public func append(_ object: Element) {
        switch backing {
        case .plain: mutate { $0.append(object) }
        case .managed(let collection):
            collection.checkWritable()
            insert(collection, collection.count, object, .error)
        case .recording: misuse("Lists cannot be changed while a key path is read.")
        }
    }

    /// Adds the elements of a sequence behind the last one.
    public func append<S: Sequence>(objectsIn objects: S) where S.Iterator.Element == Element {
        if case .managed(let collection) = backing { collection.checkWritable() }
        for object in Array(objects) { append(object) }
    }

    public func append<S: Sequence>(contentsOf newElements: S) where S.Element == Element {
        append(objectsIn: newElements)
    }

    /// Inserts an element before the one at a position, or behind the last one.
    public func insert(_ object: Element, at index: Int) {
        if index < 0 { misuse("Cannot pass a negative value for 'index'.") }
        switch backing {
        case .plain(let elements):
            checkIndex(index, elements.count + 1)
            mutate { $0.insert(object, at: index) }
        case .managed(let collection):
            collection.checkWritable()
            collection.check(index, upTo: collection.count + 1)
            insert(collection, index, object, .error)
        case .recording: misuse("Lists cannot be changed while a key path is read.")
        }
    }

    /// Inserts elements before the one at a position, or behind the last one.
    public func insert<C: Collection>(contentsOf newElements: C, at index: Int)
    where C.Element == Element {
        // The elements may be this list's own.
        for (offset, element) in Array(newElements).enumerated() {
            insert(element, at: index + offset)
        }
    }

    /// Removes an element. Objects stay in the realm, embedded ones go.
    @discardableResult
    public func remove(at index: Int) -> Element {
        let old = AnyRealmValue.settled(self[index])
        switch backing {
        case .plain: mutate { $0.remove(at: index) }
        case .managed(let collection):
            collection.call(try collection.core.remove(at: index))
        case .recording: break
        }
        return old
    }

    /// Removes all elements.
    public func removeAll() { removeAll(keepingCapacity: false) }

    public func removeAll(keepingCapacity keepCapacity: Bool) {
        switch backing {
        case .plain: mutate { $0.removeAll() }
        case .managed(let collection):
            collection.call(try collection.core.removeAll())
        case .recording: break
        }
    }

    public func removeFirst(_ number: Int = 1) {
        checkRemoval(number)
        for _ in 0..<number { remove(at: 0) }
    }

    /// Removes the last elements.
    public func removeLast(_ number: Int = 1) {
        checkRemoval(number)
        for _ in 0..<number { remove(at: count - 1) }
    }

    /// Before the first of them goes.
    private func checkRemoval(_ number: Int) {
        if number < 0 { misuse("Cannot pass a negative value for 'number'.") }
        let count = count
        if number > count {
            misuse(
                "It is not possible to remove more objects (\(number)) from a list than it already "
                    + "contains (\(count)).")
        }
    }

    /// Removes the elements at positions.
    public func remove(atOffsets offsets: IndexSet) {
        for index in offsets.reversed() { remove(at: index) }
    }

    /// Removes the elements of a range.
    public func removeSubrange<R: RangeExpression>(_ subrange: R) where R.Bound == Int {
        let range = subrange.relative(to: self)
        for _ in range { remove(at: range.lowerBound) }
    }

    /// Replaces an element.
    public func replace(index: Int, object: Element) { self[index] = object }

    public func replaceSubrange<C: Collection, R: RangeExpression>(
        _ subrange: R, with newElements: C
    ) where C.Element == Element, R.Bound == Int {
        replaceSubrange(subrange.relative(to: self), with: newElements)
    }

    public func replaceSubrange<C: Collection>(_ subrange: Range<Int>, with newElements: C)
    where C.Element == Element {
        // They may be of this list.
        let elements = AnyRealmValue.settled(Array(newElements))
        for _ in subrange { remove(at: subrange.lowerBound) }
        for (offset, element) in elements.enumerated() {
            insert(element, at: subrange.lowerBound + offset)
        }
    }

    /// Moves an element so that it ends at another position.
    public func move(from: Int, to: Int) {
        switch backing {
        case .plain(let elements):
            checkIndex(from, elements.count)
            checkIndex(to, elements.count)
            mutate { $0.insert($0.remove(at: from), at: to) }
        case .managed(let collection):
            collection.checkWritable()
            collection.check(from)
            collection.check(to)
            collection.call(try collection.core.move(from: from, to: to))
        case .recording: break
        }
    }

    /// Moves the elements at positions before the one at a position.
    public func move(fromOffsets offsets: IndexSet, toOffset destination: Int) {
        var target = destination
        var moved = 0
        for index in offsets {
            if index < destination {
                move(from: index - moved, to: destination - 1)
                moved += 1
            } else {
                move(from: index, to: target)
                target += 1
            }
        }
    }

    /// Exchanges two elements.
    public func swapAt(_ index1: Int, _ index2: Int) {
        if index1 == index2 { return }
        let low = Swift.min(index1, index2)
        let high = Swift.max(index1, index2)
        move(from: low, to: high)
        if high - low > 1 { move(from: high - 1, to: low) }
    }
}

extension List: _StoredCollection {
    public typealias PersistedType = List

    public static var _rlmType: CollectionType { .list }
    public var _rlmManaged: _ManagedCollection? { backing.managed }
    public convenience init(_rlmManaged collection: _ManagedCollection) {
        self.init(.managed(collection))
    }
    public func _rlmBecome(_ collection: _ManagedCollection) { backing = .managed(collection) }

    public static var _rlmShape: _PropertyShape { Element._rlmShape.inside(.list) }
    public static func _rlmRecorded(_ recorder: _Recorder) -> List { List(.recording(recorder)) }
    public static func _rlmAssigned(_ old: List, _ new: List) -> List {
        old.fill(new, .error)
        return old
    }
    /// Takes over the elements of another list; of itself it already has them.
    private func fill(_ other: List, _ policy: _AddingPolicy) {
        if self == other { return }
        let elements = AnyRealmValue.settled(Array(other))
        removeAll()
        append(objectsIn: elements)
    }
    public static func _rlmConvert(_ value: Any) -> List? {
        value as? List ?? converted(value).map { List(.plain($0)) }
    }

    public static func _rlmAdd(
        _ value: List, _ object: ObjectBase, _ key: Int64, _ policy: _AddingPolicy
    ) -> List? {
        let elements = Array(value)
        return added(value, object, key) { $0.assign(elements, policy) }
    }

    /// Replaces the elements; where only changes are written, those that are there already stay.
    private func assign(_ elements: [Element], _ policy: _AddingPolicy) {
        guard case .managed(let collection) = backing else { return append(objectsIn: elements) }
        if policy == .modified, !Element._rlmShape.isEmbedded {
            let same =
                count == elements.count
                && zip(0..., elements).allSatisfy { index, element in
                    element._rlmWithRaw(collection.session, policy) { raw in
                        collection.call { () throws(RealmError) in
                            let old = try collection.core.get(index)
                            return old.isNull || raw.isNull
                                ? old.isNull && raw.isNull : ValueOrder.equal(old, raw)
                        }
                    }
                }
            if same { return }
        }
        let elements = AnyRealmValue.settled(elements)
        if count > 0 { removeAll() }
        for element in elements { insert(collection, collection.count, element, policy) }
    }

    public func _rlmAssign(_ value: Any, _ policy: _AddingPolicy) -> Bool {
        guard let all = Self.converted(value) else { return false }
        assign(all, policy)
        return true
    }
}

extension List: Decodable where Element: Decodable {
    public convenience init(from decoder: any Decoder) throws {
        self.init()
        var container = try decoder.unkeyedContainer()
        while !container.isAtEnd { append(try container.decode(Element.self)) }
    }
}

extension List: Encodable where Element: Encodable {}

@available(*, unavailable)
extension List: @unchecked Sendable {}

extension List: Hashable {}
