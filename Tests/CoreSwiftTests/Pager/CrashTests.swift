import Testing

@testable import CoreSwift
@testable import TestSupport

/// The crash campaign at the level of blocks.
@Suite(.serialized) struct CrashTests {
    @Test func everyCrashImageOpensAtAnAcknowledgedVersionOrTheOneInFlight() {
        let failure = ToyWorkload.crashImages(
            Campaign("crash images", seconds: 12, atLeast: 46)
        ) { ToyWorkload(&$0) }
        if let failure { Issue.record("\(failure)") }
    }
}
