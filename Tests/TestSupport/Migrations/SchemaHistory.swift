// Random histories of schemas: objects change, properties and classes come, go, change and get other names,
// primary keys are set, dropped and renumbered. A model in plain dictionaries says what has to be
// there. What is done with a realm: SchemaHistory+Realm.swift.

@testable import CoreSwift

struct SchemaHistory {
    static let types: [PropertyType] = [
        .int, .bool, .string, .binary, .timestamp, .float, .double, .decimal128, .objectId, .uuid,
        .mixed,
    ]

    /// What a property holds. Links name the class by its place in `names`, and the object by its number.
    enum Held: Hashable {
        case one(Value)
        case list([Value])
        case set(Set<Value>)
        case dictionary([String: Value])
        /// The `x` of the embedded object, if there is one.
        case embedded(Int64?)
    }

    struct Owner {
        /// What the class is called now.
        var name: String
        var properties: [PropertySchema]
        var nextNumber: Int64 = 0
        /// By `n`, which no two have, and only migrations change.
        var objects: [Int64: [String: Held]] = [:]
        var hasKey: Bool
        /// In the file, but no class of the program.
        var isHidden = false
    }

    enum Operation {
        case create(String, Int64, [String: Held])
        case set(String, Int64, String, Held)
        case delete(String, Int64)
    }

    /// What the block of a migration does, in this order.
    enum Step {
        case renameClass(from: String, to: String)
        case rename(className: String, from: String, to: String)
        case renumber(className: String, by: Int64)
    }

    /// The classes, as the model calls them throughout.
    static let names = ["A", "B", "C"]
    static let embeddedClass = "E"
    static let number = "n"

    /// Empty before the first schema.
    var owners: [String: Owner] = [:]
    var nextName = 0
    var version: UInt64 = 0
    /// Now and then, so many objects come at once, and so many elements.
    var many = 600
    private var random = Random(0)

    private mutating func below(_ limit: Int) -> Int { random.below(limit) }
    private mutating func chance(_ percent: Int) -> Bool { below(100) < percent }

    /// Runs `body` with the numbers of another generator.
    private mutating func with<R>(_ other: inout Random, _ body: (inout Self) -> R) -> R {
        random = other
        defer { other = random }
        return body(&self)
    }

    // MARK: Values

    private mutating func value(_ property: PropertySchema) -> Value {
        if property.isNullable, chance(20) { return .null }
        var type = property.type
        if type == .mixed { type = Self.types[below(Self.types.count - 1)] }
        switch type {
        case .int: return .int(Int64(below(1000)) - 500)
        case .bool: return .bool(chance(50))
        case .string: return .string(text())
        case .binary: return .binary([UInt8](text().utf8))
        case .timestamp:
            return .timestamp(
                Timestamp(seconds: Int64(below(100_000)), nanoseconds: Int32(below(2) * 500)))
        case .float: return .float(Float(below(100)) / 4)
        case .double: return .double(Double(below(100)) / 8)
        case .decimal128: return .decimal128(Decimal128(Int64(below(100))))
        case .objectId: return .objectId(ObjectId(high: UInt64(below(100)), low: 7))
        case .object: return link(property) ?? .null
        default: return .uuid(UUIDValue(high: 9, low: UInt64(below(100))))
        }
    }

    /// A link to one of the objects that the class has.
    private mutating func link(_ property: PropertySchema) -> Value? {
        guard let place = Self.names.firstIndex(where: { owners[$0]?.name == property.linkTarget })
        else { return nil }
        let numbers = owners[Self.names[place]]!.objects.keys.sorted()
        guard !numbers.isEmpty else { return nil }
        return Self.link(place, numbers[below(numbers.count)])
    }

    private static func link(_ place: Int, _ number: Int64) -> Value {
        .link(Link(ClassKey(rawValue: UInt32(place)), ObjectKey(rawValue: number)))
    }

