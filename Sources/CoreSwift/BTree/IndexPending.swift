// Changes of an index that wait to be merged into its tree: collected in order of arrival while a
// write transaction runs, sorted and merged at the first read that needs the tree, at the latest
// at commit. So a bulk load costs an append per object and one merge at the end.
//
// Three shapes: values of eight bytes (link targets) take 16 bytes per change, and so do words of
// texts, which are numbered; others point into a heap. Equality look-ups between merges go through a
// hash that is built when first needed.

import CKernels

struct IndexPending {
    enum Shape {
        /// Values of eight bytes.
        case words
        /// Any values.
        case texts
        /// Any values, most of which come often; not for look-ups before the merge.
        case terms
    }

    /// A change of an 8-byte value, or of the term with this number: sorted by it, with the object key for company; the key's top bit
    /// marks a removal (object keys are never negative).
    typealias WordChange = RadixItem
    /// A change of a value in the heap.
    struct TextChange {
        var offset: Int
        var count: Int32
        var isAddition: Bool
        var key: ObjectKey
    }
    static let removalBit: UInt64 = 1 << 63
    /// From here on huge pages pay.
    private static let hugeBytes = 4 << 20

    private(set) var words: UnsafeMutablePointer<WordChange>?
    private(set) var texts: UnsafeMutablePointer<TextChange>?
    private(set) var count = 0
    private var capacity = 0
    private(set) var heap: UnsafeMutableRawPointer?
    private var heapUsed = 0
    private var heapCapacity = 0
    /// What sorting needs beside them, for the next time: fresh memory costs a page fault for each 4 KB.
    private var spare: UnsafeMutablePointer<RadixItem>?
    private var spareCapacity = 0
    let shape: Shape
    private var terms = TermTable()
    private var chains = WordChains()
    private(set) var keysAscend = true
    private var lastKey: UInt64 = 0
    /// Text changes by value: open addressing, entries are change numbers + 1 of the latest
    /// change of a value.
    private var hashTable: [UInt32] = []
    /// Where entries are counted: by text change, number + 1 of the one of the same value before it.
    private var previousTexts: [UInt32] = []
    private var hashedUpTo = 0
    private var hashUsed = 0

    /// One object may have one value several times: the changes of an entry add up.
    let isCounted: Bool

    init(_ shape: Shape, isCounted: Bool = false) {
        self.shape = shape
        self.isCounted = isCounted
    }

    func deallocate() {
        ck_free(words)
        ck_free(texts)
        ck_free(heap)
        ck_free(spare)
        terms.deallocate()
    }

    mutating func clear() {
        deallocate()
        words = nil
        texts = nil
        heap = nil
        spare = nil
        capacity = 0
        heapCapacity = 0
        spareCapacity = 0
        terms = TermTable()
        forget()
    }

    /// Forgets all changes, not of terms; the memory is for others.
    mutating func forget() {
        count = 0
        heapUsed = 0
        chains = WordChains()
        keysAscend = true
        lastKey = 0
        hashTable = []
        previousTexts = []
        hashedUpTo = 0
        hashUsed = 0
    }

    // MARK: Collecting

    @inline(__always)
    mutating func append(_ value: UInt64, _ key: ObjectKey, isAddition: Bool) {
        if count == capacity { grow() }
        let word = key.word
        if word < lastKey { keysAscend = false }
        lastKey = word
        words.unsafelyUnwrapped[count] = WordChange(
            key: value, payload: isAddition ? word : word | Self.removalBit)
        count &+= 1
    }

    /// The same for additions of several values with one key.
    mutating func append(
        _ values: UnsafePointer<Int64>, _ added: Int, _ key: ObjectKey
    ) {
        guard added > 0 else { return }
        while capacity &- count < added { grow() }
        let word = key.word
        if word < lastKey { keysAscend = false }
        lastKey = word
        let start = words.unsafelyUnwrapped + count
        for position in 0..<added {
            start[position] = WordChange(
                key: UInt64(bitPattern: values[position]), payload: word)
        }
        count &+= added
    }

