// Observers that check what they are told: each keeps what it saw last, applies the change set to that,
// and must get what there is now. Which elements count as modified is found out anew, forwards from
// each element.

import Testing

@testable import CoreSwift

/// What changed between two versions, looked at from the elements.
struct ForwardReach {
    let tables: TableSet
    let summary: ChangeSummary

    /// Whether an object, or one that at most `hops` links lead to, was modified.
    func reaches(_ classKey: ClassKey, _ key: ObjectKey, hops: Int = 3) throws -> Bool {
        if summary.changes(of: classKey)?.modified.contains(key) ?? false { return true }
        if hops == 0 { return false }
        let table = try #require(tables.table(classKey))
        for column in 0..<table.columnCount where !table.columns[column].isVacated {
            for link in try links(classKey, key, column)
            where try reaches(link.linkClass, link.linkTarget, hops: hops - 1) {
                return true
            }
        }
        return false
    }

    /// Whether something changed along a path of stored properties.
    func changed(_ item: ClassSchema, _ key: ObjectKey, along path: ArraySlice<String>) throws
        -> Bool
    {
        guard let name = path.first else { return false }
        let property = try #require(item.property(named: name))
        let changes = summary.changes(of: item.key)
        if changes?.properties.first(where: { $0.property == property.key })?.keys.contains(key)
            ?? false
        {
            return true
        }
        guard let next = tables.schema.class_(named: property.linkTarget) else { return false }
        for link in try links(item.key, key, property.key.column)
        where try changed(next, link.linkTarget, along: path.dropFirst()) {
            return true
        }
        return false
    }

    private func links(_ classKey: ClassKey, _ key: ObjectKey, _ column: Int) throws -> [RawValue] {
        let table = try #require(tables.table(classKey))
        guard let place = try table.find(key) else { return [] }
        var found: [RawValue] = []
        func visit(_ value: RawValue) throws {
            if value.type == ValueType.link.rawValue, !value.isNull { found.append(value) }
            guard let type = NestedCell.type(value),
                var view = CollectionView(table, column, value, type)
            else { return }
            for index in 0..<view.count { try visit(try view.value(index)) }
        }
        let info = table.columns[column]
        if info.kind == .collection {
            var view = try #require(try CollectionView(table, place, column, info.collection))
            for index in 0..<view.count { try visit(try view.value(index)) }
        } else {
            try visit(try table.value(place, key, column))
        }
        return found
    }
}

/// An observer of results or of a collection of links, with what it saw last.
final class ElementReplay {
    let name: String
    let path: [String]?
    /// Elements may be replaced by equal ones, which is told.
    let isCollection: Bool
    private let current: () throws -> [ObjectKey]
    private(set) var state: [ObjectKey]
    private(set) var told: [ElementChanges] = []
    var token: NotificationToken?
    private(set) var callCount = 0
    /// What is observed is not there any more.
    private var isOver = false

    init(
        _ name: String, _ path: [String]?, isCollection: Bool,
        _ current: @escaping () throws -> [ObjectKey]
    ) throws {
        self.name = name
        self.path = path
        self.isCollection = isCollection
        self.current = current
        state = try current()
    }

    func note(_ changes: ElementChanges) {
        told.append(changes)
        callCount += 1
    }

    /// Applies what was told. `isModified` says of an element that is there whether it counts.
    func check(_ isModified: (ObjectKey) throws -> Bool) throws -> String? {
        defer { told = [] }
        if isOver { return told.isEmpty ? nil : "\(name): told after its end" }
        if told.count == 1, told[0].wasDeleted {
            isOver = true
            let isWhole = told[0].deletions.indexes == Array(state.indices)
            return isWhole ? nil : "\(name): it is deleted, and not all elements"
        }
        guard told.count <= 1 else { return "\(name): \(told.count) calls" }
        let changes = told.first ?? ElementChanges()
        let now = try current()
        var next = state
        for index in changes.deletions.indexes.reversed() {
            guard index < next.count else { return "\(name): deletion \(index) of \(next.count)" }
            next.remove(at: index)
        }
        for index in changes.insertions.indexes {
            guard index <= next.count, index < now.count else {
                return "\(name): insertion \(index) of \(now.count)"
            }
            next.insert(now[index], at: index)
        }
        let before = changes.modifications.indexes
        let after = changes.modificationsAfter.indexes
        guard before.count == after.count else { return "\(name): modifications differ" }
        let gone = Set(changes.deletions.indexes)
        let new = Set(changes.insertions.indexes)
        for (index, place) in before.enumerated() {
            guard !gone.contains(place), !new.contains(after[index]) else {
                return "\(name): \(place) is modified and deleted or inserted"
            }
            guard after[index] < next.count, after[index] < now.count,
                next[after[index]] == state[place]
            else { return "\(name): \(place) and \(after[index]) are not one element" }
            // It is read again; what a list has there may be another object now.
            next[after[index]] = now[after[index]]
        }
        guard next == now else {
            return "\(name): \(state) by \(changes) became \(next), is \(now)"
        }
        let modified = Set(after)
        for (index, key) in now.enumerated() where !new.contains(index) && key != Ordering.nullLink
        {
            let expected = try isModified(key)
            if expected && !modified.contains(index) {
                return "\(name): \(key) at \(index) is not told as modified"
            }
            let was = state.count == now.count ? state[index] : nil
            if !expected, !isCollection, modified.contains(index), was == key {
                return "\(name): \(key) at \(index) is told as modified"
            }
        }
        state = now
        return nil
    }
}