    private mutating func held(_ property: PropertySchema) -> Held {
        if property.linkTarget == Self.embeddedClass {
            return .embedded(chance(60) ? Int64(below(50)) : nil)
        }
        if property.collection == .none { return .one(value(property)) }
        // A tree of its own, now and then.
        let count = chance(2) ? many : below(5)
        var values: [Value] = []
        for _ in 0..<count {
            if property.type == .object {
                if let link = link(property) { values.append(link) }
            } else {
                values.append(value(property))
            }
        }
        switch property.collection {
        case .set: return .set(Set(values))
        case .dictionary:
            return .dictionary(
                Dictionary(
                    values.enumerated().map { ("k\($0.offset)", $0.element) },
                    uniquingKeysWith: { a, _ in a }))
        default: return .list(values)
        }
    }

    private mutating func text() -> String {
        let length = chance(5) ? 2500 : chance(10) ? 300 : below(12)
        return String(repeating: "abcdefghij"[below(10)], count: length)
    }

    static func empty(_ property: PropertySchema) -> Held {
        if property.linkTarget == embeddedClass { return .embedded(nil) }
        switch property.collection {
        case .list: return .list([])
        case .set: return .set([])
        case .dictionary: return .dictionary([:])
        case .none: return .one(zero(property))
        }
    }

    private static func zero(_ property: PropertySchema) -> Value {
        if property.isNullable { return .null }
        switch property.type {
        case .int: return .int(0)
        case .bool: return .bool(false)
        case .string: return .string("")
        case .binary: return .binary([])
        case .timestamp: return .timestamp(Timestamp(seconds: 0, nanoseconds: 0))
        case .float: return .float(0)
        case .double: return .double(0)
        case .decimal128: return .decimal128(.zero)
        case .objectId: return .objectId(.zero)
        default: return .uuid(.zero)
        }
    }

    // MARK: Schemas

    private mutating func property(_ name: String) -> PropertySchema {
        switch below(10) {
        case 0: return linkProperty(name)
        case 1:
            return PropertySchema(
                name, .object, linkTarget: Self.embeddedClass, flags: [.nullable])
        default: break
        }
        let type = Self.types[below(Self.types.count)]
        var property = PropertySchema(name, type)
        if chance(30) { property.collection = [.list, .set, .dictionary][below(3)] }
        // Values of several types may be equal, and one of them in the set.
        if type == .mixed, property.collection == .set { property.collection = .list }
        if type == .mixed || chance(40) { property.flags.insert(.nullable) }
        if canBeIndexed(property), chance(30) { property.flags.insert(.indexed) }
        guard property.collection == .none else { return property }
        if type == .string, chance(20) { property.flags.insert(.fullTextIndexed) }
        if chance(50) {
            // Null is the default that is there anyway.
            let value = value(property)
            if value != .null { property.defaultValue = .value(value) }
        }
        return property
    }

    private mutating func linkProperty(_ name: String) -> PropertySchema {
        let targets = Self.names.filter { owners[$0]?.isHidden == false }
        let target = owners[targets[below(targets.count)]]!.name
        var property = PropertySchema(name, .object, linkTarget: target)
        if chance(50) {
            property.collection = .list
        } else {
            property.flags.insert(.nullable)
        }
        return property
    }

    private func canBeIndexed(_ property: PropertySchema) -> Bool {
        if property.collection == .list { return property.type == .string }
        guard property.collection == .none else { return false }
        switch property.type {
        case .int, .bool, .string, .timestamp, .objectId, .uuid, .mixed: return true
        default: return false
        }
    }

    private static func initial(_ property: PropertySchema) -> Held {
        if case .value(let value) = property.defaultValue { return .one(value) }
        return empty(property)
    }

    private mutating func add(to name: String) {
        let made = property("p\(nextName)")
        nextName += 1
        owners[name]!.properties.append(made)
        set(made.name, Self.initial(made), in: name)
    }

    /// Changes the schema of the model; returns what the migration has to do.
    mutating func changeSchema(_ random: inout Random) -> [Step] {
        version += 1
        return with(&random) { $0.owners.isEmpty ? $0.begin() : $0.nextSchema() }
    }

