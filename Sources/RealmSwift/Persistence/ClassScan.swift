// All model classes of the program, and what classes a realm with given ones has.

import CRuntime
import CoreSwift
import Foundation

enum ClassScan {
    private static let lock = NSLock()
    nonisolated(unsafe) private static var found: [ObjectBase.Type] = []
    nonisolated(unsafe) private static var images = 0

    /// All subclasses of `Object` and `EmbeddedObject` in the program; looked for again when a library
    /// was loaded.
    static func all() -> [ObjectBase.Type] {
        let count = crt_count_images()
        return lock.withLock {
            if count != images {
                found = find()
                images = count
            }
            return found
        }
    }

    private static func find() -> [ObjectBase.Type] {
        final class Box { var types: [ObjectBase.Type] = [] }
        let box = Box()
        let base = unsafeBitCast(ObjectBase.self as AnyClass, to: UnsafeRawPointer.self)
        crt_find_subclasses(
            base,
            { metadata, context in
                guard let metadata, let context else { return }
                let box = Unmanaged<Box>.fromOpaque(context).takeUnretainedValue()
                // The metadata of a class is what its type is.
                let type = unsafeBitCast(metadata, to: Any.Type.self)
                if let type = type as? ObjectBase.Type { box.types.append(type) }
            }, Unmanaged.passUnretained(box).toOpaque())
        return box.types
    }

    /// The classes of realms whose configuration names none.
    static func defaults() -> [ObjectBase.Type] {
        all().filter { type in
            type != Object.self && type != EmbeddedObject.self
                && !(type is DynamicObject.Type) && type.shouldIncludeInDefaultSchema()
        }
    }

    /// What realms with these classes have; misuse where they do not fit together.
    static func infos(_ types: [ObjectBase.Type], isExplicit: Bool) throws -> [ClassInfo] {
        var byName: [String: ClassInfo] = [:]
        var result: [ClassInfo] = []
        for type in types {
            let info = ClassInfo.of(type)
            if let other = byName[info.name] {
                if other === info { continue }
                try refuse(
                    "The classes '\(String(reflecting: other.type))' and "
                        + "'\(String(reflecting: type))' have one name, '\(info.name)': give one "
                        + "of them another with _realmObjectName().")
            }
            byName[info.name] = info
            result.append(info)
        }
        for info in result {
            if let problem = info.problem { try refuse(problem) }
            for property in info.properties {
                guard let target = property.shape.target else { continue }
                let name = target._realmObjectName() ?? target.className()
                if byName[name] == nil {
                    try refuse(
                        "Invalid class subset list: '\(info.className).\(property.name)' links to "
                            + "class '\(name)', which is missing from the list of classes managed by "
                            + "the Realm")
                }
            }
        }
        return result
    }
}
