// Sorting objects by keys of which those bits that differ fit into one word together with the number of the object:
// such words are all that is moved, in the memory of the result and once as much. Numbers take the bits of their
// range, texts those in which some two of them differ: seven digits 28. Keys that do not fit, or that have other
// forms than columns in leaves, are left to `Sorter`.

import CKernels

struct PackedSort {
    private let table: TableReader
    private let objects: UnsafeBufferPointer<ObjectKey>
    private var parts: [Part] = []
    /// Bits of the numbers of objects, at the lower end of the words.
    private let numberBits: Int

    /// A column, and what is known of its values.
    private struct Part {
        let column: Int
        let info: ColumnInfo
        let descending: Bool
        var isText: Bool { info.kind.isText }
        /// Some value is null; which no number or text is.
        var hasNulls = false
        /// Of numbers as words in their order; of texts their lengths.
        var values = Summary()
        /// Words of texts, eight bytes each.
        var words: [Summary] = []

        var hasValues: Bool { values.least <= values.greatest }

        init(_ key: OrderingKey, _ table: TableReader) {
            column = key.column
            info = table.column(key.column)
            descending = key.descending
        }

        /// What is known of a word behind those that all texts so far have.
        var noWord: Summary { hasValues ? .zeros : Summary() }
    }

    /// What is known of some words: the least and the greatest, bits that some have, and those that all have.
    private struct Summary {
        var least = UInt64.max
        var greatest: UInt64 = 0
        var any: UInt64 = 0
        var all = UInt64.max
        static let zeros = Summary(any: 0, all: 0)
        var differing: UInt64 { any & ~all }
        /// The bits of what is added to the least one.
        var span: UInt64 {
            least < greatest ? UInt64.max >> UInt64((greatest - least).leadingZeroBitCount) : 0
        }

        mutating func addRange(_ words: UnsafePointer<UInt64>, _ count: Int) {
            var found = self
            for index in 0..<count {
                found.least = min(found.least, words[index])
                found.greatest = max(found.greatest, words[index])
            }
            self = found
        }

        mutating func addBits(_ words: UnsafePointer<UInt64>, _ count: Int) {
            ck_words_bits(words, count, &any, &all)
        }

        mutating func add(_ other: Summary) {
            least = min(least, other.least)
            greatest = max(greatest, other.greatest)
            any |= other.any
            all &= other.all
        }
    }

    /// Texts that differ further behind are left to `Sorter`.
    private static let wordsMax = 8
    /// Objects that lie here and there are left to it, too: judged by so many runs of rows and their mean length.
    private static let (runsSample, rowsOfRunMin) = (64, 16)
    /// Fewer objects are sorted in no time.
    private static let countMin = 256

    /// The keys in the order of `ordering`, equal ones as they were; nil when they do not fit.
    static func sorted(
        _ objects: [ObjectKey], by ordering: [OrderingKey], _ table: TableReader
    ) throws(RealmError) -> [ObjectKey]? {
        guard objects.count >= countMin, objects.count < Int(UInt32.max) else { return nil }
        for key in ordering {
            guard key.isDirect, !table.isObjectKey(key.column) else { return nil }
            switch key.kind {
            case .int, .bool, .double, .timestamp, .link, .string, .binary: break
            default: return nil
            }
        }
        return try objects.withUnsafeBufferPointer { buffer throws(RealmError) in
            var sort = PackedSort(buffer, ordering, table)
            guard try sort.look() else { return nil }
            return try sort.result()
        }
    }

    private init(
        _ objects: UnsafeBufferPointer<ObjectKey>, _ ordering: [OrderingKey], _ table: TableReader
    ) {
        self.objects = objects
        self.table = table
        numberBits = 64 - (objects.count - 1).leadingZeroBitCount
        parts = ordering.map { Part($0, table) }
    }

    // MARK: What the values have in common

    /// Looks at all values; false when their bits are too many, or in forms that are not for here.
    private mutating func look() throws(RealmError) -> Bool {
        let start = parts
        let found = try table.inHalves(objects.count) { range throws(RealmError) in
            var looked = self
            looked.parts = start
            return try looked.look(range) ? looked.parts : nil
        }
        guard let first = found.0, let second = found.1 else { return false }
        parts = first
        for index in parts.indices { Self.add(second[index], to: &parts[index]) }
        return bits + numberBits <= 64
    }

