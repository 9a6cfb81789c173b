// Sorted runs of index entries that wait in a file of their own, until an index is made of all of them at
// once: in ascending order, so that each node of its tree is written once and little of it is in memory.
// Merged as they come, keys in no order would have each commit write most of the tree again.
//
// The file has no name: it goes with the process. Beside an encrypted file it is encrypted.
//
// Used by `TableSet+Filling`.
//
// A run is a stream of records, each by what it has not in common with the one before:
//      0     3  bits 0-9: bytes of the value that are those of the value before
//               bits 10-19: bytes of the value that follow
//               bits 20-23: bytes of the word, which are the lowest of it: the others are zeros
//      3        the word: object key; the top bit is set for a removal
//               the rest of the value
//
// Invariants
//   1. The records of a run ascend by value and object key; of equal ones the later change comes later, and
//      so do later runs.
//   2. Runs begin at multiples of `ScratchCipher.blockBytes`, and are read in pieces of `pieceBytes`, a
//      multiple of it.

import CKernels

final class IndexRuns {
    /// Which index: class and position among the indexes of its table.
    struct Owner: Hashable {
        let classKey: ClassKey
        let position: Int
    }

    fileprivate struct Run {
        var start: Int64
        var bytes = 0
        var records = 0
        /// So many of their first bytes all values share.
        var shared = Int.max
    }

    fileprivate static let pieceBytes = 64 << 10
    fileprivate static let headerBytes = 3
    /// Of the longest.
    fileprivate static let recordBytesMax = headerBytes + 8 + IndexLimits.valueBytesMax
    /// What is loaded and stored by words may reach behind the end of a record or value by less than this.
    fileprivate static let slackBytes = 16
    /// Memory for a value. Its size fits into the bits of a record.
    fileprivate static let valueRoom = IndexLimits.valueBytesMax + slackBytes

    /// How many transactions the realm had undone when it began; none may be undone since.
    let rollbacks: UInt32
    fileprivate let file: OpenFile
    fileprivate let cipher: ScratchCipher?
    private var runs: [Owner: [Run]] = [:]
    private var end: Int64 = 0

    /// `path`: a name that nothing has, for a moment.
    init(
        _ path: String, isEncrypted: Bool, rollbacks: UInt32, _ files: FileSystem
    ) throws(RealmError) {
        self.rollbacks = rollbacks
        file = try OpenFile(path, .create, files)
        _ = try FileOperations.remove(path, files)
        cipher = isEncrypted ? ScratchCipher() : nil
    }

    /// Moves what waits for an index into a run.
    func add(_ pending: inout IndexPending, of owner: Owner) throws(RealmError) {
        guard pending.count > 0 else { return }
        let block = Int64(ScratchCipher.blockBytes)
        let writer = RunWriter(self, at: (end + block - 1) / block * block)
        try pending.drain { bytes, word throws(RealmError) in try writer.add(bytes, word) }
        let run = try writer.finish()
        end = run.start + Int64(run.bytes)
        runs[owner, default: []].append(run)
    }

    /// All records of an index in order; they are the caller's from then on.
    func take(_ owner: Owner) throws(RealmError) -> IndexRunMerge? {
        guard let own = runs.removeValue(forKey: owner) else { return nil }
        return try IndexRunMerge(self, own)
    }

    /// Whether nothing is left of any index.
    var isEmpty: Bool { runs.isEmpty }
}

/// Copies bytes, and those behind them up to a whole word, which have room: most are too few for a call.
@inline(__always)
private func copyWords(_ target: UnsafeMutableRawPointer, _ source: UnsafeRawPointer, _ count: Int)
{
    var place = 0
    repeat {
        target.put(source.u64(place), place)
        place &+= 8
    } while place < count
}

/// Writes one run.
private final class RunWriter {
    private let runs: IndexRuns
    private var run: IndexRuns.Run
    /// The value of the record before.
    private let previous: UnsafeMutableRawPointer
    private var previousCount = 0
    /// Room for a record behind its end.
    private let piece: UnsafeMutableRawPointer
    private var used = 0

    init(_ runs: IndexRuns, at start: Int64) {
        self.runs = runs
        run = IndexRuns.Run(start: start)
        previous = .allocate(byteCount: IndexRuns.valueRoom, alignment: 16)
        piece = .allocate(
            byteCount: IndexRuns.pieceBytes + IndexRuns.recordBytesMax + IndexRuns.slackBytes,
            alignment: 16)
    }

    deinit {
        previous.deallocate()
        piece.deallocate()
    }

