// What a program waits for before its first object: the look at all of its classes, and its own start beside that of a
// program with Foundation alone.

import CRuntime
import Foundation
import RealmSwift

/// Microseconds for the look at all classes, which the first opening takes once; nothing was looked at before.
func scanClasses() -> Double {
    final class Found { var count = 0 }
    let found = Found()
    let base = unsafeBitCast(ObjectBase.self as AnyClass, to: UnsafeRawPointer.self)
    let start = DispatchTime.now().uptimeNanoseconds
    crt_find_subclasses(
        base,
        { _, context in
            guard let context else { return }
            Unmanaged<Found>.fromOpaque(context).takeUnretainedValue().count += 1
        }, Unmanaged.passUnretained(found).toOpaque())
    let time = DispatchTime.now().uptimeNanoseconds - start
    guard found.count > 2 else { fatalError("the program's own class is not found") }
    return Double(time) / 1000
}

/// Milliseconds from the start of a program to its end, the best of several.
private func run(_ program: String, _ arguments: [String]) throws -> Double {
    var least = Double.infinity
    for _ in 0..<20 {
        var words: [UnsafeMutablePointer<CChar>?] =
            ([program] + arguments).map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var id: pid_t = 0
        var status: Int32 = 0
        let start = DispatchTime.now().uptimeNanoseconds
        guard posix_spawn(&id, program, nil, nil, &words, environ) == 0,
            waitpid(id, &status, 0) == id, status == 0
        else { fatalError("\(program) does not run") }
        least = min(least, Double(DispatchTime.now().uptimeNanoseconds - start))
    }
    return least / 1e6
}

/// Milliseconds that this program takes to start above one with Foundation alone, which is built beside it.
func startAboveFoundation() throws -> Double {
    let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    let other = (own as NSString).deletingLastPathComponent + "/foundation-start"
    return try run(own, ["--start"]) - run(other, [])
}
