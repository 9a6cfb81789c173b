// Conditions on what no realm manages: `index(matching:)` of lists and sets in memory. The elements are copied, with
// all that they lead to, into a realm in memory that lives as long as the question, and the engine answers there: so a
// condition means the same for them as for stored ones. Elements that a realm manages are asked for there.

import CoreSwift
import Foundation

extension RealmCollection {
    /// The position of the first element that a condition finds, of a collection that no realm manages.
    func firstInMemory(_ find: (Results<Element>) -> Results<Element>) -> Int? {
        let elements = Array(self)
        var isManaged: [Bool] = []
        var managed: [ManagedElements<Element>] = []
        var plain: [Element] = []
        for element in elements {
            let object = RealmSwift.object(element)
            guard let object, let session = object.session, let handle = object.handle else {
                isManaged.append(false)
                plain.append(element)
                continue
            }
            object._rlmCheckValid()
            isManaged.append(true)
            if !managed.contains(where: { $0.session === session }) {
                let all = engine(.query, try session.core.results(handle.classKey))
                let found = find(Results(all, session))
                managed.append(ManagedElements(session: session, found: found))
            }
        }
        var matches = Set<Int>()
        if !plain.isEmpty {
            let copies = MemoryCopies(plain, Element._rlmShape)
            matches = copies.matches(plain, find)
            copies.close()
        }
        var next = 0
        for (index, element) in elements.enumerated() {
            if isManaged[index] {
                guard let object = RealmSwift.object(element) else { continue }
                if managed.contains(where: { $0.has(object) }) { return index }
            } else {
                if matches.contains(next) { return index }
                next += 1
            }
        }
        return nil
    }
}

/// What a condition finds in one realm.
private struct ManagedElements<Element: RealmCollectionValue> {
    let session: _RealmSession
    let found: Results<Element>

    func has(_ object: ObjectBase) -> Bool {
        guard object.session === session, let handle = object.handle else { return false }
        return engine(.query, try (found.core as? EngineResults)?.find(handle.objectKey) != nil)
    }
}

/// A realm in memory with copies of objects and of what these lead to. Its classes have no primary keys, so that two
/// objects may have the same one.
final class MemoryCopies {
    private let session: _RealmSession
    /// The objects that are copied, in the order in which they were found.
    private var originals: [ObjectBase] = []
    private var copies: [Identity: ObjectBase] = [:]

    private static let holder = "RealmSwiftElements"

    /// What tells objects apart: accessors of one object are many.
    private enum Identity: Hashable {
        case instance(ObjectIdentifier)
        case stored(ObjectIdentifier, ClassKey, ObjectKey)

        init(_ object: ObjectBase) {
            if let handle = object.handle, let session = object.session {
                self = .stored(ObjectIdentifier(session), handle.classKey, handle.objectKey)
            } else {
                self = .instance(ObjectIdentifier(object))
            }
        }
    }

    /// With what elements of a shape lead to.
    init<Element>(_ elements: [Element], _ shape: _PropertyShape) {
        var seen: Set<Identity> = []
        var types = shape.target.map { [$0] } ?? []
        var work: [ObjectBase] = elements.flatMap { Self.objects(in: $0) }.reversed()
        while let object = work.popLast() {
            guard seen.insert(Identity(object)).inserted else { continue }
            originals.append(object)
            let info = object.classInfo
            types.append(info.type)
            for property in info.stored where property.shape.isLink || property.shape.type == .mixed
            {
                let value = property.wrapper.get(object, ClassInfo.address(object, property))
                work += Self.objects(in: value)
            }
        }
        let infos = Self.closed(types)
        var schemas = infos.map { Self.withoutKeys($0.schema) }
        let target = shape.target.map { ClassInfo.of($0).name } ?? ""
        let isNullable = shape.isOptional && !shape.isLink || shape.type == .mixed
        schemas.append(
            ClassSchema(
                Self.holder,
                properties: [
                    PropertySchema(
                        "elements", shape.type, collection: .list, linkTarget: target,
                        flags: isNullable ? .nullable : [])
                ]))
        let path = FileManager.default.temporaryDirectory
            .appendingPathComponent("\(UUID().uuidString).inmemory.realm").path
        let core = engine(.realm) { () throws(RealmError) in
            var configuration = EngineConfiguration(path: path)
            configuration.schema = EngineSchema(schemas)
            configuration.schemaVersion = 0
            configuration.isInMemory = true
            return try EngineRealm.open(configuration)
        }
        // Nobody else is to find it, and it is gone with the process, whatever ends that.
        for suffix in ["", ".lock"] { unlink(path + suffix) }
        session = _RealmSession(core, Realm.Configuration(), nil, infos)
        session.copies = self
        engine(.realm, try core.beginWrite())
        for object in originals where !(object is EmbeddedObject) {
            let handle = engine(
                .realm, try core.createObject(session.binding(type(of: object)).classKey))
            copies[Identity(object)] = session.accessor(handle, ObjectBase.self)
        }
        for object in originals { if let copy = copy(of: object) { fill(copy, from: object) } }
    }

