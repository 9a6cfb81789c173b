// What is made of the values of a property.

package enum AggregateKind {
    case minimum, maximum, sum, average

    /// The word behind a path, which is one of these.
    init(_ ending: PathEnding) {
        switch ending {
        case .minimum: self = .minimum
        case .maximum: self = .maximum
        case .average: self = .average
        default: self = .sum
        }
    }

    package var word: String {
        switch self {
        case .minimum: return "min"
        case .maximum: return "max"
        case .sum: return "sum"
        case .average: return "average"
        }
    }

    /// The type of what is made of values of a type (A11).
    func result(of kind: OperandKind) -> OperandKind {
        switch self {
        case .minimum, .maximum: return kind
        case .sum:
            return kind == .int ? .int : kind == .float || kind == .double ? .double : .decimal
        case .average: return kind == .decimal || kind == .mixed ? .decimal : .double
        }
    }
}
