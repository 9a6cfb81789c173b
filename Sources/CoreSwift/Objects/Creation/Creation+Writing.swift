// Writing a plan: rows first, then values. What can go wrong here is outside of the tree (a full
// disk, a damaged file); a savepoint takes back what was written until then.

extension Creation {
    /// Makes the planned objects. `first` is done when all rows are there, before any is filled.
    func write(
        _ first: (Creation) throws(RealmError) -> Void = { _ in }
    ) throws(RealmError) {
        let realm = realm
        try realm.atomically { () throws(RealmError) in
            defer { endEmbedded() }
            try createRows()
            try first(self)
            try fillEmbedded()
            for index in objects.indices {
                guard objects[index].isDescribed, !objects[index].class_.isEmbedded,
                    let key = objects[index].existing
                else { continue }
                let class_ = objects[index].class_.key
                let handle =
                    if let made = objects[index].handle { made } else {
                        try realm.object(class_, key)
                    }
                // The root's is for the caller.
                objects[index].handle = index == 0 ? handle : nil
                defer { if index > 0 { handle.release() } }
                try fill(handle, index, isNew: objects[index].wasCreated)
                try fillEmbedded()
            }
        }
    }

    /// Lets go of embedded objects that an error left to be filled.
    func endEmbedded() {
        for waiting in embedded { waiting.handle.release() }
        embedded = []
    }

    private func createRows() throws(RealmError) {
        for index in objects.indices
        where objects[index].isNew && !objects[index].class_.isEmbedded {
            let class_ = objects[index].class_.key
            let handle: ObjectHandle
            if let primaryKey = objects[index].primaryKey {
                handle = try primaryKey.withRaw { raw throws(RealmError) in
                    try realm.createObject(class_, primaryKey: raw)
                }
            } else {
                handle = try realm.createObject(class_)
            }
            objects[index].existing = handle.objectKey
            objects[index].handle = handle
            objects[index].wasCreated = true
        }
    }

    /// Fills the embedded objects that filling others has placed.
    func fillEmbedded() throws(RealmError) {
        while let next = embedded.popLast() {
            defer { next.handle.release() }
            try fill(next.handle, next.object, isNew: next.isNew)
        }
    }

    /// Notes that an embedded object is there; its values follow.
    private func fillLater(_ handle: ObjectHandle, _ object: Int, isNew: Bool) {
        objects[object].existing = handle.objectKey
        embedded.append((handle, object, isNew))
    }

    /// Writes the planned contents of an object.
    func fill(
        _ handle: ObjectHandle, _ index: Int, isNew: Bool
    ) throws(RealmError) {
        let class_ = objects[index].class_
        let contents = objects[index].contents
        for place in contents.indices {
            guard let content = contents[place], place != class_.primaryKey else { continue }
            let property = class_.properties[place]
            if property.collection == .none {
                // A new row has the null already.
                if isNew, content.isNull { continue }
                try put(content, .property(handle, property.key), spares: spares(isNew))
            } else {
                try assign(handle, property, content, isNew: isNew)
            }
        }
    }

    /// Whether what is equal is left alone.
    private func spares(_ isNew: Bool) -> Bool { policy == .modified && !isNew }

    /// Calls `body` with the value of what is no collection and is not made in its place.
    func withRaw<R>(
        _ content: PlannedContent, _ body: (RawValue) throws(RealmError) -> R
    ) throws(RealmError) -> R {
        let index: Int
        switch content {
        case .value(let value): return try value.withRaw(body)
        case .raw(let raw): return try body(raw)
        case .object(let place): index = place
        case .reference(let identifier): index = byIdentifier[identifier] ?? -1
        case .embedded, .list, .dictionary: index = -1
        }
        guard index >= 0, let key = objects[index].existing else {
            throw RealmError(.unknown, "a planned object was not created before it was linked to")
        }
        return try body(.link(objects[index].class_.key, key))
    }

    // MARK: Values

    /// Writes what goes to a place. `spares`: what is equal is left alone.
    func put(
        _ content: PlannedContent, _ place: ContentPlace, spares: Bool
    ) throws(RealmError) {
        if spares, let stored = try place.stored(), try isSame(stored, content) { return }
        switch content {
        case .embedded(let child):
            if let existing = objects[child].existing {
                let handle = try realm.object(objects[child].class_.key, existing)
                return fillLater(handle, child, isNew: false)
            }
            fillLater(try place.createEmbedded(), child, isNew: true)
        case .list, .dictionary:
            let collection = try place.setCollection(content.nestedType)
            try collection.removeAll(isAssignment: true)
            try fillNested(collection, content)
        case .value, .raw, .object, .reference:
            let isWritten = try withRaw(content) { raw throws(RealmError) in try place.set(raw) }
            if !isWritten { return }
        }
        writtenCount += 1
    }

