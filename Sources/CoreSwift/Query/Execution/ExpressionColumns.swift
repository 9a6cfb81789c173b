// Tests whose operands are integers and doubles of the row itself, and arithmetic on them: a leaf at a
// time. Each operand of an instruction is a buffer of the leaf's values, in the type that the rules
// give it (QUERY_RULES R2); nulls are bits beside it.

import CKernels

/// The memory that tests of one execution use in turns.
final class ColumnScratch {
    /// Values of all rows of a leaf.
    struct Buffer {
        /// Int64 or Double.
        var isInteger = true
        let values: UnsafeMutableRawPointer
        let nulls: Bitmap

        var integers: UnsafeMutablePointer<Int64> {
            values.assumingMemoryBound(to: Int64.self)
        }
        var doubles: UnsafeMutablePointer<Double> {
            values.assumingMemoryBound(to: Double.self)
        }
    }
    var stack: [Buffer] = []
    let match = Bitmap.allocate(capacity: LeafLayout.rowsMax / 64)

    deinit {
        match.deallocate()
        for buffer in stack {
            buffer.values.deallocate()
            buffer.nulls.deallocate()
        }
    }

    func add() {
        stack.append(
            Buffer(
                values: .allocate(byteCount: LeafLayout.rowsMax * 8, alignment: 64),
                nulls: .allocate(capacity: LeafLayout.rowsMax / 64)))
    }
}

/// A test of numbers that runs over whole leaves. Used by one thread.
final class ExpressionColumns {
    private typealias Buffer = ColumnScratch.Buffer

    private let program: FilterProgram
    private let test: UnsafePointer<ExpressionTest>
    private let constants: UnsafeMutablePointer<RawValue>
    private let scratch: ColumnScratch
    private let match: Bitmap
    private var top = 0
    private static let depthMax = 8
    private static let codeMax = 64

    /// Nil when the test is of another kind.
    init?(
        _ program: FilterProgram, _ test: UnsafePointer<ExpressionTest>, _ table: TableReader,
        slot: Int, _ constants: UnsafeMutablePointer<RawValue>, _ scratch: ColumnScratch
    ) {
        self.program = program
        self.test = test
        self.constants = constants
        self.scratch = scratch
        match = scratch.match
        guard isNumeric(table, slot: slot) else { return nil }
    }

    private func isNumeric(_ table: TableReader, slot: Int) -> Bool {
        let op = test.pointee.op
        guard test.pointee.kind == .compare, !test.pointee.comparesTypes,
            op.isOrdering || op == .equal || op == .notEqual
        else { return false }
        for side in [test.pointee.left, test.pointee.right] {
            guard side.shape == .single, side.count <= Self.codeMax else { return false }
            var depth = 0
            for place in Int(side.first)..<Int(side.first + side.count) {
                let code = program.code[place]
                switch code.kind {
                case .constant:
                    let type = constants[Int(code.a)].type
                    guard type == ValueType.int.rawValue || type == ValueType.double.rawValue
                    else { return false }
                    depth += 1
                case .path:
                    let path = program.paths[Int(code.a)]
                    guard path.slot == slot, path.count == 0, path.value == .column,
                        path.measure == .none, path.mixedCount == 0,
                        path.kind == .int || path.kind == .double,
                        !table.column(Int(path.column)).isKey
                    else { return false }
                    depth += 1
                case .arithmetic: depth -= 1
                case .negate: break
                default: return false
                }
                if depth > Self.depthMax / 2 { return false }
            }
        }
        return true
    }

    // MARK: A leaf

    /// Leaves in `selection` the rows for which the test, or with `negated` its opposite, holds.
    func apply(
        _ table: TableReader, _ leaf: LeafView, negated: Bool, _ selection: Bitmap
    ) {
        let rows = leaf.rows
        let words = Bits.words(rows)
        top = 0
        run(test.pointee.left, table, leaf)
        run(test.pointee.right, table, leaf)
        let (left, right) = (scratch.stack[0], scratch.stack[1])
        compare(left, right, rows)
        let flip: UInt64 = negated ? ~0 : 0
        let op = test.pointee.op
        for word in 0..<words {
            let (a, b) = (left.nulls[word], right.nulls[word])
            var result = match[word] & ~(a | b)
            if op == .notEqual {
                result |= a ^ b
            } else if op == .equal || op == .lessEqual || op == .greaterEqual {
                result |= a & b
            }
            selection[word] &= result ^ flip
        }
    }

    private func push() -> Int {
        if top == scratch.stack.count { scratch.add() }
        top += 1
        return top - 1
    }

    private func run(
        _ side: ExpressionTest.Side, _ table: TableReader, _ leaf: LeafView
    ) {
        for place in Int(side.first)..<Int(side.first + side.count) {
            let code = program.code[place]
            switch code.kind {
            case .constant: load(constants[Int(code.a)], leaf.rows)
            case .path: load(program.paths[Int(code.a)], table, leaf)
            case .negate: negate(leaf.rows)
            default: join(code.operation, leaf.rows)
            }
        }
    }

    // MARK: Loading

