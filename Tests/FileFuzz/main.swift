// Forged files for as long as it is given, as fast as one processor can: see `HostileForge`. Not part of
// the package: `Tests/FileFuzz/run` builds and starts it.
//
//   file-fuzz SECONDS [SEED]
//
// Each case is a file of one kind, changed, and used in one way. The seed of the case that runs is in
// build/file-fuzz/current, for the one that ends the process; a case that takes twenty seconds ends it, too.

import Glibc

@testable import CoreSwift

private let arguments = CommandLine.arguments
private let seconds = arguments.count > 1 ? Double(arguments[1]) ?? 10 : 10
private let firstSeed =
    arguments.count > 2
    ? UInt64(arguments[2]) ?? 1 : UInt64(TestSettings.time(CLOCK_REALTIME) * 1000)

/// Where the seed of the case stands while it runs.
private func noteFile() -> UnsafeMutablePointer<UInt8>? {
    let descriptor = open("build/file-fuzz/current", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0, ftruncate(descriptor, 64) == 0 else { return nil }
    let place = mmap(nil, 64, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)
    return place == MAP_FAILED ? nil : place?.bindMemory(to: UInt8.self, capacity: 64)
}

private func run() throws {
    let directory = TemporaryDirectory()
    let sample = directory.file("sample.realm")
    try SampleFile.makeSmall(sample)
    let bytes = TestSettings.readFile(sample)
    let forges = try HostileForge.Kind.allCases.map {
        try HostileForge(directory.file("\($0).realm"), bytes, $0)
    }
    print(
        "file-fuzz: seed \(firstSeed), \(forges.map(\.byteCount)) bytes, "
            + "\(forges[0].blockCount) blocks")
    // What reads is as fast as can be and comes most often.
    let uses: [HostileForge.Use] =
        Array(repeating: .near, count: 150) + Array(repeating: .read, count: 10)
        + Array(repeating: .check, count: 10) + Array(repeating: .log, count: 20)
        + Array(repeating: .statistics, count: 4) + [.query, .query, .write, .write, .salvage]
    let note = noteFile()
    var counts = [Int](repeating: 0, count: HostileForge.Use.allCases.count)
    var kinds = [Int](repeating: 0, count: forges.count)
    let start = TestSettings.time(CLOCK_MONOTONIC)
    var next = start + 60
    var seed = firstSeed
    while true {
        var random = Random(seed)
        let kind = random.below(forges.count)
        let use = uses[random.below(uses.count)]
        if let note {
            for (index, byte) in "\(seed)\n".utf8.enumerated() { note[index] = byte }
        }
        alarm(20)
        forges[kind].forge(&random)
        let isWritten = forges[kind].use(use, &random)
        forges[kind].restore(isWritten: isWritten)
        counts[use.rawValue] += 1
        kinds[kind] += 1
        seed += 1
        guard seed % 64 == 0 else { continue }
        let now = TestSettings.time(CLOCK_MONOTONIC)
        if now < next && now - start < seconds { continue }
        next = now + 60
        var usage = rusage()
        getrusage(Int32(RUSAGE_SELF.rawValue), &usage)
        let each = zip(HostileForge.Use.allCases, counts).map { "\($0) \($1)" }
        let total = counts.reduce(0, +)
        TestSettings.say(
            "\(total) executions in \(Int(now - start)) s, \(Int(Double(total) / (now - start))) a"
                + " second; \(zip(HostileForge.Kind.allCases, kinds).map { "\($0) \($1)" }); \(each);"
                + " \(usage.ru_maxrss / 1024) MiB at most")
        if now - start >= seconds { break }
    }
    alarm(0)
}

do {
    try run()
} catch {
    print("file-fuzz: \(error)")
    exit(1)
}
