// The seam between the engine and the operating system: every system call the engine makes is one
// function here, so that tests can make each of them fail, record what is written, and rebuild the
// file as a crash would have left it. `SystemCalls` is the real thing.
//
// The functions do no more than one call each: retrying an interrupted call or a short write is
// the business of `OpenFile`, which is thereby tested too. Results follow the kernel's convention:
// not negative = success, negative = -errno.
//
// This seam is not on the read path: readers touch the mapping only.

/// How a file is opened.
enum FileAccess {
    case readOnly
    case readWrite
    /// Read and write; created (empty) when missing. A symbolic link is refused.
    case create
}

enum LockKind {
    case shared
    case exclusive
}

/// One piece of a gathering write. Same layout as the C type `iovec`.
struct IOVector {
    var base: UnsafeMutableRawPointer
    var count: Int

    init(_ base: UnsafeRawPointer, _ count: Int) {
        self.base = UnsafeMutableRawPointer(mutating: base)
        self.count = count
    }
}

/// What an open descriptor refers to.
struct FileStatus {
    var bytes: Int64
    var isRegular: Bool
    var identity: FileIdentity
    /// Who may do what with it.
    var permissions: UInt32 = 0
    var owner: UInt32 = 0
    var group: UInt32 = 0
    /// How many names it has.
    var links = 1
}

/// The same file under two names has the same identity.
struct FileIdentity: Equatable {
    var device: UInt64 = 0
    var inode: UInt64 = 0
}

protocol FileSystem: AnyObject {
    func open(_ path: String, _ access: FileAccess) -> Int32
    func close(_ descriptor: Int32) -> Int32
    /// 0 and the status, or -errno.
    func status(_ descriptor: Int32, _ result: inout FileStatus) -> Int32
    func read(_ descriptor: Int32, _ target: UnsafeMutableRawPointer, _ count: Int, _ offset: Int64)
        -> Int
    func write(_ descriptor: Int32, _ source: UnsafeRawPointer, _ count: Int, _ offset: Int64)
        -> Int
    func write(_ descriptor: Int32, _ vectors: UnsafeBufferPointer<IOVector>, _ offset: Int64)
        -> Int
    func truncate(_ descriptor: Int32, _ bytes: Int64) -> Int32
    /// Has the kernel read these bytes, and does not wait for them. A hint: what goes wrong is said when they are read.
    func beginReading(_ descriptor: Int32, _ offset: Int64, _ count: Int)
    /// Has the disk begin with what was written there, and does not wait for it. A hint: what goes wrong
    /// is said by `sync`, without which nothing is on stable storage.
    func beginWriting(_ descriptor: Int32, _ offset: Int64, _ count: Int)
    /// Waits until the data written and the file's size are on stable storage.
    func sync(_ descriptor: Int32) -> Int32
    func remove(_ path: String) -> Int32
    /// The absolute path without links, `.` and `..`; 0 or -errno. The file has to exist.
    func realPath(_ path: String, _ result: inout String) -> Int32
    /// Where a symbolic link leads, as it says; -EINVAL for what is none.
    func readLink(_ path: String, _ result: inout String) -> Int32
    func setPermissions(_ descriptor: Int32, _ permissions: UInt32) -> Int32
    /// An owner of all ones stays.
    func setOwner(_ descriptor: Int32, _ owner: UInt32, _ group: UInt32) -> Int32
    /// Gives a file a second name; -EEXIST when there is something of that name.
    func link(_ path: String, _ name: String) -> Int32
    /// Gives a file another name, replacing what has it.
    func rename(_ path: String, _ name: String) -> Int32
    func removeDirectory(_ path: String) -> Int32
    /// The names in a directory, without those of itself and its parent; 0 or -errno.
    func list(_ path: String, _ names: inout [String]) -> Int32
    /// Makes the creation of a file in this directory durable.
    func syncDirectory(_ path: String) -> Int32
    /// Locks one byte for the open file description; the kernel releases it when the description
    /// goes. -EAGAIN when another holds it and `wait` is false.
    func lock(_ descriptor: Int32, _ byte: Int64, _ kind: LockKind, wait: Bool) -> Int32
    func unlock(_ descriptor: Int32, _ byte: Int64) -> Int32
    /// 1 when another open file description holds a lock on one of the bytes, else 0.
    func isLocked(_ descriptor: Int32, _ byte: Int64, count: Int64) -> Int32
    /// Maps a file shared and writable; nil and -errno in `code` on failure.
    func mapShared(_ descriptor: Int32, _ bytes: Int, _ code: inout Int32)
        -> UnsafeMutableRawPointer?
    /// Reserves address space without memory behind it, either untouchable (files are mapped into
    /// it later) or as zeros that take memory only when touched.
    func reserve(_ bytes: Int, zeros: Bool, _ code: inout Int32) -> UnsafeMutableRawPointer?
    /// Maps part of a file read-only over reserved address space.
    func mapFixed(
        _ descriptor: Int32, _ target: UnsafeMutableRawPointer, _ offset: Int64, _ bytes: Int
    ) -> Int32
    func unmap(_ base: UnsafeMutableRawPointer, _ bytes: Int) -> Int32
    /// Leaves reserved memory out of core dumps.
    func keepFromDumps(_ base: UnsafeMutableRawPointer, _ bytes: Int) -> Int32
    func random(_ target: UnsafeMutableRawPointer, _ count: Int) -> Int
    func processID() -> Int32
}
