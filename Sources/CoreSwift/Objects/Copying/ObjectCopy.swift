// Copying objects with everything that they link to and contain into another realm, or within their
// own. Merging realms (Database/Realm+Merge) is the same with another scope. Copying into a new file,
// which is by blocks, is Database/Realm+Copy.
//
// Three passes: walk the graph, match its classes and find what is there already (nothing is written
// up to here, so a class or property that the target lacks leaves no trace); make the rows; fill
// them. The walk keeps a queue, not the stack: chains of links are as long as the file allows. Since
// all rows are there before the first is filled, cycles need no care.
//
// Objects with a primary key have one counterpart per key, others always become new ones. Within
// one file, objects that the root links to and that have a primary key are linked to, not copied:
// they are their own counterparts.

/// Which objects a copy takes over.
enum CopyScope {
    /// The root and all that can be reached from it.
    case graph
    /// Those that are asked for. Objects that they link to have primary keys; the ones that the
    /// target lacks are made there, and stay empty until they are asked for.
    case objects
}

struct ObjectCopy {
    /// A class of the source and what it is in the target.
    private struct Match {
        let source: ClassSchema
        let target: CreationClass
        /// By property of the target; nil for those that the source lacks.
        let properties: [PropertySchema?]
        let primaryKey: PropertySchema?
        /// Properties that the source lacks and that have a default.
        let defaults: [Int]
    }
    private struct Entry {
        let classKey: ClassKey
        let key: ObjectKey
        /// Key of the counterpart in the target, once it is there.
        var counterpart: ObjectKey?
        var isFilled = true
        var wasCreated = false
    }

    private let source: Realm
    /// The classes of the source that are copied.
    private let schema: Schema
    private let target: Realm
    private let policy: UpdatePolicy
    private let scope: CopyScope
    private var matches: [ClassKey: Match] = [:]
    private var entries: [Entry] = []
    private var places: [Link: Int] = [:]
    private let creation: Creation

    init(
        _ source: Realm, schema: Schema? = nil, into target: Realm, _ policy: UpdatePolicy,
        _ scope: CopyScope = .graph
    ) {
        self.source = source
        self.schema = schema ?? source.schema
        self.target = target
        self.policy = policy
        self.scope = scope
        creation = Creation(target, policy, ignoresUnknown: false)
    }

    /// How many properties and elements were written; for tests.
    var writtenCount: Int { creation.writtenCount }

    /// Copies the object; returns the key of its counterpart and its class in the target.
    mutating func run(_ object: ObjectHandle) throws(RealmError) -> (ClassKey, ObjectKey) {
        guard schema.class_(object.classKey)?.kind != .embedded else {
            throw RealmError(
                .illegalOperation,
                "embedded objects are copied with their owner, not on their own")
        }
        _ = try object.row()
        try run([Link(object.classKey, object.objectKey)])
        guard let match = matches[object.classKey], let key = entries[0].counterpart else {
            throw RealmError(.unknown, "copying gave no object")
        }
        return (match.target.key, key)
    }

    /// Copies these objects, of which none is embedded.
    mutating func run(_ roots: [Link]) throws(RealmError) {
        _ = try target.tablesForWriting()
        entries.removeAll(keepingCapacity: true)
        places.removeAll(keepingCapacity: true)
        try gather(roots)
        let target = target
        try target.atomically { () throws(RealmError) in
            defer { creation.endEmbedded() }
            try createRows()
            for index in entries.indices where entries[index].isFilled { try fill(index) }
        }
    }

    // MARK: Walking

    private mutating func gather(_ roots: [Link]) throws(RealmError) {
        for root in roots { try note(root, isRoot: true) }
        var next = 0
        while next < entries.count {
            if entries[next].isFilled {
                let object = try source.object(entries[next].classKey, entries[next].key)
                defer { object.release() }
                try walk(object)
            }
            next += 1
        }
    }

    /// Notes the objects that one links to, and those in its embedded objects. Embedded objects are
    /// nested no deeper than there are classes.
    private mutating func walk(_ object: ObjectHandle) throws(RealmError) {
        let match = try match(object.classKey)
        for property in match.properties {
            guard let property, property.type == .object || property.type == .mixed else {
                continue
            }
            try walk(try object.content(property.key, property.collection))
        }
    }

    private mutating func walk(_ content: StoredContent) throws(RealmError) {
        switch content {
        case .value(let value): try reach(value)
        case .collection(let collection):
            for index in 0..<(try collection.count()) { try walk(try collection.content(index)) }
        }
    }

