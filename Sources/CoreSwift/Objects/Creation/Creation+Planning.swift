// Planning: which objects a tree is about, and what goes into their properties.

extension Creation {
    /// Plans the tree and all that is in it; its root is the first of `objects`.
    func plan(_ tree: ValueTree, _ class_: CreationClass) throws(RealmError) {
        let site = CreationSite(owner: class_)
        try class_.checkIsCreatable()
        guard case .object = try mention(tree, class_, site) else {
            throw RealmError(
                .propertyTypeMismatch,
                "creating \(class_.name) takes a dictionary of values by name, got \(tree.summary)")
        }
        try drain()
        try complete()
        try resolveReferences()
    }

    /// Plans values for an object that is there, which is the first of `objects` then.
    func plan(_ entries: [ValueTree.Entry], for object: ObjectHandle) throws(RealmError) {
        let class_ = try realm.creationClass(object.classKey)
        let site = CreationSite(owner: class_)
        var identifier: String?
        let values = try match(entries, class_, &identifier)
        var key: Value?
        if let primaryKey = class_.primaryKey {
            let stored = try Value(try object.value(class_.properties[primaryKey].key))
            for value in values where value.property == primaryKey {
                let given = try primaryKeyValue(value.tree, class_)
                guard ExactValue(given) == ExactValue(stored) else {
                    throw RealmError(
                        .modifyPrimaryKey,
                        "\(class_.keySite.description) identifies the object; it can't be changed from "
                            + "\(ValueTree.value(stored).summary) to "
                            + ValueTree.value(given).summary)
                }
            }
            key = stored
        }
        let index = add(
            PlannedObject(class_, primaryKey: key, existing: object.objectKey, site))
        // It is where its owner has it; of others the row is looked for.
        if class_.isEmbedded { embedded.append((object.clone(), index, false)) }
        try note(identifier, index, site)
        waiting.append((index, values))
        try drain()
        try complete()
        try resolveReferences()
    }

    /// Not by recursion: the depth of a tree is the caller's.
    private func drain() throws(RealmError) {
        while let next = waiting.popLast() {
            let class_ = objects[next.object].class_
            for (property, tree) in next.values where property != class_.primaryKey {
                let content = try content(tree, next.object, property)
                objects[next.object].contents[property] = content
            }
        }
    }

    /// What a tree in the place of an object stands for.
    func mention(
        _ tree: ValueTree, _ class_: CreationClass, _ site: CreationSite
    ) throws(RealmError) -> PlannedContent {
        switch tree {
        case .dictionary(let entries):
            if let special = try reference(entries, class_, site) { return special }
            return .object(try describe(entries, class_, site))
        case .list(let elements):
            return .object(try describe(try named(elements, class_, site), class_, site))
        case .value(.link(let link)):
            guard link.classKey == class_.key else {
                throw RealmError(
                    .propertyTypeMismatch,
                    "\(site.description) takes objects of class \(class_.name), got one of class "
                        + (realm.schema.class_(link.classKey)?.name ?? "\(link.classKey)"))
            }
            try checkTarget(link, site)
            return .value(.link(link))
        case .value, .number:
            guard class_.primaryKey != nil, site.property != nil else {
                throw mismatch(site, "a dictionary of \(class_.name)'s values", tree)
            }
            let key = try primaryKeyValue(tree, class_)
            return .object(try find(key, class_, site, isDescribed: false))
        }
    }

    /// Values in declaration order, with their names.
    private func named(
        _ elements: [ValueTree], _ class_: CreationClass, _ site: CreationSite
    ) throws(RealmError) -> [ValueTree.Entry] {
        guard elements.count == class_.properties.count else {
            throw RealmError(
                .invalidArgument,
                "\(site.description): a list for an object has one value for each of the "
                    + "\(class_.properties.count) properties of \(class_.name), got "
                    + "\(elements.count)")
        }
        return zip(class_.properties, elements).map { ValueTree.Entry($0.name, $1) }
    }

    // MARK: Objects

    /// Plans an object with values; the same one again when its key or `$id` was seen.
    private func describe(
        _ entries: [ValueTree.Entry], _ class_: CreationClass, _ site: CreationSite
    ) throws(RealmError) -> Int {
        var identifier: String?
        let values = try match(entries, class_, &identifier)
        let index: Int
        if let primaryKey = class_.primaryKey {
            var given = values.last { $0.property == primaryKey }?.tree
            if given == nil { given = try missingKey(class_, primaryKey) }
            let key = try primaryKeyValue(given ?? .null, class_)
            index = try find(key, class_, site, isDescribed: true)
        } else {
            index = add(PlannedObject(class_, site))
        }
        try note(identifier, index, site)
        waiting.append((index, values))
        return index
    }

