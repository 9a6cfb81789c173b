// Planning: trees into what a property, or an element of a collection, holds.

extension Creation {
    /// What goes into a property of a planned object.
    func content(
        _ tree: ValueTree, _ object: Int, _ place: Int
    ) throws(RealmError) -> PlannedContent {
        let owner = objects[object].class_
        let property = owner.properties[place]
        var site = CreationSite(owner: owner, property: place)
        switch property.collection {
        case .none: return try element(tree, property, site, object)
        case .list, .set:
            guard case .list(let elements) = try orEmpty(tree, .list([])) else {
                throw mismatch(site, "a list (\(property.typeDescription))", tree)
            }
            var result: [PlannedContent] = []
            result.reserveCapacity(elements.count)
            for (index, tree) in elements.enumerated() {
                site.index = index
                result.append(try element(tree, property, site, object))
            }
            return .list(result)
        case .dictionary:
            guard case .dictionary(let entries) = try orEmpty(tree, .dictionary([])) else {
                throw mismatch(site, "a dictionary (\(property.typeDescription))", tree)
            }
            var result: [(key: String, value: PlannedContent)] = []
            result.reserveCapacity(entries.count)
            for entry in entries {
                try checkKey(entry.name, site)
                site.key = entry.name
                result.append((entry.name, try element(entry.value, property, site, object)))
            }
            return .dictionary(result)
        }
    }

    /// Null empties a collection.
    private func orEmpty(_ tree: ValueTree, _ empty: ValueTree) throws(RealmError) -> ValueTree {
        tree == .null ? empty : tree
    }

    func checkKey(_ key: String, _ site: CreationSite) throws(RealmError) {
        do throws(RealmError) {
            try DictionaryKey.check(key)
        } catch {
            throw RealmError(error.code, "\(site.description): \(error.message)")
        }
    }

    /// A single value of a planned object.
    private func element(
        _ tree: ValueTree, _ property: CreationProperty, _ site: CreationSite, _ object: Int
    ) throws(RealmError) -> PlannedContent {
        if case .value(.null) = tree {
            try site.checkNull(property)
            return .value(.null)
        }
        switch property.type {
        case .object:
            let target = try realm.creationClass(for: property)
            guard target.isEmbedded else { return try mention(tree, target, site) }
            return try describeEmbedded(
                tree, target, site, current: policy == .modified ? try current(object, site) : nil)
        case .mixed:
            // Of a collection the elements are nested in it.
            let depth = property.collection == .none ? 0 : 1
            return try mixed(tree, site, depth: depth, isInSet: property.collection == .set)
        default: return .value(try scalar(tree, property, site))
        }
    }

    // MARK: Embedded objects that are there

    /// Key of the embedded object that is at a site in a planned object, if both are there.
    func current(_ object: Int, _ site: CreationSite) throws(RealmError) -> ObjectKey? {
        guard let key = objects[object].existing, let place = site.property else { return nil }
        let property = site.owner.properties[place]
        let owner = try realm.object(site.owner.key, key)
        defer { owner.release() }
        let child: ObjectHandle?
        if property.collection == .none {
            child = try owner.linkedObject(property.key)
        } else {
            let collection = try owner.collection(property.key, property.collection)
            if let key = site.key {
                child = try Value.string(key).withRaw { raw throws(RealmError) in
                    try collection.object(key: raw)
                }
            } else if let index = site.index, index < (try collection.count()) {
                child = try collection.object(index)
            } else {
                child = nil
            }
        }
        defer { child?.release() }
        return child?.objectKey
    }

    // MARK: Mixed values

    /// Not deeper than collections can be nested.
    private func mixed(
        _ tree: ValueTree, _ site: CreationSite, depth: Int, isInSet: Bool
    ) throws(RealmError) -> PlannedContent {
        var tree = tree
        switch tree {
        case .value(.link(let link)):
            try checkTarget(link, site)
            return .value(.link(link))
        case .value(let value): return .value(value)
        case .number(let text):
            guard let double = Double(text), double.isFinite else {
                throw mismatch(site, "numbers that a double holds", tree)
            }
            return .value(.double(double))
        case .dictionary(let entries):
            if let plain = ExtendedJSON.dictionary(entries) {
                tree = .dictionary(plain)
                break
            }
            if let value = try ExtendedJSON.value(entries) { return .value(value) }
            if entries.count == 1, let link = try reference(entries[0], nil, site) { return link }
        case .list: break
        }
        try site.checkNesting(depth, isInSet: isInSet)
        if case .list(let elements) = tree {
            var result: [PlannedContent] = []
            for element in elements {
                result.append(try mixed(element, site, depth: depth + 1, isInSet: false))
            }
            return .list(result)
        }
        guard case .dictionary(let entries) = tree else {
            throw mismatch(site, "a value", tree)
        }
        var result: [(key: String, value: PlannedContent)] = []
        for entry in entries {
            result.append(
                (entry.name, try mixed(entry.value, site, depth: depth + 1, isInSet: false)))
        }
        return .dictionary(result)
    }

