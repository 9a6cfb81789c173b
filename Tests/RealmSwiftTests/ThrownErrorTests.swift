// What is thrown, code by code: each condition is brought about with the functions that programs call, and what arrives
// is looked at as programs do. Conditions that would hurt other tests are in ThrownErrorProcessTests.swift.
//
// Not brought about, as nothing throws them: `fileFormatUpgradeRequired` (there is no format of files that this library
// would have to convert; tested where the engine's errors become the program's) and `incompatibleSession`.

@testable import struct CoreSwift.ContentHash
import enum CoreSwift.ErrorCode
import struct CoreSwift.RealmError
import Foundation
import Testing

@_spi(RealmSwiftTesting) @testable import RealmSwift

private enum Wrong {
    /// Of another type than `Parcel`'s.
    class Parcel: Object {
        @Persisted(primaryKey: true) var id: Int
        @Persisted var weight: String
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }

    class Tree: Object {
        @Persisted var name: String
        @Persisted(originProperty: "name") var others: LinkingObjects<Tree>
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }
}

@Suite struct ThrownErrorTests {
    private func closed(_ configuration: Realm.Configuration) throws {
        let realm = try Realm(configuration: configuration)
        try realm.write { realm.create(Parcel.self, value: [1, 2.5]) }
        realm.core.close()
    }

    // MARK: Codes