    /// Plans an embedded object, which is `current` if it is updated where it is.
    func describeEmbedded(
        _ tree: ValueTree, _ class_: CreationClass, _ site: CreationSite, current: ObjectKey?
    ) throws(RealmError) -> PlannedContent {
        let entries: [ValueTree.Entry]
        switch tree {
        case .dictionary(let given): entries = given
        case .list(let elements): entries = try named(elements, class_, site)
        case .value, .number: throw mismatch(site, "a dictionary of \(class_.name)'s values", tree)
        }
        var identifier: String?
        let values = try match(entries, class_, &identifier)
        let index = add(PlannedObject(class_, existing: current, site))
        waiting.append((index, values))
        return .embedded(index)
    }

    func add(_ object: PlannedObject) -> Int {
        objects.append(object)
        return objects.count - 1
    }

    /// The planned object with a primary key: seen before, in the realm, or new. `isAlone`: there
    /// will be no other.
    func find(
        _ key: Value, _ class_: CreationClass, _ site: CreationSite, isDescribed: Bool,
        isAlone: Bool = false
    ) throws(RealmError) -> Int {
        if !isAlone, let known = planned(key, class_) {
            guard isDescribed, !objects[known].isDescribed else { return known }
            objects[known].isDescribed = true
            if policy == .never, !objects[known].isNew { throw isTaken(key, class_) }
            return known
        }
        let found = try key.withRaw { raw throws(RealmError) in
            try realm.findObject(class_.key, primaryKey: raw)
        }
        if let found, isDescribed, policy == .never {
            found.release()
            throw isTaken(key, class_)
        }
        var object = PlannedObject(
            class_, primaryKey: key, existing: found?.objectKey, isDescribed: isDescribed, site)
        object.handle = found
        return add(object)
    }

    func isTaken(_ key: Value, _ class_: CreationClass) -> RealmError {
        RealmError(
            .objectAlreadyExists,
            "class \(class_.name) has an object with primary key "
                + "\(ValueTree.value(key).summary) already; an update policy lets it be updated")
    }

    private func missingKey(
        _ class_: CreationClass, _ property: Int
    ) throws(RealmError) -> ValueTree {
        let schema = class_.properties[property]
        if let value = try schema.makeDefault() { return value }
        if schema.isNullable { return .null }
        throw RealmError(
            .missingPrimaryKey,
            "creating \(class_.name) needs a value for its primary key \(schema.name)")
    }

    private func primaryKeyValue(
        _ tree: ValueTree, _ class_: CreationClass
    ) throws(RealmError) -> Value {
        try scalar(tree, class_.properties[class_.primaryKey ?? 0], class_.keySite)
    }

    /// Looks up the names. Of a property given by both of its names the later value counts.
    private func match(
        _ entries: [ValueTree.Entry], _ class_: CreationClass, _ identifier: inout String?
    ) throws(RealmError) -> [(property: Int, tree: ValueTree)] {
        var result: [(property: Int, tree: ValueTree)] = []
        result.reserveCapacity(entries.count)
        for (place, entry) in entries.enumerated() {
            if let property = class_.property(entry.name, near: place) {
                result.append((property, entry.value))
            } else if entry.name == "$id", case .value(.string(let text)) = entry.value {
                identifier = text
            } else if !ignoresUnknown {
                throw unknown(entry.name, class_)
            }
        }
        return result
    }

    private func unknown(_ name: String, _ class_: CreationClass) -> RealmError {
        if class_.schema.computedProperties.contains(where: { $0.name == name }) {
            return RealmError(
                .readOnlyProperty, "\(class_.name).\(name) is computed; it can't be given a value")
        }
        return RealmError(.invalidProperty, "class \(class_.name) has no property '\(name)'")
    }

    // MARK: Completing

    /// Gives new objects what they were not given.
    func complete() throws(RealmError) {
        var completed = 0
        while completed < objects.count {
            try complete(completed)
            completed += 1
            // Defaults may describe objects.
            try drain()
        }
    }

    /// Gives a new object what it was not given; objects that were only named must be there.
    private func complete(_ index: Int) throws(RealmError) {
        guard objects[index].isNew else { return }
        let class_ = objects[index].class_
        guard objects[index].isDescribed else {
            throw RealmError(
                .noSuchObject,
                "\(objects[index].site.description): class \(class_.name) has no object with primary "
                    + "key \(ValueTree.value(objects[index].primaryKey ?? .null).summary)")
        }
        for place in class_.properties.indices
        where objects[index].contents[place] == nil && place != class_.primaryKey {
            let property = class_.properties[place]
            if let value = try property.makeDefault() {
                objects[index].contents[place] = try content(value, index, place)
            } else if !property.isNullable && property.collection == .none {
                throw RealmError(
                    .missingPropertyValue,
                    "creating \(class_.name) needs a value for \(property.name), which is "
                        + "\(property.typeDescription) and has no default")
            }
        }
    }

