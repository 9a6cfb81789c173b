// Memory for C handles. Every handle is a slot of 64 bytes, aligned to 64: a tag word that names
// its kind (`HandleKind`), then 56 bytes of payload. Object handles keep raw pointers and numbers
// there; the other kinds keep one retained Swift object in payload word 0.
//
// Taking and giving back a slot works on a list of the calling thread: no lock, no atomic, no
// reference count. Slots may be released on another thread than the one that took them; full
// lists ("batches") travel through a pool behind a lock.
//
// Invariants
// 1. Slabs are never returned to the system, so the tag of a pointer that once was a handle can
//    be read for ever; a released slot has the tag `released` until it is taken again.
// 2. A slot is on exactly one list or in the hands of one caller.
// 3. The lists of a thread are touched by that thread alone, and by its exit hook.
//
// Called by the C ABI and by `Objects`; nothing below knows handles.

import CKernels

package enum HandleSlab {
    package static let slotSize = 64
    package static let payloadOffset = 8

    /// Slots a thread keeps at most in one list; it has two, so that a program that alternates
    /// between taking and releasing at the edge of a batch does not go to the pool each time.
    private static let batchCount = 256
    /// 64 KiB of slots are cut at a time: four batches.
    private static let slabCount = 1024

    /// Slots of one thread; a plain C-like struct behind the thread slot.
    struct ThreadCache {
        var current: UnsafeMutableRawPointer?
        var currentCount: Int
        /// A full batch, or nil.
        var spare: UnsafeMutableRawPointer?
    }

    // MARK: Taking and giving back

    /// A slot with the tag of `kind`; the payload holds garbage.
    @inline(__always)
    package static func allocate(_ kind: HandleKind) -> UnsafeMutableRawPointer {
        if let raw = ck_thread_slot(Int32(CK_SLOT_HANDLES)) {
            let cache = raw.assumingMemoryBound(to: ThreadCache.self)
            if let slot = cache.pointee.current {
                cache.pointee.current = next(of: slot)
                cache.pointee.currentCount &-= 1
                slot.storeBytes(of: kind.tag, as: UInt64.self)
                return slot
            }
        }
        let slot = refill()
        slot.storeBytes(of: kind.tag, as: UInt64.self)
        return slot
    }

    /// Gives a slot back. The payload must have been ended by the caller.
    @inline(__always)
    package static func release(_ slot: UnsafeMutableRawPointer) {
        slot.storeBytes(of: HandleKind.released.tag, as: UInt64.self)
        if let raw = ck_thread_slot(Int32(CK_SLOT_HANDLES)) {
            let cache = raw.assumingMemoryBound(to: ThreadCache.self)
            if cache.pointee.currentCount < batchCount {
                setNext(of: slot, cache.pointee.current)
                cache.pointee.current = slot
                cache.pointee.currentCount &+= 1
                return
            }
        }
        releaseSlowly(slot)
    }

    /// The kind of the handle at `pointer`, or nil when it cannot be a handle.
    ///
    /// Safe for every pointer that was returned by `allocate` at any time, and for nil and
    /// misaligned ones; other pointers must be readable.
    @inline(__always)
    package static func kind(of pointer: UnsafeRawPointer?) -> HandleKind? {
        guard let pointer, UInt(bitPattern: pointer) & 63 == 0 else { return nil }
        return HandleKind(pointer.load(as: UInt64.self))
    }

    /// Whether `pointer` is a live handle of `kind`.
    @inline(__always)
    package static func isHandle(_ pointer: UnsafeRawPointer?, _ kind: HandleKind) -> Bool {
        guard let pointer, UInt(bitPattern: pointer) & 63 == 0 else { return false }
        return pointer.load(as: UInt64.self) == kind.tag
    }

    /// `pointer` as a handle of `kind`, or `.invalidArgument` that says what it is instead.
    @inline(__always)
    package static func check(
        _ pointer: UnsafeRawPointer?, _ kind: HandleKind
    ) throws(RealmError) -> UnsafeMutableRawPointer {
        guard let pointer, UInt(bitPattern: pointer) & 63 == 0,
            pointer.load(as: UInt64.self) == kind.tag
        else { throw mismatch(pointer, kind) }
        return UnsafeMutableRawPointer(mutating: pointer)
    }

    @inline(never)
    static func mismatch(_ pointer: UnsafeRawPointer?, _ kind: HandleKind) -> RealmError {
        let found: String
        if pointer == nil {
            found = "NULL"
        } else {
            found = self.kind(of: pointer)?.name ?? "a pointer that is no handle"
        }
        return RealmError(.invalidArgument, "expected \(kind.name ?? "a handle"), got \(found)")
    }

    // MARK: Handles that hold a Swift object

    /// A handle of `kind` that keeps `object` alive until `releaseObject`.
    package static func allocate(
        _ kind: HandleKind, holding object: consuming AnyObject
    ) -> UnsafeMutableRawPointer {
        let slot = allocate(kind)
        let word = UInt(bitPattern: Unmanaged.passRetained(object).toOpaque())
        slot.storeBytes(of: word, toByteOffset: payloadOffset, as: UInt.self)
        return slot
    }

    /// The object in a checked handle of a kind other than `object`.
    @inline(__always)
    package static func held(by slot: UnsafeRawPointer) -> Unmanaged<AnyObject>? {
        let word = slot.load(fromByteOffset: payloadOffset, as: UInt.self)
        guard let pointer = UnsafeRawPointer(bitPattern: word) else { return nil }
        return Unmanaged<AnyObject>.fromOpaque(pointer)
    }

    /// Gives back a checked handle of a kind other than `object` and lets go of what it held.
    package static func releaseHolding(_ slot: UnsafeMutableRawPointer) {
        let object = held(by: slot)
        // First the slot: the object's end may run callbacks that release handles.
        release(slot)
        object?.release()
    }

    // MARK: Lists and pool

    @inline(__always)
    private static func next(of slot: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
        UnsafeMutableRawPointer(
            bitPattern: slot.load(fromByteOffset: payloadOffset, as: UInt.self))
    }
    @inline(__always)
    private static func setNext(
        of slot: UnsafeMutableRawPointer, _ next: UnsafeMutableRawPointer?
    ) {
        slot.storeBytes(
            of: UInt(bitPattern: next), toByteOffset: payloadOffset, as: UInt.self)
    }

    /// The calling thread's lists, made on first use.
    private static func threadCache() -> UnsafeMutablePointer<ThreadCache> {
        if let raw = ck_thread_slot(Int32(CK_SLOT_HANDLES)) {
            return raw.assumingMemoryBound(to: ThreadCache.self)
        }
        let cache = UnsafeMutablePointer<ThreadCache>.allocate(capacity: 1)
        cache.initialize(to: ThreadCache(current: nil, currentCount: 0, spare: nil))
        ck_set_thread_slot(Int32(CK_SLOT_HANDLES), UnsafeMutableRawPointer(cache))
        ck_thread_slot_on_exit(Int32(CK_SLOT_HANDLES)) { raw in
            guard let raw else { return }
            let cache = raw.assumingMemoryBound(to: ThreadCache.self)
            HandlePool.give(cache.pointee.current, count: cache.pointee.currentCount)
            HandlePool.give(cache.pointee.spare, count: HandleSlab.batchCount)
            cache.deallocate()
        }
        return cache
    }

    /// Takes a slot when the current list is empty: the spare batch, else one of the pool, else
    /// a new slab.
    @inline(never)
    private static func refill() -> UnsafeMutableRawPointer {
        let cache = threadCache()
        if let spare = cache.pointee.spare {
            cache.pointee.spare = nil
            cache.pointee.current = spare
            cache.pointee.currentCount = batchCount
        } else if let (batch, count) = HandlePool.take() {
            cache.pointee.current = batch
            cache.pointee.currentCount = count
        } else {
            cutSlab(into: cache)
        }
        guard let slot = cache.pointee.current else { return refill() }
        cache.pointee.current = next(of: slot)
        cache.pointee.currentCount -= 1
        return slot
    }

    /// Cuts a new slab: one batch for the thread, the others for the pool.
    private static func cutSlab(into cache: UnsafeMutablePointer<ThreadCache>) {
        let slab = UnsafeMutableRawPointer.allocate(
            byteCount: slabCount * slotSize, alignment: slotSize)
        for start in stride(from: 0, to: slabCount, by: batchCount) {
            // Ascending addresses, so that handles taken in a row lie in a row.
            for i in start..<(start + batchCount) {
                let slot = slab + i * slotSize
                slot.storeBytes(of: HandleKind.released.tag, as: UInt64.self)
                setNext(of: slot, i + 1 < start + batchCount ? slot + slotSize : nil)
            }
            if start == 0 {
                cache.pointee.current = slab
                cache.pointee.currentCount = batchCount
            } else {
                HandlePool.give(slab + start * slotSize, count: batchCount)
            }
        }
    }

    @inline(never)
    private static func releaseSlowly(_ slot: UnsafeMutableRawPointer) {
        let cache = threadCache()
        if cache.pointee.currentCount >= batchCount {
            // The list is a full batch: make it the spare, and the spare somebody else's.
            HandlePool.give(cache.pointee.spare, count: HandleSlab.batchCount)
            cache.pointee.spare = cache.pointee.current
            cache.pointee.current = nil
            cache.pointee.currentCount = 0
        }
        setNext(of: slot, cache.pointee.current)
        cache.pointee.current = slot
        cache.pointee.currentCount += 1
    }
}

