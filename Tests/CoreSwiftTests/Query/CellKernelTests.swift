// The kernels that count the numbers of small collections against plain loops: every width, lengths
// around what fits a vector, collections that are left to others.

import CKernels
import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite struct CellKernelTests {
    private struct Cell {
        /// Nil: has a tree or nulls.
        var numbers: [Int64]?
        var bytes: [UInt8]
    }

    private static func cell(_ random: inout Random) -> Cell {
        switch random.below(12) {
        case 0: return Cell(numbers: [], bytes: [])
        case 1: return Cell(numbers: nil, bytes: [2, 0] + [UInt8](repeating: 0, count: 46))
        case 2: return Cell(numbers: nil, bytes: [1, 0, 2, 0, 1, 1, 3, 7, 9])
        default: break
        }
        let width = [1, 2, 4, 8][random.below(4)]
        let count = 1 + random.below(random.below(3) == 0 ? 20 : 5)
        let numbers = (0..<count).map { _ -> Int64 in
            let wild = Int64(bitPattern: random.next()) >> Int64(64 - width * 8)
            return random.below(2) == 0 ? wild : Int64(random.below(200)) - 100
        }
        var bytes: [UInt8] = [1, 0, UInt8(count), 0, UInt8(width), 0]
        for number in numbers {
            bytes += (0..<width).map { UInt8(truncatingIfNeeded: number >> Int64($0 * 8)) }
        }
        return Cell(numbers: numbers, bytes: bytes)
    }

    private typealias Kernel = (
        UnsafePointer<ck_texts>, UnsafeMutablePointer<UInt16>, UnsafeMutablePointer<UInt64>
    ) -> Bool

    /// What a kernel counts for each cell; nil for those that it leaves to others.
    private func counts(_ cells: [Cell], wide: Bool, _ kernel: Kernel) -> [Int?] {
        // Exactly as long as the cells: the kernels may not read behind them.
        let size = cells.reduce(0) { $0 + $1.bytes.count }
        let heap = UnsafeMutablePointer<UInt8>.allocate(capacity: max(1, size))
        let narrow = UnsafeMutablePointer<UInt16>.allocate(capacity: cells.count + 1)
        let broad = UnsafeMutablePointer<UInt32>.allocate(capacity: cells.count + 1)
        let result = UnsafeMutablePointer<UInt16>.allocate(capacity: cells.count)
        let odd = UnsafeMutablePointer<UInt64>.allocate(capacity: cells.count / 64 + 1)
        defer {
            heap.deallocate()
            narrow.deallocate()
            broad.deallocate()
            result.deallocate()
            odd.deallocate()
        }
        var offset = 0
        for (row, cell) in cells.enumerated() {
            narrow[row] = UInt16(offset)
            broad[row] = UInt32(offset)
            for byte in cell.bytes {
                heap[offset] = byte
                offset += 1
            }
        }
        narrow[cells.count] = UInt16(offset)
        broad[cells.count] = UInt32(offset)
        var texts = ck_texts(
            heap: heap, rows: cells.count, length: 0,
            offsets16: wide ? nil : UnsafeRawPointer(narrow),
            offsets32: wide ? UnsafeRawPointer(broad) : nil, ahead: 0)
        let hasOdd = kernel(&texts, result, odd)
        #expect(hasOdd == cells.contains { $0.numbers == nil })
        return cells.indices.map { row in
            odd[row / 64] >> UInt64(row % 64) & 1 != 0 ? nil : Int(result[row])
        }
    }

    @Test(arguments: 0..<20)
    func kernelsCountWhatALoopCounts(seed: Int) {
        var random = Random(UInt64(seed) &+ 400)
        let cells = (0..<(1 + random.below(150))).map { _ in Self.cell(&random) }
        let wide = seed % 2 == 0
        let sizes = counts(cells, wide: wide) { ck_cell_sizes($0, 0, $1, $2) }
        #expect(sizes == cells.map { $0.numbers?.count })
        for round in 0..<20 {
            let negated = round % 2 == 1
            let limits = [
                (Int64(-20), Int64(30)), (.min, .max), (5, 5), (-40_000, 40_000), (100, 127),
                (1 << 33, .max), (.min, -(1 << 40)),
            ]
            let (low, high) = limits[random.below(limits.count)]
            let found = counts(cells, wide: wide) {
                ck_cell_range($0, 0, low, high, negated, $1, $2)
            }
            let expected = cells.map { cell in
                cell.numbers?.filter { ($0 >= low && $0 <= high) != negated }.count
            }
            #expect(found == expected, "\(low) ... \(high), negated: \(negated)")

            let members = Set(
                (0..<(1 + random.below(60))).map { _ in Int64(random.below(300)) - 150 })
            let set = KeySet(numbers: members.sorted())
            let bits = set.bitmap!
            let inSet = counts(cells, wide: wide) {
                ck_cell_members($0, 0, set.low, set.high, bits, negated, $1, $2)
            }
            #expect(
                inSet
                    == cells.map { $0.numbers?.filter { members.contains($0) != negated }.count },
                "\(members.sorted()), negated: \(negated)")
        }
    }
}
