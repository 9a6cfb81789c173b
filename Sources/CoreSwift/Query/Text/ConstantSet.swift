// A long list of constants that values are looked for in.

/// The constants of a long list, so that a value is found among them: texts by their hash, others
/// by halving. Finds what comparing with each (`ValueTest`, `ExpressionTexts`) finds.
final class ConstantSet {
    /// Floats, doubles and decimals each by themselves: rounded to meet another kind, numbers of one kind stay in
    /// their order, but change it among those of others. Then all else, of which whole numbers meet all exactly.
    private let sorted: [[RawValue]]
    private let strings: TextSet?
    private let binaries: TextSet?
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
        var texts: [[UInt8]] = []
        var stringCount = 0
        // Strings first.
        for family in [ValueOrder.Family.string, .binary] {
            let folding =
                family == .string ? folding : folding.subtracting(.ignoreDiacritics)
            for index in 0..<count where ValueOrder.family(constants[index]) == family {
                let bytes = Array(constants[index].bytes)
                texts.append(
                    TextFolder.folded(bytes, folding, isString: family == .string))
            }
            if family == .string { stringCount = texts.count }
        }
        strings = Self.set(texts[..<stringCount])
        binaries = Self.set(texts[stringCount...])
        var hasNull = false
        for index in 0..<count {
            let constant = constants[index]
            switch ValueOrder.family(constant) {
            case .null: hasNull = true
            case .number where ValueTest.isNaN(constant): return nil
            case .string, .binary: break
            default: sorted[Self.kind(constant)].append(constant)
            }
        }
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

    private static func set(_ texts: ArraySlice<[UInt8]>) -> TextSet? {
        if texts.isEmpty { return nil }
        // One piece of memory that stays where it is while the set is made.
        let all = texts.reduce(into: [UInt8]()) { $0 += $1 }
        return all.withUnsafeBytes { buffer in
            var places: [UnsafeRawBufferPointer] = []
            var offset = 0
            for text in texts {
                places.append(
                    UnsafeRawBufferPointer(rebasing: buffer[offset..<offset + text.count]))
                offset += text.count
            }
            return TextSet(places)
        }
    }

    /// Whether the value equals a member; nil when the members have to be asked one by one.
    func contains(_ value: RawValue) -> Bool? {
        switch ValueOrder.family(value) {
        case .null: return hasNull
        case .list, .dictionary, .unknown: return nil
        case .string:
            guard let strings else { return false }
            return strings.contains(
                folding.isEmpty ? value.bytes : folder.fold(value.bytes, folding))
        case .binary:
            guard let binaries else { return false }
            return binaries.contains(
                folding.contains(.ignoreCase) ? folder.foldASCII(value.bytes) : value.bytes)
        case .number:
            if ValueTest.isNaN(value) { return false }
            return sorted.contains { Self.find(value, $0) }
        default: return Self.find(value, sorted[3])
        }
    }

    private static func find(_ value: RawValue, _ sorted: [RawValue]) -> Bool {
        var low = 0
        var high = sorted.count
        while low < high {
            let middle = (low &+ high) >> 1
            let order = ValueTest.order(sorted[middle], value)
            if order == 0 { return true }
            if order < 0 { low = middle &+ 1 } else { high = middle }
        }
        return false
    }
}
