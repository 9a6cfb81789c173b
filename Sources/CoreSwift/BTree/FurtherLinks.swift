// Links that are not the first one from their source to their target, on their way into an inverse index that counts
// them (CountedLinks.swift): entries of a target's further links stand behind those of all first ones.

import CKernels

final class FurtherLinks {
    private struct Source {
        let key: ObjectKey
        /// Links to the target, the first one included.
        var count: Int
    }

    /// Until so many wait.
    private static let linksMax = 1 << 16

    /// Of one target, in their order.
    private var sources: [Source] = []
    /// How many links wait.
    private var links = 0
    /// The bytes of the target, and behind them those of a number.
    private let value = UnsafeMutableRawPointer.allocate(
        byteCount: CountedLinks.byteCountMax, alignment: 8)
    private var valueCount = 0

    deinit { value.deallocate() }

    var isEmpty: Bool { sources.isEmpty }
    var isFull: Bool { links >= Self.linksMax }

    /// Notes another link to a target, that of those that wait already, of the source that the last link had.
    func add(_ target: UnsafeRawBufferPointer, _ source: ObjectKey) {
        links += 1
        if let last = sources.last, last.key == source {
            sources[sources.count - 1].count += 1
            return
        }
        if sources.isEmpty, let start = target.baseAddress {
            valueCount = target.count
            memcpy(value, start, valueCount)
        }
        sources.append(Source(key: source, count: 2))
    }

    /// Takes a link back that waits; false where none of the source does, the last one that was added.
    func remove(_ source: ObjectKey) -> Bool {
        guard let last = sources.last, last.key == source else { return false }
        links -= 1
        if last.count == 2 {
            sources.removeLast()
        } else {
            sources[sources.count - 1].count -= 1
        }
        return true
    }

    /// Adds the entries of links that wait to a leaf, unless their target is this one.
    func finish(unlessOf target: UnsafeRawBufferPointer, _ builder: IndexLeafBuilder) {
        if let start = target.baseAddress, target.count == valueCount,
            equalBytes(start, value, valueCount)
        {
            return
        }
        finish(builder)
    }

    /// Adds the entries of links that wait to a leaf.
    func finish(_ builder: IndexLeafBuilder) {
        var number = 1
        while !sources.isEmpty {
            value.put(UInt32(truncatingIfNeeded: number).bigEndian, valueCount)
            number += 1
            for source in sources {
                builder.add(value, valueCount + CountedLinks.numberBytes, source.key)
            }
            sources.removeAll { $0.count <= number }
        }
        links = 0
    }
}
