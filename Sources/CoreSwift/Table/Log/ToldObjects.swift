// Of which objects that the log leaves out (`UnwrittenObjects`) a record has told a value from before: the first that
// sets it has to, those behind it need not. What this process wrote is remembered here, in the memory of its store,
// from one write transaction to the next; of what others wrote nothing is known, and values may be told again.
//
// Invariants
//   1. Whoever has the writer's lock takes it out to change it, and puts it back with the log that the commit makes.
//      It counts where the log that a transaction goes on from is the same, byte by byte: that has the records.
//   2. A bit that is set stands for an object and property of which a record in that log tells the value from before,
//      behind the version that created the object.

final class ToldObjects {
    /// One property of the objects that a version created of a class.
    fileprivate struct Property {
        let version: UInt64
        let classKey: ClassKey
        let column: Int
        /// The objects, when the first was told of: a bit for each, one run behind the other, each from a new word on.
        let ranges: [ClosedRange<ObjectKey>]
        /// The word of the first bit of each run.
        let places: [Int]
        var bits: [UInt64]
    }

    /// Words of bits of all properties: 64 MiB. Of what exceeds them, as in the catalog of a forged file, nothing is
    /// remembered.
    private static let wordsMax: UInt64 = 1 << 23

    private var properties: [Property] = []
    private var log: LogDirectory?

    /// What is known of the log that a write transaction goes on from; nobody else has it then.
    static func taken(from tables: TableSet) -> ToldObjects {
        let known = tables.store.writerMemory as? ToldObjects
        tables.store.writerMemory = nil
        guard let known, known.log == tables.catalog.log else { return ToldObjects() }
        return known
    }

    /// Remembers what there is for the log that a commit makes.
    func put(into store: Store, _ log: LogDirectory?) {
        properties.removeAll { property in
            !(log?.unwritten ?? []).contains {
                $0.version == property.version && $0.classKey == property.classKey
            }
        }
        if properties.isEmpty { return }
        self.log = log
        store.writerMemory = self
    }

    /// Notes that a record tells the values of some of the objects; returns of which of them none did before.
    func add(_ keys: KeyRanges, of objects: UnwrittenObjects, _ column: Int) -> KeyRanges {
        let known = properties.firstIndex {
            $0.version == objects.version && $0.classKey == objects.classKey
                && $0.column == column
        }
        guard let index = known ?? begin(objects, column) else { return keys }
        return properties[index].add(keys)
    }

    /// Nil where there would be too many bits.
    private func begin(_ objects: UnwrittenObjects, _ column: Int) -> Int? {
        let others = properties.reduce(0) { $0 + $1.bits.count }
        var places: [Int] = []
        var words = 0
        for range in objects.keys.ranges {
            guard range.more >> 6 < Self.wordsMax else { return nil }
            places.append(words)
            words += Int(range.more >> 6) + 1
            guard UInt64(others + words) <= Self.wordsMax else { return nil }
        }
        properties.append(
            Property(
                version: objects.version, classKey: objects.classKey, column: column,
                ranges: objects.keys.ranges, places: places,
                bits: [UInt64](repeating: 0, count: words)))
        return properties.count - 1
    }
}

extension ToldObjects.Property {
    /// Sets the bits of some of the objects; returns those whose bits were not set.
    fileprivate mutating func add(_ keys: KeyRanges) -> KeyRanges {
        var result = KeyRanges()
        var run = 0
        bits.withUnsafeMutableBufferPointer { bits in
            for range in keys.ranges {
                while run < ranges.count, ranges[run].upperBound < range.lowerBound { run += 1 }
                guard run < ranges.count, ranges[run].lowerBound <= range.lowerBound,
                    range.upperBound <= ranges[run].upperBound
                else {
                    // In a forged catalog one version may have created twice.
                    result.insert(range)
                    continue
                }
                let first = ranges[run].lowerBound.word
                let words = UnsafeMutableBufferPointer(rebasing: bits[places[run]...])
                var offset = range.lowerBound.word - first
                let end = range.upperBound.word - first
                while offset <= end {
                    let last = min(end, offset | 63)
                    let mask = (UInt64.max << (offset & 63)) & (UInt64.max >> (63 - (last & 63)))
                    let place = Int(truncatingIfNeeded: offset >> 6)
                    var new = mask & ~words[place]
                    words[place] |= mask
                    if new == mask {
                        result.insert(
                            ObjectKey(word: first + offset)...ObjectKey(word: first + last))
                    } else {
                        while new != 0 {
                            let bit = UInt64(new.trailingZeroBitCount)
                            result.insert(ObjectKey(word: first + (offset & ~63) + bit))
                            new &= new - 1
                        }
                    }
                    offset = last + 1
                }
            }
        }
        return result
    }
}