    private mutating func reach(_ value: RawValue) throws(RealmError) {
        guard !value.isNull, value.type == ValueType.link.rawValue else { return }
        if try match(value.linkClass).source.kind == .embedded {
            let child = try source.object(value.linkClass, value.linkTarget)
            defer { child.release() }
            try walk(child)
        } else {
            try note(Link(value.linkClass, value.linkTarget), isRoot: false)
        }
    }

    /// An object that gets a counterpart.
    private mutating func note(_ link: Link, isRoot: Bool) throws(RealmError) {
        guard places[link] == nil else { return }
        let match = try match(link.classKey)
        var entry = Entry(classKey: link.classKey, key: link.objectKey)
        entry.isFilled = isRoot || scope == .graph
        if let primaryKey = match.primaryKey {
            let object = try source.object(link.classKey, link.objectKey)
            defer { object.release() }
            let value = try object.value(primaryKey.key)
            let found = try target.findObject(match.target.key, primaryKey: value)
            entry.counterpart = found?.objectKey
            found?.release()
            if entry.counterpart != nil {
                if source.file === target.file, !isRoot {
                    entry.isFilled = false
                } else if policy == .never {
                    throw RealmError(
                        .objectAlreadyExists,
                        "can't copy: class \(match.target.name) has an object with primary key "
                            + "\(ValueTree.value(try Value(value)).summary) already; an update "
                            + "policy lets it be updated")
                }
            }
        }
        places[link] = entries.count
        entries.append(entry)
    }

    // MARK: Classes

    /// The class in the target; throws `.schemaMismatch` when it lacks something.
    private mutating func match(_ classKey: ClassKey) throws(RealmError) -> Match {
        if let known = matches[classKey] { return known }
        guard let mine = schema.class_(classKey) else {
            throw RealmError(
                .noSuchTable, "'\(source.path)' shows no class with key \(classKey)")
        }
        guard let found = target.schema.class_(named: mine.name), found.key != .invalid else {
            throw RealmError(
                .schemaMismatch,
                "can't copy: '\(target.path)' has no class '\(mine.name)'")
        }
        let other = try target.creationClass(found.key)
        guard mine.kind == found.kind,
            mine.primaryKeyProperty?.name == found.primaryKeyProperty?.name
        else {
            throw RealmError(
                .schemaMismatch,
                "can't copy: class \(mine.name) is \(mine.kind.name) with "
                    + "\(Self.keyText(mine)) here and \(found.kind.name) with "
                    + "\(Self.keyText(found)) in '\(target.path)'")
        }
        var properties = [PropertySchema?](repeating: nil, count: other.properties.count)
        for property in mine.properties where property.key != .invalid {
            guard let place = other.properties.firstIndex(where: { $0.name == property.name })
            else {
                throw RealmError(
                    .schemaMismatch,
                    "can't copy: '\(target.path)' has no property \(mine.name).\(property.name)")
            }
            try Self.check(property, other.properties[place].schema, mine.name)
            properties[place] = property
        }
        var defaults: [Int] = []
        for (place, property) in other.properties.enumerated() where properties[place] == nil {
            if property.hasDefault {
                try creation.checkDefault(other, place)
                defaults.append(place)
            } else if scope == .graph, !property.isNullable && property.collection == .none {
                throw RealmError(
                    .missingPropertyValue,
                    "can't copy: \(mine.name).\(property.name) is \(property.typeDescription) "
                        + "without default in '\(target.path)', and not there in the original")
            }
        }
        let match = Match(
            source: mine, target: other, properties: properties,
            primaryKey: mine.primaryKeyProperty, defaults: defaults)
        matches[classKey] = match
        return match
    }

    private static func keyText(_ schema: ClassSchema) -> String {
        schema.primaryKeyProperty.map { "the primary key \($0.name)" } ?? "no primary key"
    }

    private static func check(
        _ mine: PropertySchema, _ other: PropertySchema, _ owner: String
    ) throws(RealmError) {
        var wanted = mine
        wanted.flags = other.flags
        guard wanted.typeDescription == other.typeDescription,
            other.isNullable || !mine.isNullable
        else {
            throw RealmError(
                .schemaMismatch,
                "can't copy: \(owner).\(mine.name) is \(mine.typeDescription) here and "
                    + "\(other.typeDescription) there")
        }
    }

    // MARK: Writing

    private mutating func createRows() throws(RealmError) {
        for index in entries.indices where entries[index].counterpart == nil {
            let match = try match(entries[index].classKey)
            let handle: ObjectHandle
            if let primaryKey = match.primaryKey {
                let object = try source.object(entries[index].classKey, entries[index].key)
                defer { object.release() }
                handle = try target.createObject(
                    match.target.key, primaryKey: try object.value(primaryKey.key))
            } else {
                handle = try target.createObject(match.target.key)
            }
            entries[index].counterpart = handle.objectKey
            entries[index].wasCreated = true
            handle.release()
        }
    }

