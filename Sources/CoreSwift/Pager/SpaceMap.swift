// Which pages of the file hold nothing of the newest version: free ones, and pending ones that
// older versions may still be reading. Guarded by the writer lock.
//
// Each page from 2 up to `pageCount` is either used by the newest version or in exactly one entry.
// A pending entry keeps the version that wrote it and the one that freed it, so it becomes reusable
// as soon as no live version v has written <= v < freed, also between two pinned versions.
//
// The work of a commit follows what the commit changed, never the size of the file or of the map:
// * A pending entry is filed under the newest live version that sees it and looked at again only
//   when that version is gone.
// * Entries are kept in chunks, each the entries of a range of pages, stored as a block. A commit
//   appends its changes to a list of operations that every root carries; only when that list is
//   full are the chunks with most operations written anew, which removes theirs from the list.
//   A map of few entries has no chunks: the root holds it whole.
//
// Invariants
//  1. Entries of a chunk are sorted, disjoint, and inside [first, first of the next chunk).
//  2. Two free entries of one chunk are never adjacent.
//  3. Stored chunks + operations in order = the map of the version, apart from how free entries are
//     cut and which pending ones are known to be reusable.
//  4. The live versions only lose members, except the newest version: once reusable, always so.

final class SpaceMap {
    // `chunks`, `isInline` and `operations` are changed by the extensions in SpaceMap+*.swift only.

    /// The version this map belongs to; commits change it to the next.
    private(set) var version: UInt64
    private(set) var pageCount: UInt64
    /// `pageCount` of the committed version, while a commit changes the map.
    private(set) var basePageCount: UInt64
    var chunks: [SpaceChunk]
    var isInline = true
    var operations: [SpaceOperation] = []
    private var blocked: [UInt64: [SpaceEntry]] = [:]
    private var buckets = FreeBuckets()
    private(set) var freePages: UInt64 = 0
    private(set) var pendingPages: UInt64 = 0
    /// Pages of the newest version's blocks.
    var usedPages: UInt64 { pageCount - min(pageCount, freePages + pendingPages) }
    var entryCount: Int { chunks.reduce(0) { $0 + $1.entries.count } }

    /// Commits of at most this many pages count as small.
    private static let smallRunPages: UInt64 = 32
    /// Of larger ones not each block looks for its own place.
    private static let scatteredPagesMax: UInt64 = 1024
    /// The file grows by at most this many pages ahead of need (256 KiB).
    private static let growthPagesMax: UInt64 = 64

    let limits: SpaceLimits
    /// A sweep goes on: the lowest place is the best one, and the file is to end at this page. nil: none does.
    var ceiling: UInt64?
    private var placesLow: Bool { ceiling != nil }
    /// A sweep makes room here: what is free is given to nobody.
    var clearing: Range<UInt64>? {
        didSet { if clearing != oldValue { rebuildBuckets() } }
    }

    init(version: UInt64, pageCount: UInt64, limits: SpaceLimits = SpaceLimits()) {
        self.limits = limits
        self.version = version
        self.pageCount = pageCount
        basePageCount = pageCount
        chunks = [SpaceChunk(first: FileHeader.firstBlockPage)]
    }

    // MARK: Places

    static func lowerBound(_ entries: [SpaceEntry], _ page: UInt64) -> Int {
        entries.partitionPoint { $0.page < page }
    }

    func chunkIndex(_ page: UInt64) -> Int {
        max(chunks.partitionPoint { $0.first <= page } - 1, 0)
    }

    func chunkEnd(_ index: Int) -> UInt64 {
        index + 1 < chunks.count ? chunks[index + 1].first : .max
    }

    private func overlap(_ page: UInt64, _ count: UInt64) -> RealmError {
        RealmError(
            .invalidDatabase,
            "space map of version \(version): pages \(page) to \(page + count - 1) are freed"
                + " though they are free already or outside the file")
    }

    /// Puts an entry into its chunk; free ones join their neighbours.
    func insert(_ entry: SpaceEntry) throws(RealmError) {
        let chunk = chunkIndex(entry.page)
        guard entry.count > 0, entry.page >= FileHeader.firstBlockPage, entry.page < entry.end,
            entry.end <= pageCount, entry.end <= chunkEnd(chunk)
        else { throw overlap(entry.page, max(entry.count, 1)) }
        let index = chunks[chunk].lowerBound(entry.page)
        if index < chunks[chunk].entries.count {
            guard entry.end <= chunks[chunk].entries[index].page else {
                throw overlap(entry.page, entry.count)
            }
        }
        if index > 0 {
            guard chunks[chunk].entries[index - 1].end <= entry.page else {
                throw overlap(entry.page, entry.count)
            }
        }
        if entry.isFree {
            freePages += entry.count
            insertFree(entry, chunk, index)
        } else {
            pendingPages += entry.count
            chunks[chunk].entries.insert(entry, at: index)
        }
    }

