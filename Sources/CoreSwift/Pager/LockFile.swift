// The lock file beside a realm file: what the processes that have the file open share. It holds no
// data that matters once nobody has the file open; the first to open rewrites it.
//
//   offset  size  field
//        0     8  magic "RealmLck"
//        8     4  layout version
//       12     4  session: 1 = in-memory
//       16    16  id of the realm file
//       32     8  committed version                    (atomic)
//       40     8  pages of the realm file              (atomic)
//       48     8  committed version, if it is not yet synced, else 0; with bit 63 its maker began to
//                 sync it, with bit 62 somebody else did; either may have failed (atomic)
//       56     8  reader slots the file has room for   (atomic)
//       64     8  reader slots ever used               (atomic)
//       72     8  commit signal: grows with each commit, and now and then besides (atomic)
//       80     8  device of the realm file
//       88     8  inode of the realm file
//       96     8  grows when somebody needs the change log; 0 = nobody does (atomic)
//      104     8  who waits for the commit signal: see LockFile+Signal.swift (atomic)
//      112    96  where the roots of versions are: see LockFile+Root.swift (atomic)
//     4096  8192  process records: 1,024 x process id (8), 0 = free
//    12288        reader slots: {owner's record + 1 (8), version (8)}, 0 = free / no version. With
//                 bit 63 the version is not pinned: its owner needs the change log of later ones
//
// Locked bytes (they lie far behind the end of the file):
//   2^40       opening and closing, exclusive and brief
//   2^40 + 1   session: shared by everyone who has the file open; exclusive = nobody else has
//   2^40 + 2   writer
//   2^40 + 16 + n   process record n, held for the life of the store that owns it
//
// Invariants
//  1. A reader slot belongs to the store that holds the lock of its owner's record. Only that store,
//     or whoever holds the record's lock after its death, changes the slot.
//  2. Only the holder of the writer lock changes the committed version, and it grows.
//  3. A store that reads version v has a slot with v, published before it saw that v was still the
//     committed version. So a writer that scans the slots after committing v + 1 sees it; until
//     then the writer spares the committed version anyway.
//
// `Store` serialises the calls of one process with its mutex, except those on the atomic words.

import CKernels

final class LockFile {
    private static let magic: UInt64 = 0x6B63_4C6D_6C61_6552  // "RealmLck"
    static let layoutVersion: UInt32 = 6
    static let sessionInMemory: UInt32 = 1
    private static let syncingBit: UInt64 = 1 << 63
    private static let takenBit: UInt64 = 1 << 62
    private static let recordsOffset = 4096
    static let recordCount = 1024
    private static let slotsOffset = 12288
    private static let slotBytes = 16
    /// 16,384 pinned versions over all processes.
    static let slotCountMax = 16384
    private static let slotsPerPage = Page.size / slotBytes
    private static let bytesMax = slotsOffset + slotCountMax * slotBytes

    static let byteOpen: Int64 = 1 << 40
    static let byteSession: Int64 = 1 << 40 + 1
    private static let byteWriter: Int64 = 1 << 40 + 2
    private static let byteRecords: Int64 = 1 << 40 + 16

    /// Nil for files that nobody changes.
    let file: OpenFile?
    private let memory: UnsafeMutableRawPointer
    private let bytes: Int
    private(set) var record = -1
    /// Slots that belong to this store and hold no version now.
    private var spareSlots: [Int] = []
    /// The last version made by this store whose maker has realms of the process look at it; atomic.
    private let told: UnsafeMutablePointer<UInt64> = {
        let word = UnsafeMutablePointer<UInt64>.allocate(capacity: 1)
        word.initialize(to: 0)
        return word
    }()

    let path: String
    /// Which file the lock file itself is.
    let identity: FileIdentity

