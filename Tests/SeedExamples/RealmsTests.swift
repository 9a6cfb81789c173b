// The guide's chapter on realms: configurations, the default realm, realms in memory, bundled ones, class
// subsets, compaction, deletion.

import Foundation
import RealmSwift
import Testing

enum Realms {
    class Dog: Object {
        @Persisted var name = ""
        @Persisted var age = 0
    }
    class MyClass: Object {
        @Persisted var value = 0
    }
    class MyOtherClass: Object {
        @Persisted var value = 0
    }
}

extension Guide {
    @Suite struct RealmsTests {
        typealias Dog = Realms.Dog
        typealias MyClass = Realms.MyClass
        typealias MyOtherClass = Realms.MyOtherClass

        @Test func openingTheDefaultRealm() throws {
            try withDefaultFile([Dog.self]) { url in
                let myDog = Dog()
                let realm = try! Realm()

                try! realm.write {
                    realm.add(myDog)
                }

                #expect(realm.objects(Dog.self).count == 1)
                #expect(realm.configuration.fileURL == url)
                #expect(FileManager.default.fileExists(atPath: url.path))
            }
        }

        @Test func theFoldersAttributes() throws {
            try withDefaultFile([Dog.self]) { url in
                let realm = try! Realm()
                let folderPath = realm.configuration.fileURL!.deletingLastPathComponent().path
                try! FileManager.default.setAttributes(
                    [.posixPermissions: 0o700], ofItemAtPath: folderPath)
                #expect(folderPath == url.deletingLastPathComponent().path)
                let attributes = try FileManager.default.attributesOfItem(atPath: folderPath)
                #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o700)
                try realm.write { realm.add(Dog()) }
                #expect(realm.objects(Dog.self).count == 1)
            }
        }

        /// In a process of its own, whose default folder is not there yet.
        @Test func aRealmForEachUser() async {
            await #expect(processExitsWith: .success) {
                let folder = FileManager.default.temporaryDirectory
                    .appendingPathComponent("realm-guide-\(UUID().uuidString)")
                defer { try? FileManager.default.removeItem(at: folder) }
                setenv("REALM_DEFAULT_DIRECTORY", folder.path + "/default/folder", 1)

                func setDefaultRealmForUser(username: String) {
                    var config = Realm.Configuration()

                    config.fileURL = config.fileURL!.deletingLastPathComponent()
                        .appendingPathComponent("\(username).realm")

                    Realm.Configuration.defaultConfiguration = config
                }

                for username in ["jane", "john", "jane"] {
                    setDefaultRealmForUser(username: username)
                    let realm = try Realm()
                    let path = folder.path + "/default/folder/\(username).realm"
                    #expect(realm.configuration.fileURL?.path == path)
                    #expect(FileManager.default.fileExists(atPath: path))
                }
            }
        }

