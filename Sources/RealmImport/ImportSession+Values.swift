// Values of a file of realm-core as values of ours.

import CoreSwift
import RealmCoreFile

extension ImportSession {
    /// A value of ours; nil for a link to an object that is known not to be there. Where objects keep their
    /// keys, storing the link tells.
    @inline(__always)
    func raw(_ cell: CoreCell) -> RawValue? {
        switch cell.kind {
        case .null, .deferred: return .null
        case .int: return .int(Int64(bitPattern: cell.first))
        case .bool: return .bool(cell.first != 0)
        case .text: return RawValue(word0: cell.first, word1: cell.second, type: .string)
        case .binary: return RawValue(word0: cell.first, word1: cell.second, type: .binary)
        case .timestamp:
            return .timestamp(
                seconds: Int64(bitPattern: cell.first),
                nanoseconds: Int32(truncatingIfNeeded: cell.second))
        case .float: return RawValue(word0: cell.first, word1: 0, type: .float)
        case .double: return RawValue(word0: cell.first, word1: 0, type: .double)
        case .decimal: return RawValue(word0: cell.second, word1: cell.first, type: .decimal128)
        case .objectID:
            // 12 bytes, in the order in which we have them.
            return RawValue(
                word0: cell.bytes.loadUnaligned(as: UInt64.self),
                word1: UInt64(cell.bytes.loadUnaligned(fromByteOffset: 8, as: UInt32.self)),
                type: .objectId)
        case .uuid:
            return RawValue(
                word0: cell.bytes.loadUnaligned(as: UInt64.self),
                word1: cell.bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self), type: .uuid)
        case .link:
            guard let target = targets[Int(cell.first)],
                let key = target.counterpart(Int64(bitPattern: cell.second))
            else { return nil }
            return .link(target.schema.key, key)
        }
    }

    /// Puts the value of one column into an object; `isFirst`: when that was just made. Returns its size,
    /// roughly; 0 where nothing was to be done.
    func put(
        _ cluster: CoreCluster, _ index: Int, _ row: Int, _ column: Column,
        _ handle: ObjectHandle, _ target: Target, isFirst: Bool
    ) throws(CoreFileError) -> Int {
        let old = cluster.keys[row]
        let property = column.property
        if column.isPlain {
            let cell = try cluster.cell(index, row)
            try writing { () throws(RealmError) in
                try tolerating(target, old, property.name) { () throws(RealmError) in
                    if cell.kind == .link, let embedded = embedded(Int(cell.first)) {
                        try own(embedded, Int64(bitPattern: cell.second)) { () throws(RealmError) in
                            try handle.createEmbedded(property.key)
                        }
                    } else if let value = raw(cell) {
                        try handle.setValue(property.key, value)
                    } else {
                        lose(missing(cell))
                    }
                }
            }
            return size(cell)
        }
        guard column.column.type != .mixed, column.column.collection != .dictionary else {
            let value = try cluster.value(index, row)
            try writing { () throws(RealmError) in
                try tolerating(target, old, property.name) { () throws(RealmError) in
                    try set(handle, property, value)
                }
            }
            return size(value)
        }
        var bytes = 0
        var collection: RealmCollection?
        var end = 0
        try cluster.forEachPart(
            index, row,
            numbers: { (numbers) throws(CoreFileError) in
                guard isFilling, property.collection == .list, let start = numbers.baseAddress,
                    isPlain(numbers, column, old)
                else { return false }
                if column.isOwnList {
                    if !isFirst { return false }
                    if target.forward.waits(numbers, column.place, old) { return true }
                }
                bytes = 32 + numbers.count * 8
                try writing { () throws(RealmError) in
                    try handle.append(property.key, numbers.count, numbers: start)
                }
                return true
            }
        ) { (cells, isWhole) throws(CoreFileError) in
            if column.isOwnList, skips(cells, isWhole, column, old, target, isFirst) {
                return false
            }
            bytes += 32 + cells.count * 8
            try writing { () throws(RealmError) in
                if isFilling, isWhole, property.collection == .list,
                    try fill(property, cells, handle)
                {
                    return
                }
                if collection == nil {
                    try tolerating(target, old, property.name) { () throws(RealmError) in
                        collection = try handle.collection(property.key, property.collection)
                    }
                }
                guard let collection else { return }
                for cell in cells {
                    bytes += size(cell) - 8
                    if property.collection == .list, let value = fast(cell) {
                        try collection.insert(value, at: end)
                        end += 1
                        continue
                    }
                    try tolerating(target, old, property.name) { () throws(RealmError) in
                        if try add(cell, to: collection, at: end) { end += 1 }
                    }
                }
            }
            return true
        }
        return bytes
    }

    /// Whether what is stored of a list are these numbers as they are: integers, or keys of objects that have
    /// theirs and are there, or come later in the class, which `ForwardLinks` is still to be asked about.
    @inline(__always)
    private func isPlain(
        _ numbers: UnsafeBufferPointer<Int64>, _ column: Column, _ old: Int64
    ) -> Bool {
        guard !numbers.isEmpty else { return false }
        guard column.column.type == .link else { return column.property.type == .int }
        guard column.property.type == .object, let table = column.column.target,
            let target = targets[table], target.schema.kind != .embedded
        else { return false }
        let known = target.map.first
        guard column.isOwnList else { return numbers.allSatisfy { known.contains($0) } }
        let later = max(old, 0)
        return numbers.allSatisfy { known.contains($0) || $0 >= later }
    }

    /// Whether a list of links to objects of the same class, of which `cells` are the first part, is put there the
    /// other time. Long ones are not looked through.
    @inline(__always)
    private func skips(
        _ cells: UnsafeBufferPointer<CoreCell>, _ isWhole: Bool, _ column: Column, _ old: Int64,
        _ target: Target, _ isFirst: Bool
    ) -> Bool {
        if isWhole {
            return isFirst
                ? target.forward.waits(cells, column.place, old)
                : !target.forward.waited(cells, column.place, old)
        }
        if isFirst { target.forward.note(column.place, old) }
        return isFirst
    }

    /// Gives an empty list all its elements at once; false where they are of a type that takes longer.
    private func fill(
        _ property: PropertySchema, _ cells: UnsafeBufferPointer<CoreCell>, _ handle: ObjectHandle
    ) throws(RealmError) -> Bool {
        elements.start(cells.count)
        switch cells.first?.kind {
        case .int where property.type == .int:
            for cell in cells {
                guard cell.kind == .int else { return false }
                elements.add(number: Int64(bitPattern: cell.first))
            }
        case .bool, .float, .double:
            for cell in cells {
                guard cell.kind != .null, let value = raw(cell) else { return false }
                elements.add(value)
            }
            try handle.append(property.key, elements.count, elements.values)
            return true
        case .link where property.type == .object:
            // All of them are of one class.
            guard let table = cells.first.map({ Int($0.first) }), let target = targets[table],
                target.schema.kind != .embedded
            else { return false }
            let known = target.map.first
            for cell in cells {
                let old = Int64(bitPattern: cell.second)
                if known.contains(old) {
                    elements.add(number: old)
                } else if let key = target.counterpart(old) {
                    elements.add(number: key.rawValue)
                } else {
                    lose(missing(cell))
                }
            }
        default: return false
        }
        try handle.append(property.key, elements.count, numbers: elements.numbers)
        return true
    }

    /// A value that can be stored whatever is in the file.
    @inline(__always)
    private func fast(_ cell: CoreCell) -> RawValue? {
        switch cell.kind {
        case .int, .bool, .float, .double, .timestamp, .decimal: raw(cell)
        default: nil
        }
    }

    /// Adds an element to a list or set. Whether it was added.
    private func add(
        _ cell: CoreCell, to collection: RealmCollection, at end: Int
    ) throws(RealmError) -> Bool {
        if cell.kind == .link, let embedded = embedded(Int(cell.first)) {
            return try own(embedded, Int64(bitPattern: cell.second)) { () throws(RealmError) in
                try collection.insertEmbedded(at: end)
            }
        }
        guard let value = raw(cell) else {
            lose(missing(cell))
            return false
        }
        if collection.type == .set {
            _ = try collection.insert(value)
        } else {
            try collection.insert(value, at: end)
        }
        return true
    }

    private func size(_ value: CoreValue) -> Int {
        switch value {
        case .string(let text): 16 + text.utf8.count
        case .binary(let bytes): 16 + bytes.count
        case .list(let values), .set(let values): values.reduce(32) { $0 + size($1) }
        case .dictionary(let entries):
            entries.reduce(32) { $0 + size($1.key) + size($1.value) }
        default: 16
        }
    }

    // MARK: Mixed values and dictionaries

    private func set(
        _ handle: ObjectHandle, _ property: PropertySchema, _ value: CoreValue
    ) throws(RealmError) {
        switch value {
        // New objects have it.
        case .null: return
        case .list(let values):
            let list = try handle.setCollection(property.key, .list)
            for value in values { try append(value, to: list) }
        case .set(let values):
            let set = try handle.collection(property.key, .set)
            for value in values {
                if let own = try own(value) {
                    _ = try own.withRaw { raw throws(RealmError) in try set.insert(raw) }
                }
            }
        case .dictionary(let entries):
            let dictionary = try handle.setCollection(property.key, .dictionary)
            for entry in entries { try put(entry, into: dictionary) }
        default:
            if let own = try own(value) {
                try own.withRaw { raw throws(RealmError) in
                    try handle.setValue(property.key, raw)
                }
            }
        }
    }

    private func append(_ value: CoreValue, to list: RealmCollection) throws(RealmError) {
        let end = try list.count()
        switch value {
        case .list(let values):
            let inner = try list.insertNested(.list, at: end)
            for value in values { try append(value, to: inner) }
        case .dictionary(let entries):
            let inner = try list.insertNested(.dictionary, at: end)
            for entry in entries { try put(entry, into: inner) }
        default:
            guard let own = try own(value) else { return }
            try storing(value) { () throws(RealmError) in
                try own.withRaw { raw throws(RealmError) in try list.insert(raw, at: end) }
            }
        }
    }

    private func put(
        _ entry: CoreEntry, into dictionary: RealmCollection
    ) throws(RealmError) {
        let name: Value =
            switch entry.key {
            case .string(let text): .string(text)
            case .int(let number): .string(String(number))
            default: throw RealmError(.invalidDatabase, "a key of a dictionary is no text")
            }
        switch entry.value {
        case .list(let values):
            let inner = try name.withRaw { key throws(RealmError) in
                try dictionary.insertNested(.list, key: key)
            }
            for value in values { try append(value, to: inner) }
        case .dictionary(let entries):
            let inner = try name.withRaw { key throws(RealmError) in
                try dictionary.insertNested(.dictionary, key: key)
            }
            for entry in entries { try put(entry, into: inner) }
        case .link(let table, let old) where embedded(table) != nil:
            guard let embedded = embedded(table) else { return }
            try own(embedded, old) { () throws(RealmError) in
                try name.withRaw { key throws(RealmError) in
                    try dictionary.insertEmbedded(key: key)
                }
            }
        default:
            let own = try own(entry.value) ?? .null
            try name.withRaw { key throws(RealmError) in
                try storing(entry.value) { () throws(RealmError) in
                    try own.withRaw { raw throws(RealmError) in
                        _ = try dictionary.insert(raw, key: key)
                    }
                }
            }
        }
    }

    /// Runs what stores a value; a link to an object that is not there is noted as a loss.
    private func storing(
        _ value: CoreValue, _ body: () throws(RealmError) -> Void
    ) throws(RealmError) {
        do throws(RealmError) {
            try body()
        } catch {
            guard error.code == .noSuchObject, case .link(let table, let key) = value else {
                throw error
            }
            try checkTolerable(error)
            lose(missing(table, key))
        }
    }

    /// A value of ours; nil, with a loss noted, for a link to an object that is known not to be there.
    private func own(_ value: CoreValue) throws(RealmError) -> Value? {
        switch value {
        case .null: return .null
        case .int(let value): return .int(value)
        case .bool(let value): return .bool(value)
        case .string(let value): return .string(value)
        case .binary(let value): return .binary(value)
        case .timestamp(let seconds, let nanoseconds):
            return .timestamp(Timestamp(seconds: seconds, nanoseconds: nanoseconds))
        case .float(let value): return .float(value)
        case .double(let value): return .double(value)
        case .decimal(let high, let low): return .decimal128(Decimal128(low: low, high: high))
        case .objectID(let bytes): return .objectId(try ObjectId(bytes: bytes))
        case .uuid(let bytes): return .uuid(try UUIDValue(bytes: bytes))
        case .link(let table, let key):
            guard let target = targets[table], let made = target.map.counterpart(key) else {
                lose(missing(table, key))
                return nil
            }
            return .link(Link(target.schema.key, made))
        case .list, .set, .dictionary: return nil
        }
    }

    // MARK: Embedded objects

    private func embedded(_ table: Int) -> Target? {
        guard let target = targets[table], target.schema.kind == .embedded else { return nil }
        return target
    }

    /// Makes an embedded object where it is owned, to be filled later; a loss is noted where it has an
    /// owner. Whether it was made.
    @discardableResult
    private func own(
        _ target: Target, _ old: Int64, _ create: () throws(RealmError) -> ObjectHandle
    ) throws(RealmError) -> Bool {
        let made: ObjectHandle
        if target.map.keeps(old) {
            do throws(RealmError) {
                made = try realm.withKey(
                    ObjectKey(rawValue: old), of: target.schema.key, create)
            } catch {
                guard error.code == .objectAlreadyExists else { throw error }
                loseSecondOwner(target, old)
                return false
            }
        } else {
            guard target.map.counterpart(old) == nil else {
                loseSecondOwner(target, old)
                return false
            }
            made = try create()
        }
        defer { made.release() }
        target.map.add(old, made.objectKey)
        target.unfilled.append(old)
        count(target)
        return true
    }

    private func loseSecondOwner(_ target: Target, _ old: Int64) {
        lose(
            "object \(old) of '\(file.tables[target.table].name)' has two owners; the first keeps it"
        )
    }
}