    private func load(_ constant: RawValue, _ rows: Int) {
        let index = push()
        scratch.stack[index].isInteger = constant.type == ValueType.int.rawValue
        let target = scratch.stack[index].integers
        let bits = constant.intValue
        for row in 0..<rows { target[row] = bits }
        Bits.clear(scratch.stack[index].nulls, Bits.words(rows))
    }

    private func load(_ path: ExpressionPath, _ table: TableReader, _ leaf: LeafView) {
        let index = push()
        let rows = leaf.rows
        scratch.stack[index].isInteger = path.kind == .int
        let target = scratch.stack[index].integers
        let nulls = scratch.stack[index].nulls
        let info = table.column(Int(path.column))
        guard let column = leaf.column(Int(path.column), info), column.encoding != .absent else {
            for row in 0..<rows { target[row] = 0 }
            let isNull = info.isNullable
            for word in 0..<Bits.words(rows) { nulls[word] = isNull ? ~0 : 0 }
            return
        }
        if column.encoding == .packed {
            column.unpack(0, rows, from: column.base, target)
        } else {
            memcpy(UnsafeMutableRawPointer(target), column.data, rows * 8)
        }
        for word in 0..<Bits.words(rows) { nulls[word] = column.nulls?.u64(word &* 8) ?? 0 }
    }

    // MARK: Arithmetic

    private func negate(_ rows: Int) {
        let buffer = scratch.stack[top - 1]
        if buffer.isInteger {
            let values = buffer.integers
            for row in 0..<rows { values[row] = 0 &- values[row] }
        } else {
            let values = buffer.doubles
            for row in 0..<rows { values[row] = -values[row] }
        }
    }

    private func join(_ op: Predicate.Operation, _ rows: Int) {
        let right = scratch.stack[top - 1]
        top -= 1
        let left = scratch.stack[top - 1]
        for word in 0..<Bits.words(rows) { left.nulls[word] |= right.nulls[word] }
        if left.isInteger, right.isInteger {
            let (a, b) = (left.integers, right.integers)
            switch op {
            case .add: for row in 0..<rows { a[row] = a[row] &+ b[row] }
            case .subtract: for row in 0..<rows { a[row] = a[row] &- b[row] }
            case .multiply: for row in 0..<rows { a[row] = a[row] &* b[row] }
            default:
                for row in 0..<rows {
                    let divisor = b[row]
                    if divisor == 0 {
                        Bits.set(left.nulls, row)
                    } else {
                        a[row] = divisor == -1 ? 0 &- a[row] : a[row] / divisor
                    }
                }
            }
            return
        }
        toDoubles(top - 1, rows)
        toDoubles(top, rows)
        let (a, b) = (left.doubles, right.doubles)
        switch op {
        case .add: for row in 0..<rows { a[row] += b[row] }
        case .subtract: for row in 0..<rows { a[row] -= b[row] }
        case .multiply: for row in 0..<rows { a[row] *= b[row] }
        default: for row in 0..<rows { a[row] /= b[row] }
        }
    }

    private func toDoubles(_ index: Int, _ rows: Int) {
        guard scratch.stack[index].isInteger else { return }
        scratch.stack[index].isInteger = false
        let integers = scratch.stack[index].integers
        let doubles = scratch.stack[index].doubles
        for row in 0..<rows { doubles[row] = Double(integers[row]) }
    }

    // MARK: Comparing

    private func compare(_ left: Buffer, _ right: Buffer, _ rows: Int) {
        let op = test.pointee.op
        switch (left.isInteger, right.isInteger) {
        case (true, true): compare(left.integers, right.integers, op, rows)
        case (false, false): compare(left.doubles, right.doubles, op, rows)
        case (true, false): compareExactly(left.integers, right.doubles, op, rows)
        case (false, true): compareExactly(right.integers, left.doubles, op.mirrored, rows)
        }
    }

    @inline(__always)
    private func compare<Number: Comparable>(
        _ a: UnsafeMutablePointer<Number>, _ b: UnsafeMutablePointer<Number>,
        _ op: ComparisonOperator, _ rows: Int
    ) {
        switch op {
        case .notEqual: mask(rows) { a[$0] != b[$0] }
        case .less: mask(rows) { a[$0] < b[$0] }
        case .lessEqual: mask(rows) { a[$0] <= b[$0] }
        case .greater: mask(rows) { a[$0] > b[$0] }
        case .greaterEqual: mask(rows) { a[$0] >= b[$0] }
        default: mask(rows) { a[$0] == b[$0] }
        }
    }

    /// Integers against doubles, by mathematical value (T3).
    private func compareExactly(
        _ a: UnsafeMutablePointer<Int64>, _ b: UnsafeMutablePointer<Double>,
        _ op: ComparisonOperator, _ rows: Int
    ) {
        mask(rows) { row in
            let number = b[row]
            if number.isNaN { return op == .notEqual }
            return op.holds(ValueOrder.compare(a[row], number), 0)
        }
    }

    @inline(__always)
    private func mask(_ rows: Int, _ holds: (Int) -> Bool) {
        var row = 0
        for word in 0..<Bits.words(rows) {
            var bits: UInt64 = 0
            let end = min(64, rows &- row)
            for bit in 0..<end {
                bits |= UInt64(unsafeBitCast(holds(row &+ bit), to: UInt8.self)) << UInt64(bit)
            }
            match[word] = bits
            row &+= 64
        }
    }
}
