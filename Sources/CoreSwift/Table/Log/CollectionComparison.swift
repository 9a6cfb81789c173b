// Finds the operations that lead from one content of a collection to another. What both have at the
// beginning and at the end is left out, of large ones leaf by leaf; in between lists are compared by
// the algorithm of Myers ("An O(ND) difference algorithm and its variations", 1986) up to a number
// of differences, and sets and dictionaries, which are in order, by merging. Collections in elements
// are the same if their numbers are, and compared in turn.

struct CollectionComparison {
    /// A collection that differs.
    struct Found {
        var changes: CollectionChanges
        /// The way to it from that of the property, once those around it are as they are afterwards.
        let path: [StandingCollection.Step]
        /// What it holds afterwards.
        let new: ComparedElements
    }

    /// Collections that differ, each behind those that it is in.
    private(set) var found: [Found] = []
    private let how: Comparing

    /// Insertions and removals that are looked for; the work grows with their square.
    private static let distanceMax = 100

    init(_ how: Comparing) { self.how = how }

    /// Whether two contents of one collection differ, themselves or in what they hold.
    mutating func compare(
        _ old: CollectionView, _ new: CollectionView, _ name: CollectionChanges.Name,
        _ path: [StandingCollection.Step] = []
    ) throws(RealmError) -> Bool {
        var pair = Pair(old, try ComparedElements(new, how.match), how)
        let before = found.count
        if how.forApplying, new.layout.type == .list, how.ownsElements(new) {
            try pair.compareOwned()
        } else if new.layout.type == .list {
            try pair.compareLists(Self.distanceMax)
        } else {
            try pair.merge()
        }
        if !pair.operations.isEmpty {
            var changes = CollectionChanges(
                name: name, type: new.layout.type, countBefore: old.count)
            for operation in pair.operations { changes.append(operation) }
            found.append(Found(changes: changes, path: path, new: pair.new))
        }
        for nested in pair.nested {
            guard let type = NestedCell.type(nested.now) else { continue }
            let number = NestedCell.number(nested.now)
            guard let first = CollectionView(old.table, old.column, nested.was, type),
                let second = CollectionView(new.table, new.column, nested.now, type)
            else { continue }
            var key: String?
            if new.layout.type == .dictionary { key = try pair.key(nested.index) }
            _ = try compare(
                first, second,
                CollectionChanges.Name(key: name.key, property: name.property, number: number),
                path + [StandingCollection.Step(index: nested.index, key: key)])
        }
        return found.count > before
    }
}

/// How two versions or files are compared.
struct Comparing {
    /// Equal references name equal blocks: both are versions of one file.
    let sharesBlocks: Bool
    /// Which objects are the same, of two files that do not have the same keys.
    var match: ObjectMatch?
    /// What is found is to be applied. Embedded objects of a list that changed their order are moved
    /// then, as nothing can take them out and put them in again.
    var forApplying = false

    /// Whether the elements of a collection are embedded objects.
    func ownsElements(_ view: CollectionView) -> Bool {
        let info = view.layout.valueInfo
        return info.kind == .link && view.table.table(info.linkTarget)?.isEmbedded ?? false
    }
}

/// The elements of a collection as they are to be in the file that is compared with.
struct ComparedElements {
    private var view: CollectionView
    private let match: ObjectMatch?
    /// Of a set with links that have other keys there: the elements in the order that they then have.
    private var sorted: [RawValue]?

    init(_ view: CollectionView, _ match: ObjectMatch?) throws(RealmError) {
        self.view = view
        self.match = match
        guard let match, view.layout.type == .set, view.layout.valueInfo.kind.holdsLinks else {
            return
        }
        var values: [RawValue] = []
        for index in 0..<view.count { values.append(match.translated(try self.view.value(index))) }
        let kind = view.layout.valueInfo.kind
        sorted = values.sortedFew { CollectionOrder.compare($0, $1, kind) < 0 }
    }

    var count: Int { view.count }
    var layout: ElementLayout { view.layout }
    var table: Table { view.table }
    var column: Int { view.column }

    mutating func value(_ index: Int) throws(RealmError) -> RawValue {
        if let sorted { return sorted[index] }
        let value = try view.value(index)
        return match?.translated(value) ?? value
    }

