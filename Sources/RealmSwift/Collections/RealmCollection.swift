// What all collections of a realm have in common: they are filtered, sorted and summed up as results.

public import CoreSwift
public import Foundation

/// Something of a realm that belongs to one thread, queue or actor, and has counterparts elsewhere.
public protocol ThreadConfined {
    /// The realm that manages it; nil if none does.
    var realm: Realm? { get }
    /// It was deleted, or its realm invalidated.
    var isInvalidated: Bool { get }
    /// It never changes, and any thread may read it.
    var isFrozen: Bool { get }
    /// It as it is now.
    func freeze() -> Self
    /// The live counterpart; nil if it is not there any more.
    func thaw() -> Self?
    func _rlmReference() -> CoreSwift.ThreadSafeReference
    static func _rlmResolve(
        _ reference: CoreSwift.ThreadSafeReference, _ session: _RealmSession
    ) -> Self?
}

extension RealmSwiftObject: ThreadConfined {}
extension RealmSwiftEmbeddedObject: ThreadConfined {}

/// What `RealmCollection` stands on: the part of it without equality and iterators of its own.
public protocol RealmCollectionBase: RandomAccessCollection, LazyCollectionProtocol,
    CustomStringConvertible, ThreadConfined
where Element: RealmCollectionValue {
    /// The older name.
    typealias ElementType = Element
}

/// A collection of objects or values of a realm: `Results`, `List`, `MutableSet`, `LinkingObjects`.
///
/// They are live: they show what is stored whenever they are asked.
public protocol RealmCollection<Element>: RealmCollectionBase, Equatable, _DescribedCollection,
    _QueryCollection
where Index == Int, Iterator == RLMIterator<Element>, _QueryElement == Element {
    /// The elements as live results; misuse for collections that no realm manages.
    var _rlmResults: Results<Element> { get }
    /// What is observed.
    func _rlmObserve(
        _ keyPaths: [String]?, _ queue: DispatchQueue?,
        _ block: @escaping (RealmCollectionChange<Self>) -> Void
    ) -> NotificationToken
}

extension RealmCollection {
    /// The first position, 0.
    public var startIndex: Int { 0 }
    /// The position behind the last element.
    public var endIndex: Int { count }
    /// The next position.
    public func index(after i: Int) -> Int { i + 1 }
    /// The position before.
    public func index(before i: Int) -> Int { i - 1 }
    public var first: Element? { isEmpty ? nil : self[0] }
    public var last: Element? { isEmpty ? nil : self[count - 1] }
    /// There are no elements.
    public var isEmpty: Bool { count == 0 }

    // MARK: Finding

    /// The position of an element; nil if it is none.
    public func index(of element: Element) -> Int? {
        if realm == nil { return firstIndex { $0 == element } }
        let results = _rlmResults
        if let object = element as? ObjectBase, object.slot == nil { return nil }
        return element._rlmWithRaw(results.source.session, .error) { raw in
            engine(.collection("Results")) { () throws(RealmError) in try results.core.find(raw) }
        }
    }

    /// The position of the first element that satisfies a predicate.
    public func index(matching predicate: NSPredicate) -> Int? {
        let text = PredicateText(predicate)
        return first { $0.filter(text) }
    }

    /// The position of the first element that satisfies a format string with arguments.
    public func index(matching predicateFormat: String, _ args: Any...) -> Int? {
        let text = PredicateText(predicateFormat, args)
        return first { $0.filter(text) }
    }

    /// The position of the first element that satisfies a condition.
    public func index(matching isIncluded: (Query<Element>) -> Query<Bool>) -> Int? {
        first { $0.where(isIncluded) }
    }

    private func first(_ find: (Results<Element>) -> Results<Element>) -> Int? {
        if realm == nil, !isInvalidated { return firstInMemory(find) }
        return find(_rlmResults).first.flatMap { index(of: $0) }
    }

    /// The elements at positions.
    public func objects(at indexes: IndexSet) -> [Element] {
        let count = count
        if let last = indexes.last, last >= count {
            misuse("Indexes for collection are out of bounds.")
        }
        return indexes.map { self[$0] }
    }

    // MARK: Filtering

    /// The elements that satisfy a format string, as `NSPredicate` has them: `"age > %@", 5`.
    public func filter(_ predicateFormat: String, _ args: Any...) -> Results<Element> {
        filter(PredicateText(predicateFormat, args))
    }

    /// The elements that satisfy a predicate.
    public func filter(_ predicate: NSPredicate) -> Results<Element> {
        filter(PredicateText(predicate))
    }

