// Objects of one class, written one after another: as a table, CSV, JSON lines or one JSON array. Nothing is
// kept but the first rows of a table, which its widths are taken from.

import ArgumentParser
import CoreSwift

enum RowFormat: String, CaseIterable, ExpressibleByArgument {
    case table, json, jsonl, csv
}

final class RowWriter {
    /// So many rows say how wide the columns of a table are.
    private static let sampleRows = 1000

    private let class_: ClassSchema
    /// The places of the properties that are written.
    private let columns: [Int]
    /// They are all, in the order of the class.
    private let isWhole: Bool
    private let format: RowFormat
    private let depth: Int
    /// Columns of a table; nil: as many as there are.
    private let width: Int?
    private let isGuarded: Bool
    private let output: Output
    private(set) var count = 0
    /// Rows of a table that wait for its widths; nil when these are known.
    private var waiting: [[String]]? = []
    private var layout: TableLayout
    /// A table that does not fit is written as lists of properties.
    private var isVertical = false

    /// `names`: of the properties, nil for all.
    init(
        _ class_: ClassSchema, _ names: [String]?, _ format: RowFormat, depth: Int = 0,
        width: Int? = nil, isGuarded: Bool = false, to output: Output
    ) throws(RealmError) {
        self.class_ = class_
        var columns = Array(class_.properties.indices)
        if let names {
            columns = []
            for name in names {
                guard let place = class_.properties.firstIndex(where: { $0.name == name }) else {
                    throw RealmError(
                        .invalidProperty,
                        "class '\(class_.name)' has no property '\(name)'; it has "
                            + class_.properties.map(\.name).joined(separator: ", "))
                }
                columns.append(place)
            }
        }
        self.columns = columns
        isWhole = columns == Array(class_.properties.indices)
        self.format = format
        self.depth = depth
        self.width = width
        self.isGuarded = isGuarded
        self.output = output
        let aligned = columns.map { column -> TextTable.Alignment in
            let property = class_.properties[column]
            guard property.collection == .none else { return .left }
            switch property.type {
            case .int, .float, .double, .decimal128: return .right
            default: return .left
            }
        }
        layout = TableLayout((Self.showsKeys(class_) ? [.right] : []) + aligned)
        if format == .csv {
            let titles = columns.map {
                CSV.field(class_.properties[$0].name, isGuarded: isGuarded)
            }
            try output.write(titles.joined(separator: ",") + "\n")
        }
    }

    /// Objects without primary key are known by their object keys.
    private static func showsKeys(_ class_: ClassSchema) -> Bool {
        class_.primaryKeyProperty == nil
    }

    private var titles: [String] {
        (Self.showsKeys(class_) ? ["(key)"] : [])
            + columns.map { TextWidth.visible(class_.properties[$0].name) }
    }

    func add(_ object: ObjectHandle) throws(RealmError) {
        count += 1
        switch format {
        case .json:
            try output.write((count == 1 ? "[\n" : ",\n") + json(object))
        case .jsonl:
            try output.write(json(object) + "\n")
        case .csv:
            let text = try ObjectText(object, class_, depth: depth)
            var fields: [String] = []
            for column in columns {
                fields.append(try text.field(column, isGuarded: isGuarded))
            }
            // A line without anything would be none.
            let line = fields == [""] ? "" : fields.joined(separator: ",")
            try output.write(line + "\n")
        case .table:
            let cells = try cells(object)
            if waiting == nil { return try write(cells) }
            waiting?.append(cells)
            if waiting?.count == Self.sampleRows { try begin() }
        }
    }

    private func json(_ object: ObjectHandle) throws(RealmError) -> String {
        if !isWhole { return try ObjectText(object, class_, depth: depth).json(columns) }
        var options = JSONOptions()
        options.linkDepth = depth
        return try object.json(options)
    }

