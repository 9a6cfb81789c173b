import Testing

@testable import CoreSwift
@testable import TestSupport

/// What `Tests/FileFuzz` does for as long as it is given, for some seconds.
@Suite struct HostileForgeTests {
    @Test func forgedFilesPlainAndEncryptedNeverCrash() throws {
        let directory = TemporaryDirectory()
        let sample = directory.file("sample.realm")
        try SampleFile.makeSmall(sample)
        let bytes = TestSettings.readFile(sample)
        let forges = try HostileForge.Kind.allCases.map {
            try HostileForge(directory.file("\($0).realm"), bytes, $0)
        }
        // Unchanged, each is a sound realm with the same content.
        for forge in forges {
            let problems = Realm.check(path: forge.path, encryptionKey: forge.key)
            #expect(problems == [], "\(forge.path)")
            #expect(
                try RealmDump(path: forge.path, key: forge.key).objects
                    == RealmDump(path: sample).objects)
            forge.restore(isWritten: true)
        }
        for item in Campaign("forged, plain and sealed", seconds: 8, atLeast: 200) {
            var random = item.random
            let forge = forges[item.number % forges.count]
            let uses = HostileForge.Use.allCases
            let use = uses[random.below(uses.count)]
            forge.forge(&random)
            let isWritten = forge.use(use, &random)
            forge.restore(isWritten: isWritten)
        }
        for forge in forges {
            #expect(Realm.check(path: forge.path, encryptionKey: forge.key) == [])
        }
    }

    /// Found by Tests/FileFuzz: the bitmap was looked for where the entry says, far behind the file.
    @Test func columnsWithoutDataHaveNoBitmaps() throws {
        let directory = TemporaryDirectory()
        let path = directory.file()
        try SampleFile.makeSmall(path)
        let bytes = TestSettings.readFile(path)
        for flag in [ColumnFlags.hasNulls, .hasExternal] {
            let surgeon = try FileSurgeon(bytes)
            var count = 0
            for node in surgeon.nodes where node.kind == .rowLeaf || node.kind == .collectionLeaf {
                let view = LeafView(surgeon.block(node))
                for index in 0..<view.columnCount {
                    guard view.column(index)?.encoding == .absent else { continue }
                    let entry =
                        surgeon.block(node) + LeafLayout.directoryOffset
                        + index * LeafLayout.entrySize
                    entry.put(flag.rawValue, ColumnField.flags)
                    entry.put(UInt32(0x7777_7777), ColumnField.data)
                    count += 1
                }
            }
            #expect(count > 0)
            surgeon.reseal()
            TestSettings.writeFile(path, surgeon.bytes)
            let realm = try Realm.open(SampleFile.configuration(path))
            defer { realm.close() }
            let error = #expect(throws: RealmError.self) { try FileReading.digest(realm) }
            #expect(error?.code == .invalidDatabase)
        }
    }
}
