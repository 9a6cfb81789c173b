// Operations of the change log, or of a comparison, as lines of text or JSON. A value that is a collection
// comes as an operation and one for each element; here they are put together again.

import ArgumentParser
import CoreSwift

enum OperationFormat: String, CaseIterable, ExpressibleByArgument {
    case text, jsonl
}

final class OperationWriter {
    private let realm: Realm
    private let format: OperationFormat
    private let output: Output
    /// Operations of this class alone; nil: all.
    private let classKey: ClassKey?
    /// Whether the operations of a version have values.
    private let hasValues: (UInt64) -> Bool
    /// Of a log, not of a comparison.
    private let isVersioned: Bool
    /// The operation whose value is being put together.
    private var pending: LoggedOperation?
    /// Its key, which is borrowed by the operation.
    private var pendingKey: Value?
    /// Collections that wait for elements, the outermost first.
    private var open: [(isDictionary: Bool, missing: Int, parts: [String])] = []
    private(set) var count = 0
    private(set) var failure: RealmError?

    /// `realm` names classes, properties and objects.
    init(
        _ realm: Realm, _ classKey: ClassKey?, _ format: OperationFormat, _ output: Output,
        isVersioned: Bool = true, hasValues: @escaping (UInt64) -> Bool = { _ in true }
    ) {
        self.realm = realm
        self.classKey = classKey
        self.format = format
        self.output = output
        self.isVersioned = isVersioned
        self.hasValues = hasValues
    }

    /// False when no more is wanted: `failure` says why.
    func take(_ operation: LoggedOperation) -> Bool {
        do throws(RealmError) {
            try add(operation)
            return true
        } catch {
            failure = error
            return false
        }
    }

    private func add(_ operation: LoggedOperation) throws(RealmError) {
        if operation.kind == .element {
            let key: String? =
                if !operation.key.isNull, case .string(let text) = try Value(operation.key) {
                    text
                } else { nil }
            return try value(operation, key)
        }
        if let classKey, operation.kind != .version, operation.kind != .schemaChanged,
            operation.classKey != classKey
        {
            pending = nil
            return
        }
        pending = operation
        pendingKey = operation.key.isNull ? nil : try Value(operation.key)
        open = []
        try value(operation, nil)
    }

    /// Adds a value, or begins a collection.
    private func value(_ operation: LoggedOperation, _ key: String?) throws(RealmError) {
        guard pending != nil else { return }
        let name = key.map { JSON.quoted($0) + ":" } ?? ""
        switch ValueType(rawValue: operation.value.type) {
        case .list, .dictionary:
            let isDictionary = operation.value.type == ValueType.dictionary.rawValue
            open.append((isDictionary, operation.count, [name]))
            if operation.count == 0 { try close() }
        default:
            let property = realm.schema.class_(operation.classKey)?.properties.first {
                $0.key == operation.property
            }
            let text = ValueText.json(
                try Value(operation.value), realm.schema, isTyped: property?.type == .mixed)
            try append(name + text)
        }
    }

    private func append(_ text: String) throws(RealmError) {
        guard let last = open.indices.last else { return try emit(text) }
        open[last].parts.append(text)
        open[last].missing -= 1
        if open[last].missing == 0 { try close() }
    }

    /// The innermost collection has all its elements. Its first part is the name that it stands under.
    private func close() throws(RealmError) {
        guard let done = open.popLast() else { return }
        let inside = done.parts.dropFirst().joined(separator: ",")
        try append((done.parts.first ?? "") + (done.isDictionary ? "{\(inside)}" : "[\(inside)]"))
    }

    private func emit(_ value: String) throws(RealmError) {
        guard let operation = pending else { return }
        pending = nil
        if operation.kind != .version { count += 1 }
        try output.write((format == .text ? text(operation, value) : json(operation, value)) + "\n")
    }

    // MARK: Lines

    private func className(_ operation: LoggedOperation) -> String {
        realm.schema.class_(operation.classKey)?.name ?? "class \(operation.classKey)"
    }

    private func propertyName(_ operation: LoggedOperation) -> String? {
        guard operation.property != .invalid else { return nil }
        let class_ = realm.schema.class_(operation.classKey)
        return class_?.properties.first { $0.key == operation.property }?.name
            ?? "property \(operation.property)"
    }

    private static func word(_ kind: LoggedOperation.Kind) -> String {
        kind == .schemaChanged ? "schema_changed" : "\(kind)"
    }

    private func isValued(_ operation: LoggedOperation) -> Bool {
        switch operation.kind {
        case .set, .added, .inserted, .replaced: hasValues(operation.version)
        default: false
        }
    }

    private func text(_ operation: LoggedOperation, _ value: String) -> String {
        if operation.kind == .version { return "version \(operation.version)" }
        if operation.kind == .schemaChanged { return "  schema changed" }
        var line = "  \(className(operation)) #\(operation.firstObject)"
        if operation.lastObject != operation.firstObject { line += "…#\(operation.lastObject)" }
        if let name = propertyName(operation) { line += ".\(name)" }
        if operation.collectionNumber != 0 { line += " (collection \(operation.collectionNumber))" }
        if case .string(let key)? = pendingKey { line += "[\(JSON.quoted(key))]" }
        let isList = operation.collection == .list
        let place = isList ? " at \(operation.index)" : ""
        let many = operation.count > 1 ? " \(operation.count)" : ""
        switch operation.kind {
        case .created, .deleted: line += " \(operation.kind)"
        case .set: line += isValued(operation) ? " = \(value)" : " set"
        case .nulled: line += " = null, as its target was deleted"
        case .added: line += " += \(value)"
        case .inserted, .replaced:
            line += " \(operation.kind)\(many)\(place)"
            if isValued(operation) { line += ": \(value)" }
        case .removed: line += " removed\(many)\(place)"
        case .moved: line += " moved from \(operation.index) to \(operation.destination)"
        case .cleared: line += " cleared"
        case .version, .schemaChanged, .element: break
        }
        if operation.isDerived, operation.kind != .nulled { line += ", as its target was deleted" }
        return TextWidth.visible(line)
    }

    private func json(_ operation: LoggedOperation, _ value: String) -> String {
        var members = isVersioned ? ["\"version\":\(operation.version)"] : []
        members.append("\"kind\":\"\(Self.word(operation.kind))\"")
        if operation.kind != .version, operation.kind != .schemaChanged {
            members.append("\"class\":\(JSON.quoted(className(operation)))")
            members.append("\"objects\":[\(operation.firstObject),\(operation.lastObject)]")
        }
        if let name = propertyName(operation) {
            members.append("\"property\":\(JSON.quoted(name))")
        }
        if operation.collection != .none {
            members.append("\"collection\":\"\(operation.collection)\"")
        }
        if operation.collectionNumber != 0 {
            members.append("\"collection_number\":\(operation.collectionNumber)")
        }
        if case .string(let key)? = pendingKey { members.append("\"key\":\(JSON.quoted(key))") }
        switch operation.kind {
        case .inserted, .removed, .replaced, .moved:
            members.append("\"index\":\(operation.index)")
            if operation.kind == .moved {
                members.append("\"destination\":\(operation.destination)")
            } else if operation.count > 1 || operation.kind == .removed {
                members.append("\"count\":\(operation.count)")
            }
        case .cleared: members.append("\"count\":\(operation.count)")
        default: break
        }
        if operation.isDerived { members.append("\"derived\":true") }
        if isValued(operation) { members.append("\"value\":\(value)") }
        return "{" + members.joined(separator: ",") + "}"
    }
}
