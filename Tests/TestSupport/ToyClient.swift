// A client of the pager for tests: a number of leaves of one to several pages and an index block
// that refers to them (its capacity is in the payload behind the index's reference). The content of a leaf follows from its number and a stamp, so a
// version can be checked against a model of stamps.

import Glibc

@testable import CoreSwift

/// A small reproducible generator (SplitMix64).
struct Random: RandomNumberGenerator {
    private var state: UInt64
    init(_ seed: UInt64) { state = seed }
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
    mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }
    mutating func bytes(_ count: Int, below bound: Int = 256) -> [UInt8] {
        (0..<count).map { _ in UInt8(below(bound)) }
    }
}

extension SpaceLimits {
    /// Brings out in small files what otherwise only large ones do.
    static var tiny: SpaceLimits {
        var limits = SpaceLimits()
        limits.inlineEntriesMax = 8
        limits.operationsMin = 6
        limits.chunkEntriesMin = 6
        limits.trimPagesMin = 16
        limits.sweepPagesMin = 4
        return limits
    }
}

struct ToyFailure: Error, CustomStringConvertible {
    var description: String
}

/// What a version should contain: leaf number -> stamp.
typealias ToyModel = [Int: UInt64]

enum ToyClient {
    static let leavesMax = 40

    static func leafPages(_ leaf: Int, _ stamp: UInt64) -> Int {
        1 + Int((stamp &* 31 &+ UInt64(leaf)) % 4)
    }

    private static func fillLeaf(
        _ block: UnsafeMutableRawPointer, _ leaf: Int, _ stamp: UInt64, pages: Int
    ) {
        var value = stamp &* 0x9E37_79B9_7F4A_7C15 &+ UInt64(leaf)
        for offset in stride(from: 0, to: pages * Page.size, by: 512) {
            value = value &* 6_364_136_223_846_793_005 &+ 1
            block.put(value, offset)
        }
        block.put(UInt64(leaf), 0)
        block.put(stamp, 8)
    }

    private static func checkLeaf(
        _ block: UnsafeRawPointer, _ leaf: Int, _ stamp: UInt64, pages: Int
    ) throws {
        let expected = UnsafeMutableRawPointer.allocate(
            byteCount: pages * Page.size, alignment: 8)
        defer { expected.deallocate() }
        Glibc.memset(expected, 0, pages * Page.size)
        fillLeaf(expected, leaf, stamp, pages: pages)
        guard memcmp(block, expected, pages * Page.size) == 0 else {
            throw ToyFailure(description: "leaf \(leaf) has other bytes than expected")
        }
    }

    /// References of the index and the leaves, from the payload.
    static func references(
        _ store: Store, _ pin: Store.Pin
    ) throws -> (index: BlockReference?, leaves: [Int: BlockReference]) {
        guard pin.payloadCount >= BlockReference.byteCount + 8 else { return (nil, [:]) }
        let index = BlockReference(pin.payload)
        let block = try store.admit(index)
        store.markVerified(index)
        var leaves: [Int: BlockReference] = [:]
        for leaf in 0..<Int(pin.payload.u64(BlockReference.byteCount)) {
            let reference = BlockReference(block + leaf * BlockReference.byteCount)
            if !reference.isNone { leaves[leaf] = reference }
        }
        return (index, leaves)
    }

    /// Reads everything and compares it with the model; checks the space map as well.
    static func verify(_ store: Store, _ pin: Store.Pin, _ model: ToyModel) throws {
        let (index, leaves) = try references(store, pin)
        guard Set(leaves.keys) == Set(model.keys) else {
            throw ToyFailure(
                description: "version \(pin.version) has other leaves than expected")
        }
        for (leaf, reference) in leaves {
            let block = try store.admit(reference)
            store.markVerified(reference)
            try checkLeaf(
                block, leaf, block.u64(8), pages: reference.pageCount)
            guard block.u64(8) == model[leaf] else {
                throw ToyFailure(
                    description: "version \(pin.version): leaf \(leaf) has stamp \(block.u64(8)),"
                        + " expected \(model[leaf] ?? 0)")
            }
        }
        let problems = try store.check(
            pin, reachable: Array(leaves.values) + (index.map { [$0] } ?? []))
        guard problems.isEmpty else {
            throw ToyFailure(
                description: "version \(pin.version): " + problems.prefix(5).joined(separator: "; ")
            )
        }
    }

