// Names of key paths: an object in recording state, on which the key path is applied, notes which
// properties are read. Names are kept by key path, as literals are equal wherever they are written.

import Foundation

/// Notes the properties that are read while a key path is applied.
public final class _Recorder {
    fileprivate(set) var names: [String] = []

    func note(_ object: ObjectBase, _ index: Int) {
        names.append(ClassInfo.of(type(of: object)).properties[index].name)
    }

    /// An object whose properties note that they are read.
    static func object<T: ObjectBase>(_ type: T.Type, _ recorder: _Recorder) -> T {
        let object = type.init()
        object.aside = recorder
        for (index, property) in ClassInfo.of(type).properties.enumerated() {
            property.wrapper.record(object, ClassInfo.address(object, property), index)
        }
        return object
    }
}

enum KeyPathNames {
    private static let lock = NSLock()
    @exclusivity(unchecked) nonisolated(unsafe) private static var known: [AnyKeyPath: String] = [:]

    /// "owner.name" for `\Dog.owner?.name`; misuse for key paths that read nothing stored.
    static func name(_ path: AnyKeyPath) -> String {
        if let name = lock.withLock({ known[path] }) { return name }
        let name = trace(path)
        lock.withLock { known[path] = name }
        return name
    }

    private static func trace(_ path: AnyKeyPath) -> String {
        let recorder = _Recorder()
        guard let type = type(of: path).rootType as? any _KeyPathRoot.Type else {
            misuse("Key path of '\(type(of: path).rootType)' is no key path of a Realm object.")
        }
        if let root = type._rlmKeyPathRoot(recorder) {
            let value: Any? = root[keyPath: path]
            if recorder.names.isEmpty, let value, let name = direct(root, value) { return name }
        }
        guard !recorder.names.isEmpty else {
            misuse("Key path of '\(type)' does not name a managed property.")
        }
        return recorder.names.joined(separator: ".")
    }

    /// The property without a wrapper that holds just what the key path gave.
    private static func direct(_ root: Any, _ value: Any) -> String? {
        guard let object = root as? ObjectBase, Swift.type(of: value) is any DirectCollection.Type
        else { return nil }
        return ClassInfo.of(Swift.type(of: object)).properties.first { property in
            property.wrapper is any DirectCollection.Type
                && property.wrapper.get(object, ClassInfo.address(object, property)) as AnyObject
                    === value as AnyObject
        }?.name
    }
}

/// Types that key paths to properties can begin at.
public protocol _KeyPathRoot {
    static func _rlmKeyPathRoot(_ recorder: _Recorder) -> Any?
}

extension ObjectBase: _KeyPathRoot {
    public static func _rlmKeyPathRoot(_ recorder: _Recorder) -> Any? {
        _Recorder.object(self, recorder)
    }
}

/// The name of a key path as queries and sorting take it, such as `owner.name` for `\Dog.owner?.name`.
public func _name<T: _KeyPathRoot>(for keyPath: PartialKeyPath<T>) -> String {
    KeyPathNames.name(keyPath)
}
