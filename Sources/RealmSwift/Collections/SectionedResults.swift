// Results in sections: elements with the same key together.

public import CoreSwift
public import Foundation

/// What happened to results in sections. Index paths are a section and a position in it: of deletions before
/// the change, of insertions and modifications after it.
public enum SectionedResultsChange<Collection> {
    /// The first call: the sections as they are.
    case initial(Collection)
    /// Elements and sections came, went or changed.
    case update(
        Collection, deletions: [IndexPath], insertions: [IndexPath], modifications: [IndexPath],
        sectionsToInsert: IndexSet, sectionsToDelete: IndexSet)
}

/// The sections of one state of results.
private struct Sections<Key: Hashable> {
    var keys: [Key] = []
    /// Of each section the positions of its elements in the results.
    var positions: [[Int]] = []
    /// Of each element its section and its position there.
    var places: [(section: Int, index: Int)] = []

    init<Element>(_ results: Results<Element>, _ key: (Element) -> Key) {
        var numbers: [Key: Int] = [:]
        for (position, element) in results.enumerated() {
            let key = key(element)
            let number = numbers[key] ?? keys.count
            if number == keys.count {
                numbers[key] = number
                keys.append(key)
                positions.append([])
            }
            places.append((number, positions[number].count))
            positions[number].append(position)
        }
    }

    func path(_ position: Int) -> IndexPath {
        let place = places[position]
        return IndexPath(indexes: [place.section, place.index])
    }
}

/// What sections and the collection of them have in common.
public protocol RealmSectionedResult: RandomAccessCollection, Equatable, ThreadConfined {
    /// The type of the elements in sections.
    associatedtype SectionElement: RealmCollectionValue
    /// The elements of all sections.
    var _rlmElements: Results<SectionElement> { get }
    /// The same sections, or section, of the elements somewhere else.
    func _rlmOver(_ elements: Results<SectionElement>) -> Self
    /// Calls a block with what happens, beginning with `.initial`.
    func observe(
        keyPaths: [String]?, on queue: DispatchQueue?,
        _ block: @escaping (SectionedResultsChange<Self>) -> Void
    ) -> NotificationToken
}

extension RealmSectionedResult {
    /// Calls a block with what happens, beginning with `.initial`.
    public func observe(
        keyPaths: [String]? = nil, on queue: DispatchQueue? = nil,
        _ block: @escaping (SectionedResultsChange<Self>) -> Void
    ) -> NotificationToken { observe(keyPaths: keyPaths, on: queue, block) }

    public func _rlmReference() -> CoreSwift.ThreadSafeReference {
        misuse(
            "Sections cannot be passed across threads: pass the collection that they are made of.")
    }
    public static func _rlmResolve(
        _ reference: CoreSwift.ThreadSafeReference, _ session: _RealmSession
    ) -> Self? { nil }
}

extension SectionedResults: RealmSectionedResult {
    public var _rlmElements: Results<SectionElement> { results }
    public func _rlmOver(_ elements: Results<SectionElement>) -> SectionedResults {
        SectionedResults(elements, key)
    }
}
extension ResultsSection: RealmSectionedResult {
    public var _rlmElements: Results<SectionElement> { parent.results }
    public func _rlmOver(_ elements: Results<SectionElement>) -> ResultsSection {
        ResultsSection(parent: parent._rlmOver(elements), id: id)
    }
}

/// Goes through sections as they were when the iteration began.
public struct SectionedResultsIterator<Key: Hashable, Element: RealmCollectionValue>:
    IteratorProtocol
{
    private let sections: SectionedResults<Key, Element>
    private var keys: IndexingIterator<[Key]>

    init(_ sections: SectionedResults<Key, Element>) {
        self.sections = sections
        keys = sections.allKeys.makeIterator()
    }

    public mutating func next() -> ResultsSection<Key, Element>? {
        keys.next().map { ResultsSection(parent: sections, id: $0) }
    }
}

/// Goes through the elements of a section as it was when the iteration began.
public struct SectionIterator<Element: RealmCollectionValue>: IteratorProtocol {
    private let elements: _ElementSource
    private var positions: IndexingIterator<[Int]>

    init(_ elements: _ElementSource, _ positions: [Int]) {
        self.elements = elements
        self.positions = positions.makeIterator()
    }

    public mutating func next() -> Element? {
        positions.next().map { Element._rlmElement(elements, $0) }
    }
}