    /// The elements that satisfy a condition: `.where { $0.age > 5 && $0.owner.name == "Ann" }`.
    public func `where`(_ isIncluded: (Query<Element>) -> Query<Bool>) -> Results<Element> {
        let node = isIncluded(Query<Element>._root()).node
        let results = _rlmResults
        return results.refined { core throws(RealmError) in
            try core.filter(try node.condition(results.source.session), asFormat: true)
        }
    }

    /// The elements that satisfy a format string.
    ///
    /// - Throws: `Realm.Error` with the code `invalidInput` for a bad one, which is misuse with `filter`.
    public func filtered(_ predicateFormat: String, _ args: Any...) throws -> Results<Element> {
        let text = PredicateText(predicateFormat, args)
        try checkManaged()
        let results = _rlmResults
        do throws(RealmError) {
            return Results(try text.filter(results.source), results.source.session)
        } catch {
            if error.code == .wrongThread { try refuse(misuseText(error, .query)) }
            throw Realm.Error(error)
        }
    }

    /// The name that misuse texts have for the collection.
    var nameInTexts: String {
        switch self {
        case is List<Element>: "RLMArray"
        case is MutableSet<Element>: "RLMSet"
        case is any LinkingObjectsProtocol: "RLMLinkingObjects"
        default: "Results"
        }
    }

    func checkManaged() throws {
        if realm != nil { return }
        try refuse(
            "This method may only be called on \(nameInTexts) instances retrieved from an RLMRealm")
    }

    /// Misuse where the collection cannot be written to.
    func checkWritable() {
        guard let session = realm?.session, !session.core.isWritable else { return }
        engine(.collection(nameInTexts)) { () throws(RealmError) in
            try session.core.beginRead()
            throw RealmError(.wrongTransactionState, "no write transaction is open")
        }
    }

    func filter(_ text: PredicateText) -> Results<Element> {
        let results = _rlmResults
        return results.refined { _ throws(RealmError) in try text.filter(results.source) }
    }

    // MARK: Ordering

    /// Sorted by the property at a key path; an earlier order breaks ties.
    public func sorted(byKeyPath keyPath: String, ascending: Bool = true) -> Results<Element> {
        sorted(by: [SortDescriptor(keyPath: keyPath, ascending: ascending)])
    }

    /// Sorted by several properties.
    public func sorted<S: Sequence>(by sortDescriptors: S) -> Results<Element>
    where S.Iterator.Element == SortDescriptor {
        let text = sortDescriptors.map { $0.text }.joined(separator: ", ")
        let results = _rlmResults
        if text.isEmpty { return results }
        for descriptor in sortDescriptors { results.source.checkSorting(descriptor.keyPath) }
        return results.refined { core throws(RealmError) in try core.sorted(text) }
    }

    /// The first element of each combination of values at key paths.
    public func distinct<S: Sequence>(by keyPaths: S) -> Results<Element>
    where S.Iterator.Element == String {
        let text = keyPaths.map { engineKeyPath($0) }.joined(separator: ", ")
        return _rlmResults.refined { core throws(RealmError) in try core.distinct(text) }
    }

    // MARK: Aggregates by name

    /// The smallest value of a property; nil of no elements.
    public func min<T: _HasPersistedType>(ofProperty property: String) -> T?
    where T.PersistedType: MinMaxType {
        aggregate(.minimum, property)
    }

    /// The largest value of a property; nil of no elements.
    public func max<T: _HasPersistedType>(ofProperty property: String) -> T?
    where T.PersistedType: MinMaxType {
        aggregate(.maximum, property)
    }

    /// The sum of a property; zero of no elements.
    public func sum<T: _HasPersistedType>(ofProperty property: String) -> T
    where T.PersistedType: AddableType {
        aggregate(.sum, property) ?? zero()
    }

    /// The mean of a property; nil of no elements.
    public func average<T: _HasPersistedType>(ofProperty property: String) -> T?
    where T.PersistedType: AddableType {
        aggregate(.average, property)
    }

    /// What is no object has no properties.
    private func misuseAggregate(_ property: String) -> Never {
        let word =
            switch nameInTexts {
            case "RLMArray": "Arrays"
            case "RLMSet": "Sets"
            default: "Results"
            }
        let type = PropertyType(Element._rlmShape.type)
        misuse("\(word) of '\(type)' can only be aggregated on \"self\"; not on '\(property)'")
    }

