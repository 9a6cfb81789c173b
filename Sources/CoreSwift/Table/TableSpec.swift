// What the engine knows of a class while it works on its rows: one `ColumnInfo` per stored
// property, in raw memory so that hot paths read it without reference counting.

struct ColumnInfo {
    var kind: ColumnKind
    var isNullable: Bool
    /// The integer primary key that is the object key itself. Leaves hold data for it only if
    /// some of their rows have indirect keys (`IntegerKeys`).
    var isKey = false
    var isPrimaryKey = false
    /// The `RawValue.type` of a non-null value.
    var valueType: UInt32
    /// Class that a link points to.
    var linkTarget = ClassKey.invalid
    /// Position of the value index, the inverse index and the full-text index among the table's
    /// trees, or -1.
    var valueIndex: Int32 = -1
    var inverseIndex: Int32 = -1
    var wordIndex: Int32 = -1
    /// How the full-text index cuts texts into words.
    var wordRules = WordRules.latin
    var propertyKey = PropertyKey.invalid
    /// What the column holds per row; of a collection, `kind` is `.collection`.
    var collection = CollectionType.none
    /// Of the values of a collection.
    var elementKind = ColumnKind.int
    var elementIsNullable = false
    /// A change has to do more than to store a value; see `Table.noteCare`.
    var needsCare = false
    /// The column of a property that was dropped: no value of it is read any more.
    var isVacated = false
    /// Columns of the elements of a collection: the values, or keys and values. Owned by the table.
    var elements: UnsafeMutablePointer<ColumnInfo>?
    /// What leaves without the column hold; nil: null, or zero. Owned by the table.
    var initial: UnsafeMutablePointer<InitialColumn>?

    /// Whether a change of a value concerns some index; -1 is the only negative position.
    @inline(__always) var hasIndexes: Bool { valueIndex & inverseIndex & wordIndex >= 0 }

    /// Whether a value index is all that has to hear of a change.
    @inline(__always) var isForValues: Bool {
        valueIndex >= 0 && inverseIndex & wordIndex < 0 && kind != .mixed && kind != .link
    }

    /// What the values are: the elements of a collection, else those of the column.
    @inline(__always) var valueKind: ColumnKind { kind == .collection ? elementKind : kind }
    /// One row may link to an object several times: the inverse index counts (`CountedLinks`).
    var countsLinks: Bool { kind == .collection || kind == .mixed }
    /// The inverse index files targets by object key alone, not by class and key.
    var linksAreWords: Bool { valueKind == .link }

    /// Columns of the elements: 1, of dictionaries 2.
    @inline(__always) var elementColumns: Int { collection == .dictionary ? 2 : 1 }
    /// The column of the values among those of the elements.
    @inline(__always) var valueColumn: Int { collection == .dictionary ? 1 : 0 }
}

extension LeafView {
    /// The column as rows of this leaf have it: its own, or that of the initial value; nil where they
    /// hold null or zero.
    @inline(__always) func column(_ index: Int, _ info: ColumnInfo) -> ColumnView? {
        if let column = column(index) { return column }
        return info.initial.map { $0.pointee.view(self) }
    }
}

/// What the tree of a property is for; the catalog holds the raw value.
enum IndexKind: UInt8 {
    /// Value -> objects that have it.
    case values = 0
    /// Link target -> objects that link to it.
    case inverse = 1
    /// Word of a text -> objects whose text has it, by the rules of `WordRules`.
    case words = 2
    case unicodeWords = 3

    /// Trees of one column are told apart by their tags, which have 16 bits for columns and this.
    func tagColumn(_ column: Int) -> Int {
        switch self {
        case .values: return column
        case .inverse: return column | 0x8000
        case .words, .unicodeWords: return column | 0x4000
        }
    }

    var isWords: Bool { self == .words || self == .unicodeWords }

    /// In messages: "index of Dog.name".
    var name: String {
        switch self {
        case .values: return "index"
        case .inverse: return "inverse index"
        case .words, .unicodeWords: return "full-text index"
        }
    }
}

extension WordRules {
    var indexKind: IndexKind { self == .latin ? .words : .unicodeWords }
}

/// Object keys of integer primary keys. A value in 0 ..< 2^62 is its own object key, so that a
/// look-up is one descent of the tree and no index exists. The others (negative values, values
/// from 2^62 on, null) get keys from 2^62 on in order of creation and are found through an index;
/// so every 64-bit value and null can be a key and object keys are never negative.
enum IntegerKeys {
    static let indirectBase = ObjectKey(rawValue: 1 << 62)

    @inline(__always) static func isDirect(_ value: Int64) -> Bool {
        UInt64(bitPattern: value) < UInt64(1 << 62)
    }

    /// The object key that an integer primary key is; nil for all others.
    @inline(__always) static func direct(_ value: RawValue) -> ObjectKey? {
        value.type == ValueType.int.rawValue && isDirect(value.intValue)
            ? ObjectKey(rawValue: value.intValue) : nil
    }
}

/// Object keys that are given in sequence, as ranges: the upper bits are the number of the client that
/// made the object, so that objects which are made in two files never have one key. Files without a
/// client's number are in range 0. Indirect keys of integers have ranges of their own, from 2^62 on.
enum ClientKeys {
    static let bits: Int64 = 36
    static let clientMax: UInt32 = 1 << 26 - 2

    /// The range that a key is in.
    @inline(__always) static func of(_ key: ObjectKey) -> Int64 { key.rawValue >> bits }

    /// The first key that a client gives.
    static func first(_ client: UInt32, hasIntegerKey: Bool) -> ObjectKey {
        let base = hasIntegerKey ? IntegerKeys.indirectBase : .first
        return ObjectKey(rawValue: base.rawValue + Int64(client) << bits)
    }
}
