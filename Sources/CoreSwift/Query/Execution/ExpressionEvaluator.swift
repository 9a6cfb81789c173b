// Evaluates expression tests for one object after another: the part of a query that columns alone
// cannot answer (ExpressionProgram.swift). Called by `LeafFilter` for the rows that cheaper
// conditions left over.
//
// Operands are values on a stack; collections lie in pools that grow once and are cut back after
// each test, so that a row allocates nothing. A SUBQUERY's predicate runs inside the path of its
// members, on the same stack and pools, behind what is there.
//
// One evaluator serves one thread and one snapshot. Text values point into leaves, which stay as
// long as the snapshot does.

import CKernels

/// An object, or a value, that a scope is at.
struct ExpressionMember {
    var table: Table
    var key = ObjectKey.first
    var leaf: LeafView
    var row = 0
    /// Of scopes whose members are values.
    var value = RawValue.null
    /// The property that the value is of: nested collections need to know.
    var column = 0
}

/// What an operand is for the members at hand.
struct ExpressionOperand {
    var shape = OperandShape.single
    /// Single: whether there is a value, and which.
    var isPresent = true
    var value = RawValue.null
    /// Others: range of the pool of values, and of groups.
    var first = 0
    var count = 0
    var groupFirst = 0
    var groupCount = 0
}

/// Memory that grows and is used as a stack.
struct ExpressionPool<Element> {
    private(set) var base: UnsafeMutablePointer<Element>
    private(set) var count = 0
    private var capacity: Int

    init(capacity: Int) {
        base = .allocate(capacity: capacity)
        self.capacity = capacity
    }

    @inline(__always) mutating func append(_ element: Element) {
        if count == capacity { grow() }
        (base + count).initialize(to: element)
        count &+= 1
    }

    @inline(never) private mutating func grow() {
        let larger = UnsafeMutablePointer<Element>.allocate(capacity: capacity * 2)
        larger.moveInitialize(from: base, count: count)
        base.deallocate()
        base = larger
        capacity *= 2
    }

    @inline(__always) mutating func cut(to count: Int) { self.count = count }
    @inline(__always) subscript(_ index: Int) -> Element {
        get { base[index] }
        nonmutating set { base[index] = newValue }
    }

    func deallocate() { base.deallocate() }
}

final class ExpressionEvaluator {
    let snapshot: SnapshotReader
    let program: FilterProgram
    /// The scope whose members are the rows tested.
    let slot: Int
    let shared: ExpressionState
    // Those of `shared`.
    let slots: UnsafeMutablePointer<ExpressionMember>
    let constants: UnsafeMutablePointer<RawValue>
    let stepTables: UnsafeMutablePointer<Table?>
    let texts: ExpressionTexts
    var stack: ExpressionPool<ExpressionOperand>
    var values: ExpressionPool<RawValue>
    var groups: ExpressionPool<(first: Int, count: Int)>
    var keys: ExpressionPool<ObjectKey>
    /// AND and OR around a condition inside a SUBQUERY.
    var frames: ExpressionPool<(node: Int32, next: Int32)>
    /// Texts that functions made; made when a function is first called.
    private(set) var functionContext: FunctionContext?
    var functions: FunctionContext {
        if let context = functionContext { return context }
        let context = FunctionContext(shared.clock)
        functionContext = context
        return context
    }
    /// By test: whether it runs over whole leaves, once that was found out.
    private var columns: [Int32: ExpressionColumns?] = [:]

    /// `sharing`: what the evaluator that runs around this one uses.
    init(
        _ snapshot: SnapshotReader, _ program: FilterProgram, slot: Int,
        sharing shared: ExpressionState? = nil
    ) throws(RealmError) {
        self.snapshot = snapshot
        self.program = program
        self.slot = slot
        let state = if let shared { shared } else { try ExpressionState(snapshot, program) }
        self.shared = state
        texts = state.texts
        slots = state.slots
        constants = state.constants
        stepTables = state.stepTables
        stack = ExpressionPool(capacity: program.stackDepth + 8)
        values = ExpressionPool(capacity: 64)
        groups = ExpressionPool(capacity: 8)
        keys = ExpressionPool(capacity: 64)
        frames = ExpressionPool(capacity: 4)
    }

    deinit {
        stack.deallocate()
        values.deallocate()
        groups.deallocate()
        keys.deallocate()
        frames.deallocate()
    }

    // MARK: Rows

    /// Leaves in `selection` the rows for which a test, or with `negated` its opposite, holds.
    func test(
        _ index: Int32, negated: Bool, _ table: TableReader, _ leaf: LeafView,
        _ selection: Bitmap
    ) throws(RealmError) {
        let test = program.tests + Int(index)
        if let columns = columns(index, table) {
            return columns.apply(table, leaf, negated: negated, selection)
        }
        shared.earn(Bits.count(selection, Bits.words(leaf.rows)))
        slots[slot] = ExpressionMember(table: table.table, leaf: leaf)
        try Bits.forEach(selection, Bits.words(leaf.rows)) { row throws(RealmError) in
            slots[slot].row = row
            slots[slot].key = leaf.key(row)
            if try holds(test) == negated { Bits.unset(selection, row) }
        }
    }