    func aggregate<T: _HasPersistedType>(
        _ kind: AggregateKind, _ property: String?
    ) -> T? {
        if Element._rlmShape.target == nil, let property, property != "self",
            Element._rlmShape.type != .mixed
        {
            misuseAggregate(property)
        }
        if realm == nil || property?.contains(".") == true {
            if realm != nil, let property { _rlmResults.source.checkKeyPath(property) }
            return aggregateInMemory(kind, property)
        }
        let results = _rlmResults
        let session = results.source.session
        return engine(.query) { () throws(RealmError) -> T? in
            var key = CoreSwift.PropertyKey.invalid
            if let objectClass = results.source.objectClass {
                guard let property, property != "self" else { return nil }
                let binding = session.binding(objectClass)
                let info = binding.info
                let column = info.byName[property].map { info.properties[$0].column } ?? property
                guard let item = binding.schema.property(named: column) else {
                    misuse(
                        "Invalid property name '\(property)' for class '\(info.className)'.")
                }
                if !kind.takes(item.type) || item.collection != .none {
                    let type = info.byName[property].map { info.properties[$0].typeName }
                    misuse(
                        "\(kind.word) is not supported for \(type ?? "\(item.type)") property "
                            + "'\(info.className).\(property)'")
                }
                key = item.key
            }
            let found = try results.core.aggregate(kind, key)
            if !found.found || found.value.isNull { return nil }
            return T._rlmConvert(session.any(found.value) ?? NSNull())
        }
    }
}

extension AggregateKind {
    /// Whether a property of the type has the aggregate.
    func takes(_ type: EnginePropertyType) -> Bool {
        switch type {
        case .int, .float, .double, .decimal128, .mixed: true
        case .timestamp: self == .minimum || self == .maximum
        default: false
        }
    }
}

extension RealmCollection where Element: _KeyPathRoot {
    /// Sorted by a property: `sorted(by: \.name)`.
    public func sorted<T: _Persistable>(
        by keyPath: KeyPath<Element, T>, ascending: Bool = true
    ) -> Results<Element> where T.PersistedType: SortableType {
        sorted(byKeyPath: KeyPathNames.name(keyPath), ascending: ascending)
    }

    /// The first element of each combination of values.
    public func distinct<S: Sequence>(by keyPaths: S) -> Results<Element>
    where S.Iterator.Element == PartialKeyPath<Element> {
        distinct(by: keyPaths.map { KeyPathNames.name($0) })
    }
}

extension RealmCollection where Element: ObjectBase {
    /// The smallest value of a property.
    public func min<T: _HasPersistedType>(of keyPath: KeyPath<Element, T>) -> T?
    where T.PersistedType: MinMaxType {
        aggregate(.minimum, KeyPathNames.name(keyPath))
    }

    /// The largest value of a property.
    public func max<T: _HasPersistedType>(of keyPath: KeyPath<Element, T>) -> T?
    where T.PersistedType: MinMaxType {
        aggregate(.maximum, KeyPathNames.name(keyPath))
    }

    /// The sum of a property.
    public func sum<T: _HasPersistedType>(of keyPath: KeyPath<Element, T>) -> T
    where T.PersistedType: AddableType {
        aggregate(.sum, KeyPathNames.name(keyPath)) ?? zero()
    }

    /// The mean of a property.
    public func average<T: _HasPersistedType>(
        of keyPath: KeyPath<Element, T>
    ) -> Double?
    where T.PersistedType: AddableType {
        aggregate(.average, KeyPathNames.name(keyPath))
    }
}

extension RealmCollection where Element.PersistedType: MinMaxType {
    /// The smallest element; nil of none.
    @_disfavoredOverload
    public func min() -> Element? { aggregate(.minimum, nil) }
    /// The largest element; nil of none.
    @_disfavoredOverload
    public func max() -> Element? { aggregate(.maximum, nil) }
}

extension RealmCollection
where
    Element: OptionalProtocol, Element.Wrapped: RealmCollectionValue,
    Element.Wrapped.PersistedType: MinMaxType
{
    /// The smallest element that there is; nil of none.
    public func min() -> Element.Wrapped? { aggregate(.minimum, nil) }
    /// The largest element that there is; nil of none.
    public func max() -> Element.Wrapped? { aggregate(.maximum, nil) }
}

extension RealmCollection
where
    Element: OptionalProtocol, Element.Wrapped: RealmCollectionValue,
    Element.Wrapped.PersistedType: AddableType
{
    /// The sum of the elements; zero of none.
    public func sum() -> Element.Wrapped {
        aggregate(.sum, nil) ?? zero()
    }
}

extension RealmCollection where Element: ObjectBase {
    /// The smallest value of a property that may be nil; nil of none.
    public func min<T: _RealmCollectionValueInsideOptional>(of keyPath: KeyPath<Element, T?>) -> T?
    where T.PersistedType: MinMaxType { aggregate(.minimum, KeyPathNames.name(keyPath)) }

    /// The largest value of a property that may be nil; nil of none.
    public func max<T: _RealmCollectionValueInsideOptional>(of keyPath: KeyPath<Element, T?>) -> T?
    where T.PersistedType: MinMaxType { aggregate(.maximum, KeyPathNames.name(keyPath)) }

