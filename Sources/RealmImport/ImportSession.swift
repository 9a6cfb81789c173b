// The work of an import: writes the objects of a file of realm-core into a new file of ours.
//
// Objects of a class are made with all values that lead nowhere, and with links to classes that are complete;
// what is left is put into them afterwards: links among classes that link to each other, mixed values,
// embedded objects. Classes come in an order that leaves little. Embedded objects are made where they are
// owned, and filled when their table is read: those within embedded objects by reading it again.
//
// Objects keep their keys, but for those of integer primary keys, which are keys here themselves.

import CoreSwift
import RealmCoreFile

final class ImportSession {
    private static let bytesPerCommit = 32 << 20
    /// What waits for indexes is put aside more often where it is much, which takes less memory.
    private static let bytesPerSpill = bytesPerCommit / 2
    private static let lossesMax = 100
    /// Embedded objects within embedded objects.
    private static let levelsMax = 100
    private static let objectsPerStep = 4096
    /// What of the work is done before the new file is written in one go.
    private static let shareOfReading = 0.9

    /// A class of the new file.
    final class Target {
        let table: Int
        let place: Int
        let schema: ClassSchema
        var map: KeyMap
        /// All of its objects are there.
        var isComplete = false
        /// Embedded objects that were made and are to be filled, by their old keys.
        var unfilled: [Int64] = []
        /// Links among its objects.
        let forward: ForwardLinks
        /// Of all objects that were made, roughly.
        var bytes = 0
        /// Links to its objects are looked up in the new file.
        var looksUpLinks = false

        init(
            _ table: Int, _ place: Int, _ schema: ClassSchema, keepsKeys: Bool, isFilling: Bool
        ) {
            self.table = table
            self.place = place
            self.schema = schema
            map = KeyMap(keepsKeys: keepsKeys)
            forward = ForwardLinks(promises: isFilling && keepsKeys)
        }

        /// The key in the new file of an object that is there, or that was promised; nil where it is known
        /// that there is none.
        @inline(__always)
        func counterpart(_ old: Int64) -> ObjectKey? {
            map.counterpart(old) ?? promised(old)
        }

        private func promised(_ old: Int64) -> ObjectKey? {
            forward.promised.contains(old) ? ObjectKey(rawValue: old) : nil
        }
    }

    /// A column as it is put into objects. A class, so that nothing is copied for each of them.
    final class Column {
        /// Index in `CoreTable.columns`.
        let place: Int
        let column: CoreColumn
        let property: PropertySchema
        /// Its values are cells, not collections or mixed values.
        let isPlain: Bool
        /// A list or set of cells.
        let isPlainCollection: Bool
        /// Links to one object of the same class, some of which may have to wait (`ForwardLinks`).
        let isOwn: Bool
        /// Lists of such links, each of which waits as a whole, or not.
        let isOwnList: Bool

        init(_ place: Int, _ column: CoreColumn, _ property: PropertySchema, isOfClass: Bool) {
            self.place = place
            self.column = column
            self.property = property
            isPlain = column.collection == .none && column.type != .mixed
            isPlainCollection =
                (column.collection == .list || column.collection == .set) && column.type != .mixed
            let isOfClass = isOfClass && column.type == .link
            isOwn = isOfClass && column.collection == .none
            isOwnList = isOfClass && column.collection == .list
        }
    }

    /// What of a column with plain values the making of objects looks at, without counting references.
    private struct PlainColumn {
        /// Index among the columns that are read.
        let index: Int
        let place: Int
        let key: PropertyKey
        let isOwn: Bool
        /// Of the cluster at hand.
        var cells: UnsafePointer<CoreCell>?

        init(_ index: Int, _ column: Column) {
            self.index = index
            place = column.place
            key = column.property.key
            isOwn = column.isOwn
        }
    }

