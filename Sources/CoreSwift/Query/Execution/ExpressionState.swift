// What the evaluators of one execution share: the one of the rows, and those of SUBQUERYs that are
// answered for whole classes. Tables are made once, however many SUBQUERYs a query has, and `now()`
// is one moment. Used by one thread.
//
// What nesting costs is bounded here, too: SUBQUERYs within SUBQUERYs and paths through several
// collections look at members times members at each level, and so do two such paths that are
// compared: a short text over few objects could run for years. Answers that are asked for again are
// kept (`SubqueryMemo`), and the work that is left after that is counted; beyond a bound the query
// is an error. Two levels, which ordinary questions have, cost what the data make them cost.

final class ExpressionState {
    /// Members at hand, by scope.
    let slots: UnsafeMutablePointer<ExpressionMember>
    let constants: UnsafeMutablePointer<RawValue>
    /// The class that each step arrives at; steps into mixed values have none.
    let stepTables: UnsafeMutablePointer<Table?>
    /// Members that pass an uncorrelated SUBQUERY, made when first needed.
    var subquerySets: [KeySet?]
    let texts: ExpressionTexts
    let clock = QueryClock()
    private(set) lazy var scratch = ColumnScratch()
    /// Lists that values are looked for in, by the place of their first constant; nil inside:
    /// such a list is gone through.
    private var lists: [Int32: ConstantSet?] = [:]
    private let program: FilterProgram
    private var memos: [SubqueryMemo?] = []
    /// Words that the answers of `memos` take.
    var memoWords = 0
    /// Work that may still be done.
    private var work: Int

    /// What each object tested adds.
    static let workPerObject = 1 << 14
    /// Objects that one path reaches from one object, over several collections.
    static let reachedMax = 1 << 23
    /// As many pairs of two collections' members are compared for one object without counting.
    static let pairsMax = 1 << 20

    init(_ snapshot: SnapshotReader, _ program: FilterProgram) throws(RealmError) {
        self.program = program
        work = program.workMax
        texts = ExpressionTexts(program)
        slots = .allocate(capacity: max(1, program.slotCount))
        constants = .allocate(capacity: max(1, program.constantCount))
        stepTables = .allocate(capacity: max(1, program.stepCount))
        subquerySets = Array(repeating: nil, count: program.subqueryCount)
        for index in 0..<program.stepCount {
            let target = program.steps[index].target
            (stepTables + index).initialize(
                to: target == .invalid ? nil : try snapshot.table(target).table)
        }
        for index in 0..<program.constantCount {
            (constants + index).initialize(
                to: try Self.value(program.constants[index], snapshot, program))
        }
        for index in 0..<program.pathCount where program.paths[index].value == .countBacklinks {
            _ = try snapshot.table(program.paths[index].target)
        }
        if program.needsAllTables {
            for item in snapshot.schema.classes { _ = try snapshot.table(item.key) }
        }
    }

    deinit {
        slots.deallocate()
        constants.deallocate()
        stepTables.deallocate()
    }

    // MARK: Nesting

    /// Objects are tested, which may cost something.
    @inline(__always) func earn(_ objects: Int) { work &+= objects &* Self.workPerObject }

    /// Notes work of nesting; throws `.limitExceeded` when there was too much.
    @inline(__always) func spend(_ units: Int) throws(RealmError) {
        work &-= units
        if work < 0 { throw tooMany() }
    }

    /// The steps of comparing one member of a collection with all of another one; 0 where the two
    /// have few pairs.
    @inline(__always) func workOfPairs(_ left: Int, _ right: Int, perStep: Int) -> Int {
        left &* right > Self.pairsMax ? right / perStep : 0
    }

    /// The error of a query whose nesting costs too much.
    @inline(never) func tooMany() -> RealmError {
        let text = program.texts.map { String(decoding: $0.prefix(500), as: UTF8.self) }
            .joined(separator: " AND ")
        return RealmError(
            .limitExceeded,
            "the query '\(text)' gave up: SUBQUERYs within SUBQUERYs, paths through several "
                + "collections or their comparison took more than \(program.workMax) steps and "
                + "\(Self.workPerObject) for each object tested, or a path led to more than "
                + "\(Self.reachedMax) objects; a SUBQUERY that uses fewer of the variables around it "
                + "takes fewer")
    }

    /// The answers kept for a SUBQUERY.
    func memo(_ index: Int) -> SubqueryMemo {
        if memos.isEmpty { memos = Array(repeating: nil, count: program.subqueryCount) }
        if let memo = memos[index] { return memo }
        let memo = SubqueryMemo(program, program.subqueries[index])
        memos[index] = memo
        return memo
    }

    /// No object has this key: what stands for an object that does not exist (T17).
    private static let nobody = ObjectKey.invalid

    private static func value(
        _ constant: BoundConstant, _ snapshot: SnapshotReader, _ program: FilterProgram
    ) throws(RealmError) -> RawValue {
        if let name = constant.name {
            return .link(name.classKey, try program.find(name, snapshot) ?? nobody)
        }
        let text = program.bytes + Int(constant.text.offset)
        switch constant.kind {
        case .string: return .string(text, Int(constant.text.count))
        case .binary: return .binary(text, Int(constant.text.count))
        default: return constant.raw
        }
    }

    /// The list of constants as a set, of which texts are folded; nil when its members have to be
    /// compared one by one.
    func set(_ list: ExpressionCode, _ folding: TextFolding) -> ConstantSet? {
        if let known = lists[list.a] { return known }
        let made = ConstantSet(constants + Int(list.a), Int(list.b), folding)
        lists[list.a] = .some(made)
        return made
    }
}
