// Objects as JSON text, in the engine's format (docs/JSON.md).

import CoreSwift
import Foundation

extension ObjectBase {
    /// The stored properties as JSON text: `{"name":"Rex","age":3}`. Links are the keys of their targets, embedded
    /// objects are whole. Misuse for unmanaged objects, which `JSONEncoder` takes.
    public final func json() -> String {
        let handle = managedHandle(
            "Only managed objects have JSON text; unmanaged ones are Codable.")
        return engine(.object, try handle.jsonText())
    }
}

extension Results where Element: ObjectBase {
    /// The objects as a JSON array.
    public func json() -> String { "[" + map { $0.json() }.joined(separator: ",") + "]" }
}

extension Realm {
    /// Stores a new object from JSON text, with all objects in it: an object with values by the names of
    /// properties, or an array of all values in the order of declaration. Missing values are those of the
    /// declaration.
    ///
    /// - Throws: `Realm.Error` with what is wrong with the text; nothing is changed then.
    @discardableResult
    public func create<T: Object>(
        _ type: T.Type, json: String, update: UpdatePolicy = .error
    ) throws -> T {
        if !core.isWritable {
            try refuse(misuseText(RealmError(.wrongTransactionState, ""), .realm))
        }
        let info = ClassInfo.of(type)
        if session.core.schema.class_(named: info.name) == nil {
            try refuse("Object type '\(info.className)' not managed by the Realm")
        }
        let binding = session.binding(type)
        return try asRealmError(core.path) { () throws(RealmError) in
            let tree = try JSONReader.read(json)
            let handle = try core.createObject(
                binding.classKey, from: tree, update: update.engine, ignoresUnknown: false)
            return session.accessor(handle, type)
        }
    }
}

extension Realm.UpdatePolicy {
    fileprivate var engine: CoreSwift.UpdatePolicy {
        switch self {
        case .error: .never
        case .modified: .modified
        case .all: .all
        }
    }
}