    /// Plans a property's default, for objects that are not planned from a tree.
    func planDefault(_ object: Int, _ place: Int) throws(RealmError) {
        let property = objects[object].class_.properties[place]
        guard let value = try property.makeDefault() else { return }
        var completed = objects.count
        let content = try content(value, object, place)
        objects[object].contents[place] = content
        try drain()
        while completed < objects.count {
            try complete(completed)
            completed += 1
            try drain()
        }
    }

    /// Throws when a default does not fit its property. Changes nothing.
    func checkDefault(_ class_: CreationClass, _ place: Int) throws(RealmError) {
        let trial = Creation(realm, policy, ignoresUnknown: false)
        trial.objects = [PlannedObject(class_, CreationSite(owner: class_))]
        try trial.planDefault(0, place)
        for object in trial.objects.dropFirst() where !object.class_.isEmbedded && object.isNew {
            throw RealmError(
                .notSupported,
                "can't copy: the default of \(class_.name).\(class_.properties[place].name) "
                    + "creates an object of class \(object.class_.name)")
        }
    }

    // MARK: References

    /// `{"$ref": "…"}` to an object with that `$id`, or `{"$link": {"table": …, "key": …}}`.
    private func reference(
        _ entries: [ValueTree.Entry], _ class_: CreationClass, _ site: CreationSite
    ) throws(RealmError) -> PlannedContent? {
        guard entries.count == 1, class_.property(entries[0].name) == nil else { return nil }
        return try reference(entries[0], class_, site)
    }

    /// The same where any class will do, when `class_` is nil.
    func reference(
        _ entry: ValueTree.Entry, _ class_: CreationClass?, _ site: CreationSite
    ) throws(RealmError) -> PlannedContent? {
        if entry.name == "$ref", case .value(.string(let identifier)) = entry.value {
            references.append((identifier, class_, site))
            return .reference(identifier)
        }
        guard entry.name == "$link", case .dictionary(let parts) = entry.value else { return nil }
        guard parts.count == 2,
            case .value(.string(let name))? = parts.first(where: { $0.name == "table" })?.value,
            let key = parts.first(where: { $0.name == "key" })?.value
        else {
            throw RealmError(
                .invalidArgument,
                "\(site.description): $link takes a \"table\", the name of a class, and a \"key\"")
        }
        let target = try realm.creationClass(named: name)
        guard class_ == nil || class_ === target, !target.isEmbedded else {
            throw RealmError(
                .propertyTypeMismatch,
                "\(site.description) takes "
                    + (class_.map { "objects of class \($0.name)" } ?? "objects of their own")
                    + ", got a link to class \(name)")
        }
        if target.primaryKey != nil {
            let value = try primaryKeyValue(key, target)
            return .object(try find(value, target, site, isDescribed: false))
        }
        guard case .value(.int(let number)) = key else {
            throw mismatch(site, "the number of an object of class \(name)", key)
        }
        let link = Link(target.key, ObjectKey(rawValue: number))
        try checkTarget(link, site)
        return .value(.link(link))
    }

    private func note(
        _ identifier: String?, _ index: Int, _ site: CreationSite
    ) throws(RealmError) {
        guard let identifier else { return }
        if let other = byIdentifier.updateValue(index, forKey: identifier), other != index {
            throw RealmError(
                .invalidArgument,
                "\(site.description): two objects have the $id \"\(identifier)\"")
        }
    }

    private func resolveReferences() throws(RealmError) {
        for reference in references {
            guard let index = byIdentifier[reference.identifier] else {
                throw RealmError(
                    .noSuchObject,
                    "\(reference.site.description): no object has the $id "
                        + "\"\(reference.identifier)\"")
            }
            let found = objects[index].class_
            guard reference.target == nil || reference.target === found else {
                throw RealmError(
                    .propertyTypeMismatch,
                    "\(reference.site.description) takes objects of class "
                        + "\(reference.target?.name ?? ""), got a $ref to one of class \(found.name)"
                )
            }
        }
    }

    /// A link must lead to an object that is there and has no owner.
    func checkTarget(_ link: Link, _ site: CreationSite) throws(RealmError) {
        guard let table = try realm.readTables().table(link.classKey) else {
            throw RealmError(
                .noSuchTable,
                "\(site.description): there is no class with key \(link.classKey)")
        }
        if table.isEmbedded {
            throw RealmError(
                .illegalOperation,
                "\(site.description): embedded objects are made in their place, not linked to")
        }
        if try table.find(link.objectKey) == nil {
            throw RealmError(
                .noSuchObject,
                "\(site.description): there is no object \(link.objectKey) of class "
                    + (realm.schema.class_(link.classKey)?.name ?? "\(link.classKey)"))
        }
    }

    func mismatch(_ site: CreationSite, _ expected: String, _ given: ValueTree) -> RealmError {
        RealmError(
            .propertyTypeMismatch, "\(site.description) takes \(expected), got \(given.summary)")
    }
}