    /// The key of an element of a dictionary.
    mutating func key(_ index: Int) throws(RealmError) -> RawValue { try view.value(index, 0) }

    func leafReferences() throws(RealmError) -> [(name: BlockName, count: Int)] {
        try view.leafReferences()
    }
}

/// Two contents of one collection.
private struct Pair {
    private var old: CollectionView
    private(set) var new: ComparedElements
    private let sharesBlocks: Bool
    private(set) var operations: [CollectionOperation] = []
    /// Collections in elements, which may differ, with their position afterwards.
    private(set) var nested: [(was: RawValue, now: RawValue, index: Int)] = []

    init(_ old: CollectionView, _ new: ComparedElements, _ how: Comparing) {
        self.old = old
        self.new = new
        sharesBlocks = how.sharesBlocks
    }

    /// The key of an element of a dictionary.
    mutating func key(_ index: Int) throws(RealmError) -> String { Self.text(try new.key(index)) }

    /// Whether an element stayed what it is, at `index` afterwards.
    private mutating func isKept(_ was: RawValue, _ now: RawValue, _ index: Int) -> Bool {
        if RawIdentity.isKept(was, now, inOneFile: sharesBlocks) {
            if !sharesBlocks || !RawIdentity.isSame(was, now) { nested.append((was, now, index)) }
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
        while front + back < shortest, isKept(try old.value(front), try new.value(front), front) {
            front += 1
        }
        while front + back < shortest {
            let last = new.count - 1 - back
            guard isKept(try old.value(old.count - 1 - back), try new.value(last), last) else {
                break
            }
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
        for index in 0..<common where !isKept(first[index], second[index], start + index) {
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
                _ = isKept(first[before], second[after], start + after)
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

    // MARK: Embedded objects

    /// Elements that go, come and are moved: each of them is there once.
    mutating func compareOwned() throws(RealmError) {
        var current: [ObjectKey] = []
        var wanted: [ObjectKey] = []
        for index in 0..<old.count { current.append(try old.value(index).linkTarget) }
        for index in 0..<new.count { wanted.append(try new.value(index).linkTarget) }
        if current == wanted { return }
        let there = Set(wanted)
        for index in current.indices.reversed() where !there.contains(current[index]) {
            operations.append(.removed(index))
            current.remove(at: index)
        }
        let known = Set(current)
        for (index, key) in wanted.enumerated() {
            if index < current.count, current[index] == key { continue }
            guard known.contains(key) else {
                operations.append(.inserted(index))
                current.insert(key, at: index)
                continue
            }
            // One that is to stand further behind makes way to where it may stay.
            let other = current[index]
            if index + 1 < current.count, current[index + 1] == key {
                let end = current.count - 1
                operations.append(CollectionOperation(kind: .moved, index: index, destination: end))
                current.remove(at: index)
                current.append(other)
            } else if let from = current[index...].firstIndex(of: key) {
                operations.append(
                    CollectionOperation(kind: .moved, index: from, destination: index))
                current.remove(at: from)
                current.insert(key, at: index)
            }
        }
    }

    // MARK: Sets and dictionaries

    /// Elements ascend, by value or by key.
    mutating func merge() throws(RealmError) {
        let (front, back) = try sharedEnds()
        let isDictionary = new.layout.type == .dictionary
        let kind = new.layout.infos[0].kind
        var before = front
        var after = front
        let last = old.count - back
        let end = new.count - back
        while before < last || after < end {
            var order = before < last ? -1 : 1
            if before < last, after < end {
                order = CollectionOrder.compare(
                    try old.value(before, 0),
                    isDictionary ? try new.key(after) : try new.value(after), kind)
            }
            if order < 0 {
                let key = isDictionary ? Self.text(try old.value(before, 0)) : nil
                operations.append(.removed(after, key: key))
                before += 1
            } else if order > 0 {
                let key = isDictionary ? Self.text(try new.key(after)) : nil
                operations.append(.inserted(after, key: key))
                after += 1
            } else {
                if !isKept(try old.value(before), try new.value(after), after) {
                    let key = isDictionary ? Self.text(try new.key(after)) : nil
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
