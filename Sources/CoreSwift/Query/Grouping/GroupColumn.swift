// The values at the end of a path, row by row of the grouped class: of a property, over to-one links, or of a
// path that is evaluated. Keys and aggregates read them.

/// Neighbouring rows of a leaf, all alive.
struct GroupRun {
    let leaf: LeafView
    let row: Int
    let count: Int
    /// The leaf that comes next, if known.
    var upcoming: LeafView?
}

/// Used by one thread.
final class GroupColumn {
    let kind: ColumnKind
    private let table: TableReader
    private let column: Int
    /// Of a property of the class itself; nil: read with `value` alone.
    let info: ColumnInfo?
    /// Tables behind the links of the path, and the columns of the links.
    private var tables: [TableReader] = []
    private let hops: [ExpressionStep]
    /// Objects that the first link leads to, and what is at the end of the path from each.
    private let targets: ValueNumbering?
    private var ends: [RawValue] = []
    private let program: FilterProgram?
    private let evaluator: ExpressionEvaluator?

    init(
        _ key: OrderingKey, _ snapshot: SnapshotReader, _ table: TableReader
    ) throws(RealmError) {
        kind = key.kind
        self.table = table
        column = key.column
        hops = key.hops
        program = key.program
        evaluator =
            if let program {
                try ExpressionEvaluator(snapshot, program, slot: 0)
            } else { nil }
        info = key.isDirect ? table.column(key.column) : nil
        targets = key.hops.isEmpty ? nil : ValueNumbering(.link)
        for hop in key.hops { tables.append(try snapshot.table(hop.target)) }
    }

    /// Where the column stands in a leaf, if its values are at hand there.
    @inline(__always) func view(_ leaf: LeafView) -> ColumnView? {
        guard let info, !info.isKey, let view = leaf.column(column, info),
            view.encoding != .absent, view.externals == nil
        else { return nil }
        return view
    }

    /// The same where values are numbers that `word` reads.
    @inline(__always) func words(_ leaf: LeafView) -> ColumnView? {
        guard let view = view(leaf) else { return nil }
        switch kind {
        case .int, .link: return view.encoding == .packed ? view : nil
        case .bool: return view.encoding == .bits ? view : nil
        case .float, .double: return view.encoding == .fixed ? view : nil
        default: return nil
        }
    }

    /// A number of a row: the integer, 0 or 1, the object key, or the bits of a Double; nil: null. `view` is what
    /// `words` has for the leaf.
    @inline(__always)
    func word(_ view: ColumnView?, _ leaf: LeafView, _ row: Int) throws(RealmError) -> Int64? {
        let isReal = kind == .double || kind == .float
        guard let view else {
            let value = try value(leaf, row)
            if value.isNull { return nil }
            return isReal ? Self.bits(ExpressionArithmetic.double(value)) : value.number(kind)
        }
        if view.isNull(row) { return nil }
        if isReal { return Self.bits(kind == .double ? view.double(row) : Double(view.float(row))) }
        return kind == .bool ? (view.bit(row) ? 1 : 0) : view.packed(row)
    }

    private static func bits(_ value: Double) -> Int64 { Int64(bitPattern: value.bitPattern) }

    /// The value of one row; null behind a null link. Texts stay where they are as long as nothing changes.
    func value(_ leaf: LeafView, _ row: Int) throws(RealmError) -> RawValue {
        if let targets {
            let link = try table.value(leaf, row, Int(hops[0].column))
            if link.isNull { return .null }
            let number = Int(try targets.number(link))
            if number == ends.count { ends.append(try end(link.linkTarget)) }
            return ends[number]
        }
        guard let program, let evaluator else { return try table.value(leaf, row, column) }
        let member = ExpressionMember(table: table.table, key: leaf.key(row), leaf: leaf, row: row)
        return try evaluator.orderingValue(program.paths, member) ?? .null
    }

    /// What the rest of the path leads to from the object behind the first link.
    private func end(_ target: ObjectKey) throws(RealmError) -> RawValue {
        var key = target
        for level in 1..<hops.count {
            let link = try tables[level - 1].value(of: key, column: Int(hops[level].column))
            guard let link, !link.isNull else { return .null }
            key = link.linkTarget
        }
        return try tables[hops.count - 1].value(of: key, column: column) ?? .null
    }

    /// What a leaf's data is ahead of by that of the next leaf, for prefetching; 0: not known.
    @inline(__always) func ahead(_ view: ColumnView, _ run: GroupRun) -> Int {
        guard let info, let next = run.upcoming?.column(column, info) else { return 0 }
        return next.data - view.data
    }
}