    /// `index` is where the entry belongs; it is not in the array.
    private func insertFree(_ entry: SpaceEntry, _ chunk: Int, _ index: Int) {
        var page = entry.page
        var count = entry.count
        var first = index
        var last = index
        if index < chunks[chunk].entries.count {
            let next = chunks[chunk].entries[index]
            if next.isFree, next.page == entry.end {
                count += next.count
                last += 1
            }
        }
        if index > 0 {
            let previous = chunks[chunk].entries[index - 1]
            if previous.isFree, previous.end == page {
                page = previous.page
                count += previous.count
                first -= 1
            }
        }
        let joined = SpaceEntry(page: page, count: count)
        switch last - first {
        case 0: chunks[chunk].entries.insert(joined, at: first)
        case 1: chunks[chunk].entries[first] = joined
        default:
            chunks[chunk].entries[first] = joined
            chunks[chunk].entries.remove(at: first + 1)
        }
        offer(joined)
    }

    /// Gives away the pages of a free entry from now on.
    func offer(_ free: SpaceEntry) {
        if let clearing, clearing.contains(free.page) { return }
        buckets.add(page: free.page, pages: free.count)
    }

    /// Takes pages out of free entries; false when some of them are not free.
    func carve(_ run: SpaceRun) -> Bool {
        let chunk = chunkIndex(run.page)
        var index = chunks[chunk].lowerBound(run.page)
        if index == chunks[chunk].entries.count || chunks[chunk].entries[index].page > run.page {
            index -= 1
        }
        guard index >= 0 else { return false }
        let entry = chunks[chunk].entries[index]
        guard entry.isFree, entry.page <= run.page, run.end <= entry.end else { return false }
        freePages -= run.count
        let before = SpaceEntry(page: entry.page, count: run.page - entry.page)
        let after = SpaceEntry(page: run.end, count: entry.end - run.end)
        switch (before.count > 0, after.count > 0) {
        case (false, false):
            chunks[chunk].entries.remove(at: index)
        case (true, false):
            chunks[chunk].entries[index] = before
            offer(before)
        case (false, true):
            chunks[chunk].entries[index] = after
            offer(after)
        case (true, true):
            chunks[chunk].entries[index] = before
            chunks[chunk].entries.insert(after, at: index + 1)
            offer(before)
            offer(after)
        }
        return true
    }

    private func freeEntry(at page: UInt64) -> SpaceEntry? {
        let chunk = chunkIndex(page)
        let index = chunks[chunk].lowerBound(page)
        guard index < chunks[chunk].entries.count else { return nil }
        let entry = chunks[chunk].entries[index]
        return entry.page == page && entry.isFree ? entry : nil
    }

    /// Counts an entry that reading a stored map brought in.
    func count(_ entry: SpaceEntry) {
        if entry.isFree { freePages += entry.count } else { pendingPages += entry.count }
    }

    // MARK: Pending entries

    /// The newest live version that sees the entry. `live` is sorted.
    static func blocker(_ entry: SpaceEntry, _ live: [UInt64]) -> UInt64? {
        var index = live.count - 1
        while index >= 0, live[index] >= entry.freed { index -= 1 }
        guard index >= 0, live[index] >= entry.written else { return nil }
        return live[index]
    }

    /// Files a pending entry that is in its chunk already.
    func block(_ entry: SpaceEntry, by version: UInt64) {
        blocked[version, default: []].append(entry)
    }

    /// Makes reusable what no live version sees any more. `live` is sorted and includes the newest.
    func release(live: [UInt64]) {
        var released: [SpaceEntry] = []
        for version in blocked.keys where !live.holds(version) {
            for entry in blocked.removeValue(forKey: version) ?? [] {
                if let blocker = Self.blocker(entry, live) {
                    block(entry, by: blocker)
                } else {
                    released.append(entry)
                }
            }
        }
        if released.count > 64 { releaseMany(&released) } else { released.forEach(releaseOne) }
        if buckets.count > 4 * entryCount + 1024 { rebuildBuckets() }
    }

