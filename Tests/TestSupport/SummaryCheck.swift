// Whether a summary of changes says what lies between two models of stored data.

@testable import CoreSwift

struct SummaryCheck {
    let before: ReplayModel
    let after: ReplayModel
    let schema: Schema
    /// Names what also may be told: properties set to the value they had, keys deleted and created
    /// again.
    var isLog = false

    private func property(_ classKey: ClassKey, _ column: Int) -> PropertyKey {
        schema.class_(classKey)?.columns.first { $0.key.column == column }?.key ?? .invalid
    }

    /// What is wrong with the summary.
    func problems(_ summary: ChangeSummary) -> [String] {
        var problems: [String] = []
        for (link, was) in before.objects {
            let changes = summary.changes(of: link.classKey)
            let key = link.objectKey
            guard let now = after.objects[link] else {
                if changes?.deleted.contains(key) != true { problems.append("\(link) not deleted") }
                if changes?.inserted.contains(key) == true { problems.append("\(link) inserted") }
                if changes?.modified.contains(key) == true { problems.append("\(link) modified") }
                continue
            }
            let isAnother = changes.map { $0.deleted.contains(key) && $0.inserted.contains(key) }
            if isAnother == true {
                if !isLog { problems.append("\(link) replaced") }
                continue
            }
            if changes?.deleted.contains(key) == true { problems.append("\(link) deleted") }
            if changes?.inserted.contains(key) == true { problems.append("\(link) inserted") }
            problems += compare(link, was, now, changes)
        }
        for link in after.objects.keys where before.objects[link] == nil {
            let changes = summary.changes(of: link.classKey)
            let key = link.objectKey
            if changes?.inserted.contains(key) != true { problems.append("\(link) not inserted") }
            if changes?.deleted.contains(key) == true { problems.append("\(link) deleted") }
            if changes?.modified.contains(key) == true { problems.append("\(link) modified") }
        }
        for changes in summary.classes {
            if changes.inserted.count > after.objects.count {
                problems.append("\(changes.inserted.count) inserted")
            }
            changes.deleted.forEach { key in
                if before.objects[Link(changes.classKey, key)] == nil {
                    problems.append("\(key) deleted and never there")
                }
            }
            changes.modified.forEach { key in
                if changes.properties(of: key).isEmpty {
                    problems.append("\(key) modified in nothing")
                }
                if before.objects[Link(changes.classKey, key)] == nil {
                    problems.append("\(key) modified and never there")
                }
            }
            for item in changes.collections where !changes.modified.contains(item.name.key) {
                problems.append("collection of unmodified \(item.name.key)")
            }
        }
        return problems
    }

    private func compare(
        _ link: Link, _ was: [StoredValue], _ now: [StoredValue], _ changes: ClassChanges?
    ) -> [String] {
        var problems: [String] = []
        let told = changes?.properties(of: link.objectKey) ?? []
        if told.isEmpty == (changes?.modified.contains(link.objectKey) ?? false) {
            problems.append("\(link) is modified in \(told)")
        }
        for column in now.indices {
            let property = property(link.classKey, column)
            let isTold = told.contains(property)
            if was[column] == now[column] {
                if isTold, !isLog, !holdsCollections(now[column], property, link) {
                    problems.append("\(link) column \(column) is equal")
                }
                continue
            }
            guard isTold else {
                problems.append(
                    "\(link) column \(column) not told: \(was[column]) now \(now[column])")
                continue
            }
            guard case .collection(let type, _, let old) = was[column],
                case .collection(type, _, let new) = now[column],
                let changes
            else { continue }
            let own = changes.collections.filter {
                $0.name.key == link.objectKey && $0.name.property == property
            }
            for item in own where item.name.number == .none {
                problems += leads(item, old, new).map { "\(link) column \(column): \($0)" }
            }
            let info = schema.class_(link.classKey)?.columns[column]
            if own.isEmpty, info?.collection != CollectionType.none {
                problems.append("\(link) \(property): no operations")
            }
        }
        return problems
    }

    /// Whether collections are in the value: in the place of one there may be another one with the same elements,
    /// which is not the same (`CollectionNumber`).
    private func holdsCollections(
        _ value: StoredValue, _ property: PropertyKey, _ link: Link
    ) -> Bool {
        guard case .collection(_, _, let elements) = value else { return false }
        let info = schema.class_(link.classKey)?.columns[property.column]
        return info?.collection == CollectionType.none
            || elements.contains { if case .collection = $0 { true } else { false } }
    }

    /// Whether the operations lead from the old elements to the new ones.
    private func leads(
        _ changes: CollectionChanges, _ old: [StoredValue], _ new: [StoredValue]
    ) -> [String] {
        if changes.countBefore != old.count {
            return ["\(changes.countBefore) elements before, not \(old.count)"]
        }
        var elements: [StoredValue?] = old
        for operation in changes.operations {
            guard operation.apply(to: &elements) else {
                return ["\(operation) does not fit \(elements.count) elements"]
            }
        }
        guard elements.count == new.count else {
            return ["\(elements.count) elements after, not \(new.count): \(changes)"]
        }
        for (index, element) in elements.enumerated() {
            guard let element, element != new[index] else { continue }
            // One that is itself a collection stays the same whatever happens in it.
            if case .collection = element, case .collection = new[index] { continue }
            return ["element \(index) is \(new[index]), was \(element): \(changes)"]
        }
        return []
    }
}

extension CollectionOperation {
    /// Does it; elements that come, or get another value, are nil. False when it does not fit.
    func apply<Element>(to elements: inout [Element?]) -> Bool {
        switch kind {
        case .inserted:
            guard index <= elements.count else { return false }
            elements.insert(contentsOf: [Element?](repeating: nil, count: count), at: index)
        case .removed:
            guard index + count <= elements.count else { return false }
            elements.removeSubrange(index..<index + count)
        case .replaced:
            guard index + count <= elements.count else { return false }
            for place in index..<index + count { elements[place] = nil }
        case .moved:
            guard max(index, destination) < elements.count else { return false }
            elements.insert(elements.remove(at: index), at: destination)
        case .cleared:
            guard elements.count == count else { return false }
            elements = []
        }
        return true
    }
}
