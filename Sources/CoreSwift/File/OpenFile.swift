// One open descriptor with what every caller needs on top of single system calls: interrupted calls
// are repeated, short reads and writes continued, failures become errors that name operation and
// path. Not thread-safe in itself beyond what the kernel gives: positional calls may run in
// parallel, `close` may not run beside anything.

import CKernels

final class OpenFile {
    let path: String
    let files: FileSystem
    private(set) var descriptor: Int32
    /// The fork generation in which the descriptor is open, if forked children close it at once.
    private var guardedIn: UInt64?

    static let interrupted = -4  // -EINTR
    private static let wouldBlock = -11  // -EAGAIN
    private static let badAddress = -14  // -EFAULT

    init(_ path: String, _ access: FileAccess, _ files: FileSystem) throws(RealmError) {
        self.path = path
        self.files = files
        descriptor = -1
        descriptor = Int32(try Self.retry("open the file", path) { Int(files.open(path, access)) })
    }

    deinit { close() }

    func close() {
        guard descriptor >= 0 else { return }
        if let guardedIn {
            guard guardedIn == ForkGuard.generation else {
                // The number may name another file by now.
                descriptor = -1
                return
            }
            ForkGuard.forget(descriptor)
        }
        // Linux releases the descriptor even when close reports an interruption or an error.
        _ = files.close(descriptor)
        descriptor = -1
    }

    /// From now on a forked child closes its copy of the descriptor before it does anything else,
    /// so that locks on it end with this process.
    func closeInForkedChildren() {
        guardedIn = ForkGuard.generation
        ForkGuard.register(descriptor)
    }

    func status() throws(RealmError) -> FileStatus {
        var status = FileStatus(bytes: 0, isRegular: false, identity: FileIdentity())
        _ = try Self.retry("read the file's size", path) {
            Int(files.status(descriptor, &status))
        }
        return status
    }

    /// Reads exactly `count` bytes, or fewer at the end of the file; returns how many.
    func read(
        _ target: UnsafeMutableRawPointer, count: Int, at offset: Int64
    ) throws(RealmError) -> Int {
        var done = 0
        while done < count {
            let n = try Self.retry("read", path) {
                files.read(descriptor, target + done, count - done, offset + Int64(done))
            }
            if n == 0 { break }
            done += n
        }
        return done
    }

    func write(
        _ source: UnsafeRawPointer, count: Int, at offset: Int64, _ operation: String
    ) throws(RealmError) {
        var done = 0
        while done < count {
            let n = try Self.retry(operation, path, from: source + done) {
                files.write(descriptor, source + done, count - done, offset + Int64(done))
            }
            guard n > 0 else { throw FileErrors.make(5, operation, path) }
            done += n
        }
    }

    /// Writes all pieces one after another from `offset`. Uses up `vectors`.
    func write(
        _ vectors: UnsafeMutableBufferPointer<IOVector>, at offset: Int64, _ operation: String
    ) throws(RealmError) {
        var first = 0
        var position = offset
        while first < vectors.count {
            let rest = UnsafeBufferPointer(rebasing: vectors[first...])
            var n = try Self.retry(operation, path, from: rest[0].base) {
                files.write(descriptor, rest, position)
            }
            guard n > 0 else { throw FileErrors.make(5, operation, path) }
            position += Int64(n)
            while first < vectors.count, n >= vectors[first].count {
                n -= vectors[first].count
                first += 1
            }
            if n > 0 {
                vectors[first].base += n
                vectors[first].count -= n
            }
        }
    }

    /// Zeros to write from; 64 KiB.
    static let zeros: UnsafeRawPointer = {
        let memory = UnsafeMutableRawPointer.allocate(byteCount: zeroCount, alignment: 4096)
        memory.initializeMemory(as: UInt8.self, repeating: 0, count: zeroCount)
        return UnsafeRawPointer(memory)
    }()
    static let zeroCount = 65536

