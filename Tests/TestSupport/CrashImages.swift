// Rebuilds a file as a crash could have left it. Everything written before the last sync is there;
// of what was written after it any part may be: nothing, everything, or a random choice of the
// pieces of each write, in a random order. Sectors of 512 bytes are written whole or not at all.
//
// Of a sync that failed some pages may have arrived. The others are given up: readers see them as
// they were written, a later sync succeeds without them, and only a new write to the same page makes
// the kernel write it, as a whole.

import Glibc

@testable import CoreSwift

/// The state of a file while events are replayed.
final class FileImage {
    private(set) var base = UnsafeMutableRawPointer.allocate(byteCount: 1 << 16, alignment: 4096)
    private var capacity = 1 << 16
    private(set) var count = 0

    init() {}

    init(copying other: FileImage) {
        resize(other.count)
        Glibc.memcpy(base, other.base, other.count)
    }

    deinit { base.deallocate() }

    private func resize(_ size: Int) {
        if size > capacity {
            capacity = max(size, capacity * 2)
            let larger = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 4096)
            Glibc.memcpy(larger, base, count)
            base.deallocate()
            base = larger
        }
        if size > count { Glibc.memset(base + count, 0, size - count) }
        count = size
    }

    /// Writes `length` bytes of `data`, from `start` on, to where they belong if all of `data` is
    /// written at `offset`.
    func write(_ data: [UInt8], _ start: Int, _ length: Int, at offset: Int) {
        if offset + start + length > count { resize(offset + start + length) }
        data.withUnsafeBytes { source in
            guard let from = source.baseAddress else { return }
            Glibc.memcpy(base + offset + start, from + start, length)
        }
    }

    func apply(_ event: FileEvent) {
        switch event {
        case .write(let offset, let data): write(data, 0, data.count, at: offset)
        case .truncate(let size): resize(size)
        case .replace(let data):
            resize(0)
            write(data, 0, data.count, at: 0)
        case .sync, .syncDirectory, .failedSync: break
        }
    }

    /// Up to `length` bytes from `offset` on, as a write to there.
    func event(_ offset: Int, _ length: Int) -> FileEvent? {
        guard offset < count else { return nil }
        let bytes = UnsafeRawBufferPointer(
            start: base + offset, count: min(length, count - offset))
        return .write(offset: offset, bytes: Array(bytes))
    }

    /// Over what is there: images follow each other by the thousand, and the pages of a file that was
    /// emptied first would all be given back and made anew.
    func save(_ path: String) throws {
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw ToyFailure(description: "open \(path): \(errno)") }
        defer { close(descriptor) }
        guard ftruncate(descriptor, off_t(count)) == 0,
            pwrite(descriptor, base, count, 0) == count
        else { throw ToyFailure(description: "write \(path): \(errno)") }
    }
}

/// What of a write is on the disk after a crash.
enum WrittenPart {
    case none, all, front, back
}

/// A file that has the realm's name, or had it.
private struct CrashInode {
    let durable = FileImage()
    /// What readers see while the machine runs.
    let shown = FileImage()
    var pending: [FileEvent] = []
    /// Pages that the kernel shows and will not write, unless somebody writes to them again.
    private var givenUp: Set<Int> = []
    private static let page = 4096

    mutating func advance(_ event: FileEvent) {
        follow(event)
        shown.apply(event)
        switch event {
        case .failedSync(let choice): failSync(choice)
        case .sync:
            for event in pending { durable.apply(event) }
            pending.removeAll(keepingCapacity: true)
        default: pending.append(event)
        }
    }

    /// What the event makes of pages that were given up.
    private mutating func follow(_ event: FileEvent) {
        switch event {
        case .write(let offset, let bytes):
            guard !givenUp.isEmpty, !bytes.isEmpty else { return }
            for page in offset / Self.page...(offset + bytes.count - 1) / Self.page
            where givenUp.remove(page) != nil {
                if let whole = shown.event(page * Self.page, Self.page) { pending.append(whole) }
            }
        case .truncate(let size): givenUp = givenUp.filter { $0 * Self.page < size }
        case .replace, .sync, .syncDirectory, .failedSync: break
        }
    }

