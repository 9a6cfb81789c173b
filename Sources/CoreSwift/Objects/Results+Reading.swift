// Reading results in bulk: a property of many elements into the caller's memory, a leaf at a time.
// An object handle per element costs about 30 ns, a value here 1 to 3.

import CKernels

/// One borrowed text; valid until the realm moves or changes.
package struct TextReference {
    package var start: UnsafeRawPointer?
    package var count: Int

    package init(start: UnsafeRawPointer? = nil, count: Int = 0) {
        self.start = start
        self.count = count
    }
}

extension Results {
    /// Object keys of the elements from `first` on; returns how many were there.
    package func readKeys(
        from first: Int, count: Int, into target: UnsafeMutablePointer<ObjectKey>
    ) throws(RealmError) -> Int {
        var written = 0
        try forEachRun(first, count) { leaf, row, length, element throws(RealmError) in
            if let leaf {
                for offset in 0..<length { target[element + offset] = leaf.key(row + offset) }
            } else {
                target[element] = .invalid
            }
            written = element + length
        }
        return written
    }

    /// A property of type int, bool, link (the object's key) or date (whole seconds) of the
    /// elements from `first` on. `isNull` gets 1 for null and for objects that are gone; the value
    /// is 0 there. Returns how many elements were there.
    package func readIntegers(
        _ propertyKey: PropertyKey, from first: Int, count: Int,
        into target: UnsafeMutablePointer<Int64>, isNull: UnsafeMutablePointer<UInt8>?
    ) throws(RealmError) -> Int {
        try read(
            propertyKey, [.int, .bool, .link, .timestamp], first, count, isNull,
            null: { target[$0] = 0 },
            bulk: { column, row, length, element in
                guard column.encoding == .packed || column.encoding == .timestamp else {
                    return false
                }
                column.readPacked(row, length, into: target + element)
                return true
            },
            single: { value, element in
                switch ValueType(rawValue: value.type) {
                case .bool: target[element] = value.boolValue ? 1 : 0
                case .link: target[element] = value.linkTarget.rawValue
                default: target[element] = value.intValue
                }
            })
    }

    /// A property of type float or double.
    package func readDoubles(
        _ propertyKey: PropertyKey, from first: Int, count: Int,
        into target: UnsafeMutablePointer<Double>, isNull: UnsafeMutablePointer<UInt8>?
    ) throws(RealmError) -> Int {
        try read(
            propertyKey, [.float, .double], first, count, isNull, null: { target[$0] = 0 },
            bulk: { column, row, length, element in
                guard column.encoding == .fixed else { return false }
                if column.width == 8 {
                    memcpy(
                        UnsafeMutableRawPointer(target + element), column.data + row &* 8,
                        length &* 8)
                } else {
                    for offset in 0..<length {
                        target[element &+ offset] = Double(column.float(row &+ offset))
                    }
                }
                return true
            },
            single: { value, element in
                target[element] =
                    value.type == ValueType.float.rawValue
                    ? Double(value.floatValue) : value.doubleValue
            })
    }

    /// A property of type string or binary; null has no address.
    package func readTexts(
        _ propertyKey: PropertyKey, from first: Int, count: Int,
        into target: UnsafeMutablePointer<TextReference>
    ) throws(RealmError) -> Int {
        try read(
            propertyKey, [.string, .binary], first, count, nil,
            null: { target[$0] = TextReference(start: nil, count: 0) },
            bulk: { column, row, length, element in
                guard column.externals == nil, column.encoding != .absent else { return false }
                column.readTexts(row, length, into: target + element)
                return true
            },
            single: { value, element in
                let bytes = value.bytes
                target[element] = TextReference(start: bytes.baseAddress, count: bytes.count)
            })
    }

    /// Several properties of the elements from `first` on, element by element; null for objects
    /// that are gone. Text is borrowed until the realm moves or changes. Returns how many elements
    /// were there.
    package func readValues(
        _ propertyKeys: UnsafeBufferPointer<PropertyKey>, from first: Int, count: Int,
        into target: UnsafeMutablePointer<RawValue>
    ) throws(RealmError) -> Int {
        let table = try reading { _, table throws(RealmError) in table }
        var columns: [Int] = []
        for key in propertyKeys { columns.append(try ObjectHandle.column(table.table, key)) }
        var written = 0
        try forEachRun(first, count) { leaf, row, length, element throws(RealmError) in
            written = element + length
            for offset in 0..<length {
                var place = (element + offset) * columns.count
                for column in columns {
                    target[place] =
                        if let leaf { try table.value(leaf, row + offset, column) } else { .null }
                    place += 1
                }
            }
        }
        return written
    }

    // MARK: Runs

