// The names of the engine's types where this module has types of the same names, and the one place
// where what the engine throws becomes what the program sees: misuse, or `Realm.Error`.

import CoreSwift
import Foundation

typealias EngineRealm = CoreSwift.Realm
typealias EngineResults = CoreSwift.Results
typealias EngineCollection = CoreSwift.RealmCollection
typealias EngineConfiguration = CoreSwift.Configuration
typealias EngineToken = CoreSwift.NotificationToken
typealias EngineReference = CoreSwift.ThreadSafeReference
typealias EngineScheduler = CoreSwift.Scheduler
typealias EngineObjectId = CoreSwift.ObjectId
typealias EngineDecimal = CoreSwift.Decimal128
typealias EngineQuery = CoreSwift.Query
typealias EngineSchema = CoreSwift.Schema
typealias EnginePropertyType = CoreSwift.PropertyType

/// What a call to the engine was for, which decides the text of a misuse.
enum Operation {
    case object
    case realm
    /// With the name that the texts have for the collection: RLMArray, RLMSet, RLMDictionary, Results.
    case collection(String)
    case query
    case transaction
}

/// Calls the engine; what it throws is misuse, with the text that goes with the operation.
@inline(__always)
func engine<R>(
    _ operation: Operation = .object, _ body: () throws(RealmError) -> R
) -> R {
    do throws(RealmError) {
        return try body()
    } catch {
        misuse(misuseText(error, operation))
    }
}

/// The same for a single call: `engine(.query, try core.count())`. Not within another closure, which the compiler would
/// take for one that throws.
@inline(__always)
func engine<R>(_ operation: Operation, _ call: @autoclosure () throws(RealmError) -> R) -> R {
    engine(operation) { () throws(RealmError) in try call() }
}

/// Calls the engine; what it throws is thrown as a `Realm.Error` about a file.
func asRealmError<R>(
    _ path: String? = nil, _ body: () throws(RealmError) -> R
) throws -> R {
    do throws(RealmError) {
        return try body()
    } catch {
        throw Realm.Error(error, path: path)
    }
}

/// The same for a single call.
func asRealmError<R>(
    _ path: String?, _ call: @autoclosure () throws(RealmError) -> R
) throws -> R {
    try asRealmError(path) { () throws(RealmError) in try call() }
}

/// realm-swift's text for an error of the engine, and behind a semicolon what the engine says.
func misuseText(_ error: RealmError, _ operation: Operation) -> String {
    if case .query = operation, let text = predicateText(error.message) {
        return "\(text); \(error.message)"
    }
    switch error.code {
    case .wrongThread:
        return "Realm accessed from incorrect thread.; \(error.message)"
    case .invalidatedObject, .noSuchObject:
        if case .collection = operation { return "Collection is no longer valid; \(error.message)" }
        return "Object has been deleted or invalidated.; \(error.message)"
    case .staleAccessor, .invalidTableRef:
        return "Collection is no longer valid; \(error.message)"
    case .closedRealm:
        return "This realm has been invalidated or closed.; \(error.message)"
    case .modifyPrimaryKey:
        return "Primary key can't be changed after an object is inserted."
    case .propertyNotNullable:
        return "Must provide a non-nil value.; \(error.message)"
    case .wrongTransactionState:
        switch operation {
        case .object:
            return "Attempting to modify object outside of a write transaction - call "
                + "beginWriteTransaction on an RLMRealm instance first."
        case .realm:
            return "Can only add, remove, or create objects in a Realm in a write transaction - "
                + "call beginWriteTransaction on an RLMRealm instance first."
        case .collection(let name):
            return "Cannot modify managed \(name) outside of a write transaction."
        case .query, .transaction:
            return error.message
        }
    default:
        return error.message
    }
}

/// realm-swift's text for a condition that the engine refuses, where it has one.
private func predicateText(_ message: String) -> String? {
    guard message.hasPrefix("Invalid predicate: ") else { return nil }
    if let middle = message.range(of: "' has no property '"),
        let start = message[..<middle.lowerBound].lastIndex(of: "'"),
        let end = message[middle.upperBound...].firstIndex(of: "'")
    {
        let owner = message[message.index(after: start)..<middle.lowerBound]
        let name = message[middle.upperBound..<end]
        return "property '\(name)' not found in object of type '\(owner)'"
    }
    if let end = message.range(of: "': GEOWITHIN needs links to an embedded class"),
        let start = message.range(of: "'")
    {
        let query = message[start.upperBound..<end.lowerBound]
        return "Query '\(query)' links to data in the wrong format for a geoWithin query"
    }
    guard let start = message.range(of: "': the shape '"),
        let end = message.range(of: "': ", range: start.upperBound..<message.endIndex)
    else { return nil }
    return "Invalid region in GEOWITHIN query for parameter "
        + "'\(message[start.upperBound..<end.lowerBound])': '\(message[end.upperBound...])'"
}
