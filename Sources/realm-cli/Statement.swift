// Changes as text, a line each, for `realm edit` and `realm shell`:
//
//   create CLASS JSON          a new object of these values
//   upsert CLASS JSON          the same, or new values for the object with its primary key
//   set CLASS KEY JSON         values for an object that is there
//   delete CLASS KEY           an object
//   delete CLASS where QUERY   all objects for which the query is true
//
// Names and keys with blanks stand in quotes, as strings of JSON. A key "#5", without quotes, is an
// object key, and "null" the primary key null, in classes that may have one.

import CoreSwift

/// The words of a line, one after another. By bytes: to Swift a quote with a mark above it is no quote.
struct Words {
    private static let quote = UInt8(ascii: "\"")
    private var rest: ArraySlice<UInt8>

    init(_ line: String) { rest = Array(line.utf8)[...] }

    private static func isBlank(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x09 || byte == 0x0D || byte == 0x0A
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String {
        String(decoding: bytes, as: UTF8.self)
    }

    /// The next word, or string in quotes; nil at the end.
    mutating func next() throws(RealmError) -> (text: String, isQuoted: Bool)? {
        rest = rest.drop(while: Self.isBlank)
        guard let first = rest.first else { return nil }
        guard first == Self.quote else {
            let word = rest.prefix { !Self.isBlank($0) }
            rest = rest[word.endIndex...]
            return (Self.text(word), false)
        }
        var index = rest.startIndex + 1
        while index < rest.endIndex, rest[index] != Self.quote {
            index += rest[index] == UInt8(ascii: "\\") ? 2 : 1
        }
        guard index < rest.endIndex else {
            throw RealmError(.invalidArgument, "a quote that nothing closes: \(Self.text(rest))")
        }
        let quoted = Self.text(rest[...index])
        rest = rest[(index + 1)...]
        guard case .value(.string(let text)) = try JSONReader.read(quoted) else {
            throw RealmError(.invalidArgument, "\(quoted) is no string")
        }
        return (text, true)
    }

    /// What is left, without blanks around it; nil for nothing.
    mutating func remaining() -> String? {
        rest = rest.drop(while: Self.isBlank)
        while let last = rest.last, Self.isBlank(last) { rest.removeLast() }
        defer { rest = [] }
        return rest.isEmpty ? nil : Self.text(rest)
    }
}

enum Statement {
    static let verbs = ["create", "delete", "set", "upsert"]

    /// Does what a line says, in the write transaction; a line that says what was done.
    static func run(_ line: String, _ realm: Realm) throws -> String {
        var words = Words(line)
        guard let verb = try words.next()?.text, verbs.contains(verb) else {
            throw RealmError(
                .invalidArgument,
                "a statement begins with \(verbs.joined(separator: ", ")): \(line)")
        }
        guard let name = try words.next()?.text else { throw missing("a class", verb) }
        let class_ = try realm.class_(typed: name)
        switch verb {
        case "create": return try create(class_, &words, realm, .never, verb)
        case "upsert": return try create(class_, &words, realm, .modified, verb)
        case "set":
            let object = try object(class_, &words, realm, verb)
            defer { object.release() }
            try object.setValues(from: try values(&words, verb))
            return "set \(try shown(object, class_))"
        default: return try delete(class_, &words, realm)
        }
    }

    private static func missing(_ what: String, _ verb: String) -> RealmError {
        let form =
            switch verb {
            case "set": "set CLASS KEY JSON"
            case "delete": "delete CLASS KEY, or delete CLASS where QUERY"
            default: "\(verb) CLASS JSON"
            }
        return RealmError(.invalidArgument, "\(what) is missing: \(form)")
    }

    private static func values(_ words: inout Words, _ verb: String) throws(RealmError) -> ValueTree
    {
        guard let text = words.remaining() else { throw missing("a JSON object", verb) }
        return try JSONReader.read(text)
    }

    private static func create(
        _ class_: ClassSchema, _ words: inout Words, _ realm: Realm, _ policy: UpdatePolicy,
        _ verb: String
    ) throws(RealmError) -> String {
        let tree = try values(&words, verb)
        let before = try realm.objectCount(class_.key)
        let object = try realm.createObject(class_.key, from: tree, update: policy)
        defer { object.release() }
        let isNew = try realm.objectCount(class_.key) > before
        return "\(isNew ? "created" : "set") \(try shown(object, class_))"
    }

    private static func object(
        _ class_: ClassSchema, _ words: inout Words, _ realm: Realm, _ verb: String
    ) throws -> ObjectHandle {
        guard let key = try words.next() else { throw missing("a key", verb) }
        return try realm.object(class_, named: key)
    }

    private static func delete(
        _ class_: ClassSchema, _ words: inout Words, _ realm: Realm
    ) throws -> String {
        var ahead = words
        guard let next = try ahead.next() else { throw missing("a key", "delete") }
        if !next.isQuoted, next.text.lowercased() == "where", let query = ahead.remaining() {
            let results = try realm.chosen(class_, query)
            let count = try results.count()
            try results.deleteAll()
            return "deleted \(count) \(count == 1 ? "object" : "objects") of "
                + TextWidth.visible(class_.name)
        }
        let object = try object(class_, &words, realm, "delete")
        defer { object.release() }
        if let rest = words.remaining() {
            throw RealmError(.invalidArgument, "there is more behind the key: \(rest)")
        }
        let name = try shown(object, class_)
        try object.delete()
        return "deleted \(name)"
    }

    /// "Person 5", "Note #3".
    private static func shown(
        _ object: ObjectHandle, _ class_: ClassSchema
    ) throws(RealmError) -> String {
        let name = TextWidth.visible(class_.name)
        guard let place = class_.properties.firstIndex(where: { $0.name == class_.primaryKey })
        else { return "\(name) #\(object.objectKey)" }
        return "\(name) \(try ObjectText(object, class_).cell(place))"
    }
}
