// Values as the page reads them: null, true and false as such; everything else a list of a word for the type
// and texts, as `["int","42"]`, so that no digit is lost in JavaScript's numbers:
//
//   ["int"|"float"|"double"|"decimal"|"timestamp"|"objectId"|"uuid", text]
//   ["string", text] or ["string", its beginning, number of UTF-8 bytes]
//   ["binary", hexadecimal, number of bytes]      the first bytes of a longer one
//   ["link", what to call the object, class, object key, is embedded]
//   ["list"|"set"|"dictionary", number of elements, [first elements, keys before values]]

import CoreSwift

struct ValueOutput {
    let realm: Realm
    /// How much of texts and binaries is written, in bytes.
    var textBytesMax = 256
    var binaryBytesMax = 24
    /// Elements of collections.
    var elementsMax = 3

    /// What tables and lists call an object of each class by; nil where only its key is left.
    private var labels: [ClassKey: PropertyKey?] = [:]

    init(_ realm: Realm) { self.realm = realm }

    // MARK: Properties

    mutating func property(
        _ property: PropertySchema, of object: ObjectHandle, _ output: inout JSONOutput
    ) throws {
        if property.type == .linkingObjects {
            return try backlinks(property, of: object, &output)
        }
        switch try object.content(property.key, property.collection) {
        case .value(let value): try scalar(value, &output)
        case .collection(let found): try collection(found, &output)
        }
    }

    private mutating func backlinks(
        _ property: PropertySchema, of object: ObjectHandle, _ output: inout JSONOutput
    ) throws {
        guard let source = realm.schema.class_(named: property.linkTarget),
            let origin = source.property(named: property.linkOrigin)
        else { return output.null() }
        let found = try object.backlinks(from: source.key, property: origin.key)
        let count = try found.count()
        try output.array { output in
            output.text("list")
            output.number(count)
            try output.array { output in
                for index in 0..<min(count, elementsMax) {
                    try scalar(try found.get(index), &output)
                }
            }
        }
    }

    // MARK: Collections

    mutating func collection(_ collection: RealmCollection, _ output: inout JSONOutput) throws {
        let count = try collection.count()
        try output.array { output in
            output.text("\(collection.type)")
            output.number(count)
            try output.array { output in
                try elements(collection, 0..<min(count, elementsMax), &output)
            }
        }
    }

    /// Elements one behind another; of dictionaries each key before its value.
    mutating func elements(
        _ collection: RealmCollection, _ range: Range<Int>, _ output: inout JSONOutput
    ) throws {
        for index in range {
            if collection.type == .dictionary {
                if case .string(let key) = try Value(try collection.key(index)) {
                    output.text(key)
                } else {
                    output.null()
                }
            }
            switch try collection.content(index) {
            case .value(let value): try scalar(value, &output)
            case .collection(let inner):
                // What is nested deeper the page asks for when it is unfolded.
                let count = try inner.count()
                output.array { output in
                    output.text("\(inner.type)")
                    output.number(count)
                    output.array { _ in }
                }
            }
        }
    }

    // MARK: Scalars

    mutating func scalar(_ raw: RawValue, _ output: inout JSONOutput) throws {
        try value(try Value(raw), &output)
    }

    mutating func value(_ value: Value, _ output: inout JSONOutput) throws {
        switch value {
        case .null: output.null()
        case .bool(let truth): output.truth(truth)
        case .int(let number): typed("int", "\(number)", &output)
        case .float(let number): typed("float", "\(number)", &output)
        case .double(let number): typed("double", "\(number)", &output)
        case .decimal128(let number): typed("decimal", "\(number)", &output)
        case .objectId(let id): typed("objectId", "\(id)", &output)
        case .uuid(let id): typed("uuid", "\(id)", &output)
        case .timestamp(let time): typed("timestamp", ValueText.text(time), &output)
        case .string(let text): string(text, &output)
        case .binary(let bytes):
            output.array { output in
                output.text("binary")
                output.text(HexText.text(bytes.prefix(binaryBytesMax)))
                output.number(bytes.count)
            }
        case .link(let link): try self.link(link, &output)
        }
    }

    private func typed(_ type: String, _ text: String, _ output: inout JSONOutput) {
        output.array { output in
            output.text(type)
            output.text(text)
        }
    }

    private func string(_ text: String, _ output: inout JSONOutput) {
        let count = text.utf8.count
        output.array { output in
            output.text("string")
            guard count > textBytesMax else { return output.text(text) }
            output.text(ValueText.beginning(of: text, bytesMax: textBytesMax))
            output.number(count)
        }
    }

    // MARK: Links

    mutating func link(_ link: Link, _ output: inout JSONOutput) throws {
        guard let class_ = realm.schema.class_(link.classKey) else { return output.null() }
        let label = try self.label(link, class_)
        output.array { output in
            output.text("link")
            output.text(label)
            output.text(class_.name)
            output.text("\(link.objectKey)")
            output.truth(class_.kind == .embedded)
        }
    }

    /// What people would call the object: its name or title, its primary key, its first text, else its
    /// number.
    mutating func label(_ link: Link, _ class_: ClassSchema) throws -> String {
        if labels[class_.key] == nil { labels[class_.key] = .some(Self.labelProperty(class_)) }
        if let key = labels[class_.key].flatMap({ $0 }) {
            let object = try realm.object(link.classKey, link.objectKey)
            defer { object.release() }
            switch try Value(try object.value(key)) {
            case .string(let text) where !text.isEmpty: return ValueText.short(text)
            case .int(let number): return "\(number)"
            case .uuid(let id): return "\(id)"
            case .objectId(let id): return "\(id)"
            default: break
            }
        }
        return "#\(link.objectKey)"
    }

    private static func labelProperty(_ class_: ClassSchema) -> PropertyKey? {
        let texts = class_.properties.filter { $0.type == .string && $0.collection == .none }
        for name in ["name", "title", "label"] {
            if let found = texts.first(where: { $0.name.lowercased() == name }) {
                return found.key
            }
        }
        return (class_.primaryKeyProperty ?? texts.first)?.key
    }
}
