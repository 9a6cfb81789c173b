// Objects as JSON text that creation reads back. Not the fixed format of `realm_object_to_string`,
// which is in ObjectHandle+Text.
//
// Links are followed to a depth of the caller's choice and written as keys beyond. An object that
// was written before is referred to: by its primary key, or by the `$id` of one without. Which need
// an `$id` is only known at the end, so a text with such references is written a second time.

/// How objects become JSON.
package struct JSONOptions: Sendable {
    /// How many links deep objects stand in each other; 0 writes links as keys. At most 200.
    package var linkDepth = 0
    /// Values of types that JSON lacks are written as MongoDB's extended JSON everywhere, not just
    /// in mixed values, where nothing else tells their type.
    package var isExtended = false

    package init() {}

    package static let linkDepthMax = 200
}

struct JSONWriter {
    private let realm: Realm
    private let options: JSONOptions
    private var bytes: [UInt8] = []
    /// Objects that were written whole.
    private var written: Set<Link> = []
    /// Objects without primary key that are referred to, and their `$id`.
    private var identifiers: [Link: Int] = [:]

    private init(_ realm: Realm, _ options: JSONOptions) {
        self.realm = realm
        self.options = options
    }

    static func text(_ object: ObjectHandle, _ options: JSONOptions) throws(RealmError) -> String {
        guard options.linkDepth >= 0, options.linkDepth <= JSONOptions.linkDepthMax else {
            throw RealmError(
                .limitExceeded,
                "JSON text can't be \(options.linkDepth) links deep, the limit is "
                    + "\(JSONOptions.linkDepthMax)")
        }
        _ = try object.row()
        var writer = JSONWriter(object.realm, options)
        try writer.write(object, depth: 0)
        if !writer.identifiers.isEmpty {
            writer.bytes = []
            writer.written = []
            try writer.write(object, depth: 0)
        }
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    // MARK: Objects

    /// Recursion ends with the link depth: embedded objects are no deeper than there are classes.
    private mutating func write(_ object: ObjectHandle, depth: Int) throws(RealmError) {
        let class_ = try realm.writtenClass(object.classKey)
        let link = Link(object.classKey, object.objectKey)
        if !class_.isEmbedded { written.insert(link) }
        add("{")
        var isFirst = true
        if let identifier = identifiers[link] {
            add("\"$id\":\"\(identifier)\"")
            isFirst = false
        }
        for property in class_.properties {
            if !isFirst { add(",") }
            isFirst = false
            quote(property.shownName)
            add(":")
            try write(
                try object.content(property.key, property.collection), property,
                isMixed: property.collection == .none, depth: depth)
        }
        add("}")
    }

    /// `isMixed`: not the property's own collection. In a mixed value a dictionary is told from the forms
    /// of other values.
    private mutating func write(
        _ content: StoredContent, _ property: CreationProperty, isMixed: Bool, depth: Int
    ) throws(RealmError) {
        let collection: RealmCollection
        switch content {
        case .value(let value): return try write(value, property, depth: depth)
        case .collection(let found): collection = found
        }
        guard isMixed, collection.type == .dictionary, (1...2).contains(try collection.count()),
            case .string(let key) = try Value(try collection.key(0)),
            key.utf8.first == UInt8(ascii: "$")
        else { return try write(collection, property, depth: depth) }
        add("{\"\(ExtendedJSON.dictionaryName)\":")
        try write(collection, property, depth: depth)
        add("}")
    }

    private mutating func write(
        _ collection: RealmCollection, _ property: CreationProperty, depth: Int
    ) throws(RealmError) {
        let isDictionary = collection.type == .dictionary
        add(isDictionary ? "{" : "[")
        for index in 0..<(try collection.count()) {
            if index > 0 { add(",") }
            if isDictionary {
                guard case .string(let key) = try Value(try collection.key(index)) else { continue }
                quote(key)
                add(":")
            }
            try write(
                try collection.content(index), property, isMixed: true, depth: depth)
        }
        add(isDictionary ? "}" : "]")
    }

    private mutating func write(
        _ raw: RawValue, _ property: CreationProperty, depth: Int
    ) throws(RealmError) {
        let value = try Value(raw)
        guard case .link(let link) = value else {
            return scalar(value, isExtended: options.isExtended || property.type == .mixed)
        }
        let class_ = try realm.writtenClass(link.classKey)
        let object = try realm.object(link.classKey, link.objectKey)
        defer { object.release() }
        if class_.isEmbedded { return try write(object, depth: depth) }
        // In a mixed value a nested object would be read as a dictionary.
        if property.type == .mixed { return try reference(link, class_, object, isMixed: true) }
        if written.contains(link), class_.primaryKey == nil {
            let known = identifiers[link] ?? identifiers.count + 1
            identifiers[link] = known
            return add("{\"$ref\":\"\(known)\"}")
        }
        if depth >= options.linkDepth || written.contains(link) {
            return try reference(link, class_, object, isMixed: false)
        }
        try write(object, depth: depth + 1)
    }

    /// An object by its key.
    private mutating func reference(
        _ link: Link, _ class_: CreationClass, _ object: ObjectHandle, isMixed: Bool
    ) throws(RealmError) {
        var key = Value.int(link.objectKey.rawValue)
        if let primaryKey = class_.primaryKey {
            key = try Value(try object.value(class_.properties[primaryKey].key))
            if !isMixed, key != .null { return scalar(key, isExtended: options.isExtended) }
        }
        add("{\"$link\":{\"table\":")
        quote(class_.name)
        add(",\"key\":")
        scalar(key, isExtended: options.isExtended)
        add("}}")
    }

    // MARK: Scalars

    private mutating func scalar(_ value: Value, isExtended: Bool) {
        switch value {
        case .null: add("null")
        case .int(let number): add("\(number)")
        case .bool(let flag): add(flag ? "true" : "false")
        case .string(let text): quote(text)
        case .double(let number):
            if number.isFinite { return add("\(number)") }
            typed("$numberDouble", ExtendedJSON.text(number), isExtended)
        case .float(let number):
            if number.isFinite, !isExtended { return add("\(number)") }
            typed(
                "$numberFloat", number.isFinite ? "\(number)" : ExtendedJSON.text(Double(number)),
                isExtended)
        case .decimal128(let number): typed("$numberDecimal", "\(number)", isExtended)
        case .objectId(let id): typed("$oid", "\(id)", isExtended)
        case .uuid(let id): typed("$uuid", "\(id)", isExtended)
        case .timestamp(let time): typed("$date", TextForms.text(time), isExtended)
        case .binary(let bytes):
            let text = Base64.text(bytes)
            if !isExtended { return add("\"\(text)\"") }
            add("{\"$binary\":{\"base64\":\"\(text)\",\"subType\":\"00\"}}")
        case .link(let link): add("\(link.objectKey)")
        }
    }

    private mutating func typed(_ name: String, _ text: String, _ isExtended: Bool) {
        add(isExtended ? "{\"\(name)\":\"\(text)\"}" : "\"\(text)\"")
    }

    private mutating func add(_ text: String) { bytes.append(contentsOf: text.utf8) }

    /// As RFC 8259 wants it.
    private mutating func quote(_ text: String) {
        JSONText.quote(text, escapesAll: true, into: &bytes)
    }
}

extension ObjectHandle {
    /// The object as JSON text that `Realm.createObject(_:from:)` reads back to the same values.
    /// Stored properties in the order of the class, under their public names. Linked objects stand
    /// in it down to `options.linkDepth`, each once; others are named by their primary keys, or by
    /// `$link` with class and key. Complexity: linear in what is written.
    package func json(_ options: JSONOptions = JSONOptions()) throws(RealmError) -> String {
        try JSONWriter.text(self, options)
    }
}