    mutating func append(
        _ bytes: UnsafeRawPointer, _ length: Int, _ key: ObjectKey, isAddition: Bool
    ) {
        if shape == .terms {
            append(terms.number(bytes, length), key, isAddition: isAddition)
            return
        }
        append(atMost: length, key, isAddition: isAddition) { target in
            memcpy(target, bytes, length)
            return length
        }
    }

    /// A change of a value of which `write` gives the bytes, not more than so many, and returns how many they are.
    /// Of the shape `texts`.
    @inline(__always)
    mutating func append(
        atMost bytes: Int, _ key: ObjectKey, isAddition: Bool,
        _ write: (UnsafeMutableRawPointer) -> Int
    ) {
        if count == capacity { grow() }
        if heapUsed &+ bytes > heapCapacity { growHeap(bytes) }
        let length = write(heap.unsafelyUnwrapped + heapUsed)
        texts.unsafelyUnwrapped[count] = TextChange(
            offset: heapUsed, count: Int32(length), isAddition: isAddition, key: key)
        heapUsed &+= length
        count &+= 1
    }

    /// What the changes take, and what sorting them will take beside them.
    var bytes: Int {
        let change =
            shape == .texts
            ? MemoryLayout<TextChange>.stride + 2 * MemoryLayout<RadixItem>.stride
            : 2 * MemoryLayout<WordChange>.stride
        return count * change + heapUsed
    }

    private mutating func grow() {
        let larger = max(64, capacity * 2)
        if shape != .texts {
            words = Self.grow(words, larger)
        } else {
            texts = Self.grow(texts, larger)
        }
        capacity = larger
    }

    /// Memory that begins with what `memory` has, which ends. Where it is large its pages stay, and get other addresses:
    /// fresh ones would have to be cleared, and copied to.
    private static func grow<Element>(
        _ memory: UnsafeMutablePointer<Element>?, _ count: Int
    ) -> UnsafeMutablePointer<Element> {
        let bytes = count * MemoryLayout<Element>.stride
        guard let larger = ck_realloc(memory, bytes) else {
            fatalError("no memory for \(bytes) bytes of changes of an index")
        }
        if bytes >= hugeBytes { ck_prefer_huge_pages(larger, bytes) }
        return larger.bindMemory(to: Element.self, capacity: count)
    }

    static func allocate<Element>(_ count: Int) -> UnsafeMutablePointer<Element> {
        grow(nil, count)
    }

    /// Memory for `count` items, to be given back.
    mutating func takeSpare(_ count: Int) -> Spare {
        let (kept, capacity) = (spare, spareCapacity)
        (spare, spareCapacity) = (nil, 0)
        if let kept, capacity >= count { return Spare(items: kept, capacity: capacity) }
        ck_free(kept)
        return Spare(items: Self.allocate(count), capacity: count)
    }

    mutating func give(back memory: Spare) {
        ck_free(spare)
        (spare, spareCapacity) = (memory.items, memory.capacity)
    }

    private mutating func growHeap(_ length: Int) {
        heapCapacity = max(1024, (heapUsed + length) * 2)
        let bytes = heap?.assumingMemoryBound(to: UInt8.self)
        heap = UnsafeMutableRawPointer(Self.grow(bytes, heapCapacity))
    }

    // MARK: Looking up before the merge

    enum Pending {
        /// No change of this value waits.
        case unknown
        case added(ObjectKey)
        case removed(ObjectKey)
    }

    /// The latest waiting change of this value. For indexes whose values are unique.
    mutating func latest(_ bytes: UnsafeRawPointer, _ length: Int) -> Pending {
        guard count > 0, let texts else { return .unknown }
        hashNewChanges()
        let number = hashTable[place(of: bytes, length)]
        if number == 0 { return .unknown }
        let change = texts[Int(number) - 1]
        return change.isAddition ? .added(change.key) : .removed(change.key)
    }

