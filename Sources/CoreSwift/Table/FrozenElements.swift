// The elements of a collection of a frozen realm, which several threads may read at once: its view
// and, once it was read often, the directory of its leaves. Both are made by the thread that needs
// them first and published with one atomic exchange; afterwards nothing changes any more.
//
// One for each `RealmCollection` of a frozen realm, which ends it when nobody reads any more.

import CKernels

struct FrozenElements {
    private struct State {
        /// Pointers to a `CollectionView` and to a `CollectionDirectory`; 0 = not made yet.
        var view: UInt64 = 0
        var directory: UInt64 = 0
        /// Elements read by position; counts only until there is a directory, and not exactly.
        var reads: UInt64 = 0
    }

    private let state: UnsafeMutablePointer<State>

    init() {
        state = .allocate(capacity: 1)
        state.initialize(to: State())
    }

    func deallocate() {
        if let view: UnsafeMutablePointer<CollectionView> = Self.pointer(state.pointee.view) {
            view.deinitialize(count: 1)
            view.deallocate()
        }
        if let known: UnsafeMutablePointer<CollectionDirectory> =
            Self.pointer(state.pointee.directory)
        {
            known.pointee.deallocate()
            known.deallocate()
        }
        state.deallocate()
    }

    private static func pointer<T>(_ word: UInt64) -> UnsafeMutablePointer<T>? {
        UnsafeMutablePointer(bitPattern: UInt(word))
    }

    /// The view, once `share` has made it.
    private var known: UnsafeMutablePointer<CollectionView>? {
        Self.pointer(ck_load_u64(&state.pointee.view))
    }

    /// Makes the view, unless some thread has.
    @inline(__always)
    func share(
        _ make: () throws(RealmError) -> CollectionView
    ) throws(RealmError) {
        if known != nil { return }
        let made = UnsafeMutablePointer<CollectionView>.allocate(capacity: 1)
        do throws(RealmError) {
            made.initialize(to: try make())
        } catch {
            made.deallocate()
            throw error
        }
        if ck_cas_u64(&state.pointee.view, 0, UInt64(UInt(bitPattern: made))) { return }
        made.deinitialize(count: 1)
        made.deallocate()
    }

    /// A copy of the view, which is there, as are the following.
    var view: CollectionView { known.unsafelyUnwrapped.pointee }
    var count: Int { known.unsafelyUnwrapped.pointee.count }
    var infos: UnsafeMutablePointer<ColumnInfo> { known.unsafelyUnwrapped.pointee.infos }

    /// Element `index` of the view, which is there.
    @inline(__always)
    func value(_ index: Int, _ column: Int) throws(RealmError) -> RawValue {
        let view = known.unsafelyUnwrapped
        if let known: UnsafeMutablePointer<CollectionDirectory> =
            Self.pointer(ck_load_u64(&state.pointee.directory))
        {
            return try view.pointee.value(index, column, known.pointee)
        }
        if let value = view.pointee.smallValue(index, column) { return value }
        return try valueSlowly(index, column, view)
    }

    /// Descents that a directory pays after.
    private static let readsMin: UInt64 = 16

    @inline(never)
    private func valueSlowly(
        _ index: Int, _ column: Int, _ view: UnsafeMutablePointer<CollectionView>
    ) throws(RealmError) -> RawValue {
        // A copy, whose finger is this call's alone.
        var copy = view.pointee
        guard ck_add_u64(&state.pointee.reads, 1) >= Self.readsMin,
            let made = try copy.makeDirectory()
        else { return try copy.value(index, column) }
        let known = UnsafeMutablePointer<CollectionDirectory>.allocate(capacity: 1)
        known.initialize(to: made)
        if !ck_cas_u64(&state.pointee.directory, 0, UInt64(UInt(bitPattern: known))) {
            known.pointee.deallocate()
            known.deallocate()
        }
        return try copy.value(index, column)
    }
}
