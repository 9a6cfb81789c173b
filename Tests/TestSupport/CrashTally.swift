// Counts the crash images of all campaigns of the process: what they were together is printed at its end, so
// that the log of `make test` ends with it.

import Glibc

@testable import CoreSwift

enum CrashTally {
    private static let guardian = Lock()
    nonisolated(unsafe) private static var images = 0
    nonisolated(unsafe) private static var workloads = 0
    nonisolated(unsafe) private static var campaigns = 0
    /// Once per process.
    private static let report: Void = {
        atexit { CrashTally.sayAll() }
    }()

    private static func sayAll() {
        TestSettings.say(
            "crash images in all: \(images) of \(workloads) workloads in \(campaigns) campaigns")
    }

    /// `examine` gives the number of images of a case. The description of the first failure.
    static func run(
        _ campaign: Campaign, _ examine: (Campaign.Case) throws -> Int
    ) -> String? {
        var images = 0
        var workloads = 0
        var failure: String?
        for item in campaign {
            do { images += try examine(item) } catch {
                failure = "REALM_TEST_SEED=\(item.seed): \(error)"
                break
            }
            workloads += 1
        }
        TestSettings.say("\(campaign.name): \(images) images of \(workloads) workloads")
        _ = report
        guardian.withLock {
            Self.images += images
            Self.workloads += workloads
            Self.campaigns += 1
        }
        return failure
    }
}