    // MARK: Scalars

    /// The value that a tree is for a property of neither objects nor mixed values. Nothing is
    /// rounded but what goes into floating point; texts are read as the type's own form.
    func scalar(
        _ tree: ValueTree, _ property: CreationProperty, _ site: CreationSite
    ) throws(RealmError) -> Value {
        var given = tree
        if case .dictionary(let entries) = tree, let value = try ExtendedJSON.value(entries) {
            given = .value(value)
        }
        if given == .null {
            try site.checkNull(property)
            return .null
        }
        guard let value = Self.convert(given, property.type) else {
            throw mismatch(site, Self.expectation(property.schema), tree)
        }
        return value
    }

    private static func expectation(_ property: PropertySchema) -> String {
        var element = property
        element.collection = .none
        let type = element.typeDescription
        switch property.type {
        case .binary: return "\(type), as base64 text"
        case .timestamp: return "\(type), as ISO 8601 text like 2024-02-29T12:30:00Z"
        case .objectId: return "\(type), as 24 hexadecimal digits"
        case .uuid: return "\(type), as text like 123e4567-e89b-12d3-a456-426614174000"
        case .decimal128: return "\(type), as a number or as text"
        default: return type
        }
    }

    private static func convert(_ tree: ValueTree, _ type: PropertyType) -> Value? {
        switch (type, tree) {
        case (.int, .value(.int)), (.bool, .value(.bool)), (.string, .value(.string)),
            (.binary, .value(.binary)), (.timestamp, .value(.timestamp)),
            (.float, .value(.float)), (.double, .value(.double)),
            (.decimal128, .value(.decimal128)), (.objectId, .value(.objectId)),
            (.uuid, .value(.uuid)):
            guard case .value(let value) = tree else { return nil }
            return value
        case (.int, .number(let text)):
            return integer(text)
        case (.float, _): return float(tree)
        case (.double, _): return double(tree)
        case (.decimal128, _): return decimal(tree)
        case (.binary, .value(.string(let text))):
            return TextForms.base64(text).map { .binary($0) }
        case (.timestamp, .value(.string(let text))):
            return TextForms.timestamp(text).map { .timestamp($0) }
        case (.objectId, .value(.string(let text))):
            return (try? ObjectId(parsing: text)).map { .objectId($0) }
        case (.uuid, .value(.string(let text))):
            return (try? UUIDValue(parsing: text)).map { .uuid($0) }
        default: return nil
        }
    }

    /// The integer that a JSON number is exactly, as 1.0 and 2e3 are.
    private static func integer(_ text: String) -> Value? {
        let parts = text.lowercased().split(separator: "e", maxSplits: 1)
        let mantissa = (parts.first ?? "").split(separator: ".", omittingEmptySubsequences: false)
        let fraction = mantissa.count == 2 ? mantissa[1] : ""
        var digits = (mantissa.first ?? "") + fraction
        let isNegative = digits.first == "-"
        if isNegative { digits.removeFirst() }
        while digits.first == "0" { digits.removeFirst() }
        guard !digits.isEmpty else { return .int(0) }
        // An exponent that no integer has is far away from any 64-bit number.
        guard var power = Int(parts.count == 2 ? parts[1] : "0"), power.magnitude < 1 << 32 else {
            return nil
        }
        power -= fraction.count
        while digits.last == "0" {
            digits.removeLast()
            power += 1
        }
        guard power >= 0, digits.count + power <= 19 else { return nil }
        let whole = (isNegative ? "-" : "") + digits + String(repeating: "0", count: power)
        return Int64(whole).map { .int($0) }
    }

    private static func float(_ tree: ValueTree) -> Value? {
        switch tree {
        case .value(.int(let number)): return .float(Float(number))
        case .value(.double(let number)):
            let rounded = Float(number)
            return rounded.isFinite == number.isFinite ? .float(rounded) : nil
        case .number(let text):
            guard let number = Float(text), number.isFinite else { return nil }
            return .float(number)
        case .value(.string(let text)): return ExtendedJSON.special(text).map { .float(Float($0)) }
        default: return nil
        }
    }

    private static func double(_ tree: ValueTree) -> Value? {
        switch tree {
        case .value(.int(let number)): return .double(Double(number))
        case .value(.float(let number)): return .double(Double(number))
        case .number(let text):
            guard let number = Double(text), number.isFinite else { return nil }
            return .double(number)
        case .value(.string(let text)): return ExtendedJSON.special(text).map { .double($0) }
        default: return nil
        }
    }

    private static func decimal(_ tree: ValueTree) -> Value? {
        switch tree {
        case .value(.int(let number)): return .decimal128(Decimal128(number))
        case .value(.double(let number)): return .decimal128(Decimal128(rounding: number))
        case .value(.float(let number)): return .decimal128(Decimal128(rounding: number))
        case .number(let text), .value(.string(let text)):
            return Decimal128(text).map { .decimal128($0) }
        default: return nil
        }
    }
}