    /// Opens (creating if needed) the lock file and takes the lock for opening and closing.
    init(beside path: String, files: FileSystem) throws(RealmError) {
        self.path = path + ".lock"
        // Mapped through a descriptor of its own: a mapping keeps the open file description alive,
        // and the locks of `file` must go when its descriptor is closed, also in forked children.
        let (file, mapped, identity) = try Self.enter(
            self.path, .create, files, for: path)
        self.identity = identity
        var code: Int32 = 0
        guard let memory = files.mapShared(mapped.descriptor, Self.bytesMax, &code) else {
            throw FileErrors.make(Int(code), "map the lock file", self.path)
        }
        mapped.close()
        self.file = file
        self.memory = memory
        bytes = Self.bytesMax
        file.closeInForkedChildren()
    }

    /// Stands in for the lock file of a file that nobody changes: private memory.
    init(privateFor header: FileHeader, pages: UInt64, path: String) {
        self.path = path
        file = nil
        identity = FileIdentity()
        bytes = Self.slotsOffset
        memory = .allocate(byteCount: bytes, alignment: 8)
        memory.initializeMemory(as: UInt8.self, repeating: 0, count: bytes)
        publish(version: header.version, pages: pages, header.root, header.slot)
    }

    deinit {
        told.deallocate()
        if let file {
            closeDescriptor()
            _ = file.files.unmap(memory, bytes)
        } else {
            memory.deallocate()
        }
    }

    /// Who cuts the lock file takes the realm file's users apart, which is no better than cutting that.
    func watch(with mapping: PageMapping) {
        guard file != nil else { return }
        ck_watch_mapping(memory, bytes, true, mapping.cut, mapping.source.mappedPages)
    }

    /// Before the mapping goes.
    func unwatch() { if file != nil { ck_unwatch_mapping(memory) } }

    /// Removes it with the in-memory realm that it was for. The caller holds the lock for opening and is
    /// alone in the session; whoever waits for the lock begins again with a new file (`enter`).
    func remove() { if let file { _ = file.files.remove(path) } }

    /// Gives up all locks by closing the file. The memory stays readable.
    func closeDescriptor() { file?.close() }

    @inline(__always) func word(_ offset: Int) -> UnsafeMutablePointer<UInt64> {
        (memory + offset).assumingMemoryBound(to: UInt64.self)
    }

    // MARK: Shared words

    var committedVersionWord: UnsafeMutablePointer<UInt64> { word(32) }
    var committedVersion: UInt64 { ck_load_u64(committedVersionWord) }
    var filePages: UInt64 { ck_load_u64(word(40)) }
    /// The committed version while it may not be on stable storage, else 0.
    var unsyncedVersion: UInt64 {
        ck_load_u64(word(48)) & ~(Self.syncingBit | Self.takenBit)
    }
    func setUnsynced(_ version: UInt64) { ck_store_u64(word(48), version) }
    /// Who made this version begins to sync it. Unless that is known to have succeeded, the kernel may
    /// have given up what was written, and a later sync proves nothing.
    func noteSyncing(_ version: UInt64) {
        _ = ck_cas_u64(word(48), version, version | Self.syncingBit)
    }
    /// The same of somebody else, who holds the writer lock.
    func noteTakenOver(_ version: UInt64) { setUnsynced(version | Self.takenBit) }
    func isTakenOver(_ version: UInt64) -> Bool {
        ck_load_u64(word(48)) == version | Self.takenBit
    }
    /// Whether a sync of the unsynced version may have failed.
    var isSyncInDoubt: Bool { ck_load_u64(word(48)) & (Self.syncingBit | Self.takenBit) != 0 }
    /// This version is on stable storage; others may have committed one that is not.
    func clearUnsynced(_ version: UInt64) {
        if !ck_cas_u64(word(48), version, 0) {
            _ = ck_cas_u64(word(48), version | Self.syncingBit, 0)
        }
    }

    /// The version is there, with its header in this slot. The caller is the writer.
    func publish(version: UInt64, pages: UInt64, _ root: BlockReference, _ slot: Int) {
        noteRoot(version, root, slot)
        ck_store_u64(word(40), pages)
        ck_store_u64(word(32), version)
        _ = ck_add_u64(word(72), 1)
    }

