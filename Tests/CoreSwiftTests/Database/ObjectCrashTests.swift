import Testing

@testable import CoreSwift

/// The crash campaign over real objects. REALM_OBJECT_CRASH_IMAGES sets the number of images,
/// REALM_TEST_SEED the seed.
@Suite(.serialized) struct ObjectCrashTests {
    @Test func everyCrashImageHasTheObjectsOfTheLastCommitOrTheOneInFlight() {
        let seed = TestSettings.seed("object crash images")
        let outcome = CrashCampaign<ObjectWorkload>.run(
            images: TestSettings.number("REALM_OBJECT_CRASH_IMAGES", 3000), seed: seed
        ) { ObjectWorkload(&$0) }
        print("object crash images: \(outcome.images) of \(outcome.workloads) workloads")
        if let failure = outcome.failure { Issue.record("\(failure)") }
    }
}
