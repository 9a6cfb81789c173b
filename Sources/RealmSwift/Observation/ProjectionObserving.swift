// Observers of projections: they are told of the properties that the projection has, by its names for them.

import CoreSwift
public import Foundation
@_spi(Reflection) import Swift

/// A property of a projection.
private struct ProjectedField {
    /// The name in the projection.
    let name: String
    let keyPath: AnyKeyPath
    /// The properties of the object that lead there, with dots between them.
    let path: String

    /// The property of the object itself.
    var first: String { path.split(separator: ".").first.map(String.init) ?? path }
}

/// A wrapper in a projection whose type is not known.
protocol AnyProjected {
    static func keyPath(_ at: UnsafeMutableRawPointer) -> AnyKeyPath
}

extension Projected: AnyProjected {
    static func keyPath(_ at: UnsafeMutableRawPointer) -> AnyKeyPath {
        // The address comes from the runtime's description of the class, for exactly this type.
        at.assumingMemoryBound(to: Projected<Root, Value>.self).pointee.path
    }
}

private func projectedFields(_ projection: AnyObject) -> [ProjectedField] {
    let start = Unmanaged.passUnretained(projection).toOpaque()
    var fields: [ProjectedField] = []
    // 1: the type is a class.
    _forEachField(of: type(of: projection), options: _EachFieldOptions(rawValue: 1)) {
        name, offset, type, _ in
        if let wrapper = type as? any AnyProjected.Type {
            let keyPath = wrapper.keyPath(start + offset)
            fields.append(
                ProjectedField(
                    name: String(String(cString: name).dropFirst()), keyPath: keyPath,
                    path: KeyPathNames.name(keyPath)))
        }
        return true
    }
    return fields
}

/// The text of a projection: its class, the object, and each property with the one that it stands for.
func projectionText(_ projection: AnyObject, _ root: ObjectBase) -> String {
    let address = UInt(bitPattern: ObjectIdentifier(root).hashValue)
    let lines = projectedFields(projection).map { field in
        let value = (root as Any)[keyPath: field.keyPath]
        return "\t\t\(field.name)(\\.\(field.path)) = \(value ?? "nil");\n"
    }
    return "\(type(of: projection))<\(type(of: root))> <0x\(String(address, radix: 16))> {\n"
        + lines.joined() + "}"
}

/// What `observe` has on projections.
public protocol ProjectionObservable: AnyObject, ThreadConfined {
    /// The class of the objects.
    associatedtype Root: _ObservableObject & RealmCollectionValue & ThreadConfined
    /// The object.
    var rootObject: Root { get }
    /// A view of an object.
    init(projecting object: Root)
}

extension Projection: ProjectionObservable {}

/// A property of a projection that changed.
public typealias ProjectedPropertyChange = PropertyChange

extension ProjectionObservable {
    /// Calls a block when properties of the projection change, or the object is deleted. What changed has the
    /// projection's names; old values are given of properties of the object itself.
    ///
    /// - Parameter keyPaths: the properties that count, as the projection or the object has them; nil: all of the
    ///   projection.
    /// - Parameter queue: where the block is called, with the projection there; nil: where the realm belongs.
    public func observe(
        keyPaths: [String]? = nil, on queue: DispatchQueue? = nil,
        _ block: @escaping (ObjectChange<Self>) -> Void
    ) -> NotificationToken {
        let fields = projectedFields(self)
        let paths =
            keyPaths?.map { wanted in fields.first { $0.name == wanted }?.path ?? wanted }
            ?? fields.map { $0.path }
        return rootObject.observe(keyPaths: paths, on: queue) { (change: ObjectChange<Root>) in
            switch change {
            case .change(let object, let properties):
                let changes = properties.flatMap { property in
                    fields.filter { $0.first == property.name }.map { field in
                        field.path == property.name
                            ? PropertyChange(
                                name: field.name, oldValue: property.oldValue,
                                newValue: property.newValue)
                            : PropertyChange(
                                name: field.name, oldValue: nil,
                                newValue: (object as Any)[keyPath: field.keyPath])
                    }
                }
                if !changes.isEmpty { block(.change(Self(projecting: object), changes)) }
            case .deleted: block(.deleted)
            case .error(let error): block(.error(error))
            }
        }
    }

    /// The same on an actor.
    public func observe<A: Actor>(
        keyPaths: [String]? = nil, on actor: A, _isolation: isolated (any Actor)? = #isolation,
        _ block: @Sendable @escaping (isolated A, ObjectChange<Self>) -> Void
    ) async -> NotificationToken {
        await Observing.observe(
            rootObject, on: actor, _isolation: _isolation, block
        ) { there, tell in
            Self(projecting: there).observe(keyPaths: keyPaths, tell)
        }
    }
}

extension ProjectionObservable where Self: _KeyPathRoot {
    /// The same with key paths: `observe(keyPaths: [\.name])`.
    public func observe(
        keyPaths: [PartialKeyPath<Self>], on queue: DispatchQueue? = nil,
        _ block: @escaping (ObjectChange<Self>) -> Void
    ) -> NotificationToken {
        observe(keyPaths: keyPaths.map { KeyPathNames.name($0) }, on: queue, block)
    }

    /// The same on an actor.
    public func observe<A: Actor>(
        keyPaths: [PartialKeyPath<Self>], on actor: A,
        _isolation: isolated (any Actor)? = #isolation,
        _ block: @Sendable @escaping (isolated A, ObjectChange<Self>) -> Void
    ) async -> NotificationToken {
        await observe(keyPaths: keyPaths.map { KeyPathNames.name($0) }, on: actor, block)
    }
}