    /// A version is about to be published, and who makes it tells all of this process.
    func noteTold(_ version: UInt64) { ck_store_u64(told, version) }

    /// Whether this process hears of the version from who made it.
    func isTold(_ version: UInt64) -> Bool { ck_load_u64(told) == version }

    // MARK: Opening and closing

    func enter() throws(RealmError) {
        _ = try file?.lock(Self.byteOpen, .exclusive, wait: true)
    }

    func leave() { file?.unlock(Self.byteOpen) }

    /// Joins the session of those who have the file open; true when nobody has: then it is held exclusively.
    func takeSession() throws(RealmError) -> Bool {
        if try takeSessionAlone() { return true }
        try shareSession()
        // Those who had it may have been killed meanwhile; then there is nobody to join.
        return try takeSessionAlone()
    }

    /// True when no other store has the file open; then the session is held exclusively.
    func takeSessionAlone() throws(RealmError) -> Bool {
        guard let file else { return false }
        return try file.lock(Self.byteSession, .exclusive, wait: false)
    }

    /// Takes a share of the session, or turns an exclusive hold into a shared one.
    func shareSession() throws(RealmError) {
        _ = try file?.lock(Self.byteSession, .shared, wait: true)
    }

    /// Writes the lock file anew. The caller holds the session exclusively.
    func initialize(
        _ header: FileHeader, identity: FileIdentity, unsynced: Bool
    ) throws(RealmError) {
        guard let file else { return }
        // Zeros are written, not left as a hole: touching a hole through the mapping on a full
        // disk would be a signal. The file is not cut to nothing first: file systems take that for
        // its replacement and flush it at close. Slots of an earlier session behind these are
        // overwritten before they count again.
        let size = Self.slotsOffset + Page.size
        try file.writeZeros(size, at: 0, "write the lock file")
        memory.put(Self.magic, 0)
        memory.put(Self.layoutVersion, 8)
        memory.put(header.isInMemory ? Self.sessionInMemory : 0, 12)
        memory.put(header.fileID.low, 16)
        memory.put(header.fileID.high, 24)
        memory.put(identity.device, 80)
        memory.put(identity.inode, 88)
        ck_store_u64(word(56), UInt64(Self.slotsPerPage))
        if unsynced { noteTakenOver(header.version) } else { setUnsynced(0) }
        publish(
            version: header.version, pages: header.pageCount, header.root, header.slot)
    }

    /// The root of the version that was committed and durable when the last who had this file open
    /// died with it; nil after all have closed it. The caller is alone and has not written here yet.
    func acknowledgedRoot(of fileID: FileID) throws(RealmError) -> BlockReference? {
        guard let file, try file.status().bytes >= Int64(Self.slotsOffset),
            UnsafeRawPointer(memory).u64(0) == Self.magic,
            UnsafeRawPointer(memory).u32(8) == Self.layoutVersion, self.fileID == fileID,
            ck_load_u64(word(48)) == 0
        else { return nil }
        return root(of: committedVersion)?.root
    }

    /// Everything is in the realm file, which knows what it has; others may take its place.
    func forgetAcknowledged() { memory.put(UInt64(0), 0) }

    /// Checks that the others who hold the session use the file as this store will.
    func attach(inMemory: Bool, identity: FileIdentity) throws(RealmError) {
        guard let file else { return }
        let size = Int(try file.status().bytes)
        guard size >= Self.slotsOffset + Page.size,
            UnsafeRawPointer(memory).u64(0) == Self.magic,
            UnsafeRawPointer(memory).u32(8) == Self.layoutVersion
        else {
            throw RealmError(
                .incompatibleLockFile,
                "'\(path)': another process uses this lock file with a different layout",
                path: path)
        }
        let words = UnsafeRawPointer(memory)
        guard FileIdentity(device: words.u64(80), inode: words.u64(88)) == identity else {
            throw RealmError(
                .incompatibleSession,
                "'\(path)': the realm file was replaced while others have the old one open",
                path: path)
        }
        let session = words.u32(12)
        guard session == (inMemory ? Self.sessionInMemory : 0) else {
            throw RealmError(
                .incompatibleSession,
                "'\(path)': the file is open "
                    + (inMemory ? "as a durable file" : "as an in-memory realm")
                    + " and can't be opened as the other kind at the same time", path: path)
        }
    }

