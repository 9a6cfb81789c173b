// Cells of small collections, changed element by element against a plain array.

import Testing

@testable import CoreSwift
@testable import TestSupport

private func column(_ kind: ColumnKind, isNullable: Bool) -> ColumnInfo {
    ColumnInfo(
        kind: kind, isNullable: isNullable, isKey: false, isPrimaryKey: false,
        valueType: kind.valueType.rawValue, linkTarget: ClassKey(rawValue: 7), valueIndex: -1,
        inverseIndex: -1, propertyKey: .invalid)
}

/// A cell with its elements as they should be: key and value, the key of lists null.
private final class CellModel {
    let infos: UnsafeMutablePointer<ColumnInfo>
    let columns: Int
    private let buffer = UnsafeMutableRawPointer.allocate(
        byteCount: CellEditor.bufferBytes, alignment: 8)
    private(set) var cell: [UInt8] = []
    private(set) var elements: [(key: Value, value: Value)] = []

    init(_ kinds: [ColumnKind], isNullable: Bool) {
        columns = kinds.count
        infos = .allocate(capacity: columns)
        for (index, kind) in kinds.enumerated() {
            (infos + index).initialize(
                to: column(kind, isNullable: isNullable && index == columns - 1))
        }
    }

    deinit {
        buffer.deallocate()
        infos.deallocate()
    }

    /// Edits a copy of the cell; a refused edit leaves it as it is.
    func edit(_ body: (inout CellEditor) -> Bool) -> Bool {
        let target = buffer
        let isDone = cell.withUnsafeBytes { source in
            var editor = CellEditor(source, to: target, UnsafePointer(infos), columns)
            guard body(&editor) else { return -1 }
            return editor.byteCount
        }
        guard isDone >= 0 else { return false }
        cell = [UInt8](UnsafeRawBufferPointer(start: buffer, count: isDone))
        return true
    }

    func insert(_ key: Value, _ value: Value, at index: Int) throws -> Bool {
        let isDone = try key.withRaw { key throws(RealmError) in
            try value.withRaw { raw throws(RealmError) in
                edit { $0.insert(raw, key: columns == 2 ? key : nil, at: index) }
            }
        }
        if isDone { elements.insert((key, value), at: index) }
        return isDone
    }

    func replace(_ value: Value, at index: Int) throws -> Bool {
        let isDone = try value.withRaw { raw throws(RealmError) in
            edit { $0.replace(raw, at: index) }
        }
        if isDone { elements[index].value = value }
        return isDone
    }

    func remove(at index: Int) {
        _ = edit {
            $0.remove(at: index)
            return true
        }
        elements.remove(at: index)
    }

    func check(_ note: Comment) throws {
        try cell.withUnsafeBytes { bytes in
            try CollectionCell.check(bytes, infos: UnsafePointer(infos), columns, depth: 1)
            #expect(CollectionCell.count(bytes) == elements.count, note)
            guard let start = bytes.baseAddress, !elements.isEmpty else { return }
            let inline = InlineCollection(start)
            let values = inline.column(columns - 1, UnsafePointer(infos))
            #expect(
                try (0..<inline.count).map { try Value(values.value($0, infos[columns - 1])) }
                    == elements.map(\.value), note)
            guard columns == 2 else { return }
            let keys = inline.column(0, UnsafePointer(infos))
            #expect(
                try (0..<inline.count).map { try Value(keys.value($0, infos[0])) }
                    == elements.map(\.key), note)
        }
    }
}

@Suite struct CellEditorTests {
    private static let kinds: [ColumnKind] = [
        .int, .bool, .float, .double, .string, .binary, .timestamp, .link, .decimal, .objectId,
        .uuid,
    ]

    private static func value(
        _ kind: ColumnKind, _ isNullable: Bool, _ random: inout Random
    ) -> Value {
        if isNullable, random.below(4) == 0 { return .null }
        let bits = Int64(bitPattern: random.next())
        let number = bits >> Int64([0, 20, 33, 50, 58, 62][random.below(6)])
        switch kind {
        case .bool: return .bool(bits & 1 == 0)
        case .float: return .float(Float(number))
        case .double: return .double(Double(number))
        case .string:
            let length = random.below(random.below(30) == 0 ? 400 : 12)
            return .string(String(repeating: "x", count: length) + "\(number & 0xFF)")
        case .binary: return .binary([UInt8](repeating: 3, count: random.below(40)))
        case .timestamp:
            let parts = random.below(3) == 0 ? Int32(random.below(1000)) : 0
            return .timestamp(Timestamp(seconds: abs(number >> 2), nanoseconds: parts))
        case .link:
            return .link(Link(ClassKey(rawValue: 7), ObjectKey(rawValue: abs(number >> 1))))
        case .decimal: return .decimal128(Decimal128(number))
        case .objectId: return .objectId(ObjectId(high: UInt64(bitPattern: bits), low: 5))
        case .uuid: return .uuid(UUIDValue(high: UInt64(bitPattern: bits), low: 9))
        default: return .int(number)
        }
    }

    @Test(arguments: 0..<44)
    func `any sequence of edits leaves a sound cell with the elements it should have`(
        number: Int
    ) throws {
        let kind = Self.kinds[number % Self.kinds.count]
        let isNullable = number / 11 % 2 == 1
        let hasKeys = number / 22 == 1
        let model = CellModel(hasKeys ? [.string, kind] : [kind], isNullable: isNullable)
        var random = Random(TestSettings.seed("cells") &+ UInt64(number))
        var refused = 0
        for step in 0..<600 {
            let note: Comment = "\(kind), nullable \(isNullable), keys \(hasKeys), step \(step)"
            let count = model.elements.count
            let choice = random.below(refused > 3 ? 4 : 10)
            if refused > 3, count < 5 { refused = 0 }
            if count > 0, choice < 3 {
                model.remove(at: random.below(count))
            } else if count > 0, choice == 3 {
                let value = Self.value(kind, isNullable, &random)
                _ = try model.replace(value, at: random.below(count))
            } else {
                let key: Value = hasKeys ? .string("k\(random.below(1000))") : .null
                let value = Self.value(kind, isNullable, &random)
                if try !model.insert(key, value, at: random.below(count + 1)) { refused += 1 }
            }
            #expect(model.cell.count <= CollectionCell.inlineBytesMax, note)
            try model.check(note)
        }
    }

    @Test func `a cell of a thousand elements takes no more`() throws {
        let model = CellModel([.int], isNullable: false)
        for index in 0..<CollectionCell.inlineElementsMax {
            #expect(try model.insert(.null, .int(Int64(index & 7)), at: index))
        }
        #expect(try !model.insert(.null, .int(1), at: 0))
        // Wider numbers would make the cell too large, and it stays as it is.
        #expect(try !model.replace(.int(70_000), at: 500))
        try model.check("full")
    }
}