    /// Puts elements into an empty collection of a mixed value, which was counted as written.
    private func fillNested(
        _ collection: RealmCollection, _ content: PlannedContent
    ) throws(RealmError) {
        let count = writtenCount
        defer { writtenCount = count }
        switch content {
        case .list(let elements):
            for (index, element) in elements.enumerated() {
                try put(element, .element(collection, index, isInsertion: true), spares: false)
            }
        case .dictionary(let entries):
            for entry in entries {
                try put(entry.value, .entry(collection, entry.key), spares: false)
            }
        default: break
        }
    }

    // MARK: Collections

    private func assign(
        _ handle: ObjectHandle, _ property: CreationProperty, _ content: PlannedContent, isNew: Bool
    ) throws(RealmError) {
        let collection = try handle.collection(property.key, property.collection)
        let updates = spares(isNew)
        if !updates, !isNew {
            writtenCount += 1
            try collection.removeAll(isAssignment: true)
        }
        switch (property.collection, content) {
        case (.list, .list(let elements)):
            try assign(collection, elements, spares: updates)
        case (.set, .list(let elements)):
            if updates { try keep(elements, in: collection) }
            for element in elements { try put(element, .member(collection), spares: false) }
        case (.dictionary, .dictionary(let entries)):
            if updates { try keep(entries.map(\.key), in: collection) }
            for entry in entries {
                try put(entry.value, .entry(collection, entry.key), spares: updates)
            }
        default: break
        }
    }

    private func assign(
        _ list: RealmCollection, _ elements: [PlannedContent], spares: Bool
    ) throws(RealmError) {
        var count = try list.count()
        for (index, element) in elements.enumerated() {
            try put(
                element, .element(list, index, isInsertion: index >= count), spares: spares)
        }
        while count > elements.count {
            count -= 1
            writtenCount += 1
            try list.remove(at: count)
        }
    }

    /// Removes the elements of a set that are not among `values`.
    private func keep(
        _ values: [PlannedContent], in set: RealmCollection
    ) throws(RealmError) {
        var kept = Set<Int>()
        for value in values {
            let index = try withRaw(value) { raw throws(RealmError) in try set.find(raw) }
            if let index { kept.insert(index) }
        }
        for index in (0..<(try set.count())).reversed() where !kept.contains(index) {
            writtenCount += 1
            try set.remove(at: index)
        }
    }

    /// Removes the entries of a dictionary whose keys are not among these.
    private func keep(
        _ keys: [String], in dictionary: RealmCollection
    ) throws(RealmError) {
        let wanted = Set(keys.map { Array($0.utf8) })
        for index in (0..<(try dictionary.count())).reversed() {
            let key = try dictionary.key(index)
            guard !wanted.contains(Array(key.bytes)) else { continue }
            writtenCount += 1
            try dictionary.remove(at: index)
        }
    }

    // MARK: Comparing

    /// Whether something is what is wanted. Collections in mixed values are no deeper than they can be nested.
    private func isSame(
        _ stored: StoredContent, _ content: PlannedContent
    ) throws(RealmError) -> Bool {
        switch (stored, content) {
        case (.value(let raw), .value), (.value(let raw), .raw), (.value(let raw), .object),
            (.value(let raw), .reference):
            return try withRaw(content) { raw.isIdentical(to: $0) }
        case (.collection(let list), .list(let elements)) where list.type == .list:
            guard try list.count() == elements.count else { return false }
            for (index, element) in elements.enumerated() {
                if try !isSame(try list.content(index), element) { return false }
            }
            return true
        case (.collection(let dictionary), .dictionary(let entries))
        where dictionary.type == .dictionary:
            guard try dictionary.count() == entries.count else { return false }
            for entry in entries {
                let place = ContentPlace.entry(dictionary, entry.key)
                guard let stored = try place.stored(), try isSame(stored, entry.value) else {
                    return false
                }
            }
            return true
        default: return false
        }
    }
}

