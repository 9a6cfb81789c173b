// Values of a collection as they were at one moment, with texts of their own: what snapshots of
// values hold (`ValueResults.fixed`). Never changes, so that any thread may read it.

final class KeptValues: @unchecked Sendable {
    let values: [RawValue]
    /// The texts and binaries, one behind the other.
    private let bytes: UnsafeMutableRawPointer

    init(_ borrowed: ArraySlice<RawValue>) {
        var size = 1
        for value in borrowed where Self.hasBytes(value) { size += value.bytes.count }
        let bytes = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 1)
        var end = bytes
        values = borrowed.map { value in
            guard Self.hasBytes(value) else { return value }
            let source = value.bytes
            if let start = source.baseAddress, !source.isEmpty {
                end.copyMemory(from: start, byteCount: source.count)
            }
            var own = value
            own.word0 = UInt64(UInt(bitPattern: end))
            end += source.count
            return own
        }
        self.bytes = bytes
    }

    deinit { bytes.deallocate() }

    private static func hasBytes(_ value: RawValue) -> Bool {
        !value.isNull
            && (value.type == ValueType.string.rawValue || value.type == ValueType.binary.rawValue)
    }

    /// The value, or null where it links to an object that is gone.
    static func current(
        _ value: RawValue, _ snapshot: SnapshotReader
    ) throws(RealmError) -> RawValue {
        guard value.type == ValueType.link.rawValue else { return value }
        let target = try snapshot.tables.table(value.linkClass)?.find(value.linkTarget)
        return target == nil ? .null : value
    }

    /// All of them.
    func current(_ snapshot: SnapshotReader) throws(RealmError) -> [RawValue] {
        var result = values
        for index in result.indices where result[index].type == ValueType.link.rawValue {
            result[index] = try Self.current(result[index], snapshot)
        }
        return result
    }
}