    let file: CoreFile
    let realm: Realm
    private let old: OldSchema
    private let progress: ((Double) -> Bool)?
    private(set) var report: ImportReport
    /// By index in `CoreFile.tables`.
    private(set) var targets: [Target?]
    /// The new file is filled in bulk, which no value that doesn't fit may disturb.
    let isFilling: Bool
    /// There is such a value: the work is to be done again, with `isFilling` false.
    private(set) var wantsCare = false
    /// Texts that were repaired before.
    private let repairedBefore: Int
    /// The error of the new file that made the reading stop.
    private(set) var failure: RealmError?
    let elements = ElementBuffer()
    private var writtenBytes = 0
    private var unspilledBytes = 0
    private var done = 0
    private var total = 1

    init(
        _ file: CoreFile, _ realm: Realm, _ old: OldSchema, isFilling: Bool,
        _ progress: ((Double) -> Bool)?
    ) throws(RealmError) {
        self.isFilling = isFilling
        self.file = file
        repairedBefore = file.repairedTexts
        self.realm = realm
        self.old = old
        self.progress = progress
        report = ImportReport(
            format: file.formatVersion, schemaVersion: file.schemaVersion,
            classes: old.classes.map { .init(name: $0.name, isEmbedded: $0.isEmbedded) },
            notes: old.notes)
        targets = Array(repeating: nil, count: file.tables.count)
        for (place, item) in old.classes.enumerated() {
            guard let schema = realm.schema.class_(named: item.name) else { continue }
            targets[item.table] = Target(
                item.table, place, schema, keepsKeys: try realm.takesKeys(schema.key),
                isFilling: isFilling)
        }
    }

    // MARK: Order of work

    func copy() throws(CoreFileError) {
        let ordinary = inOrder(old.classes.filter { !$0.isEmbedded })
        try plan(ordinary)
        try writing { () throws(RealmError) in
            try realm.beginWrite()
            if isFilling { try realm.beginFilling() }
        }
        var late: [(OldSchema.Class, [Column])] = []
        for item in ordinary {
            guard let target = targets[item.table] else { continue }
            let all = columns(item, target)
            let early = all.map { isEarly($0) }
            try create(item, target, all.indices.filter { early[$0] }.map { all[$0] })
            try checkPromises(target)
            target.isComplete = true
            let left = all.indices.filter {
                !early[$0] || target.forward.columns.contains(all[$0].place)
            }
            late.append((item, left.map { all[$0] }))
        }
        for (item, columns) in late where !columns.isEmpty {
            if let target = targets[item.table] { try fill(item, target, columns, nil) }
        }
        let embedded = old.classes.filter { $0.isEmbedded }
        var level = 0
        while level < Self.levelsMax {
            var isDone = true
            for item in embedded {
                guard let target = targets[item.table], !target.unfilled.isEmpty else { continue }
                isDone = false
                let keys = target.unfilled.sorted()
                target.unfilled = []
                try fill(item, target, columns(item, target), keys)
            }
            if isDone { break }
            level += 1
        }
        for item in embedded {
            guard let count = targets[item.table]?.unfilled.count, count > 0 else { continue }
            lose("class '\(item.name)': \(count) objects that own each other too deep", count)
        }
        let repaired = file.repairedTexts - repairedBefore
        if repaired > 0 {
            lose("\(repaired) texts were no UTF-8; what is wrong in them is U+FFFD now", repaired)
        }
        for item in old.classes where targets[item.table]?.map.hasOthers == true {
            report.notes.append("class '\(item.name)': some objects have new keys")
        }
        for item in ordinary where targets[item.table]?.map.keepsKeys == false {
            report.notes.append(
                "class '\(item.name)': the keys of objects are their primary keys here")
        }
        try writing { () throws(RealmError) in
            guard isFilling else { return try realm.commit() }
            do throws(RealmError) {
                try realm.endFilling()
            } catch {
                wantsCare = error.code == .objectAlreadyExists
                throw error
            }
        }
    }

