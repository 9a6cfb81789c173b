import Testing

@testable import CoreSwift

// Serial: thresholds are global.
@Suite(.serialized) struct LogTests {
    @Test func categoriesAreInTheOrderOfTheirNames() {
        let names = LogCategory.allCases.map { "\($0.name)" }
        #expect(names.count == 15)
        #expect(names == names.sorted())
    }

    @Test func thresholdsPassDownTheTree() {
        defer { Log.setThreshold(.info, of: .realm) }
        Log.setThreshold(.error, of: .sync)
        #expect(Log.threshold(of: .session) == .error)
        #expect(Log.threshold(of: .storage) == .info)
        Log.setThreshold(.trace, of: .realm)
        #expect(LogCategory.allCases.allSatisfy { Log.threshold(of: $0) == .trace })
    }

    @Test func messagesBelowTheThresholdAreNotBuilt() {
        defer { Log.setThreshold(.info, of: .realm) }
        nonisolated(unsafe) var seen: [String] = []
        let sink = LogSink { category, level, text in seen.append("\(category.name) \(text)") }
        var built = 0
        func text() -> String {
            built += 1
            return "text"
        }
        sink.log(.query, .debug, text())
        #expect(built == 0)
        sink.log(.query, .info, text())
        Log.setThreshold(.off, of: .query)
        sink.log(.query, .fatal, text())
        Log.setThreshold(.all, of: .query)
        sink.log(.query, .all, text())
        #expect(seen == ["Realm.Storage.Query text", "Realm.Storage.Query text"])
    }
}
