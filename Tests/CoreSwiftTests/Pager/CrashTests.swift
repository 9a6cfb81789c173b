import Testing

@testable import CoreSwift

/// The crash campaign at the level of blocks. REALM_CRASH_IMAGES sets the number of images,
/// REALM_TEST_SEED the seed.
@Suite(.serialized) struct CrashTests {
    @Test func everyCrashImageOpensAtAnAcknowledgedVersionOrTheOneInFlight() {
        let seed = TestSettings.seed("crash images")
        let outcome = CrashCampaign<ToyWorkload>.run(
            images: TestSettings.number("REALM_CRASH_IMAGES", 18_000), seed: seed
        ) { ToyWorkload(&$0) }
        print("crash images: \(outcome.images) of \(outcome.workloads) workloads")
        if let failure = outcome.failure { Issue.record("\(failure)") }
    }
}