/// Where a planned content goes.
enum ContentPlace {
    /// Into a property that is no collection.
    case property(ObjectHandle, PropertyKey)
    /// Before an element of a list, or in its place.
    case element(RealmCollection, Int, isInsertion: Bool)
    /// Into a set.
    case member(RealmCollection)
    /// To a key of a dictionary.
    case entry(RealmCollection, String)

    /// What is there; nil where nothing is. Members of sets are not asked for.
    func stored() throws(RealmError) -> StoredContent? {
        switch self {
        case .property(let handle, let key): return try handle.content(key, .none)
        case .element(let list, let index, let isInsertion):
            return isInsertion ? nil : try list.content(index)
        case .member: return nil
        case .entry(let dictionary, let key):
            let index = try Value.string(key).withRaw { raw throws(RealmError) in
                try dictionary.find(key: raw)
            }
            return try index.map { index throws(RealmError) in try dictionary.content(index) }
        }
    }

    /// Puts a single value there; false where a set has it already.
    func set(_ raw: RawValue) throws(RealmError) -> Bool {
        switch self {
        case .property(let handle, let key): try handle.setValue(key, raw)
        case .element(let list, let index, isInsertion: true): try list.insert(raw, at: index)
        case .element(let list, let index, isInsertion: false): try list.set(raw, at: index)
        case .member(let set): return try set.insert(raw).isNew
        case .entry(let dictionary, let key):
            _ = try Value.string(key).withRaw { key throws(RealmError) in
                try dictionary.insert(raw, key: key, takesAnyKey: true)
            }
        }
        return true
    }

    /// A new embedded object there.
    func createEmbedded() throws(RealmError) -> ObjectHandle {
        switch self {
        case .property(let handle, let key): return try handle.createEmbedded(key)
        case .element(let list, let index, isInsertion: true):
            return try list.insertEmbedded(at: index)
        case .element(let list, let index, isInsertion: false):
            return try list.setEmbedded(at: index)
        case .member: throw Self.notInSet()
        case .entry(let dictionary, let key):
            return try Value.string(key).withRaw { raw throws(RealmError) in
                try dictionary.insertEmbedded(key: raw)
            }
        }
    }

    /// A list or dictionary there, in a mixed value: the one that is there, or an empty one.
    func setCollection(_ type: CollectionType) throws(RealmError) -> RealmCollection {
        switch self {
        case .property(let handle, let key): return try handle.setCollection(key, type)
        case .element(let list, let index, isInsertion: true):
            return try list.insertNested(type, at: index)
        case .element(let list, let index, isInsertion: false):
            return try list.setNested(type, at: index)
        case .member: throw Self.notInSet()
        case .entry(let dictionary, let key):
            return try Value.string(key).withRaw { raw throws(RealmError) in
                try dictionary.insertNested(type, key: raw, takesAnyKey: true)
            }
        }
    }

    private static func notInSet() -> RealmError {
        RealmError(.unknown, "a set holds no embedded objects and no collections")
    }
}

extension PlannedContent {
    /// Of what is a list or dictionary.
    fileprivate var nestedType: CollectionType {
        switch self {
        case .list: return .list
        case .dictionary: return .dictionary
        default: return .none
        }
    }

    fileprivate var isNull: Bool {
        switch self {
        case .value(let value): return value == .null
        case .raw(let raw): return raw.isNull
        default: return false
        }
    }
}

extension RawValue {
    /// Whether the value is this one to the last bit: of the same type, text by bytes, floats by
    /// their bits (0.0 is not -0.0, NaN is the same NaN).
    func isIdentical(to other: RawValue) -> Bool {
        if isNull || other.isNull { return isNull && other.isNull }
        guard type == other.type else { return false }
        switch ValueType(rawValue: type) {
        case .bool?: return boolValue == other.boolValue
        case .string?, .binary?:
            guard word1 == other.word1 else { return false }
            return bytes.elementsEqual(other.bytes)
        case .timestamp?: return word0 == other.word0 && nanoseconds == other.nanoseconds
        case .float?: return floatValue.bitPattern == other.floatValue.bitPattern
        case .link?: return linkClass == other.linkClass && linkTarget == other.linkTarget
        case .objectId?: return objectIdValue == other.objectIdValue
        case .int?, .double?: return word0 == other.word0
        default: return word0 == other.word0 && word1 == other.word1
        }
    }
}
