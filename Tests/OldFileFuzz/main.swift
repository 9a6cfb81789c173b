// Damaged files of realm-core for as long as it is given: each is read as a whole, which has to end with values
// or an error. Not part of the package: `Tests/OldFileFuzz/run` builds and starts it.
//
//   old-file-fuzz SECONDS [SEED]
//
// A case is a sample with random damage: as it is, encrypted afterwards, or damaged as encrypted file. The seed
// of the case that runs is in build/old-file-fuzz/current, for the one that ends the process; a case that takes
// twenty seconds of the processor, or more than one gigabyte of memory, ends it, too.

import Glibc
import RealmCoreFile

private let samples = [
    "empty_schema", "alltypes", "widths", "holes", "mixed_nested", "migrated", "history",
    "interrupted_commit", "format24_core", "format23_core", "format20_core", "format9",
]
private let sealedSamples = ["encrypted", "convert_encrypted"]
private let key = (0..<64).map { UInt8($0) }
private let bytesMax = 1 << 30

struct Random: RandomNumberGenerator {
    private var state: UInt64
    init(_ seed: UInt64) { state = seed }
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }
    mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }
}

private func contents(_ path: String) -> [UInt8] {
    guard let file = fopen(path, "r") else { fatalError("no \(path)") }
    defer { fclose(file) }
    fseek(file, 0, SEEK_END)
    var bytes = [UInt8](repeating: 0, count: ftell(file))
    rewind(file)
    guard fread(&bytes, 1, bytes.count, file) == bytes.count else { fatalError("\(path)") }
    return bytes
}

private func write(_ bytes: [UInt8], _ path: String) {
    guard let file = fopen(path, "w") else { fatalError("can't write \(path)") }
    defer { fclose(file) }
    guard fwrite(bytes, 1, bytes.count, file) == bytes.count else { fatalError("\(path)") }
}

private func seconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

/// The most memory that the process had so far.
private func memoryMax() -> Int {
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    return usage.ru_maxrss * 1024
}

/// Reads everything, value by value or as imports do. Returns whether there was an error.
private func read(_ path: String, _ key: [UInt8], inClusters: Bool = false) -> Bool {
    do throws(CoreFileError) {
        let file = try CoreFile(path, key: key)
        for index in file.tables.indices {
            if inClusters {
                _ = try file.objectCount(of: index)
                try readClusters(file, index)
            } else {
                try file.forEachObject(of: index) { (_, _) in }
            }
        }
        return false
    } catch {
        guard !error.message.isEmpty else { fatalError("an error without a message") }
        return true
    }
}

/// Looks at all bytes that cells lead to.
private func touch(_ cell: CoreCell) -> Int {
    switch cell.kind {
    case .text, .binary, .objectID, .uuid: cell.bytes.reduce(0) { $0 &+ Int($1) }
    default: Int(truncatingIfNeeded: cell.first)
    }
}

private func readClusters(_ file: CoreFile, _ index: Int) throws(CoreFileError) {
    let columns = file.tables[index].columns
    try file.forEachCluster(of: index, columns: Array(columns.indices)) {
        (cluster) throws(CoreFileError) in
        var sum = 0
        for row in cluster.keys.indices {
            for (place, column) in columns.enumerated() {
                if try cluster.isEmpty(place, row) { continue }
                if column.type == .mixed || column.collection == .dictionary {
                    _ = try cluster.value(place, row)
                } else if column.collection == .none {
                    sum &+= touch(try cluster.cell(place, row))
                } else {
                    let numbers = { (numbers: UnsafeBufferPointer<Int64>) throws(CoreFileError) in
                        for number in numbers { sum &+= Int(number) }
                        return numbers.count % 2 == 0
                    }
                    try cluster.forEachPart(place, row, numbers: numbers) {
                        (cells, _) throws(CoreFileError) in
                        for cell in cells { sum &+= touch(cell) }
                        return true
                    }
                }
            }
            cluster.finishObject()
        }
        blackHole = sum
    }
}

/// So that what is looked at is not for nothing.
nonisolated(unsafe) private var blackHole = 0

private func run() throws {
    let arguments = CommandLine.arguments
    let limit = arguments.count > 1 ? Double(arguments[1]) ?? 10 : 10
    let first = arguments.count > 2 ? UInt64(arguments[2]) ?? 1 : UInt64(time(nil)) << 24
    let fixtures = "Tests/Fixtures/realm-core/"
    let plain = try samples.map { try Gunzip.unpack(contents(fixtures + $0 + ".realm.gz")) }
    let sealed = try sealedSamples.map {
        try Gunzip.unpack(contents(fixtures + $0 + ".realm.gz"))
    }
    for sample in sealed {
        write(sample, "build/old-file-fuzz/sample")
        guard !read("build/old-file-fuzz/sample", key) else { fatalError("a sample can't be read") }
    }
    let path = (access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp") + "/old-file-fuzz-\(getpid())"
    defer { unlink(path) }
    print("old-file-fuzz: seed \(first)")
    let start = seconds()
    var next = start + 60
    var seed = first
    var (counts, errors) = ([0, 0, 0], [0, 0, 0])
    while true {
        var random = Random(seed)
        let kind = [0, 0, 0, 0, 0, 1, 1, 2][random.below(8)]
        let bytes: [UInt8]
        switch kind {
        case 0: bytes = CoreFileDamage.apply(to: plain[random.below(plain.count)], &random)
        case 1:
            bytes = CoreFileSealing.seal(
                CoreFileDamage.apply(to: plain[random.below(plain.count)], &random), key: key)
        default: bytes = CoreFileDamage.apply(to: sealed[random.below(sealed.count)], &random)
        }
        write(Array("\(seed)\n".utf8), "build/old-file-fuzz/current")
        write(bytes, path)
        var timer = itimerval()
        timer.it_value.tv_sec = 20
        setitimer(__itimer_which_t(ITIMER_VIRTUAL.rawValue), &timer, nil)
        counts[kind] += 1
        if read(path, kind == 0 ? [] : key, inClusters: random.below(4) != 0) { errors[kind] += 1 }
        guard memoryMax() < bytesMax else { fatalError("seed \(seed): \(memoryMax()) bytes") }
        seed &+= 1
        let now = seconds()
        if now >= next || now - start >= limit {
            print(
                "\(Int(now - start)) s: \(counts[0]) plain (\(errors[0]) refused), "
                    + "\(counts[1]) damaged and encrypted (\(errors[1])), "
                    + "\(counts[2]) encrypted and damaged (\(errors[2])); "
                    + "\(memoryMax() >> 20) MB at most")
            fflush(nil)
            next += 60
        }
        if now - start >= limit { return }
    }
}

setvbuf(stdout, nil, _IOLBF, 0)
try run()
