// One open realm file in this process: its mapping, its lock file, the versions that are pinned and
// the writer. The layers above see blocks and versions, never offsets or locks.
//
// Opening is in Store+Open.swift, recovery in Store+Recovery.swift, pins in Store+Pins.swift, the consistency check in
// Store+Check.swift, commits in WriteLease.swift and CommitBuilder.swift.
//
// Guards
// * `mutex`: pins, closing, failure. Held briefly; never while waiting for another process, except
//   when the lock file grows.
// * `mappingMutex`: the mapping. May be taken while `mutex` is held, not the other way round.
// * The writer (`gate` within the process, a byte lock between processes): `space`, `sweep`, `scratch`, `writerMemory`.
//
// Invariants
//  1. A version that is pinned here has a reader slot in the lock file with that version.
//  2. After a failed header write or sync `failure` is set, and nothing is pinned or written any
//     more; what was pinned before stays readable.
//  3. When another program has cut the file, and a reader met that, nothing is pinned, written or
//     verified any more.

import CKernels

struct StoreOptions {
    /// Never writes the realm file.
    var readOnly = false
    /// The file is known to be changed by nobody: no lock file, no locks, no writes.
    var immutable = false
    /// Nothing is synced, and the file is removed when its last user closes it.
    var inMemory = false
    /// Creates the file if it is missing.
    var create = true
    /// Empty: the file is plain. An open store has it no more.
    var encryptionKey: [UInt8] = []
    /// How a file that is created is encrypted.
    var cipher = CipherKind.preferred
    /// Whether the processor can do AES-256-GCM; tests say that it can't.
    var hasAES = CipherKind.hasAES
    /// Of a file that is created. A copy goes on where its original is: what is numbered by versions
    /// (collections in mixed values) stays different from what comes later.
    var firstVersion: UInt64 = 1
    /// Address space to reserve; the file can't grow beyond it while it is open.
    var reservedBytes = PageMapping.reservedBytesMax
    /// Of an encrypted file: how much may be decrypted at a time; 0: all of it.
    var decryptedBytesMax = StoreOptions.decryptedBytesDefault
    static let decryptedBytesDefault = 256 << 20
    static let decryptedBytesMin = 1 << 20
    var spaceLimits = SpaceLimits()
    /// Leaves that wait to be sealed: so many pages two cores seal, fewer take one at most 0.3 ms.
    var sharedSealingPagesMin = 96
    /// A write transaction with more pages in memory writes full leaves before it commits: 2.5 MiB.
    var pendingPagesMax = 640
    /// The same of an encrypted file, 2 MiB: two cores seal many.
    var pendingSealedPagesMax = 512
    /// What one call of a commit writes ends where such a piece of the file does, if more follows: 512 KiB. The disk
    /// writes one while the next is sealed, or copied by the kernel.
    var piecePages = 128
    /// What is written early ends where such a part of the file does: 2 MiB. Kernels keep what a call writes in folios as
    /// large as place and length allow, and a reader takes a page fault for each: a part that is whole is one, and
    /// one entry of the page tables.
    var partPages = 512
    /// How long a commit that a thread waits for waits for others to join (`CommitGroup.waitMax`): as long as a fast disk
    /// takes for a sync, in nanoseconds.
    var sharedWaitMax = 300_000
    /// So many objects of a class that one commit creates have no values in the log of its consumers.
    var unwrittenObjectsMin = 250
    /// In the upper bits of the object keys that are given from now on (`ClientKeys`); 0: none.
    var clientNumber: UInt32 = 0
}

struct StoreStatistics: Equatable {
    var filePages: Int
    var freePages: Int
    /// Pages that the newest version does not use but an older, live one may.
    var pendingPages: Int
    var liveVersions: Int
}

