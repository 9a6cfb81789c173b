// What the commands that work with one file have in common: the file with its key, opening it to read or to
// write, classes and conditions by their text, how errors are told, and answers that may be JSON.

import ArgumentParser
import CoreSwift

/// A realm file that is there, and its key.
struct FileArgument: ParsableArguments {
    @Argument(help: "The realm file.", completion: .file(extensions: ["realm"]))
    var file: String

    @Option(
        name: .customLong("key-file"),
        help: ArgumentHelp(
            "A file with the 64 bytes of the realm file's encryption key, and nothing else.",
            valueName: "path"),
        completion: .file())
    var keyFile: String?

    /// The encryption key; empty without one.
    func key() throws(RealmError) -> [UInt8] {
        try keyFile.map(KeyFile.load) ?? []
    }

    /// To read, beside whoever writes.
    func open() throws(RealmError) -> Realm {
        let realm = try Inspection.open(file, key: key())
        try realm.beginRead()
        return realm
    }

    /// To write, with the schema that the file has.
    func openForWriting() throws(RealmError) -> Realm {
        let realm = try Inspection.open(file, key: key(), mode: .automatic)
        try realm.beginRead()
        return realm
    }
}

/// A command that needs no more of errors than that they are told under the name of its file.
protocol FileCommand: ParsableCommand {
    var source: FileArgument { get }
    /// As one JSON object.
    var tellsJSON: Bool { get }
    func work() throws
}

extension FileCommand {
    var tellsJSON: Bool { false }

    func run() throws {
        do {
            try work()
        } catch let error as RealmError {
            throw failure(error, source.file, json: tellsJSON)
        } catch let error as QueryMistake {
            writeToStandardError("realm: \(TextWidth.visible(source.file)): \(error.message)\n")
            throw ExitStatus.unreadable
        }
    }
}

/// Options of commands whose answer is a text, or one JSON object.
struct FileOptions: ParsableArguments {
    @OptionGroup var source: FileArgument

    @Flag(help: "Print one JSON object instead of text.")
    var json = false
}

/// Such a command.
protocol AnsweringCommand: FileCommand {
    var options: FileOptions { get }
}

extension AnsweringCommand {
    var source: FileArgument { options.source }
    var tellsJSON: Bool { options.json }

    /// Prints what the command has to say at its end.
    func answer(_ text: @autoclosure () -> String, _ json: @autoclosure () -> JSON) throws {
        try realm_cli.answer(tellsJSON ? json().rendered() : text())
    }
}

/// Runs what was said at a place of something longer, which errors name.
func at<R>(_ place: String, _ body: () throws -> R) throws -> R {
    do {
        return try body()
    } catch let error as RealmError {
        throw RealmError(error.code, "\(place): \(error.message)")
    } catch let error as QueryMistake {
        throw QueryMistake(error, behind: place)
    }
}

/// What is wrong with the text of a query, and where.
struct QueryMistake: Error {
    /// A sentence; where the place is known, two lines more: the text, and a mark under the place.
    let message: String

    /// Of an error that the engine threw for a text; `place`: where in it (`Query.place`).
    init(_ error: RealmError, _ text: String, _ place: Range<Int>?) {
        // The text stands under the message, or is known to who typed it.
        var message = "the query: " + TextWidth.visible(Query.withoutText(error.message, text))
        if let place { message += "\n" + Self.drawn(text, place.lowerBound) }
        self.message = message
    }

    /// The same mistake, in a place of something longer.
    init(_ other: QueryMistake, behind place: String) { message = "\(place): \(other.message)" }

    /// The text, or the part of it around the place, and the mark below.
    private static func drawn(_ text: String, _ place: Int) -> String {
        let bytes = Array(text.utf8)
        func shown(_ part: ArraySlice<UInt8>) -> String {
            TextWidth.visible(String(decoding: part, as: UTF8.self))
        }
        let width = 70
        var before = shown(bytes[..<place])
        var behind = shown(bytes[place...])
        if TextWidth.of(before) > width / 2 {
            // Each character is measured once, however long the text is.
            var room = width / 2
            let near = before.reversed().prefix { character in
                room -= TextWidth.of(String(character))
                return room >= 0
            }
            before = "…" + String(near.reversed())
        }
        behind = TextWidth.cut(behind, to: width - TextWidth.of(before))
        let blanks = String(repeating: " ", count: TextWidth.of(before))
        return "    \(before)\(behind)\n    \(blanks)^"
    }
}

