// The facts that a space map keeps between two calls, looked at one by one: for tests, which call it
// after each step of a random program. What a file says is checked by the readers, not here.

extension SpaceMap {
    /// Throws the first of the numbered invariants of SpaceMap.swift (1, 2) that does not hold, or
    /// that of what is derived: the sums of pages, the buckets and the pending entries by version.
    func checkInvariants() throws(RealmError) {
        func broken(_ fact: String) -> RealmError {
            RealmError(.runtime, "space map of version \(version): \(fact)")
        }
        var free: UInt64 = 0
        var pending: UInt64 = 0
        let (filed, bucketed) = derived
        for (index, chunk) in chunks.enumerated() {
            var end = chunk.first
            var endsFree = false
            for entry in chunk.entries {
                guard entry.count > 0, entry.page >= end else {
                    throw broken("1: the entry at page \(entry.page) begins before page \(end)")
                }
                if entry.isFree {
                    guard !endsFree || entry.page > end else {
                        throw broken("2: the free pages at \(entry.page) belong to those before")
                    }
                    let length = FreeBuckets.lengthClass(entry.count)
                    guard
                        bucketed[length].contains(entry.page)
                            || clearing?.contains(entry.page) == true
                    else {
                        throw broken("the buckets lack the free pages at \(entry.page)")
                    }
                    free += entry.count
                } else {
                    guard filed[entry.page] == entry else {
                        throw broken("the pending pages at \(entry.page) wait for no version")
                    }
                    pending += entry.count
                }
                end = entry.end
                endsFree = entry.isFree
            }
            // A chunk behind the end of a file that was cut has no entries.
            guard chunk.entries.isEmpty || end <= min(chunkEnd(index), pageCount) else {
                throw broken("1: chunk \(index) has pages up to \(end), beyond its end")
            }
        }
        guard free == freePages, pending == pendingPages else {
            throw broken(
                "\(free) pages are free and \(pending) pending, counted are \(freePages) and "
                    + "\(pendingPages)")
        }
    }
}