    /// Classes behind those that they link to, as far as that can be.
    private func inOrder(_ classes: [OldSchema.Class]) -> [OldSchema.Class] {
        var left = classes
        var ordered: [OldSchema.Class] = []
        while !left.isEmpty {
            let names = Set(left.map(\.table))
            let next =
                left.firstIndex { item in
                    item.columns.allSatisfy {
                        guard let target = file.tables[item.table].columns[$0].target else {
                            return true
                        }
                        return target == item.table || !names.contains(target)
                    }
                } ?? 0
            ordered.append(left.remove(at: next))
        }
        return ordered
    }

    /// Counts what is to be done, for the progress.
    private func plan(_ ordinary: [OldSchema.Class]) throws(CoreFileError) {
        guard progress != nil else { return }
        for item in old.classes {
            let count = try file.objectCount(of: item.table)
            // As a rule those with mixed values are read twice, and those with links to themselves that
            // wait.
            let isTwice =
                !item.isEmbedded
                && item.columns.contains {
                    let column = file.tables[item.table].columns[$0]
                    return column.type == .mixed || !isFilling && column.target == item.table
                }
            total += isTwice ? count * 2 : count
        }
    }

    private func columns(_ item: OldSchema.Class, _ target: Target) -> [Column] {
        item.columns.compactMap { place in
            let column = file.tables[item.table].columns[place]
            guard let property = target.schema.property(named: column.name) else { return nil }
            return Column(
                place, column, property,
                isOfClass: column.target == item.table && !item.isEmbedded)
        }
    }

    /// Whether values of a column can be put into objects when they are made: they lead nowhere, or to
    /// objects that are there.
    private func isEarly(_ item: Column) -> Bool {
        if item.isOwn || item.isOwnList { return true }
        switch item.column.type {
        case .mixed, .typedLink: return false
        case .link:
            guard let index = item.column.target, let target = targets[index] else { return false }
            return item.column.collection != .dictionary && target.isComplete
                && target.schema.kind != .embedded
        default: return true
        }
    }

    /// Runs what writes to the new file; its error ends the reading.
    func writing<Result>(
        _ body: () throws(RealmError) -> Result
    ) throws(CoreFileError) -> Result {
        do throws(RealmError) {
            return try body()
        } catch {
            failure = error
            throw CoreFileError(.misuse, error.message)
        }
    }

    /// Counts what was written, and commits where it is much.
    private func finish(_ bytes: Int) throws(CoreFileError) {
        writtenBytes += bytes
        unspilledBytes += bytes
        if writtenBytes >= Self.bytesPerCommit {
            writtenBytes = 0
            unspilledBytes = 0
            try writing { () throws(RealmError) in
                if isFilling { return try realm.commitPart() }
                try realm.commit()
                try realm.beginWrite()
            }
        } else if isFilling, unspilledBytes >= Self.bytesPerSpill {
            unspilledBytes = 0
            try writing { () throws(RealmError) in try realm.spillPart() }
        }
        done += 1
        guard done % Self.objectsPerStep == 0, let progress else { return }
        let share = min(Double(done) / Double(total), 1) * Self.shareOfReading
        guard progress(share) else {
            try writing { () throws(RealmError) in
                throw RealmError(.operationAborted, "the import was ended")
            }
            return
        }
    }

    /// What a cell takes, roughly.
    func size(_ cell: CoreCell) -> Int {
        cell.kind == .text || cell.kind == .binary ? 16 + Int(cell.second) : 16
    }

    // MARK: Making objects

