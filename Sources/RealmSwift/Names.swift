// Names that programs for realm-swift may mention, of what has another form here.

public import Foundation

/// The older name.
@available(*, deprecated, renamed: "SectionedResultsChange")
public typealias RealmSectionedResultsChange = SectionedResultsChange
/// The older name.
@available(*, deprecated, renamed: "SectionedResultsIterator")
public typealias RLMSectionedResultsIterator = SectionedResultsIterator
/// The older name.
@available(*, deprecated, renamed: "SectionIterator")
public typealias RLMSectionIterator = SectionIterator

/// A type by whose key paths collections are sorted.
public protocol KeypathSortable {}
extension ObjectBase: KeypathSortable {}
extension Projection: KeypathSortable {}

/// A value as another type, which it must have: there is no Objective-C that it could come from.
public func dynamicBridgeCast<T>(fromObjectiveC x: Any) -> T {
    guard let value = x as? T else {
        misuse("Could not convert value '\(x)' to type '\(T.self)'.")
    }
    return value
}

/// The value itself: there is no Objective-C that it could go to.
public func dynamicBridgeCast<T>(fromSwift x: T) -> Any { x }

/// What a predicate says, for messages: Foundation does not know it of those with a format.
public func predicateDescription(_ predicate: NSPredicate) -> String {
    let text = PredicateText(predicate)
    return text.arguments.isEmpty
        ? text.format
        : text.format + " [" + text.arguments.map { "\($0)" }.joined(separator: ", ") + "]"
}

/// A block that `Realm.observe` takes.
public typealias NotificationBlock = (_ notification: Realm.Notification, _ realm: Realm) -> Void

extension Realm {
    /// Whether opening waits for data of a server; nothing here has one.
    public enum OpenBehavior: Sendable {
        /// Never.
        case never
        /// At the first time.
        case once
        /// Each time.
        case always
    }
}
