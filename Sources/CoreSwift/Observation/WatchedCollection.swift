// What observers of one list, set or dictionary are told: from the operations between two versions,
// and for elements that are links or hold collections, from what happened to those.

struct WatchedCollection {
    let place: CollectionPlace

    /// The collection in two versions.
    private struct Found {
        /// Nil: it was not there before.
        var old: CollectionView?
        /// Nil: it is gone.
        var new: CollectionView?
        /// What operations name it by.
        var number = CollectionNumber.none
        /// What the operations between the versions were; nil: there were none.
        var changes: CollectionChanges?
    }

    private func find(_ context: ChangeContext) throws(RealmError) -> Found {
        var found = Found()
        let before = try root(context.old)
        let after = try root(context.new)
        if let before {
            found.number = place.steps.last?.number ?? before
            found.old = try place.view(SnapshotReader(tables: context.old))
        } else if let after {
            found.number = place.steps.last?.number ?? after
        }
        // Another one in the same place is not the one that is observed, nor is one of a new object.
        let isSame = before == nil || before == after
        let changes = context.changes(of: place.classKey)
        if isSame, !(changes?.deleted.contains(place.objectKey) ?? false) {
            found.new = try place.view(SnapshotReader(tables: context.new))
        }
        found.changes = changes?.collection(place.objectKey, place.propertyKey, found.number)
        return found
    }

    /// The number of the collection that the property is or holds; nil when it holds none.
    private func root(_ tables: TableSet) throws(RealmError) -> CollectionNumber? {
        guard let table = tables.table(place.classKey), place.column < table.columnCount,
            table.columns[place.column].propertyKey == place.propertyKey,
            let row = try table.find(place.objectKey)
        else { return nil }
        let info = table.columns[place.column]
        if info.kind == .collection {
            return info.collection == place.rootType ? CollectionNumber.none : nil
        }
        guard info.kind == .mixed else { return nil }
        let value = try table.value(row, place.objectKey, place.column)
        return NestedCell.type(value) == place.rootType ? NestedCell.number(value) : nil
    }

    // MARK: By position

    /// Nil: the collection is not there and was not. `looksBehind`: elements count as modified, too,
    /// when what they lead to is.
    func elementChanges(
        _ context: ChangeContext, _ filter: KeyPathFilter?, tellsMoves: Bool,
        looksBehind: Bool = true
    ) throws(RealmError) -> ElementChanges? {
        let found = try find(context)
        guard let view = found.new else {
            return found.old.map { ElementChanges(deleted: $0.count) }
        }
        let pieces = try pieces(found, view)
        guard pieces.count == view.count else { throw disagrees(pieces.count, view.count) }
        guard looksBehind,
            var test = try ElementTest(context, place, view, found.number, filter)
        else { return try pieces.changes(tellsMoves: tellsMoves, isModified: nil) }
        return try pieces.changes(tellsMoves: tellsMoves) { index throws(RealmError) in
            try test.isModified(index)
        }
    }

    /// The changes of results that are the elements: where the collection goes, they are empty, and
    /// where another object comes under its owner's key, they are those of that one.
    func memberChanges(
        _ context: ChangeContext, _ filter: KeyPathFilter?
    ) throws(RealmError) -> ElementChanges {
        let found = try find(context)
        if found.old != nil, found.new != nil {
            return try elementChanges(context, filter, tellsMoves: false) ?? ElementChanges()
        }
        var result = ElementChanges()
        guard context.old.version != context.new.version else { return result }
        let after = try place.view(SnapshotReader(tables: context.new))
        result.deletions = IndexRanges(0..<(found.old?.count ?? 0))
        result.insertions = IndexRanges(0..<(after?.count ?? 0))
        return result
    }

    /// Where the elements were before, and which of those got other values; for results that choose
    /// among them. Nil: it is gone.
    func pieces(_ context: ChangeContext) throws(RealmError) -> ElementPieces? {
        let found = try find(context)
        guard let view = found.new else { return nil }
        return try pieces(found, view)
    }

    private func pieces(_ found: Found, _ new: CollectionView) throws(RealmError) -> ElementPieces {
        guard let changes = found.changes else { return ElementPieces(count: new.count) }
        return try ElementPieces(changes)
    }

    private func disagrees(_ told: Int, _ count: Int) -> RealmError {
        RealmError(
            .invalidDatabase,
            "the changes of property \(place.column) of object \(place.objectKey) lead to \(told) elements,"
                + " it has \(count)")
    }

    // MARK: By key

