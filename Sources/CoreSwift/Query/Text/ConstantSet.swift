// A long list of constants that values are looked for in.

/// The constants of a long list, so that a value is found among them: texts by their hash, others
/// by halving. Finds what comparing with each (`ValueTest`, `ExpressionTexts`) finds.
final class ConstantSet {
    private let sorted: [RawValue]
    private let strings: TextSet?
    private let binaries: TextSet?
    private let folding: TextFolding
    private let folder = TextFolder()
    private let hasNull: Bool
    private let hasBinaryNumbers: Bool
    private let hasDecimals: Bool

    /// Fewer members are gone through.
    static let countMin = 16

    /// Nil when there are few members, or kinds of numbers that are rounded beside each other.
    init?(
        _ constants: UnsafeMutablePointer<RawValue>, _ count: Int, _ folding: TextFolding = []
    ) {
        guard count >= Self.countMin else { return nil }
        self.folding = folding
        var sorted: [RawValue] = []
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
        var hasBinaryNumbers = false
        var hasDecimals = false
        for index in 0..<count {
            let constant = constants[index]
            switch ValueOrder.family(constant) {
            case .null: hasNull = true
            case .number where ValueTest.isNaN(constant): return nil
            case .number:
                let isDecimal = constant.type == ValueType.decimal128.rawValue
                if isDecimal {
                    hasDecimals = true
                } else if constant.type != ValueType.int.rawValue {
                    hasBinaryNumbers = true
                }
                sorted.append(constant)
            case .string, .binary: break
            default: sorted.append(constant)
            }
        }
        if hasDecimals && hasBinaryNumbers { return nil }
        sorted.sort { ValueOrder.compare($0, $1) < 0 }
        self.sorted = sorted
        self.hasNull = hasNull
        self.hasBinaryNumbers = hasBinaryNumbers
        self.hasDecimals = hasDecimals
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
            if value.type == ValueType.decimal128.rawValue {
                if hasBinaryNumbers { return nil }
            } else if hasDecimals, value.type != ValueType.int.rawValue {
                return nil
            }
        default: break
        }
        var low = 0
        var high = sorted.count
        while low < high {
            let middle = (low &+ high) >> 1
            let order = ValueOrder.compare(sorted[middle], value)
            if order == 0 { return true }
            if order < 0 { low = middle &+ 1 } else { high = middle }
        }
        return false
    }
}
