// What is thrown where a condition would hurt other tests (limits of the process, another user, a second process): each
// is brought about in a process of its own.

import Foundation
import Testing

@_spi(RealmSwiftTesting) @testable import RealmSwift

/// A folder of its own, which stays as long as the process that asks: those that end are cleaned by their caller.
private func folder(_ name: String) -> URL {
    FileManager.default.temporaryDirectory.appendingPathComponent("realm-errors-\(name)")
}

private func prepared(_ url: URL) throws -> URL {
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    return url
}

@Suite struct ThrownErrorProcessTests {
    /// Root may do everything: the process becomes somebody else.
    @Test func filePermissionDenied() async throws {
        await #expect(processExitsWith: .success) {
            let url = try prepared(folder("denied-\(getpid())"))
            defer { try? FileManager.default.removeItem(at: url) }
            let file = url.appendingPathComponent("a.realm")
            let configuration = Realm.Configuration(fileURL: file, objectTypes: [Parcel.self])
            try Realm(configuration: configuration).core.close()
            #expect(chmod(file.path, 0) == 0 && chmod(url.path, 0o755) == 0)
            #expect(chmod(file.path + ".lock", 0o666) == 0)
            let isRoot = geteuid() == 0
            let other = try Realm(configuration: memory([Parcel.self]))
            if isRoot { try #require(seteuid(65534) == 0) }
            let error = try #require(caught { _ = try Realm(configuration: configuration) })
            #expect(error.code == .filePermissionDenied && error.fileURL == file)
            try #require(isRoot || chmod(url.path, 0o555) == 0)
            let copy = url.appendingPathComponent("copy.realm")
            #expect(caught { try other.writeCopy(toFile: copy) }?.code == .filePermissionDenied)
            if isRoot { try #require(seteuid(0) == 0) }
            _ = chmod(url.path, 0o755)
        }
    }

    /// What the system says no to without a code of its own: that the process may not have more files open.
    @Test func fileOperationsFailWithoutDescriptors() async throws {
        await #expect(processExitsWith: .success) {
            let url = try prepared(folder("descriptors-\(getpid())"))
            defer { try? FileManager.default.removeItem(at: url) }
            let configuration = Realm.Configuration(
                fileURL: url.appendingPathComponent("a.realm"), objectTypes: [Parcel.self])
            try Realm(configuration: configuration).core.close()
            var limit = rlimit()
            getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            let before = limit.rlim_cur
            var codes: Set<Realm.Error.Code> = []
            // The descriptors in use are the lowest; each attempt gets one more.
            for more in 0..<64 {
                let free = dup(0)
                close(free)
                limit.rlim_cur = rlim_t(Int(free) + more)
                setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
                do {
                    try Realm(configuration: configuration).core.close()
                    break
                } catch let error as Realm.Error {
                    codes.insert(error.code)
                }
            }
            limit.rlim_cur = before
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            #expect(codes == [.fileOperationFailed], "\(codes)")
            try Realm(configuration: configuration).core.close()
        }
    }

