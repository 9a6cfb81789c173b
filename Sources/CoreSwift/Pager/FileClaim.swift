// The claim of a session on the realm file itself. The lock file keeps those apart who reach the
// realm by one path; links are resolved before. What remains are hard links, and lock files that
// somebody deleted while they were in use: two lock files for one realm, whose users would not
// know of each other. So every store also holds a lock on the realm file, on a byte that stands for
// its lock file. A store that finds one on another byte refuses, unless that goes in a moment: a process that another
// thread of a closing program starts holds what that held, until it is another program.
//
// Each store takes its own lock before it looks for others: of two that come at the same moment
// by different names at least one is refused.
//
// The lock is on a descriptor of its own, because a mapping would keep the lock of the one it was
// made with alive in forked children.

import CKernels

final class FileClaim {
    /// Bytes from here on, far behind any file's end, stand for lock files by their inode.
    private static let firstByte: Int64 = 1 << 42
    private static let byteCount: Int64 = 1 << 42
    /// The moment: so many looks, and nanoseconds between them.
    private static let looksMax = 300
    private static let lookPause: UInt32 = 1_000_000

    private let file: OpenFile

    /// Claims the file at `path` for the session of a lock file. `joins`: others hold the claim of
    /// this session already.
    init(
        _ path: String, _ identity: FileIdentity, for lockFile: FileIdentity, joins: Bool,
        files: FileSystem
    ) throws(RealmError) {
        file = try OpenFile(path, .readOnly, files)
        file.closeInForkedChildren()
        guard try file.status().identity == identity else {
            throw RealmError(
                .incompatibleSession, "'\(path)': the file was replaced while it was opened",
                path: path)
        }
        let own = Self.firstByte + Int64(lockFile.inode & UInt64(Self.byteCount - 1))
        _ = try file.lock(own, .shared, wait: false)
        guard !joins else { return }
        for _ in 0..<Self.looksMax {
            if try !isTaken(besides: own) { return }
            ck_rest(Self.lookPause)
        }
        throw RealmError(
            .incompatibleSession,
            "'\(path)': the file is open under another name (a hard link), or its lock file"
                + " was deleted while others have it open", path: path)
    }

    private func isTaken(besides own: Int64) throws(RealmError) -> Bool {
        try isLocked(Self.firstByte, own)
            ? true : isLocked(own + 1, Self.firstByte + Self.byteCount)
    }

    private func isLocked(_ first: Int64, _ end: Int64) throws(RealmError) -> Bool {
        // A count of zero would mean all bytes.
        first < end ? try file.isLocked(first, count: end - first) : false
    }

    func close() { file.close() }

    /// Whether anybody has claimed the file at `path`, for whatever lock file.
    static func isHeld(_ path: String, _ files: FileSystem) throws(RealmError) -> Bool {
        let file: OpenFile
        do throws(RealmError) {
            file = try OpenFile(path, .readOnly, files)
        } catch {
            // Who may not read it can't ask.
            guard error.code == .fileNotFound || error.code == .filePermissionDenied
            else { throw error }
            return false
        }
        return try file.isLocked(firstByte, count: byteCount)
    }
}