final class Store: @unchecked Sendable {
    let path: String
    let options: StoreOptions
    let files: FileSystem
    let file: OpenFile
    let mapping: PageMapping
    let lockFile: LockFile
    /// Nil for files that nobody changes.
    private let claim: FileClaim?
    let fileID: FileID
    /// Which file it is, whatever its path.
    let identity: FileIdentity
    private let forkGeneration: UInt64

    let mutex = Lock()
    private let mappingMutex = Lock()
    var pins: [PinEntry] = []
    var isClosed = false
    private var failure: RealmError?

    let gate = ThreadGate()
    let group = CommitGroup()
    /// The space map of the newest version that this store committed, or one after it; nil = to be loaded.
    var space: SpaceMap?
    var sweep = SpaceSweep()
    /// How far the write transaction has written blocks early; 0: not at all. Other threads read it.
    let earlyPages: UnsafeMutablePointer<UInt64>
    let scratch = CommitScratch()
    /// What the tables remember from one write transaction to the next.
    var writerMemory: AnyObject?
    /// Commits since slots of dead processes were last looked for.
    var commitsSinceReclaim = 0

    /// A version held against reuse of its pages.
    struct Pin {
        let version: UInt64
        /// The client's bytes in the version's root block.
        let payload: UnsafeRawPointer
        let payloadCount: Int
        let root: BlockReference
    }

    struct PinEntry {
        let pin: Pin
        let slot: Int
        var count: Int
    }

    /// Readers keep the store alive while they use this.
    var source: BlockSource { mapping.source }
    var codec: BlockCodec { mapping.codec }

    init(
        path: String, options: StoreOptions, file: OpenFile, mapping: PageMapping,
        lockFile: LockFile, claim: FileClaim?, fileID: FileID, identity: FileIdentity
    ) {
        self.claim = claim
        self.identity = identity
        earlyPages = .allocate(capacity: 1)
        earlyPages.initialize(to: 0)
        self.path = path
        var options = options
        options.encryptionKey = []
        self.options = options
        files = file.files
        self.file = file
        self.mapping = mapping
        self.lockFile = lockFile
        self.fileID = fileID
        forkGeneration = ForkGuard.generation
        lockFile.watch(with: mapping)
    }

    deinit {
        try? close()
        lockFile.unwatch()
        earlyPages.deallocate()
    }

    // MARK: Blocks

    /// The bytes of a block whose reference and content hash are right. The caller checks the
    /// structure and then calls `markVerified`; readers that find it so marked skip both.
    /// `fresh`: the bytes in the file are looked at, also if the block was decrypted before.
    func admit(
        _ reference: BlockReference, fresh: Bool = false
    ) throws(RealmError) -> UnsafeRawPointer {
        try checkLength()
        let page = reference.page
        let count = UInt64(reference.pageCount)
        guard !reference.isTransient, page >= FileHeader.firstBlockPage, count > 0 else {
            throw RealmError(
                .invalidDatabase, "'\(path)': page \(page): no block can be there", path: path)
        }
        let pages = filePages
        guard page + count <= pages else {
            throw RealmError(
                .invalidDatabase,
                "'\(path)': page \(page): block of \(count) pages is outside the file of"
                    + " \(pages) pages", path: path)
        }
        if page + count > ck_load_relaxed_u64(source.mappedPages) { try extendMapping(to: pages) }
        guard let block = try intactBlock(reference, fresh: fresh) else {
            try checkLength()
            throw RealmError(
                .invalidDatabase,
                "'\(path)': page \(page): the block's \(count) pages don't match their check value"
                    + " (written by version \(reference.version))", path: path)
        }
        return block
    }

    /// Has the kernel read these pages of the file.
    func beginReading(_ pages: Range<UInt64>) {
        if pages.isEmpty { return }
        let start = codec.offset(pages.lowerBound)
        file.beginReading(Int(codec.offset(pages.upperBound) - start), at: Int64(start))
    }

