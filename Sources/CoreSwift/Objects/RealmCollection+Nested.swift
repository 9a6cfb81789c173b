// Lists and dictionaries in mixed values.

/// What a property or an element is: a single value, or a collection, be it the property's own or a mixed value.
package enum StoredContent {
    /// Text is borrowed until the realm moves or changes.
    case value(RawValue)
    case collection(RealmCollection)
}

extension ObjectHandle {
    /// What a property holds, which is a collection of the type, or `.none`.
    package func content(
        _ propertyKey: PropertyKey, _ type: CollectionType
    ) throws(RealmError) -> StoredContent {
        if type != .none { return .collection(try collection(propertyKey, type)) }
        let value = try value(propertyKey)
        guard let nested = value.nestedType else { return .value(value) }
        return .collection(try collection(propertyKey, nested))
    }
}

extension RawValue {
    /// What stands for a new, empty collection.
    package static func nested(_ type: CollectionType) -> RawValue {
        RawValue(word0: 0, word1: 0, type: type == .dictionary ? .dictionary : .list)
    }

    /// The collection that a mixed value is; nil of others.
    package var nestedType: CollectionType? { NestedCell.type(self) }
}

extension RealmCollection {
    /// Whether elements can be collections; sets hold none.
    package func holdsMixed() throws(RealmError) -> Bool {
        if isFound { return elements.valueInfo.pointee.kind == .mixed }
        return try valueInfo().kind == .mixed
    }

    /// What element `index` is, or the value of that entry of a dictionary.
    package func content(_ index: Int) throws(RealmError) -> StoredContent {
        let value = try get(index)
        guard let type = value.nestedType else { return .value(value) }
        return .collection(try nested(index, type))
    }

    /// The collection that element `index` is. Always given: one that is not valid where the
    /// element is something else, or not there.
    package func nested(_ index: Int, _ type: CollectionType) throws(RealmError) -> RealmCollection
    {
        var number = CollectionNumber.none
        let count = try count()
        if index >= 0 && index < count {
            number = try elements.nested(index, type, table).map { NestedCell.number($0) } ?? .none
        }
        return RealmCollection(self, type, number: number, position: index)
    }

    /// The same for the value of a key of a dictionary.
    package func nested(
        key: RawValue, _ type: CollectionType
    ) throws(RealmError) -> RealmCollection {
        try nested(try find(key: key) ?? -1, type)
    }

    /// Inserts an empty collection before element `index` of a list.
    package func insertNested(
        _ type: CollectionType, at index: Int
    ) throws(RealmError) -> RealmCollection {
        try insert(.nested(type), at: index)
        return try nested(index, type)
    }

    /// Puts an empty collection in the place of element `index` of a list, unless it is one of the
    /// type.
    package func setNested(
        _ type: CollectionType, at index: Int
    ) throws(RealmError) -> RealmCollection {
        try set(.nested(type), at: index)
        return try nested(index, type)
    }

    /// Puts an empty collection at a key of a dictionary, unless there is one of the type.
    package func insertNested(
        _ type: CollectionType, key: RawValue, takesAnyKey: Bool = false
    ) throws(RealmError) -> RealmCollection {
        let place = try insert(.nested(type), key: key, takesAnyKey: takesAnyKey)
        return try nested(place.index, type)
    }
}
