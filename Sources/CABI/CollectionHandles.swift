// What the calls of lists, sets and dictionaries share: their handles keep one `RealmCollection`
// each, borrowed by the hot calls without counting references.

import CRealm
import CoreSwift

extension CollectionType {
    /// The kind of its handles; nil for "no collection".
    var handleKind: HandleKind? {
        switch self {
        case .none: return nil
        case .list: return .list
        case .set: return .set
        case .dictionary: return .dictionary
        }
    }
}

extension HandleKind {
    var isCollection: Bool { self == .list || self == .set || self == .dictionary }
}

extension RealmCollection {
    /// A new handle to this collection.
    var cHandle: OpaquePointer? { type.handleKind.map { makeHandle($0, self) } }
}

/// Calls `body` with the collection of a handle of `kind`.
@inline(__always)
func withCollection<R>(
    _ handle: OpaquePointer?, _ kind: HandleKind,
    _ body: (RealmCollection) throws(RealmError) -> R
) throws(RealmError) -> R {
    try borrow(handle, kind, as: RealmCollection.self, body)
}

/// As `boundary`, with the collection of a handle of `kind`.
@inline(__always)
func boundary<R>(
    _ handle: OpaquePointer?, _ kind: HandleKind, _ failure: R,
    _ body: (RealmCollection) throws(RealmError) -> R
) -> R {
    boundary(failure, try withCollection(handle, kind, body))
}

/// As `succeeds`, with the collection of a handle of `kind`.
@inline(__always)
func succeeds(
    _ handle: OpaquePointer?, _ kind: HandleKind,
    _ body: (RealmCollection) throws(RealmError) -> Void
) -> Bool {
    succeeds(try withCollection(handle, kind, body))
}

func writeCount(
    _ handle: OpaquePointer?, _ kind: HandleKind, _ out: UnsafeMutablePointer<Int>?
) -> Bool {
    succeeds(handle, kind) { collection throws(RealmError) in
        let count = try collection.count()
        out?.pointee = count
    }
}

/// The list or dictionary that `body` finds, or makes, in a collection of mixed values; others, which are
/// called `name`, fail with `code`.
func nested(
    in collection: RealmCollection, makes: Bool, _ code: ErrorCode, _ name: StaticString,
    _ body: (RealmCollection) throws(RealmError) -> RealmCollection
) throws(RealmError) -> OpaquePointer? {
    if makes { try collection.checkWritable() } else { _ = try collection.count() }
    guard try collection.holdsMixed() else {
        throw RealmError(code, "only \(name) of mixed values hold lists and dictionaries")
    }
    return try body(collection).cHandle
}

/// False for anything but a handle of `kind` whose collection is there.
func isValidCollection(_ handle: OpaquePointer?, _ kind: HandleKind) -> Bool {
    (try? withCollection(handle, kind) { $0.isValid }) ?? false
}

func resolve(
    _ handle: OpaquePointer?, _ kind: HandleKind, _ target: OpaquePointer?,
    _ resolved: UnsafeMutablePointer<OpaquePointer?>?
) throws(RealmError) {
    let collection = try held(handle, kind, as: RealmCollection.self)
    let resolved = try given(resolved, "resolved")
    resolved.pointee = try collection.resolve(in: try realmHeld(target))?.cHandle
}

/// The property that holds the collection, which must be there.
func describeProperty(
    _ handle: OpaquePointer?, _ kind: HandleKind,
    _ out: UnsafeMutablePointer<realm_property_info_t>?
) throws(RealmError) {
    let collection = try held(handle, kind, as: RealmCollection.self)
    _ = try collection.count()
    let owner = try collection.realm.shownClass(collection.classKey)
    guard let property = owner.properties.first(where: { $0.key == collection.propertyKey })
    else {
        throw RealmError(
            .invalidProperty, "the realm does not show the property of class '\(owner.name)'")
    }
    out?.pointee = property.info
}

func collectionResults(
    _ handle: OpaquePointer?, _ kind: HandleKind
) throws(RealmError) -> OpaquePointer {
    makeHandle(.results, try held(handle, kind, as: RealmCollection.self).results())
}

/// SIZE_MAX.
let notFound = -1

extension UnsafeMutablePointer where Pointee == Int {
    /// Writes a position, or SIZE_MAX.
    @inline(__always)
    func write(_ index: Int?) { pointee = index ?? notFound }
}
