import Testing

@testable import CoreSwift

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
}
