import Testing

@testable import CoreSwift

/// The crash campaign over real objects.
@Suite(.serialized) struct ObjectCrashTests {
    @Test func everyCrashImageHasTheObjectsOfTheLastCommitOrTheOneInFlight() {
        let outcome = CrashCampaign<ObjectWorkload>.run(
            Campaign("object crash images", seconds: 6, atLeast: 4)
        ) { ObjectWorkload(&$0) }
        print("object crash images: \(outcome.images) of \(outcome.workloads) workloads")
        if let failure = outcome.failure { Issue.record("\(failure)") }
    }
}
