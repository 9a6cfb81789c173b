import Foundation
import Testing

/// Which functions of the header only say that they are not supported yet. The list may lose
/// names, as they are implemented, and never gain any.
@Suite struct NotYetTests {
    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    @Test func onlyListedFunctionsAreUnsupported() throws {
        let folder = Self.root.appendingPathComponent("Sources/CABI/NotYet")
        let files = try FileManager.default.contentsOfDirectory(
            at: folder, includingPropertiesForKeys: nil)
        var found = Set<String>()
        for file in files {
            let text = try String(contentsOf: file, encoding: .utf8)
            for match in text.matches(of: #/public func (realm_\w+)\(/#) {
                found.insert(String(match.1))
            }
        }
        let listed = Set(
            try String(
                contentsOf: Self.root.appendingPathComponent("Tests/CABITests/not-yet.txt"),
                encoding: .utf8
            ).split(separator: "\n").map(String.init))
        #expect(found.subtracting(listed) == [], "functions stopped being supported")
        #expect(listed.subtracting(found) == [], "supported now: take them off not-yet.txt")
    }
}
