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
        let rest = previousCount &- shared
        let wordBytes = (71 &- word.leadingZeroBitCount) >> 3
        let record = piece + used
        record.put(
            UInt32(truncatingIfNeeded: shared | rest << 10 | wordBytes << 20), 0)
        record.put(word, IndexRuns.headerBytes)
        let target = record + (IndexRuns.headerBytes &+ wordBytes)
        if rest <= 8 {
            target.put(UnsafeRawPointer(previous).u64(shared), 0)
        } else {
            memcpy(target, previous + shared, rest)
        }
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
        let shared = Self.shared(start, previous, min(value.count, previousCount))
        memcpy(previous + shared, start + shared, value.count &- shared)
        previousCount = value.count
        return shared
    }

    /// How many of the first bytes are the same.
    private static func shared(_ a: UnsafeRawPointer, _ b: UnsafeRawPointer, _ count: Int) -> Int {
        var place = 0
        while place &+ 8 <= count {
            let difference = a.u64(place) ^ b.u64(place)
            if difference != 0 { return place &+ difference.trailingZeroBitCount >> 3 }
            place &+= 8
        }
        while place < count, a.u8(place) == b.u8(place) { place &+= 1 }
        return place
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
    /// The first eight bytes of the value, which ascend as it does.
    private(set) var prefix: UInt64 = 0

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
        if left == 0 { return }
        if last &- first < IndexRuns.recordBytesMax, offset < end { try fill() }
        // What is loaded here lies in the memory, and is looked at if the record has it.
        let record = UnsafeRawPointer(piece) + first
        let header = Int(record.u32(0))
        let shared = header & 0x3FF
        let rest = header >> 10 & 0x3FF
        let wordBytes = header >> 20 & 0xF
        let size = IndexRuns.headerBytes &+ wordBytes &+ rest
        guard size <= last &- first, shared <= count, wordBytes <= 8,
            shared &+ rest <= IndexLimits.valueBytesMax
        else { throw damaged() }
        // All bits for eight bytes: what is shifted out is gone.
        word = record.u64(IndexRuns.headerBytes) & ((1 << UInt64(8 &* wordBytes)) &- 1)
        let source = record + (IndexRuns.headerBytes &+ wordBytes)
        if rest <= 8 {
            memory.put(source.u64(0), shared)
        } else {
            memcpy(memory + shared, source, rest)
        }
        first &+= size
        count = shared &+ rest
        prefix = IndexPending.prefix(value, count)
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

/// The records of several runs in order.
final class IndexRunMerge {
    // Not arrays: comparing records would count references to them each time.
    private let readers: UnsafeMutablePointer<RunReader>
    private var readerCount = 0
    /// Numbers of readers with records left: a heap, whose first has the least record.
    private let heap: UnsafeMutablePointer<Int>
    private var heapCount = 0
    /// The value of the record before.
    private let previous = UnsafeMutableRawPointer.allocate(
        byteCount: IndexLimits.valueBytesMax, alignment: 16)
    private var previousCount = -1

    fileprivate init(_ runs: IndexRuns, _ all: [IndexRuns.Run]) throws(RealmError) {
        readers = .allocate(capacity: all.count)
        heap = .allocate(capacity: all.count)
        for run in all {
            (readers + readerCount).initialize(to: try RunReader(runs, run))
            if readers[readerCount].left > 0 {
                heap[heapCount] = readerCount
                heapCount += 1
            }
            readerCount += 1
        }
        for place in stride(from: heapCount / 2 - 1, through: 0, by: -1) { sink(place) }
    }

    deinit {
        for number in 0..<readerCount { readers[number].deallocate() }
        readers.deinitialize(count: readerCount)
        readers.deallocate()
        heap.deallocate()
        previous.deallocate()
    }

    var isEmpty: Bool { heapCount == 0 }

    /// The value, until the next `advance`, and the word of the object key.
    var top: (value: UnsafeRawBufferPointer, word: UInt64) {
        let first = heap[0]
        return (
            UnsafeRawBufferPointer(start: readers[first].value, count: readers[first].count),
            readers[first].word
        )
    }

    /// Whether this record's value is that of the one before, of which it takes note. To be asked of every
    /// record.
    func repeatsValue() -> Bool {
        let (value, _) = top
        guard let start = value.baseAddress else { return false }
        if value.count == previousCount, isLike(start, value.count) { return true }
        memcpy(previous, start, value.count)
        previousCount = value.count
        return false
    }

    /// Whether so many bytes are those of `previous`. Neighbours differ in their ends more often than before.
    @inline(__always)
    private func isLike(_ start: UnsafeRawPointer, _ count: Int) -> Bool {
        let known = UnsafeRawPointer(previous)
        if count >= 8, start.u64(count &- 8) != known.u64(count &- 8) { return false }
        return equalBytes(known, start, count)
    }

    func advance() throws(RealmError) {
        try readers[heap[0]].advance()
        if readers[heap[0]].left == 0 {
            heapCount &-= 1
            if heapCount == 0 { return }
            heap[0] = heap[heapCount]
        }
        sink(0)
    }

    private func sink(_ start: Int) {
        var place = start
        while true {
            var least = place
            let left = 2 &* place &+ 1
            if left < heapCount, isBefore(heap[left], heap[least]) { least = left }
            if left &+ 1 < heapCount, isBefore(heap[left &+ 1], heap[least]) { least = left &+ 1 }
            if least == place { return }
            swap(&heap[place], &heap[least])
            place = least
        }
    }

    private func isBefore(_ a: Int, _ b: Int) -> Bool {
        if readers[a].prefix != readers[b].prefix { return readers[a].prefix < readers[b].prefix }
        if readers[a].count == 8, readers[b].count == 8 {
            return readers[a].key != readers[b].key ? readers[a].key < readers[b].key : a < b
        }
        let order = compare(
            IndexPosition(bytes: readers[a].value, count: readers[a].count, key: readers[a].key),
            IndexPosition(bytes: readers[b].value, count: readers[b].count, key: readers[b].key))
        return order != 0 ? order < 0 : a < b
    }
}
