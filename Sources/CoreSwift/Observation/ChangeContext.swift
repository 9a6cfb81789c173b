// What lies between the version that observers heard of last and the one they are going to hear of:
// the change summary, and which objects lead to something that changed. That is found out backwards,
// from what changed along the inverse indexes, and once for all observers.

final class ChangeContext {
    let old: TableSet
    let new: TableSet
    let summary: ChangeSummary
    private var reached: [Place: [ObjectKey]] = [:]
    private var selected: [String: [(property: PropertyKey, keys: [ObjectKey])]] = [:]
    private var related: [ClassKey: Set<ClassKey>] = [:]
    /// Objects that changed or went, of the classes that have changes.
    private let touched: [ClassKey: (modified: KeyRanges, deleted: KeyRanges)]

    private struct Place: Hashable {
        let classKey: ClassKey
        let hops: Int
    }

    /// Links that are followed from an element to what may have changed (docs/NOTIFICATIONS).
    static let hopsMax = 3

    init(from old: TableSet, to new: TableSet) throws(RealmError) {
        self.old = old
        self.new = new
        summary =
            old.version == new.version
            ? ChangeSummary() : try ChangeSummary.make(from: old, to: new)
        var touched: [ClassKey: (modified: KeyRanges, deleted: KeyRanges)] = [:]
        for item in summary.classes { touched[item.classKey] = (item.modified, item.deleted) }
        self.touched = touched
    }

    /// Whether an object changed or went.
    func isTouched(_ classKey: ClassKey, _ key: ObjectKey) -> Bool {
        guard let keys = touched[classKey] else { return false }
        return keys.modified.contains(key) || keys.deleted.contains(key)
    }

    func changes(of classKey: ClassKey) -> ClassChanges? {
        touched[classKey] == nil ? nil : summary.changes(of: classKey)
    }

    /// Whether some object of these classes came, went or changed.
    func touches(_ classes: Set<ClassKey>) -> Bool { !classes.isDisjoint(with: touched.keys) }

    /// Objects of elements that count as modified, ascending: `filter` says through which paths; nil:
    /// by themselves, and by what they lead to.
    func modified(_ classKey: ClassKey, _ filter: KeyPathFilter?) throws(RealmError) -> [ObjectKey]
    {
        if touched.isEmpty { return [] }
        guard let filter else { return try reaching(classKey, Self.hopsMax) }
        var all: [ObjectKey] = []
        for (_, keys) in try modifiedByProperty(filter) { all += keys }
        return Self.distinct(all)
    }

    // MARK: Everything in reach

    /// Objects of a class from which at most `hops` links lead to one that changed, ascending.
    private func reaching(
        _ classKey: ClassKey, _ hops: Int
    ) throws(RealmError) -> [ObjectKey] {
        let place = Place(classKey: classKey, hops: hops)
        if let known = reached[place] { return known }
        let own = changes(of: classKey)?.modified.keys ?? []
        guard hops > 0, let table = new.table(classKey) else {
            reached[place] = own
            return own
        }
        var all = own
        for column in 0..<table.columnCount {
            let info = table.columns[column]
            if info.isVacated { continue }
            switch info.valueKind {
            case .link:
                let targets = try reaching(info.linkTarget, hops - 1)
                all += try sources(table, column, of: targets, in: info.linkTarget)
            case .mixed:
                for target in new.schema.classes where target.kind != .embedded {
                    let targets = try reaching(target.key, hops - 1)
                    all += try sources(table, column, of: targets, in: target.key)
                }
            default: break
            }
        }
        let result = all.count > own.count ? Self.distinct(all) : own
        reached[place] = result
        return result
    }

    /// Objects of a class from which a chain of links leads to, or over, one that changed.
    func leading(
        to chain: [ExpressionStep], from classKey: ClassKey
    ) throws(RealmError) -> [ObjectKey] {
        var behind: [ObjectKey] = []
        for index in chain.indices.reversed() {
            let hop = chain[index]
            behind = Self.distinct(behind + (changes(of: hop.target)?.modified.keys ?? []))
            let start = index == 0 ? classKey : chain[index - 1].target
            guard !behind.isEmpty, let table = new.table(start) else {
                behind = []
                continue
            }
            behind = try sources(table, Int(hop.column), of: behind, in: hop.target)
        }
        return behind
    }

    // MARK: Along paths