    /// Reads a property run by run: `bulk` a whole run if the column's form allows it, else
    /// `single` value by value; then nulls.
    @inline(__always)
    private func read(
        _ propertyKey: PropertyKey, _ kinds: [ColumnKind], _ first: Int, _ count: Int,
        _ isNull: UnsafeMutablePointer<UInt8>?, null: (Int) -> Void,
        bulk: (ColumnView, Int, Int, Int) -> Bool, single: (RawValue, Int) -> Void
    ) throws(RealmError) -> Int {
        var written = 0
        let table = try reading { _, table throws(RealmError) in table }
        let index = try ObjectHandle.column(table.table, propertyKey)
        let info = table.column(index)
        guard kinds.contains(info.kind) else {
            throw RealmError(
                .propertyTypeMismatch,
                "property \(realm.schema.named(classKey, column: index)) is of type "
                    + "\(info.kind.typeWord), which this call does not read")
        }
        let ahead = { (next: LeafView) in if !info.isKey { next.column(index)?.sendFor() } }
        try forEachRun(first, count, ahead: ahead) {
            leaf, row, length, element throws(RealmError) in
            written = element + length
            guard let leaf else {
                null(element)
                isNull?[element] = 1
                return
            }
            if !info.isKey, let column = leaf.column(index, info),
                bulk(column, row, length, element)
            {
                if let isNull { for offset in 0..<length { isNull[element + offset] = 0 } }
                guard let nulls = column.nulls else { return }
                for offset in 0..<length where LeafLayout.bit(nulls, row + offset) {
                    null(element + offset)
                    isNull?[element + offset] = 1
                }
                return
            }
            for offset in 0..<length {
                let value = try table.value(leaf, row + offset, index)
                isNull?[element + offset] = value.isNull ? 1 : 0
                if value.isNull { null(element + offset) } else { single(value, element + offset) }
            }
        }
        return written
    }

    /// Calls `body` with runs of neighbouring rows: leaf (nil: the object is gone), first row,
    /// length, position behind `first`. `ahead` sends for what it will read of the leaf that comes next.
    private func forEachRun(
        _ first: Int, _ count: Int, ahead: (LeafView) -> Void = { _ in },
        _ body: (LeafView?, Int, Int, Int) throws(RealmError) -> Void
    ) throws(RealmError) {
        try reading { snapshot, table throws(RealmError) in
            guard first >= 0, count >= 0 else {
                throw RealmError(
                    .indexOutOfBounds, "cannot read \(count) elements from index \(first)")
            }
            guard let keys = try keysInside(snapshot, table) else {
                return try Self.forEachClassRun(table, first, count, ahead: ahead, body)
            }
            let end = min(keys.count, first &+ min(count, Int.max - first))
            guard first < end else { return }
            try keys.withUnsafeBufferPointer { buffer throws(RealmError) in
                var runs = RowRuns(table, buffer, first..<end)
                while let run = try runs.next() {
                    try body(run.leaf, run.row, run.count, run.element - first)
                }
            }
        }
    }

    /// The same for a whole class: leaf after leaf.
    private static func forEachClassRun(
        _ table: TableReader, _ first: Int, _ count: Int, ahead: (LeafView) -> Void,
        _ body: (LeafView?, Int, Int, Int) throws(RealmError) -> Void
    ) throws(RealmError) {
        let end = min(table.rowCount, first &+ min(count, Int.max - first))
        guard first < end else { return }
        var leaves = try table.leaves(fromPosition: first)
        var start = leaves.firstPosition
        var position = first
        while position < end, let leaf = try leaves.next() {
            if let next = leaves.upcoming { ahead(next) }
            let last = min(end, start + leaf.liveRows)
            // A leaf of an open transaction may have no row left.
            guard last > position || leaf.liveRows == 0 && start == position else { break }
            if leaf.tombstones == nil {
                try body(leaf, position - start, last - position, position - first)
            } else {
                for index in position..<last {
                    try body(leaf, leaf.liveRow(index - start), 1, index - first)
                }
            }
            start = last
            position = last
        }
        guard position == end else { throw table.miscounted(position) }
    }
}

extension ColumnView {
    /// Sends for what the following functions read.
    @inline(__always) fileprivate func sendFor() {
        switch encoding {
        case .packed, .fixed, .timestamp: sendFor(bytes: rows &* width)
        case .string16: sendFor(bytes: rows &* 2)
        default: break
        }
    }

    /// Reads neighbouring rows of a packed column, or the whole seconds of a column of timestamps.
    fileprivate func readPacked(
        _ row: Int, _ count: Int, into target: UnsafeMutablePointer<Int64>
    ) {
        // Objects of a query mostly have no neighbours, and a call costs as much as a few values.
        if count < 4 {
            for offset in 0..<count { target[offset] = packed(row &+ offset) }
        } else {
            ck_unpack(data + row &* width, width, count, base, target)
        }
    }

    /// Reads neighbouring rows of a column of texts or bytes.
    fileprivate func readTexts(
        _ row: Int, _ count: Int, into target: UnsafeMutablePointer<TextReference>
    ) {
        switch encoding {
        case .stringFixed:
            let length = fixedLength
            var start = heap + row &* length
            for offset in 0..<count {
                target[offset] = TextReference(start: start, count: length)
                start += length
            }
        case .string16:
            let offsets = data + row &* 2
            let heap = heap
            var start = Int(offsets.u16(0))
            for offset in 0..<count {
                let end = Int(offsets.u16(offset &* 2 &+ 2))
                target[offset] = TextReference(start: heap + start, count: end &- start)
                start = end
            }
        default:
            for offset in 0..<count {
                let bytes = bytes(row &+ offset)
                target[offset] = TextReference(start: bytes.baseAddress, count: bytes.count)
            }
        }
    }
}
