// Defaults that are computed for each new object: a time stamp, a fresh identifier, a list.

/// A function that gives a property's default. Runs on the thread of the realm that creates an
/// object, in its write transaction, and must not change the realm. Equal only to itself.
package final class ComputedDefault: Equatable, Sendable {
    private let body: @Sendable () throws(RealmError) -> ValueTree

    package init(_ body: @escaping @Sendable () throws(RealmError) -> ValueTree) {
        self.body = body
    }

    func callAsFunction() throws(RealmError) -> ValueTree { try body() }

    package static func == (a: ComputedDefault, b: ComputedDefault) -> Bool { a === b }
}

extension PropertySchema {
    package var hasDefault: Bool { defaultValue != nil || computedDefault != nil }

    /// The default for one new object; nil when there is none.
    func makeDefault() throws(RealmError) -> ValueTree? {
        guard let computedDefault else { return defaultValue }
        return try computedDefault()
    }
}
