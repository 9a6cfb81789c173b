// Creation from value nodes: what bindings have made of their own objects. Properties are named by
// key and values have their types, so nothing is looked up by name or converted; texts are borrowed.
// Values that become objects, or go into one that is there, or to a place in a collection.
//
// Two passes over the nodes in their order: the first finds out which objects they describe (owners
// come before what they contain), so that the second can plan what all of these hold, whatever cycles
// their references make. Then `Creation` writes.

/// Where the value of an array of nodes goes.
package enum NodeTarget {
    /// Becomes an object of this class.
    case newObject(Realm, ClassKey)
    /// Its properties are taken over by this object.
    case object(ObjectHandle)
    /// Is inserted before an element of a list, or replaces one.
    case element(RealmCollection, Int, isInsertion: Bool)
    /// Is added to a set.
    case member(RealmCollection)
    /// Becomes the value of a key.
    case entry(RealmCollection, RawValue)

    fileprivate var realm: Realm {
        switch self {
        case .newObject(let realm, _): return realm
        case .object(let handle): return handle.realm
        case .element(let collection, _, _), .member(let collection), .entry(let collection, _):
            return collection.realm
        }
    }
}

package struct NodeCreation {
    private let target: NodeTarget
    private let realm: Realm
    private var nodes: ValueNodes
    private let creation: Creation
    /// Nodes that describe an object which another one described before: their defaults don't count.
    private var repeated: Set<Int> = []

    /// `policy` is for the objects that the nodes describe and that are there.
    package init(
        _ target: NodeTarget, _ nodes: UnsafeBufferPointer<ValueNode>, _ policy: UpdatePolicy
    ) throws(RealmError) {
        self.target = target
        realm = target.realm
        self.nodes = try ValueNodes(nodes)
        creation = Creation(realm, policy, ignoresUnknown: false)
    }

    /// Writes the value to its target. `keys`, one per node, get the keys of the objects that the
    /// nodes describe, and -1 for others. Nothing changes on failure.
    package mutating func run(_ keys: UnsafeMutablePointer<ObjectKey>?) throws(RealmError) {
        // Before the transaction, as where a single value is inserted.
        if case .entry(let dictionary, let key) = target {
            try dictionary.check(key: key, takesAny: true)
        }
        if let keys { keys.update(repeating: .invalid, count: nodes.count) }
        _ = try realm.tablesForWriting()
        switch target {
        case .newObject(_, let key): try create(try realm.creationClass(key))
        case .object(let handle): try update(handle)
        case .element(let list, let index, let isInsertion):
            try put(.element(list, index, isInsertion: isInsertion), of: list, index: index)
        case .member(let set): try put(.member(set), of: set)
        case .entry(let dictionary, let key):
            let key = try Self.text(key)
            try put(.entry(dictionary, key), of: dictionary, key: key)
        }
        guard let keys else { return }
        for node in 0..<nodes.count where nodes.object(node) >= 0 {
            keys[node] = creation.objects[nodes.object(node)].existing ?? .invalid
        }
    }

    /// A handle of the object that the root describes, once it is there.
    package func takeRoot() throws(RealmError) -> ObjectHandle { try creation.takeRoot() }

    // MARK: Targets

    private mutating func create(_ class_: CreationClass) throws(RealmError) {
        let site = CreationSite(owner: class_)
        try class_.checkIsCreatable()
        guard nodes[0].kind == .object else { throw mismatch(0, site, "an object") }
        try describe(0, class_, site)
        try describeAll()
        try planAll()
        try creation.write()
    }

    private mutating func update(_ handle: ObjectHandle) throws(RealmError) {
        _ = try handle.row()
        let class_ = try realm.creationClass(handle.classKey)
        let site = CreationSite(owner: class_)
        guard nodes[0].kind == .object else { throw mismatch(0, site, "an object") }
        // Written first and by its handle, as embedded objects are: not one of those described.
        let object = creation.add(
            PlannedObject(class_, existing: handle.objectKey, isDescribed: false, site))
        nodes.note(0, object: object)
        try describeAll()
        try planAll()
        try creation.write { creation throws(RealmError) in
            try creation.fill(handle, 0, isNew: false)
        }
    }

    private mutating func put(
        _ place: ContentPlace, of collection: RealmCollection, index: Int? = nil,
        key: String? = nil
    ) throws(RealmError) {
        _ = try collection.count()
        let owner = try realm.creationClass(collection.classKey)
        guard let number = owner.property(collection.propertyKey, near: 0) else {
            throw RealmError(
                .invalidProperty, "\(owner.name) has no property \(collection.propertyKey)")
        }
        let site = CreationSite(owner: owner, property: number, index: index, key: key)
        let property = owner.properties[number]
        try describe(0, for: property, site, embedded: nil)
        try describeAll()
        let content = try element(0, property, site, depth: collection.depth)
        try planAll()
        try creation.write { creation throws(RealmError) in
            try creation.put(content, place, spares: false)
        }
    }

    // MARK: Describing

    /// Finds out about the objects in all that was described, owners first.
    private mutating func describeAll() throws(RealmError) {
        for node in 0..<nodes.count where nodes.object(node) >= 0 {
            let owner = nodes.object(node)
            let class_ = creation.objects[owner].class_
            if !class_.holdsObjects { continue }
            for (position, child) in nodes.children(node).enumerated() {
                let place = try property(child, class_, near: position)
                guard class_.properties[place].type == .object, counts(child, of: node) else {
                    continue
                }
                try describe(child, of: owner, place)
            }
        }
    }

    /// Whether what a node says of an object is to be taken over.
    private func counts(_ child: Int, of node: Int) -> Bool {
        if nodes[child].flags & ValueNode.isDefault == 0 { return true }
        return creation.objects[nodes.object(node)].isNew
            && (repeated.isEmpty || !repeated.contains(node))
    }

    private func property(
        _ node: Int, _ class_: CreationClass, near position: Int
    ) throws(RealmError) -> Int {
        let key = nodes[node].property
        guard let place = class_.property(key, near: position) else {
            throw RealmError(
                .invalidProperty, "class \(class_.name) has no property with key \(key)")
        }
        return place
    }

    /// The objects in a property for objects, also when it is a collection.
    private mutating func describe(
        _ node: Int, of owner: Int, _ place: Int
    ) throws(RealmError) {
        let property = creation.objects[owner].class_.properties[place]
        var site = CreationSite(owner: creation.objects[owner].class_, property: place)
        let updates = creation.policy == .modified
        guard property.collection != .none else {
            return try describe(
                node, for: property, site,
                embedded: updates ? try creation.current(owner, site) : nil)
        }
        for (index, child) in nodes.children(node).enumerated() where nodes[child].kind == .object {
            if property.collection == .dictionary {
                site.key = try Self.text(nodes[child].key)
            } else {
                site.index = index
            }
            try describe(
                child, for: property, site,
                embedded: updates ? try creation.current(owner, site) : nil)
        }
    }

    /// The object in a place for one. `embedded`: the one that is there and would be updated.
    private mutating func describe(
        _ node: Int, for property: CreationProperty, _ site: CreationSite, embedded: ObjectKey?
    ) throws(RealmError) {
        guard nodes[node].kind == .object, property.type == .object else { return }
        let target = try realm.creationClass(for: property)
        guard target.isEmbedded else { return try describe(node, target, site) }
        let object = creation.add(PlannedObject(target, existing: embedded, site))
        nodes.note(node, object: object)
    }

    private mutating func describe(
        _ node: Int, _ class_: CreationClass, _ site: CreationSite
    ) throws(RealmError) {
        guard let place = class_.primaryKey else {
            let object = creation.add(PlannedObject(class_, site))
            return nodes.note(node, object: object)
        }
        let property = class_.properties[place]
        let given = nodes.children(node).first { nodes[$0].property == property.key }
        guard let given else {
            throw RealmError(
                .missingPrimaryKey,
                "creating \(class_.name) needs a value for its primary key \(property.name)")
        }
        guard nodes[given].kind == .value else {
            throw mismatch(given, class_.keySite, property.typeDescription)
        }
        try check(nodes[given].value, property, class_.keySite)
        let key = try Value(nodes[given].value)
        let count = creation.objects.count
        let object = try creation.find(
            key, class_, site, isDescribed: true,
            isAlone: nodes.hasOneObject && !class_.hasDefaultObjects)
        nodes.note(node, object: object)
        guard object < count else { return }
        if creation.policy == .never { throw creation.isTaken(key, class_) }
        repeated.insert(node)
    }

    // MARK: Planning

    private mutating func planAll() throws(RealmError) {
        for node in 0..<nodes.count where nodes.object(node) >= 0 {
            let object = nodes.object(node)
            let class_ = creation.objects[object].class_
            // Taken out while they are filled, so that they are the only copy.
            var contents: [PlannedContent?] = []
            swap(&contents, &creation.objects[object].contents)
            var site = CreationSite(owner: class_)
            for (position, child) in nodes.children(node).enumerated() {
                let place = try property(child, class_, near: position)
                guard place != class_.primaryKey, counts(child, of: node) else { continue }
                site.property = place
                contents[place] = try content(child, class_.properties[place], site)
            }
            swap(&contents, &creation.objects[object].contents)
        }
        try creation.complete()
    }

    /// What goes into a property.
    private func content(
        _ node: Int, _ property: CreationProperty, _ site: CreationSite
    ) throws(RealmError) -> PlannedContent {
        if property.collection == .none { return try element(node, property, site, depth: 0) }
        guard nodes[node].kind == (property.collection == .dictionary ? .dictionary : .list) else {
            throw mismatch(node, site, property.typeDescription)
        }
        return try elements(node, property, site, depth: 1, isNested: false)
    }

    /// A list or dictionary: the property's own, or one in a mixed value; those are not deeper than they can be
    /// nested. `depth`: collections around its elements.
    private func elements(
        _ node: Int, _ property: CreationProperty, _ site: CreationSite, depth: Int,
        isNested: Bool
    ) throws(RealmError) -> PlannedContent {
        // Of what is nested, messages name the element of the property that it is in.
        var site = site
        if nodes[node].kind == .list {
            var result: [PlannedContent] = []
            result.reserveCapacity(nodes[node].childCount)
            for (index, child) in nodes.children(node).enumerated() {
                if !isNested { site.index = index }
                result.append(try element(child, property, site, depth: depth))
            }
            return .list(result)
        }
        var result: [(key: String, value: PlannedContent)] = []
        result.reserveCapacity(nodes[node].childCount)
        for child in nodes.children(node) {
            let key = try key(child, site)
            // Dictionaries in mixed values take every text for a key.
            if !isNested {
                try creation.checkKey(key, site)
                site.key = key
            }
            result.append((key, try element(child, property, site, depth: depth)))
        }
        return .dictionary(result)
    }

    /// A single value. `depth`: collections around it.
    private func element(
        _ node: Int, _ property: CreationProperty, _ site: CreationSite, depth: Int
    ) throws(RealmError) -> PlannedContent {
        switch nodes[node].kind {
        case .value:
            try check(nodes[node].value, property, site)
            return .raw(nodes[node].value)
        case .object where nodes.object(node) >= 0:
            let object = nodes.object(node)
            return creation.objects[object].class_.isEmbedded ? .embedded(object) : .object(object)
        case .reference: return .object(try referenced(node, property, site))
        case .list, .dictionary:
            guard property.type == .mixed else {
                throw mismatch(node, site, property.typeDescription)
            }
            try site.checkNesting(depth, isInSet: property.collection == .set)
            return try elements(node, property, site, depth: depth + 1, isNested: true)
        case .object, nil: throw mismatch(node, site, property.typeDescription)
        }
    }

    /// The object that a reference leads to.
    private func referenced(
        _ node: Int, _ property: CreationProperty, _ site: CreationSite
    ) throws(RealmError) -> Int {
        let target = nodes[node].value
        guard target.type == ValueType.int.rawValue, target.intValue >= 0,
            target.intValue < Int64(nodes.count), nodes.object(Int(target.intValue)) >= 0
        else {
            throw RealmError(
                .noSuchObject, "\(site.description): node \(node) refers to none that is an object")
        }
        let object = nodes.object(Int(target.intValue))
        let class_ = creation.objects[object].class_
        guard !class_.isEmbedded, property.type == .mixed || property.linkTarget == class_.name
        else {
            throw RealmError(
                .propertyTypeMismatch,
                "\(site.description) takes \(property.typeDescription), got a reference to one of "
                    + "class \(class_.name)")
        }
        return object
    }

    // MARK: Checks

    /// Whether a property, or a collection in one, takes a single value; links must lead somewhere.
    private func check(
        _ value: RawValue, _ property: CreationProperty, _ site: CreationSite
    ) throws(RealmError) {
        if value.isNull { return try site.checkNull(property) }
        let wanted = property.type == .mixed ? value.type : property.type.valueType?.rawValue
        guard value.type == wanted, value.type <= ValueType.uuid.rawValue else {
            throw RealmError(
                .propertyTypeMismatch,
                "\(site.description) takes \(property.typeDescription), got a value of type "
                    + (ValueType(rawValue: value.type).map { "\($0)" } ?? "\(value.type)"))
        }
        switch value.type {
        case ValueType.link.rawValue:
            let link = Link(value.linkClass, value.linkTarget)
            if property.type == .object, let class_ = realm.schema.class_(link.classKey),
                class_.name != property.linkTarget
            {
                throw RealmError(
                    .propertyTypeMismatch,
                    "\(site.description) takes objects of class \(property.linkTarget), got one of "
                        + "class \(class_.name)")
            }
            try creation.checkTarget(link, site)
        case ValueType.string.rawValue, ValueType.binary.rawValue:
            guard value.word1 <= UInt64(Table.textBytesMax) else {
                throw RealmError(
                    .limitExceeded,
                    "\(site.description): a value of \(value.word1) bytes is above the limit of "
                        + "\(Table.textBytesMax)")
            }
        default: break
        }
    }

    private func key(_ node: Int, _ site: CreationSite) throws(RealmError) -> String {
        guard !nodes[node].key.isNull else {
            throw RealmError(
                .invalidDictionaryKey, "\(site.description): node \(node) has no key")
        }
        return try Self.text(nodes[node].key)
    }

    private static func text(_ raw: RawValue) throws(RealmError) -> String {
        guard !raw.isNull, raw.word1 <= UInt64(Table.textBytesMax),
            case .string(let text) = try Value(raw)
        else {
            throw RealmError(.invalidArgument, "the key of a dictionary must be a string")
        }
        return text
    }

    private func mismatch(_ node: Int, _ site: CreationSite, _ expected: String) -> RealmError {
        let given: String
        switch nodes[node].kind {
        case .value: given = "a single value"
        case .object: given = "an object"
        case .list: given = "a list of \(nodes[node].childCount)"
        case .dictionary: given = "a dictionary of \(nodes[node].childCount)"
        case .reference, nil: given = "a reference"
        }
        return RealmError(
            .propertyTypeMismatch, "\(site.description) takes \(expected), got \(given)")
    }
}