    private func releaseOne(_ entry: SpaceEntry) {
        let chunk = chunkIndex(entry.page)
        let index = chunks[chunk].lowerBound(entry.page)
        guard index < chunks[chunk].entries.count, chunks[chunk].entries[index] == entry
        else { return }
        pendingPages -= entry.count
        freePages += entry.count
        chunks[chunk].entries.remove(at: index)
        insertFree(SpaceEntry(page: entry.page, count: entry.count), chunk, index)
    }

    /// One pass over each chunk concerned, instead of one removal per entry.
    private func releaseMany(_ released: inout [SpaceEntry]) {
        released.sort { $0.page < $1.page }
        var next = 0
        while next < released.count {
            let chunk = chunkIndex(released[next].page)
            let end = chunkEnd(chunk)
            let old = chunks[chunk].entries
            var entries: [SpaceEntry] = []
            entries.reserveCapacity(old.count)
            for var entry in old {
                if next < released.count, released[next] == entry {
                    next += 1
                    pendingPages -= entry.count
                    freePages += entry.count
                    entry = SpaceEntry(page: entry.page, count: entry.count)
                }
                entries.appendJoining(entry)
            }
            chunks[chunk].entries = entries
            while next < released.count, released[next].page < end { next += 1 }
        }
        rebuildBuckets()
    }

    /// Takes the entries of a chunk out of the map.
    func forget(_ chunk: Int) {
        for entry in chunks[chunk].entries {
            if entry.isFree { freePages -= entry.count } else { pendingPages -= entry.count }
        }
        let first = chunks[chunk].first
        let end = chunkEnd(chunk)
        for version in blocked.keys {
            blocked[version]?.removeAll { $0.page >= first && $0.page < end }
        }
        chunks[chunk].entries = []
    }

    func rebuildBuckets() {
        buckets.removeAll()
        for chunk in chunks {
            for entry in chunk.entries where entry.isFree { offer(entry) }
        }
    }

    /// What `checkInvariants` compares the entries with: pending ones as they are filed, and the
    /// buckets' pages by length class.
    var derived: (pending: [UInt64: SpaceEntry], free: [Set<UInt64>]) {
        let all = blocked.values.joined().map { ($0.page, $0) }
        return (Dictionary(all) { $0.freed > $1.freed ? $0 : $1 }, buckets.pagesByClass)
    }

    // MARK: Taking and returning pages

    /// Takes `count` pages for a commit, in as few pieces as reasonable, growing the file if need
    /// be. The pieces are to be settled with `settle`. None: much is free, but in small pieces, and each block
    /// is to ask for its own place.
    func reserve(_ count: UInt64) -> [SpaceRun] {
        if let run = takeBestFit(count) {
            // What a sweep moves to behind its end, it would move again.
            if run.end <= ceiling ?? .max || count > Self.scatteredPagesMax { return [run] }
            giveBack(run)
        }
        if count <= Self.scatteredPagesMax, placesLow || freePages > max(count, pageCount / 8) {
            return []
        }
        var pieces: [SpaceRun] = []
        var rest = count
        if count <= Self.smallRunPages {
            // Another place costs less than growing; many places cost more, so they are taken only
            // when much of the file lies idle in small pieces.
            let piecesMax = freePages < pageCount / 8 ? 2 : freePages < pageCount / 3 ? 3 : 8
            if freePages >= count {
                while rest > 0, pieces.count < piecesMax, let run = takeLargest(atMost: rest) {
                    pieces.append(run)
                    rest -= run.count
                }
            }
            if rest > 0, !pieces.isEmpty {
                pieces.forEach(giveBack)
                pieces = []
                rest = count
            }
        } else {
            // The free end of the file and what the file grows by are one run.
            var end: SpaceRun?
            while rest > 0, let run = takeLargest(atMost: rest, atLeast: min(16, rest)) {
                if run.end == pageCount { end = run } else { pieces.append(run) }
                rest -= run.count
            }
            if let end {
                guard rest > 0 else { return pieces + [end] }
                giveBack(end)
                rest += end.count
            }
        }
        if rest > 0 { pieces.append(grow(rest)) }
        return pieces
    }