    private mutating func failSync(_ choice: UInt64) {
        for event in pending {
            guard case .write(let offset, let bytes) = event else {
                durable.apply(event)
                continue
            }
            var position = 0
            while position < bytes.count {
                let page = (offset + position) / Self.page
                let length = min(
                    Self.page - (offset + position) % Self.page, bytes.count - position)
                var fate = Random(choice &+ UInt64(page))
                if choice != 0, fate.below(3) > 0 {
                    durable.write(bytes, position, length, at: offset)
                } else {
                    givenUp.insert(page)
                }
                position += length
            }
        }
        pending.removeAll(keepingCapacity: true)
    }

    /// The image that has of each write which was not synced what `part` says.
    func image(_ part: (Int) -> WrittenPart) -> FileImage {
        let image = FileImage(copying: durable)
        for (index, event) in pending.enumerated() {
            let part = part(index)
            guard case .write(let offset, let bytes) = event else {
                if part != .none { image.apply(event) }
                continue
            }
            // Sectors are written whole.
            let end = (offset + bytes.count / 2) & ~511
            let half = Swift.min(Swift.max(end - offset, 0), bytes.count)
            switch part {
            case .none: break
            case .all: image.write(bytes, 0, bytes.count, at: offset)
            case .front: image.write(bytes, 0, half, at: offset)
            case .back: image.write(bytes, half, bytes.count - half, at: offset)
            }
        }
        return image
    }

    /// One image a crash now could leave.
    func image(_ random: inout Random) -> FileImage {
        let image = FileImage(copying: durable)
        switch random.below(8) {
        case 0: break
        case 1: for event in pending { image.apply(event) }
        case 2:
            // In order, up to some point.
            for event in pending.prefix(random.below(pending.count + 1)) { image.apply(event) }
        case 3:
            // Whole writes, some missing, in another order.
            for event in pending.shuffled(using: &random) where random.below(3) > 0 {
                image.apply(event)
            }
        case 4, 5: tear(image, 512, &random)
        default: tear(image, 4096, &random)
        }
        return image
    }

    /// Writes cut into aligned pieces, each of them there or not.
    private func tear(_ image: FileImage, _ size: Int, _ random: inout Random) {
        // The share of pieces that arrive; nearly all is the most dangerous.
        let missing = [2, 4, 16, 64][random.below(4)]
        let keepsOrder = random.below(2) == 0
        for event in keepsOrder ? pending : pending.shuffled(using: &random) {
            guard case .write(let offset, let data) = event else {
                if random.below(2) == 0 { image.apply(event) }
                continue
            }
            var position = 0
            while position < data.count {
                let length = min(size - (offset + position) % size, data.count - position)
                if random.below(missing) > 0 {
                    image.write(data, position, length, at: offset)
                }
                position += length
            }
        }
    }
}

/// Walks through recorded events, keeping what is surely on disk and what may be.
struct CrashReplay {
    /// The file with the durable name, and those that took its place since then: until the directory
    /// is synced, a crash leaves any of them, however much of it was synced.
    private var inodes = [CrashInode()]

    mutating func advance(_ event: FileEvent) {
        switch event {
        case .replace:
            var finished = CrashInode()
            finished.advance(event)
            finished.advance(.sync)
            inodes.append(finished)
        case .syncDirectory: inodes.removeSubrange(..<(inodes.count - 1))
        default: inodes[inodes.count - 1].advance(event)
        }
    }

    /// How many writes are not synced; nil while the directory may show another file.
    var pendingCount: Int? { inodes.count == 1 ? inodes[0].pending.count : nil }

    /// The image that has of each of these writes what `part` says.
    func image(_ part: (Int) -> WrittenPart) -> FileImage {
        inodes[inodes.count - 1].image(part)
    }

    /// The file after a crash that leaves nothing of what was not synced.
    var least: FileImage { FileImage(copying: inodes[0].durable) }

    /// One image a crash now could leave.
    func image(_ random: inout Random) -> FileImage {
        inodes[inodes.count == 1 ? 0 : random.below(inodes.count)].image(&random)
    }
}