    private func columns(_ index: Int32, _ table: TableReader) -> ExpressionColumns? {
        if let known = columns[index] { return known }
        let made = ExpressionColumns(
            program, program.tests + Int(index), table, slot: slot, constants, shared.scratch)
        columns[index] = .some(made)
        return made
    }

    /// Whether a predicate holds for the members at hand.
    func holds(root: Int) throws(RealmError) -> Bool {
        guard program.nodes[root].isChain else { return try holds(node: root) }
        let base = frames.count
        frames.append((Int32(root), 0))
        var result: Bool?
        while frames.count > base {
            let top = frames[frames.count - 1]
            guard let (isAnd, parts) = program.nodes[Int(top.node)].chain else { break }
            if let value = result, value != isAnd {
                // Decides the chain; the value goes to the chain around it.
                frames.cut(to: frames.count - 1)
                continue
            }
            if top.next == parts.count {
                result = isAnd
                frames.cut(to: frames.count - 1)
                continue
            }
            frames[frames.count - 1].next = top.next + 1
            let child = Int(program.children[Int(parts.first + top.next)])
            if program.nodes[child].isChain {
                result = nil
                frames.append((Int32(child), 0))
            } else {
                result = try holds(node: child)
            }
        }
        return result ?? false
    }

    private func holds(node index: Int) throws(RealmError) -> Bool {
        let node = program.nodes[index]
        if let constant = node.constantResult { return constant }
        guard case .expression(let test) = node.test else {
            throw RealmError(
                .runtime, "a condition inside a SUBQUERY has the form \(node.test)")
        }
        return try holds(program.tests + Int(test)) != node.negated
    }

    // MARK: Instructions

    /// Runs the instructions of an operand.
    func run(_ side: ExpressionTest.Side) throws(RealmError) -> ExpressionOperand {
        let first = program.code[Int(side.first)]
        if side.count == 1, first.kind != .function { return try operand(first) }
        let base = stack.count
        for place in Int(side.first)..<Int(side.first + side.count) {
            let code = program.code[place]
            switch code.kind {
            case .arithmetic:
                let right = stack[stack.count - 1]
                let left = stack[stack.count - 2]
                stack.cut(to: stack.count - 2)
                stack.append(join(code.operation, left, right))
            case .negate:
                var operand = stack[stack.count - 1]
                mapValues(&operand) { ExpressionArithmetic.negate($0) }
                stack[stack.count - 1] = operand
            case .function: try callFunction(code)
            case .choose:
                let right = stack[stack.count - 1]
                let left = stack[stack.count - 2]
                stack.cut(to: stack.count - 2)
                stack.append(try holds(root: Int(code.a)) ? left : right)
            default: stack.append(try operand(code))
            }
        }
        let result = stack[stack.count - 1]
        stack.cut(to: base)
        return result
    }

    private func operand(_ code: ExpressionCode) throws(RealmError) -> ExpressionOperand {
        var operand = ExpressionOperand()
        switch code.kind {
        case .constant: operand.value = constants[Int(code.a)]
        case .list:
            operand.shape = .many
            operand.first = values.count
            operand.count = Int(code.b)
            for place in Int(code.a)..<Int(code.a + code.b) { values.append(constants[place]) }
        case .path: return try load(program.paths + Int(code.a))
        case .aggregate: operand.value = try aggregate(program.aggregates[Int(code.a)])
        case .subquery: operand.value = try subquery(Int(code.a))
        default: break
        }
        return operand
    }

    /// Puts other values in the place of an operand's values.
    @inline(__always)
    func mapValues(_ operand: inout ExpressionOperand, _ body: (RawValue) -> RawValue) {
        if operand.shape == .single {
            operand.value = body(operand.value)
            return
        }
        for place in operand.first..<operand.first + operand.count {
            values[place] = body(values[place])
        }
    }

    /// An operation on two operands of which at most one is a collection (R6).
    private func join(
        _ op: Predicate.Operation, _ left: ExpressionOperand, _ right: ExpressionOperand
    ) -> ExpressionOperand {
        if left.shape == .single {
            var result = right
            if right.shape == .single {
                result.isPresent = left.isPresent && right.isPresent
            } else if !left.isPresent {
                return empty(right)
            }
            let a = left.value
            mapValues(&result) { ExpressionArithmetic.apply(op, a, $0) }
            return result
        }
        guard right.isPresent else { return empty(left) }
        var result = left
        let b = right.value
        mapValues(&result) { ExpressionArithmetic.apply(op, $0, b) }
        return result
    }

    /// The collection without members: one side of an operation has no value.
    func empty(_ operand: ExpressionOperand) -> ExpressionOperand {
        var result = operand
        result.shape = .many
        result.count = 0
        return result
    }
}