    /// Beyond these a merge is cheaper: changes that nobody asked about yet, and changes of one
    /// value.
    private static let unchainedMax = 65_536
    private static let chainMax = 1024

    /// What waits for an 8-byte value, by object key: how often it is added, less how often it is
    /// removed. Where entries are not counted a removal and an addition may cancel out, too: then
    /// the tree is right. Nil when the changes should be merged instead.
    mutating func changes(of value: UInt64) -> [ObjectKey: Int]? {
        guard count > 0, let words else { return [:] }
        guard count - chains.count <= Self.unchainedMax else { return nil }
        chains.extend(words, total: count)
        var found: [ObjectKey: Int] = [:]
        let isWhole = chains.visit(value, words, limit: Self.chainMax) { change in
            found[change.source, default: 0] += change.isAddition ? 1 : -1
        }
        return isWhole ? found : nil
    }

    /// The same for a value of other bytes, where entries are counted.
    mutating func changes(ofText bytes: UnsafeRawPointer, _ length: Int) -> [ObjectKey: Int]? {
        guard count > 0, isCounted, let texts else { return [:] }
        guard count - hashedUpTo <= Self.unchainedMax else { return nil }
        hashNewChanges()
        var found: [ObjectKey: Int] = [:]
        var next = hashTable[place(of: bytes, length)]
        var left = Self.chainMax
        while next != 0 {
            if left == 0 { return nil }
            left -= 1
            let change = texts[Int(next) - 1]
            found[change.key, default: 0] += change.isAddition ? 1 : -1
            next = previousTexts[Int(next) - 1]
        }
        return found
    }

    /// Where the hash has the changes of a value, or would have them.
    private func place(of bytes: UnsafeRawPointer, _ length: Int) -> Int {
        let mask = hashTable.count - 1
        var place = Int(truncatingIfNeeded: ByteHash.of(bytes, length)) & mask
        guard let texts, let heap else { return place }
        while hashTable[place] != 0 {
            let change = texts[Int(hashTable[place]) - 1]
            if Int(change.count) == length, equalBytes(heap + change.offset, bytes, length) {
                break
            }
            place = (place + 1) & mask
        }
        return place
    }

    private mutating func hashNewChanges() {
        guard let texts, let heap else { return }
        while hashedUpTo < count {
            if hashTable.count < (hashUsed + 1) * 2 { rehash() }
            let change = texts[hashedUpTo]
            let place = place(of: heap + change.offset, Int(change.count))
            if hashTable[place] == 0 { hashUsed += 1 }
            if isCounted { previousTexts.append(hashTable[place]) }
            hashedUpTo += 1
            hashTable[place] = UInt32(hashedUpTo)
        }
    }

    private mutating func rehash() {
        hashTable = [UInt32](repeating: 0, count: max(256, hashTable.count * 4))
        previousTexts = []
        hashedUpTo = 0
        hashUsed = 0
    }

    // MARK: Merging

    /// Merges all waiting changes into `tree`. `keepsMemory`: as many will follow.
    mutating func merge(
        into tree: inout IndexTree, memory: UnsafeMutablePointer<TransactionMemory>,
        keepsMemory: Bool = false
    ) throws(RealmError) {
        guard count > 0 else { return }
        if shape == .terms { sortTerms() }
        if shape == .texts {
            try mergeTexts(into: &tree, memory)
        } else {
            try mergeWords(into: &tree, memory)
        }
        if keepsMemory, shape != .terms { forget() } else { clear() }
    }

    /// Numbers the terms in their order, so that changes sort by number.
    private mutating func sortTerms() {
        guard let words else { return }
        let count = count
        terms.sort { numbers in
            for i in 0..<count {
                words[i].key = UInt64(numbers[Int(truncatingIfNeeded: words[i].key)])
            }
        }
    }

