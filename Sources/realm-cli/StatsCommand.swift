// `realm stats FILE`: what a file consists of and what takes the space.

import ArgumentParser
import CoreSwift

struct StatsCommand: AnsweringCommand {
    static let configuration = CommandConfiguration(
        commandName: "stats",
        abstract: "Shows sizes, versions, free space, and objects and bytes of each class.")

    @OptionGroup var options: FileOptions

    func work() throws {
        let realm = try Inspection.open(source.file, key: source.key())
        defer { realm.close() }
        let statistics = try realm.statistics()
        let schema = realm.schema
        try answer(text(statistics, schema), json(statistics, schema))
    }

    private static func primaryKey(_ class_: ClassStatistics, _ schema: Schema) -> String {
        schema.class_(named: class_.name)?.primaryKey ?? ""
    }

    private func text(_ file: RealmStatistics, _ schema: Schema) -> String {
        let used = file.fileBytes - file.freeBytes - file.pendingBytes
        var sizes = TextTable([("file", .left), (source.file, .left)])
        sizes.add(["size", "\(bytes(file.fileBytes)) (\(grouped(file.fileBytes)) bytes)"])
        sizes.add(["used", bytes(used)])
        sizes.add(["free", bytes(file.freeBytes)])
        sizes.add(["held for readers", bytes(file.pendingBytes)])
        sizes.add(["version", grouped(Int(file.version))])
        sizes.add(["live versions", grouped(file.liveVersions)])
        sizes.add(["schema version", file.schemaVersion.map { "\($0)" } ?? "none"])
        if let log = file.changeLog {
            sizes.add(["change log", bytes(log.bytes + log.tailBytes)])
            sizes.add(["change log behind version", grouped(Int(log.from))])
            for consumer in log.consumers {
                sizes.add([
                    "acknowledged by \(consumer.name)",
                    "version \(grouped(Int(consumer.acknowledged)))",
                ])
            }
        }
        var classes = TextTable([
            ("class", .left), ("primary key", .left), ("objects", .right), ("rows", .right),
            ("large values", .right), ("collections", .right), ("indexes", .right),
            ("bytes per object", .right),
        ])
        for item in file.classes {
            let key = Self.primaryKey(item, schema)
            let total = item.rowBytes + item.externalBytes + item.collectionBytes + item.indexBytes
            classes.add([
                item.name, key.isEmpty ? "–" : key,
                grouped(item.objects), bytes(item.rowBytes), bytes(item.externalBytes),
                bytes(item.collectionBytes), bytes(item.indexBytes),
                item.objects == 0 ? "–" : grouped(total / item.objects),
            ])
        }
        var indexes = TextTable([
            ("index", .left), ("kind", .left), ("entries", .right), ("bytes", .right),
        ])
        for item in file.classes {
            for index in item.indexes {
                indexes.add([
                    "\(item.name).\(index.property)",
                    index.source.rawValue, grouped(index.entries),
                    bytes(index.bytes),
                ])
            }
        }
        var text = sizes.rendered()
        if !file.classes.isEmpty { text += "\n" + classes.rendered() }
        if indexes.hasRows { text += "\n" + indexes.rendered() }
        // The end of the last line is not the answer's own.
        return String(text.dropLast())
    }

    private func json(_ file: RealmStatistics, _ schema: Schema) -> JSON {
        .object([
            ("file", .text(source.file)),
            ("file_bytes", .number(file.fileBytes)),
            ("free_bytes", .number(file.freeBytes)),
            ("pending_bytes", .number(file.pendingBytes)),
            ("version", .number(Int(file.version))),
            ("live_versions", .number(file.liveVersions)),
            ("schema_version", file.schemaVersion.map { .number(Int($0)) }),
            ("change_log", file.changeLog.map(json)),
            ("classes", .list(file.classes.map { json($0, schema) })),
        ])
    }

    private func json(_ log: ChangeLogStatistics) -> JSON {
        .object([
            ("behind_version", .number(Int(log.from))),
            ("bytes", .number(log.bytes)),
            ("tail_bytes", .number(log.tailBytes)),
            (
                "consumers",
                .list(
                    log.consumers.map {
                        .object([
                            ("name", .text($0.name)),
                            ("acknowledged_version", .number(Int($0.acknowledged))),
                        ])
                    })
            ),
        ])
    }

    private func json(_ class_: ClassStatistics, _ schema: Schema) -> JSON {
        .object([
            ("name", .text(class_.name)),
            ("primary_key", .text(Self.primaryKey(class_, schema))),
            ("objects", .number(class_.objects)),
            ("row_bytes", .number(class_.rowBytes)),
            ("large_value_bytes", .number(class_.externalBytes)),
            ("large_values", .number(class_.externalValues)),
            ("collection_bytes", .number(class_.collectionBytes)),
            ("collections", .number(class_.collections)),
            ("leaves", .number(class_.leafCount)),
            ("depth", .number(class_.depth)),
            (
                "indexes",
                .list(
                    class_.indexes.map { index in
                        .object([
                            ("property", .text(index.property)),
                            ("backlinks", .truth(index.source == .backlinks)),
                            ("kind", .text(index.source.rawValue)),
                            ("entries", .number(index.entries)),
                            ("bytes", .number(index.bytes)),
                            ("depth", .number(index.depth)),
                        ])
                    })
            ),
        ])
    }
}