    /// One run for a block, of the `rest` pages of all blocks that are still to be placed if there is such a
    /// run: each place more that a commit writes to costs it as much as the writing of dozens of pages.
    func reserveWhole(_ count: UInt64, of rest: UInt64) -> SpaceRun {
        if rest > count, let run = takeBestFit(rest) {
            if run.end <= ceiling ?? .max { return run }
            giveBack(run)
        }
        return takeBestFit(count) ?? grow(count)
    }

    private func takeBestFit(_ count: UInt64) -> SpaceRun? {
        guard count <= freePages else { return nil }
        if placesLow || (pageCount >= limits.trimPagesMin && freePages > pageCount / 3) {
            if let run = takeLowest(count) { return run }
        }
        var index = FreeBuckets.lengthClass(count)
        while let found = buckets.firstOccupied(from: index) {
            while let page = buckets.lowest(in: found) {
                if let entry = freeEntry(at: page), FreeBuckets.lengthClass(entry.count) == found {
                    if entry.count >= count { return take(entry, count) }
                    // A class of different lengths: look at a few more, then go on to the next.
                    for page in buckets.candidates(in: found, limit: 32) {
                        if let entry = freeEntry(at: page), entry.count >= count {
                            return take(entry, count)
                        }
                    }
                    break
                }
                buckets.removeLowest(in: found)
            }
            index = found + 1
        }
        return nil
    }

    /// The lowest of the first candidates of each length: in a file that is mostly empty this
    /// moves what is rewritten to the front, so that the end can be given back.
    func takeLowest(_ count: UInt64) -> SpaceRun? {
        lowest(count).flatMap { take($0, count) }
    }

    private func lowest(_ count: UInt64) -> SpaceEntry? {
        var best: SpaceEntry?
        var index = FreeBuckets.lengthClass(count)
        while let found = buckets.firstOccupied(from: index) {
            index = found + 1
            while let page = buckets.lowest(in: found) {
                if let entry = freeEntry(at: page), FreeBuckets.lengthClass(entry.count) == found {
                    if entry.count >= count, page < best?.page ?? .max { best = entry }
                    break
                }
                buckets.removeLowest(in: found)
            }
        }
        return best
    }

    /// Whether a block of so many pages finds a place that ends before a page.
    func hasRoom(_ count: UInt64, below end: UInt64) -> Bool {
        lowest(count).map { $0.page + count <= end } ?? false
    }

    private func takeLargest(atMost count: UInt64, atLeast least: UInt64 = 1) -> SpaceRun? {
        if let run = takeBestFit(count) { return run }
        while let found = buckets.lastOccupied(), let page = buckets.lowest(in: found) {
            if let entry = freeEntry(at: page), FreeBuckets.lengthClass(entry.count) == found {
                return entry.count < least ? nil : take(entry, min(entry.count, count))
            }
            buckets.removeLowest(in: found)
        }
        return nil
    }

    private func take(_ entry: SpaceEntry, _ count: UInt64) -> SpaceRun? {
        let run = SpaceRun(page: entry.page, count: count)
        return carve(run) ? run : nil
    }

    /// Adds pages at the end of the file, behind what is free there.
    func grow(_ count: UInt64) -> SpaceRun {
        var page = pageCount
        if let last = trailingFree(), last.count < count, carve(last) { page = last.page }
        let needed = page + count - pageCount
        // A tiny file does not grow to 64 pages at once.
        let isWasteful = freePages > pageCount / 8
        let ahead = isWasteful ? 0 : min(Self.growthPagesMax, max(8, pageCount / 8))
        let added = needed >= ahead ? needed : ahead
        pageCount += added
        let run = SpaceRun(page: page, count: count)
        if run.end < pageCount { giveBack(SpaceRun(page: run.end, count: pageCount - run.end)) }
        return run
    }

    private func trailingFree() -> SpaceRun? {
        guard let last = chunks.last(where: { !$0.entries.isEmpty })?.entries.last,
            last.isFree, last.end == pageCount
        else { return nil }
        return SpaceRun(page: last.page, count: last.count)
    }

    /// Puts pages that were taken and not used back. A file that was cut and grows again has chunks begin
    /// among them.
    private func giveBack(_ run: SpaceRun) {
        freePages += run.count
        var page = run.page
        while page < run.end {
            let chunk = chunkIndex(page)
            let end = min(run.end, chunkEnd(chunk))
            insertFree(
                SpaceEntry(page: page, count: end - page), chunk, chunks[chunk].lowerBound(page))
            page = end
        }
    }

