// `realm watch FILE [CLASS [QUERY]]`: what other programs commit, as they do it.
//
// The tool holds the version that it told last, waits on the scheduler's descriptor until somebody commits,
// and compares with the newest version then. What is shown of an object is read in these two versions, so it is
// consistent, whatever is committed meanwhile; several commits may be told as one.

import ArgumentParser
import CoreSwift

struct WatchCommand: FileCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Prints changes as other programs commit them.",
        discussion: """
            Goes on until it is ended, or has told of --commits. Several commits in a short time may be \
            told as one. With a query, objects for which it becomes true are told as entered, others that it \
            no longer is true for as left.

            Example: realm watch people.realm Person "age > 40" --format jsonl
            """)

    /// Milliseconds after which it looks whether the file is there.
    private static let patience: Int32 = 1000

    @OptionGroup var source: FileArgument
    @Argument(
        help: ArgumentHelp("The class; all if not given.", valueName: "class"),
        completion: ClassCompletion.kind)
    var className: String?
    @Argument(help: ArgumentHelp("A query.", valueName: "query"))
    var query: String?
    @Option(help: "text or jsonl, a JSON object a line for each object that changed.")
    var format = OperationFormat.text
    @Option(help: ArgumentHelp("End after so many commits that changed something.", valueName: "n"))
    var commits: Int?

    func validate() throws {
        if let commits, commits < 1 { throw ValidationError("--commits is 1 or more.") }
    }

    func work() throws {
        // What the realm does is told through it.
        let scheduler = ThreadScheduler.ofThisThread
        let event = try scheduler.eventDescriptor()
        let realm = try source.open()
        defer { realm.close() }
        let class_ = try className.map { try realm.class_(typed: $0) }
        let output = Output()
        guard try realm.canFollow() else {
            throw RealmError(
                .filePermissionDenied,
                "no lock file can be made beside the file, by which others would tell of their commits"
            )
        }
        var base = try realm.freeze()
        defer { base.close() }
        // The query is checked before anything is waited for.
        if let class_, let query { _ = try base.chosen(class_, query).count() }
        writeToStandardError(
            "realm: \(TextWidth.visible(source.file)): watching from version \(base.version ?? 0)\n"
        )
        var told = 0
        while told < commits ?? .max {
            var waiting = pollfd(fd: event, events: Int16(POLLIN), revents: 0)
            let count = poll(&waiting, 1, Self.patience)
            guard count >= 0 || errno == EINTR else {
                throw RealmError(.systemError, "can't wait: \(String(cString: strerror(errno)))")
            }
            guard count > 0 else {
                try checkIsThere()
                continue
            }
            scheduler.queue.performWork()
            _ = try realm.refresh()
            guard realm.version != base.version else { continue }
            let newer = try realm.freeze()
            let wasTold: Bool
            do {
                wasTold = try tell(base, newer, output)
                try output.flush()
            } catch {
                newer.close()
                throw error
            }
            base.close()
            base = newer
            if wasTold { told += 1 }
        }
    }

    /// Nobody commits to a file that has no name any more.
    private func checkIsThere() throws(RealmError) {
        guard access(source.file, F_OK) != 0, errno == ENOENT else { return }
        throw RealmError(
            .fileNotFound, "'\(source.file)' was deleted or moved; nothing more can be told of it")
    }

    /// False when nothing of interest changed.
    private func tell(_ old: Realm, _ new: Realm, _ output: Output) throws -> Bool {
        let version = new.version ?? 0
        let changes: [UInt8]
        do throws(RealmError) {
            changes = try old.changes(to: new)
        } catch {
            guard error.code == .schemaMismatch else { throw error }
            try output.write(
                format == .text
                    ? "version \(version): schema changed\n"
                    : "{\"version\":\(version),\"change\":\"schema\"}\n")
            return true
        }
        let changed = ChangedObjects()
        try old.readChanges(changes) { changed.note($0) }
        var teller = ChangeTeller(
            old: old, new: new, version: version, format: format, output: output)
        for class_ in new.schema.classes where className == nil || class_.name == className {
            // With a query, objects enter and leave also where only others changed.
            let none = query == nil ? nil : ChangedObjects.OfClass()
            guard let objects = changed.classes[class_.key] ?? none else { continue }
            if let query {
                teller.chosenOld = try Self.keys(old, class_, query)
                teller.chosenNew = try Self.keys(new, class_, query)
            }
            try teller.tell(class_, objects)
        }
        return teller.count > 0
    }

    private static func keys(
        _ realm: Realm, _ class_: ClassSchema, _ query: String
    ) throws -> Set<ObjectKey> {
        let results = try realm.chosen(class_, query)
        let count = try results.count()
        var keys = [ObjectKey](repeating: .invalid, count: count)
        _ = try keys.withUnsafeMutableBufferPointer { buffer throws(RealmError) -> Int in
            guard let start = buffer.baseAddress else { return 0 }
            return try results.readKeys(from: 0, count: count, into: start)
        }
        return Set(keys)
    }
}

/// Which objects of which classes changed between two versions.
private final class ChangedObjects {
    struct OfClass {
        var created: Set<ObjectKey> = []
        var deleted: Set<ObjectKey> = []
        var modified: Set<ObjectKey> = []
    }

