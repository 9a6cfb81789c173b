// What is made of the values of a property.

enum AggregateKind {
    case minimum, maximum, sum, average

    var word: String {
        switch self {
        case .minimum: return "min"
        case .maximum: return "max"
        case .sum: return "sum"
        case .average: return "average"
        }
    }
}
