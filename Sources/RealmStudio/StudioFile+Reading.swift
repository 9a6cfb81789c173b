// What the page reads: the classes, windows of tables, single objects, the insides of collections.

import CoreSwift

extension StudioFile {
    /// Rows of one answer.
    private static let rowsMax = 500
    /// Elements of one answer.
    private static let elementsMax = 500

    // MARK: The file

    /// Classes with their properties and how many objects they have.
    func schema() throws -> [UInt8] {
        let realm = try opened()
        return try jsonObject { output in
            output.member("version", Int(version))
            output.member("readOnly", isReadOnly)
            output.member("schemaVersion", Self.text(realm.schemaVersion))
            history(&output)
            try output.array("classes") { output in
                for class_ in realm.schema.classes {
                    let count = try realm.objectCount(class_.key)
                    output.object { output in describe(class_, count, &output) }
                }
            }
        }
    }

    private func describe(_ class_: ClassSchema, _ count: Int, _ output: inout JSONOutput) {
        output.member("name", class_.name)
        output.member("kind", class_.kind.name)
        output.member("primaryKey", class_.primaryKey)
        output.member("count", count)
        output.array("properties") { output in
            for property in class_.properties + class_.computedProperties {
                output.object { output in
                    output.member("name", property.name)
                    output.member("type", "\(property.type)")
                    output.member("collection", "\(property.collection)")
                    output.member("target", property.linkTarget)
                    output.member("description", property.typeDescription)
                    output.member("nullable", property.isNullable)
                    output.member("primaryKey", property.name == class_.primaryKey)
                    output.member("indexed", property.flags.contains(.indexed))
                    output.member("fullText", property.flags.contains(.fullTextIndexed))
                }
            }
        }
    }

    /// What can be undone and done again, by the names of the transactions.
    func history(_ output: inout JSONOutput) {
        output.member("undo", undoable.suffix(20).map(\.label))
        output.member("redo", redoable.suffix(20).map(\.label))
    }

    // MARK: Tables

    /// How many objects the view has, how they are found, and what that took.
    func describeView(_ request: Request) throws -> [UInt8] {
        let (view, _) = try view(request)
        return try jsonObject { output in
            output.member("version", Int(version))
            output.member("total", try view.results.count())
            output.member("milliseconds", view.seconds * 1000)
            output.member("plan", try view.results.explain())
        }
    }

    /// A window of rows, each with its key and a value for each property of the class.
    func rows(_ request: Request) throws -> [UInt8] {
        let from = try request.count("from", atMost: .max)
        let count = try request.count("count", atMost: Self.rowsMax)
        let (view, _) = try view(request)
        let realm = try opened()
        let properties = view.class_.properties + view.class_.computedProperties
        var values = ValueOutput(realm)
        return try jsonObject { output in
            let total = try view.results.count()
            output.member("version", Int(version))
            output.member("total", total)
            output.member("from", from)
            try output.array("rows") { output in
                guard from < total else { return }
                for index in from..<min(total, from + count) {
                    let object = try view.results.object(index)
                    defer { object.release() }
                    try output.array { output in
                        output.text("\(object.objectKey)")
                        for property in properties {
                            try values.property(property, of: object, &output)
                        }
                    }
                }
            }
        }
    }

    /// The position of an object in a view; null where it is not in it.
    func position(_ request: Request) throws -> [UInt8] {
        let (view, _) = try view(request)
        let key = ObjectKey(rawValue: try request.integer("key"))
        return try jsonObject { output in
            output.name("position")
            if let found = try view.results.find(key) {
                output.number(found)
            } else {
                output.null()
            }
        }
    }

    /// The first objects that a query finds, as links.
    func find(_ request: Request) throws -> [UInt8] {
        let count = try request.count("count", atMost: 50)
        let (view, _) = try view(request)
        var values = ValueOutput(try opened())
        return try jsonObject { output in
            try output.array("links") { output in
                for index in 0..<min(count, try view.results.count()) {
                    try values.scalar(try view.results.get(index), &output)
                }
            }
        }
    }

    // MARK: Objects

    /// All values of one object, longer than tables have them.
    func object(_ request: Request) throws -> [UInt8] {
        let realm = try opened()
        let (class_, object) = try object(named: request)
        defer { object.release() }
        var values = ValueOutput(realm)
        values.textBytesMax = 64 << 10
        values.binaryBytesMax = 4096
        values.elementsMax = 50
        return try jsonObject { output in
            output.member("version", Int(version))
            output.member("class", class_.name)
            output.member("key", "\(object.objectKey)")
            output.member(
                "label", try values.label(Link(class_.key, object.objectKey), class_))
            try output.array("values") { output in
                for property in class_.properties + class_.computedProperties {
                    try values.property(property, of: object, &output)
                }
            }
            if class_.kind == .embedded {
                let owner = try object.parent()
                defer { owner.release() }
                output.name("owner")
                try values.link(Link(owner.classKey, owner.objectKey), &output)
            }
        }
    }

