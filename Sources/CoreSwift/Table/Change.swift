// What changes of stored data are called where they are told (`TableChanges`), and who is told.

/// A change of one table. Keys are object keys, columns those of the table. Values are borrowed for
/// the call.
enum Change {
    /// Objects of keys that follow each other were created. Told when the program turns to
    /// something else, with the values and collections that they have by then; what happened to
    /// them until then is not told on its own. An embedded object is told before the change that
    /// makes it somebody's.
    case created(ClosedRange<ObjectKey>)
    /// An object is going to be deleted, with all it holds; what linked to it has let go of it,
    /// which was told before. Embedded objects that it owns follow. `isOwned`: an embedded object
    /// that goes because its owner lets go of it.
    case deleted(ObjectKey, isOwned: Bool)
    /// A property is going to be set, perhaps to the value that it has. The value of a collection
    /// in a mixed property is that type, empty. `isDerived`: a link is nulled because the object is
    /// going to be deleted that it leads to.
    case set(ObjectKey, column: Int, RawValue, isDerived: Bool)
    /// A number is going to be added to an integer, wrapping around.
    case added(ObjectKey, column: Int, delta: Int64)
    /// A list, set or dictionary is going to change.
    case collection(StandingCollection, CollectionChange)
}

/// A change of a list, set or dictionary, whose elements of before can be read in the
/// `StandingCollection` that comes with it.
enum CollectionChange {
    /// At a position; of a dictionary, with a key that is new.
    case inserted(at: Int, key: RawValue?, RawValue)
    /// The element at a position gets another value. `isDerived`: it is null, because the object is
    /// going to be deleted that it links to.
    case replaced(at: Int, RawValue, isDerived: Bool)
    /// `isDerived`: the object is going to be deleted that it links to. Of several elements that
    /// do, each goes from where it is by then.
    case removed(at: Int, isDerived: Bool)
    /// An element of a list, so that it is at index `to` afterwards.
    case moved(from: Int, to: Int)
    /// Every element goes. `isAssignment`: what is inserted next is assigned as a whole.
    case cleared(isAssignment: Bool)
}

/// Hears of every change of the tables of a write transaction, before it is made (objects that are
/// created: afterwards). It may read tables, but not change or settle them.
protocol ChangeListener: AnyObject {
    func hear(_ change: Change, in table: Table) throws(RealmError)
    /// Whether it has to hear that a property of an object changes; creations and deletions are
    /// always told. What no listener needs is made in a faster way and told to nobody.
    func needs(_ key: ObjectKey, _ column: Int, in table: Table) -> Bool
}

extension ChangeListener {
    func needs(_ key: ObjectKey, _ column: Int, in table: Table) -> Bool { true }
}

/// A list, set or dictionary of a write transaction as it stands, wherever its elements are; reading
/// it opens nothing. Good until something changes.
struct StandingCollection {
    /// The way from the collection of a property to one in its elements.
    struct Step {
        let index: Int
        /// Of an element of a dictionary.
        let key: String?
    }

    private enum Elements {
        case open(UnsafeMutablePointer<OpenCollection>)
        case stored(CollectionView)
    }

    let key: ObjectKey
    let column: Int
    let type: CollectionType
    /// Which of the collections in the mixed values of the property.
    let number: CollectionNumber
    private(set) var path: [Step] = []
    private var elements: Elements

    /// One that the transaction has opened.
    init(_ collection: UnsafeMutablePointer<OpenCollection>) throws(RealmError) {
        key = collection.pointee.key
        column = collection.pointee.column
        type = collection.pointee.type
        number = collection.pointee.number
        elements = .open(collection)
        var inner = collection
        while let outer = inner.pointee.parent {
            let index = try outer.pointee.position(
                of: inner.pointee.number, near: inner.pointee.position)
            guard let index else { break }
            var name: String?
            if outer.pointee.type == .dictionary {
                name = String(
                    decoding: try outer.pointee.value(index, 0).value.bytes, as: UTF8.self)
            }
            path.insert(Step(index: index, key: name), at: 0)
            inner = outer
        }
    }

    /// That of a property of a row; nil when a mixed property holds none.
    init?(_ table: Table, _ place: RowPlace, _ key: ObjectKey, _ column: Int) throws(RealmError) {
        self.key = key
        self.column = column
        let info = table.state.columns[column]
        var type = info.collection
        var number = CollectionNumber.none
        if info.kind == .mixed {
            let value = try table.value(place, key, column)
            guard let held = NestedCell.type(value) else { return nil }
            type = held
            number = NestedCell.number(value)
        }
        self.type = type
        self.number = number
        if let open = table.state.openCollections.find(key, column) {
            elements = .open(open)
        } else {
            guard let view = try CollectionView(table, place, column, type) else { return nil }
            elements = .stored(view)
        }
    }

    private init(
        _ outer: StandingCollection, _ type: CollectionType, _ number: CollectionNumber,
        _ elements: Elements
    ) {
        key = outer.key
        column = outer.column
        self.type = type
        self.number = number
        self.elements = elements
    }

    var count: Int {
        switch elements {
        case .open(let open): open.pointee.count
        case .stored(let view): view.count
        }
    }

    func value(_ index: Int) throws(RealmError) -> RawValue {
        try value(index, type == .dictionary ? 1 : 0)
    }

    /// Of a dictionary.
    func key(_ index: Int) throws(RealmError) -> RawValue { try value(index, 0) }

    private func value(_ index: Int, _ column: Int) throws(RealmError) -> RawValue {
        switch elements {
        case .open(let open): return try open.pointee.value(index, column).value
        case .stored(var view): return try view.value(index, column)
        }
    }

    /// The collection that an element is; nil for other values.
    func nested(_ index: Int) throws(RealmError) -> StandingCollection? {
        let value = try value(index)
        guard let type = NestedCell.type(value) else { return nil }
        let number = NestedCell.number(value)
        switch elements {
        case .open(let open):
            if let child = open.pointee.children[number] {
                return StandingCollection(self, type, number, .open(child))
            }
            let column = open.pointee.column
            let view = CollectionView(
                open.pointee.table, column, ElementLayout(nested: type, column: column),
                NestedCell.cell(value))
            return StandingCollection(self, type, number, .stored(view))
        case .stored(var view):
            return try view.nested(index, type).map {
                StandingCollection(self, type, number, .stored($0))
            }
        }
    }
}
