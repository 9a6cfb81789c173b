import Glibc
import Testing

@testable import CoreSwift
@testable import TestSupport

/// One file has many names: all who have it open know of each other, or are refused.
@Suite struct IdentityTests {
    private let directory = TemporaryDirectory()

    private func open(_ path: String) throws -> Store {
        try Store.open(path: path, options: StoreOptions(), files: SystemCalls.shared)
    }

    private func code(_ body: () throws -> Void) -> ErrorCode? {
        do {
            try body()
            return nil
        } catch {
            return (error as? RealmError)?.code
        }
    }

    /// The path of the file relative to the working directory of this process.
    private func relative(_ path: String) -> String {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let depth = String(cString: getcwd(&buffer, buffer.count)!).split(separator: "/").count
        return String(repeating: "../", count: depth) + path.dropFirst()
    }

    @Test func symbolicLinksAndRelativePathsShareTheLockFile() throws {
        let path = directory.file()
        mkdir(directory.file("a"), 0o755)
        symlink(path, directory.file("link"))
        symlink("../test.realm", directory.file("a/link"))
        symlink(directory.path, directory.file("a/dir"))
        let store = try open(path)
        for name in [
            directory.file("link"), directory.file("a/link"), directory.file("a/../test.realm"),
            directory.file("./a/.././test.realm"), directory.file("a/dir/link"), relative(path),
        ] {
            let other = try open(name)
            #expect(other.path == store.path, "\(name)")
            let lease = try store.beginWrite(wait: true)
            #expect(try other.beginWrite(wait: false) == nil, "\(name)")
            lease?.abandon()
            _ = try VersionedWorkload.commitNext(other)
            #expect(other.newestVersion == store.newestVersion)
            try other.close()
        }
        try VersionedWorkload.verifyNewest(store)
        for name in ["link", "a/link"] {
            #expect(access(directory.file(name) + ".lock", F_OK) != 0)
        }
        try store.close()
    }

    @Test func aLinkToNothingBecomesARealmWhereItLeads() throws {
        symlink("target.realm", directory.file("link"))
        let store = try open(directory.file("link"))
        #expect(store.path == directory.file("target.realm"))
        try store.close()
        #expect(access(directory.file("target.realm"), F_OK) == 0)
        symlink("loop", directory.file("loop"))
        #expect(code { _ = try open(directory.file("loop")) } == .fileOperationFailed)
        #expect(code { _ = try open(directory.file("test.realm/")) } == .fileNotFound)
    }

    @Test func aHardLinkOfAnOpenFileIsRefused() throws {
        let path = directory.file()
        var store = try open(path)
        _ = try VersionedWorkload.commitNext(store)
        #expect(Glibc.link(path, directory.file("second")) == 0)
        #expect(code { _ = try open(directory.file("second")) } == .incompatibleSession)
        _ = try VersionedWorkload.commitNext(store)
        try store.close()
        // One after the other is fine.
        let second = try open(directory.file("second"))
        #expect(try VersionedWorkload.commitNext(second) == 4)
        #expect(code { _ = try open(path) } == .incompatibleSession)
        try second.close()
        store = try open(path)
        try VersionedWorkload.verifyNewest(store)
        try store.close()
    }

    @Test func otherProcessesAreNoticedUnderAnyName() throws {
        let path = directory.file()
        try open(path).close()
        #expect(Glibc.link(path, directory.file("second")) == 0)
        symlink(path, directory.file("link"))
        let child = try ChildProcess("lock", path: directory.file("link"))
        try ChildProcess.waitFor(directory.file("link.ready"))
        let store = try open(path)
        #expect(try store.beginWrite(wait: false) == nil)
        #expect(code { _ = try open(directory.file("second")) } == .incompatibleSession)
        try store.close()
        child.kill()
        child.wait()
        let second = try open(directory.file("second"))
        #expect(try VersionedWorkload.commitNext(second) == 2)
        try second.close()
    }

    @Test func aLockFileDeletedWhileInUseDoesNotSplitTheUsers() throws {
        let path = directory.file()
        let store = try open(path)
        unlink(path + ".lock")
        #expect(code { _ = try open(path) } == .incompatibleSession)
        #expect(code { try Realm.deleteFiles(path) } == .deleteOpenedRealm)
        _ = try VersionedWorkload.commitNext(store)
        try store.close()
        let again = try open(path)
        try VersionedWorkload.verifyNewest(again)
        try again.close()
    }

    @Test func aCopyPutInThePlaceOfAnOpenFileIsRefused() throws {
        let path = directory.file()
        let store = try open(path)
        _ = try VersionedWorkload.commitNext(store)
        // The same file id, but another file.
        TestSettings.writeFile(directory.file("copy"), TestSettings.readFile(path))
        rename(directory.file("copy"), path)
        #expect(code { _ = try open(path) } == .incompatibleSession)
        try store.close()
        try open(path).close()
    }

    @Test func aForkedChildOfAKilledProcessDoesNotKeepTheClaim() throws {
        let path = directory.file()
        try open(path).close()
        #expect(Glibc.link(path, directory.file("second")) == 0)
        let child = try ChildProcess("lock and fork", path: path)
        try ChildProcess.waitFor(path + ".ready")
        #expect(code { _ = try open(directory.file("second")) } == .incompatibleSession)
        child.kill()
        child.wait()
        try open(directory.file("second")).close()
        let text = String(decoding: TestSettings.readFile(path + ".child"), as: UTF8.self)
        if let orphan = pid_t(text) { kill(orphan, SIGKILL) }
    }

    @Test func anEmptyFileKeepsItsPermissions() throws {
        let path = directory.file()
        TestSettings.writeFile(path, [])
        chmod(path, 0o600)
        try open(path).close()
        var info = stat()
        #expect(stat(path, &info) == 0)
        #expect(info.st_mode & 0o777 == 0o600)
        #expect(info.st_size > 0)
        #expect(access(path + Store.creationSuffix, F_OK) != 0)
    }

    @Test func realmsOfOneProcessShareTheFileUnderAllItsNames() throws {
        let path = directory.file()
        let realm = try Realm.open(SampleFile.configuration(path))
        #expect(Glibc.link(path, directory.file("second")) == 0)
        symlink(path, directory.file("link"))
        for name in [directory.file("second"), directory.file("link"), relative(path)] {
            let other = try Realm.open(SampleFile.configuration(name))
            #expect(other.file === realm.file, "\(name)")
            #expect(throws: RealmError.self) { try Realm.deleteFiles(name) }
            other.close()
        }
        realm.close()
        #expect(try Realm.deleteFiles(directory.file("link")))
        #expect(access(path, F_OK) != 0)
        var info = stat()
        #expect(lstat(directory.file("link"), &info) != 0)
    }
}
