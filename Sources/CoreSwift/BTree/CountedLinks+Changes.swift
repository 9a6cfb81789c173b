// Merging changes of links into an inverse index that counts them (CountedLinks.swift): changes of
// a link add up, and what they come to is compared with the links that the tree has already.
//
// Nearly always a source links to a target once. Such entries are as small as the changes they come
// from, and are noted in the memory that the changes were sorted with; only further links need
// more. So a bulk load of lists costs what one of plain link columns does.

/// Changes of links in the order of their targets and sources, and room to note which of them
/// become entries. Nothing of the changes is overwritten: a merge may fail and be made again.
protocol LinkChanges {
    var count: Int { get }
    /// Whether targets are filed with their class.
    static var isMixed: Bool { get }
    func link(_ index: Int) -> CountedLinks.Link
    func isAddition(_ index: Int) -> Bool
    /// Notes that the first link of change `index` is to be added or removed, as note `place`.
    /// Notes are made in order, and never more than changes were read.
    func note(_ index: Int, at place: Int, isAddition: Bool)
    func noted(_ place: Int) -> CountedLinks.Link
    func notedIsAddition(_ place: Int) -> Bool
}

extension CountedLinks {
    /// Merges changes into the tree.
    static func apply<Changes: LinkChanges>(
        _ changes: Changes, to tree: inout IndexTree,
        memory: UnsafeMutablePointer<TransactionMemory>
    ) throws(RealmError) {
        let buffer = UnsafeMutableRawPointer.allocate(byteCount: byteCountMax, alignment: 8)
        defer { buffer.deallocate() }
        let entries = try makeEntries(changes, tree, buffer)
        let cursor = UnsafeMutablePointer<Int>.allocate(capacity: 1)
        cursor.initialize(to: 0)
        defer { cursor.deallocate() }
        let bytes = UnsafeRawPointer(buffer)
        let batch = IndexBatch(count: entries.firstCount + entries.further.count) { index in
            let link: Link
            let number: Int
            let isAddition: Bool
            let before = entries.furtherBefore(index, cursor)
            if before < entries.further.count, entries.further[before].place == index {
                link = entries.further[before].link
                number = entries.further[before].number
                isAddition = entries.further[before].isAddition
            } else {
                link = changes.noted(index &- before)
                number = 0
                isAddition = changes.notedIsAddition(index &- before)
            }
            return IndexBatch.Operation(
                position: IndexPosition(
                    bytes: bytes,
                    count: link.write(buffer, number: number, isMixed: Changes.isMixed),
                    key: link.source),
                isAddition: isAddition)
        }
        try tree.apply(batch, memory: memory)
    }

    /// A link that is not the first one from its source to its target, to be added or removed.
    private struct Further {
        /// Where it stands among all entries.
        var place: Int
        var link: Link
        var number: Int
        var isAddition: Bool
    }

    /// What the changes come to.
    private struct Entries {
        /// First links, noted by the changes.
        var firstCount = 0
        var further: [Further] = []

        /// How many further links stand before entry `index`; `cursor` has the answer of the last
        /// question, which is usually right or short by one.
        @inline(__always)
        func furtherBefore(_ index: Int, _ cursor: UnsafeMutablePointer<Int>) -> Int {
            let count = further.count
            if count == 0 { return 0 }
            for guess in cursor.pointee...min(cursor.pointee + 1, count)
            where (guess == 0 || further[guess - 1].place < index)
                && (guess == count || further[guess].place >= index)
            {
                cursor.pointee = guess
                return guess
            }
            cursor.pointee = further.partitionPoint { $0.place < index }
            return cursor.pointee
        }
    }

    private static func makeEntries<Changes: LinkChanges>(
        _ changes: Changes, _ tree: IndexTree, _ buffer: UnsafeMutableRawPointer
    ) throws(RealmError) -> Entries {
        var cursor = IndexCursor(tree)
        let count = changes.count
        let isEmpty = try isBehindAll(changes, tree, buffer)
        var entries = Entries()
        var read = 0
        var target = Link(classKey: noClass, target: .invalid, source: .invalid)
        var furtherOfTarget = 0
        while read < count {
            let first = read
            let link = changes.link(read)
            if !link.hasTarget(of: target) {
                finish(&entries, from: furtherOfTarget)
                furtherOfTarget = entries.further.count
                target = link
            }
            var change = changes.isAddition(read) ? 1 : -1
            read &+= 1
            while read < count, changes.link(read).isEqual(link) {
                change &+= changes.isAddition(read) ? 1 : -1
                read &+= 1
            }
            if change == 0 { continue }
            if isEmpty, change == 1 {
                changes.note(first, at: entries.firstCount, isAddition: true)
                entries.firstCount &+= 1
                continue
            }
            let known = isEmpty ? 0 : try links(link, Changes.isMixed, &cursor, buffer)
            let wanted = max(0, known &+ change)
            let isAddition = wanted > known
            if min(known, wanted) == 0, wanted != known {
                changes.note(first, at: entries.firstCount, isAddition: isAddition)
                entries.firstCount &+= 1
            }
            for number in max(1, min(known, wanted))..<max(1, known, wanted) {
                entries.further.append(
                    Further(place: 0, link: link, number: number, isAddition: isAddition))
            }
        }
        finish(&entries, from: furtherOfTarget)
        return entries
    }

    /// All first links to a target are noted: its further ones follow, by number.
    private static func finish(_ entries: inout Entries, from start: Int) {
        guard start < entries.further.count else { return }
        entries.further[start...].sort { a, b in
            a.number != b.number ? a.number < b.number : a.link.source < b.link.source
        }
        for index in start..<entries.further.count {
            entries.further[index].place = entries.firstCount + index
        }
    }

    /// Whether the tree has no entry from the first link on, as when links are added in their order.
    private static func isBehindAll<Changes: LinkChanges>(
        _ changes: Changes, _ tree: IndexTree, _ buffer: UnsafeMutableRawPointer
    ) throws(RealmError) -> Bool {
        if tree.isEmpty || changes.count == 0 { return true }
        let link = changes.link(0)
        let count = link.write(buffer, number: 0, isMixed: Changes.isMixed)
        return try tree.rank(
            IndexPosition(bytes: UnsafeRawPointer(buffer), count: count, key: link.source))
            == tree.count
    }

    /// How many links the tree has from the link's source to its target.
    private static func links(
        _ link: Link, _ isMixed: Bool, _ cursor: inout IndexCursor,
        _ buffer: UnsafeMutableRawPointer
    ) throws(RealmError) -> Int {
        func isThere(_ number: Int) throws(RealmError) -> Bool {
            let count = link.write(buffer, number: number, isMixed: isMixed)
            return try cursor.contains(
                IndexPosition(
                    bytes: UnsafeRawPointer(buffer), count: count,
                    key: link.source))
        }
        guard try isThere(0) else { return 0 }
        // Link `low` is there, link `high` is not: twice as far each time, then by halves.
        var low = 0
        var high = 1
        while try isThere(high) {
            low = high
            high *= 2
        }
        while high - low > 1 {
            let middle = (low + high) / 2
            if try isThere(middle) { low = middle } else { high = middle }
        }
        return high
    }
}