    /// Elements of a collection of an object, also of one within a mixed value: `path` leads there.
    func elements(_ request: Request) throws -> [UInt8] {
        let realm = try opened()
        let from = try request.count("from", atMost: .max)
        let most = try request.count("count", atMost: Self.elementsMax)
        let (class_, object) = try object(named: request)
        defer { object.release() }
        var values = ValueOutput(realm)
        values.textBytesMax = 4096
        let path = try request.list("path")
        let property = try class_.property(asked: try Self.propertyName(path))
        if property.type == .linkingObjects {
            return try linking(property, object, from, most, &values)
        }
        let collection = try collection(object, property, path)
        return try window("\(collection.type)", try collection.count(), from, most) {
            range, output in
            try values.elements(collection, range, &output)
        }
    }

    /// Elements of a collection, of which it has so many.
    private func window(
        _ type: String, _ count: Int, _ from: Int, _ most: Int,
        _ elements: (Range<Int>, inout JSONOutput) throws -> Void
    ) rethrows -> [UInt8] {
        try jsonObject { output in
            output.member("version", Int(version))
            output.member("type", type)
            output.member("count", count)
            output.member("from", from)
            try output.array("elements") { output in
                if from < count { try elements(from..<min(count, from + most), &output) }
            }
        }
    }

    private func linking(
        _ property: PropertySchema, _ object: ObjectHandle, _ from: Int, _ most: Int,
        _ values: inout ValueOutput
    ) throws -> [UInt8] {
        let realm = try opened()
        guard let source = realm.schema.class_(named: property.linkTarget),
            let origin = source.property(named: property.linkOrigin)
        else { throw StudioError(.missing, "nothing links through '\(property.name)'") }
        let found = try object.backlinks(from: source.key, property: origin.key)
        return try window("list", try found.count(), from, most) { range, output in
            for index in range { try values.scalar(try found.get(index), &output) }
        }
    }

    // MARK: Finding

    func class_(_ name: String) throws -> ClassSchema {
        guard let found = try opened().schema.class_(named: name) else {
            throw StudioError.noClass(name)
        }
        return found
    }

    /// The object that a request names; its handle is to be released.
    func object(named request: Request) throws -> (ClassSchema, ObjectHandle) {
        let class_ = try class_(try request.text("class"))
        let key = ObjectKey(rawValue: try request.integer("key"))
        guard let object = try opened().findObject(class_.key, key) else {
            throw StudioError(.missing, "this object of \(class_.name) was deleted")
        }
        return (class_, object)
    }

    static func propertyName(_ path: [ValueTree]) throws -> String {
        guard case .value(.string(let name))? = path.first else {
            throw StudioError.refused("the path does not begin with the name of a property")
        }
        return name
    }

    /// The collection that `path` leads to: a property, then positions in lists and keys of dictionaries.
    func collection(
        _ object: ObjectHandle, _ property: PropertySchema, _ path: [ValueTree]
    ) throws -> RealmCollection {
        let content = try object.content(property.key, property.collection)
        guard case .collection(var collection) = content else {
            throw StudioError(.outdated, "'\(property.name)' holds no collection now")
        }
        for step in path.dropFirst() {
            let index = try Self.index(of: step, in: collection)
            guard case .collection(let inner) = try collection.content(index) else {
                throw StudioError(.outdated, "an element of '\(property.name)' is no collection")
            }
            collection = inner
        }
        return collection
    }

    /// The position of an element that a path names by its position or key.
    static func index(of step: ValueTree, in collection: RealmCollection) throws -> Int {
        switch step {
        case .value(.int(let index)):
            guard index >= 0, index < Int64(try collection.count()) else {
                throw StudioError(.outdated, "there is no element \(index) any more")
            }
            return Int(index)
        case .value(.string(let key)):
            let found = try Value.string(key).withRaw { raw throws(RealmError) in
                try collection.find(key: raw)
            }
            guard let found else {
                throw StudioError(.outdated, "the dictionary has no key '\(key)' any more")
            }
            return found
        default: throw StudioError.refused("a path has positions and keys in it, nothing else")
        }
    }
}
