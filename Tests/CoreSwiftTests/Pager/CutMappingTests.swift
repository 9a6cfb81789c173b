import Glibc
import Testing

@testable import CoreSwift
@testable import TestSupport

/// Another program truncates a file that is open: an error, and not the end of the process. How signals are
/// passed on is shown by `Tests/C/truncated.c`.
@Suite struct CutMappingTests {
    private let directory = TemporaryDirectory()

    private func open(_ key: [UInt8]) throws -> Store {
        var options = StoreOptions()
        options.reservedBytes = 64 << 20
        options.encryptionKey = key
        return try Store.open(
            path: directory.file(), options: options, files: SystemCalls.shared)
    }

    private func fill(_ store: Store) throws -> ToyModel {
        var model: ToyModel = [:]
        let changes = Dictionary(uniqueKeysWithValues: (0..<39).map { ($0, Optional(UInt64(2))) })
        store.unpin(try ToyClient.commit(store, &model, changes).version)
        return model
    }

    private func expectCut(_ store: Store) {
        for _ in 0..<2 {
            let error = #expect(throws: RealmError.self) { _ = try store.pinNewest() }
            #expect(error?.code == .invalidDatabase)
            #expect(error?.message.contains("truncated the file") == true)
        }
        #expect(throws: RealmError.self) { _ = try store.beginWrite(wait: true) }
    }

    @Test(arguments: [0, 4096, 8192, 40960])
    func `reading what is gone is an error`(bytes: Int) throws {
        for key in [[], FileCipherTests.key] {
            unlink(directory.file())
            let first = try open(key)
            let model = try fill(first)
            try first.close()
            let whole = TestSettings.readFile(directory.file())
            let store = try open(key)
            let pin = try store.pinNewest()
            #expect(truncate(directory.file(), bytes) == 0)
            let error = #expect(throws: RealmError.self) {
                try ToyClient.verify(store, pin, model)
            }
            #expect(error?.message.contains("truncated the file") == true, "\(error!.message)")
            expectCut(store)
            try store.close()
            TestSettings.writeFile(directory.file(), whole)
            let again = try open(key)
            try ToyClient.verify(again, try again.pinNewest(), model)
            try again.close()
        }
    }

    /// Readers use these without looking.
    @Test func `blocks that were verified before read as zeros, and the next step says why`() throws
    {
        let store = try open([])
        let model = try fill(store)
        let pin = try store.pinNewest()
        try ToyClient.verify(store, pin, model)
        let (_, leaves) = try ToyClient.references(store, pin)
        #expect(truncate(directory.file(), 8192) == 0)
        let page = try #require(leaves[0]).page
        let block = UnsafeRawPointer(store.source.pointee.base + Int(page) << Page.shift)
        #expect(block.u64(0) == 0)
        #expect(store.mapping.source.pointee.mappedPages == 0)
        expectCut(store)
        try store.close()
    }

    @Test func `a lock file that is cut is no better`() throws {
        let store = try open([])
        _ = try fill(store)
        #expect(truncate(directory.file() + ".lock", 0) == 0)
        _ = store.newestVersion
        expectCut(store)
        try? store.close()
    }

    @Test func `other files are not concerned`() throws {
        let store = try open([])
        var model = try fill(store)
        let pin = try store.pinNewest()
        do {
            let other = try Store.open(
                path: directory.file("other.realm"), options: StoreOptions(),
                files: SystemCalls.shared)
            #expect(truncate(directory.file("other.realm"), 0) == 0)
            #expect(throws: RealmError.self) { _ = try other.pinNewest() }
            try? other.close()
        }
        try ToyClient.verify(store, pin, model)
        store.unpin(try ToyClient.commit(store, &model, [1: 9]).version)
        try store.close()
    }
}
