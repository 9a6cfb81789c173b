// Results of a class with conditions and SORTs that are kept up to date: only objects that changed, or
// whose links in conditions and order lead to one that did, are tested again, taken out from where they
// were and put in where they belong. The work follows the change, not the results.
//
// Where an object was is found by its values in the version before, where it belongs by those in
// the version after: in both, the others stand in the same order.

final class MaintainedResults {
    private let description: ResultsDescription
    private let order: ObjectOrder
    /// Links that conditions and order follow, from the class on.
    private let chains: [[ExpressionStep]]
    private var ordered: OrderedKeys

    var keys: [ObjectKey] { ordered.keys }

    /// Nil for results that depend on more than links to single objects, or on each other. `keys`
    /// are those of a version that the first changes begin at.
    init?(_ description: ResultsDescription, _ keys: [ObjectKey]) {
        guard case .objects = description.source, description.later.isEmpty,
            let order = ObjectOrder(description.first.ordering)
        else { return nil }
        var chains = order.chains
        if let conditions = description.first.conditions {
            guard let followed = conditions.filter.followedLinks() else { return nil }
            chains += followed
        }
        self.description = description
        self.order = order
        self.chains = chains
        ordered = OrderedKeys(keys)
    }

    /// An object that may be elsewhere now.
    private struct Place {
        let key: ObjectKey
        let position: Int
        /// How many of the objects that did not change come before it.
        let rank: Int
    }

    /// The changes for each of the filters; nil, and nothing is done, when so much changed that
    /// finding the results anew is cheaper.
    func changes(
        _ context: ChangeContext, _ filters: [KeyPathFilter?]
    ) throws(RealmError) -> [ElementChanges]? {
        let classKey = description.classKey
        guard !context.summary.changesSchema else { return nil }
        let own = context.changes(of: classKey)
        let most = max(256, ordered.count / 64)
        guard (own?.changedCount ?? 0) <= most else { return nil }
        var touched = own.map { $0.modified.keys + $0.inserted.keys + $0.deleted.keys } ?? []
        for chain in chains {
            touched += try context.leading(to: chain, from: classKey)
        }
        touched = ChangeContext.distinct(touched)
        var modified: [[ObjectKey]] = []
        for filter in filters { modified.append(try context.modified(classKey, filter)) }
        guard touched.count + modified.reduce(0, { $0 + $1.count }) <= most else { return nil }

        var next = ordered
        let left = try takeOut(touched, context.old, &next)
        let entered = try putIn(touched, context.new, &next)
        let stayed = Self.stayed(left, entered, own)
        let kept = Set(stayed.map(\.before))
        var base = ElementChanges()
        base.deletions = IndexRanges(
            unordered: left.map(\.position).filter { !kept.contains($0) })
        let keptAfter = Set(stayed.map(\.after))
        var pairOf: [ObjectKey: (before: Int, after: Int)] = [:]
        for pair in stayed { pairOf[pair.key] = (pair.before, pair.after) }
        let positionsLeft = left.map(\.position)
        let ranksEntered = entered.map(\.rank)
        base.insertions = IndexRanges(
            unordered: entered.map(\.position).filter { !keptAfter.contains($0) })
        var result: [ElementChanges] = []
        for keys in modified {
            var pairs: [(before: Int, after: Int)] = []
            for key in keys {
                if touched.holds(key) {
                    if let pair = pairOf[key] { pairs.append(pair) }
                } else if let before = try position(key, context.old, ordered) {
                    let rank = before - positionsLeft.partitionPoint { $0 < before }
                    pairs.append((before, rank + ranksEntered.partitionPoint { $0 <= rank }))
                }
            }
            pairs.sort { $0.before < $1.before }
            var changes = base
            for pair in pairs {
                changes.modifications.append(pair.before)
                changes.modificationsAfter.append(pair.after)
            }
            result.append(changes)
        }
        ordered = next
        return result
    }

    /// Where an object stands, if it is among the results.
    private func position(
        _ key: ObjectKey, _ tables: TableSet, _ among: OrderedKeys
    ) throws(RealmError) -> Int? {
        let classKey = description.classKey
        guard try tables.table(classKey)?.find(key) != nil else { return nil }
        let standing = try order.standing(key, classKey, tables)
        let index = try among.firstIndex { other throws(RealmError) in
            try order.compare(standing, other, classKey, tables) > 0
        }
        return index < among.count && among[index] == key ? index : nil
    }

