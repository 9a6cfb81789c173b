// A campaign is a test that tries random cases for as long as it is given: crash images, damaged
// files, programs beside a model, queries. How long in CI says the test itself; the environment can
// give every campaign more or less, or one of them:
//
//     REALM_CAMPAIGN_SECONDS=60                       each campaign
//     REALM_CAMPAIGN_SECONDS_CRASH_IMAGES=3600        the campaign "crash images"
//     REALM_CAMPAIGN_LEAST_PERCENT=25                 a quarter of the cases that must be done, and of
//                                                     the rounds of each of the longest (`rounds`)
//     REALM_TEST_SEED=7                               where the seeds begin
//
// A busy machine does less in the same time, so each campaign also has a number of cases that it
// does in any case: none passes with nothing tested. It prints where its seeds begin and, at its
// end, how much it did. The case that fails is repeated by making its seed the first; with
// REALM_CAMPAIGN_TRACE=1 each seed is printed before its case, for the one that ends the process.

import Glibc

struct Campaign: Sequence {
    struct Case {
        /// Counts from 0.
        let number: Int
        let seed: UInt64
        var random: Random { Random(seed) }
    }

    private static let traces = getenv("REALM_CAMPAIGN_TRACE") != nil

    let name: String
    let seconds: Double
    let least: Int
    /// The seed of the first case; the others follow it.
    let seed: UInt64

    /// `seed` is for campaigns that begin with the same case each time; without it, the clock says
    /// where.
    init(_ name: String, seconds: Double, atLeast least: Int, seed: UInt64? = nil) {
        let own = name.uppercased().map { $0.isLetter || $0.isNumber ? $0 : "_" }
        self.name = name
        self.seconds =
            TestSettings.seconds("REALM_CAMPAIGN_SECONDS_" + String(own))
            ?? TestSettings.seconds("REALM_CAMPAIGN_SECONDS") ?? seconds
        self.least = Campaign.rounds(least)
        self.seed = TestSettings.seed(name, seed)
    }

    func makeIterator() -> Iterator { Iterator(self) }

    /// How many of so many rounds a case does: fewer where code is slow, as with sanitizers.
    static func rounds(_ all: Int) -> Int {
        Swift.max(all * TestSettings.number("REALM_CAMPAIGN_LEAST_PERCENT", 100) / 100, 1)
    }

    struct Iterator: IteratorProtocol {
        private let campaign: Campaign
        private let start = TestSettings.time(CLOCK_MONOTONIC)
        private var number = 0

        init(_ campaign: Campaign) { self.campaign = campaign }

        mutating func next() -> Case? {
            let spent = TestSettings.time(CLOCK_MONOTONIC) - start
            if number >= campaign.least, spent >= campaign.seconds {
                TestSettings.say(
                    "campaign \(campaign.name): \(number) cases in \(TestSettings.tenths(spent)) s"
                        + " (of \(TestSettings.tenths(campaign.seconds)) s, at least"
                        + " \(campaign.least)), REALM_TEST_SEED=\(campaign.seed)")
                return nil
            }
            let item = Case(number: number, seed: campaign.seed &+ UInt64(number))
            number += 1
            if Campaign.traces { TestSettings.say("\(campaign.name): seed \(item.seed)") }
            return item
        }
    }
}
