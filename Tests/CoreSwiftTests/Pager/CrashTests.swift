import Testing

@testable import CoreSwift

/// The crash campaign at the level of blocks.
@Suite(.serialized) struct CrashTests {
    @Test func everyCrashImageOpensAtAnAcknowledgedVersionOrTheOneInFlight() {
        let outcome = CrashCampaign<ToyWorkload>.run(
            Campaign("crash images", seconds: 5, atLeast: 20)
        ) { ToyWorkload(&$0) }
        print("crash images: \(outcome.images) of \(outcome.workloads) workloads")
        if let failure = outcome.failure { Issue.record("\(failure)") }
    }
}