    /// Everything goes out.
    func finish() throws(RealmError) {
        switch format {
        case .json: try output.write(count == 0 ? "[]\n" : "\n]\n")
        case .table where count > 0: try begin()
        default: break
        }
        try output.flush()
    }

    // MARK: Tables

    private func begin() throws(RealmError) {
        guard let rows = waiting else { return }
        waiting = nil
        layout.note(titles)
        for row in rows { layout.note(row) }
        isVertical = !layout.fit(width)
        if !isVertical { try output.write(layout.line(titles) + "\n") }
        var isFirst = true
        for row in rows {
            if isVertical, !isFirst { try output.write("\n") }
            isFirst = false
            try isVertical ? list(row) : write(row)
        }
    }

    private func write(_ cells: [String]) throws(RealmError) {
        if isVertical {
            try output.write("\n")
            return try list(cells)
        }
        try output.write(layout.line(cells) + "\n")
    }

    /// A row as a line for each property.
    private func list(_ cells: [String]) throws(RealmError) {
        var list = TableLayout([.left, .left])
        let lines = zip(titles, cells).map { [$0, $1] }
        for line in lines { list.note(line) }
        list.fit(width)
        for line in lines { try output.write(list.line(line) + "\n") }
    }

    /// Writes an object alone: as a line for each property, or as JSON that is no array of one.
    static func write(
        _ object: ObjectHandle, _ class_: ClassSchema, _ names: [String]?, _ format: RowFormat,
        depth: Int = 0, width: Int?, to output: Output
    ) throws(RealmError) {
        let writer = try RowWriter(
            class_, names, format == .json ? .jsonl : format, depth: depth, width: width,
            to: output)
        if format == .table {
            try writer.list(try writer.cells(object))
        } else {
            try writer.add(object)
        }
        try writer.finish()
    }

    private func cells(_ object: ObjectHandle) throws(RealmError) -> [String] {
        let text = try ObjectText(object, class_, depth: depth)
        var cells = Self.showsKeys(class_) ? ["\(object.objectKey)"] : []
        for column in columns { cells.append(try text.cell(column)) }
        return cells
    }
}

/// How objects are shown: options of several commands.
struct RowOptions: ParsableArguments {
    @Option(help: ArgumentHelp("table, json (one array), jsonl (a line for each object) or csv."))
    var format: RowFormat?

    @Option(
        help: ArgumentHelp("Only these properties, in this order.", valueName: "a,b,c"))
    var columns: String?

    @Option(
        help: ArgumentHelp(
            "Linked objects stand in JSON so many links deep; 0: by their keys.", valueName: "n"))
    var depth = 0

    @Option(
        help: ArgumentHelp(
            "Columns of a table; those of the terminal if not given, 0: no limit.", valueName: "n"))
    var width: Int?

    func validate() throws {
        guard depth >= 0, depth <= JSONOptions.linkDepthMax else {
            throw ValidationError("--depth is between 0 and \(JSONOptions.linkDepthMax).")
        }
        if let width, width < 0 { throw ValidationError("--width is 0 or more.") }
    }

    var names: [String]? {
        columns.map { $0.split(separator: ",").map(String.init) }
    }

    /// In columns of a terminal.
    var tableWidth: Int? {
        guard let width else { return Terminal.width }
        return width == 0 ? nil : width
    }

    func writer(
        _ class_: ClassSchema, _ standard: RowFormat = .table, isGuarded: Bool = false,
        to output: Output
    ) throws(RealmError) -> RowWriter {
        try RowWriter(
            class_, names, format ?? standard, depth: depth, width: tableWidth,
            isGuarded: isGuarded, to: output)
    }
}

extension Results {
    /// Calls `body` with each object.
    func forEachObject(
        _ body: (ObjectHandle) throws(RealmError) -> Void
    ) throws(RealmError) {
        for index in 0..<(try count()) {
            let handle = try object(index)
            defer { handle.release() }
            try body(handle)
        }
    }
}
