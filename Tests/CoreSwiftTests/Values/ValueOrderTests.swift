// The total order of values: the list below is in order, with equal values grouped.

import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite struct ValueOrderTests {
    private static func decimal(_ text: String) -> Value {
        .decimal128(Decimal128(text) ?? .nan)
    }

    /// Ascending; values of one group are one value.
    static let ordered: [[Value]] = [
        [.null],
        [.bool(false)], [.bool(true)],
        [.decimal128(.nan)], [.double(.nan), .float(.nan)],
        [.double(-.infinity), .float(-.infinity), .decimal128(-.infinity)],
        [decimal("-1E+400")], [.double(-1e300)],
        [decimal("-9223372036854775809")],
        [.int(.min), .double(-0x1p63), decimal("-9223372036854775808")],
        [.int(.min + 1)],
        [.int(-1), .float(-1), .double(-1), decimal("-1.0")],
        [decimal("-1E-400")],
        [.int(0), .double(0), .double(-0.0), .float(-0.0), decimal("0"), decimal("-0E+5")],
        [decimal("1E-6176")], [.double(.leastNonzeroMagnitude)],
        [decimal("0.1"), decimal("0.100")], [.double(0.1)], [.float(0.1)],
        [.int(1), .double(1), decimal("1"), decimal("1.00")], [.double(1.5), .float(1.5)],
        [.int(9_007_199_254_740_992), .double(9_007_199_254_740_992)],
        [.int(9_007_199_254_740_993), decimal("9007199254740993")],
        [.int(.max - 1)], [.int(.max), decimal("9223372036854775807")],
        [.double(0x1p63), decimal("9223372036854775808")],
        [.double(1e300)], [decimal("1E+309")],
        [.double(.infinity), .decimal128(.infinity)],
        [.string("")], [.string("B")], [.string("a")], [.string("a\0")], [.string("ab")],
        [.string("é")],
        [.binary([])], [.binary([0])], [.binary([0, 0])], [.binary([0xFF])],
        [.timestamp(Timestamp(seconds: -1, nanoseconds: -5))], [.timestamp(Timestamp(seconds: -1))],
        [.timestamp(Timestamp(seconds: 0))], [.timestamp(Timestamp(seconds: 0, nanoseconds: 1))],
        [.objectId(.zero)], [.objectId(ObjectId(high: 0, low: 1))],
        [.objectId(ObjectId(high: 1 << 63, low: 0))],
        [.uuid(.zero)], [.uuid(UUIDValue(high: 0, low: 1 << 63))],
        [.uuid(UUIDValue(high: 1 << 63, low: 0))],
        [.link(Link(ClassKey(rawValue: 0), ObjectKey(rawValue: 5)))],
        [.link(Link(ClassKey(rawValue: 1), ObjectKey(rawValue: 0)))],
        [.link(Link(ClassKey(rawValue: 1), ObjectKey(rawValue: 1)))],
    ]

    @Test func valuesAreInTheOrderOfTheContract() throws {
        for (i, left) in Self.ordered.enumerated() {
            for (j, right) in Self.ordered.enumerated() {
                for a in left {
                    for b in right {
                        let expected = i == j ? 0 : i < j ? -1 : 1
                        let order = try a.withRaw { x throws(RealmError) in
                            try b.withRaw { y throws(RealmError) in ValueOrder.compare(x, y) }
                        }
                        #expect(order.signum() == expected, "\(a) \(b)")
                    }
                }
            }
        }
    }

    private func hash(_ value: Value) throws -> Int {
        try value.withRaw { raw throws(RealmError) in
            var hasher = Hasher()
            ValueOrder.hash(raw, into: &hasher)
            return hasher.finalize()
        }
    }

    @Test func equalValuesHaveEqualHashes() throws {
        for group in Self.ordered {
            for value in group { #expect(try hash(value) == hash(group[0]), "\(value)") }
        }
    }

    /// Index bytes of mixed columns ascend as the values do; only numbers that are nearest to one
    /// double may share theirs.
    @Test func indexBytesOfMixedValuesAscend() throws {
        var last: [UInt8] = []
        for group in Self.ordered {
            for value in group {
                let bytes = try value.withRaw { raw throws(RealmError) in
                    try IndexReader.bytes(raw, .mixed)
                }
                #expect(!bytes.lexicographicallyPrecedes(last), "\(value)")
                last = bytes
            }
        }
    }

    @Test func mixedBytesGiveTheValueBack() throws {
        for value in Self.ordered.joined() where value != .null {
            try value.withRaw { raw throws(RealmError) in
                try MixedCell.withBytes(raw) { bytes throws(RealmError) in
                    #expect(MixedCell.problem(bytes) == nil, "\(value)")
                    let decoded = MixedCell.decode(bytes)
                    #expect(decoded.type == raw.type && ValueOrder.equal(decoded, raw), "\(value)")
                    #expect(bytes.count == MixedCell.count(raw))
                }
            }
        }
    }

    @Test func hostileMixedBytesAreRefused() {
        var random = Random(11)
        for _ in 0..<20_000 {
            var bytes = [UInt8](repeating: 0, count: random.below(20))
            for index in bytes.indices { bytes[index] = UInt8(truncatingIfNeeded: random.next()) }
            if !bytes.isEmpty { bytes[0] = UInt8(random.below(16)) }
            bytes.withUnsafeBytes { buffer in
                guard MixedCell.problem(buffer) == nil else { return }
                // Accepted bytes are what their value is encoded as.
                let value = MixedCell.decode(buffer)
                let again = try? MixedCell.withBytes(value) { written throws(RealmError) in
                    [UInt8](written)
                }
                #expect(again == bytes)
            }
        }
    }
}