    // MARK: A commit's changes

    /// The commit wrote the first `used` pages of a run it had taken; the rest is free again.
    func settle(_ run: SpaceRun, used: UInt64) {
        if used > 0, run.page < basePageCount {
            let count = min(used, basePageCount - run.page)
            note(SpaceOperation(isUse: true, entry: SpaceEntry(page: run.page, count: count)))
        }
        if used < run.count { giveBack(SpaceRun(page: run.page + used, count: run.count - used)) }
    }

    /// The commit that makes `version` no longer needs this block.
    func free(_ block: BlockReference, by version: UInt64) throws(RealmError) {
        guard block.version > 0, block.version < version, !block.isTransient else {
            throw RealmError(
                .invalidDatabase,
                "page \(block.page): block of version \(block.version) freed by version \(version)")
        }
        var page = block.page
        let end = block.end
        while page < end {
            // Pieces, because a damaged file may have a chunk begin inside the block.
            let pieceEnd = min(end, chunkEnd(chunkIndex(page)))
            let entry = SpaceEntry(
                page: page, count: pieceEnd - page, written: block.version, freed: version)
            try insert(entry)
            self.block(entry, by: self.version)
            note(SpaceOperation(isUse: false, entry: entry))
            page = pieceEnd
        }
    }

    /// A block that was written for the version that is being made is not part of it after all.
    func undo(_ block: BlockReference) {
        let run = SpaceRun(page: block.page, count: UInt64(block.pageCount))
        let count = min(run.end, basePageCount) - min(run.page, basePageCount)
        let entry = SpaceEntry(page: run.page, count: count)
        if count > 0 { note(SpaceOperation(isUse: false, entry: entry)) }
        giveBack(run)
    }

    private func note(_ operation: SpaceOperation) {
        guard !isInline else { return }
        let chunk = chunkIndex(operation.entry.page)
        // A chunk that this commit writes anew will hold the change itself.
        guard !chunks[chunk].reference.isNone else { return }
        operations.append(operation)
        chunks[chunk].operations += 1
    }

    /// Less was needed than expected: what the file grew by and nobody took goes again, but for what `grow` adds ahead.
    func limitGrowth() {
        guard pageCount > basePageCount, let last = trailingFree() else { return }
        let end = max(basePageCount, last.page + min(Self.growthPagesMax, last.count))
        guard carve(SpaceRun(page: end, count: pageCount - end)) else { return }
        pageCount = end
    }

    /// Notes the free part of what the file grew by, and returns it: it has to be written with
    /// zeros. Call once, after everything is settled.
    func noteGrowth() -> [SpaceRun] {
        guard pageCount > basePageCount else { return [] }
        var grown: [SpaceRun] = []
        for chunk in chunks.reversed() {
            for entry in chunk.entries.reversed() {
                guard entry.end > basePageCount else { return grown }
                let page = max(entry.page, basePageCount)
                let run = SpaceRun(page: page, count: entry.end - page)
                grown.append(run)
                note(
                    SpaceOperation(
                        isUse: false, entry: SpaceEntry(page: run.page, count: run.count)))
            }
        }
        return grown
    }

    /// Gives the free end of the file back if it is a large part of it, or `all` of it, or down to
    /// the `floor` of a sweep.
    func trim(all: Bool, floor: UInt64 = 0) {
        guard pageCount <= basePageCount else { return }
        let end = endOfUse
        let free = pageCount - end
        var target = all ? end : end + min(64, free / 8)
        if !all, free < max(limits.trimPagesMin, pageCount / 4) {
            target = max(target, floor)
            let step = min(limits.sweepPagesMin, max(8, pageCount / 64))
            guard floor > 0, pageCount >= target + step else { return }
        }
        while pageCount > target, let last = trailingFree() {
            let page = max(last.page, target)
            let cut = SpaceRun(page: page, count: last.end - page)
            guard carve(cut) else { return }
            note(SpaceOperation(isUse: true, entry: SpaceEntry(page: cut.page, count: cut.count)))
            pageCount = page
        }
    }

    /// The commit is done: the map is that of `version` now.
    func committed(_ version: UInt64) {
        self.version = version
        basePageCount = pageCount
    }

    /// The map becomes that of a version which others committed, of a file of so many pages.
    func follow(to version: UInt64, pageCount: UInt64) {
        self.version = version
        self.pageCount = pageCount
        basePageCount = pageCount
    }
}
