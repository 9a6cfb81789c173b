// Memory for what is on its way into the new file, used again for each object and each list: see `ImportSession`.

import CoreSwift

/// The elements of a list: values, or numbers alone.
final class ElementBuffer {
    private(set) var values = UnsafeMutablePointer<RawValue>.allocate(capacity: 1024)
    private(set) var numbers = UnsafeMutablePointer<Int64>.allocate(capacity: 1024)
    private(set) var count = 0
    private var capacity = 1024

    deinit {
        values.deallocate()
        numbers.deallocate()
    }

    /// Makes room for elements, and forgets others.
    func start(_ count: Int) {
        self.count = 0
        guard count > capacity else { return }
        values.deallocate()
        numbers.deallocate()
        values = .allocate(capacity: count)
        numbers = .allocate(capacity: count)
        capacity = count
    }

    /// There is room for it.
    @inline(__always)
    func add(_ value: RawValue) {
        values[count] = value
        count &+= 1
    }

    /// The same for a number; elements are either.
    @inline(__always)
    func add(number: Int64) {
        numbers[count] = number
        count &+= 1
    }
}

/// The values of an object that is to be made.
final class RowBuffer {
    let keys: UnsafeMutablePointer<PropertyKey>
    let values: UnsafeMutablePointer<RawValue>
    private(set) var count = 0
    /// What they take, roughly.
    private(set) var bytes = 0

    init(_ columns: Int) {
        keys = .allocate(capacity: max(columns, 1))
        values = .allocate(capacity: max(columns, 1))
    }

    deinit {
        keys.deallocate()
        values.deallocate()
    }

    @inline(__always)
    func clear() {
        count = 0
        bytes = 32
    }

    /// At most once for each column.
    @inline(__always)
    func add(_ key: PropertyKey, _ value: RawValue, _ size: Int) {
        keys[count] = key
        values[count] = value
        count += 1
        bytes += size
    }
}
