// The bytes of old files below what they mean: whatever is asked for and given back in whatever order, they are
// those of the file, or an error; and pages of encrypted files in all states that the old library leaves them in.

import Testing

@testable import RealmCoreFile
@testable import TestSupport

@Suite struct CoreFileBytesTests {
    private static let pageBytes = PageCipher.pageBytes
    private static let recordBytes = PageCipher.recordBytes

    /// How an encrypted page was left.
    private enum Page: CaseIterable {
        case whole
        /// The last writing was interrupted: it is what it was before.
        case torn
        /// It has no record: zeros, whatever stands there.
        case unwritten
        /// The first writing was interrupted: zeros.
        case begun
        /// The file was made shorter and longer again: zeros.
        case cut
        case damaged
    }

    /// Random data, and a file of it.
    private struct World {
        var data: [UInt8]
        var file: [UInt8]
        var damaged: Set<Int> = []

        init(pages: Int, isEncrypted: Bool, _ random: inout Random) {
            data = random.bytes(pages * pageBytes)
            data.replaceSubrange(16..<20, with: "T-DB".utf8)
            file = isEncrypted ? CoreFileSealing.seal(data, key: CoreFileSample.anyKey) : data
            guard isEncrypted else { return }
            // The first page has to be there.
            for page in 1..<pages where random.below(3) == 0 {
                leave(page, Page.allCases[random.below(Page.allCases.count)])
            }
        }

        private mutating func leave(_ page: Int, _ state: Page) {
            let group = page / PageCipher.pagesPerGroup
            let place = page % PageCipher.pagesPerGroup
            let record = group * PageCipher.groupBytes + place * recordBytes
            let block = group * PageCipher.groupBytes + (place + 1) * pageBytes
            func damage(_ offset: Int) { file[offset] ^= 1 << UInt8(page % 8) }
            switch state {
            case .whole: return
            case .torn:
                file.replaceSubrange(
                    record + 32..<record + 64, with: file[record..<record + 32])
                file[record] &+= 1
                // An initialisation vector of zeros means that there is none.
                if file[record..<record + 4].allSatisfy({ $0 == 0 }) { file[record + 1] = 1 }
                // The last byte of the hmac counts as the others do.
                damage(record + (page % 2 == 0 ? 31 : 4))
                return
            case .unwritten: for offset in record..<record + 4 { file[offset] = 0 }
            case .begun: damage(record + 17)
            case .cut:
                file[record + 40] = 7
                file[record + 32] = 1
                for offset in block..<block + pageBytes { file[offset] = 0 }
            case .damaged:
                file[record + 32] = 1
                damage(block + page * 31 % pageBytes)
                damaged.insert(page)
                return
            }
            for offset in page * pageBytes..<(page + 1) * pageBytes { data[offset] = 0 }
        }
    }

    @Test(
        "whatever is asked for and given back, it is what the file has",
        arguments: [false, true])
    func anyOrder(isEncrypted: Bool) throws {
        let directory = TemporaryDirectory()
        let path = directory.file("old.realm")
        var (released, refused) = (0, 0)
        for item in Campaign(
            isEncrypted ? "bytes of encrypted old files" : "bytes of old files", seconds: 1.5,
            atLeast: 2)
        {
            var random = item.random
            let world = World(
                pages: 600 + random.below(100), isEncrypted: isEncrypted, &random)
            TestSettings.writeFile(path, world.file)
            let bytes = try FileBytes(
                path, key: isEncrypted ? CoreFileSample.anyKey : [], evenInUse: false,
                keptMax: 1 << 20, asksSystem: random.below(3) > 0)
            #expect(bytes.size == world.data.count)
            // From the beginning to the end, and then anywhere.
            var next = 0
            let hasLargeValues = random.below(2) == 0
            for _ in 0..<400 {
                let offset = next < bytes.size ? next : random.below(bytes.size)
                let most = [16, 20_000, 1 << 20][random.below(3)]
                let count = 1 + random.below(min(bytes.size - offset, most))
                next = next < bytes.size ? offset + count : next
                let pages = offset / Self.pageBytes...(offset + count - 1) / Self.pageBytes
                if let error = failure(bytes, offset, count) {
                    let first = try #require(pages.first { world.damaged.contains($0) })
                    #expect(error.code == .damaged)
                    #expect(error.message.hasPrefix("page \(first) at byte "))
                    refused += 1
                } else {
                    try #require(world.damaged.isDisjoint(with: pages))
                    let found = UnsafeRawBufferPointer(start: bytes.start + offset, count: count)
                    try #require(
                        world.data.isSame(as: found, at: offset),
                        "\(count) bytes at \(offset)")
                }
                if hasLargeValues && random.below(8) == 0 {
                    let from = random.below(bytes.size)
                    bytes.giveBack(from, random.below(bytes.size - from))
                }
                if bytes.isMuch {
                    released += 1
                    bytes.release()
                    #expect(!bytes.isMuch)
                }
            }
        }
        #expect(released > 0)
        #expect((refused > 0) == isEncrypted)
    }

    @Test("the system's libcrypto does what Mbed TLS does")
    func systemCipher() throws {
        var random = Random(TestSettings.seed("CoreFileBytesTests.systemCipher"))
        let world = World(pages: 1, isEncrypted: true, &random)
        let cipher = try #require(SystemCipher(CoreFileSample.anyKey))
        // The second time by the same contexts.
        for _ in 0..<2 {
            var page = Array(world.file[Self.pageBytes...])
            var digest = [UInt8](repeating: 0, count: 28)
            let vector = Array(world.file[..<4]) + [UInt8](repeating: 0, count: 12)
            #expect(cipher.authenticate(page, page.count, &digest))
            #expect(digest == Array(world.file[4..<32]))
            let count = page.count
            page.withUnsafeMutableBufferPointer {
                #expect(cipher.decrypt($0.baseAddress!, count, vector))
            }
            #expect(page == world.data)
        }
    }

    private func failure(_ bytes: FileBytes, _ offset: Int, _ count: Int) -> CoreFileError? {
        do throws(CoreFileError) {
            try bytes.load(offset, count)
            return nil
        } catch {
            return error
        }
    }
}