/// Results in sections, each with the elements of one key. The sections are determined anew when the realm has
/// changed; that goes through all elements.
public struct SectionedResults<Key: Hashable, SectionElement: RealmCollectionValue>:
    RandomAccessCollection, Equatable, CustomStringConvertible
{
    fileprivate final class State {
        var sections: Sections<Key>
        var version: UInt64?
        init(_ sections: Sections<Key>) { self.sections = sections }
    }

    let results: Results<SectionElement>
    let key: (SectionElement) -> Key
    private let state: State

    init(_ results: Results<SectionElement>, _ key: @escaping (SectionElement) -> Key) {
        self.results = results
        self.key = key
        state = State(Sections(results, key))
        state.version = version
    }

    /// Nil in write transactions, whose state has no version yet.
    private var version: UInt64? {
        let core = results.source.session.core
        return core.isWritable ? nil : core.version
    }

    fileprivate var sections: Sections<Key> {
        let version = version
        if version == nil || state.version != version {
            state.sections = Sections(results, key)
            state.version = version
        }
        return state.sections
    }

    public var startIndex: Int { 0 }
    public var endIndex: Int { sections.keys.count }
    public func makeIterator() -> SectionedResultsIterator<Key, SectionElement> {
        SectionedResultsIterator(self)
    }
    /// The keys of the sections in their order.
    public var allKeys: [Key] { sections.keys }
    /// The realm of the elements.
    public var realm: Realm? { results.realm }
    /// The realm was closed or invalidated.
    public var isInvalidated: Bool { results.isInvalidated }
    /// They never change, and any thread may read them.
    public var isFrozen: Bool { results.isFrozen }

    /// A section by its position.
    public subscript(index: Int) -> ResultsSection<Key, SectionElement> {
        let sections = sections
        guard sections.keys.indices.contains(index) else {
            misuse("Index \(index) is out of bounds (must be less than \(sections.keys.count)).")
        }
        return ResultsSection(parent: self, id: sections.keys[index])
    }

    /// An element by its section and its position there.
    public subscript(indexPath: IndexPath) -> SectionElement { self[indexPath[0]][indexPath[1]] }

    /// The sections as they are now.
    public func freeze() -> SectionedResults { _rlmOver(results.freeze()) }

    /// The live sections.
    public func thaw() -> SectionedResults? { results.thaw().map { _rlmOver($0) } }

    /// Calls a block soon with the sections as they are, and then after each change of them.
    public func observe(
        keyPaths: [String]? = nil, on queue: DispatchQueue? = nil,
        _ block: @escaping (SectionedResultsChange<SectionedResults>) -> Void
    ) -> NotificationToken {
        let key = key
        var known: (there: SectionedResults, sections: Sections<Key>)?
        return results.observe(keyPaths: keyPaths, on: queue) { change in
            switch change {
            case .error: break
            case .initial(let results):
                let there = SectionedResults(results, key)
                known = (there, there.sections)
                block(.initial(there))
            case .update(_, let deletions, let insertions, let modifications):
                guard let (there, old) = known else { return }
                let new = there.sections
                known = (there, new)
                let before = Set(old.keys)
                let after = Set(new.keys)
                block(
                    .update(
                        there, deletions: deletions.map { old.path($0) },
                        insertions: insertions.map { new.path($0) },
                        modifications: modifications.map { new.path($0) },
                        sectionsToInsert: IndexSet(
                            new.keys.indices.filter { !before.contains(new.keys[$0]) }),
                        sectionsToDelete: IndexSet(
                            old.keys.indices.filter { !after.contains(old.keys[$0]) })))
            }
        }
    }

    public static func == (a: SectionedResults, b: SectionedResults) -> Bool { a.state === b.state }

    /// The keys and their elements.
    public var description: String {
        "SectionedResults {\n" + map { "\t\($0)\n" }.joined() + "}"
    }
}