    /// The sum of a property that may be nil; zero of none.
    public func sum<T: _RealmCollectionValueInsideOptional>(of keyPath: KeyPath<Element, T?>) -> T
    where T.PersistedType: AddableType {
        aggregate(.sum, KeyPathNames.name(keyPath)) ?? zero()
    }

    /// The mean of a property as a value of its type; nil of none.
    @_disfavoredOverload
    public func average<T: _HasPersistedType>(of keyPath: KeyPath<Element, T>) -> T?
    where T.PersistedType: AddableType { aggregate(.average, KeyPathNames.name(keyPath)) }
}

extension RealmCollection where Element.PersistedType: AddableType {
    /// The sum of the elements; zero of none.
    @_disfavoredOverload
    public func sum() -> Element {
        aggregate(.sum, nil) ?? zero()
    }
    /// The mean of the elements; nil of none.
    public func average<T: _HasPersistedType>() -> T?
    where T.PersistedType: AddableType { aggregate(.average, nil) }
}

extension RealmCollection where Element.PersistedType: SortableType {
    /// The elements by size.
    public func sorted(ascending: Bool = true) -> Results<Element> {
        sorted(byKeyPath: "SELF", ascending: ascending)
    }
    /// Each element once.
    public func distinct() -> Results<Element> { distinct(by: ["SELF"]) }
}

// MARK: - Descriptions

extension RealmCollection {
    public func _rlmText(_ depth: Int) -> String {
        let name = "\(type(of: self))".split(separator: "<").first.map(String.init) ?? ""
        let results = self as? Results<Element>
        return Descriptions.collection(
            "\(name)<\(Element.self)>", results?.source.address ?? "0x0", count, depth: depth
        ) { "[\($0)] \(Descriptions.text(self[$0], depth: depth))" }
    }

    /// The type and up to a hundred elements.
    public var description: String { _rlmText(5) }
}

extension RealmCollection where Element: Encodable {
    /// Writes the elements as an array.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        for element in self { try container.encode(element) }
    }
}

/// Goes through a collection as it was when the iteration began.
public struct RLMIterator<Element: RealmCollectionValue>: IteratorProtocol {
    let source: _ElementSource?
    /// The same, for what counts no references.
    @usableFromInline let reader: Unmanaged<_ElementSource>?
    @usableFromInline let elements: [Element]
    @usableFromInline let count: Int
    @usableFromInline var next_ = 0
    /// The accessor that was given last: the next object has it where nobody else does.
    @usableFromInline var last: ObjectBase?

    init(_ source: _ElementSource) {
        let source = source.fixed()
        self.source = source
        reader = Unmanaged.passUnretained(source)
        elements = []
        count = source.count
    }

    init(_ elements: [Element]) {
        source = nil
        reader = nil
        self.elements = elements
        count = elements.count
    }

    @inlinable
    public mutating func next() -> Element? {
        guard next_ < count else { return nil }
        defer { next_ += 1 }
        guard let reader else { return elements[next_] }
        return reader._withUnsafeGuaranteedRef { Element._rlmElement($0, next_, &last) }
    }
}

/// An order of elements: a property and a direction.
public struct SortDescriptor: ExpressibleByStringLiteral, Equatable, Sendable,
    CustomStringConvertible
{
    /// The property, or those that lead to it.
    public let keyPath: String
    /// Small values come first.
    public let ascending: Bool

    /// By a key path as text.
    public init(keyPath: String, ascending: Bool = true) {
        self.keyPath = keyPath
        self.ascending = ascending
    }

    /// By a key path.
    public init<T: _KeyPathRoot>(keyPath: PartialKeyPath<T>, ascending: Bool = true) {
        self.init(keyPath: KeyPathNames.name(keyPath), ascending: ascending)
    }

    /// Ascending.
    public init(stringLiteral value: String) { self.init(keyPath: value) }

    /// The other direction.
    public func reversed() -> SortDescriptor {
        SortDescriptor(keyPath: keyPath, ascending: !ascending)
    }

    /// The key path and the direction.
    public var description: String {
        "SortDescriptor(keyPath: \(keyPath), direction: \(ascending ? "ascending" : "descending"))"
    }

    var text: String { "\(engineKeyPath(keyPath)) \(ascending ? "ASC" : "DESC")" }
}

/// A key path for the engine's texts: names there may be words of the query language, which `#` makes names.
func engineKeyPath(_ path: String) -> String {
    path.split(separator: ".", omittingEmptySubsequences: false).map { name in
        let isName =
            name.utf8.first.map { !(0x30...0x39).contains($0) } == true
            && name.utf8.allSatisfy {
                $0 == 0x5F || (0x30...0x39).contains($0) || (0x61...0x7A).contains($0 | 0x20)
            }
        return isName && name.lowercased() != "self" ? "#\(name)" : String(name)
    }.joined(separator: ".")
}
