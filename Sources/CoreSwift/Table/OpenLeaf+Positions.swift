// An open leaf as a part of a collection: rows stand at positions, no keys, no dead rows.

extension OpenLeaf {
    /// Adds a row of defaults at a position; later rows move up. The leaf is not full.
    mutating func insertRow(at row: Int) {
        for index in 0..<columnCount {
            let column = columns[index]
            column.move(from: row, to: row &+ 1, rows &- row)
            column.clear(row, 1)
        }
        rows &+= 1
    }

    /// Removes rows; later ones move down.
    mutating func removeRows(at row: Int, count: Int) {
        let left = rows - count
        for index in 0..<columnCount {
            columns[index].move(from: row + count, to: row, left - row)
            columns[index].clear(left, count)
        }
        rows = left
    }

    /// Copies rows behind those of `target`, which has the same columns and room for them.
    func copyRows(_ range: Range<Int>, to target: UnsafeMutablePointer<OpenLeaf>) {
        let first = target.pointee.rows
        for index in 0..<columnCount {
            let source = columns[index]
            let column = target.pointee.columns + index
            let width = source.kind.openWidth
            if let nulls = source.nulls {
                column.pointee.nulls.map {
                    memcpy($0 + first, nulls + range.lowerBound, range.count)
                }
            }
            if source.kind.hasHeap {
                copyTexts(source, range, column, first)
                continue
            }
            memcpy(
                column.pointee.data + first * width, source.data + range.lowerBound * width,
                range.count * width)
            if let parts = source.nanoseconds, let others = column.pointee.nanoseconds {
                memcpy(others + first * 4, parts + range.lowerBound * 4, range.count * 4)
            }
        }
        target.pointee.rows += range.count
        if hasExternals { target.pointee.hasExternals = true }
    }

    private func copyTexts(
        _ source: OpenColumn, _ range: Range<Int>, _ target: UnsafeMutablePointer<OpenColumn>,
        _ first: Int
    ) {
        for row in range {
            let (count, isExternal) = source.textLength(row)
            guard count > 0, let heap = source.heap else { continue }
            target.pointee.setText(
                first + row - range.lowerBound, heap + source.textOffset(row), count,
                isExternal: isExternal)
        }
    }

    /// Bytes of the rows about as a sealed leaf holds them. Text that was replaced or removed
    /// leaves the heaps when it has piled up.
    func estimatedBytes() -> Int {
        var total = 0
        for index in 0..<columnCount {
            let kind = columns[index].kind
            total += rows * (kind.hasHeap ? 2 : kind.openWidth)
            guard kind.hasHeap else { continue }
            if columns[index].heapUsed > LeafLayout.bytesTarget * 4 {
                compactHeap(index, rows: rows)
            }
            total += columns[index].heapUsed
        }
        return total
    }

    /// Gives rows ascending keys: the encoder packs them to nothing.
    func numberRows() {
        for row in 0..<rows { keys[row] = .first.advanced(by: row) }
    }
}

extension OpenColumn {
    /// The rows that hold the link, in a column of links or of mixed values.
    func rows(with link: RawValue, of rows: Int) throws(RealmError) -> [Int] {
        var found: [Int] = []
        if kind == .link {
            let target = link.linkTarget
            for row in 0..<rows where objectKey(row) == target && !isNull(row) { found.append(row) }
            return found
        }
        guard let heap else { return [] }
        // A value has one encoding only.
        try MixedCell.withBytes(link) { bytes in
            let word = UInt32(bytes.count)
            for row in 0..<rows where UnsafeRawPointer(data).u32(row &* 8 &+ 4) == word {
                let place = heap + textOffset(row)
                if equalBytes(place, bytes.baseAddress.unsafelyUnwrapped, bytes.count),
                    !isNull(row)
                {
                    found.append(row)
                }
            }
        }
        return found
    }
}