/// The elements of one key.
public struct ResultsSection<Key: Hashable, SectionElement: RealmCollectionValue>:
    RandomAccessCollection, Identifiable, Equatable, CustomStringConvertible
{
    let parent: SectionedResults<Key, SectionElement>
    /// The key.
    public let id: Key
    /// The key.
    public var key: Key { id }

    private var positions: [Int] {
        let sections = parent.sections
        // The section may be gone by now.
        return sections.keys.firstIndex(of: id).map { sections.positions[$0] } ?? []
    }

    public var startIndex: Int { 0 }
    public var endIndex: Int { positions.count }
    public func makeIterator() -> SectionIterator<SectionElement> {
        let positions = positions
        return SectionIterator(parent.results.source.fixed(), positions)
    }
    /// The realm of the elements.
    public var realm: Realm? { parent.realm }
    /// It never changes, and any thread may read it.
    public var isFrozen: Bool { parent.isFrozen }
    /// The realm was closed or invalidated.
    public var isInvalidated: Bool { parent.isInvalidated }

    /// The section as it is now.
    public func freeze() -> ResultsSection { ResultsSection(parent: parent.freeze(), id: id) }

    /// The live section.
    public func thaw() -> ResultsSection? {
        parent.thaw().map { ResultsSection(parent: $0, id: id) }
    }

    /// The key and the elements.
    public var description: String { "\(id): \(Array(self))" }

    public subscript(position: Int) -> SectionElement {
        let positions = positions
        guard positions.indices.contains(position) else {
            misuse("Index \(position) is out of bounds (must be less than \(positions.count)).")
        }
        return parent.results[positions[position]]
    }

    /// Calls a block soon with the section as it is, and then when elements come into it, leave it or change.
    public func observe(
        keyPaths: [String]? = nil, on queue: DispatchQueue? = nil,
        _ block: @escaping (SectionedResultsChange<ResultsSection>) -> Void
    ) -> NotificationToken {
        let id = id
        var known: Int?
        return parent.observe(keyPaths: keyPaths, on: queue) { change in
            switch change {
            case .initial(let sections):
                known = sections.allKeys.firstIndex(of: id)
                block(.initial(ResultsSection(parent: sections, id: id)))
            case .update(
                let sections, let deletions, let insertions, let modifications, let came, let left):
                let old = known
                let new = sections.allKeys.firstIndex(of: id)
                known = new
                func here(_ paths: [IndexPath], _ section: Int?) -> [IndexPath] {
                    paths.filter { $0[0] == section }
                }
                let (gone, added) = (here(deletions, old), here(insertions, new))
                let changed = here(modifications, new)
                if gone.isEmpty, added.isEmpty, changed.isEmpty, (old == nil) == (new == nil) {
                    return
                }
                block(
                    .update(
                        ResultsSection(parent: sections, id: id), deletions: gone,
                        insertions: added, modifications: changed,
                        sectionsToInsert: came.filteredIndexSet { $0 == new },
                        sectionsToDelete: left.filteredIndexSet { $0 == old }))
            }
        }
    }

    public static func == (a: ResultsSection, b: ResultsSection) -> Bool {
        a.id == b.id && a.parent == b.parent
    }
}

extension RealmCollection {
    /// In sections by what a block gives for each element, in the order of the descriptors; the first of
    /// them should be what the block's keys follow.
    public func sectioned<Key: Hashable>(
        sortDescriptors: [SortDescriptor], _ keyBlock: @escaping (Element) -> Key
    ) -> SectionedResults<Key, Element> {
        if sortDescriptors.isEmpty {
            misuse("There must be at least one SortDescriptor when using SectionedResults.")
        }
        return SectionedResults(sorted(by: sortDescriptors), keyBlock)
    }

    /// The same.
    public func sectioned<Key: Hashable>(
        by block: @escaping (Element) -> Key, sortDescriptors: [SortDescriptor]
    ) -> SectionedResults<Key, Element> { sectioned(sortDescriptors: sortDescriptors, block) }

    /// Values in sections by what a block gives for each.
    public func sectioned<Key: Hashable>(
        by block: @escaping (Element) -> Key, ascending: Bool = true
    ) -> SectionedResults<Key, Element> {
        SectionedResults(sorted(byKeyPath: "SELF", ascending: ascending), block)
    }
}

extension RealmCollection where Element: _KeyPathRoot {
    /// In sections by a property, in its order.
    public func sectioned<Key: _Persistable & Hashable>(
        by keyPath: KeyPath<Element, Key>, ascending: Bool = true
    ) -> SectionedResults<Key, Element> {
        SectionedResults(
            sorted(byKeyPath: KeyPathNames.name(keyPath), ascending: ascending)
        ) { $0[keyPath: keyPath] }
    }

    /// In sections by a property, in the order of the descriptors, the first of which must be of this property.
    public func sectioned<Key: _Persistable & Hashable>(
        by keyPath: KeyPath<Element, Key>, sortDescriptors: [SortDescriptor]
    ) -> SectionedResults<Key, Element> {
        guard let first = sortDescriptors.first else {
            misuse("Can not section Results with empty sortDescriptor parameter.")
        }
        if KeyPathNames.name(keyPath) != first.keyPath {
            misuse("The section key path must match the primary sort descriptor.")
        }
        return SectionedResults(sorted(by: sortDescriptors)) { $0[keyPath: keyPath] }
    }
}