    struct Spare {
        let items: UnsafeMutablePointer<RadixItem>
        let capacity: Int
    }

    struct SortedWords {
        let items: UnsafeMutablePointer<WordChange>
        /// Memory for as many, to be given back.
        let spare: Spare
        /// The changes themselves were sorted; else `items` is to be deallocated.
        let isInPlace: Bool
    }

    /// The changes in the order of values, object keys and arrival.
    mutating func sortWords(_ words: UnsafeMutablePointer<WordChange>) -> SortedWords {
        if areInOrder(words) {
            chains = WordChains()
            return SortedWords(items: words, spare: takeSpare(count), isInPlace: true)
        }
        // Sources usually arrive in ascending order; then sorting by value alone suffices,
        // because the sort is stable, and the changes themselves are sorted.
        let isInPlace = keysAscend
        let items = isInPlace ? words : Self.allocate(count)
        let scratch = takeSpare(count)
        if !isInPlace {
            for i in 0..<count {
                items[i] = RadixItem(
                    key: words[i].source.word, payload: UInt64(i))
            }
            RadixSort.sort(items, scratch.items, count)
            for i in 0..<count { items[i] = words[Int(items[i].payload)] }
        }
        let sorted = RadixSort.sorted(items, scratch.items, count)
        let isMoved = sorted == scratch.items
        let rest = isMoved ? Spare(items: items, capacity: isInPlace ? capacity : count) : scratch
        if isInPlace {
            // Whole and ordered: what waits stays true if the tree throws.
            self.words = sorted
            if isMoved { capacity = scratch.capacity }
            keysAscend = false
            chains = WordChains()
        }
        return SortedWords(items: sorted, spare: rest, isInPlace: isInPlace)
    }

    /// As changes of sorted runs come.
    private func areInOrder(_ words: UnsafeMutablePointer<WordChange>) -> Bool {
        for i in 1..<max(count, 1) {
            let (a, b) = (words[i - 1], words[i])
            guard a.key < b.key || a.key == b.key && a.source <= b.source else { return false }
        }
        return true
    }

    private mutating func mergeWords(
        into tree: inout IndexTree, _ memory: UnsafeMutablePointer<TransactionMemory>
    ) throws(RealmError) {
        guard let words else { return }
        let result = sortWords(words)
        let (sorted, isInPlace) = (result.items, result.isInPlace)
        defer {
            give(back: result.spare)
            if !isInPlace { ck_free(sorted) }
        }
        if isCounted {
            let changes = WordLinkChanges(
                count: count, changes: sorted, notes: result.spare.items)
            return try CountedLinks.apply(changes, to: &tree, memory: memory)
        }
        // Of several changes of one entry the last one counts.
        var kept = 0
        for i in 0..<count {
            let item = sorted[i]
            if kept > 0, sorted[kept - 1].key == item.key, sorted[kept - 1].source == item.source {
                sorted[kept - 1] = item
            } else {
                sorted[kept] = item
                kept += 1
            }
        }
        if isInPlace { count = kept }
        if shape == .terms {
            let terms = terms
            let batch = IndexBatch(count: kept) { index in
                let item = sorted[index]
                let bytes = terms.bytes(Int(truncatingIfNeeded: item.key))
                return IndexBatch.Operation(
                    position: IndexPosition(
                        bytes: bytes.baseAddress.unsafelyUnwrapped, count: bytes.count,
                        key: item.source),
                    isAddition: item.isAddition)
            }
            return try tree.apply(batch, memory: memory)
        }
        let buffer = UnsafeMutableRawPointer.allocate(byteCount: 8, alignment: 8)
        defer { buffer.deallocate() }
        let batch = IndexBatch(count: kept) { index in
            let item = sorted[index]
            buffer.put(item.key.byteSwapped, 0)
            return IndexBatch.Operation(
                position: IndexPosition(
                    bytes: UnsafeRawPointer(buffer), count: 8, key: item.source),
                isAddition: item.isAddition)
        }
        try tree.apply(batch, memory: memory)
    }

