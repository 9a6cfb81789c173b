// What a map of free space consists of.

/// Sizes at which the map changes its ways. The file may be written with any; tests use small ones.
struct SpaceLimits {
    /// A map of at most this many entries is stored in the root itself.
    var inlineEntriesMax = 160
    /// Operations the root carries at least before chunks are written anew: about 2 KiB.
    var operationsMin = 192
    var chunkEntriesMin = 512
    var chunkEntriesMax = 4096
    /// The file gives back no less than this (1 MiB).
    var trimPagesMin: UInt64 = 256
    /// Less that is free is left where it is; what a sweep made free is given back in such steps.
    var sweepPagesMin: UInt64 = 64
}

struct SpaceRun: Equatable {
    var page: UInt64
    var count: UInt64
    var end: UInt64 { page + count }
}

struct SpaceEntry: Equatable {
    var page: UInt64
    var count: UInt64
    var written: UInt64 = 0
    /// Version that freed it; 0 = free for use.
    var freed: UInt64 = 0

    var end: UInt64 { page + count }
    var isFree: Bool { freed == 0 }
}

extension [SpaceEntry] {
    /// Appends an entry behind all others; a free one joins the last one, where that is free and ends there.
    mutating func appendJoining(_ entry: SpaceEntry) {
        if entry.isFree, let last, last.isFree, last.end == entry.page {
            self[count - 1].count += entry.count
        } else {
            append(entry)
        }
    }
}

struct SpaceOperation: Equatable {
    /// `use` takes the pages out of the map; otherwise they were put in, as the entry says.
    var isUse: Bool
    var entry: SpaceEntry
}

struct SpaceChunk {
    var first: UInt64
    /// The stored block; none when the next commit has to write one.
    var reference: BlockReference = .none
    var entries: [SpaceEntry] = []
    /// Operations in the list that concern this chunk.
    var operations = 0

    /// Index of the first entry that starts at or behind `page`.
    func lowerBound(_ page: UInt64) -> Int { SpaceMap.lowerBound(entries, page) }
}