    func writeZeros(_ count: Int, at offset: Int64, _ operation: String) throws(RealmError) {
        var done = 0
        while done < count {
            let n = min(count - done, Self.zeroCount)
            try write(Self.zeros, count: n, at: offset + Int64(done), operation)
            done += n
        }
    }

    func truncate(_ bytes: Int64) throws(RealmError) {
        _ = try Self.retry("change the file's size", path) {
            Int(files.truncate(descriptor, bytes))
        }
    }

    /// Has the kernel read what will be read next.
    func beginReading(_ count: Int, at offset: Int64) {
        files.beginReading(descriptor, offset, count)
    }

    /// Has the disk begin with what was written there; `sync` waits for it.
    func beginWriting(_ count: Int, at offset: Int64) {
        files.beginWriting(descriptor, offset, count)
    }

    func sync() throws(RealmError) {
        _ = try Self.retry("sync the file", path) { Int(files.sync(descriptor)) }
    }

    /// False when another holds the lock and `wait` is false, or `givesUp`, which is asked before
    /// waiting and every now and then while it lasts, says so.
    func lock(
        _ byte: Int64, _ kind: LockKind, wait: Bool, givesUp: (() -> Bool)? = nil
    ) throws(RealmError) -> Bool {
        if wait, let givesUp { return try lock(byte, kind, unless: givesUp) }
        while true {
            let outcome = Int(files.lock(descriptor, byte, kind, wait: wait))
            if outcome >= 0 { return true }
            if outcome == Self.interrupted { continue }
            if outcome == Self.wouldBlock && !wait { return false }
            throw FileErrors.make(outcome, "lock the file", path)
        }
    }

    /// Tries again and again: a wait in the kernel ends with the lock, or with a signal that comes to this
    /// very thread while it sleeps. Short waits cost little, long ones a system call every two milliseconds.
    private func lock(
        _ byte: Int64, _ kind: LockKind, unless givesUp: () -> Bool
    ) throws(RealmError) -> Bool {
        var pause = 50_000
        var unasked = ThreadGate.asksEvery
        while try !lock(byte, kind, wait: false) {
            if unasked >= ThreadGate.asksEvery {
                if givesUp() { return false }
                unasked = 0
            }
            Condition.sleep(pause)
            unasked += pause
            pause = min(2 * pause, 2_000_000)
        }
        return true
    }

    /// Unlocking can fail only for descriptors that are no longer open, where nothing is locked.
    func unlock(_ byte: Int64) {
        while files.unlock(descriptor, byte) == Int32(Self.interrupted) {}
    }

    func isLocked(_ byte: Int64, count: Int64 = 1) throws(RealmError) -> Bool {
        try Self.retry("query locks", path) {
            Int(files.isLocked(descriptor, byte, count: count))
        } != 0
    }

    /// Who may use the file of `other` may use this one, as far as the process may say so: only the superuser gives
    /// files to others. What its group may do, no other group gets.
    func takeAccess(of other: FileStatus) throws(RealmError) {
        let own = try status()
        var permissions = other.permissions
        let isGiven =
            (own.owner == other.owner && own.group == other.group)
            || files.setOwner(descriptor, other.owner, other.group) >= 0
        if !isGiven, own.group != other.group, files.setOwner(descriptor, .max, other.group) < 0 {
            permissions &= ~0o070
        }
        _ = try Self.retry("set the file's permissions", path) {
            Int(files.setPermissions(descriptor, permissions))
        }
    }

    /// `source`: what is written. A decrypted block may have been evicted, which the kernel can't bring
    /// back: touching it does.
    private static func retry(
        _ operation: String, _ path: String, from source: UnsafeRawPointer? = nil,
        _ call: () -> Int
    ) throws(RealmError) -> Int {
        var touches = 0
        while true {
            let outcome = call()
            if outcome >= 0 { return outcome }
            if outcome == interrupted { continue }
            guard outcome == badAddress, let source, touches < touchesMax else {
                throw FileErrors.make(outcome, operation, path)
            }
            touches += 1
            ck_touch(source)
        }
    }

    /// Another thread may evict it again before the kernel is there.
    private static let touchesMax = 100
}
