// Links between objects of one class, of which one is read before the other: those that lead to objects that come
// later. While the new file is filled they can be made at once, as nobody looks whether their objects are there;
// that is promised, one bit for each object, and compared when the class is complete. Where promises
// would take too much memory, or must not be made, links wait until all objects are there.
//
// Asked by `ImportSession`, twice: when an object is made (`waits`), and when what waited is made up for
// (`waited`). Both times the answers are the same.
//
//   objects before `end`      none of their links waits
//   the object `end`          links of the columns `columnsAtEnd` wait
//   objects behind `end`      all links to later objects, and to themselves, wait
//
// Lists that are read in parts always wait: `ImportSession` sees to that, and tells by `note`.

import RealmCoreFile

final class ForwardLinks {
    /// Columns with links that wait, by their places.
    private(set) var columns: Set<Int> = []
    /// The objects with such links lie between these, both included.
    private(set) var first = Int64.max
    private(set) var last = Int64.min
    private var end: Int64
    private var columnsAtEnd: Set<Int> = []
    /// What has to be there at the end.
    let promised = PromisedKeys()

    init(promises: Bool) { end = promises ? .max : .min }

    /// Objects that come later can't be promised from this object on.
    func endPromises(at key: Int64) { end = min(end, key) }

    /// Notes that links of a column of an object wait.
    func note(_ column: Int, _ key: Int64) {
        columns.insert(column)
        first = min(first, key)
        last = max(last, key)
    }

    /// Whether the link of an object has to wait, which is noted.
    @inline(__always)
    func waits(_ cell: CoreCell, _ column: Int, _ key: Int64) -> Bool {
        let target = Int64(bitPattern: cell.second)
        guard cell.kind == .link, target >= key else { return false }
        return waits(column, key) { promised.add(target) }
    }

    /// The same for the elements of a list, which are links.
    @inline(__always)
    func waits(
        _ cells: UnsafeBufferPointer<CoreCell>, _ column: Int, _ key: Int64
    ) -> Bool {
        guard cells.contains(where: { Int64(bitPattern: $0.second) >= key }) else { return false }
        return waits(column, key) {
            cells.allSatisfy {
                let target = Int64(bitPattern: $0.second)
                return target < key || promised.add(target)
            }
        }
    }

    /// The same for the keys that they lead to, none of which is below 0.
    @inline(__always)
    func waits(_ targets: UnsafeBufferPointer<Int64>, _ column: Int, _ key: Int64) -> Bool {
        guard targets.contains(where: { $0 >= key }) else { return false }
        return waits(column, key) { targets.allSatisfy { $0 < key || promised.add($0) } }
    }

    private func waits(_ column: Int, _ key: Int64, _ promise: () -> Bool) -> Bool {
        if key < end {
            if promise() { return false }
            end = key
        }
        if key == end { columnsAtEnd.insert(column) }
        note(column, key)
        return true
    }

    /// Whether the link of an object has waited.
    func waited(_ cell: CoreCell, _ column: Int, _ key: Int64) -> Bool {
        cell.kind == .link && Int64(bitPattern: cell.second) >= key && waited(column, key)
    }

    /// The same for the elements of a list.
    func waited(
        _ cells: UnsafeBufferPointer<CoreCell>, _ column: Int, _ key: Int64
    ) -> Bool {
        waited(column, key) && cells.contains { Int64(bitPattern: $0.second) >= key }
    }

    private func waited(_ column: Int, _ key: Int64) -> Bool {
        key > end || key == end && columnsAtEnd.contains(column)
    }
}

/// A set of object keys: one bit for each, in pages that are there where a key is.
final class PromisedKeys {
    /// Keys of a page, as a shift: 8 KiB.
    private static let pageShift: Int64 = 16
    private static let wordsPerPage = 1 << (pageShift - 6)
    private static let pageMask: Int64 = 1 << pageShift - 1
    /// 16 MiB: of more than 100 million objects whose keys are 0, 1, 2 and so on.
    private static let pagesMax = 2048
    /// Keys are below 2^34: the directory takes 2 MiB at most.
    private static let directoryMax: Int64 = 1 << 18

    private var directory: [UnsafeMutablePointer<UInt64>?] = []
    private var pageCount = 0

    deinit { for page in directory { page?.deallocate() } }

    /// False where there is no room for it.
    @inline(__always)
    func add(_ key: Int64) -> Bool {
        guard key >= 0, let words = page(of: key) else { return false }
        words[Int((key & Self.pageMask) >> 6)] |= 1 << UInt64(key & 63)
        return true
    }

    @inline(__always)
    private func page(of key: Int64) -> UnsafeMutablePointer<UInt64>? {
        let number = key >> Self.pageShift
        if number < Int64(directory.count), let page = directory[Int(number)] { return page }
        return makePage(number)
    }

    private func makePage(_ number: Int64) -> UnsafeMutablePointer<UInt64>? {
        guard number < Self.directoryMax, pageCount < Self.pagesMax else { return nil }
        while Int64(directory.count) <= number { directory.append(nil) }
        let page = UnsafeMutablePointer<UInt64>.allocate(capacity: Self.wordsPerPage)
        page.initialize(repeating: 0, count: Self.wordsPerPage)
        directory[Int(number)] = page
        pageCount += 1
        return page
    }

    @inline(__always)
    func contains(_ key: Int64) -> Bool {
        let number = key >> Self.pageShift
        guard number >= 0, number < Int64(directory.count), let page = directory[Int(number)] else {
            return false
        }
        return page[Int((key & Self.pageMask) >> 6)] >> UInt64(key & 63) & 1 != 0
    }

    /// Removes all keys of a range, whose bounds are not negative.
    func remove(_ range: Range<Int64>) {
        let end = min(range.upperBound, Int64(directory.count) << Self.pageShift)
        var key = range.lowerBound
        while key < end {
            let pageEnd = min(end, (key >> Self.pageShift + 1) << Self.pageShift)
            guard let page = directory[Int(key >> Self.pageShift)] else {
                key = pageEnd
                continue
            }
            while key < pageEnd {
                let wordEnd = min(pageEnd, (key >> 6 + 1) << 6)
                let bits = (UInt64.max >> UInt64(64 - (wordEnd - key))) << UInt64(key & 63)
                page[Int((key & Self.pageMask) >> 6)] &= ~bits
                key = wordEnd
            }
        }
    }

    /// The keys from `start` on, the least first; nil behind the last one.
    func next(from start: Int64) -> Int64? {
        var key = max(start, 0)
        while key >> Self.pageShift < Int64(directory.count) {
            guard let page = directory[Int(key >> Self.pageShift)] else {
                key = (key >> Self.pageShift + 1) << Self.pageShift
                continue
            }
            let bits = page[Int((key & Self.pageMask) >> 6)] >> UInt64(key & 63)
            if bits != 0 { return key + Int64(bits.trailingZeroBitCount) }
            key = (key >> 6 + 1) << 6
        }
        return nil
    }
}
