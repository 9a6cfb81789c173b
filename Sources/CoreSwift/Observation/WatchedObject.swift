// What observers of one object are told: its properties that changed, or with a filter, the first
// properties of the paths along which something did.

struct WatchedObject {
    let classKey: ClassKey
    let key: ObjectKey

    func changes(
        _ context: ChangeContext, _ filter: KeyPathFilter?
    ) throws(RealmError) -> ObjectChanges {
        var result = ObjectChanges()
        if let changes = context.changes(of: classKey), changes.deleted.contains(key) {
            result.isDeleted = true
            return result
        }
        guard let filter else {
            // A class that is gone has no changes to tell.
            if context.summary.changesSchema, context.new.table(classKey) == nil {
                result.isDeleted = true
            } else if let changes = context.changes(of: classKey), changes.modified.contains(key) {
                result.properties = changes.properties(of: key)
            }
            return result
        }
        if context.summary.isEmpty { return result }
        for (property, keys) in try context.modifiedByProperty(filter) where keys.holds(key) {
            result.properties.append(property)
        }
        result.properties.sortFew { a, b in
            a.isComputed == b.isComputed ? a.column < b.column : b.isComputed
        }
        return result
    }
}