    private func create(
        _ item: OldSchema.Class, _ target: Target, _ columns: [Column]
    ) throws(CoreFileError) {
        let row = RowBuffer(columns.count)
        let key = columns.firstIndex { $0.place == item.primaryKey }
        var plain = columns.indices.filter { columns[$0].isPlain && $0 != key }
            .map { PlainColumn($0, columns[$0]) }
        let others = columns.indices.filter { !columns[$0].isPlain }
        try file.forEachCluster(of: item.table, columns: columns.map(\.place)) {
            (cluster) throws(CoreFileError) in
            for position in plain.indices {
                plain[position].cells = cluster.cells(plain[position].index)
            }
            for place in cluster.keys.indices {
                row.clear()
                for position in plain.indices {
                    let column = plain[position]
                    var cell = column.cells?[place] ?? CoreCell(.deferred)
                    if cell.kind == .null { continue }
                    if cell.kind == .deferred {
                        cell = try cluster.cell(column.index, place)
                        if cell.kind == .null { continue }
                    }
                    if column.isOwn,
                        target.forward.waits(cell, column.place, cluster.keys[place])
                    {
                        continue
                    }
                    guard let value = raw(cell) else {
                        lose(missing(cell))
                        continue
                    }
                    row.add(column.key, value, size(cell))
                }
                let primaryKey: RawValue? =
                    if let key { raw(try cluster.cell(key, place)) } else { nil }
                let handle = try writing { () throws(RealmError) in
                    try make(target, cluster.keys[place], primaryKey, row)
                }
                cluster.finishObject()
                guard let handle else { continue }
                defer { handle.release() }
                report.classes[target.place].objects += 1
                var bytes = row.bytes
                for index in others {
                    if !columns[index].isPlainCollection, try cluster.isEmpty(index, place) {
                        continue
                    }
                    bytes += try put(
                        cluster, index, place, columns[index], handle, target, isFirst: true)
                }
                target.bytes += bytes
                try finish(bytes)
            }
        }
    }

    /// Nil, with a loss noted, where there can't be such an object.
    private func make(
        _ target: Target, _ old: Int64, _ primaryKey: RawValue?, _ row: RowBuffer
    ) throws(RealmError) -> ObjectHandle? {
        do throws(RealmError) {
            let handle = try make(target, old, primaryKey, row, row.count)
            try note(target, old, handle)
            return handle
        } catch {
            try checkTolerable(error)
        }
        // One of the values, or the object itself.
        let handle: ObjectHandle
        do throws(RealmError) {
            handle = try make(target, old, primaryKey, row, 0)
        } catch {
            guard isAboutData(error) else { throw error }
            lose("class '\(target.schema.name)', object \(old): \(error.message)")
            return nil
        }
        try note(target, old, handle)
        for index in 0..<row.count {
            let key = row.keys[index]
            let name = target.schema.properties.first { $0.key == key }?.name ?? "\(key)"
            try tolerating(target, old, name) { () throws(RealmError) in
                try handle.setValue(key, row.values[index])
            }
        }
        return handle
    }

    /// Notes what became of an object.
    @inline(__always)
    private func note(
        _ target: Target, _ old: Int64, _ handle: ObjectHandle
    ) throws(RealmError) {
        target.map.add(old, handle.objectKey)
        if target.map.hasTooManyOthers {
            throw RealmError(
                .invalidDatabase,
                "class '\(target.schema.name)': more than \(KeyMap.othersMax) objects have keys that the old "
                    + "library does not give; the last is \(old)")
        }
        if !target.map.knowsKeys, isFilling, !target.looksUpLinks {
            target.looksUpLinks = true
            target.forward.endPromises(at: old)
            try realm.checkLinks(to: target.schema.key)
        }
    }

    /// Compares the objects that links were promised with those that there are. In a sound file
    /// they are all there.
    private func checkPromises(_ target: Target) throws(CoreFileError) {
        let promised = target.forward.promised
        target.map.forEachRange { promised.remove($0) }
        var next = promised.next(from: 0)
        while let key = next {
            // Where the ranges are too many the file tells.
            guard !target.map.knowsKeys, let handle = try object(target, key) else {
                wantsCare = true
                throw CoreFileError(.misuse, missing(target.table, key))
            }
            handle.release()
            next = promised.next(from: key + 1)
        }
    }

    private func make(
        _ target: Target, _ old: Int64, _ primaryKey: RawValue?, _ row: RowBuffer, _ count: Int
    ) throws(RealmError) -> ObjectHandle {
        target.map.keeps(old)
            ? try realm.createObject(
                target.schema.key, key: ObjectKey(rawValue: old), primaryKey: primaryKey, count,
                row.keys, row.values)
            : try realm.createObject(
                target.schema.key, primaryKey: primaryKey, count, row.keys, row.values)
    }

