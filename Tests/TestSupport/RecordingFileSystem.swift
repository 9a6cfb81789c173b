// A file system for tests that passes calls on to the real one and meanwhile
// * records what is written to the realm file, so that the file can be rebuilt as a crash would
//   have left it (CrashImages.swift);
// * makes chosen calls fail;
// * can "kill" its process: from then on nothing has an effect any more.

import Glibc

@testable import CoreSwift

/// One change of the realm file, in the order the calls were made.
enum FileEvent {
    case write(offset: Int, bytes: [UInt8])
    case truncate(Int)
    /// A finished file took its place.
    case replace([UInt8])
    /// The names in the directory are on stable storage.
    case syncDirectory
    case sync
    /// One that failed. Some of the pages were written, the kernel gave the others up and shows them
    /// still; the number says which. 0: all.
    case failedSync(UInt64)
}

/// A kind of failure to inject.
enum Fault {
    case error(Int32)
    /// A write or read that does only part of what was asked.
    case short
}

final class RecordingFileSystem: FileSystem {
    private let real: FileSystem
    /// Asynchronous commits are synced by other threads. Guards what is recorded and counted.
    private let guardian = Lock()
    var isRecording = true
    private(set) var events: [FileEvent] = []
    /// While other threads use the file.
    var eventsSoFar: [FileEvent] { guardian.withLock { events } }
    /// Calls that can fail, counted since the start.
    private(set) var calls = 0
    /// What to do to call number n (from 1); other calls pass.
    var faults: [Int: Fault] = [:]
    /// Every call of this kind fails; for a disk that is full for a while.
    var writesFailWith: Int32?
    /// After this many calls the process is dead.
    var killAfter = Int.max
    /// The process dies when it is about to make this sync (counted from 1).
    var killAtSync = Int.max
    private(set) var syncCount = 0
    /// Syncs (counted from 1) that fail, with what `FileEvent.failedSync` says of them.
    var failingSyncs: [Int: UInt64] = [:]
    private(set) var failedSyncs = 0
    /// What happens behind a sync that fails.
    enum Aftermath { case none, writesFail(Int), death }
    var aftermath = Aftermath.none
    private var writesToFail = 0
    /// Microseconds that a sync takes.
    var syncTakes: UInt32 = 0
    /// Called while a sync is under way.
    var duringSync: (() -> Void)?
    /// Called with the path before a file is opened.
    var beforeOpen: ((String) -> Void)?
    var isDead: Bool { calls >= killAfter }
    /// Names of the calls made, for messages.
    private(set) var lastFault = ""
    private var dataFiles: Set<Int32> = []
    /// Files that are made under another name first. What is written to them shows only with their
    /// new name: at once if it was synced before, else as ordinary writes.
    private var newFiles: [Int32: String] = [:]
    private var unsyncedNewFiles: Set<String> = []

    init(_ real: FileSystem = SystemCalls.shared) { self.real = real }

    /// Starts over after a "kill".
    func revive() {
        heal()
        syncCount = 0
        dataFiles = []
        newFiles = [:]
    }

    /// Nothing fails any more; what is open stays so.
    func heal() {
        killAfter = Int.max
        killAtSync = Int.max
        failingSyncs = [:]
        failedSyncs = 0
        aftermath = .none
        writesToFail = 0
    }

    func resetCalls() { calls = 0 }

    /// Counts a call; returns the failure it is to report.
    private func enter(_ name: String) -> Int32? { guardian.withLock { entered(name) } }

    private func entered(_ name: String) -> Int32? {
        if isDead { return -EIO }
        calls += 1
        if isDead { return -EIO }
        if writesToFail > 0, name.hasPrefix("write") {
            writesToFail -= 1
            return -EIO
        }
        guard let fault = faults[calls] else { return nil }
        lastFault = "\(name) (call \(calls))"
        guard case .error(let code) = fault else { return nil }
        // Mapping is never interrupted.
        return code == EINTR && (name.hasPrefix("map") || name == "reserve") ? nil : -code
    }

    private var isShort: Bool {
        guardian.withLock {
            if case .short? = faults[calls] { return true }
            return false
        }
    }

    private func record(_ event: FileEvent) {
        if isRecording { guardian.withLock { events.append(event) } }
    }

