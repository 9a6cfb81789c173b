// The real file system: all system calls of the engine are in this file, one per function, except
// byte locks (ByteLocks.swift), because those are a Linux topic of their own. Callers go through
// `OpenFile`, which retries and makes errors of the codes.

import CKernels
import Glibc

final class SystemCalls: FileSystem {
    static let shared = SystemCalls()

    func open(_ path: String, _ access: FileAccess) -> Int32 {
        // A pipe in the place of a file must not keep the caller waiting for its other end; files
        // do not care.
        var flags = O_CLOEXEC | O_NOCTTY | O_NONBLOCK
        switch access {
        case .readOnly: flags |= O_RDONLY
        case .readWrite: flags |= O_RDWR
        case .create: flags |= O_RDWR | O_CREAT | O_NOFOLLOW
        }
        return aboveStandard(result(Glibc.open(path, flags, 0o644)))
    }

    /// A program may have been started without standard input, output or error. What it prints all the same would
    /// be written into a file that has one of their numbers.
    private func aboveStandard(_ descriptor: Int32) -> Int32 {
        guard (0...2).contains(descriptor) else { return descriptor }
        let moved = result(fcntl(descriptor, F_DUPFD_CLOEXEC, 3))
        _ = Glibc.close(descriptor)
        return moved
    }

    func close(_ descriptor: Int32) -> Int32 { result(Glibc.close(descriptor)) }

    func status(_ descriptor: Int32, _ result: inout FileStatus) -> Int32 {
        var info = stat()
        guard fstat(descriptor, &info) == 0 else { return -errno }
        result = FileStatus(
            bytes: Int64(info.st_size), isRegular: info.st_mode & S_IFMT == S_IFREG,
            identity: FileIdentity(device: UInt64(info.st_dev), inode: UInt64(info.st_ino)),
            permissions: UInt32(info.st_mode & 0o777), owner: info.st_uid, group: info.st_gid,
            links: Int(info.st_nlink))
        return 0
    }

    func read(
        _ descriptor: Int32, _ target: UnsafeMutableRawPointer, _ count: Int, _ offset: Int64
    ) -> Int { result(Glibc.pread(descriptor, target, count, Int(offset))) }

    func write(
        _ descriptor: Int32, _ source: UnsafeRawPointer, _ count: Int, _ offset: Int64
    ) -> Int { result(Glibc.pwrite(descriptor, source, count, Int(offset))) }

    func write(
        _ descriptor: Int32, _ vectors: UnsafeBufferPointer<IOVector>, _ offset: Int64
    ) -> Int {
        guard let start = vectors.baseAddress else { return 0 }
        let count = min(vectors.count, 1024)  // IOV_MAX; more fail with EINVAL
        return start.withMemoryRebound(to: iovec.self, capacity: count) {
            result(Glibc.pwritev(descriptor, $0, Int32(count), Int(offset)))
        }
    }

    func truncate(_ descriptor: Int32, _ bytes: Int64) -> Int32 {
        result(Glibc.ftruncate(descriptor, Int(bytes)))
    }

    func beginReading(_ descriptor: Int32, _ offset: Int64, _ count: Int) {
        _ = Glibc.posix_fadvise(descriptor, Int(offset), count, POSIX_FADV_WILLNEED)
    }

    func beginWriting(_ descriptor: Int32, _ offset: Int64, _ count: Int) {
        ck_begin_writing(descriptor, offset, Int64(count))
    }

    func sync(_ descriptor: Int32) -> Int32 { result(Glibc.fdatasync(descriptor)) }

    func remove(_ path: String) -> Int32 { result(Glibc.unlink(path)) }

    func realPath(_ path: String, _ result: inout String) -> Int32 {
        guard let resolved = Glibc.realpath(path, nil) else { return -errno }
        defer { free(resolved) }
        guard let text = String(validatingCString: resolved) else { return -EILSEQ }
        result = text
        return 0
    }