    /// The realm goes.
    func close() {
        session.copies = nil
        copies = [:]
        session.core.close()
    }

    /// The copy of an object; nil of others, and of embedded ones, which are copied with what they belong to.
    func copy(of object: ObjectBase) -> ObjectBase? { copies[Identity(object)] }

    /// The places of those elements that a condition finds.
    func matches<Element: RealmCollectionValue>(
        _ elements: [Element], _ find: (Results<Element>) -> Results<Element>
    ) -> Set<Int> {
        let holder = session.binding(named: Self.holder)
        let handle = engine(.realm, try session.core.createObject(holder.classKey))
        let object = session.accessor(handle, DynamicObject.self)
        let list = List<Element>(
            .managed(_ManagedCollection(object, holder.key("elements").key, .list)))
        for element in elements { list.append(translated(element) as? Element ?? element) }
        let found = find(list._rlmResults)
        return engine(.query) { () throws(RealmError) in
            var places: Set<Int> = []
            guard let results = found.core as? EngineResults else {
                let values = Set(found)
                for (index, element) in elements.enumerated() where values.contains(element) {
                    places.insert(index)
                }
                return places
            }
            var keys: Set<ObjectKey> = []
            for index in 0..<(try results.count()) {
                keys.insert(try results.get(index).linkTarget)
            }
            let all = list._rlmResults.source
            for index in elements.indices where keys.contains(all.raw(index).linkTarget) {
                places.insert(index)
            }
            return places
        }
    }

    // MARK: Copying

    private func fill(_ copy: ObjectBase, from object: ObjectBase) {
        for property in object.classInfo.stored {
            let value = property.wrapper.get(object, ClassInfo.address(object, property))
            let isLink = property.shape.isLink || property.shape.type == .mixed
            _ = property.wrapper.set(
                copy, ClassInfo.address(copy, property), isLink ? translated(value) : value)
        }
    }

    /// A value with the copies of the objects in it.
    private func translated(_ value: Any) -> Any {
        if let mixed = value as? AnyRealmValue {
            switch mixed {
            case .object(let object):
                return (copy(of: object) as? Object).map { AnyRealmValue.object($0) } ?? .none
            case .list(let list):
                return AnyRealmValue.fromArray(
                    list.map { translated($0) as? AnyRealmValue ?? .none })
            case .dictionary(let map):
                let entries = map.map { ($0.key, translated($0.value) as? AnyRealmValue ?? .none) }
                return AnyRealmValue.fromDictionary(
                    Dictionary(entries, uniquingKeysWith: { first, _ in first }))
            default: return mixed
            }
        }
        if let object = RealmSwift.object(value) {
            if let copy = copy(of: object) { return copy }
            guard object is EmbeddedObject else { return value }
            let embedded = type(of: object).init()
            fill(embedded, from: object)
            return embedded
        }
        switch (value as? any _AssignableCollection)?._rlmContent {
        case let values as [String: Any]: return values.mapValues { translated($0) }
        case let values as [Any]: return values.map { translated($0) }
        default: return value
        }
    }

    /// The objects that a value is, or that are in it.
    private static func objects(in value: Any) -> [ObjectBase] {
        if let object = RealmSwift.object(value) { return [object] }
        if let mixed = value as? AnyRealmValue {
            return mixed.content.map { objects(in: $0) } ?? []
        }
        switch (value as? any _AssignableCollection)?._rlmContent {
        case let values as [String: Any]: return values.values.flatMap { objects(in: $0) }
        case let values as [Any]: return values.flatMap { objects(in: $0) }
        default: return []
        }
    }

    // MARK: Classes

    /// Classes with those that their properties lead to.
    private static func closed(_ types: [ObjectBase.Type]) -> [ClassInfo] {
        var infos: [ClassInfo] = []
        var seen: Set<ObjectIdentifier> = []
        var work = types
        while let type = work.popLast() {
            guard seen.insert(ObjectIdentifier(type)).inserted else { continue }
            let info = ClassInfo.of(type)
            if let problem = info.problem { misuse(problem) }
            infos.append(info)
            work += info.properties.compactMap { $0.shape.target }
        }
        return infos
    }

    private static func withoutKeys(_ schema: ClassSchema) -> ClassSchema {
        var schema = schema
        schema.primaryKey = ""
        for index in schema.properties.indices {
            schema.properties[index].flags.subtract([.primaryKey, .indexed])
        }
        return schema
    }
}