    /// Takes out those of the objects that are among the results, in their order.
    private func takeOut(
        _ keys: [ObjectKey], _ tables: TableSet, _ from: inout OrderedKeys
    ) throws(RealmError) -> [Place] {
        var found: [(key: ObjectKey, position: Int)] = []
        for key in keys {
            if let index = try position(key, tables, from) { found.append((key, index)) }
        }
        found.sort { $0.position < $1.position }
        for place in found.reversed() { from.remove(at: place.position) }
        return found.enumerated().map {
            Place(
                key: $0.element.key, position: $0.element.position,
                rank: $0.element.position - $0.offset)
        }
    }

    /// Puts in those of the objects that belong to the results, in their order.
    private func putIn(
        _ keys: [ObjectKey], _ tables: TableSet, _ into: inout OrderedKeys
    ) throws(RealmError) -> [Place] {
        let classKey = description.classKey
        guard let table = tables.table(classKey) else { return [] }
        var passing: [ObjectKey] = []
        for key in keys where try table.find(key) != nil { passing.append(key) }
        if let conditions = description.first.conditions, !passing.isEmpty {
            passing = try conditions.filter(passing, SnapshotReader(tables: tables))
        }
        var standings: [ObjectOrder.Standing] = []
        for key in passing { standings.append(try order.standing(key, classKey, tables)) }
        standings.sort { order.areInOrder($0, $1) }
        var places: [Place] = []
        for (offset, standing) in standings.enumerated() {
            let rank = try into.firstIndex { other throws(RealmError) in
                try order.compare(standing, other, classKey, tables) > 0
            }
            places.append(Place(key: standing.key, position: rank + offset, rank: rank))
        }
        for place in places { into.insert(place.key, at: place.position) }
        return places
    }

    /// Objects that are where they were among those that did not change, and among each other.
    private static func stayed(
        _ left: [Place], _ entered: [Place], _ changes: ClassChanges?
    ) -> [(key: ObjectKey, before: Int, after: Int)] {
        var before: [ObjectKey: Place] = [:]
        for place in left { before[place.key] = place }
        var pairs: [(key: ObjectKey, before: Int, after: Int)] = []
        for place in entered {
            guard let was = before[place.key], was.rank == place.rank,
                // One that went and another that came with its key are two.
                !(changes?.deleted.contains(place.key) ?? false)
            else { continue }
            pairs.append((place.key, was.position, place.position))
        }
        return SequenceDifference.longestAscending(pairs.map(\.before)).map { pairs[$0] }
    }
}

extension ClassChanges {
    fileprivate var changedCount: Int { modified.count + inserted.count + deleted.count }
}

extension FilterProgram {
    /// The links that the conditions follow from an object on, as chains; nil when they ask for more
    /// than what is behind stored links: links from other objects, or what only an evaluation knows.
    func followedLinks() -> [[ExpressionStep]]? {
        var chains: [[ExpressionStep]] = []
        var stack: [(node: Int, before: [ExpressionStep])] = [(root, [])]
        while let (index, before) = stack.popLast() {
            switch nodes[index].test {
            case .and(let parts), .or(let parts):
                for part in self.parts(parts) { stack.append((Int(part), before)) }
            case .path(let linked), .reach(let linked):
                let steps = links(linked)
                guard steps.allSatisfy({ $0.kind != .backlinks }) else { return nil }
                chains.append(before + steps)
                stack.append((Int(linked.test), before + steps))
            case .memberCount(let count):
                guard count.origin == .invalid, count.subquery < 0 else { return nil }
            case .elements(let test, _): stack.append((Int(test), before))
            case .expression: return nil
            case .nothing, .intRange, .doubleRange, .floatRange, .timestampRange, .intSet,
                .doubleSet, .floatSet, .timestampSet, .textSet, .text, .value, .valueSet,
                .mixedText, .words, .object:
                // Of the object itself. A link to an object that goes becomes null, which is a
                // change of the object that has it.
                break
            }
        }
        return chains
    }
}