    /// Nil: the dictionary is not there and was not.
    func keyChanges(
        _ context: ChangeContext, _ filter: KeyPathFilter?
    ) throws(RealmError) -> KeyChanges? {
        let found = try find(context)
        var result = KeyChanges()
        guard var view = found.new else {
            guard let old = found.old else { return nil }
            result.deletions = try Self.keys(old)
            result.wasDeleted = true
            return result
        }
        var fold = KeyFold()
        for operation in found.changes?.operations ?? [] { fold.apply(operation) }
        if fold.isEverythingDeleted, let old = found.old {
            fold.deleted = Set(try Self.keys(old).lazy.map(ByteText.init))
        }
        if var test = try ElementTest(context, place, view, found.number, filter) {
            for index in 0..<view.count where try test.isModified(index) {
                let key = ByteText(Self.text(try view.value(index, 0)))
                if !fold.inserted.contains(key) { fold.modified.insert(key) }
            }
        }
        result.deletions = Self.sorted(fold.deleted)
        result.insertions = Self.sorted(fold.inserted)
        result.modifications = Self.sorted(fold.modified)
        result.wasCleared = fold.isCleared && !result.deletions.isEmpty
        return result
    }

    /// What operations did to keys.
    private struct KeyFold {
        var deleted = Set<ByteText>()
        var inserted = Set<ByteText>()
        var modified = Set<ByteText>()
        var isEverythingDeleted = false
        var isCleared = false

        mutating func apply(_ operation: CollectionOperation) {
            let key = ByteText(operation.key ?? "")
            switch operation.kind {
            case .inserted:
                inserted.insert(key)
                isCleared = false
            case .removed:
                if inserted.remove(key) == nil { deleted.insert(key) }
                modified.remove(key)
            case .replaced:
                if !inserted.contains(key) { modified.insert(key) }
            case .cleared:
                isEverythingDeleted = true
                isCleared = !operation.isAssignment
                inserted = []
                modified = []
            case .moved: break
            }
        }
    }

    private static func keys(_ view: CollectionView) throws(RealmError) -> [String] {
        var view = view
        var result: [String] = []
        for index in 0..<view.count { result.append(text(try view.value(index, 0))) }
        return result
    }

    private static func text(_ key: RawValue) -> String {
        String(decoding: key.bytes, as: UTF8.self)
    }

    private static func sorted(_ keys: Set<ByteText>) -> [String] {
        keys.sorted().map(\.text)
    }
}

/// Whether what an element leads to changed, of elements that are links or may hold collections.
private struct ElementTest {
    private var view: CollectionView
    private let isLinks: Bool
    private let keys: [ObjectKey]
    private let numbers: Set<CollectionNumber>

    /// Nil when no element can count as modified.
    init?(
        _ context: ChangeContext, _ place: CollectionPlace, _ view: CollectionView,
        _ number: CollectionNumber, _ filter: KeyPathFilter?
    ) throws(RealmError) {
        self.view = view
        let info = view.layout.valueInfo
        isLinks = info.kind == .link
        switch info.kind {
        case .link:
            var keys = try context.modified(info.linkTarget, filter)
            if keys.count < view.count / 8, place.steps.isEmpty,
                let table = context.new.table(place.classKey)
            {
                // Asking who links to the few is cheaper than looking through the many.
                var linked: [ObjectKey] = []
                for key in keys {
                    let sources = try table.sources(
                        of: key, in: info.linkTarget, column: place.column)
                    if sources.holds(place.objectKey) { linked.append(key) }
                }
                keys = linked
            }
            if keys.isEmpty { return nil }
            self.keys = keys
            numbers = []
        case .mixed:
            keys = []
            numbers = Self.changedNumbers(context, place, besides: number)
            if numbers.isEmpty { return nil }
        default: return nil
        }
    }

    /// Collections in the mixed values of the property that changed.
    private static func changedNumbers(
        _ context: ChangeContext, _ place: CollectionPlace, besides own: CollectionNumber
    ) -> Set<CollectionNumber> {
        guard let changes = context.changes(of: place.classKey) else { return [] }
        var result = Set<CollectionNumber>()
        let first = CollectionChanges.Name(
            key: place.objectKey, property: place.propertyKey, number: .none)
        for item in changes.collections[changes.collections.partitionPoint { $0.name < first }...] {
            guard item.name.key == first.key, item.name.property == first.property else { break }
            if item.name.number != own { result.insert(item.name.number) }
        }
        return result
    }

    mutating func isModified(_ index: Int) throws(RealmError) -> Bool {
        let value = try view.value(index)
        if isLinks {
            return value.type == ValueType.link.rawValue && keys.holds(value.linkTarget)
        }
        return try Self.holdsChanged(view, value, numbers)
    }

    /// Whether a value is a collection that changed, or has one in it.
    private static func holdsChanged(
        _ view: CollectionView, _ value: RawValue, _ numbers: Set<CollectionNumber>
    ) throws(RealmError) -> Bool {
        guard let type = NestedCell.type(value) else { return false }
        if numbers.contains(NestedCell.number(value)) { return true }
        guard var inner = CollectionView(view.table, view.column, value, type) else { return false }
        for index in 0..<inner.count
        where try holdsChanged(inner, try inner.value(index), numbers) {
            return true
        }
        return false
    }
}
