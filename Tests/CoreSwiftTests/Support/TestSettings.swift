// Settings of long tests, from the environment.

import Glibc

enum TestSettings {
    /// A number from the environment, or the default.
    static func number(_ name: String, _ fallback: Int) -> Int {
        guard let text = getenv(name) else { return fallback }
        return Int(String(cString: text)) ?? fallback
    }

    /// The seed of random tests: REALM_TEST_SEED, or one from the clock; printed, so that a failure
    /// can be replayed.
    static func seed(_ test: String) -> UInt64 {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        let fallback = (now.tv_sec &* 1_000_003 &+ now.tv_nsec) & 0xFFFF_FFFF
        let seed = number("REALM_TEST_SEED", fallback)
        print("\(test): REALM_TEST_SEED=\(seed)")
        return UInt64(truncatingIfNeeded: seed)
    }

    /// Processor time of this thread in seconds: for bounds on time that hold on a busy machine.
    static func processorTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

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
