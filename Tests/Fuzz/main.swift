// The fuzzer of query texts: libFuzzer calls `QueryFuzzCheck` with one input after another and
// changes them by what of the engine they reach. Not part of the package: `Tests/Fuzz/run` builds
// and starts it.

import Glibc

@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
    _ count: UnsafeMutablePointer<Int32>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
    _ test: @convention(c) (UnsafePointer<UInt8>?, Int) -> Int32
) -> Int32

private func makeCheck() -> QueryFuzzCheck? {
    do {
        return try QueryFuzzCheck(QueryFuzzModel(path: "/tmp/realm-query-fuzz-\(getpid()).realm"))
    } catch {
        print("the model of the fuzzer: \(error)")
        return nil
    }
}

nonisolated(unsafe) private let check = makeCheck()

private func testOneInput(_ data: UnsafePointer<UInt8>?, _ size: Int) -> Int32 {
    guard let check else { exit(1) }
    let bytes = Array(UnsafeBufferPointer(start: data, count: size))
    if let failure = check.failure(bytes) {
        print("'\(String(decoding: bytes, as: UTF8.self))' \(failure)")
        fflush(stdout)
        abort()
    }
    return 0
}

private var count = CommandLine.argc
private var arguments = CommandLine.unsafeArgv
exit(runDriver(&count, &arguments) { testOneInput($0, $1) })