    func readLink(_ path: String, _ result: inout String) -> Int32 {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX) + 1) { buffer in
            buffer.initialize(repeating: 0)
            guard let start = buffer.baseAddress else { return -ENAMETOOLONG }
            guard Glibc.readlink(path, start, buffer.count - 1) >= 0 else { return -errno }
            guard let text = String(validatingCString: start) else { return -EILSEQ }
            result = text
            return 0
        }
    }

    func setPermissions(_ descriptor: Int32, _ permissions: UInt32) -> Int32 {
        result(Glibc.fchmod(descriptor, permissions))
    }

    func setOwner(_ descriptor: Int32, _ owner: UInt32, _ group: UInt32) -> Int32 {
        result(Glibc.fchown(descriptor, owner, group))
    }

    func link(_ path: String, _ name: String) -> Int32 { result(Glibc.link(path, name)) }

    func rename(_ path: String, _ name: String) -> Int32 { result(Glibc.rename(path, name)) }

    func removeDirectory(_ path: String) -> Int32 { result(Glibc.rmdir(path)) }

    func list(_ path: String, _ names: inout [String]) -> Int32 {
        guard let stream = opendir(path) else { return -errno }
        defer { closedir(stream) }
        while true {
            errno = 0
            guard let entry = readdir(stream) else { return -errno }
            // The name's length is the record's business; the C type only has room for any.
            let start = UnsafeRawPointer(entry) + (MemoryLayout<dirent>.offset(of: \.d_name) ?? 0)
            let name = String(cString: start.assumingMemoryBound(to: CChar.self))
            if name != ".", name != ".." { names.append(name) }
        }
    }

    func syncDirectory(_ path: String) -> Int32 {
        let descriptor = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return -errno }
        let outcome = result(Glibc.fsync(descriptor))
        _ = Glibc.close(descriptor)
        // Some file systems can't sync directories; they say so with EINVAL.
        return outcome == -EINVAL ? 0 : outcome
    }

    func lock(_ descriptor: Int32, _ byte: Int64, _ kind: LockKind, wait: Bool) -> Int32 {
        ByteLocks.lock(descriptor, byte, kind, wait: wait)
    }

    func unlock(_ descriptor: Int32, _ byte: Int64) -> Int32 {
        ByteLocks.unlock(descriptor, byte)
    }

    func isLocked(_ descriptor: Int32, _ byte: Int64, count: Int64) -> Int32 {
        ByteLocks.isLocked(descriptor, byte, count)
    }

    func mapShared(
        _ descriptor: Int32, _ bytes: Int, _ code: inout Int32
    ) -> UnsafeMutableRawPointer? {
        mapped(mmap(nil, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0), &code)
    }

    func reserve(_ bytes: Int, zeros: Bool, _ code: inout Int32) -> UnsafeMutableRawPointer? {
        let protection = zeros ? PROT_READ | PROT_WRITE : PROT_NONE
        let flags = MAP_PRIVATE | Int32(MAP_ANONYMOUS) | Int32(MAP_NORESERVE)
        return mapped(mmap(nil, bytes, protection, flags, -1, 0), &code)
    }

    func mapFixed(
        _ descriptor: Int32, _ target: UnsafeMutableRawPointer, _ offset: Int64, _ bytes: Int
    ) -> Int32 {
        let flags = MAP_SHARED | Int32(MAP_FIXED)
        var code: Int32 = 0
        _ = mapped(mmap(target, bytes, PROT_READ, flags, descriptor, Int(offset)), &code)
        return code
    }

    func unmap(_ base: UnsafeMutableRawPointer, _ bytes: Int) -> Int32 {
        result(munmap(base, bytes))
    }

    func keepFromDumps(_ base: UnsafeMutableRawPointer, _ bytes: Int) -> Int32 {
        result(madvise(base, bytes, MADV_DONTDUMP))
    }

    func random(_ target: UnsafeMutableRawPointer, _ count: Int) -> Int {
        Int(result(getentropy(target, count)))
    }

    func processID() -> Int32 { getpid() }

    private func mapped(
        _ address: UnsafeMutableRawPointer?, _ code: inout Int32
    ) -> UnsafeMutableRawPointer? {
        guard let address, address != MAP_FAILED else {
            code = -errno
            return nil
        }
        code = 0
        return address
    }

    @inline(__always) private func result<T: SignedInteger>(_ value: T) -> T {
        value < 0 ? -T(errno) : value
    }
}
