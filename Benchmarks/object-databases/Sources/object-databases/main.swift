// The same work through the engine's C interface, RealmSwift and GRDB, in turns in one process.
//
//     object-databases [COUNT [ROUNDS]]    COUNT objects (100,000), the medians of ROUNDS (5) as a table
//
// Inserting is one transaction with four values per object; finding reads one value, by primary keys in scattered
// order; the loop reads a number and a text of each; updating sets a number of each in one transaction. Observed are the objects with
// age < 50, in the order of their names: from the beginning of a transaction that changes one of them to the
// end of the observer's call.

import CEngine
import Foundation

struct Times {
    var insert = 0.0
    var find = 0.0
    var loop = 0.0
    var update = 0.0
    var observe = 0.0
}

func check(_ isRight: Bool, _ problem: String) {
    guard !isRight else { return }
    FileHandle.standardError.write(Data("object-databases: \(problem)\n".utf8))
    exit(1)
}

/// Nanoseconds for each of `count`.
func measure(_ count: Int, _ body: () throws -> Void) rethrows -> Double {
    let start = DispatchTime.now().uptimeNanoseconds
    try body()
    return Double(DispatchTime.now().uptimeNanoseconds - start) / Double(count)
}

/// Runs the main run loop until something has happened.
func turn(until isDone: () -> Bool) {
    let end = Date(timeIntervalSinceNow: 10)
    while !isDone() {
        check(Date() < end, "nobody was told within ten seconds")
        _ = RunLoop.main.run(mode: .default, before: Date(timeIntervalSinceNow: 0.01))
    }
}

let numbers = CommandLine.arguments.dropFirst().compactMap { Int($0) }
let count = numbers.first ?? 100_000
let rounds = numbers.count > 1 ? numbers[1] : 5
let commits = 20
check(
    numbers.count == CommandLine.arguments.count - 1 && count >= 2000 && count % 1000 == 0
        && rounds > 0,
    "usage: object-databases [COUNT [ROUNDS]], COUNT a multiple of 1,000 from 2,000 on")

let folder = FileManager.default.temporaryDirectory
    .appendingPathComponent("object-databases-\(UUID().uuidString)")
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
defer { try? FileManager.default.removeItem(at: folder) }

var runs: [[Times]] = [[], [], []]
for round in 0..<rounds {
    for turn in 0..<3 {
        let engine = (round + turn) % 3
        let file = folder.appendingPathComponent("\(round)-\(engine)")
        switch engine {
        case 0:
            let times = engine_run(file.path, Int64(count), Int64(commits))
            runs[0].append(
                Times(
                    insert: times.insert, find: times.find, loop: times.loop,
                    update: times.update, observe: times.observe))
        case 1: runs[1].append(try runRealmSwift(file, count: count, commits: commits))
        default: runs[2].append(try runGRDB(file, count: count, commits: commits))
        }
    }
}

func median(_ engine: Int, _ path: KeyPath<Times, Double>) -> Double {
    runs[engine].map { $0[keyPath: path] }.sorted()[rounds / 2]
}

func text(_ nanoseconds: Double) -> String {
    nanoseconds < 1000
        ? String(format: "%.0f ns", nanoseconds)
        : nanoseconds < 1_000_000
            ? String(format: "%.2f µs", nanoseconds / 1000)
            : String(format: "%.2f ms", nanoseconds / 1_000_000)
}

let rows: [(String, KeyPath<Times, Double>)] = [
    ("insert", \.insert), ("fetch by key", \.find), ("loop with two reads", \.loop),
    ("update", \.update), ("observe, per commit", \.observe),
]
print("| row | engine through C | RealmSwift | GRDB | RealmSwift/GRDB |")
print("|---|---:|---:|---:|---:|")
for (name, path) in rows {
    let times = (0..<3).map { median($0, path) }
    print(
        "| \(name) | \(text(times[0])) | \(text(times[1])) | \(text(times[2])) | "
            + String(format: "%.3f |", times[1] / times[2]))
}
