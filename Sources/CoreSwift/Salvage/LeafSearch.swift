// Leaves below damaged branches.
//
// In a plain file the whole file is looked through for references that name leaves: in what is left of the
// damaged branches themselves, and in copies of them from older versions. A reference whose check value
// is that of the block it names proves the block.
//
// A block of an encrypted file opens only for who knows its place, its length and the version that wrote it.
// Place and length can be tried; the version lies between those of what the same writer sealed before and
// after it, which the numbers in the nonces tell; of a writer of whom nothing else is left, the newest ones
// are tried.
//
// A leaf that was found belongs to the version that is salvaged if that version uses its pages: nothing was
// written there since.

struct LeafSearch {
    private let file: DamagedFile
    private let version: UInt64
    private let space: SpaceMap

    /// Throws where the map of free space can't be read: blocks could be from older versions then.
    init(_ file: DamagedFile, _ version: DamagedFile.Version) throws(RealmError) {
        self.file = file
        self.version = version.number
        let pin = Store.Pin(
            version: version.number, payload: version.root.payload,
            payloadCount: version.root.payloadCount, root: version.reference)
        space = try file.store.readSpace(pin, live: nil)
    }

    /// References to intact row leaves in use, by class. `reached`: blocks that were found by way of the
    /// trees, and without check values those of the written list.
    func run(reached: [BlockReference]) -> [ClassKey: [BlockReference]] {
        var result: [ClassKey: [BlockReference]] = [:]
        func add(_ reference: BlockReference) {
            guard let block = try? file.store.admit(reference),
                block.u8(BlockField.kind) == BlockKind.rowLeaf.rawValue
            else { return }
            result[ClassKey(rawValue: block.u32(BlockField.classKey)), default: []]
                .append(reference)
        }
        if file.isEncrypted {
            findSealed(reached, add)
        } else {
            findNamed(add)
        }
        return result
    }

    // MARK: Plain files

    private func findNamed(_ add: (BlockReference) -> Void) {
        var seen = Set<Candidate>()
        // Forged files may name blocks that are none as often as they have room.
        var pagesLeft = file.pages * 64 + 1 << 16
        for page in 0..<file.pages {
            let bytes = file.raw + Int(page) << Page.shift
            for offset in stride(from: 0, through: Page.size - BlockReference.byteCount, by: 8) {
                let reference = BlockReference(bytes + offset)
                guard isPlausible(reference), isUsed(reference),
                    seen.insert(Candidate(reference)).inserted,
                    pagesLeft > UInt64(reference.pageCount)
                else { continue }
                pagesLeft -= UInt64(reference.pageCount)
                if file.isIntact(reference) { add(reference) }
            }
        }
    }

    private struct Candidate: Hashable {
        let location: UInt64
        let version: UInt64
        let check: UInt64

        init(_ reference: BlockReference) {
            location = reference.location
            version = reference.version
            check = reference.check0
        }
    }

    private func isPlausible(_ reference: BlockReference) -> Bool {
        guard reference.isStored, reference.version > 0, reference.version <= version,
            reference.end <= file.pages
        else { return false }
        let block = file.raw + Int(reference.page) << Page.shift
        return block.u8(BlockField.kind) == BlockKind.rowLeaf.rawValue
    }

    // MARK: Encrypted files

    private struct Writer: Hashable {
        let low: UInt64
        let high: UInt64
    }

    /// Versions that are tried for a block, and pages.
    private static let versionsMax: UInt64 = 64
    private static let leafPagesMax: UInt64 = 64
    /// What no writer reaches; other pages of blocks seldom have less where a nonce would have it.
    private static let numberMax: UInt64 = 1 << 40

    private func findSealed(_ reached: [BlockReference], _ add: (BlockReference) -> Void) {
        // What each writer sealed, in order: number of the message, version.
        var messages: [Writer: [(number: UInt64, version: UInt64)]] = [:]
        var covered = Set<UInt64>()
        for reference in reached {
            let nonce = file.raw + file.store.codec.offset(reference.page)
            messages[Writer(low: nonce.u64(0), high: nonce.u64(8)), default: []]
                .append((nonce.u64(16), reference.version))
            // Of those in the written list only the place is known.
            if reference.check0 != 0 { covered.insert(reference.page) }
        }
        for writer in messages.keys { messages[writer]?.sortFew { $0.number < $1.number } }
        for page in FileHeader.firstBlockPage..<max(file.pages, FileHeader.firstBlockPage)
        where !covered.contains(page) {
            let nonce = file.raw + file.store.codec.offset(page)
            let number = nonce.u64(16)
            guard number < Self.numberMax else { continue }
            let own = messages[Writer(low: nonce.u64(0), high: nonce.u64(8))] ?? []
            let next = own.firstIndex { $0.number > number } ?? own.count
            let low = next > 0 ? own[next - 1].version : 1
            let high = min(next < own.count ? own[next].version : version, version)
            if let found = open(page, low, high) { add(found) }
        }
    }

    /// The block at a page, written by some version between two, if it is one.
    private func open(_ page: UInt64, _ low: UInt64, _ high: UInt64) -> BlockReference? {
        guard low <= high else { return nil }
        let left = min(file.pages - page, Self.leafPagesMax)
        for back in 0...min(high - low, Self.versionsMax) {
            for count in 1...left {
                var found = BlockReference(
                    page: page, pages: Int(count), version: high - back)
                guard isUsed(found), let check = file.store.codec.check(file.raw, found) else {
                    continue
                }
                (found.check0, found.check1) = (check.low, check.high)
                return found
            }
        }
        return nil
    }

    // MARK: Space

    private func isUsed(_ reference: BlockReference) -> Bool {
        let end = reference.end
        guard end <= space.pageCount else { return false }
        for chunk in space.chunks {
            let index = chunk.lowerBound(reference.page)
            if index < chunk.entries.count, chunk.entries[index].page < end { return false }
            if index > 0, chunk.entries[index - 1].end > reference.page { return false }
        }
        return true
    }
}
