// What the page's pictures show: where the bytes of the file are, and how the values of a property are spread.

import CoreSwift

extension StudioFile {
    // MARK: The file

    /// Sizes of the file and its classes. Reads much of a file with texts.
    func statistics() throws -> [UInt8] {
        let realm = try opened()
        let sizes = try realm.statistics()
        return jsonObject { output in
            output.member("version", Int(clamping: sizes.version))
            output.member("bytes", sizes.fileBytes)
            output.member("free", sizes.freeBytes)
            output.member("held", sizes.pendingBytes)
            output.member("versions", sizes.liveVersions)
            output.member("log", (sizes.changeLog?.bytes ?? 0) + (sizes.changeLog?.tailBytes ?? 0))
            output.array("classes") { output in
                for class_ in sizes.classes {
                    output.object { output in
                        output.member("name", class_.name)
                        output.member("objects", class_.objects)
                        output.member("rows", class_.rowBytes)
                        output.member("values", class_.externalBytes)
                        output.member("collections", class_.collectionBytes)
                        output.member("indexes", class_.indexBytes)
                        output.name("links")
                        output.object { output in
                            for index in class_.indexes where index.source == .backlinks {
                                output.member(index.property, index.entries)
                            }
                        }
                    }
                }
            }
        }
    }

    // MARK: Spread of values

    private static let barsMax = 40
    /// Different values are counted one by one up to so many; the most frequent are shown.
    private static let distinctMax = 200_000
    private static let shownMax = 24
    /// Longer conditions are not written for a value.
    private static let conditionBytesMax = 4096
    private static let window = 4096

    /// How often values of a property occur among the objects of a view: numbers and times in equal parts of
    /// their range, others value by value.
    func histogram(_ request: Request) throws -> [UInt8] {
        let (view, _) = try view(request)
        let name = try request.text("property")
        guard let property = view.class_.property(named: name), property.collection == .none,
            !property.isComputed
        else { throw StudioError.refused("'\(name)' has no single values to count") }
        switch property.type {
        case .int, .float, .double, .decimal128, .timestamp:
            return try parts(property, view)
        default: return try frequencies(property, view)
        }
    }

    /// Calls `body` with each value of a property in a view.
    private func forEach(
        _ property: PropertySchema, _ view: View, _ body: (RawValue) throws -> Void
    ) throws {
        let total = try view.results.count()
        let values = UnsafeMutablePointer<RawValue>.allocate(capacity: Self.window)
        values.initialize(repeating: .null, count: Self.window)
        defer { values.deallocate() }
        for start in stride(from: 0, to: total, by: Self.window) {
            let count = try withUnsafePointer(to: property.key) { key throws(RealmError) in
                try view.results.readValues(
                    UnsafeBufferPointer(start: key, count: 1), from: start, count: Self.window,
                    into: values)
            }
            for index in 0..<count { try body(values[index]) }
        }
    }

    private static func number(_ value: RawValue) -> Double? {
        switch ValueType(rawValue: value.type) {
        case .int: return Double(value.intValue)
        case .float: return Double(value.floatValue)
        case .double: return value.doubleValue
        case .decimal128: return value.decimalValue.doubleValue
        case .timestamp: return Double(value.seconds) + Double(value.nanoseconds) / 1e9
        default: return nil
        }
    }

    private func parts(_ property: PropertySchema, _ view: View) throws -> [UInt8] {
        var low = Double.infinity
        var high = -Double.infinity
        var nulls = 0
        var others = 0
        try forEach(property, view) { value in
            if value.isNull {
                nulls += 1
            } else if let number = Self.number(value), number.isFinite {
                low = min(low, number)
                high = max(high, number)
            } else {
                others += 1
            }
        }
        // Integers of a small range each have a bar.
        let range = high - low
        let isWhole = property.type == .int && range < Double(Self.barsMax)
        let bars = low > high ? 0 : isWhole ? Int(range) + 1 : range == 0 ? 1 : Self.barsMax
        // The range itself may be beyond what a double holds.
        let width =
            isWhole
            ? 1
            : range.isFinite
                ? range / Double(max(bars, 1)) : high / Double(bars) - low / Double(bars)
        var counts = [Int](repeating: 0, count: bars)
        if bars > 0 {
            try forEach(property, view) { value in
                guard let number = Self.number(value), number.isFinite else { return }
                // Half of each, as their difference may be beyond what a double holds.
                let place = width > 0 ? (number / 2 - low / 2) / width * 2 : 0
                counts[min(bars - 1, max(0, place.isFinite ? Int(place) : 0))] += 1
            }
        }
        return jsonObject { output in
            output.member("kind", property.type == .timestamp ? "times" : "numbers")
            output.member("isWhole", isWhole)
            output.member("low", low)
            output.member("high", high)
            output.member("nulls", nulls)
            output.member("others", others)
            output.array("counts") { output in for count in counts { output.number(count) } }
        }
    }

    private func frequencies(_ property: PropertySchema, _ view: View) throws -> [UInt8] {
        var counts: [ExactValue: Int] = [:]
        var nulls = 0
        var others = 0
        try forEach(property, view) { raw in
            if raw.isNull {
                nulls += 1
            } else if raw.nestedType != nil {
                others += 1
            } else {
                let value = ExactValue(try Value(raw))
                if counts.count < Self.distinctMax || counts[value] != nil {
                    counts[value, default: 0] += 1
                } else {
                    others += 1
                }
            }
        }
        let sorted = counts.sorted { $0.value > $1.value }
        let shown = sorted.prefix(Self.shownMax)
        var values = ValueOutput(try opened())
        values.textBytesMax = 80
        return try jsonObject { output in
            output.member("kind", "values")
            output.member("distinct", counts.count)
            output.member("nulls", nulls)
            output.member(
                "others", others + sorted.dropFirst(Self.shownMax).reduce(0) { $0 + $1.value })
            try output.array("values") { output in
                for (key, count) in shown {
                    let value = key.value
                    let condition = try condition(property, value, view)
                    try output.array { output in
                        try values.value(value, &output)
                        output.number(count)
                        if let condition { output.text(condition) } else { output.null() }
                    }
                }
            }
        }
    }

    /// The query for objects that have a value; nil where it would be too long.
    private func condition(
        _ property: PropertySchema, _ value: Value, _ view: View
    ) throws -> String? {
        switch value {
        case .string(let text) where text.utf8.count > Self.conditionBytesMax: return nil
        case .binary(let bytes) where bytes.count > Self.conditionBytesMax: return nil
        default: break
        }
        // As an argument any value can be given; the text of the query then has it as a literal.
        let found = try opened().results(view.class_.key).filter(
            "\(View.nameInQuery(property.name)) == $0", [.scalar(value)])
        let text = try found.query().description
        return text.utf8.count > Self.conditionBytesMax ? nil : text
    }
}