    @Test func fileNotFound() throws {
        try withFile([Parcel.self]) { configuration in
            let url = try #require(configuration.fileURL)
            var readOnly = configuration
            readOnly.readOnly = true
            let error = try #require(caught { _ = try Realm(configuration: readOnly) })
            #expect(error.code == .fileNotFound && error.fileURL?.path == url.path)
            #expect(error.localizedDescription.contains(url.path))
            #expect(caught { _ = try schemaVersionAtURL(url) }?.code == .fileNotFound)
            var seeded = configuration
            seeded.seedFilePath = url.appendingPathExtension("seed")
            let missing = try #require(caught { _ = try Realm(configuration: seeded) })
            #expect(missing.code == .fileNotFound && missing.fileURL == seeded.seedFilePath)
            #expect(
                caught { try Realm.changeEncryptionKey(for: configuration, to: nil) }?.code
                    == .fileNotFound)
            #expect(!FileManager.default.fileExists(atPath: url.path))
        }
    }

    @Test func fileExists() throws {
        try withFile([Parcel.self]) { configuration in
            let realm = try Realm(configuration: memory([Parcel.self]))
            let url = try #require(configuration.fileURL)
            try realm.writeCopy(toFile: url)
            let error = try #require(caught { try realm.writeCopy(toFile: url) })
            #expect(error.code == .fileExists && error.fileURL?.path == url.path)
            #expect(try schemaVersionAtURL(url) == 0)
        }
    }

    @Test func schemaMismatch() throws {
        try withFile([Parcel.self]) { configuration in
            try closed(configuration)
            var other = configuration
            other.objectTypes = [Wrong.Parcel.self]
            let error = try #require(caught { _ = try Realm(configuration: other) })
            #expect(error.code == .schemaMismatch)
            // The message says what it is about.
            #expect(error.localizedDescription.contains("Parcel"))
            #expect(error.localizedDescription.contains("weight"))
            // A lower version than the file's.
            var next = configuration
            next.schemaVersion = 2
            try Realm(configuration: next).core.close()
            let lower = try #require(caught { _ = try Realm(configuration: configuration) })
            #expect(lower.code == .schemaMismatch && lower.localizedDescription.contains("2"))
            // A migration that cannot be: two objects get one key.
            next.schemaVersion = 3
            next.migrationBlock = { migration, _ in
                migration.create("Parcel", value: [7, 1.5])
                migration.enumerateObjects(ofType: "Parcel") { _, new in new?["id"] = 7 }
            }
            #expect(caught { _ = try Realm(configuration: next) }?.code == .schemaMismatch)
            // Classes that break the rules of schemas.
            let tree = memory([Wrong.Tree.self])
            let rule = try #require(caught { _ = try Realm(configuration: tree) })
            #expect(rule.code == .schemaMismatch && rule.localizedDescription.contains("others"))
        }
    }

    @Test func alreadyOpen() throws {
        try withFile([Parcel.self]) { configuration in
            let realm = try Realm(configuration: configuration)
            let key = Realm.generateEncryptionKey()
            for attempt: () throws -> Void in [
                { try Realm.deleteFiles(for: configuration) },
                { try Realm.performMigration(for: configuration) },
                { try Realm.changeEncryptionKey(for: configuration, to: key) },
            ] {
                let error = try #require(caught(attempt))
                #expect(error.code == .alreadyOpen && error.fileURL == configuration.fileURL)
            }
            #expect(realm.isEmpty)
            realm.core.close()
            #expect(try Realm.deleteFiles(for: configuration))
        }
    }

    @Test func invalidInput() throws {
        try withFile([Parcel.self]) { configuration in
            try closed(configuration)
            let url = try #require(configuration.fileURL)
            let realm = try Realm(configuration: memory([Parcel.self]))
            let short = Data([1, 2, 3])
            let copy = url.appendingPathExtension("copy")
            for attempt: () throws -> Void in [
                { _ = try schemaVersionAtURL(url, encryptionKey: short) },
                { try realm.writeCopy(toFile: copy, encryptionKey: short) },
                { try Realm.changeEncryptionKey(for: configuration, to: short) },
                { _ = try realm.objects(Parcel.self).filtered("weight >") },
                { _ = try realm.objects(Parcel.self).filtered("height > 3") },
                { _ = try ObjectId(string: "0123") },
                { _ = try Decimal128(string: "one") },
                { try realm.cancelAsyncWrite(77) },
            ] {
                let error = try #require(caught(attempt))
                #expect(error.code == .invalidInput && !error.localizedDescription.isEmpty)
            }
            #expect(!FileManager.default.fileExists(atPath: copy.path))
        }
    }

    @Test func unsupportedFileFormatVersion() throws {
        try withFile([Parcel.self]) { configuration in
            try closed(configuration)
            let url = try #require(configuration.fileURL)
            var bytes = [UInt8](try Data(contentsOf: url))
            // The number of the format is in both headers, of 512 bytes, which end with their check value.
            for header in [0, 4096] {
                bytes.withUnsafeMutableBytes { bytes in
                    let part = UnsafeMutableRawBufferPointer(rebasing: bytes[header..<header + 512])
                    part.storeBytes(of: 99, toByteOffset: 8, as: UInt32.self)
                    part.storeBytes(of: 0, toByteOffset: 496, as: UInt64.self)
                    part.storeBytes(of: 0, toByteOffset: 504, as: UInt64.self)
                    guard let start = part.baseAddress else { return }
                    let check = ContentHash.of(start, count: 512, seed0: 0, seed1: 0)
                    part.storeBytes(of: check.low, toByteOffset: 496, as: UInt64.self)
                    part.storeBytes(of: check.high, toByteOffset: 504, as: UInt64.self)
                }
            }
            try Data(bytes).write(to: url)
            let error = try #require(caught { _ = try Realm(configuration: configuration) })
            #expect(error.code == .unsupportedFileFormatVersion && error.fileURL == url)
            #expect(error.localizedDescription.contains("99"))
        }
    }

    @Test func fileOperationFailed() throws {
        try withFile([Parcel.self]) { configuration in
            let url = try #require(configuration.fileURL)
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
            let error = try #require(caught { _ = try Realm(configuration: configuration) })
            #expect(error.code == .fileOperationFailed && error.fileURL?.path == url.path)
        }
    }

    @Test func invalidDatabase() throws {
        try withFile([Parcel.self]) { configuration in
            let url = try #require(configuration.fileURL)
            try Data((0..<20000).map { UInt8($0 % 251) }).write(to: url)
            let error = try #require(caught { _ = try Realm(configuration: configuration) })
            #expect(error.code == .invalidDatabase && error.fileURL == url)
            try FileManager.default.removeItem(at: url)
            // With a key the file that has none, and the other way round, and another key.
            var keyed = configuration
            keyed.encryptionKey = Realm.generateEncryptionKey()
            try closed(configuration)
            #expect(caught { _ = try Realm(configuration: keyed) }?.code == .invalidDatabase)
            #expect(try Realm.deleteFiles(for: configuration))
            try closed(keyed)
            #expect(
                caught { _ = try Realm(configuration: configuration) }?.code == .invalidDatabase)
            var other = keyed
            other.encryptionKey = Realm.generateEncryptionKey()
            #expect(caught { _ = try Realm(configuration: other) }?.code == .invalidDatabase)
            #expect(try Realm(configuration: keyed).objects(Parcel.self).count == 1)
        }
    }

    // MARK: What errors are

    /// Each error of the engine, as the program sees it.
    @Test func theEnginesCodesHaveTheirPlaces() {
        let others: [(Realm.Error.Code, [ErrorCode])] = [
            (.fileAccess, [.systemError]), (.filePermissionDenied, [.filePermissionDenied]),
            (.fileExists, [.fileAlreadyExists]), (.fileNotFound, [.fileNotFound]),
            (.fileFormatUpgradeRequired, [.fileFormatUpgradeRequired]),
            (.incompatibleLockFile, [.incompatibleLockFile]),
            (.addressSpaceExhausted, [.addressSpaceExhausted, .outOfMemory]),
            (
                .schemaMismatch,
                [.schemaMismatch, .schemaValidationFailed, .invalidSchemaVersion, .migrationFailed]
            ), (.alreadyOpen, [.deleteOpenedRealm]),
            (.invalidInput, [.invalidArgument, .invalidEncryptionKey]),
            (.outOfDiskSpace, [.outOfDiskSpace]),
            (.unsupportedFileFormatVersion, [.unsupportedFileFormatVersion]),
            (.fileOperationFailed, [.fileOperationFailed]),
            (.invalidDatabase, [.invalidDatabase, .decryptionFailed]),
            (.fail, [.runtime, .incompatibleSession, .maximumFileSizeExceeded, .callback]),
        ]
        for (code, engine) in others {
            for known in engine {
                let error = Realm.Error(RealmError(known, "text"), path: "/a")
                #expect(error.code == code, "\(known)")
                #expect(error.localizedDescription == "text" && error.fileURL?.path == "/a")
            }
        }
        let numbers = others.map { $0.0.rawValue }
        #expect(numbers == [2, 3, 4, 5, 6, 8, 9, 10, 12, 13, 14, 16, 19, 20, 1])
    }

    @Test func errorsAreCaughtInEveryForm() throws {
        try withFile([Parcel.self]) { configuration in
            let url = try #require(configuration.fileURL)
            func fail() throws { _ = try schemaVersionAtURL(url) }
            var forms: [String] = []
            do { try fail() } catch let error as NSError {
                forms.append("NSError")
                #expect(error.domain == "io.realm" && error.code == 5)
                #expect(error.userInfo[NSFilePathErrorKey] as? String == url.path)
                let text = error.userInfo[NSLocalizedDescriptionKey] as? String
                #expect(text == error.localizedDescription && text?.contains(url.path) == true)
                // And back.
                let same = try #require(error as Error as? Realm.Error)
                #expect(same.code == .fileNotFound && same.fileURL == url)
                #expect(same.localizedDescription == text)
                let other = NSError(domain: "other", code: 5)
                #expect(other as Error as? Realm.Error == nil)
            }
            do { try fail() } catch Realm.Error.fileNotFound { forms.append("static member") }
            do { try fail() } catch let error as Realm.Error where error.code == .fileNotFound {
                forms.append("where")
            }
            do { try fail() } catch let error as Realm.Error {
                switch error.code {
                case .fileNotFound: forms.append("switch")
                default: Issue.record("\(error)")
                }
                #expect(error.userInfo[NSFilePathErrorKey] as? String == url.path)
                #expect(error.errorCode == 5 && Realm.Error.errorDomain == "io.realm")
                #expect(type(of: error).fileNotFound ~= error)
                #expect(!(Realm.Error.fileAccess ~= error))
            }
            do { try fail() } catch let error as any CustomNSError {
                forms.append("CustomNSError")
                #expect(error.errorUserInfo[NSFilePathErrorKey] as? String == url.path)
            }
            do { try fail() } catch let error as any LocalizedError {
                forms.append("LocalizedError")
                #expect(error.errorDescription?.contains(url.path) == true)
            }
            #expect(
                forms == [
                    "NSError", "static member", "where", "switch", "CustomNSError",
                    "LocalizedError",
                ])
        }
    }

    @Test func errorsAreEqualByTheirCodes() {
        let one = Realm.Error(.fail, "one", path: "/a")
        let two = Realm.Error(Realm.Error.fail, "two")
        #expect(one == two && one.hashValue == two.hashValue && Set([one, two]).count == 1)
        #expect(one != Realm.Error(.fileAccess, "one", path: "/a"))
        #expect(one.fileURL?.path == "/a" && two.fileURL == nil && two.userInfo.count == 1)
    }

    @Test func theErrorsOfBlocksPass() async throws {
        struct Stop: Error, Equatable { var number: Int }
        let realm = try Realm(configuration: memory([Parcel.self]))
        #expect(throws: Stop(number: 1)) {
            try realm.write {
                realm.create(Parcel.self, value: [1, 1])
                throw Stop(number: 1)
            }
        }
        #expect(throws: Stop(number: 2)) { try realm.writeNested { throw Stop(number: 2) } }
        #expect(realm.isEmpty && !realm.isInWriteTransaction)
    }

    @MainActor @Test func theErrorsOfAsynchronousBlocksPass() async throws {
        struct Stop: Error {}
        let realm = try await Realm.open(configuration: memory([Parcel.self]))
        await #expect(throws: Stop.self) {
            try await realm.asyncWrite {
                realm.create(Parcel.self, value: [1, 1])
                throw Stop()
            }
        }
        #expect(realm.isEmpty && !realm.isInWriteTransaction)
        let task = Task { @MainActor in
            try await realm.asyncWrite { _ = realm.create(Parcel.self, value: [2, 2]) }
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        let isCancelled: Bool = await withCheckedContinuation { done in
            let task = Realm.asyncOpen(configuration: memory([Parcel.self])) { result in
                if case .failure(let error) = result {
                    done.resume(returning: error is CancellationError)
                } else {
                    done.resume(returning: false)
                }
            }
            task.cancel()
        }
        #expect(isCancelled && realm.isEmpty)
    }
}