        @Test func bundledRealms() throws {
            try withDefaultFile([Dog.self]) { url in
                let folder = url.deletingLastPathComponent()
                let made = try Realm()
                try made.write {
                    made.create(Dog.self, value: ["name": "Rex", "age": 7])
                    made.create(Dog.self, value: ["name": "Fido", "age": 2])
                }
                try made.writeCopy(toFile: folder.appendingPathComponent("MyBundledData.realm"))
                // The folder is the bundle of the application.
                let bundle = Foundation.Bundle(url: folder)
                struct Bundles { let main: Foundation.Bundle }
                let Bundle = Bundles(main: try #require(bundle))

                let config = Realm.Configuration(
                    fileURL: Bundle.main.url(forResource: "MyBundledData", withExtension: "realm"),
                    readOnly: true, objectTypes: [Dog.self])

                let realm = try! Realm(configuration: config)

                let results = realm.objects(Dog.self).filter("age > 5")
                #expect(results.map(\.name) == ["Rex"])
                #expect(realm.configuration.fileURL?.lastPathComponent == "MyBundledData.realm")

                // "Otherwise, if it's initial data that you'll be modifying, you can copy the bundled file".
                let copy = folder.appendingPathComponent("copy.realm")
                try FileManager.default.copyItem(at: #require(config.fileURL), to: copy)
                let writable = try Realm(
                    configuration: .init(fileURL: copy, objectTypes: [Dog.self]))
                try writable.write { writable.create(Dog.self, value: ["name": "New", "age": 9]) }
                #expect(writable.objects(Dog.self).count == 3 && results.count == 1)
            }
        }

        @Test func realmsInMemory() throws {
            let config = Realm.Configuration(
                inMemoryIdentifier: "MyInMemoryRealm", objectTypes: [Dog.self])
            do {
                let realm = try! Realm(configuration: config)
                try realm.write { realm.add(Dog()) }
                #expect(realm.objects(Dog.self).count == 1)
                #expect(realm.configuration.fileURL == nil)
            }
            #expect(try Realm(configuration: config).objects(Dog.self).count == 0)
        }

        @Test func errorsAreCaught() throws {
            try withDefaultFile([Dog.self]) { url in
                try Data("no realm at all".utf8).write(to: url)
                var caught: NSError?
                do {
                    _ = try Realm()
                } catch let error as NSError {
                    caught = error
                }
                #expect(caught?.domain == "io.realm")
                #expect(caught?.code == Realm.Error.invalidDatabase.rawValue)
                #expect(caught?.userInfo[NSFilePathErrorKey] as? String == url.path)
                #expect(caught?.localizedDescription.contains(url.path) == true)
            }
        }

        @Test func classSubsets() throws {
            let config = Realm.Configuration(
                inMemoryIdentifier: "subset", objectTypes: [MyClass.self, MyOtherClass.self])
            let realm = try! Realm(configuration: config)
            #expect(
                realm.schema.objectSchema.map(\.className).sorted() == ["MyClass", "MyOtherClass"])
        }

        @Test func compactingAtTheFirstOpening() throws {
            try withDefaultFile([Dog.self]) { url in
                var seen: [(Int, Int)] = []
                let lock = NSLock()
                nonisolated(unsafe) let note = { (total: Int, used: Int) in
                    lock.withLock { seen.append((total, used)) }
                }
                do {
                    let realm = try Realm()
                    try realm.write {
                        for age in 0..<100 { realm.create(Dog.self, value: ["age": age]) }
                    }
                }
                let config = Realm.Configuration(
                    fileURL: url,
                    shouldCompactOnLaunch: { totalBytes, usedBytes in
                        note(totalBytes, usedBytes)
                        let oneHundredMB = 100 * 1024 * 1024
                        return (totalBytes > oneHundredMB)
                            && (Double(usedBytes) / Double(totalBytes)) < 0.5
                    }, objectTypes: [Dog.self])
                do {
                    let realm = try Realm(configuration: config)
                    #expect(realm.objects(Dog.self).count == 100)
                } catch {
                    Issue.record(error)
                }
                #expect(seen.count == 1 && seen[0].0 >= seen[0].1 && seen[0].1 > 0)
            }
        }

        /// The same with a smaller bound.
        @Test func compactingMakesFilesSmaller() throws {
            try withDefaultFile([Dog.self]) { url in
                func bytes() throws -> Int {
                    let all = try FileManager.default.attributesOfItem(atPath: url.path)
                    return (all[.size] as? NSNumber)?.intValue ?? 0
                }
                try autoreleasepool {
                    let realm = try Realm()
                    try realm.write {
                        for age in 0..<500 {
                            let name = String(repeating: "\(age)", count: 1000)
                            realm.create(Dog.self, value: ["name": name, "age": age])
                        }
                    }
                    try realm.write { realm.delete(realm.objects(Dog.self).filter("age > 3")) }
                }
                let before = try bytes()
                let config = Realm.Configuration(
                    fileURL: url,
                    shouldCompactOnLaunch: { totalBytes, usedBytes in
                        (totalBytes > 100 * 1024) && (Double(usedBytes) / Double(totalBytes)) < 0.5
                    }, objectTypes: [Dog.self])
                let realm = try Realm(configuration: config)
                let after = try bytes()
                #expect(after < before / 4, "\(before) bytes before, \(after) after")
                #expect(realm.objects(Dog.self).map(\.age) == [0, 1, 2, 3])
            }
        }

        @Test func deletingFiles() throws {
            try withDefaultFile([Dog.self]) { url in
                try autoreleasepool {
                    let realm = try Realm()
                    try realm.write { realm.add(Dog()) }
                }
                let realmURL = Realm.Configuration.defaultConfiguration.fileURL!
                let realmURLs = [
                    realmURL,
                    realmURL.appendingPathExtension("lock"),
                    realmURL.appendingPathExtension("note"),
                    realmURL.appendingPathExtension("management"),
                ]
                var failures = 0
                for URL in realmURLs {
                    do {
                        try FileManager.default.removeItem(at: URL)
                    } catch {
                        // Some of them are the old library's alone.
                        failures += 1
                    }
                }
                #expect(failures < realmURLs.count)
                #expect(!FileManager.default.fileExists(atPath: url.path))
                #expect(try Realm().objects(Dog.self).isEmpty)
            }
        }
    }
}