    /// Waiting for who writes takes a thread, which a user who has no more of them can't have.
    @Test func fileAccess() async throws {
        let place = try prepared(folder("threads-\(getpid())"))
        defer { try? FileManager.default.removeItem(at: place) }
        await #expect(processExitsWith: .success) {
            let url = folder("threads-\(getppid())")
            let file = url.appendingPathComponent("a.realm")
            let configuration = Realm.Configuration(fileURL: file, objectTypes: [Parcel.self])
            try Realm(configuration: configuration).core.close()
            for name in try FileManager.default.contentsOfDirectory(atPath: url.path) {
                _ = chmod(url.appendingPathComponent(name).path, 0o666)
            }
            _ = chmod(url.path, 0o777)
            try await Lonely().write(configuration)
        }
    }

    /// Another process has the file open, with a lock file of another layout.
    @Test func incompatibleLockFile() async throws {
        let url = try prepared(folder("layout-\(getpid())"))
        defer { try? FileManager.default.removeItem(at: url) }
        let configuration = Realm.Configuration(
            fileURL: url.appendingPathComponent("a.realm"), objectTypes: [Parcel.self])
        let realm = try Realm(configuration: configuration)
        let lock = try FileHandle(
            forUpdating: url.appendingPathComponent("a.realm.lock"))
        try lock.seek(toOffset: 8)
        let layout = try #require(try lock.read(upToCount: 4))
        try lock.seek(toOffset: 8)
        try lock.write(contentsOf: Data([250, 0, 0, 0]))
        await #expect(processExitsWith: .success) {
            let file = folder("layout-\(getppid())").appendingPathComponent("a.realm")
            let error = try #require(
                caught {
                    _ = try Realm(configuration: .init(fileURL: file, objectTypes: [Parcel.self]))
                })
            #expect(
                error.code == .incompatibleLockFile
                    && error.fileURL?.path.contains("a.realm") == true)
        }
        try lock.seek(toOffset: 8)
        try lock.write(contentsOf: layout)
        try lock.close()
        realm.core.close()
    }

    @Test func addressSpaceExhausted() async throws {
        await #expect(processExitsWith: .success) {
            let url = try prepared(folder("memory-\(getpid())"))
            defer { try? FileManager.default.removeItem(at: url) }
            let file = url.appendingPathComponent("a.realm")
            let configuration = Realm.Configuration(fileURL: file, objectTypes: [Parcel.self])
            try Realm(configuration: configuration).core.close()
            // It may be longer than what it holds; the disk has none of that.
            #expect(truncate(file.path, 8 << 30) == 0)
            let status = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
            let pages = try #require(status.split(separator: " ").first.flatMap { UInt64($0) })
            var limit = rlimit()
            getrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit)
            let before = limit.rlim_cur
            limit.rlim_cur = rlim_t(pages) * 4096 + (1 << 30)
            setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit)
            let error = try #require(caught { _ = try Realm(configuration: configuration) })
            #expect(error.code == .addressSpaceExhausted, "\(error)")
            limit.rlim_cur = before
            setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit)
            try Realm(configuration: configuration).core.close()
        }
    }

    /// A file that may not become larger is none of the conditions that have codes: `fail`. The transaction is undone.
    @Test func failIsTheRest() async throws {
        await #expect(processExitsWith: .success) {
            let url = try prepared(folder("size-\(getpid())"))
            defer { try? FileManager.default.removeItem(at: url) }
            let configuration = Realm.Configuration(
                fileURL: url.appendingPathComponent("a.realm"),
                objectTypes: [Dog.self, Person.self, Address.self])
            let realm = try Realm(configuration: configuration)
            try realm.write { realm.create(Dog.self, value: ["name": "Rex"]) }
            signal(SIGXFSZ, SIG_IGN)
            var limit = rlimit()
            getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
            let before = limit.rlim_cur
            limit.rlim_cur = 1 << 20
            setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
            let error = try #require(
                caught {
                    try realm.write {
                        for index in 0..<40 {
                            let name = String(repeating: "\(index)", count: 100_000)
                            realm.create(Dog.self, value: ["name": name])
                        }
                    }
                })
            #expect(error.code == .fail && error == Realm.Error.callFailed)
            #expect(realm.objects(Dog.self).count == 1 && !realm.isInWriteTransaction)
            limit.rlim_cur = before
            setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
            try realm.write { realm.create(Dog.self, value: ["name": "Max"]) }
            #expect(realm.objects(Dog.self).count == 2)
        }
    }

    /// The disk is one of four megabytes, which this process alone sees.
    @Test(.enabled(if: FullDisk.canBeMade)) func outOfDiskSpace() async throws {
        let place = try prepared(folder("full-\(getpid())"))
        defer { try? FileManager.default.removeItem(at: place) }
        await #expect(processExitsWith: .success) {
            let url = folder("full-\(getppid())")
            try #require(FullDisk.make(at: url.path))
            let file = url.appendingPathComponent("a.realm")
            let realm = try Realm(
                configuration: .init(
                    fileURL: file, objectTypes: [Dog.self, Person.self, Address.self]))
            try realm.write { realm.create(Dog.self, value: ["name": "Rex"]) }
            let error = try #require(
                caught {
                    try realm.write {
                        for index in 0..<100 {
                            let name = String(repeating: "\(index)", count: 100_000)
                            realm.create(Dog.self, value: ["name": name])
                        }
                    }
                })
            #expect(error.code == .outOfDiskSpace, "\(error)")
            // Undone, and what fits is written.
            #expect(realm.objects(Dog.self).count == 1 && !realm.isInWriteTransaction)
            try realm.write { realm.create(Dog.self, value: ["name": "Max"]) }
            #expect(realm.objects(Dog.self).count == 2)
        }
    }
}