    /// Objects that count as modified through each of a filter's first properties.
    func modifiedByProperty(
        _ filter: KeyPathFilter
    ) throws(RealmError) -> [(property: PropertyKey, keys: [ObjectKey])] {
        if let known = selected[filter.spelling] { return known }
        var result: [(property: PropertyKey, keys: [ObjectKey])] = []
        for step in filter.steps {
            let keys = Self.distinct(try modified(filter.classKey, by: step))
            if !keys.isEmpty { result.append((step.property, keys)) }
        }
        selected[filter.spelling] = result
        return result
    }

    /// Objects of a class for which something at a step or behind it changed, in any order.
    private func modified(
        _ classKey: ClassKey, by step: KeyPathFilter.Step
    ) throws(RealmError) -> [ObjectKey] {
        var behind: [ObjectKey] = []
        for next in step.next { behind += try modified(step.target, by: next) }
        behind = Self.distinct(behind)
        switch step.kind {
        case .stored:
            var all = changed(step.property, of: classKey)?.keys ?? []
            if !behind.isEmpty, let table = new.table(classKey) {
                all += try sources(table, step.property.column, of: behind, in: step.target)
            }
            return all
        case .computed(let origin):
            let known = changes(of: step.target)
            guard let changes = known ?? (behind.isEmpty ? nil : ClassChanges(step.target))
            else { return [] }
            let written = changed(origin, of: step.target)?.keys ?? []
            var all: [ObjectKey] = []
            for key in changes.inserted.keys + written + behind {
                all += try targets(of: key, step.target, origin, in: new)
            }
            // Those that lost a linking object, if they are still there.
            for key in changes.deleted.keys + written {
                for target in try targets(of: key, step.target, origin, in: old)
                where try new.table(classKey)?.find(target) != nil {
                    all.append(target)
                }
            }
            return all
        }
    }

    private func changed(_ property: PropertyKey, of classKey: ClassKey) -> KeyRanges? {
        changes(of: classKey)?.properties.first { $0.property == property }?.keys
    }

    // MARK: Links

    /// Objects that link to `targets` through a column, now.
    private func sources(
        _ table: Table, _ column: Int, of targets: [ObjectKey], in target: ClassKey
    ) throws(RealmError) -> [ObjectKey] {
        if targets.isEmpty { return [] }
        if table.columns[column].kind == .link {
            return try Selection.sources(
                TableReader(table: table), column: column, targets: targets, orNull: false)
        }
        var result: [ObjectKey] = []
        for key in targets {
            result += try table.sources(of: key, in: target, column: column)
        }
        return result
    }

    /// Objects that an object links to through a property.
    private func targets(
        of key: ObjectKey, _ classKey: ClassKey, _ property: PropertyKey, in tables: TableSet
    ) throws(RealmError) -> [ObjectKey] {
        guard let table = tables.table(classKey), property.column < table.columnCount,
            let place = try table.find(key)
        else { return [] }
        let info = table.columns[property.column]
        guard info.kind == .collection else {
            let value = try table.value(place, key, property.column)
            return value.type == ValueType.link.rawValue ? [value.linkTarget] : []
        }
        guard var view = try CollectionView(table, place, property.column, info.collection) else {
            return []
        }
        var result: [ObjectKey] = []
        for index in 0..<view.count {
            let value = try view.value(index)
            if value.type == ValueType.link.rawValue { result.append(value.linkTarget) }
        }
        return result
    }

    /// Classes that are connected with a class by links in any direction and over any number of
    /// others: what a query of the class finds depends on no other.
    func related(to classKey: ClassKey) -> Set<ClassKey> {
        if let known = related[classKey] { return known }
        let classes = new.schema.classes
        var found: Set<ClassKey> = [classKey]
        if classes.contains(where: { $0.properties.contains { $0.type == .mixed } }) {
            found.formUnion(classes.map(\.key))
        }
        var grows = true
        while grows {
            grows = false
            for item in classes {
                for name in item.linkTargets {
                    guard let target = new.schema.class_(named: name)?.key,
                        found.contains(target) != found.contains(item.key)
                    else { continue }
                    found.formUnion([target, item.key])
                    grows = true
                }
            }
        }
        related[classKey] = found
        return found
    }

    static func distinct(_ keys: [ObjectKey]) -> [ObjectKey] {
        if keys.count < 2 { return keys }
        var sorted = keys.sorted()
        var count = 1
        for index in 1..<sorted.count where sorted[index] != sorted[count - 1] {
            sorted[count] = sorted[index]
            count += 1
        }
        sorted.removeLast(sorted.count - count)
        return sorted
    }
}
