// `realm stats FILE`: what a file consists of and what takes the space.

import ArgumentParser
import CoreSwift

struct StatsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stats",
        abstract: "Shows sizes, versions, free space, and objects and bytes of each class.")

    @OptionGroup var options: FileOptions

    func run() throws {
        let report = try options.attempt { () throws(RealmError) in
            try Inspection.stats(options.file, key: options.key())
        }
        try answer(
            options.json ? json(report).rendered() + "\n" : text(report), terminator: "")
    }

    private func text(_ report: StatsReport) -> String {
        let file = report.statistics
        let used = file.fileBytes - file.freeBytes - file.pendingBytes
        var sizes = TextTable([("file", .left), (options.file, .left)])
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
        for entry in report.classes {
            let item = entry.sizes
            let total = item.rowBytes + item.externalBytes + item.collectionBytes + item.indexBytes
            classes.add([
                item.name, entry.primaryKey.isEmpty ? "–" : entry.primaryKey,
                grouped(item.objects), bytes(item.rowBytes), bytes(item.externalBytes),
                bytes(item.collectionBytes), bytes(item.indexBytes),
                item.objects == 0 ? "–" : grouped(total / item.objects),
            ])
        }
        var indexes = TextTable([
            ("index", .left), ("kind", .left), ("entries", .right), ("bytes", .right),
        ])
        for entry in report.classes {
            for index in entry.sizes.indexes {
                indexes.add([
                    "\(entry.sizes.name).\(index.property)",
                    index.source.rawValue, grouped(index.entries),
                    bytes(index.bytes),
                ])
            }
        }
        var text = sizes.rendered()
        if !report.classes.isEmpty { text += "\n" + classes.rendered() }
        if indexes.hasRows { text += "\n" + indexes.rendered() }
        return text
    }

    private func json(_ report: StatsReport) -> JSON {
        let file = report.statistics
        var members: [(String, JSON)] = [
            ("file", .text(options.file)),
            ("file_bytes", .number(file.fileBytes)),
            ("free_bytes", .number(file.freeBytes)),
            ("pending_bytes", .number(file.pendingBytes)),
            ("version", .number(Int(file.version))),
            ("live_versions", .number(file.liveVersions)),
        ]
        if let version = file.schemaVersion {
            members.append(("schema_version", .number(Int(version))))
        }
        if let log = file.changeLog { members.append(("change_log", json(log))) }
        members.append(("classes", .list(report.classes.map(json))))
        return .object(members)
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

    private func json(_ entry: StatsReport.Entry) -> JSON {
        .object([
            ("name", .text(entry.sizes.name)),
            ("primary_key", .text(entry.primaryKey)),
            ("objects", .number(entry.sizes.objects)),
            ("row_bytes", .number(entry.sizes.rowBytes)),
            ("large_value_bytes", .number(entry.sizes.externalBytes)),
            ("large_values", .number(entry.sizes.externalValues)),
            ("collection_bytes", .number(entry.sizes.collectionBytes)),
            ("collections", .number(entry.sizes.collections)),
            ("leaves", .number(entry.sizes.leafCount)),
            ("depth", .number(entry.sizes.depth)),
            (
                "indexes",
                .list(
                    entry.sizes.indexes.map { index in
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