    private func isData(_ descriptor: Int32) -> Bool {
        guardian.withLock { dataFiles.contains(descriptor) }
    }

    func open(_ path: String, _ access: FileAccess) -> Int32 {
        beforeOpen?(path)
        if let failure = enter("open \(access)") { return failure }
        let descriptor = real.open(path, access)
        guardian.withLock {
            if descriptor >= 0, path.hasSuffix(Store.creationSuffix) {
                newFiles[descriptor] = path
                unsyncedNewFiles.insert(path)
            } else if descriptor >= 0, !path.hasSuffix(".lock") {
                dataFiles.insert(descriptor)
            }
        }
        return descriptor
    }

    func close(_ descriptor: Int32) -> Int32 {
        guardian.withLock {
            dataFiles.remove(descriptor)
            newFiles[descriptor] = nil
        }
        return real.close(descriptor)
    }

    func status(_ descriptor: Int32, _ result: inout FileStatus) -> Int32 {
        if let failure = enter("status") { return failure }
        return real.status(descriptor, &result)
    }

    func read(
        _ descriptor: Int32, _ target: UnsafeMutableRawPointer, _ count: Int, _ offset: Int64
    ) -> Int {
        if let failure = enter("read") { return Int(failure) }
        return real.read(descriptor, target, isShort ? max(1, count / 3) : count, offset)
    }

    func write(
        _ descriptor: Int32, _ source: UnsafeRawPointer, _ count: Int, _ offset: Int64
    ) -> Int {
        if let failure = enter("write") { return Int(failure) }
        if let code = writesFailWith { return -Int(code) }
        let count = isShort ? max(1, count / 3) : count
        let done = real.write(descriptor, source, count, offset)
        if done > 0 { record(descriptor, source, done, offset) }
        return done
    }

    func write(
        _ descriptor: Int32, _ vectors: UnsafeBufferPointer<IOVector>, _ offset: Int64
    ) -> Int {
        if let failure = enter("write vectors") { return Int(failure) }
        if let code = writesFailWith { return -Int(code) }
        if isShort, let first = vectors.first {
            let done = real.write(descriptor, first.base, max(1, first.count / 3), offset)
            if done > 0 { record(descriptor, first.base, done, offset) }
            return done
        }
        let done = real.write(descriptor, vectors, offset)
        var rest = done
        var position = offset
        for vector in vectors where rest > 0 {
            let count = min(rest, vector.count)
            record(descriptor, vector.base, count, position)
            rest -= count
            position += Int64(count)
        }
        return done
    }

    private func record(
        _ descriptor: Int32, _ source: UnsafeRawPointer, _ count: Int, _ offset: Int64
    ) {
        guard isRecording, isData(descriptor) else { return }
        let bytes = Array(UnsafeRawBufferPointer(start: source, count: count))
        record(.write(offset: Int(offset), bytes: bytes))
    }

    func truncate(_ descriptor: Int32, _ bytes: Int64) -> Int32 {
        if let failure = enter("truncate") { return failure }
        if isData(descriptor) { record(.truncate(Int(bytes))) }
        return real.truncate(descriptor, bytes)
    }

    func beginReading(_ descriptor: Int32, _ offset: Int64, _ count: Int) {
        real.beginReading(descriptor, offset, count)
    }

    /// A crash may find anything that was written before the sync on the disk, with it or without.
    func beginWriting(_ descriptor: Int32, _ offset: Int64, _ count: Int) {
        real.beginWriting(descriptor, offset, count)
    }

    func sync(_ descriptor: Int32) -> Int32 {
        let began = guardian.withLock { events.count }
        if syncTakes > 0 { usleep(syncTakes) }
        duringSync?()
        guardian.withLock {
            syncCount += 1
            if syncCount >= killAtSync { killAfter = 0 }
        }
        if let failure = enter("sync") { return failure }
        let fails = guardian.withLock {
            guard let choice = failingSyncs[syncCount], newFiles[descriptor] == nil else {
                return false
            }
            failedSyncs += 1
            if isRecording { events.append(.failedSync(choice)) }
            switch aftermath {
            case .none: break
            case .writesFail(let count): writesToFail = count
            case .death: killAfter = 0
            }
            return true
        }
        if fails { return -EIO }
        guardian.withLock {
            if let path = newFiles[descriptor] {
                unsyncedNewFiles.remove(path)
            } else if isRecording {
                // What is written meanwhile may be covered or not.
                events.insert(.sync, at: syncCount & 1 == 0 ? events.count : began)
            }
        }
        return 0
    }