    private static func add(_ other: Part, to part: inout Part) {
        part.hasNulls = part.hasNulls || other.hasNulls
        guard other.hasValues else { return }
        for word in 0..<max(part.words.count, other.words.count) {
            if word == part.words.count { part.words.append(part.noWord) }
            part.words[word].add(word < other.words.count ? other.words[word] : .zeros)
        }
        part.values.add(other.values)
    }

    private mutating func look(_ range: Range<Int>) throws(RealmError) -> Bool {
        let scratch = Scratch()
        defer { scratch.deallocate() }
        var runs = 0
        var rows = 0
        return try forEachRun(range) { leaf, row, count, _ in
            runs &+= 1
            rows &+= count
            // What is done for a run is too much for a row or two.
            if runs % Self.runsSample == 0, rows < runs &* Self.rowsOfRunMin { return false }
            for index in parts.indices where !look(&parts[index], leaf, row, count, scratch) {
                return false
            }
            // Texts in no order take too many bits at once.
            return bits + numberBits <= 64
        }
    }

    private func look(
        _ part: inout Part, _ leaf: LeafView, _ row: Int, _ count: Int, _ scratch: Scratch
    ) -> Bool {
        guard let column = leaf.column(part.column, part.info), column.externals == nil else {
            return false
        }
        let nulls = column.nulls
        if nulls != nil { part.hasNulls = true }
        let words = scratch.words
        guard part.isText else {
            if nulls == nil, Self.lookAtBounds(&part, column) { return true }
            guard column.orderedWords(row, count, words) else { return false }
            let found = Self.drop(nulls, row, count, words)
            part.values.addRange(words, found)
            part.values.addBits(words, found)
            return true
        }
        guard column.encoding.isTexts || column.encoding == .stringDictionary else { return false }
        var texts = column.texts()
        let codes = column.wordNumbers
        ck_text_lengths(&texts, codes, row, count, words)
        let found = Self.drop(nulls, row, count, words)
        if found == 0 { return true }
        let noWord = part.noWord
        part.values.addRange(words, found)
        let wordCount = Int(part.values.greatest + 7) / 8
        guard wordCount <= Self.wordsMax else { return false }
        for word in 0..<wordCount {
            if word == part.words.count { part.words.append(noWord) }
            ck_text_words(&texts, codes, row, count, word, words)
            part.words[word].addBits(words, Self.drop(nulls, row, count, words))
        }
        return true
    }

    /// Takes the bounds of integers, which say as much as all values; false where there are none.
    private static func lookAtBounds(_ part: inout Part, _ column: ColumnView) -> Bool {
        guard part.info.kind == .int || part.info.kind == .link, column.encoding == .packed,
            column.flags.contains(.hasBounds)
        else { return false }
        let sign: UInt64 = 1 << 63
        part.values.add(
            Summary(
                least: UInt64(bitPattern: column.minimumInt) ^ sign,
                greatest: UInt64(bitPattern: column.maximumInt) ^ sign, any: .max, all: 0))
        return true
    }

    /// Moves the words of rows that are not null together; returns how many there are.
    private static func drop(
        _ nulls: UnsafeRawPointer?, _ row: Int, _ count: Int, _ words: UnsafeMutablePointer<UInt64>
    ) -> Int {
        guard let nulls else { return count }
        var kept = 0
        for index in 0..<count {
            words[kept] = words[index]
            kept &+= LeafLayout.bit(nulls, row &+ index) ? 0 : 1
        }
        return kept
    }

    // MARK: Words

    /// The bits that order the objects.
    private var bits: Int {
        parts.reduce(0) { sum, part in
            sum + Self.masks(part).reduce(0) { $0 + $1.mask.nonzeroBitCount }
        }
    }

    private enum Source { case presence, number, text(Int), length }

    /// What a part puts into the code, in this order: bits of (word - base).
    private static func masks(_ part: Part) -> [(source: Source, base: UInt64, mask: UInt64)] {
        var masks: [(source: Source, base: UInt64, mask: UInt64)] = []
        if part.hasNulls { masks.append((.presence, 0, 1)) }
        guard part.hasValues else { return masks }
        if part.isText {
            for (word, bits) in part.words.enumerated() {
                masks.append((.text(word), 0, bits.differing))
            }
            masks.append((.length, part.values.least, part.values.span))
        } else {
            // Bits at the lower end that all have in common say nothing.
            let differing = part.values.differing
            let low = differing == 0 ? 0 : differing & (0 &- differing)
            masks.append((.number, part.values.least, part.values.span & (0 &- low)))
        }
        return masks
    }