    private(set) var classes: [ClassKey: OfClass] = [:]

    func note(_ operation: LoggedOperation) -> Bool {
        guard operation.classKey != .invalid, operation.kind != .element else { return true }
        let keys = operation.firstObject...operation.lastObject
        switch operation.kind {
        case .created: classes[operation.classKey, default: OfClass()].created.formUnion(keys)
        case .deleted: classes[operation.classKey, default: OfClass()].deleted.formUnion(keys)
        default: classes[operation.classKey, default: OfClass()].modified.formUnion(keys)
        }
        return true
    }
}

/// Writes a line for each object that changed.
private struct ChangeTeller {
    let old: Realm
    let new: Realm
    let version: UInt64
    let format: OperationFormat
    let output: Output
    /// What a query is true for; nil: there is none.
    var chosenOld: Set<ObjectKey>?
    var chosenNew: Set<ObjectKey>?
    var count = 0

    mutating func tell(
        _ class_: ClassSchema, _ changed: ChangedObjects.OfClass
    ) throws(RealmError) {
        for key in changed.deleted.subtracting(changed.created).sorted()
        where chosenOld?.contains(key) ?? true {
            try write("deleted", class_, key, before: true, after: false)
        }
        for key in changed.created.subtracting(changed.deleted).sorted()
        where chosenNew?.contains(key) ?? true {
            try write("created", class_, key, before: false, after: true)
        }
        let both = changed.created.intersection(changed.deleted)
        let modified = changed.modified.subtracting(changed.created).subtracting(changed.deleted)
        for key in modified.union(both).sorted() {
            guard let chosenOld, let chosenNew else {
                try write("modified", class_, key, before: true, after: true)
                continue
            }
            switch (chosenOld.contains(key), chosenNew.contains(key)) {
            case (true, true): try write("modified", class_, key, before: true, after: true)
            case (false, true): try write("entered", class_, key, before: false, after: true)
            case (true, false): try write("left", class_, key, before: true, after: false)
            case (false, false): break
            }
        }
        // Objects that came or went for the query because of others, such as those that they link to.
        guard let chosenOld, let chosenNew else { return }
        let touched = modified.union(changed.created).union(changed.deleted)
        for key in chosenNew.subtracting(chosenOld).subtracting(touched).sorted() {
            try write("entered", class_, key, before: false, after: true)
        }
        for key in chosenOld.subtracting(chosenNew).subtracting(touched).sorted() {
            try write("left", class_, key, before: true, after: false)
        }
    }

    private func text(
        _ realm: Realm, _ class_: ClassSchema, _ key: ObjectKey
    ) throws(RealmError) -> ObjectText {
        let object = try realm.object(class_.key, key)
        defer { object.release() }
        return try ObjectText(object, class_)
    }

    private mutating func write(
        _ change: String, _ class_: ClassSchema, _ key: ObjectKey, before: Bool, after: Bool
    ) throws(RealmError) {
        let past: ObjectText? = before ? try text(old, class_, key) : nil
        let present: ObjectText? = after ? try text(new, class_, key) : nil
        var columns = Array(class_.properties.indices)
        if let past, let present {
            columns = columns.filter { ByteText(past.json($0)) != ByteText(present.json($0)) }
            // Set to what it was.
            if columns.isEmpty { return }
        }
        count += 1
        try output.write(
            format == .text
                ? line(change, class_, key, past, present, columns)
                : json(change, class_, key, past, present, columns))
    }

    private func line(
        _ change: String, _ class_: ClassSchema, _ key: ObjectKey, _ past: ObjectText?,
        _ present: ObjectText?, _ columns: [Int]
    ) throws(RealmError) -> String {
        var name = "#\(key)"
        if let place = class_.properties.firstIndex(where: { $0.name == class_.primaryKey }) {
            name = try (present ?? past)?.cell(place) ?? name
        }
        var line = "version \(version): \(change) \(TextWidth.visible(class_.name)) \(name)"
        if let past, let present {
            let parts = columns.map {
                "\(class_.properties[$0].name) \(past.json($0)) → \(present.json($0))"
            }
            line += ": " + TextWidth.visible(parts.joined(separator: ", "))
        } else if let present {
            line += " " + TextWidth.visible(present.json)
        }
        return line + "\n"
    }

    private func json(
        _ change: String, _ class_: ClassSchema, _ key: ObjectKey, _ past: ObjectText?,
        _ present: ObjectText?, _ columns: [Int]
    ) -> String {
        var members = [
            "\"version\":\(version)", "\"change\":\"\(change)\"",
            "\"class\":\(JSON.quoted(class_.name))", "\"key\":\(key)",
        ]
        if let place = class_.properties.firstIndex(where: { $0.name == class_.primaryKey }),
            let text = (present ?? past)?.json(place)
        {
            members.append("\"primary_key\":\(text)")
        }
        if let past { members.append("\"old\":\(past.json(columns))") }
        if let present { members.append("\"new\":\(present.json(columns))") }
        return "{" + members.joined(separator: ",") + "}\n"
    }
}
