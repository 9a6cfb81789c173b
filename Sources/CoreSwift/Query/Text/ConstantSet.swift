// A long list of constants that values are looked for in.

/// The constants of a long list, so that a value is found among them: texts by their hash, others
/// by halving. Finds what comparing with each (`ValueTest`, `ExpressionTexts`) finds.
final class ConstantSet {
    /// Floats, doubles and decimals each by themselves: rounded to meet another kind, numbers of one kind stay in
    /// their order, but change it among those of others. Then all else, of which whole numbers meet all exactly.
    private let sorted: [[RawValue]]
    private let strings: TextSet
    private let binaries: TextSet
    private let folding: TextFolding
    private let folder = TextFolder()
    private let hasNull: Bool

    /// Fewer members are gone through.
    static let countMin = 16

    /// Nil when there are few members, or one that is no number.
    init?(
        _ constants: UnsafeMutablePointer<RawValue>, _ count: Int, _ folding: TextFolding = []
    ) {
        guard count >= Self.countMin else { return nil }
        self.folding = folding
        var sorted = [[RawValue]](repeating: [], count: 4)
        var strings: [[UInt8]] = []
        var binaries: [[UInt8]] = []
        var hasNull = false
        for index in 0..<count {
            let constant = constants[index]
            switch ValueOrder.family(constant) {
            case .null: hasNull = true
            case .number where ValueTest.isNaN(constant): return nil
            case .string:
                strings.append(
                    TextFolder.folded(Array(constant.bytes), folding, isString: true))
            case .binary:
                binaries.append(
                    TextFolder.folded(
                        Array(constant.bytes), folding.subtracting(.ignoreDiacritics),
                        isString: false))
            default: sorted[Self.kind(constant)].append(constant)
            }
        }
        self.strings = TextSet(strings)
        self.binaries = TextSet(binaries)
        for kind in sorted.indices { sorted[kind].sortFew { ValueOrder.compare($0, $1) < 0 } }
        self.sorted = sorted
        self.hasNull = hasNull
    }

    /// Which of the sorted ones has the value.
    private static func kind(_ value: RawValue) -> Int {
        switch value.type {
        case ValueType.float.rawValue: return 0
        case ValueType.double.rawValue: return 1
        case ValueType.decimal128.rawValue: return 2
        default: return 3
        }
    }

    /// Whether the value equals a member; nil when the members have to be asked one by one.
    func contains(_ value: RawValue) -> Bool? {
        switch ValueOrder.family(value) {
        case .null: return hasNull
        case .list, .dictionary, .unknown: return nil
        case .string:
            return strings.contains(
                folding.isEmpty ? value.bytes : folder.fold(value.bytes, folding))
        case .binary:
            return binaries.contains(
                folding.contains(.ignoreCase) ? folder.foldASCII(value.bytes) : value.bytes)
        case .number:
            if ValueTest.isNaN(value) { return false }
            return sorted.contains { isMember(value, $0) }
        default: return isMember(value, sorted[3])
        }
    }

    private func isMember(_ value: RawValue, _ sorted: [RawValue]) -> Bool {
        sorted.hasMember { ValueTest.order($0, value) }
    }
}
