// Counting, marking and unpacking of packed values by vectors against one value after the other: all widths, lengths
// around those of vectors, places that are not aligned.

import CKernels
import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite struct RangeKernelTests {
    /// Compares both kernels with `passes` for rows of every length up to some, and a few long ones.
    private func compare<T>(
        _ values: [T], _ passes: (T) -> Bool,
        count: (UnsafeRawPointer, Int) -> Int,
        mask: (UnsafeRawPointer, Int, UnsafeMutablePointer<UInt64>) -> Void
    ) {
        // One byte beyond a place where such a value would stand.
        let memory = UnsafeMutableRawPointer.allocate(
            byteCount: values.count * MemoryLayout<T>.stride + 1, alignment: 32)
        defer { memory.deallocate() }
        let start = memory + 1
        values.withUnsafeBytes { start.copyMemory(from: $0.baseAddress!, byteCount: $0.count) }
        let words = UnsafeMutablePointer<UInt64>.allocate(capacity: values.count / 64 + 1)
        defer { words.deallocate() }
        for rows in Array(0...200) + [500, 512, 8191, 8192, values.count] {
            let expected = values[..<rows].map(passes)
            let counted = count(start, rows)
            #expect(counted == expected.count { $0 }, "\(T.self), \(rows) rows")
            mask(start, rows, words)
            let marked = (0..<rows).map { words[$0 >> 6] >> UInt64($0 & 63) & 1 == 1 }
            #expect(marked == expected, "\(T.self), \(rows) rows")
        }
    }

    private func compareIntegers<T: FixedWidthInteger & UnsignedInteger>(
        _ type: T.Type, count: (UnsafeRawPointer, Int, T, T) -> Int,
        mask: (UnsafeRawPointer, Int, T, T, UnsafeMutablePointer<UInt64>) -> Void
    ) {
        var random = Random(1)
        // Of few values, so that bounds are met, and of all.
        for top in [T(9), T.max] {
            let number = { T(truncatingIfNeeded: random.next()) % top }
            let values = (0..<20_000).map { _ in number() }
            for _ in 0..<4 {
                let (low, high) = (number(), number())
                let span = high > low ? high - low : 0
                compare(
                    values, { $0 >= low && $0 - low <= span },
                    count: { count($0, $1, low, span) }, mask: { mask($0, $1, low, span, $2) })
            }
        }
        // All pass: more in each lane of a vector than a byte counts.
        compare(
            [T](repeating: 3, count: 20_000), { _ in true },
            count: { count($0, $1, 0, T.max) }, mask: { mask($0, $1, 0, T.max, $2) })
    }

    @Test(arguments: [0, 1, 2, 4, 8])
    func `packed integers are unpacked`(width: Int) {
        var random = Random(UInt64(width))
        let rowsMax = 5000
        let bytes = (0..<rowsMax * width + 1).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        for base in [0, -1, 17, Int64.min, Int64.max] {
            for rows in Array(0...70) + [127, 128, 129, 4095, rowsMax] {
                // One more, which has to stay as it is.
                var values = [Int64](repeating: 99, count: rows + 1)
                bytes.withUnsafeBytes {
                    ck_unpack($0.baseAddress! + 1, width, rows, base, &values)
                }
                let expected = (0..<rows).map { row in
                    (0..<width).reduce(base) { sum, byte in
                        sum &+ Int64(bytes[1 + row * width + byte]) << (8 * byte)
                    }
                }
                #expect(values == expected + [99], "\(width) bytes, \(rows) rows, base \(base)")
            }
        }
    }

    @Test func bytes() {
        compareIntegers(UInt8.self, count: ck_count_range_u8, mask: ck_mask_range_u8)
    }
    @Test func shortIntegers() {
        compareIntegers(UInt16.self, count: ck_count_range_u16, mask: ck_mask_range_u16)
    }
    @Test func integers() {
        compareIntegers(UInt32.self, count: ck_count_range_u32, mask: ck_mask_range_u32)
    }
    @Test func longIntegers() {
        compareIntegers(UInt64.self, count: ck_count_range_u64, mask: ck_mask_range_u64)
    }

    @Test func floats() {
        var random = Random(2)
        let values = (0..<20_000).map { _ -> Float in
            let odd = [Float.nan, .infinity, -0.0, -0.5, 1]
            return random.below(2) == 0
                ? Float(random.below(4000)) / 1000 - 2 : odd[random.below(odd.count)]
        }
        compare(
            values, { $0 >= -0.5 && $0 <= 1 },
            count: { ck_count_range_f32($0, $1, -0.5, 1) },
            mask: { ck_mask_range_f32($0, $1, -0.5, 1, $2) })
    }

    @Test func doubles() {
        var random = Random(3)
        let values = (0..<20_000).map { _ -> Double in
            let odd = [Double.nan, .infinity, -0.0, -0.5, 1]
            return random.below(2) == 0
                ? Double(random.below(4000)) / 1000 - 2 : odd[random.below(odd.count)]
        }
        compare(
            values, { $0 >= -0.5 && $0 <= 1 },
            count: { ck_count_range_f64($0, $1, -0.5, 1) },
            mask: { ck_mask_range_f64($0, $1, -0.5, 1, $2) })
    }
}
