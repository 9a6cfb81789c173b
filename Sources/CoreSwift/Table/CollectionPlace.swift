// Names a list, set or dictionary by keys: what descriptions of results and references between
// threads keep of it. `Objects` makes handles of it, see CollectionPlace+Handle.

/// Where a list, set or dictionary is, in any session and version of a file.
struct CollectionPlace: Equatable {
    let classKey: ClassKey
    var objectKey: ObjectKey
    let propertyKey: PropertyKey
    let column: Int
    /// Of the collection of the property itself.
    let rootType: CollectionType
    /// From there to a collection inside mixed elements.
    let steps: [Step]

    struct Step: Equatable {
        let type: CollectionType
        let number: CollectionNumber
        /// Where it was last; it may be elsewhere now.
        let position: Int

        static func == (a: Step, b: Step) -> Bool { a.type == b.type && a.number == b.number }
    }

    var type: CollectionType { steps.last?.type ?? rootType }

    /// The elements; nil when the object is not there, or does not hold the collection any more.
    func view(_ snapshot: SnapshotReader) throws(RealmError) -> CollectionView? {
        guard snapshot.tables.table(classKey) != nil else { return nil }
        let table = try snapshot.table(classKey).table
        guard let place = try table.find(objectKey),
            var view = try CollectionView(table, place, column, rootType)
        else { return nil }
        for step in steps {
            guard let index = try view.position(of: step.number, near: step.position),
                let found = try view.nested(index, step.type)
            else { return nil }
            view = found
        }
        return view
    }
}
