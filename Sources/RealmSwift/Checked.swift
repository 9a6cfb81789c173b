// Misuse that is thrown instead of ending the program, where a function can throw.

import CoreSwift
import Foundation

extension Realm {
    /// What a program did wrong, with the text that it would have ended with.
    public struct Misuse: Swift.Error, Hashable, Sendable, CustomStringConvertible, LocalizedError {
        /// What was wrong.
        public let message: String
        /// What was wrong.
        public var description: String { message }
        /// What was wrong.
        public var errorDescription: String? { message }

        init(_ message: String) { self.message = message }
    }

    /// Runs a block in which misuse of functions that can throw is thrown, as `Realm.Misuse`: of opening a realm with
    /// settings or classes that can't be right, of `write`, `commitWrite`, `writeNested`, `create(_:json:)`, `filtered`
    /// and `filter` with a `#Predicate`. Misuse of what cannot throw, as a property, still ends the program; for
    /// these there are `object.reading(_:)` and `object.ifValid(_:)`.
    @discardableResult
    public func checked<Result>(_ block: () throws -> Result) throws -> Result {
        try Realm.checked(block)
    }

    /// The same before a realm is open.
    @discardableResult
    public static func checked<Result>(_ block: () throws -> Result) throws -> Result {
        try Checks.$areOn.withValue(true, operation: block)
    }

    /// The same for a block that waits: misuse of `asyncWrite` and of asynchronous opening is thrown as well.
    @discardableResult
    public func asyncChecked<Result>(
        _isolation: isolated (any Actor)? = #isolation, _ block: () async throws -> Result
    ) async throws -> Result {
        try await Realm.asyncChecked(block)
    }

    /// The same before a realm is open.
    @discardableResult
    public static func asyncChecked<Result>(
        _isolation: isolated (any Actor)? = #isolation, _ block: () async throws -> Result
    ) async throws -> Result {
        try await Checks.$areOn.withValue(true, operation: block)
    }
}

private enum Checks {
    /// The task, or the thread, is in a block of `checked`.
    @TaskLocal static var areOn = false
}

/// Misuse of a function that can throw.
func refuse(_ text: String) throws -> Never {
    if Checks.areOn { throw Realm.Misuse(text) }
    misuse(text)
}

/// Calls the engine in a function that can throw; what it throws is misuse.
func checkedEngine<R>(
    _ operation: Operation, _ call: @autoclosure () throws(RealmError) -> R
) throws -> R {
    do throws(RealmError) {
        return try call()
    } catch {
        try refuse(misuseText(error, operation))
    }
}

extension _ObservableObject {
    /// The value of a property, also of an object that may be gone by now.
    ///
    /// - Throws: `Realm.Misuse` where the object was deleted, its realm invalidated, or the thread is another one.
    public func reading<Value>(_ keyPath: KeyPath<Self, Value>) throws -> Value {
        if let handle {
            do throws(RealmError) {
                try handle.checkValid()
            } catch {
                throw Realm.Misuse(misuseText(error, .object))
            }
        }
        return self[keyPath: keyPath]
    }

    /// Runs a block with the object if it is still there; nil if not.
    @discardableResult
    public func ifValid<Result>(_ body: (Self) throws -> Result) rethrows -> Result? {
        isInvalidated ? nil : try body(self)
    }
}