    private mutating func mergeTexts(
        into tree: inout IndexTree, _ memory: UnsafeMutablePointer<TransactionMemory>
    ) throws(RealmError) {
        guard let texts, let heap = heap.map({ UnsafeRawPointer($0) }) else { return }
        let spare = takeSpare(count * 2)
        defer { give(back: spare) }
        let items = spare.items
        sortTexts(texts, heap, items)
        if isCounted {
            let changes = TextLinkChanges(
                count: count, changes: items, notes: items + count, texts: texts, heap: heap)
            return try CountedLinks.apply(changes, to: &tree, memory: memory)
        }
        var kept = 0
        for i in 0..<count {
            let change = texts[Int(items[i].payload)]
            if kept > 0, items[kept - 1].key == items[i].key,
                order(texts[Int(items[kept - 1].payload)], change, heap) == 0
            {
                items[kept - 1] = items[i]
            } else {
                items[kept] = items[i]
                kept += 1
            }
        }
        let batch = IndexBatch(count: kept) { index in
            let change = texts[Int(items[index].payload)]
            return IndexBatch.Operation(
                position: IndexPosition(
                    bytes: heap + change.offset, count: Int(change.count), key: change.key),
                isAddition: change.isAddition)
        }
        try tree.apply(batch, memory: memory)
    }

    /// Numbers of changes in the order of values, object keys and arrival, into the first half of `items`.
    func sortTexts(
        _ texts: UnsafeMutablePointer<TextChange>, _ heap: UnsafeRawPointer,
        _ items: UnsafeMutablePointer<RadixItem>
    ) {
        // Sort by the eight bytes behind what all values share, then settle ties.
        var shared = Int(texts[0].count)
        let first = heap + texts[0].offset
        for i in 1..<max(count, 1) {
            shared = sharedBytes(heap + texts[i].offset, first, min(shared, Int(texts[i].count)))
            if shared == 0 { break }
        }
        let length = texts[0].count
        var isWhole = Int(length) <= shared + 8
        var last = texts[0].key
        for i in 0..<count {
            let text = texts[i]
            items[i] = RadixItem(
                key: (heap + (text.offset + shared)).prefix(Int(text.count) - shared),
                payload: UInt64(i))
            isWhole = isWhole && text.count == length && text.key >= last
            last = text.key
        }
        RadixSort.sort(items, items + count, count)
        // Of values that were sorted by as a whole, of objects in their order, ties are in order.
        if !isWhole { settleTies(items, texts, heap) }
    }

    @inline(__always)
    private func order(_ a: TextChange, _ b: TextChange, _ heap: UnsafeRawPointer) -> Int {
        compare(
            IndexPosition(bytes: heap + a.offset, count: Int(a.count), key: a.key),
            IndexPosition(bytes: heap + b.offset, count: Int(b.count), key: b.key))
    }

    /// Sorts runs of equal prefix by value, key and arrival.
    private func settleTies(
        _ items: UnsafeMutablePointer<RadixItem>, _ texts: UnsafeMutablePointer<TextChange>,
        _ heap: UnsafeRawPointer
    ) {
        var start = 0
        while start < count {
            var end = start + 1
            while end < count && items[end].key == items[start].key { end += 1 }
            if end - start > 1 {
                var run = UnsafeMutableBufferPointer(start: items + start, count: end - start)
                run.sort { a, b in
                    let order = order(texts[Int(a.payload)], texts[Int(b.payload)], heap)
                    return order != 0 ? order < 0 : a.payload < b.payload
                }
            }
            start = end
        }
    }
}

// As changes of words.
extension RadixItem {
    @inline(__always) var source: ObjectKey { ObjectKey(word: payload & ~IndexPending.removalBit) }
    @inline(__always) var isAddition: Bool { payload & IndexPending.removalBit == 0 }
}