    private mutating func fill(_ index: Int) throws(RealmError) {
        let entry = entries[index]
        guard let key = entry.counterpart else { return }
        let match = try match(entry.classKey)
        let object = try source.object(entry.classKey, entry.key)
        defer { object.release() }
        // The object first, and then the embedded ones in it.
        creation.restart()
        try plan(object, match, existing: key)
        if entry.wasCreated {
            for place in match.defaults { try creation.planDefault(0, place) }
        }
        let handle = try target.object(match.target.key, key)
        defer { handle.release() }
        try creation.fill(handle, 0, isNew: entry.wasCreated)
        try creation.fillEmbedded()
    }

    /// What the counterpart of an object will hold, as the next planned object.
    @discardableResult
    private mutating func plan(
        _ object: ObjectHandle, _ match: Match, existing: ObjectKey?
    ) throws(RealmError) -> Int {
        let index = creation.objects.count
        creation.objects.append(
            PlannedObject(match.target, existing: existing, CreationSite(owner: match.target)))
        for (place, property) in match.properties.enumerated() {
            guard let property, place != match.target.primaryKey else { continue }
            let content = try content(object, property, index, place)
            creation.objects[index].contents[place] = content
        }
        if existing == nil {
            for place in match.defaults { try creation.planDefault(index, place) }
        }
        return index
    }

    private mutating func content(
        _ object: ObjectHandle, _ property: PropertySchema, _ owner: Int, _ place: Int
    ) throws(RealmError) -> PlannedContent {
        let site = CreationSite(owner: creation.objects[owner].class_, property: place)
        return try content(try object.content(property.key, property.collection), owner, site)
    }

    private mutating func content(
        _ content: StoredContent, _ owner: Int, _ site: CreationSite
    ) throws(RealmError) -> PlannedContent {
        let collection: RealmCollection
        switch content {
        case .value(let raw): return try self.content(raw, owner, site)
        case .collection(let found): collection = found
        }
        var site = site
        var list: [PlannedContent] = []
        var dictionary: [(key: String, value: PlannedContent)] = []
        let isDictionary = collection.type == .dictionary
        for index in 0..<(try collection.count()) {
            if isDictionary {
                site.key = try Self.text(try collection.key(index))
            } else {
                site.index = index
            }
            let content = try self.content(try collection.content(index), owner, site)
            if isDictionary {
                dictionary.append((site.key ?? "", content))
            } else {
                list.append(content)
            }
        }
        return isDictionary ? .dictionary(dictionary) : .list(list)
    }

    private static func text(_ raw: RawValue) throws(RealmError) -> String {
        guard case .string(let text) = try Value(raw) else { return "" }
        return text
    }

    private mutating func content(
        _ raw: RawValue, _ owner: Int, _ site: CreationSite
    ) throws(RealmError) -> PlannedContent {
        guard case .link(let link) = try Value(raw) else { return .value(try Value(raw)) }
        let match = try match(link.classKey)
        if match.source.kind == .embedded {
            let child = try source.object(link.classKey, link.objectKey)
            defer { child.release() }
            let existing = policy == .modified ? try creation.current(owner, site) : nil
            return .embedded(try plan(child, match, existing: existing))
        }
        guard let place = places[link], let key = entries[place].counterpart else {
            throw RealmError(.unknown, "copying met a link that its walk had not met")
        }
        return .value(.link(Link(match.target.key, key)))
    }
}

extension ObjectHandle {
    /// Copies the object, and all that it links to, into a realm that is in a write transaction;
    /// also its own. Every object is copied once, whatever cycles there are. Objects with a primary
    /// key that the target has are treated as `update` says; within one file those that are linked
    /// to stay as they are. Properties that only the target has take their defaults.
    /// `.schemaMismatch` when the target lacks a class or property, or has another type for it;
    /// nothing is written then.
    ///
    /// Returns a handle in the target. Complexity: linear in the objects and values reached.
    package func copy(to target: Realm, update: UpdatePolicy = .never) throws(RealmError)
        -> ObjectHandle
    {
        var copy = ObjectCopy(realm, into: target, update)
        let (classKey, key) = try copy.run(self)
        return try target.object(classKey, key)
    }
}

extension DynamicObject {
    /// As `ObjectHandle.copy(to:update:)`.
    package func copy(to target: Realm, update: UpdatePolicy = .never) throws(RealmError)
        -> DynamicObject
    {
        DynamicObject(try handle.copy(to: target, update: update))
    }
}
