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
    private func place(_ handle: ObjectHandle, _ object: Int, isNew: Bool) {
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
                try set(handle, property, content, isNew: isNew)
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

    // MARK: Single values

    private func set(
        _ handle: ObjectHandle, _ property: CreationProperty, _ content: PlannedContent, isNew: Bool
    ) throws(RealmError) {
        let key = property.key
        switch content {
        case .embedded(let child):
            if let existing = objects[child].existing {
                place(
                    try realm.object(objects[child].class_.key, existing), child, isNew: false)
            } else {
                writtenCount += 1
                place(try handle.createEmbedded(key), child, isNew: true)
            }
        case .list, .dictionary:
            let type = content.nestedType
            if spares(isNew), try isSame(handle, key, content) { return }
            writtenCount += 1
            let collection = try handle.setCollection(key, type)
            try collection.removeAll(isAssignment: true)
            try fillNested(collection, content)
        case .value, .raw, .object, .reference:
            let isWritten = try withRaw(content) { raw throws(RealmError) in
                // A new row has the null already.
                if isNew, raw.isNull { return false }
                if spares(isNew), try handle.value(key).isIdentical(to: raw) { return false }
                try handle.setValue(key, raw)
                return true
            }
            if isWritten { writtenCount += 1 }
        }
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
                try put(element, into: collection, at: index, isInsertion: true, isNew: true)
            }
        case .dictionary(let entries):
            for entry in entries {
                try put(entry.value, into: collection, key: entry.key, isNew: true)
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
            try assign(collection, elements, isNew: isNew)
        case (.set, .list(let elements)):
            if updates { try keep(elements, in: collection) }
            for element in elements { try add(element, to: collection) }
        case (.dictionary, .dictionary(let entries)):
            if updates { try keep(entries.map(\.key), in: collection) }
            for entry in entries {
                try put(entry.value, into: collection, key: entry.key, isNew: !updates)
            }
        default: break
        }
    }

    private func assign(
        _ list: RealmCollection, _ elements: [PlannedContent], isNew: Bool
    ) throws(RealmError) {
        var count = try list.count()
        for (index, element) in elements.enumerated() {
            try put(
                element, into: list, at: index, isInsertion: index >= count,
                isNew: !spares(isNew))
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

    // MARK: Elements

    /// Adds an element to a set.
    func add(_ content: PlannedContent, to set: RealmCollection) throws(RealmError) {
        let isNew = try withRaw(content) { raw throws(RealmError) in try set.insert(raw).isNew }
        if isNew { writtenCount += 1 }
    }

    /// Writes an element of a list, or inserts one.
    func put(
        _ content: PlannedContent, into list: RealmCollection, at index: Int, isInsertion: Bool,
        isNew: Bool
    ) throws(RealmError) {
        if !isInsertion, !isNew, try isSame(list, index, content) { return }
        switch content {
        case .embedded(let child):
            if let existing = objects[child].existing {
                return place(
                    try realm.object(objects[child].class_.key, existing), child, isNew: false)
            }
            let handle =
                isInsertion
                ? try list.insertEmbedded(at: index) : try list.setEmbedded(at: index)
            place(handle, child, isNew: true)
        case .list, .dictionary:
            let type = content.nestedType
            let nested =
                isInsertion
                ? try list.insertNested(type, at: index) : try list.setNested(type, at: index)
            try nested.removeAll(isAssignment: true)
            try fillNested(nested, content)
        case .value, .raw, .object, .reference:
            try withRaw(content) { raw throws(RealmError) in
                if isInsertion {
                    try list.insert(raw, at: index)
                } else {
                    try list.set(raw, at: index)
                }
            }
        }
        writtenCount += 1
    }

    /// Writes the value of a key.
    func put(
        _ content: PlannedContent, into dictionary: RealmCollection, key: String, isNew: Bool
    ) throws(RealmError) {
        let index = try Value.string(key).withRaw { raw throws(RealmError) in
            try dictionary.find(key: raw)
        }
        if !isNew, let index, try isSame(dictionary, index, content) { return }
        if case .embedded(let child) = content, let existing = objects[child].existing {
            return place(
                try realm.object(objects[child].class_.key, existing), child, isNew: false)
        }
        writtenCount += 1
        let made = try Value.string(key).withRaw { raw throws(RealmError) -> PlacedContent in
            switch content {
            case .embedded(let child):
                return .embedded(try dictionary.insertEmbedded(key: raw), child)
            case .list, .dictionary:
                return .nested(
                    try dictionary.insertNested(
                        content.nestedType, key: raw, takesAnyKey: true))
            case .value, .raw, .object, .reference:
                _ = try withRaw(content) { value throws(RealmError) in
                    try dictionary.insert(value, key: raw, takesAnyKey: true)
                }
                return .value
            }
        }
        switch made {
        case .embedded(let handle, let child): place(handle, child, isNew: true)
        case .nested(let collection):
            try collection.removeAll(isAssignment: true)
            try fillNested(collection, content)
        case .value: break
        }
    }

    private enum PlacedContent {
        case value
        case embedded(ObjectHandle, Int)
        case nested(RealmCollection)
    }

    // MARK: Comparing

    /// Whether the elements or value of a property are what is wanted.
    private func isSame(
        _ handle: ObjectHandle, _ key: PropertyKey, _ content: PlannedContent
    ) throws(RealmError) -> Bool {
        let type = content.nestedType
        guard NestedCell.type(try handle.value(key)) == type else { return false }
        return try isSame(try handle.collection(key, type), content)
    }

    private func isSame(
        _ collection: RealmCollection, _ index: Int, _ content: PlannedContent
    ) throws(RealmError) -> Bool {
        let stored = try collection.get(index)
        switch content {
        case .embedded: return false
        case .list, .dictionary:
            let type = content.nestedType
            guard NestedCell.type(stored) == type else { return false }
            return try isSame(try collection.nested(index, type), content)
        case .value, .raw, .object, .reference:
            return try withRaw(content) { stored.isIdentical(to: $0) }
        }
    }

    /// Of collections in mixed values; not deeper than they can be nested.
    private func isSame(
        _ collection: RealmCollection, _ content: PlannedContent
    ) throws(RealmError) -> Bool {
        switch content {
        case .list(let elements):
            guard try collection.count() == elements.count else { return false }
            for (index, element) in elements.enumerated() {
                if try !isSame(collection, index, element) { return false }
            }
            return true
        case .dictionary(let entries):
            guard try collection.count() == entries.count else { return false }
            for entry in entries {
                let index = try Value.string(entry.key).withRaw { raw throws(RealmError) in
                    try collection.find(key: raw)
                }
                guard let index, try isSame(collection, index, entry.value) else { return false }
            }
            return true
        default: return false
        }
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
