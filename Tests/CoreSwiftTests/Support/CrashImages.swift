// Rebuilds a file as a crash could have left it. Everything written before the last sync is there;
// of what was written after it any part may be: nothing, everything, or a random choice of the
// pieces of each write, in a random order. Sectors of 512 bytes are written whole or not at all.

@testable import CoreSwift

/// The state of a file while events are replayed.
struct FileImage {
    var bytes: [UInt8] = []

    mutating func write(_ data: ArraySlice<UInt8>, at offset: Int) {
        let end = offset + data.count
        if end > bytes.count {
            bytes.append(contentsOf: repeatElement(0, count: end - bytes.count))
        }
        bytes.withUnsafeMutableBytes { target in
            data.withUnsafeBytes { source in
                guard let to = target.baseAddress, let from = source.baseAddress else { return }
                (to + offset).copyMemory(from: from, byteCount: data.count)
            }
        }
    }

    mutating func truncate(_ size: Int) {
        if size < bytes.count {
            bytes.removeSubrange(size...)
        } else {
            bytes.append(contentsOf: repeatElement(0, count: size - bytes.count))
        }
    }

    mutating func apply(_ event: FileEvent) {
        switch event {
        case .write(let offset, let data): write(data[...], at: offset)
        case .truncate(let size): truncate(size)
        case .sync: break
        }
    }
}

/// Walks through recorded events, keeping what is surely on disk and what may be.
struct CrashReplay {
    private(set) var durable = FileImage()
    private(set) var pending: [FileEvent] = []

    mutating func advance(_ event: FileEvent) {
        if case .sync = event {
            for event in pending { durable.apply(event) }
            pending.removeAll(keepingCapacity: true)
        } else {
            pending.append(event)
        }
    }

    /// One image a crash now could leave.
    func image(_ random: inout Random) -> FileImage {
        var image = durable
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
        case 4, 5: tear(&image, 512, &random)
        default: tear(&image, 4096, &random)
        }
        return image
    }

    /// Writes cut into aligned pieces, each of them there or not.
    private func tear(_ image: inout FileImage, _ size: Int, _ random: inout Random) {
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
                    image.write(data[position..<position + length], at: offset + position)
                }
                position += length
            }
        }
    }
}