/// Batches of free slots that belong to no thread. The first slot of a batch keeps the next batch
/// in payload word 1 and its own count in word 2. Guarded by `lock`.
private enum HandlePool {
    /// Never freed: threads may end after everything else. Nil only when memory ran out at start;
    /// then the pool stays unused and slots of dead threads are lost, which is harmless.
    private static let lock: OpaquePointer? = ck_lock_new_for_process()
    nonisolated(unsafe) private static var batches: UnsafeMutableRawPointer?

    static func give(_ batch: UnsafeMutableRawPointer?, count: Int) {
        guard let batch, count > 0, let lock else { return }
        ck_lock_acquire(lock)
        batch.storeBytes(
            of: UInt(bitPattern: batches), toByteOffset: HandleSlab.payloadOffset + 8,
            as: UInt.self)
        batch.storeBytes(of: count, toByteOffset: HandleSlab.payloadOffset + 16, as: Int.self)
        batches = batch
        ck_lock_release(lock)
    }

    static func take() -> (UnsafeMutableRawPointer, Int)? {
        guard let lock else { return nil }
        ck_lock_acquire(lock)
        defer { ck_lock_release(lock) }
        guard let batch = batches else { return nil }
        batches = UnsafeMutableRawPointer(
            bitPattern: batch.load(fromByteOffset: HandleSlab.payloadOffset + 8, as: UInt.self))
        return (batch, batch.load(fromByteOffset: HandleSlab.payloadOffset + 16, as: Int.self))
    }
}
