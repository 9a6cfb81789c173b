// Objects of rows, in one write transaction: all or none.
//
// A row may lead to objects of rows behind it. Such a row is created without its links first, and gets them at
// the end, when everything is there that will be.

import CoreSwift

struct Importing {
    private let realm: Realm
    private let class_: ClassSchema
    private let policy: UpdatePolicy
    private let ignoresUnknown: Bool
    private let takesObjectKeys: Bool
    private let reader: DataReader
    /// What may lead to objects.
    private let linking: Set<String>
    /// Objects that wait for their links, and the lines that they are of.
    private var waiting: [(line: Int, key: ObjectKey, entries: [ValueTree.Entry])] = []
    private(set) var count = 0

    init(
        _ realm: Realm, _ class_: ClassSchema, _ reader: DataReader, upserts: Bool,
        ignoresUnknown: Bool, takesObjectKeys: Bool
    ) {
        self.realm = realm
        self.class_ = class_
        self.reader = reader
        policy = upserts ? .modified : .never
        self.ignoresUnknown = ignoresUnknown
        self.takesObjectKeys = takesObjectKeys
        linking = Set(
            class_.properties.filter { $0.type == .object || $0.type == .mixed }.map(\.name))
    }

    /// In a write transaction of the caller.
    mutating func run(_ format: DataFormat) throws(RealmError) {
        switch format {
        case .csv:
            let rows = try CSVRows(
                class_, realm.schema, reader, ignoresUnknown: ignoresUnknown)
            while let entries = try rows.next() { try add(.dictionary(entries)) }
        case .jsonl:
            while let text = try reader.nextText() {
                let tree: ValueTree
                do throws(RealmError) { tree = try JSONReader.read(text) } catch {
                    throw reader.wrong(error.message, error.code)
                }
                try add(tree)
            }
        }
        for item in waiting {
            let object = try realm.object(class_.key, item.key)
            defer { object.release() }
            do throws(RealmError) {
                try object.setValues(
                    from: .dictionary(item.entries), update: policy, ignoresUnknown: ignoresUnknown)
            } catch {
                throw RealmError(
                    error.code, "\(reader.name), line \(item.line): \(error.message)")
            }
        }
    }

    private mutating func add(_ tree: ValueTree) throws(RealmError) {
        do throws(RealmError) {
            if !takesObjectKeys { try checkLinks(tree) }
            do throws(RealmError) {
                try create(tree).release()
            } catch {
                guard error.code == .noSuchObject, case .dictionary(let entries) = tree else {
                    throw error
                }
                let object = try create(.dictionary(entries.filter { !linking.contains($0.name) }))
                defer { object.release() }
                // With what names the object for links in its own values.
                let later = entries.filter { linking.contains($0.name) || $0.name == "$id" }
                waiting.append((reader.line, object.objectKey, later))
            }
        } catch {
            throw reader.wrong(error.message, error.code)
        }
        count += 1
    }

    private func create(_ tree: ValueTree) throws(RealmError) -> ObjectHandle {
        try realm.createObject(
            class_.key, from: tree, update: policy, ignoresUnknown: ignoresUnknown)
    }

    /// Refuses links by object keys, which lead to other objects in another file. Recursion ends with the
    /// depth of JSON text.
    private func checkLinks(_ tree: ValueTree) throws(RealmError) {
        switch tree {
        case .value, .number: break
        case .list(let elements): for element in elements { try checkLinks(element) }
        case .dictionary(let entries):
            if entries.count == 1, entries[0].name == "$dictionary",
                case .dictionary(let plain) = entries[0].value
            {
                for entry in plain { try checkLinks(entry.value) }
                return
            }
            if entries.count == 1, entries[0].name == "$link",
                case .dictionary(let parts) = entries[0].value,
                case .value(.string(let name))? = parts.first(where: { $0.name == "table" })?.value,
                let target = realm.schema.class_(named: name), target.primaryKeyProperty == nil
            {
                throw RealmError(
                    .invalidArgument,
                    "a link to an object of class '\(name)' by its object key, which means another "
                        + "object in another file; --object-keys takes it")
            }
            for entry in entries { try checkLinks(entry.value) }
        }
    }
}
