// What lies between two versions of a file, class by class: which objects came, went and changed,
// in which properties, and what happened to their lists, sets and dictionaries by position. Made of
// the change log where there is one, else by comparing the versions (`VersionComparison`);
// notifications are computed from it.
//
// Values are not in it: they are in the versions.

/// The changes from one version to a later one.
struct ChangeSummary {
    /// Classes with changes, ascending by key.
    var classes: [ClassChanges] = []
    /// The classes and properties themselves are others.
    var changesSchema = false

    var isEmpty: Bool { classes.isEmpty && !changesSchema }

    /// The changes of a class; nil when it has none.
    func changes(of key: ClassKey) -> ClassChanges? {
        classes.first { $0.classKey == key }
    }
}

/// The changes of one class.
struct ClassChanges {
    let classKey: ClassKey
    /// Objects that are there and were not.
    var inserted = KeyRanges()
    /// Objects that were there and are not. An integer primary key is the object's key: where an
    /// object was deleted and another created with its key, the key is in both, if the log says so;
    /// a comparison takes them for one.
    var deleted = KeyRanges()
    /// Objects that were and are there, and have a property in `properties`.
    var modified = KeyRanges()
    /// Properties that changed, ascending by column; of collections, too.
    var properties: [PropertyChanges] = []
    /// Lists, sets and dictionaries of modified objects, by object, property and number. One that
    /// was put in the place of another is not here, its property is.
    var collections: [CollectionChanges] = []

    init(_ classKey: ClassKey) { self.classKey = classKey }

    var isEmpty: Bool { inserted.isEmpty && deleted.isEmpty && modified.isEmpty }

    /// The properties that changed of an object; none of one that did not.
    func properties(of key: ObjectKey) -> [PropertyKey] {
        var result: [PropertyKey] = []
        for item in properties where item.keys.contains(key) { result.append(item.property) }
        return result
    }

    /// What happened to the collection that a property is, or with a number, to one in its mixed
    /// values; nil for nothing. O(log collections).
    func collection(
        _ key: ObjectKey, _ property: PropertyKey, _ number: CollectionNumber = .none
    ) -> CollectionChanges? {
        let wanted = CollectionChanges.Name(key: key, property: property, number: number)
        let place = collections.partitionPoint { $0.name < wanted }
        return place < collections.count && collections[place].name == wanted
            ? collections[place] : nil
    }
}

/// Objects in which one property changed, or may have: setting a value equal to the one that was
/// there counts in a log, too.
struct PropertyChanges {
    let property: PropertyKey
    var keys = KeyRanges()
}

/// What happened to one list, set or dictionary, in order.
struct CollectionChanges {
    struct Name: Hashable, Comparable {
        let key: ObjectKey
        let property: PropertyKey
        /// Which of the collections in the mixed values of the property; `.none`: the property
        /// itself is the collection.
        let number: CollectionNumber

        static func < (a: Name, b: Name) -> Bool {
            if a.key != b.key { return a.key < b.key }
            if a.property != b.property { return a.property.rawValue < b.property.rawValue }
            return a.number.rawValue < b.number.rawValue
        }
    }

    let name: Name
    let type: CollectionType
    /// Elements before the first operation.
    var countBefore: Int
    /// Done one after another to the elements as they were before, they lead to those of after.
    var operations: [CollectionOperation] = []
}

/// One change of a list, set or dictionary; positions are those at its turn.
struct CollectionOperation: Equatable {
    enum Kind: UInt8 {
        /// Elements come, so that the first is at `index`.
        case inserted = 0
        /// The elements from `index` on go.
        case removed
        /// The elements from `index` on get other values.
        case replaced
        /// The element at `index` goes to be at `destination` afterwards.
        case moved
        /// All elements go; `count` of them.
        case cleared
    }

    let kind: Kind
    /// It follows from the deletion of the object that was linked to.
    var isDerived = false
    /// Of `cleared`: what is inserted next is assigned as a whole.
    var isAssignment = false
    var index: Int
    /// How many elements; 1 of dictionaries, except when cleared.
    var count = 1
    var destination = 0
    /// Of dictionaries, except when cleared.
    var key: String?

    static func inserted(_ index: Int, count: Int = 1, key: String? = nil) -> CollectionOperation {
        CollectionOperation(kind: .inserted, index: index, count: count, key: key)
    }
    static func removed(_ index: Int, count: Int = 1, key: String? = nil) -> CollectionOperation {
        CollectionOperation(kind: .removed, index: index, count: count, key: key)
    }
    static func replaced(_ index: Int, count: Int = 1, key: String? = nil) -> CollectionOperation {
        CollectionOperation(kind: .replaced, index: index, count: count, key: key)
    }
}

extension CollectionChanges {
    /// Adds an operation, which may continue the last one.
    mutating func append(_ operation: CollectionOperation) {
        if let last = operations.last, let joined = last.joined(with: operation) {
            operations[operations.count - 1] = joined
        } else {
            operations.append(operation)
        }
    }
}

extension CollectionOperation {
    /// Both as one, where the second goes on with what the first did.
    func joined(with next: CollectionOperation) -> CollectionOperation? {
        guard kind == next.kind, isDerived == next.isDerived, key == nil, next.key == nil else {
            return nil
        }
        var result = self
        switch kind {
        case .inserted, .replaced:
            guard next.index == index + count else { return nil }
        case .removed:
            // Either the same place again, or the one before.
            guard next.index == index || next.index + next.count == index else { return nil }
            result.index = next.index
        case .moved, .cleared: return nil
        }
        result.count += next.count
        return result
    }
}
