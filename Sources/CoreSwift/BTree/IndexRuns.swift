// Sorted runs of index entries that wait in a file of their own, until an index is made of all of them at
// once: in ascending order, so that each node of its tree is written once and little of it is in memory.
// Merged as they come, keys in no order would have each commit write most of the tree again.
//
// The file has no name: it goes with the process. Beside an encrypted file it is encrypted.
//
// Used by `TableSet+Filling`.
//
// A run is a stream of records:
//      0     4  bytes of the value
//      4     8  object key; the top bit is set for a removal
//     12        the value
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
    fileprivate static let headerBytes = 12

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
    private let piece: UnsafeMutableRawPointer
    private var used = 0

    init(_ runs: IndexRuns, at start: Int64) {
        self.runs = runs
        run = IndexRuns.Run(start: start)
        piece = .allocate(byteCount: IndexRuns.pieceBytes, alignment: 16)
    }

    deinit { piece.deallocate() }

    @inline(__always)
    func add(_ value: UnsafeRawBufferPointer, _ word: UInt64) throws(RealmError) {
        let size = IndexRuns.headerBytes &+ value.count
        run.records &+= 1
        if used &+ size <= IndexRuns.pieceBytes {
            put(value, word, piece + used)
            used &+= size
            return
        }
        try withUnsafeTemporary(size) { record throws(RealmError) in
            put(value, word, record)
            var done = 0
            while done < size {
                if used == IndexRuns.pieceBytes { try write() }
                let count = min(size - done, IndexRuns.pieceBytes - used)
                memcpy(piece + used, record + done, count)
                used += count
                done += count
            }
        }
    }

    private func withUnsafeTemporary(
        _ count: Int, _ body: (UnsafeMutableRawPointer) throws(RealmError) -> Void
    ) throws(RealmError) {
        let memory = UnsafeMutableRawPointer.allocate(byteCount: count, alignment: 16)
        defer { memory.deallocate() }
        try body(memory)
    }

    @inline(__always)
    private func put(
        _ value: UnsafeRawBufferPointer, _ word: UInt64, _ target: UnsafeMutableRawPointer
    ) {
        target.put(UInt32(truncatingIfNeeded: value.count), 0)
        target.put(word, 4)
        if let start = value.baseAddress {
            memcpy(target + IndexRuns.headerBytes, start, value.count)
        }
    }

    private func write() throws(RealmError) {
        let place = run.start + Int64(run.bytes)
        runs.cipher?.apply(piece, used, at: UInt64(place))
        try runs.file.write(piece, count: used, at: place, "write index entries")
        run.bytes += used
        used = 0
    }

    func finish() throws(RealmError) -> IndexRuns.Run {
        if used > 0 { try write() }
        return run
    }
}

/// Reads one run.
private struct RunReader {
    private let runs: IndexRuns
    private var offset: Int64
    private let end: Int64
    private let memory: UnsafeMutableRawPointer
    /// What was read and not handed out yet.
    private var first = 0
    private var last = 0
    /// Records that are left, the one at hand included.
    private(set) var left: Int
    private(set) var count = 0
    private(set) var word: UInt64 = 0
    /// The first eight bytes of the value, which ascend as it does.
    private(set) var prefix: UInt64 = 0

    /// Room for a piece behind the part of a record that the last one ended with.
    private static let capacity =
        IndexRuns.pieceBytes + IndexRuns.headerBytes + IndexLimits.valueBytesMax

    init(_ runs: IndexRuns, _ run: IndexRuns.Run) throws(RealmError) {
        self.runs = runs
        offset = run.start
        end = run.start + Int64(run.bytes)
        left = run.records + 1
        memory = .allocate(byteCount: Self.capacity, alignment: 16)
        do throws(RealmError) { try advance() } catch {
            memory.deallocate()
            throw error
        }
    }

    func deallocate() { memory.deallocate() }

    /// Until the next `advance`.
    var value: UnsafeRawPointer { UnsafeRawPointer(memory) + (first &- count) }
    var key: ObjectKey { ObjectKey(word: word & ~IndexPending.removalBit) }

    mutating func advance() throws(RealmError) {
        left &-= 1
        if left == 0 { return }
        try need(IndexRuns.headerBytes)
        let header = UnsafeRawPointer(memory) + first
        count = Int(header.u32(0))
        word = header.u64(4)
        guard count <= IndexLimits.valueBytesMax else { throw damaged() }
        try need(IndexRuns.headerBytes &+ count)
        first &+= IndexRuns.headerBytes &+ count
        prefix = IndexPending.prefix(value, count)
    }

    @inline(__always)
    private mutating func need(_ bytes: Int) throws(RealmError) {
        if last &- first < bytes { try fill(bytes) }
    }

    private mutating func fill(_ bytes: Int) throws(RealmError) {
        memmove(memory, memory + first, last - first)
        last -= first
        first = 0
        let piece = min(IndexRuns.pieceBytes, Int(end - offset))
        let got = try runs.file.read(memory + last, count: piece, at: offset)
        guard got == piece, last + got >= bytes else { throw damaged() }
        runs.cipher?.apply(memory + last, piece, at: UInt64(offset))
        offset += Int64(piece)
        last += piece
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
        if value.count == previousCount, equalBytes(previous, start, value.count) { return true }
        memcpy(previous, start, value.count)
        previousCount = value.count
        return false
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