    var fileID: FileID {
        let base = UnsafeRawPointer(memory)
        return FileID(low: base.u64(16), high: base.u64(24))
    }

    /// Takes a process record. The caller holds the lock for opening.
    func claimRecord(processID: UInt64) throws(RealmError) {
        guard let file else { return }
        // First records that look free; then those whose owner may have died without cleaning up.
        for takeOver in [false, true] {
            for index in 0..<Self.recordCount {
                let isFree = ck_load_u64(recordWord(index)) == 0
                guard isFree != takeOver else { continue }
                guard
                    try file.lock(Self.byteRecords + Int64(index), .exclusive, wait: false)
                else { continue }
                record = index
                clearSlots(of: index)
                ck_store_u64(recordWord(index), processID)
                return
            }
        }
        throw RealmError(
            .limitExceeded, "'\(path)': \(Self.recordCount) stores have the file open already")
    }

    func releaseRecord() {
        guard record >= 0, let file else { return }
        clearSlots(of: record)
        ck_store_u64(recordWord(record), 0)
        file.unlock(Self.byteRecords + Int64(record))
        record = -1
    }

    private func recordWord(_ index: Int) -> UnsafeMutablePointer<UInt64> {
        word(Self.recordsOffset + index * 8)
    }

    // MARK: The writer

    /// False when another process writes and `wait` is false.
    func lockWriter(wait: Bool, givesUp: (() -> Bool)? = nil) throws(RealmError) -> Bool {
        guard let file else { return false }
        return try file.lock(Self.byteWriter, .exclusive, wait: wait, givesUp: givesUp)
    }

    func unlockWriter() { file?.unlock(Self.byteWriter) }

    // MARK: Reader slots

    private func slotOwner(_ slot: Int) -> UnsafeMutablePointer<UInt64> {
        word(Self.slotsOffset + slot * Self.slotBytes)
    }

    private func slotVersion(_ slot: Int) -> UnsafeMutablePointer<UInt64> {
        word(Self.slotsOffset + slot * Self.slotBytes + 8)
    }

    private var slotsUsed: Int {
        // Bounded, because the word is shared with processes that may misbehave.
        min(Int(truncatingIfNeeded: ck_load_u64(word(64)) & 0xFFFF_FFFF), slotCapacity)
    }

    private var slotCapacity: Int {
        min(Int(truncatingIfNeeded: ck_load_u64(word(56)) & 0xFFFF_FFFF), Self.slotCountMax)
    }

    /// A slot of this store without a version.
    func claimSlot() throws(RealmError) -> Int {
        if let slot = spareSlots.popLast() { return slot }
        guard file != nil else { return 0 }
        let owner = UInt64(record + 1)
        var start = 0
        while true {
            let capacity = slotCapacity
            for slot in start..<capacity where ck_load_u64(slotOwner(slot)) == 0 {
                // Before the slot is taken, so that no scan can miss it.
                raiseSlotsUsed(to: slot + 1)
                if ck_cas_u64(slotOwner(slot), 0, owner) { return slot }
            }
            start = capacity
            try growSlots(beyond: capacity)
        }
    }

    /// The slot keeps belonging to this store, for its next version.
    func clearSlot(_ slot: Int) {
        guard file != nil else { return }
        ck_store_u64(slotVersion(slot), 0)
        spareSlots.append(slot)
    }

    /// Makes the committed version safe to read through this slot, and returns it.
    func pinCommitted(_ slot: Int) -> UInt64 {
        guard file != nil else { return committedVersion }
        while true {
            let version = committedVersion
            ck_store_u64(slotVersion(slot), version)
            if committedVersion == version { return version }
        }
    }

    private func raiseSlotsUsed(to count: Int) {
        while true {
            let used = ck_load_u64(word(64))
            if used >= UInt64(count) || ck_cas_u64(word(64), used, UInt64(count)) { return }
        }
    }

