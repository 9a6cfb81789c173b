// Reading change sets. None of these calls fails: of what is no change set, nothing is said.

import CKernels
import CRealm
import CoreSwift

private func changesHeld<Changes: Sendable>(
    _ handle: OpaquePointer?, _ kind: HandleKind, as type: Changes.Type
) -> Changes? {
    (try? held(handle, kind, as: ChangesObject<Changes>.self))?.changes
}

private func elementChanges(_ handle: OpaquePointer?) -> ElementChanges? {
    changesHeld(handle, .collectionChanges, as: ElementChanges.self)
}

// MARK: Objects

/// Whether the object was deleted.
@c @implementation
public func realm_object_changes_is_deleted(_ changes: OpaquePointer?) -> Bool {
    changesHeld(changes, .objectChanges, as: ObjectChanges.self)?.isDeleted ?? false
}

/// How many properties changed.
@c @implementation
public func realm_object_changes_get_num_modified_properties(_ changes: OpaquePointer?) -> Int {
    changesHeld(changes, .objectChanges, as: ObjectChanges.self)?.properties.count ?? 0
}

/// Copies at most `max` keys of changed properties, in the order of columns; returns how many, or
/// with `out_modified` NULL the total.
@c @implementation
public func realm_object_changes_get_modified_properties(
    _ changes: OpaquePointer?, _ out_modified: UnsafeMutablePointer<realm_property_key_t>?,
    _ max: Int
) -> Int {
    guard let found = changesHeld(changes, .objectChanges, as: ObjectChanges.self) else { return 0 }
    guard let out_modified else { return found.properties.count }
    return copy(found.properties, out_modified, max) { $0.rawValue }
}

/// How many of `count` there is room for; a size_t above what an Int holds is room enough.
private func fits(_ count: Int, _ room: Int) -> Int { room < 0 ? count : min(count, room) }

/// Copies as many as there is room for; tells how many those are.
@discardableResult
private func copy<Source, Target>(
    _ items: [Source], _ out: UnsafeMutablePointer<Target>?, _ room: Int,
    _ made: (Source) -> Target
) -> Int {
    guard let out else { return 0 }
    let count = fits(items.count, room)
    for index in 0..<count { out[index] = made(items[index]) }
    return count
}

// MARK: Lists, sets, results

/// Counts deleted, inserted, modified and moved elements.
@c @implementation
public func realm_collection_changes_get_num_changes(
    _ changes: OpaquePointer?, _ out_num_deletions: UnsafeMutablePointer<Int>?,
    _ out_num_insertions: UnsafeMutablePointer<Int>?,
    _ out_num_modifications: UnsafeMutablePointer<Int>?,
    _ out_num_moves: UnsafeMutablePointer<Int>?,
    _ out_collection_was_cleared: UnsafeMutablePointer<Bool>?,
    _ out_collection_was_deleted: UnsafeMutablePointer<Bool>?
) {
    let found = elementChanges(changes) ?? ElementChanges()
    out_num_deletions?.pointee = found.deletions.count
    out_num_insertions?.pointee = found.insertions.count
    out_num_modifications?.pointee = found.modifications.count
    out_num_moves?.pointee = found.moves.count
    out_collection_was_cleared?.pointee = found.wasCleared
    out_collection_was_deleted?.pointee = found.wasDeleted
}

/// Counts runs of deleted, inserted and modified indices, and moves.
@c @implementation
public func realm_collection_changes_get_num_ranges(
    _ changes: OpaquePointer?, _ out_num_deletion_ranges: UnsafeMutablePointer<Int>?,
    _ out_num_insertion_ranges: UnsafeMutablePointer<Int>?,
    _ out_num_modification_ranges: UnsafeMutablePointer<Int>?,
    _ out_num_moves: UnsafeMutablePointer<Int>?
) {
    let found = elementChanges(changes) ?? ElementChanges()
    out_num_deletion_ranges?.pointee = found.deletions.ranges.count
    out_num_insertion_ranges?.pointee = found.insertions.ranges.count
    out_num_modification_ranges?.pointee = found.modifications.ranges.count
    out_num_moves?.pointee = found.moves.count
}

private func copy(_ indexes: IndexRanges, _ out: UnsafeMutablePointer<Int>?, _ room: Int) {
    guard let out else { return }
    let count = fits(indexes.count, room)
    var place = 0
    for range in indexes.ranges {
        for index in range {
            if place == count { return }
            out[place] = index
            place += 1
        }
    }
}

private func copy(
    _ indexes: IndexRanges, _ out: UnsafeMutablePointer<realm_index_range_t>?, _ room: Int
) {
    copy(indexes.ranges, out, room) {
        realm_index_range_t(from: $0.lowerBound, to: $0.upperBound)
    }
}

private func copy(
    _ moves: [ElementChanges.Move], _ out: UnsafeMutablePointer<realm_collection_move_t>?,
    _ room: Int
) {
    copy(moves, out, room) { realm_collection_move_t(from: $0.from, to: $0.to) }
}

/// Copies indices of deleted, inserted, modified and moved elements, as many as there is room for:
/// deletions, modifications and starts of moves as they were before the change, the others as they
/// are after it.
@c @implementation
public func realm_collection_changes_get_changes(
    _ changes: OpaquePointer?, _ out_deletion_indices: UnsafeMutablePointer<Int>?,
    _ max_deletion_indices: Int, _ out_insertion_indices: UnsafeMutablePointer<Int>?,
    _ max_insertion_indices: Int, _ out_modification_indices: UnsafeMutablePointer<Int>?,
    _ max_modification_indices: Int, _ out_modification_indices_after: UnsafeMutablePointer<Int>?,
    _ max_modification_indices_after: Int,
    _ out_moves: UnsafeMutablePointer<realm_collection_move_t>?, _ max_moves: Int
) {
    guard let found = elementChanges(changes) else { return }
    copy(found.deletions, out_deletion_indices, max_deletion_indices)
    copy(found.insertions, out_insertion_indices, max_insertion_indices)
    copy(found.modifications, out_modification_indices, max_modification_indices)
    copy(
        found.modificationsAfter, out_modification_indices_after, max_modification_indices_after)
    copy(found.moves, out_moves, max_moves)
}

