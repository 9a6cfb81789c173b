// What changes touch: by it undoing knows before it changes anything whether all is as the studio left it. Applying takes
// positions and links as they are, and must not be asked to where they are of another state.

import CoreSwift

extension StudioFile {
    /// A property of an object.
    struct Place: Hashable {
        var class_: ClassKey
        var object: ObjectKey
        var property: PropertyKey
    }

    /// Hashes of what is in places; nil where the object is not there.
    typealias Contents = [Place: Int?]

    /// All that changes set: values, collections as a whole, all properties of objects that come or go.
    static func places(of changes: [UInt8], _ realm: Realm) throws -> Set<Place> {
        var places: Set<Place> = []
        try realm.readChanges(changes) { operation in
            let properties: [PropertyKey]
            switch operation.kind {
            case .version, .schemaChanged, .element: return true
            case .created, .deleted:
                properties = realm.schema.class_(operation.classKey)?.properties.map(\.key) ?? []
            default: properties = [operation.property]
            }
            for number in operation.firstObject.rawValue...operation.lastObject.rawValue {
                for property in properties {
                    places.insert(
                        Place(
                            class_: operation.classKey, object: ObjectKey(rawValue: number),
                            property: property))
                }
            }
            return true
        }
        return places
    }

    static func contents(of places: some Sequence<Place>, _ realm: Realm) throws -> Contents {
        var contents: Contents = [:]
        for place in places {
            guard let class_ = realm.schema.class_(place.class_),
                let property = class_.properties.first(where: { $0.key == place.property }),
                let object = try realm.findObject(place.class_, place.object)
            else {
                contents.updateValue(nil, forKey: place)
                continue
            }
            defer { object.release() }
            contents.updateValue(
                try Self.contents(of: property, object, realm).hashValue, forKey: place)
        }
        return contents
    }

    /// Whether all objects are there that changes which were applied link to.
    static func hasTargets(of changes: [UInt8], _ realm: Realm) throws -> Bool {
        var links: Set<Link> = []
        try realm.readChanges(changes) { operation in
            switch operation.kind {
            case .set, .inserted, .replaced, .element:
                if case .link(let link)? = try? Value(operation.value) { links.insert(link) }
            default: break
            }
            return true
        }
        for link in links {
            guard let object = try realm.findObject(link.classKey, link.objectKey) else {
                return false
            }
            object.release()
        }
        return true
    }
}