    private func growSlots(beyond capacity: Int) throws(RealmError) {
        guard let file else { return }
        guard capacity < Self.slotCountMax else {
            throw RealmError(
                .limitExceeded, "'\(path)': \(Self.slotCountMax) versions are pinned already")
        }
        try enter()
        defer { leave() }
        guard slotCapacity == capacity else { return }
        try file.writeZeros(
            Page.size, at: Int64(Self.slotsOffset + capacity * Self.slotBytes),
            "grow the lock file")
        ck_store_u64(word(56), UInt64(capacity + Self.slotsPerPage))
    }

    private func clearSlots(of record: Int) {
        let owner = UInt64(record + 1)
        for slot in 0..<slotsUsed where ck_load_u64(slotOwner(slot)) == owner {
            ck_store_u64(slotVersion(slot), 0)
            ck_store_u64(slotOwner(slot), 0)
        }
    }

    // MARK: Needs of the change log

    private static let needBit: UInt64 = 1 << 63

    /// Notes in a slot of this store that it needs the log of versions behind `version`.
    func setNeed(_ slot: Int, _ version: UInt64) {
        guard file != nil else { return }
        ck_store_u64(slotVersion(slot), version | Self.needBit)
        // Behind the slot, so that a writer that counts no needs does not overlook it.
        _ = ck_add_u64(word(96), 1)
    }

    /// Whether somebody may need the log of the next commit: one word, as long as nobody ever did.
    @inline(__always) var mayNeedLog: Bool { ck_load_u64(word(96)) != 0 }

    /// The oldest version behind which somebody needs the log, or nil. For the writer.
    func oldestNeed() -> UInt64? {
        let seen = ck_load_u64(word(96))
        if seen == 0 { return nil }
        var oldest: UInt64?
        for slot in 0..<slotsUsed {
            let value = ck_load_u64(slotVersion(slot))
            guard value & Self.needBit != 0 else { continue }
            oldest = min(oldest ?? .max, value & ~Self.needBit)
        }
        // Who came meanwhile has made the word another one.
        if oldest == nil { _ = ck_cas_u64(word(96), seen, 0) }
        return oldest
    }

    /// Appends the versions that are pinned, unsorted and with repetitions; tells whether any of
    /// them is held by another store and older than `newest`.
    func pinnedVersions(_ result: inout [UInt64], newest: UInt64) -> Bool {
        var othersAreOlder = false
        let own = UInt64(record + 1)
        for slot in 0..<slotsUsed {
            let version = ck_load_u64(slotVersion(slot))
            guard version != 0 else { continue }
            if version & Self.needBit == 0 { result.append(version) }
            if version & ~Self.needBit < newest, ck_load_u64(slotOwner(slot)) != own {
                othersAreOlder = true
            }
        }
        return othersAreOlder
    }

    /// Whether another store has a version pinned.
    func isPinnedByOthers() -> Bool {
        let own = UInt64(record + 1)
        return (0..<slotsUsed).contains { slot in
            let version = ck_load_u64(slotVersion(slot))
            return version != 0 && version & Self.needBit == 0
                && ck_load_u64(slotOwner(slot)) != own
        }
    }

    /// Frees the slots of stores whose process died.
    func reclaimDeadSlots() throws(RealmError) {
        guard let file else { return }
        var alive: Set<Int> = [record]
        for slot in 0..<slotsUsed {
            let owner = Int(truncatingIfNeeded: ck_load_u64(slotOwner(slot)) & 0xFFFF) - 1
            guard owner >= 0, owner < Self.recordCount, !alive.contains(owner) else { continue }
            // Holding the record's lock keeps a new owner from taking it meanwhile.
            let byte = Self.byteRecords + Int64(owner)
            guard try file.lock(byte, .exclusive, wait: false) else {
                alive.insert(owner)
                continue
            }
            clearSlots(of: owner)
            ck_store_u64(recordWord(owner), 0)
            file.unlock(byte)
        }
    }
}