    /// Writes the word of each object of a range.
    private func pack(
        _ range: Range<Int>, _ target: UnsafeMutablePointer<UInt64>
    ) throws(RealmError) {
        let scratch = Scratch()
        defer { scratch.deallocate() }
        let masks = parts.map { Self.masks($0) }
        let numberBits = UInt64(numberBits)
        _ = try forEachRun(range) { leaf, row, count, element in
            let codes = scratch.codes
            codes.update(repeating: 0, count: count)
            for (part, masks) in zip(parts, masks) where !masks.isEmpty {
                append(part, masks, leaf, row, count, scratch)
            }
            for index in 0..<count {
                target[element &+ index] =
                    codes[index] &<< numberBits | UInt64(truncatingIfNeeded: element &+ index)
            }
            return true
        }
    }

    private func append(
        _ part: Part, _ masks: [(source: Source, base: UInt64, mask: UInt64)], _ leaf: LeafView,
        _ row: Int, _ count: Int, _ scratch: Scratch
    ) {
        guard let column = leaf.column(part.column, part.info) else { return }
        let words = scratch.words
        let nulls = column.nulls
        for (source, base, mask) in masks where mask != 0 {
            switch source {
            case .presence: words.update(repeating: 1, count: count)
            case .number: _ = column.orderedWords(row, count, words)
            case .text(let word):
                var texts = column.texts()
                ck_text_words(&texts, column.wordNumbers, row, count, word, words)
            case .length:
                var texts = column.texts()
                ck_text_lengths(&texts, column.wordNumbers, row, count, words)
            }
            if let nulls {
                for index in 0..<count where LeafLayout.bit(nulls, row &+ index) {
                    words[index] = base
                }
            }
            ck_append_bits(scratch.codes, words, count, base, mask, part.descending)
        }
    }

    /// The object keys in their order.
    private func result() throws(RealmError) -> [ObjectKey] {
        var failure: RealmError?
        let count = objects.count
        let keys = [ObjectKey](unsafeUninitializedCapacity: count) { result, initialized in
            guard let start = result.baseAddress else { return }
            start.withMemoryRebound(to: UInt64.self, capacity: count) { words in
                do throws(RealmError) {
                    _ = try table.inHalves(count) { range throws(RealmError) in
                        try pack(range, words)
                    }
                } catch {
                    failure = error
                    return
                }
                sort(words)
            }
            initialized = failure == nil ? count : 0
        }
        if let failure { throw failure }
        return keys
    }

    private func sort(_ words: UnsafeMutablePointer<UInt64>) {
        let objects = objects
        let mask = UInt64.max >> UInt64(64 - numberBits)
        let other = UnsafeMutablePointer<UInt64>.allocate(capacity: objects.count)
        defer { other.deallocate() }
        let sort = WordSort(words, other, count: objects.count, lowBit: numberBits, bits: bits)
        sort.run { source, target in
            for index in 0..<target.count {
                let number = Int(truncatingIfNeeded: source[index] & mask)
                target[index] = UInt64(bitPattern: objects[number].rawValue)
            }
        }
    }

    // MARK: Runs of rows

    /// For the columns of a run of rows.
    private struct Scratch {
        let words = UnsafeMutablePointer<UInt64>.allocate(capacity: LeafLayout.rowsMax)
        let codes = UnsafeMutablePointer<UInt64>.allocate(capacity: LeafLayout.rowsMax)

        func deallocate() {
            words.deallocate()
            codes.deallocate()
        }
    }

    /// Calls `body` with rows that follow one another in a leaf, and the place of the first one among the
    /// objects, until it gives false. False when it does, or an object is gone.
    private func forEachRun(
        _ range: Range<Int>, _ body: (LeafView, Int, Int, Int) -> Bool
    ) throws(RealmError) -> Bool {
        var runs = RowRuns(table, objects, range)
        while let run = try runs.next() {
            guard let leaf = run.leaf else { return false }
            if !body(leaf, run.row, run.count, run.element) { return false }
        }
        return true
    }
}
