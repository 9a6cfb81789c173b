import Testing

@testable import CoreSwift
@testable import TestSupport

/// The crash campaign over real objects.
@Suite(.serialized) struct ObjectCrashTests {
    @Test func everyCrashImageHasTheObjectsOfTheLastCommitOrTheOneInFlight() {
        let failure = ObjectWorkload.crashImages(
            Campaign("object crash images", seconds: 6, atLeast: 4)
        ) { ObjectWorkload(&$0) }
        if let failure { Issue.record("\(failure)") }
    }

    @Test func `crash images of grouped commits have whole versions, in order`() {
        let failure = ObjectWorkload.crashImages(
            Campaign("crash images of grouped commits", seconds: 4, atLeast: 2), imagesPerEvent: 3
        ) {
            var workload = ObjectWorkload(&$0)
            workload.isGrouped = true
            workload.syncTakes = [0, 100, 500][$0.below(3)]
            return workload
        }
        if let failure { Issue.record("\(failure)") }
    }

    @Test func `every crash image has the change log of the commit that it shows`() {
        let failure = ObjectWorkload.crashImages(
            Campaign("crash images with a change log", seconds: 4, atLeast: 3)
        ) {
            var workload = ObjectWorkload(&$0)
            workload.keepsLog = true
            return workload
        }
        if let failure { Issue.record("\(failure)") }
    }

    @Test func `blocks that are written before their commit are none until then`() {
        let failure = ObjectWorkload.crashImages(
            Campaign("crash images of long transactions", seconds: 3, atLeast: 1),
            imagesPerEvent: 2
        ) {
            var workload = ObjectWorkload(&$0)
            workload.isLong = true
            workload.partPages = [5, 9, 128][$0.below(3)]
            workload.keepsLog = $0.below(4) == 0
            return workload
        }
        if let failure { Issue.record("\(failure)") }
    }
}