    /// `value` has at most `IndexLimits.valueBytesMax` bytes.
    @inline(__always)
    func add(_ value: UnsafeRawBufferPointer, _ word: UInt64) throws(RealmError) {
        let shared = noteValue(value)
        // Of what ascends, any two share no less than each with its neighbour.
        run.shared = min(run.shared, run.records == 0 ? value.count : shared)
        let rest = previousCount &- shared
        let wordBytes = (71 &- word.leadingZeroBitCount) >> 3
        let record = piece + used
        record.put(
            UInt32(truncatingIfNeeded: shared | rest << 10 | wordBytes << 20), 0)
        record.put(word, IndexRuns.headerBytes)
        let target = record + (IndexRuns.headerBytes &+ wordBytes)
        copyWords(target, previous + shared, rest)
        used &+= IndexRuns.headerBytes &+ wordBytes &+ rest
        run.records &+= 1
        if used >= IndexRuns.pieceBytes { try writePiece() }
    }

    /// Makes a value the one before; how many of its first bytes it has in common with that.
    @inline(__always)
    private func noteValue(_ value: UnsafeRawBufferPointer) -> Int {
        guard let start = value.baseAddress else {
            previousCount = 0
            return 0
        }
        if value.count == 8, previousCount == 8 {
            let word = start.u64(0)
            let difference = word ^ UnsafeRawPointer(previous).u64(0)
            previous.put(word, 0)
            return difference.trailingZeroBitCount >> 3
        }
        let shared = sharedBytes(start, previous, min(value.count, previousCount))
        memcpy(previous + shared, start + shared, value.count &- shared)
        previousCount = value.count
        return shared
    }

    private func writePiece() throws(RealmError) {
        try write(IndexRuns.pieceBytes)
        used -= IndexRuns.pieceBytes
        memcpy(piece, piece + IndexRuns.pieceBytes, used)
    }

    private func write(_ count: Int) throws(RealmError) {
        let place = run.start + Int64(run.bytes)
        runs.cipher?.apply(piece, count, at: UInt64(place))
        try runs.file.write(piece, count: count, at: place, "write index entries")
        run.bytes += count
    }

    func finish() throws(RealmError) -> IndexRuns.Run {
        if used > 0 { try write(used) }
        return run
    }
}

/// Reads one run.
private struct RunReader {
    private let runs: IndexRuns
    private var offset: Int64
    private let end: Int64
    /// The value of the record at hand.
    private let memory: UnsafeMutableRawPointer
    /// What was read of the run, in the same memory.
    private let piece: UnsafeMutableRawPointer
    /// What was read and not handed out yet.
    private var first = 0
    private var last = 0
    /// Records that are left, the one at hand included.
    private(set) var left: Int
    private(set) var count = 0
    private(set) var word: UInt64 = 0
    /// Eight bytes of the value, behind those that all values share: they ascend as it does. All bits behind the last
    /// record.
    private(set) var prefix: UInt64 = 0
    /// How many bytes all values share.
    private var skipped = 0

    /// Room for a value, and for a piece behind the part of a record that the last one ended with.
    private static let capacity =
        IndexRuns.valueRoom + IndexRuns.pieceBytes + IndexRuns.recordBytesMax + IndexRuns.slackBytes

    init(_ runs: IndexRuns, _ run: IndexRuns.Run) throws(RealmError) {
        self.runs = runs
        offset = run.start
        end = run.start + Int64(run.bytes)
        left = run.records + 1
        memory = .allocate(byteCount: Self.capacity, alignment: 16)
        piece = memory + IndexRuns.valueRoom
        do throws(RealmError) { try advance() } catch {
            memory.deallocate()
            throw error
        }
    }

    func deallocate() { memory.deallocate() }

    /// Until the next `advance`.
    var value: UnsafeRawPointer { UnsafeRawPointer(memory) }
    var key: ObjectKey { ObjectKey(word: word & ~IndexPending.removalBit) }

    mutating func advance() throws(RealmError) {
        left &-= 1
        if left == 0 {
            prefix = .max
            return
        }
        if last &- first < IndexRuns.recordBytesMax, offset < end { try fill() }
        // What is loaded here lies in the memory, and is looked at if the record has it.
        let record = UnsafeRawPointer(piece) + first
        let header = Int(record.u32(0))
        let shared = header & 0x3FF
        let rest = header >> 10 & 0x3FF
        let wordBytes = header >> 20 & 0xF
        let size = IndexRuns.headerBytes &+ wordBytes &+ rest
        guard size <= last &- first, shared <= count, wordBytes <= 8,
            shared &+ rest <= IndexLimits.valueBytesMax, shared &+ rest >= skipped
        else { throw damaged() }
        // All bits for eight bytes: what is shifted out is gone.
        word = record.u64(IndexRuns.headerBytes) & ((1 << UInt64(8 &* wordBytes)) &- 1)
        let source = record + (IndexRuns.headerBytes &+ wordBytes)
        copyWords(memory + shared, source, rest)
        first &+= size
        count = shared &+ rest
        notePrefix()
    }

    /// Looks at values behind so many bytes from now on.
    mutating func skip(_ bytes: Int) {
        skipped = bytes
        if left > 0 { notePrefix() }
    }

