// Finds the operations that lead from one content of a collection to another. What both have at the
// beginning and at the end is left out, of large ones leaf by leaf; in between lists are compared by
// the algorithm of Myers ("An O(ND) difference algorithm and its variations", 1986) up to a number
// of differences, and sets and dictionaries, which are in order, by merging. Collections in elements
// are the same if their numbers are, and compared in turn.

struct CollectionComparison {
    /// Collections that differ, in the order found.
    private(set) var result: [CollectionChanges] = []

    /// Insertions and removals that are looked for; the work grows with their square.
    private static let distanceMax = 100

    init() {}

    /// Whether two contents of one collection differ, themselves or in what they hold.
    mutating func compare(
        _ old: CollectionView, _ new: CollectionView, _ name: CollectionChanges.Name,
        sharesBlocks: Bool
    ) throws(RealmError) -> Bool {
        var pair = Pair(old, new, sharesBlocks: sharesBlocks)
        let found = result.count
        if new.layout.type == .list {
            try pair.compareLists(Self.distanceMax)
        } else {
            try pair.merge()
        }
        if !pair.operations.isEmpty {
            var changes = CollectionChanges(
                name: name, type: new.layout.type, countBefore: old.count)
            for operation in pair.operations { changes.append(operation) }
            result.append(changes)
        }
        for (was, now) in pair.nested {
            guard let type = NestedCell.type(now) else { continue }
            let number = NestedCell.number(now)
            guard let first = CollectionView(old.table, old.column, was, type),
                let second = CollectionView(new.table, new.column, now, type)
            else { continue }
            _ = try compare(
                first, second,
                CollectionChanges.Name(key: name.key, property: name.property, number: number),
                sharesBlocks: sharesBlocks)
        }
        return result.count > found
    }
}

/// Two contents of one collection.
private struct Pair {
    private var old: CollectionView
    private var new: CollectionView
    private let sharesBlocks: Bool
    private(set) var operations: [CollectionOperation] = []
    /// Collections in elements, which may differ.
    private(set) var nested: [(RawValue, RawValue)] = []

    init(_ old: CollectionView, _ new: CollectionView, sharesBlocks: Bool) {
        self.old = old
        self.new = new
        self.sharesBlocks = sharesBlocks
    }

    /// Whether an element stayed what it is.
    private mutating func isKept(_ was: RawValue, _ now: RawValue) -> Bool {
        if RawIdentity.isKept(was, now, inOneFile: sharesBlocks) {
            if !sharesBlocks || !RawIdentity.isSame(was, now) { nested.append((was, now)) }
            return true
        }
        return RawIdentity.isSame(was, now)
    }

    /// Elements that both have at the beginning and at the end, by blocks that both have.
    private func sharedEnds() throws(RealmError) -> (front: Int, back: Int) {
        guard sharesBlocks else { return (0, 0) }
        let first = try old.leafReferences()
        let second = try new.leafReferences()
        var front = 0
        var index = 0
        while index < min(first.count, second.count), first[index].name == second[index].name {
            front += first[index].count
            index += 1
        }
        var back = 0
        var behind = 1
        while index + behind <= min(first.count, second.count),
            first[first.count - behind].name == second[second.count - behind].name
        {
            back += first[first.count - behind].count
            behind += 1
        }
        return (front, back)
    }

    // MARK: Lists

    mutating func compareLists(_ distanceMax: Int) throws(RealmError) {
        var (front, back) = try sharedEnds()
        let shortest = min(old.count, new.count)
        while front + back < shortest, isKept(try old.value(front), try new.value(front)) {
            front += 1
        }
        while front + back < shortest,
            isKept(try old.value(old.count - 1 - back), try new.value(new.count - 1 - back))
        {
            back += 1
        }
        let before = old.count - front - back
        let after = new.count - front - back
        if before == 0 || after == 0 {
            if before > 0 { operations.append(.removed(front, count: before)) }
            if after > 0 { operations.append(.inserted(front, count: after)) }
            return
        }
        var first: [RawValue] = []
        var second: [RawValue] = []
        first.reserveCapacity(before)
        second.reserveCapacity(after)
        for index in 0..<before { first.append(try old.value(front + index)) }
        for index in 0..<after { second.append(try new.value(front + index)) }
        replaceOrEdit(first, second, at: front, distanceMax)
    }

    /// Equal numbers of elements of which few differ are taken for assignments.
    private mutating func replaceOrEdit(
        _ first: [RawValue], _ second: [RawValue], at start: Int, _ distanceMax: Int
    ) {
        var replaced = 0
        if first.count == second.count {
            for index in first.indices where !matches(first[index], second[index]) {
                replaced += 1
            }
        } else {
            replaced = Int.max / 2
        }
        let limit = min(distanceMax, replaced * 2 - 1)
        if let script = EditScript.find(first, second, limit: limit, { matches($0, $1) }) {
            return follow(script, first, second, at: start)
        }
        let common = min(first.count, second.count)
        for index in 0..<common where !isKept(first[index], second[index]) {
            operations.append(.replaced(start + index))
        }
        if first.count > common {
            operations.append(.removed(start + common, count: first.count - common))
        }
        if second.count > common {
            operations.append(.inserted(start + common, count: second.count - common))
        }
    }