extension Realm {
    /// Whether it can move to newer versions, which it does; false where no lock file can be made beside the
    /// file (`Inspection.open`).
    func canFollow() throws(RealmError) -> Bool {
        do throws(RealmError) {
            _ = try refresh()
            return true
        } catch {
            guard error.code == .wrongTransactionState else { throw error }
            return false
        }
    }

    /// A class by the name that was typed.
    func class_(typed name: String) throws(RealmError) -> ClassSchema {
        if let found = schema.class_(named: name) { return found }
        let names = schema.classes.map(\.name).joined(separator: ", ")
        throw RealmError(
            .noSuchTable,
            "no class '\(name)'; "
                + (names.isEmpty ? "the file has no classes" : "its classes are \(names)"))
    }

    /// The objects of a class for which a query is true, in its order; all without one. Throws
    /// `QueryMistake` where the text is at fault.
    func chosen(_ class_: ClassSchema, _ query: String?) throws -> Results {
        let all = try results(class_.key)
        guard let query else { return all }
        do throws(RealmError) {
            return try all.filter(query)
        } catch {
            switch error.code {
            case .invalidQueryString, .invalidQuery, .invalidQueryArg, .notSupported,
                .limitExceeded, .illegalOperation:
                throw QueryMistake(
                    error, query,
                    Query.place(of: error, in: query, schema: schema, classKey: class_.key))
            default: throw error
            }
        }
    }

    /// The object whose primary key is null.
    func objectOfNull(_ class_: ClassSchema) throws -> ObjectHandle {
        guard let property = class_.primaryKeyProperty, property.isNullable else {
            throw RealmError(
                .invalidArgument,
                "class '\(class_.name)' has no "
                    + (class_.primaryKey.isEmpty
                        ? "primary key"
                        : "objects whose primary key is null: "
                            + "'\(class_.primaryKey)' is required"))
        }
        guard let found = try findObject(class_.key, primaryKey: .null) else {
            throw RealmError(
                .noSuchObject, "class '\(class_.name)' has no object whose primary key is null")
        }
        return found
    }

    /// The object that a word of a statement names: `#5` by its object key, `null` where that can be a
    /// primary key, others by their primary key; in quotes each is that.
    func object(
        _ class_: ClassSchema, named word: (text: String, isQuoted: Bool)
    ) throws -> ObjectHandle {
        if !word.isQuoted {
            if word.text.hasPrefix("#") {
                return try object(
                    class_, named: String(word.text.dropFirst()), byObjectKey: true)
            }
            if word.text == "null", class_.primaryKeyProperty?.isNullable == true {
                return try objectOfNull(class_)
            }
        }
        return try object(class_, named: word.text, byObjectKey: false)
    }

    /// The object that is named by its primary key as text, or by its object key.
    func object(_ class_: ClassSchema, named text: String, byObjectKey: Bool) throws -> ObjectHandle
    {
        func none() -> RealmError {
            RealmError(.noSuchObject, "class '\(class_.name)' has no object '\(text)'")
        }
        guard !byObjectKey, let property = class_.primaryKeyProperty else {
            guard let number = Int64(text), number >= 0 else {
                throw RealmError(
                    .invalidArgument,
                    "'\(text)' is no object key, which is a number"
                        + (byObjectKey ? "" : "; class '\(class_.name)' has no primary key"))
            }
            guard let found = try findObject(class_.key, ObjectKey(rawValue: number)) else {
                throw none()
            }
            return found
        }
        let key: Value
        switch property.type {
        case .int:
            guard let number = Int64(text) else {
                throw RealmError(
                    .invalidArgument,
                    "'\(text)' is no primary key of class '\(class_.name)', which is an int")
            }
            key = .int(number)
        case .objectId: key = .objectId(try ObjectId(parsing: text))
        case .uuid: key = .uuid(try UUIDValue(parsing: text))
        default: key = .string(text)
        }
        let found = try key.withRaw { raw throws(RealmError) in
            try findObject(class_.key, primaryKey: raw)
        }
        guard let found else { throw none() }
        return found
    }
}