    private mutating func begin() -> [Step] {
        for name in Self.names {
            let hasKey = chance(50)
            owners[name] = Owner(
                name: name, properties: [PropertySchema(Self.number, .int)], hasKey: hasKey)
        }
        for name in Self.names { for _ in 0..<3 { add(to: name) } }
        return []
    }

    private mutating func nextSchema() -> [Step] {
        var classes: [Step] = []
        var properties: [Step] = []
        var numbers: [Step] = []
        if chance(10) { changeVisibility() }
        for name in Self.names where owners[name]?.isHidden == false {
            if chance(10) { classes.append(renameClass(name)) }
            properties += changeProperties(name)
            if chance(15) { owners[name]?.hasKey.toggle() }
            if chance(10) { numbers.append(renumber(name)) }
        }
        return classes + properties + numbers
    }

    private mutating func renameClass(_ name: String) -> Step {
        let old = owners[name]!.name
        let new = "\(name)\(nextName)"
        nextName += 1
        owners[name]?.name = new
        for other in Self.names {
            for place in owners[other]!.properties.indices
            where owners[other]!.properties[place].linkTarget == old {
                owners[other]?.properties[place].linkTarget = new
            }
        }
        return .renameClass(from: old, to: new)
    }

    /// All numbers of a class rise.
    private mutating func renumber(_ name: String) -> Step {
        let difference = Int64(below(3) + 1)
        let place = UInt32(Self.names.firstIndex(of: name)!)
        let old = owners[name]!.objects
        owners[name]?.objects = [:]
        for (number, values) in old { owners[name]?.objects[number + difference] = values }
        owners[name]?.nextNumber += difference
        replaceLinks { link in
            guard link.classKey.rawValue == place else { return .link(link) }
            return Self.link(Int(place), link.objectKey.rawValue + difference)
        }
        return .renumber(className: owners[name]!.name, by: difference)
    }

    /// A class leaves the program, or comes back. What links to it must not be left in others.
    private mutating func changeVisibility() {
        let name = Self.names[below(Self.names.count)]
        let owner = owners[name]!
        if owner.isHidden {
            owners[name]?.isHidden = false
            return
        }
        let shown = Self.names.filter { $0 != name && owners[$0]?.isHidden == false }
        let isFree = shown.allSatisfy {
            owners[$0]!.properties.allSatisfy { $0.linkTarget != owner.name }
        }
        // Its own links would be to classes that get other names without it.
        let isAlone = owner.properties.allSatisfy { $0.linkTarget.isEmpty }
        if !shown.isEmpty, isFree, isAlone { owners[name]?.isHidden = true }
    }

    private mutating func changeProperties(_ name: String) -> [Step] {
        var steps: [Step] = []
        // What happens to a property in one step is one change for the file.
        let known = Set(owners[name]!.properties.map(\.name))
        var changed: Set<String> = []
        for _ in 0..<below(4) {
            let place = below(owners[name]!.properties.count)
            let old = owners[name]!.properties[place]
            guard known.contains(old.name), changed.insert(old.name).inserted else { continue }
            let isFree = place > 0
            switch below(7) {
            case 0, 1: add(to: name)
            case 2 where isFree:
                owners[name]?.properties.remove(at: place)
                forget(old.name, in: name)
            case 3 where isFree:
                // Another type or collection.
                let other = property(old.name)
                guard
                    other.type != old.type || other.collection != old.collection
                        || other.linkTarget != old.linkTarget
                else { continue }
                owners[name]?.properties[place] = other
                set(other.name, Self.initial(other), in: name)
            case 4 where isFree && old.type != .mixed && old.type != .object:
                if old.isNullable {
                    owners[name]?.properties[place].flags.remove(.nullable)
                    set(old.name, Self.initial(owners[name]!.properties[place]), in: name)
                } else {
                    owners[name]?.properties[place].flags.insert(.nullable)
                }
            case 5 where isFree: steps.append(rename(name, place))
            case 6 where isFree && canBeIndexed(old):
                owners[name]?.properties[place].flags.formSymmetricDifference(.indexed)
            default: break
            }
        }
        return steps
    }