    private func matches(_ a: RawValue, _ b: RawValue) -> Bool {
        RawIdentity.isKept(a, b, inOneFile: sharesBlocks) || RawIdentity.isSame(a, b)
    }

    private mutating func follow(
        _ script: [EditScript.Step], _ first: [RawValue], _ second: [RawValue], at start: Int
    ) {
        var before = 0
        var after = 0
        for step in script {
            switch step {
            case .keep:
                _ = isKept(first[before], second[after])
                before += 1
                after += 1
            case .remove:
                operations.append(.removed(start + after))
                before += 1
            case .insert:
                operations.append(.inserted(start + after))
                after += 1
            }
        }
    }

    // MARK: Sets and dictionaries

    /// Elements ascend, by value or by key.
    mutating func merge() throws(RealmError) {
        let (front, back) = try sharedEnds()
        let isDictionary = new.layout.type == .dictionary
        let kind = new.infos[0].kind
        var before = front
        var after = front
        let last = old.count - back
        let end = new.count - back
        while before < last || after < end {
            var order = before < last ? -1 : 1
            if before < last, after < end {
                order = CollectionOrder.compare(
                    try old.value(before, 0), try new.value(after, 0), kind)
            }
            if order < 0 {
                let key = isDictionary ? Self.text(try old.value(before, 0)) : nil
                operations.append(.removed(after, key: key))
                before += 1
            } else if order > 0 {
                let key = isDictionary ? Self.text(try new.value(after, 0)) : nil
                operations.append(.inserted(after, key: key))
                after += 1
            } else {
                if !isKept(try old.value(before), try new.value(after)) {
                    let key = isDictionary ? Self.text(try new.value(after, 0)) : nil
                    operations.append(.replaced(after, key: key))
                }
                before += 1
                after += 1
            }
        }
    }

    private static func text(_ key: RawValue) -> String {
        String(decoding: key.bytes, as: UTF8.self)
    }
}

/// The shortest way from one sequence to another by removing and inserting.
enum EditScript {
    enum Step { case keep, remove, insert }

    /// Nil when it takes more than `limit` steps besides keeping. O((n + m) · limit).
    static func find<Element>(
        _ a: [Element], _ b: [Element], limit: Int, _ isEqual: (Element, Element) -> Bool
    ) -> [Step]? {
        let distance = abs(a.count - b.count)
        guard distance <= limit else { return nil }
        let limit = min(limit, a.count + b.count)
        // furthest[k + limit]: how far in `a` a way on diagonal k comes.
        var furthest = [Int](repeating: 0, count: 2 * limit + 2)
        var trace: [[Int]] = []
        for steps in 0...limit {
            trace.append(furthest)
            for diagonal in stride(from: -steps, through: steps, by: 2) {
                let slot = diagonal + limit
                var x: Int
                if diagonal == -steps
                    || (diagonal != steps && furthest[slot - 1] < furthest[slot + 1])
                {
                    x = steps == 0 ? 0 : furthest[slot + 1]
                } else {
                    x = furthest[slot - 1] + 1
                }
                var y = x - diagonal
                while x < a.count, y < b.count, x >= 0, y >= 0, isEqual(a[x], b[y]) {
                    x += 1
                    y += 1
                }
                furthest[slot] = x
                if x >= a.count, y >= b.count {
                    return walkBack(trace, limit, x: a.count, y: b.count)
                }
            }
        }
        return nil
    }

    private static func walkBack(_ trace: [[Int]], _ limit: Int, x: Int, y: Int) -> [Step] {
        var x = x
        var y = y
        var result: [Step] = []
        for steps in stride(from: trace.count - 1, through: 0, by: -1) {
            let furthest = trace[steps]
            let diagonal = x - y
            let slot = diagonal + limit
            var from = 0
            var isInsertion = false
            if steps > 0 {
                isInsertion =
                    diagonal == -steps
                    || (diagonal != steps && furthest[slot - 1] < furthest[slot + 1])
                from = isInsertion ? diagonal + 1 : diagonal - 1
            }
            let startX = steps == 0 ? 0 : furthest[from + limit]
            let startY = steps == 0 ? 0 : startX - from
            // Where the diagonal was entered, it ran from the step's end.
            let entryX = steps == 0 ? 0 : isInsertion ? startX : startX + 1
            while x > entryX {
                result.append(.keep)
                x -= 1
                y -= 1
            }
            if steps > 0 { result.append(isInsertion ? .insert : .remove) }
            x = startX
            y = startY
        }
        return result.reversed()
    }
}
