// Indexes that come and go with the schema of a class that has objects.

import Glibc
import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite struct IndexChangeTests {
    private let directory = TemporaryDirectory()

    private func schema(_ flags: PropertyFlags, extra: Bool = false) -> Schema {
        var classes = [
            ClassSchema(
                "Note", primaryKey: "id",
                properties: [
                    PropertySchema("id", .int, flags: [.primaryKey]),
                    PropertySchema("text", .string, flags: flags),
                    PropertySchema("next", .object, linkTarget: "Note", flags: [.nullable]),
                ])
        ]
        if extra { classes.append(ClassSchema("Other", properties: [PropertySchema("x", .int)])) }
        return Schema(classes)
    }

    private func open(
        _ flags: PropertyFlags, version: UInt64 = 1, mode: SchemaMode = .automatic,
        extra: Bool = false
    ) throws -> Realm {
        var configuration = TestSchema.configuration(
            directory.file(), schema(flags, extra: extra), version: version)
        configuration.schemaMode = mode
        return try Realm.open(configuration)
    }

    private func fill(_ realm: Realm) throws {
        try realm.write {
            for id in 0..<3000 {
                let text = "note \(id) word\(id % 17) Été"
                _ = try realm.create("Note", primaryKey: .int(Int64(id)), ["text": .string(text)])
            }
        }
    }

    private func count(_ realm: Realm, _ text: String) throws -> Int {
        try realm.objects("Note").filter(text).count()
    }

    private func indexes(_ realm: Realm) throws -> [IndexStatistics.Source] {
        let note = try realm.statistics().classes.first { $0.name == "Note" }
        return try #require(note).indexes.filter { $0.property == "text" }.map(\.source)
    }

    @Test func indexesAreMadeAndGivenUpForObjectsThatAreThere() throws {
        let realm = try open([])
        try fill(realm)
        #expect(errorCode { _ = try count(realm, "text TEXT 'ete'") } == .illegalOperation)
        realm.close()
        let steps: [(PropertyFlags, [IndexStatistics.Source])] = [
            (.fullTextIndexed, [.words]), ([.indexed, .fullTextIndexed], [.values, .words]),
            ([.indexed, .fullTextIndexed, .fullTextUnicode], [.values, .words]),
            (.indexed, [.values]), ([.fullTextIndexed, .fullTextUnicode], [.words]), ([], []),
            (.fullTextIndexed, [.words]),
        ]
        for (flags, expected) in steps {
            let realm = try open(flags)
            #expect(try indexes(realm) == expected)
            #expect(try realm.check() == [])
            let text = try #require(realm.schema.class_(named: "Note")?.property(named: "text"))
            #expect(text.flags == flags)
            #expect(try count(realm, "text == 'note 5 word5 Été'") == 1)
            if flags.contains(.fullTextIndexed) {
                #expect(try count(realm, "text TEXT 'ete'") == 3000)
                #expect(try count(realm, "text TEXT 'word3 -20'") == 176)
            }
            try realm.write {
                try realm.find("Note", primaryKey: .int(2999))?.set("text", .string("note word3"))
                try realm.find("Note", primaryKey: .int(2999))?.set(
                    "text", .string("note 2999 word7 Été"))
            }
            #expect(try realm.check() == [])
            realm.close()
        }
    }

    @Test func openRealmsAndTheirObjectsGoOnWhenAnotherChangesIndexes() throws {
        let first = try open([])
        try fill(first)
        let note = try #require(try first.find("Note", primaryKey: .int(77)))
        #expect(try note.get("text") == .string("note 77 word9 Été"))
        for flags: PropertyFlags in [.fullTextIndexed, [.indexed, .fullTextIndexed], .indexed] {
            // Not through this process's file object, which holds on to one schema per realm.
            let second = try open(flags)
            try second.write {
                try second.find("Note", primaryKey: .int(1))?.set("text", .string("changed"))
            }
            second.close()
            #expect(try first.refresh())
            #expect(try note.get("text") == .string("note 77 word9 Été"))
            try first.write { try note.set("text", .string("a whale")) }
            if flags.contains(.fullTextIndexed) {
                #expect(try count(first, "text TEXT 'whale'") == 1)
            } else {
                #expect(errorCode { _ = try count(first, "text TEXT 'a'") } == .illegalOperation)
            }
            try first.write { try note.set("text", .string("note 77 word9 Été")) }
            #expect(try first.check() == [])
        }
    }

    @Test func whatIsRolledBackLeavesTheIndexesAsTheyWere() throws {
        let realm = try open(.fullTextIndexed)
        try fill(realm)
        realm.close()
        var configuration = TestSchema.configuration(
            directory.file(), schema([.indexed]), version: 2)
        configuration.schemaMode = .automatic
        let files = RecordingFileSystem()
        files.writesFailWith = ENOSPC
        #expect(throws: RealmError.self) { _ = try Realm.open(configuration, files: files) }
        let again = try open(.fullTextIndexed)
        #expect(try count(again, "text TEXT 'word3'") == 177)
        #expect(try again.check() == [])
    }

    @Test func modesDecideWhetherIndexesChange() throws {
        let realm = try open([])
        try fill(realm)
        realm.close()
        #expect(errorCode { _ = try open(.fullTextIndexed, mode: .manual) } == .schemaMismatch)
        for mode: SchemaMode in [.additiveDiscovered, .additiveExplicit, .readOnly, .immutable] {
            let realm = try open(.fullTextIndexed, mode: mode)
            #expect(try indexes(realm) == [])
            let text = try #require(realm.schema.class_(named: "Note")?.property(named: "text"))
            #expect(text.wordRules == nil)
            #expect(errorCode { _ = try count(realm, "text TEXT 'ete'") } == .illegalOperation)
            realm.close()
        }
        // Together with another change they do.
        let additive = try open(.fullTextIndexed, mode: .additiveDiscovered, extra: true)
        #expect(try count(additive, "text TEXT 'ete'") == 3000)
        additive.close()
        let reset = try open(.indexed, mode: .softResetFile)
        #expect(try indexes(reset) == [.values])
        #expect(try count(reset, "TRUEPREDICATE") == 3000)
    }
}
