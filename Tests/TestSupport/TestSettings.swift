// Settings of long tests, from the environment.

import Glibc

enum TestSettings {
    /// A number from the environment, or the default.
    static func number(_ name: String, _ fallback: Int) -> Int {
        guard let text = getenv(name) else { return fallback }
        return Int(String(cString: text)) ?? fallback
    }

    /// A number of seconds from the environment.
    static func seconds(_ name: String) -> Double? {
        getenv(name).flatMap { Double(String(cString: $0)) }
    }

    /// The seed of random tests: REALM_TEST_SEED, else `fallback`, or one from the clock; printed,
    /// so that a failure can be replayed.
    static func seed(_ test: String, _ fallback: UInt64? = nil) -> UInt64 {
        let fallback = fallback.map { Int(truncatingIfNeeded: $0) }
        let clock = Int(truncatingIfNeeded: UInt64(time(CLOCK_REALTIME) * 1e6) & 0xFFFF_FFFF)
        let seed = number("REALM_TEST_SEED", fallback ?? clock)
        say("\(test): REALM_TEST_SEED=\(seed)")
        return UInt64(truncatingIfNeeded: seed)
    }

    /// Prints a line that is seen even if the process dies next.
    static func say(_ line: String) {
        print(line)
        fflush(nil)
    }

    /// Text with one digit after the point.
    static func tenths(_ seconds: Double) -> String {
        let tenths = Int((seconds * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }

    static func time(_ clock: clockid_t) -> Double {
        var time = timespec()
        clock_gettime(clock, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// Processor time of this thread in seconds: for bounds on time that hold on a busy machine.
    static func processorTime() -> Double { time(CLOCK_THREAD_CPUTIME_ID) }

    static func writeFile(_ path: String, _ bytes: [UInt8]) {
        bytes.withUnsafeBytes { writeFile(path, $0) }
    }

    static func writeFile(_ path: String, _ buffer: UnsafeRawBufferPointer) {
        let descriptor = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        var done = 0
        while done < buffer.count, let start = buffer.baseAddress {
            let n = write(descriptor, start + done, buffer.count - done)
            if n <= 0 { break }
            done += n
        }
        close(descriptor)
    }

    /// Writes a file in place of the one that may be there, as another one: a process that another test is
    /// starting holds, until it is another program, what the one before was locked by.
    static func replaceFile(_ path: String, _ bytes: [UInt8]) {
        unlink(path)
        writeFile(path, bytes)
    }

    static func readFile(_ path: String) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        let size = Int(lseek(descriptor, 0, SEEK_END))
        var bytes = [UInt8](repeating: 0, count: max(size, 0))
        let count = bytes.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, 0) }
        return Array(bytes.prefix(max(count, 0)))
    }

    /// The first bytes of a file without a size, as those of the kernel.
    static func readStream(_ path: String) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = bytes.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
        return Array(bytes.prefix(max(count, 0)))
    }
}
