// Encrypted files of realm-core: what is wrong with a key or a page is told; and files that are in use.

import CoreSwift
import Glibc
import RealmCoreFile
import RealmImport
import Testing

@testable import TestSupport

@Suite struct EncryptedCoreFileTests {
    private static let key = CoreFileSample.anyKey

    /// The error of reading all of a file; nil for none.
    private func error(
        _ bytes: [UInt8], key: [UInt8] = key, evenInUse: Bool = false
    ) -> CoreFileError? {
        let directory = TemporaryDirectory()
        let path = directory.file("old.realm")
        TestSettings.writeFile(path, bytes)
        return error(path, key: key, evenInUse: evenInUse)
    }

    private func error(
        _ path: String, key: [UInt8] = key, evenInUse: Bool = false
    ) -> CoreFileError? {
        do throws(CoreFileError) {
            let file = try CoreFile(path, key: key, evenInUse: evenInUse)
            for table in file.tables.indices { try file.forEachObject(of: table) { (_, _) in } }
            return nil
        } catch {
            return error
        }
    }

    @Test("what is wrong with a key is told")
    func keys() throws {
        let bytes = try CoreFileSample(name: "encrypted").bytes()
        #expect(error(bytes) == nil)
        let missing = error(bytes, key: [])
        #expect(missing?.code == .wrongKey)
        #expect(missing?.message.contains("can be read with its key only") == true)
        // Of both halves.
        for place in [0, 40] {
            var other = Self.key
            other[place] ^= 1
            let wrong = error(bytes, key: other)
            // The first half decrypts only: what comes of it is no header.
            #expect(wrong?.code == (place == 0 ? .notRealm : .wrongKey))
        }
        #expect(error(bytes, key: Array(Self.key.dropLast()))?.code == .misuse)
        let plain = try CoreFileSample(name: "migrated").bytes()
        let needless = error(plain)
        #expect(needless?.code == .wrongKey)
        #expect(needless?.message == "the file is not encrypted, but a key was given")
        #expect(error(Array(bytes.dropLast(100)))?.code == .notRealm)
        #expect(error(Array(bytes.prefix(4096)))?.code == .notRealm)
        #expect(error([UInt8](repeating: 0, count: 8192))?.code == .notRealm)
    }

    @Test("a damaged page is named with its place, or what it was before is read")
    func pages() throws {
        let bytes = try CoreFileSample(name: "convert_encrypted").bytes()
        var refused = 0
        for page in 0..<bytes.count / 4096 - 1 {
            var damaged = bytes
            damaged[(page + 1) * 4096 + 1000] ^= 4
            guard let found = error(damaged) else { continue }
            refused += 1
            if page == 0 {
                #expect(found.code == .wrongKey)
            } else if found.message.contains("does not fit the key") {
                #expect(found.code == .damaged)
                #expect(found.message.contains("page \(page) at byte \((page + 1) * 4096) "))
            }
        }
        #expect(refused > 0)
    }

    @Test("a page whose last writing was interrupted is the one before")
    func interrupted() throws {
        var bytes = try CoreFileSample(name: "convert_encrypted").bytes()
        let whole = try dump(bytes)
        // As the library does: the record of the last time becomes that of the time before, and a new one
        // takes its place, whose page was never written.
        for page in 0..<bytes.count / 4096 - 1 {
            let record = page * 64
            if bytes[record..<record + 4].allSatisfy({ $0 == 0 }) { continue }
            bytes.replaceSubrange(record + 32..<record + 64, with: bytes[record..<record + 32])
            bytes[record] &+= 1
            bytes[record + 9] ^= 0x55
        }
        #expect(try dump(bytes) == whole)
    }

    private func dump(_ bytes: [UInt8]) throws -> [String] {
        let directory = TemporaryDirectory()
        let path = directory.file("old.realm")
        TestSettings.writeFile(path, bytes)
        return try CoreFileDump(CoreFile(path, key: Self.key), allTables: true).lines
    }

    @Test("a file that a program has open is refused unless told otherwise")
    func inUse() throws {
        let directory = TemporaryDirectory()
        let (old, new) = (directory.file("old.realm"), directory.file("new.realm"))
        let lock = old + ".lock"
        TestSettings.writeFile(old, try CoreFileSample(name: "migrated").bytes())
        TestSettings.writeFile(lock, [1, 2, 3])
        #expect(error(old, key: []) == nil)
        // As the old library marks it.
        let descriptor = open(lock, O_RDWR)
        defer { close(descriptor) }
        try #require(flock(descriptor, LOCK_SH | LOCK_NB) == 0)
        #expect(error(old, key: [])?.code == .inUse)
        do throws(RealmError) {
            _ = try OldFileImport.run(old, to: new)
            Issue.record("a file in use was imported")
        } catch {
            #expect(error.code == .fileOperationFailed)
            #expect(error.message.contains("has the file open"))
        }
        #expect(error(old, key: [], evenInUse: true) == nil)
        _ = try OldFileImport.run(old, to: new, ImportOptions(evenInUse: true))
        flock(descriptor, LOCK_UN)
        // While it is read, nobody gets the lock that opening the file takes.
        let file = try CoreFile(old)
        #expect(flock(descriptor, LOCK_SH | LOCK_NB) != 0)
        try file.checkUnchanged()
        // Who commits all the same is found out.
        var bytes = TestSettings.readFile(old)
        bytes[23] ^= 1
        TestSettings.writeFile(old, bytes)
        #expect(throws: CoreFileError.self) { try file.checkUnchanged() }
        #expect(TestSettings.readFile(lock) == [1, 2, 3])
        #expect(TemporaryDirectory.names(directory.path).count == 3)
    }
}