    private func intactBlock(
        _ reference: BlockReference, fresh: Bool
    ) throws(RealmError) -> UnsafeRawPointer? {
        guard mapping.cleartext != nil else {
            guard codec.isIntact(mapping.file, reference) else { return nil }
            return source.pointee.base + Int(reference.page) << Page.shift
        }
        if fresh, !codec.isIntact(mapping.file, reference) { return nil }
        return try mapping.decrypted(reference)
    }

    /// Whether the file was opened with this key; an empty one stands for none.
    func isEncrypted(with key: [UInt8]) -> Bool {
        codec.cipher.map { $0.isMade(of: key) } ?? key.isEmpty
    }

    /// The block, if it has passed the gate.
    func known(_ reference: BlockReference) -> UnsafeRawPointer? {
        let page = reference.page
        guard !reference.isTransient, reference.check0 != 0,
            reference.end <= ck_load_relaxed_u64(source.mappedPages),
            ck_load_u64(source.pointee.verified + Int(page)) == reference.check0
        else { return nil }
        return UnsafeRawPointer(source.pointee.base) + Int(page) << Page.shift
    }

    /// From now on readers use the block without looking. It is one that `admit` gave out.
    func markVerified(_ reference: BlockReference) { mapping.mark(reference) }

    func extendMapping(to pages: UInt64) throws(RealmError) {
        mappingMutex.lock()
        defer { mappingMutex.unlock() }
        try mapping.extend(to: pages, of: file)
    }

    /// Maps pages that a commit is about to add.
    func coverMapping(_ pages: UInt64) throws(RealmError) {
        mappingMutex.lock()
        defer { mappingMutex.unlock() }
        try mapping.cover(pages, of: file)
    }

    func limitMapping(to pages: UInt64) {
        mappingMutex.lock()
        mapping.limit(to: pages)
        mappingMutex.unlock()
    }

    // MARK: Versions

    /// The newest committed version; reads one word of shared memory.
    var newestVersion: UInt64 { lockFile.committedVersion }
    /// Where it stands, for as long as the store is open.
    var newestWord: UnsafeMutablePointer<UInt64> { lockFile.committedVersionWord }

    /// Throws when the store can't be used any more.
    func checkUsable() throws(RealmError) {
        if isClosed { throw RealmError(.closedRealm, "'\(path)': the file was closed") }
        try checkFailure()
        try checkFork()
    }

    /// Throws after a failed sync, or when readers were given zeros. With `mutex` held.
    func checkFailure() throws(RealmError) {
        if let failure { throw failure }
        try checkLength()
        guard let cleartext = mapping.cleartext else { return }
        cleartext.watch()
        if cleartext.hasLost {
            throw RealmError(
                .invalidDatabase,
                "'\(path)': a block that had been read no longer matches its check value; the file must"
                    + " be closed and opened again", path: path)
        }
    }

    /// Throws when a reader met the end of the file where there were pages.
    func checkLength() throws(RealmError) {
        guard ck_load_relaxed_u64(mapping.cut) != 0 else { return }
        throw RealmError(
            .invalidDatabase,
            "'\(path)': another program truncated the file, or its lock file, while it was open; it"
                + " must be closed, and `realm salvage` recovers what is left", path: path)
    }

    var isInForkedChild: Bool { ForkGuard.generation != forkGeneration }

    /// Throws in a forked child. Asked before any lock is taken: another thread of the parent may
    /// have held it at the fork, and then nobody releases it here.
    func checkFork() throws(RealmError) {
        guard !isInForkedChild else {
            throw RealmError(
                .illegalOperation,
                "'\(path)': a realm opened before fork() can't be used in the child; open it again")
        }
    }

    /// Refuses all further work after a write that may or may not have reached the disk.
    func fail(_ error: RealmError) {
        guard !isInForkedChild else { return }
        mutex.lock()
        if failure == nil {
            failure = RealmError(
                error.code, error.message + "; the file must be closed and opened again",
                path: error.path)
        }
        mutex.unlock()
    }