    /// Commits: gives the leaves of `changes` new stamps (nil removes the leaf). Returns the pin.
    @discardableResult
    static func commit(
        _ store: Store, _ model: inout ToyModel, _ changes: [Int: UInt64?],
        payloadBytes: Int = 100,
        capacity: Int = leavesMax, joinsGroup: Bool = false, soft: Bool = false,
        versions: UInt64 = 1
    ) throws -> Store.Pin {
        guard let lease = try store.beginWrite(wait: true, joinsGroup: joinsGroup) else {
            throw ToyFailure(description: "no lease")
        }
        do {
            return try commit(
                lease, &model, changes, payloadBytes: payloadBytes, capacity: capacity, soft: soft,
                versions: versions)
        } catch {
            lease.abandon()
            throw error
        }
    }

    static func commit(
        _ lease: WriteLease, _ model: inout ToyModel, _ changes: [Int: UInt64?],
        payloadBytes: Int = 100,
        capacity: Int = leavesMax, soft: Bool = false, versions: UInt64 = 1
    ) throws -> Store.Pin {
        var (index, leaves) = try references(lease.store, lease.base)
        var freed: [BlockReference] = index.map { [$0] } ?? []
        let indexPages = Page.count(forBytes: capacity * BlockReference.byteCount)
        var pages = indexPages
        var next = model
        var blocks: [UnsafeMutableRawPointer] = []
        defer { blocks.forEach { $0.deallocate() } }
        var written: [(leaf: Int, block: UnsafeMutableRawPointer, pages: Int)] = []
        for (leaf, stamp) in changes.sorted(by: { $0.key < $1.key }) {
            if let old = leaves.removeValue(forKey: leaf) { freed.append(old) }
            next[leaf] = stamp
            guard let stamp else { continue }
            let count = leafPages(leaf, stamp)
            let block = UnsafeMutableRawPointer.allocate(
                byteCount: count * Page.size, alignment: 64)
            block.initializeMemory(as: UInt8.self, repeating: 0, count: count * Page.size)
            fillLeaf(block, leaf, stamp, pages: count)
            blocks.append(block)
            written.append((leaf, block, count))
            pages += count
        }
        let builder = try lease.prepareCommit(pages: pages, freed: freed, versions: versions)
        let indexBlock = UnsafeMutableRawPointer.allocate(
            byteCount: indexPages * Page.size, alignment: 64)
        blocks.append(indexBlock)
        indexBlock.initializeMemory(
            as: UInt8.self, repeating: 0, count: indexPages * Page.size)
        for (leaf, reference) in leaves {
            reference.store(indexBlock + leaf * BlockReference.byteCount)
        }
        // As trees do: most leaves wait to be sealed together, what they name does not. Of those that
        // wait with nothing else between them, what was sealed before is written meanwhile.
        for (number, entry) in written.enumerated() {
            let place = indexBlock + entry.leaf * BlockReference.byteCount
            if number % 18 == 5 {
                builder.place(entry.block, pages: entry.pages).store(place)
            } else {
                builder.placeLeaf(entry.block, pages: entry.pages, at: place)
            }
            if number % 9 == 8 { builder.sealWaiting() }
        }
        builder.sealWaiting()
        let reference = builder.place(indexBlock, pages: indexPages)
        let payload = UnsafeMutableRawPointer.allocate(byteCount: payloadBytes, alignment: 8)
        blocks.append(payload)
        payload.initializeMemory(as: UInt8.self, repeating: 7, count: payloadBytes)
        reference.store(payload)
        payload.put(UInt64(capacity), BlockReference.byteCount)
        let pin = try builder.publish(
            payload: UnsafeRawBufferPointer(start: payload, count: payloadBytes), soft: soft)
        model = next
        return pin
    }

    /// A random change of a few leaves; `stamp` must be new.
    static func randomChanges(_ random: inout Random, _ stamp: UInt64) -> [Int: UInt64?] {
        var changes: [Int: UInt64?] = [:]
        let count = random.below(8) == 0 ? random.below(40) : 1 + random.below(3)
        for _ in 0..<count {
            let leaf = random.below(leavesMax)
            changes[leaf] = random.below(6) == 0 ? .some(nil) : .some(stamp)
        }
        return changes
    }
}