    func remove(_ path: String) -> Int32 {
        if let failure = enter("remove") { return failure }
        return real.remove(path)
    }

    func realPath(_ path: String, _ result: inout String) -> Int32 {
        if let failure = enter("real path") { return failure }
        return real.realPath(path, &result)
    }

    func readLink(_ path: String, _ result: inout String) -> Int32 {
        if let failure = enter("read link") { return failure }
        return real.readLink(path, &result)
    }

    func setPermissions(_ descriptor: Int32, _ permissions: UInt32) -> Int32 {
        if let failure = enter("set permissions") { return failure }
        return real.setPermissions(descriptor, permissions)
    }
    func setOwner(_ descriptor: Int32, _ owner: UInt32, _ group: UInt32) -> Int32 {
        if let failure = enter("set owner") { return failure }
        return real.setOwner(descriptor, owner, group)
    }

    func link(_ path: String, _ name: String) -> Int32 {
        if let failure = enter("link") { return failure }
        return real.link(path, name)
    }

    func rename(_ path: String, _ name: String) -> Int32 {
        if let failure = enter("rename") { return failure }
        if isRecording, path.hasSuffix(Store.creationSuffix) {
            let bytes = TestSettings.readFile(path)
            if unsyncedNewFiles.contains(path) {
                events += [.truncate(0), .write(offset: 0, bytes: bytes)]
            } else {
                events.append(.replace(bytes))
            }
        }
        return real.rename(path, name)
    }

    func removeDirectory(_ path: String) -> Int32 {
        if let failure = enter("remove directory") { return failure }
        return real.removeDirectory(path)
    }

    func list(_ path: String, _ names: inout [String]) -> Int32 {
        if let failure = enter("list") { return failure }
        return real.list(path, &names)
    }

    func syncDirectory(_ path: String) -> Int32 {
        if let failure = enter("sync directory") { return failure }
        if isRecording { events.append(.syncDirectory) }
        return 0
    }

    func lock(_ descriptor: Int32, _ byte: Int64, _ kind: LockKind, wait: Bool) -> Int32 {
        if let failure = enter("lock") { return failure }
        return real.lock(descriptor, byte, kind, wait: wait)
    }

    func unlock(_ descriptor: Int32, _ byte: Int64) -> Int32 {
        real.unlock(descriptor, byte)
    }

    func isLocked(_ descriptor: Int32, _ byte: Int64, count: Int64) -> Int32 {
        if let failure = enter("query lock") { return failure }
        return real.isLocked(descriptor, byte, count: count)
    }

    func mapShared(
        _ descriptor: Int32, _ bytes: Int, _ code: inout Int32
    ) -> UnsafeMutableRawPointer? {
        if let failure = enter("map shared") {
            code = failure
            return nil
        }
        return real.mapShared(descriptor, bytes, &code)
    }

    func reserve(_ bytes: Int, zeros: Bool, _ code: inout Int32) -> UnsafeMutableRawPointer? {
        if let failure = enter("reserve") {
            code = failure
            return nil
        }
        return real.reserve(bytes, zeros: zeros, &code)
    }

    func mapFixed(
        _ descriptor: Int32, _ target: UnsafeMutableRawPointer, _ offset: Int64, _ bytes: Int
    ) -> Int32 {
        if let failure = enter("map fixed") { return failure }
        return real.mapFixed(descriptor, target, offset, bytes)
    }

    func unmap(_ base: UnsafeMutableRawPointer, _ bytes: Int) -> Int32 {
        real.unmap(base, bytes)
    }

    func keepFromDumps(_ base: UnsafeMutableRawPointer, _ bytes: Int) -> Int32 {
        if let failure = enter("keepFromDumps") { return failure }
        return real.keepFromDumps(base, bytes)
    }

    func random(_ target: UnsafeMutableRawPointer, _ count: Int) -> Int {
        if let failure = enter("random") { return Int(failure) }
        return real.random(target, count)
    }

    func processID() -> Int32 { real.processID() }
}