/// Writes while another thread does, in a process that may have no more threads.
private actor Lonely {
    func write(_ configuration: Realm.Configuration) async throws {
        let realm = try await Realm(configuration: configuration, actor: self)
        let (begun, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        Thread {
            let other = try? Realm(configuration: configuration)
            other?.beginWrite()
            begun.signal()
            mayEnd.wait()
            other?.cancelWrite()
            begun.signal()
        }.start()
        wait(begun)
        // The limit is not for root.
        if geteuid() == 0 { try #require(setreuid(65534, 65534) == 0) }
        let resource = __rlimit_resource_t(__RLIMIT_NPROC.rawValue)
        var limit = rlimit()
        getrlimit(resource, &limit)
        let before = limit.rlim_cur
        limit.rlim_cur = 0
        setrlimit(resource, &limit)
        do {
            try await realm.asyncWrite { _ = realm.create(Parcel.self, value: [1, 2.5]) }
            Issue.record("nothing was thrown")
        } catch let error as Realm.Error {
            #expect(error.code == .fileAccess && error.localizedDescription.contains("thread"))
            #expect((error as NSError).code == 2 && error.fileURL == configuration.fileURL)
        }
        #expect(realm.isEmpty && !realm.isInWriteTransaction)
        limit.rlim_cur = before
        setrlimit(resource, &limit)
        mayEnd.signal()
        wait(begun)
        try await realm.asyncWrite { _ = realm.create(Parcel.self, value: [1, 2.5]) }
        #expect(realm.objects(Parcel.self).count == 1)
    }

    private nonisolated func wait(_ semaphore: DispatchSemaphore) { semaphore.wait() }
}

/// A disk that becomes full, for the calling thread and those that it starts.
private enum FullDisk {
    private typealias Mount =
        @convention(c) (
            UnsafePointer<CChar>, UnsafePointer<CChar>, UnsafePointer<CChar>, UInt,
            UnsafeRawPointer?
        ) -> Int32
    private typealias Unshare = @convention(c) (Int32) -> Int32

    /// The process may make mounts of its own: it has CAP_SYS_ADMIN.
    static var canBeMade: Bool {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("CapEff:") }
        let digits = line?.dropFirst(7).trimmingCharacters(in: .whitespaces) ?? ""
        return (UInt64(digits, radix: 16) ?? 0) >> 21 & 1 == 1
    }

    static func make(at path: String) -> Bool {
        let here = dlopen(nil, RTLD_NOW)
        guard let mountSymbol = dlsym(here, "mount"), let unshareSymbol = dlsym(here, "unshare")
        else { return false }
        let mount = unsafeBitCast(mountSymbol, to: Mount.self)
        let unshare = unsafeBitCast(unshareSymbol, to: Unshare.self)
        let (newMounts, isPrivateBelow) = (Int32(0x20000), UInt(0x4000 | 0x40000))
        guard unshare(newMounts) == 0, mount("none", "/", "none", isPrivateBelow, nil) == 0 else {
            return false
        }
        return "size=4m".withCString { mount("realm", path, "tmpfs", 0, $0) == 0 }
    }
}