    @inline(__always)
    private mutating func notePrefix() {
        let word = value.u64(skipped).byteSwapped
        let own = count &- skipped
        // What is behind the value is of other ones.
        prefix = own >= 8 ? word : own == 0 ? 0 : word & ~(UInt64.max &>> UInt64(8 &* own))
    }

    private mutating func fill() throws(RealmError) {
        memmove(piece, piece + first, last - first)
        last -= first
        first = 0
        let size = min(IndexRuns.pieceBytes, Int(end - offset))
        let got = try runs.file.read(piece + last, count: size, at: offset)
        guard got == size else { throw damaged() }
        runs.cipher?.apply(piece + last, size, at: UInt64(offset))
        offset += Int64(size)
        last += size
    }

    private func damaged() -> RealmError {
        RealmError(
            .fileOperationFailed,
            "index entries beside '\(runs.file.path)' are not what was written there")
    }
}

/// The records of several runs in order: a tournament, in which each record of a run plays against those of the
/// others that have come far.
final class IndexRunMerge {
    // Not arrays: comparing records would count references to them each time.
    private let readers: UnsafeMutablePointer<RunReader>
    private var readerCount = 0
    /// At each node from 1 on, the reader that lost there; below node n are the nodes 2n and 2n + 1, and reader r
    /// begins at the node behind all others and r more.
    private let losers: UnsafeMutablePointer<Int>
    /// The reader with the least record.
    private var first = 0
    /// The reader with the least record of the others, where it is known: it is looked for when a reader has been the
    /// first one twice, as it then often stays that, and there is one to compare it with. Below 0: it is not known.
    private var second = -1
    /// How many of their first bytes all values share.
    private let skipped: Int

    /// `all`: one run at least.
    fileprivate init(_ runs: IndexRuns, _ all: [IndexRuns.Run]) throws(RealmError) {
        readers = .allocate(capacity: all.count)
        losers = .allocate(capacity: all.count)
        var shared = all.reduce(Int.max) { min($0, $1.shared) }
        do throws(RealmError) {
            for run in all {
                (readers + readerCount).initialize(to: try RunReader(runs, run))
                readerCount += 1
                shared = sharedBytes(readers[0].value, readers[readerCount - 1].value, shared)
            }
        } catch {
            skipped = 0
            throw error
        }
        skipped = shared
        for number in 0..<readerCount { readers[number].skip(shared) }
        first = play(1)
    }

    deinit {
        for number in 0..<readerCount { readers[number].deallocate() }
        readers.deinitialize(count: readerCount)
        readers.deallocate()
        losers.deallocate()
    }

    /// The winner at a node.
    private func play(_ node: Int) -> Int {
        if node >= readerCount { return node - readerCount }
        let (a, b) = (play(2 * node), play(2 * node + 1))
        let isFirst = isBefore(a, b)
        losers[node] = isFirst ? b : a
        return isFirst ? a : b
    }

    var isEmpty: Bool { readers[first].left == 0 }

    /// The value, until the next `advance`, and the word of the object key.
    var top: (value: UnsafeRawBufferPointer, word: UInt64) {
        (
            UnsafeRawBufferPointer(start: readers[first].value, count: readers[first].count),
            readers[first].word
        )
    }

    @inline(__always)
    func advance() throws(RealmError) {
        try readers[first].advance()
        if second >= 0 {
            if isBefore(first, second) { return }
            second = -1
        }
        var winner = first
        var node = (first &+ readerCount) >> 1
        while node > 0 {
            let other = losers[node]
            if isBefore(other, winner) {
                losers[node] = winner
                winner = other
            }
            node >>= 1
        }
        if winner == first { findSecond() }
        first = winner
    }

    /// It lost to the first one, wherever they met.
    private func findSecond() {
        var node = (first &+ readerCount) >> 1
        while node > 0 {
            if second < 0 || isBefore(losers[node], second) { second = losers[node] }
            node >>= 1
        }
    }

    @inline(__always)
    private func isBefore(_ a: Int, _ b: Int) -> Bool {
        let (left, right) = (readers[a].prefix, readers[b].prefix)
        return left != right ? left < right : isBeforeAlike(a, b)
    }

    /// Where their prefixes are equal.
    private func isBeforeAlike(_ a: Int, _ b: Int) -> Bool {
        let (left, right) = (readers + a, readers + b)
        if left.pointee.left == 0 || right.pointee.left == 0 {
            return left.pointee.left > 0 || right.pointee.left == 0 && a < b
        }
        let count = left.pointee.count
        // Nothing is behind the prefix.
        if count == right.pointee.count, count &- skipped <= 8 {
            let (key, other) = (left.pointee.key, right.pointee.key)
            return key != other ? key < other : a < b
        }
        let order = compare(
            IndexPosition(
                bytes: left.pointee.value + skipped, count: count &- skipped,
                key: left.pointee.key),
            IndexPosition(
                bytes: right.pointee.value + skipped, count: right.pointee.count &- skipped,
                key: right.pointee.key))
        return order != 0 ? order < 0 : a < b
    }
}
