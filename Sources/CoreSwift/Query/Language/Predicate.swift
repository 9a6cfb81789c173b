// Conditions as values of a program: what the text of a query says, without the text. Names may be any, and
// nothing has to be quoted. `PredicateWriter` makes the parser's tree of one.

/// A condition on objects, or on the values of a collection.
///
///     let grown = Predicate.compare(.path("age"), .greaterEqual, .value(.int(18)))
///     let named = Predicate.compare(.path(["owner", "name"]), .beginsWith, .value(.string("A")), [.ignoreCase])
///     try realm.objects("Dog").filter(.all([grown, named]))
public indirect enum Predicate: Sendable {
    /// True for every object, or for none.
    case always(Bool)
    /// True where all parts are; without any, for every object.
    case all([Predicate])
    /// True where some part is; without any, for none.
    case any([Predicate])
    case not(Predicate)
    /// Options are of comparisons of texts.
    case compare(Operand, ComparisonOperator, Operand, ComparisonOptions = [])
    /// The first operand lies between the others, both included.
    case between(Operand, Operand, Operand)
    /// A Boolean is true.
    case holds(Operand)
    /// The embedded places that a path leads to lie in a shape, `"geoCircle([10.7, 59.9], 0.1)"`.
    case within(Path, shape: String)

    public indirect enum Operand: Sendable {
        case value(Value)
        case values([Value], Quantifier = .unspecified)
        /// Of paths to many values `quantifier` says for how many of them the comparison is to hold.
        case path(Path, Quantifier = .unspecified)
        /// What is computed of the numbers that a path leads to, or of a property of the objects there; a count is
        /// of no property.
        case aggregate(Path, AggregateFunction, of: [String] = [])
        /// The members of a collection that satisfy a predicate, in which `variable(name)` is the member:
        /// their number, or what is computed of a property of theirs.
        case matching(Path, as: String, Predicate, AggregateFunction = .count, of: [String] = [])
        /// A function of the query language.
        case call(String, [Operand])
        /// The first operand where the predicate is true, else the second.
        case choose(Predicate, Operand, Operand)
        case arithmetic(Operand, Operation, Operand)
        case negated(Operand)
    }

    public enum AggregateFunction: Sendable { case count, minimum, maximum, sum, average }

    public enum Operation: UInt8, Sendable {
        case add, subtract, multiply, divide

        /// As texts have it.
        var sign: String {
            switch self {
            case .add: return "+"
            case .subtract: return "-"
            case .multiply: return "*"
            case .divide: return "/"
            }
        }
    }

    /// The way from the object that is asked to values.
    public struct Path: Sendable, ExpressibleByStringLiteral, ExpressibleByArrayLiteral {
        public enum Step: Sendable {
            /// A property, or the entry of a dictionary.
            case name(String)
            /// An element of a list; negative ones count from the end.
            case index(Int64)
            /// The entry of a dictionary.
            case key(String)
            /// All elements, all keys or all values.
            case elements, keys, values
            /// The objects of a class that link here by a property; without one, by any.
            case backlinks(String, property: String), allBacklinks
            /// The member that a predicate of `matching` is about.
            case variable(String)
            /// The object or value that is asked.
            case itself
        }
        /// What is asked of the values at the end: the values themselves, how many there are, or their type.
        public enum Ending: Sendable { case value, count, type }

        public var steps: [Step]
        public var ending = Ending.value

        public init(_ steps: [Step], _ ending: Ending = .value) {
            self.steps = steps
            self.ending = ending
        }
        public init(stringLiteral name: String) { self.init([.name(name)]) }
        /// Names of properties.
        public init(arrayLiteral names: String...) { self.init(names.map { .name($0) }) }
    }
}
