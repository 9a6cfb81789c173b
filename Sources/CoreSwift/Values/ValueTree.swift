// A value with everything inside it: what objects are created from, what JSON text reads as. Data
// without a realm; what its parts mean for a class is decided where objects are created
// (Objects/Creation).

/// A scalar, a list, or names with values, nested as deep as need be.
public enum ValueTree: Hashable, Sendable {
    case value(Value)
    /// A number of a JSON text that is no 64-bit integer, as it was written. It becomes a double,
    /// or a decimal with all its digits where the property is one.
    case number(String)
    case list([ValueTree])
    /// In the order given. What reads text sees to it that no name is there twice.
    case dictionary([Entry])

    public struct Entry: Hashable, Sendable {
        public var name: String
        public var value: ValueTree
        public init(_ name: String, _ value: ValueTree) {
            self.name = name
            self.value = value
        }
    }

    public static var null: ValueTree { .value(.null) }

    /// "a list of 3", "the string \"x\"": what messages say was given. Cut after 40 characters.
    var summary: String {
        switch self {
        case .list(let elements): return "a list of \(elements.count)"
        case .dictionary(let entries): return "a dictionary of \(entries.count)"
        case .number(let text): return "the number \(Self.short(text))"
        case .value(let value): return Self.summary(value)
        }
    }

    private static func summary(_ value: Value) -> String {
        switch value {
        case .null: return "null"
        case .int(let number): return "the int \(number)"
        case .bool(let flag): return "the bool \(flag)"
        case .string(let text): return "the string \"\(short(text))\""
        case .binary(let bytes): return "a binary of \(bytes.count) bytes"
        case .timestamp(let time): return "the timestamp \(time.seconds) s"
        case .float(let number): return "the float \(number)"
        case .double(let number): return "the double \(number)"
        case .decimal128(let number): return "the decimal \(number)"
        case .objectId(let id): return "the object id \(id)"
        case .uuid(let id): return "the UUID \(id)"
        case .link(let link):
            return "a link to object \(link.objectKey) of class \(link.classKey)"
        }
    }

    private static func short(_ text: String) -> String {
        let start = text.prefix(40)
        return start.endIndex == text.endIndex ? text : start + "…"
    }
}

extension ValueTree: ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral,
    ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral
{
    public init(dictionaryLiteral elements: (String, ValueTree)...) {
        self = .dictionary(elements.map { Entry($0.0, $0.1) })
    }
    public init(arrayLiteral elements: ValueTree...) { self = .list(elements) }
    public init(stringLiteral value: String) { self = .value(.string(value)) }
    public init(integerLiteral value: Int64) { self = .value(.int(value)) }
    public init(floatLiteral value: Double) { self = .value(.double(value)) }
    public init(booleanLiteral value: Bool) { self = .value(.bool(value)) }
}
