// Conditions on what is stored for enumerations and types of the program: all operations of the stored type.

import Foundation

/// An optional, for constraints.
public protocol OptionalProtocol {
    /// What is inside.
    associatedtype Wrapped
    /// The value, for inference of its type; misuse where there is none.
    func _rlmInferWrappedType() -> Wrapped
}
extension Optional: OptionalProtocol {
    public func _rlmInferWrappedType() -> Wrapped {
        guard let self else { misuse("There is no value.") }
        return self
    }
}

extension Query where T: RealmEnum {
    /// The stored value, for comparisons of its type.
    public var rawValue: Query<T.RawValue> { Query<T.RawValue>(node) }
}

extension Query where T: OptionalProtocol, T.Wrapped: RealmEnum {
    /// The stored value, for comparisons of its type.
    public var rawValue: Query<T.Wrapped.RawValue?> { Query<T.Wrapped.RawValue?>(node) }
}

// The type of the collection says what can be asked; it is the same of all of them.

extension Query where T: RealmCollection, T.Element: RealmEnum {
    /// The stored values of the elements, for comparisons of their type.
    public var rawValue: Query<AnyRealmCollection<T.Element.RawValue>> {
        Query<AnyRealmCollection<T.Element.RawValue>>(node)
    }
}

extension Query
where T: RealmCollection, T.Element: OptionalProtocol, T.Element.Wrapped: RealmEnum {
    /// The stored values of the elements, for comparisons of their type.
    public var rawValue: Query<AnyRealmCollection<T.Element.Wrapped.RawValue?>> {
        Query<AnyRealmCollection<T.Element.Wrapped.RawValue?>>(node)
    }
}

extension Query where T: RealmKeyedCollection, T.Value: RealmEnum {
    /// The stored values of the map, for comparisons of their type.
    public var rawValue: Query<Map<T.Key, T.Value.RawValue>> {
        Query<Map<T.Key, T.Value.RawValue>>(node)
    }
}

extension Query
where T: RealmKeyedCollection, T.Value: OptionalProtocol, T.Value.Wrapped: RealmEnum {
    /// The stored values of the map, for comparisons of their type.
    public var rawValue: Query<Map<T.Key, T.Value.Wrapped.RawValue?>> {
        Query<Map<T.Key, T.Value.Wrapped.RawValue?>>(node)
    }
}

extension Query where T: _HasPersistedType {
    /// What is stored for the value, for comparisons of its type.
    public var persistableValue: Query<T.PersistedType> { Query<T.PersistedType>(node) }
}

extension Query where T: RealmCollection, T.Element.PersistedType: RealmCollectionValue {
    /// What is stored for the elements, for comparisons of its type.
    public var persistableValue: Query<AnyRealmCollection<T.Element.PersistedType>> {
        Query<AnyRealmCollection<T.Element.PersistedType>>(node)
    }
}

extension Query where T: RealmKeyedCollection, T.Value.PersistedType: RealmCollectionValue {
    /// What is stored for the values of the map, for comparisons of its type.
    public var persistableValue: Query<Map<T.Key, T.Value.PersistedType>> {
        Query<Map<T.Key, T.Value.PersistedType>>(node)
    }
}
