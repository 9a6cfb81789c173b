// The real file system for a process that opens one file to read it again and again: what opening takes
// and gives back, it keeps for the next time. Descriptors stay open, the file stays mapped where it was, and
// ranges of zeros are zeroed in their first pages, as many as can have been written. All that
// the engine does with them is as it is with new ones.

import Glibc

@testable import CoreSwift

final class KeptFileSystem: PassingFileSystem {
    private struct Range {
        let base: UnsafeMutableRawPointer
        let bytes: Int
        let isZeros: Bool
        var isUsed = true
        /// What is mapped there from its beginning on.
        var mappedBytes = 0
    }

    private let path: String
    private let descriptor: Int32
    private let status: FileStatus
    private var ranges: [Range] = []
    private var nextRandom: UInt64 = 0

    /// `path`: a file that is there, is as long at each opening, and has no other users meanwhile.
    init?(_ path: String, descriptor: Int32) {
        var status = FileStatus(bytes: 0, isRegular: false, identity: FileIdentity())
        guard SystemCalls.shared.status(descriptor, &status) == 0 else { return nil }
        self.path = path
        self.descriptor = descriptor
        self.status = status
        super.init(SystemCalls.shared)
    }

    deinit { for range in ranges { _ = real.unmap(range.base, range.bytes) } }

    /// Begins the next use, whose random bytes follow from `seed`.
    func begin(_ seed: UInt64) { nextRandom = seed }

    // MARK: Names and descriptors

    override func realPath(_ path: String, _ result: inout String) -> Int32 {
        guard path == self.path else { return real.realPath(path, &result) }
        result = path
        return 0
    }

    override func open(_ path: String, _ access: FileAccess) -> Int32 {
        path == self.path ? descriptor : real.open(path, access)
    }

    override func close(_ descriptor: Int32) -> Int32 {
        descriptor == self.descriptor ? 0 : real.close(descriptor)
    }

    override func status(_ descriptor: Int32, _ result: inout FileStatus) -> Int32 {
        guard descriptor == self.descriptor else { return real.status(descriptor, &result) }
        result = status
        return 0
    }

    override func random(_ target: UnsafeMutableRawPointer, _ count: Int) -> Int {
        var random = Random(nextRandom)
        for index in 0..<count {
            target.storeBytes(
                of: UInt8(truncatingIfNeeded: random.next() >> 24), toByteOffset: index,
                as: UInt8.self)
        }
        nextRandom = random.next()
        return count
    }

    // MARK: Ranges

    override func reserve(
        _ bytes: Int, zeros: Bool, _ code: inout Int32
    ) -> UnsafeMutableRawPointer? {
        for index in ranges.indices
        where !ranges[index].isUsed && ranges[index].bytes == bytes
            && ranges[index].isZeros == zeros
        {
            ranges[index].isUsed = true
            return ranges[index].base
        }
        guard let base = real.reserve(bytes, zeros: zeros, &code) else { return nil }
        ranges.append(Range(base: base, bytes: bytes, isZeros: zeros))
        return base
    }

    override func mapFixed(
        _ descriptor: Int32, _ target: UnsafeMutableRawPointer, _ offset: Int64, _ bytes: Int
    ) -> Int32 {
        guard offset == 0, let index = ranges.firstIndex(where: { $0.base == target }) else {
            return real.mapFixed(descriptor, target, offset, bytes)
        }
        if ranges[index].mappedBytes == bytes { return 0 }
        // Not beyond the file's end: who reads there shall not be taken for a victim of somebody who cut it.
        let present = (Int(status.bytes) + Page.size - 1) / Page.size * Page.size
        let code = real.mapFixed(descriptor, target, offset, min(bytes, present))
        if code == 0 { ranges[index].mappedBytes = bytes }
        return code
    }

    override func unmap(_ base: UnsafeMutableRawPointer, _ bytes: Int) -> Int32 {
        guard
            let index = ranges.firstIndex(where: { $0.base == base && $0.bytes == bytes })
        else { return real.unmap(base, bytes) }
        ranges[index].isUsed = false
        // Decrypted blocks are where they are in the file; tables have a few bytes for each page, and
        // are smaller.
        if ranges[index].isZeros {
            Glibc.memset(base, 0, min(bytes, Int(status.bytes) + Page.size))
        }
        return 0
    }

    override func keepFromDumps(_ base: UnsafeMutableRawPointer, _ bytes: Int) -> Int32 { 0 }
}
