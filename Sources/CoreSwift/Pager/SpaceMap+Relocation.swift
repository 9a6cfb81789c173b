// Where compaction puts blocks: as low as they fit, or behind everything else to make room.

/// Where a commit takes its pages.
enum Placement {
    /// Where it writes fast and leaves little waste.
    case anywhere
    /// In the lowest free runs of at least so many pages.
    case lowest(least: UInt64)
    /// In one run that does not begin before this page.
    case beyond(UInt64)

    /// All blocks get new places.
    var isRelocation: Bool {
        if case .anywhere = self { false } else { true }
    }
}

extension SpaceMap {
    func reserve(_ count: UInt64, _ placement: Placement) -> [SpaceRun] {
        switch placement {
        case .anywhere: return reserve(count)
        case .lowest(let least): return reserveLowest(count, least: least)
        case .beyond(let page): return [reserveBeyond(page, count)]
        }
    }

    /// One run for a block that the runs taken before have no room for; see `reserveWhole(_:of:)`.
    func reserveWhole(_ count: UInt64, of rest: UInt64, _ placement: Placement) -> SpaceRun {
        switch placement {
        case .anywhere: return reserveWhole(count, of: rest)
        case .lowest: return takeLowest(count) ?? grow(count)
        case .beyond(let page): return reserveBeyond(page, count)
        }
    }

    /// Takes `count` pages in one run that begins at or behind `page`.
    private func reserveBeyond(_ page: UInt64, _ count: UInt64) -> SpaceRun {
        for chunk in chunks where chunk.entries.last?.end ?? 0 > page {
            for entry in chunk.entries where entry.isFree && entry.end > page {
                let run = SpaceRun(page: max(entry.page, page), count: count)
                if run.end <= entry.end, carve(run) { return run }
            }
        }
        return grow(count)
    }

    /// Takes `count` pages from the lowest free entries of at least `least` pages; what is missing
    /// is added at the end.
    private func reserveLowest(_ count: UInt64, least: UInt64) -> [SpaceRun] {
        var pieces: [SpaceRun] = []
        var rest = count
        for chunk in chunks {
            for entry in chunk.entries where entry.isFree && entry.count >= min(least, rest) {
                guard rest > 0 else { break }
                pieces.append(SpaceRun(page: entry.page, count: min(entry.count, rest)))
                rest -= min(entry.count, rest)
            }
        }
        pieces.removeAll { !carve($0) }
        if rest > 0 { pieces.append(grow(rest)) }
        return pieces
    }

    /// The end of the file if `reserveLowest` and nothing else were done.
    func lowestEnd(_ count: UInt64, least: UInt64) -> UInt64 {
        var rest = count
        for chunk in chunks {
            for entry in chunk.entries where entry.isFree && entry.count >= min(least, rest) {
                if entry.count >= rest { return entry.page + rest }
                rest -= entry.count
            }
        }
        return pageCount + rest
    }

    /// The first page of what is free at the end of the file.
    var endOfUse: UInt64 {
        var end = pageCount
        for chunk in chunks.reversed() {
            for entry in chunk.entries.reversed() {
                guard entry.isFree, entry.end == end else { return end }
                end = entry.page
            }
        }
        return end
    }

    /// The range of at least so many pages, before a page, with the fewest pages of blocks: it begins and ends with
    /// pages that are free, or will be. Nil: there is none of which a quarter is, or whose blocks find room
    /// elsewhere. Only within chunks, as free runs don't reach over their borders.
    func emptiest(_ size: UInt64, below end: UInt64) -> Range<UInt64>? {
        var best: (blocks: UInt64, range: Range<UInt64>)?
        for chunk in chunks {
            let entries = chunk.entries
            var next = 0
            var free: UInt64 = 0
            for first in entries.indices {
                let start = entries[first].page
                while next < entries.count, next == first || entries[next - 1].end < start + size {
                    free += entries[next].count
                    next += 1
                }
                let stop = entries[next - 1].end
                guard stop >= start + size, stop <= end else { break }
                let blocks = stop - start - free
                if blocks < best?.blocks ?? .max, blocks <= (stop - start) / 4 * 3,
                    blocks + free <= freePages + pendingPages
                {
                    best = (blocks, start..<stop)
                }
                free -= entries[first].count
            }
        }
        return best?.range
    }
}