/// Copies runs of deleted, inserted and modified indices, and moves, as many as there is room for.
@c @implementation
public func realm_collection_changes_get_ranges(
    _ changes: OpaquePointer?, _ out_deletion_ranges: UnsafeMutablePointer<realm_index_range_t>?,
    _ max_deletion_ranges: Int, _ out_insertion_ranges: UnsafeMutablePointer<realm_index_range_t>?,
    _ max_insertion_ranges: Int,
    _ out_modification_ranges: UnsafeMutablePointer<realm_index_range_t>?,
    _ max_modification_ranges: Int,
    _ out_modification_ranges_after: UnsafeMutablePointer<realm_index_range_t>?,
    _ max_modification_ranges_after: Int,
    _ out_moves: UnsafeMutablePointer<realm_collection_move_t>?, _ max_moves: Int
) {
    guard let found = elementChanges(changes) else { return }
    copy(found.deletions, out_deletion_ranges, max_deletion_ranges)
    copy(found.insertions, out_insertion_ranges, max_insertion_ranges)
    copy(found.modifications, out_modification_ranges, max_modification_ranges)
    copy(found.modificationsAfter, out_modification_ranges_after, max_modification_ranges_after)
    copy(found.moves, out_moves, max_moves)
}

// MARK: Dictionaries

/// Counts deleted, inserted and modified keys.
@c @implementation
public func realm_dictionary_get_changes(
    _ changes: OpaquePointer?, _ out_deletions_size: UnsafeMutablePointer<Int>?,
    _ out_insertion_size: UnsafeMutablePointer<Int>?,
    _ out_modification_size: UnsafeMutablePointer<Int>?,
    _ out_was_deleted: UnsafeMutablePointer<Bool>?
) {
    let found = changesHeld(changes, .dictionaryChanges, as: KeyTexts.self)
    out_deletions_size?.pointee = found?.deletions.count ?? 0
    out_insertion_size?.pointee = found?.insertions.count ?? 0
    out_modification_size?.pointee = found?.modifications.count ?? 0
    out_was_deleted?.pointee = found?.wasDeleted ?? false
}

/// Copies deleted, inserted and modified keys in their order. Of each group the size is how much room
/// there is, and then how many keys were copied: all of them, or none when they do not fit. Texts
/// live as long as the change set.
@c @implementation
public func realm_dictionary_get_changed_keys(
    _ changes: OpaquePointer?, _ deletions: UnsafeMutablePointer<realm_value_t>?,
    _ deletions_size: UnsafeMutablePointer<Int>?,
    _ insertions: UnsafeMutablePointer<realm_value_t>?,
    _ insertions_size: UnsafeMutablePointer<Int>?,
    _ modifications: UnsafeMutablePointer<realm_value_t>?,
    _ modification_size: UnsafeMutablePointer<Int>?,
    _ collection_was_cleared: UnsafeMutablePointer<Bool>?
) {
    let found = changesHeld(changes, .dictionaryChanges, as: KeyTexts.self)
    KeyTexts.copy(found?.deletions ?? [], deletions, deletions_size)
    KeyTexts.copy(found?.insertions ?? [], insertions, insertions_size)
    KeyTexts.copy(found?.modifications ?? [], modifications, modification_size)
    collection_was_cleared?.pointee = found?.wasCleared ?? false
}

/// The keys of a change set as texts that stay where they are; it is shared by the clones of its
/// handle, which may be on several threads.
final class KeyTexts: @unchecked Sendable {
    fileprivate let deletions: [realm_value_t]
    fileprivate let insertions: [realm_value_t]
    fileprivate let modifications: [realm_value_t]
    fileprivate let wasCleared: Bool
    fileprivate let wasDeleted: Bool
    private let memory: UnsafeMutableRawPointer

    init(_ changes: KeyChanges) {
        let all = changes.deletions + changes.insertions + changes.modifications
        // One spare byte, so that the empty key has an address, too.
        memory = .allocate(byteCount: all.reduce(1) { $0 + $1.utf8.count }, alignment: 1)
        var place = memory
        func texts(_ keys: [String]) -> [realm_value_t] {
            keys.map { key in
                var value = realm_value_t()
                value.type = RLM_TYPE_STRING
                let start = place
                for byte in key.utf8 {
                    place.storeBytes(of: byte, as: UInt8.self)
                    place += 1
                }
                value.string = realm_string_t(
                    data: UnsafePointer(start.assumingMemoryBound(to: CChar.self)),
                    size: key.utf8.count)
                return value
            }
        }
        deletions = texts(changes.deletions)
        insertions = texts(changes.insertions)
        modifications = texts(changes.modifications)
        wasCleared = changes.wasCleared
        wasDeleted = changes.wasDeleted
    }

    deinit { memory.deallocate() }

    fileprivate static func copy(
        _ keys: [realm_value_t], _ out: UnsafeMutablePointer<realm_value_t>?,
        _ size: UnsafeMutablePointer<Int>?
    ) {
        guard let out, let size else { return }
        let fits = keys.count <= size.pointee || size.pointee < 0
        if fits {
            for (index, key) in keys.enumerated() { out[index] = key }
        }
        size.pointee = fits ? keys.count : 0
    }
}