    /// Puts values into objects that are there: into all, or into those with these old keys, ascending.
    private func fill(
        _ item: OldSchema.Class, _ target: Target, _ columns: [Column], _ chosen: [Int64]?
    ) throws(CoreFileError) {
        var next = 0
        var found = 0
        // A changed object is written again as a whole, and so are those beside it.
        let objectBytes =
            chosen == nil ? target.bytes / max(report.classes[target.place].objects, 1) : 0
        let isForward = chosen == nil && columns.allSatisfy { $0.isOwn || $0.isOwnList }
        try file.forEachCluster(of: item.table, columns: columns.map(\.place)) {
            (cluster) throws(CoreFileError) in
            if isForward, let first = cluster.keys.first, let last = cluster.keys.last,
                first > target.forward.last || last < target.forward.first
            {
                // What does not wait was put there at first.
                for _ in cluster.keys { try finish(0) }
                return
            }
            for place in cluster.keys.indices {
                let old = cluster.keys[place]
                if let chosen {
                    while next < chosen.count, chosen[next] < old { next += 1 }
                    guard next < chosen.count, chosen[next] == old else { continue }
                    found += 1
                }
                var handle: ObjectHandle?
                defer { handle?.release() }
                var bytes = 0
                for (index, column) in columns.enumerated()
                where try !cluster.isEmpty(index, place) {
                    if column.isOwn,
                        try !target.forward.waited(cluster.cell(index, place), column.place, old)
                    {
                        continue
                    }
                    if handle == nil { handle = try self.object(target, old) }
                    guard let handle else { break }
                    bytes += try put(cluster, index, place, column, handle, target, isFirst: false)
                }
                cluster.finishObject()
                try finish(bytes > 0 ? bytes + objectBytes : 0)
            }
        }
        if let chosen, found < chosen.count {
            lose(
                "class '\(item.name)': \(chosen.count - found) embedded objects that are not there",
                chosen.count - found)
        }
    }

    /// The object that became of one; nil where none did.
    private func object(_ target: Target, _ old: Int64) throws(CoreFileError) -> ObjectHandle? {
        guard let key = target.map.counterpart(old) else { return nil }
        return try writing { () throws(RealmError) in
            do throws(RealmError) {
                return try realm.object(target.schema.key, key)
            } catch {
                // It was left out, which was noted.
                if error.code == .noSuchObject { return nil }
                throw error
            }
        }
    }

    // MARK: Losses

    func lose(_ what: String, _ count: Int = 1) {
        report.lossCount += count
        if report.losses.count < Self.lossesMax { report.losses.append(what) }
    }

    func missing(_ cell: CoreCell) -> String {
        missing(Int(cell.first), Int64(bitPattern: cell.second))
    }

    func missing(_ table: Int, _ key: Int64) -> String {
        "a link to object \(key) of '\(file.tables[table].name)', which there is not"
    }

    func count(_ target: Target) { report.classes[target.place].objects += 1 }

    /// Runs what puts a value into an object; an error that is about the value is noted as a loss.
    func tolerating(
        _ target: Target, _ old: Int64, _ property: String, _ body: () throws(RealmError) -> Void
    ) throws(RealmError) {
        do throws(RealmError) {
            try body()
        } catch {
            try checkTolerable(error)
            lose(
                "class '\(target.schema.name)', object \(old), property '\(property)': "
                    + error.message)
        }
    }

    /// Throws an error again that is not about a value, or where the work is to be done again with more care.
    func checkTolerable(_ error: RealmError) throws(RealmError) {
        guard isAboutData(error) else { throw error }
        if isFilling {
            wantsCare = true
            throw error
        }
    }

    /// Whether an error says that something of the old file can't be a value of the new one; others are
    /// about writing that.
    func isAboutData(_ error: RealmError) -> Bool {
        switch error.code {
        case .objectAlreadyExists, .limitExceeded: true
        default:
            error.code.rawValue >= ErrorCode.invalidArgument.rawValue
                && error.code.rawValue < ErrorCode.invalidArgument.rawValue + 1000
        }
    }
}
