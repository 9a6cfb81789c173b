// The consistency check of the space map: every page of the file is exactly one of header,
// reachable from the version, free, or pending for older versions.

extension Store {
    /// Checks the newest version; `reachable` are all blocks of the client's trees in it. Returns
    /// what is wrong, with page numbers; nothing when all is well.
    func check(reachable: [BlockReference]) throws(RealmError) -> [String] {
        let pin = try pinNewest()
        defer { unpin(pin.version) }
        return try check(pin, reachable: reachable)
    }

    /// The same for a pinned version. Without `listsLeaks`, `reachable` need not be all blocks.
    func check(
        _ pin: Pin, reachable: [BlockReference], listsLeaks: Bool = true
    ) throws(RealmError) -> [String] {
        let space = try readSpace(pin, live: nil)
        var parts: [(page: UInt64, count: UInt64, what: String)] = []
        func add(_ reference: BlockReference, _ what: String) {
            parts.append((reference.page, UInt64(reference.pageCount), what))
        }
        for reference in reachable { add(reference, "a block in use") }
        add(pin.root, "the version root")
        for chunk in space.chunks {
            if !chunk.reference.isNone { add(chunk.reference, "a block of the space map") }
            for entry in chunk.entries {
                parts.append(
                    (
                        entry.page, entry.count,
                        entry.isFree
                            ? "free space"
                            : "space freed by version \(entry.freed)"
                    ))
            }
        }
        parts.sortFew { $0.page < $1.page }
        var problems: [String] = []
        var next = FileHeader.firstBlockPage
        var before = "the header"
        for part in parts {
            if part.page > next, listsLeaks {
                problems.append(
                    "pages \(next) to \(part.page - 1): leaked, neither in use nor free")
            } else if part.page < next {
                problems.append(
                    "page \(part.page): \(part.what) overlaps \(before), which ends at page"
                        + " \(next - 1)")
            }
            if part.page + part.count > next {
                next = part.page + part.count
                before = part.what
            }
        }
        if next < space.pageCount, listsLeaks {
            problems.append(
                "pages \(next) to \(space.pageCount - 1): leaked, neither in use nor free")
        }
        if next > space.pageCount {
            problems.append(
                "\(before) ends at page \(next - 1), the file at \(space.pageCount - 1)")
        }
        return problems
    }
}
