// Constants and arguments as values: from their spelling, or from what the caller passed.

/// A value that a `$n` in a query stands for.
public enum QueryArgument: Sendable {
    case scalar(Value)
    case list([Value])
}

/// A scalar constant of a query.
struct BoundConstant {
    /// What `word` is; objects of the class at hand, and those named by their primary key, have to be looked up.
    private enum Form: UInt8 {
        case value, ofClassAtHand, named, namedByText
    }
    var kind: OperandKind
    private var form = Form.value
    /// The value, a link of which the key counts, or a primary key. Operands are copied: nothing stands twice.
    private var word: RawValue
    /// Integers whose spelling exceeds 64 bits: their value; `raw` is saturated.
    var huge: Double?
    /// Strings, binaries and primary keys that are strings: among the filter's bytes.
    var text = FilterText()
    /// Of a named object, and the column of its primary key.
    private var namedClass = ClassKey.invalid
    private var keyColumn: Int32 = -1
    var isArgument = false
    /// The value of an expression of constants: its spelling is not the value's.
    var isComputed = false
    /// A member of a list whose type no value of the other side has; it stands for its place.
    var isForeign = false
    /// Where it stands in the text.
    var node: Int32 = -1

    init(_ raw: RawValue) {
        word = raw.isNull ? .null : raw
        kind = raw.isNull ? .null : OperandKind(ValueType(rawValue: raw.type) ?? .null)
    }

    init(_ kind: OperandKind, _ text: FilterText) {
        self.kind = kind
        self.text = text
        word = .null
    }

    /// An object of a known class, named by its primary key.
    init(_ name: ObjectName) {
        kind = .link
        namedClass = name.classKey
        keyColumn = name.column
        switch name.key {
        case .value(let key):
            form = .named
            word = key
        case .text(let key):
            form = .namedByText
            word = .null
            text = key
        }
    }

    /// An object of the class at hand.
    init(_ objectKey: ObjectKey) {
        kind = .link
        form = .ofClassAtHand
        word = .link(.invalid, objectKey)
    }

    /// Without the bytes of strings and binaries, which the binder adds.
    init(value: Value) {
        switch value {
        case .string: self.init(.string, FilterText())
        case .binary: self.init(.binary, FilterText())
        default: self.init((try? value.withRaw { raw throws(RealmError) in raw }) ?? .null)
        }
    }

    init(_ date: Timestamp) {
        self.init(RawValue.timestamp(seconds: date.seconds, nanoseconds: date.nanoseconds))
    }

    /// The value; null for strings and binaries, and for objects that have to be looked up.
    var raw: RawValue {
        get { form == .value ? word : .null }
        set {
            form = .value
            word = newValue
        }
    }
    var objectKey: ObjectKey? { form == .ofClassAtHand ? word.linkTarget : nil }
    var name: ObjectName? {
        guard form == .named || form == .namedByText else { return nil }
        return ObjectName(
            classKey: namedClass, column: keyColumn,
            key: form == .named ? .value(word) : .text(text))
    }
    /// The class of an object.
    var classKey: ClassKey {
        switch form {
        case .value: return kind == .link ? word.linkClass : .invalid
        case .ofClassAtHand: return .invalid
        case .named, .namedByText: return namedClass
        }
    }
    /// A number that mixed values are compared with pair by pair (`ValueTest`).
    var isInexact: Bool { kind == .double || kind == .float || kind == .decimal || huge != nil }
    /// The value of a double or float.
    var floating: Double { kind == .float ? Double(raw.floatValue) : raw.doubleValue }
    var timestamp: Timestamp { Timestamp(seconds: raw.seconds, nanoseconds: raw.nanoseconds) }

    /// The type word of messages (T2).
    var typeWord: String { kind.typeWord }
}

extension ColumnKind {
    /// The type word of messages (T2).
    var typeWord: String {
        self == .decimal ? "decimal128" : "\(self)"
    }
    var isNumeric: Bool { self == .int || self == .float || self == .double }
}
