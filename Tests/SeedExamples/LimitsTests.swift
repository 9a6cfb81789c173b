// The limits that the guide lists under "Current limitations", and in other chapters: what does not hold here.

import Foundation
import RealmSwift
import Testing

enum Limits {
    class AClassWhoseNameHasFarMoreThanTheFiftySevenCharactersThatTheGuideAllows: Object {
        @Persisted var aPropertyWhoseNameHasFarMoreThanTheSixtyThreeCharactersThatTheGuideAllows = 0
    }
    class Note: Object {
        @Persisted var text = ""
        @Persisted var bytes = Data()
    }
}

extension Guide {
    @Suite struct LimitsTests {
        typealias Long =
            Limits.AClassWhoseNameHasFarMoreThanTheFiftySevenCharactersThatTheGuideAllows
        typealias Note = Limits.Note

        @Test func namesAreAsLongAsTheyLike() throws {
            try withDefaultFile([Long.self]) { _ in
                let realm = try Realm()
                let name =
                    "aPropertyWhoseNameHasFarMoreThanTheSixtyThreeCharactersThatTheGuideAllows"
                #expect(Long.className().utf8.count > 57 && name.utf8.count > 63)
                try realm.write { realm.create(Long.self, value: [name: 3]) }
                #expect(realm.objects(Long.self).filter("%K == 3", name).count == 1)
            }
        }

        /// The guide: "cannot hold data exceeding 16MB in size".
        @Test func textsAndDataMayBeLarge() throws {
            try withDefaultFile([Note.self]) { _ in
                let size = 17 * 1024 * 1024
                let realm = try Realm()
                let note = Note()
                note.text = String(repeating: "x", count: size)
                note.bytes = Data(repeating: 7, count: size)
                try realm.write { realm.add(note) }
                #expect(note.text.utf8.count == size && note.bytes.count == size)
                #expect(note.bytes.last == 7)
            }
        }

        /// The guide: "only supported for character sets in 'Latin Basic' … 'Latin Extended B'".
        @Test func allLettersHaveCaseAndOrder() throws {
            try withDefaultRealm([Note.self]) {
                let realm = try Realm()
                let words = ["Ωμέγα", "άλφα", "Бета", "альфа", "étoile"]
                try realm.write {
                    for word in words { realm.create(Note.self, value: ["text": word]) }
                }
                let notes = realm.objects(Note.self)
                #expect(notes.filter("text ==[c] 'ΩΜΈΓΑ'").count == 1)
                #expect(notes.filter("text BEGINSWITH[c] 'АЛЬ'").count == 1)
                #expect(notes.filter("text BEGINSWITH[cd] 'ΑΛΦ'").count == 1)
                #expect(notes.filter("text BEGINSWITH[d] 'e'").count == 1)
                let sorted = notes.sorted(byKeyPath: "text").map(\.text)
                #expect(Array(sorted) == words.sorted())
            }
        }

        /// The guide: "Encrypted Realms cannot be accessed by multiple processes simultaneously."
        @MainActor @Test func processesShareEncryptedFiles() async throws {
            let folder = FileManager.default.temporaryDirectory
                .appendingPathComponent("realm-guide-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let url = folder.appendingPathComponent("secret.realm")
            let key = Realm.generateEncryptionKey()
            let realm = try Realm(
                configuration: .init(fileURL: url, encryptionKey: key, objectTypes: [Note.self]))
            try realm.write { realm.create(Note.self, value: ["text": "from here"]) }
            let path = url.path
            await #expect(processExitsWith: .success) {
                [path = path as String, key = key as Data] in
                let there = try Realm(
                    configuration: .init(
                        fileURL: URL(fileURLWithPath: path), encryptionKey: key,
                        objectTypes: [Note.self]))
                #expect(there.objects(Note.self).map(\.text) == ["from here"])
                try there.write { there.create(Note.self, value: ["text": "from there"]) }
            }
            realm.refresh()
            #expect(realm.objects(Note.self).map(\.text) == ["from here", "from there"])
        }
    }
}