    // MARK: Writing

    /// Waits for the writer lock and takes it; nil only if `wait` is false and another writes.
    /// `joinsGroup`: commits before it that this store has not synced yet may be synced with its own.
    /// `isPatient`: no thread of the program waits.
    func beginWrite(
        wait: Bool, joinsGroup: Bool = false, isPatient: Bool = false, givesUp: (() -> Bool)? = nil
    ) throws(RealmError) -> WriteLease? {
        guard !options.readOnly, !options.immutable else {
            throw RealmError(
                .wrongTransactionState, "'\(path)': can't write, the file was opened read-only")
        }
        try checkFork()
        try mutex.withLock { () throws(RealmError) in try checkUsable() }
        guard gate.enter(wait: wait, isPatient: isPatient, givesUp: givesUp) else { return nil }
        do throws(RealmError) {
            guard try lockFile.lockWriter(wait: wait, givesUp: givesUp) else {
                gate.leave()
                return nil
            }
        } catch {
            gate.leave()
            throw error
        }
        do throws(RealmError) {
            if mustSync(joinsGroup) { try syncBeforeWriting(joinsGroup) }
            return WriteLease(store: self, base: try pinNewest())
        } catch {
            lockFile.unlockWriter()
            gate.leave()
            throw error
        }
    }

    /// Whether who begins to write has to sync first what was committed before.
    private func mustSync(_ joinsGroup: Bool) -> Bool {
        let unsynced = lockFile.unsyncedVersion
        return unsynced != 0
            && (!joinsGroup || group.newestVersion != unsynced || lockFile.isTakenOver(unsynced))
    }

    /// The version may not be on disk yet: it was found after a crash and verified, or published before its
    /// sync. Overwriting pages of the one before it must wait. With the lock of the group: a thread of this
    /// store that is making its version durable is waited for, and one that comes to do so finds it done.
    private func syncBeforeWriting(_ joinsGroup: Bool) throws(RealmError) {
        group.lock()
        defer { group.unlock() }
        guard mustSync(joinsGroup) else { return }
        do throws(RealmError) {
            try syncCommitted()
        } catch {
            fail(error)
            throw error
        }
        group.end()
    }

    func endWrite() {
        guard !isInForkedChild else { return }
        lockFile.unlockWriter()
        gate.leave()
    }

    // MARK: Closing

    /// Ends the use of the file. Pinned versions are no longer protected. Idempotent.
    func close() throws(RealmError) {
        // A forked child only lets go of its own descriptors.
        guard !isInForkedChild else { return closeDescriptors() }
        mutex.lock()
        defer { mutex.unlock() }
        guard !isClosed else { return }
        isClosed = true
        defer { closeDescriptors() }
        guard !options.immutable else { return }
        try lockFile.enter()
        lockFile.releaseRecord()
        let isLast = try lockFile.takeSessionAlone()
        if options.inMemory {
            if isLast {
                _ = files.remove(path)
                lockFile.remove()
            }
        } else if failure == nil, ck_load_relaxed_u64(mapping.cut) == 0,
            !options.readOnly || isLast
        {
            try noteSynced(isLast: isLast)
        }
    }

    private func closeDescriptors() {
        lockFile.closeDescriptor()
        claim?.close()
        file.close()
    }

    /// Writes the sync record. Not only the last to close does: that one may be a reader, or be
    /// killed. Others must know that nobody commits meanwhile.
    private func noteSynced(isLast: Bool) throws(RealmError) {
        if !isLast {
            guard gate.enter(wait: false) else { return }
            guard (try? lockFile.lockWriter(wait: false)) == true else { return gate.leave() }
        }
        defer { if !isLast { endWrite() } }
        if lockFile.unsyncedVersion != 0, !options.readOnly { try syncCommitted() }
        if try writeSyncRecord(), isLast { lockFile.forgetAcknowledged() }
    }
}