    private mutating func rename(_ name: String, _ place: Int) -> Step {
        let old = owners[name]!.properties[place].name
        let new = "r\(nextName)"
        nextName += 1
        owners[name]?.properties[place].name = new
        owners[name]?.properties[place].defaultValue = nil
        for key in owners[name]!.objects.keys {
            let value = owners[name]!.objects[key]![old]
            owners[name]?.objects[key]?[old] = nil
            owners[name]?.objects[key]?[new] = value
        }
        return .rename(className: owners[name]!.name, from: old, to: new)
    }

    private mutating func forget(_ property: String, in name: String) {
        for key in owners[name]!.objects.keys { owners[name]?.objects[key]?[property] = nil }
    }

    private mutating func set(_ property: String, _ value: Held, in name: String) {
        for key in owners[name]!.objects.keys { owners[name]?.objects[key]?[property] = value }
    }

    /// The classes of the program.
    var schema: Schema {
        var classes = owners.values.filter { !$0.isHidden }.map { owner in
            var properties = owner.properties
            if owner.hasKey { properties[0].flags.insert(.primaryKey) }
            return ClassSchema(
                owner.name, primaryKey: owner.hasKey ? Self.number : "", properties: properties)
        }
        classes.append(
            ClassSchema(
                Self.embeddedClass, properties: [PropertySchema("x", .int)], kind: .embedded))
        return Schema(classes)
    }

    // MARK: Objects

    /// Changes objects of the model; returns what to do with a realm.
    mutating func changeObjects(_ random: inout Random) -> [Operation] {
        with(&random) { $0.nextOperations() }
    }

    private mutating func nextOperations() -> [Operation] {
        var operations: [Operation] = []
        for name in Self.names where owners[name]?.isHidden == false {
            for _ in 0..<below(chance(10) ? many : 20) {
                var values: [String: Held] = [:]
                for property in owners[name]!.properties.dropFirst() {
                    values[property.name] = chance(30) ? Self.empty(property) : held(property)
                }
                let number = owners[name]!.nextNumber
                owners[name]?.nextNumber += 1
                owners[name]?.objects[number] = values
                operations.append(.create(name, number, values))
            }
            for number in owners[name]!.objects.keys.sorted() where chance(10) {
                if chance(20) {
                    delete(name, number)
                    operations.append(.delete(name, number))
                    continue
                }
                let count = owners[name]!.properties.count
                guard count > 1 else { continue }
                let property = owners[name]!.properties[below(count - 1) + 1]
                let value = held(property)
                owners[name]?.objects[number]?[property.name] = value
                operations.append(.set(name, number, property.name, value))
            }
        }
        return operations
    }

    private mutating func delete(_ name: String, _ number: Int64) {
        owners[name]?.objects[number] = nil
        let place = UInt32(Self.names.firstIndex(of: name)!)
        replaceLinks { link in
            link.classKey.rawValue == place && link.objectKey.rawValue == number
                ? nil : .link(link)
        }
    }

    /// Links become others, or go: null, and in lists nothing.
    private mutating func replaceLinks(_ change: (Link) -> Value?) {
        for name in Self.names {
            for property in owners[name]!.properties
            where property.type == .object && property.linkTarget != Self.embeddedClass {
                for number in owners[name]!.objects.keys {
                    switch owners[name]!.objects[number]![property.name]! {
                    case .one(.link(let link)):
                        owners[name]?.objects[number]?[property.name] = .one(change(link) ?? .null)
                    case .list(let all):
                        let left = all.compactMap { value -> Value? in
                            guard case .link(let link) = value else { return value }
                            return change(link)
                        }
                        owners[name]?.objects[number]?[property.name] = .list(left)
                    default: break
                    }
                }
            }
        }
    }
}

extension String {
    fileprivate subscript(_ place: Int) -> Character { self[index(startIndex, offsetBy: place)] }
}
