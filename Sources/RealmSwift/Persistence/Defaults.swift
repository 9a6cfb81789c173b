// Defaults of declarations as the engine has them: for objects that are older than a property, and for those made
// from JSON. Objects that are added bring all their values with them.

import CoreSwift
import Foundation

extension PropertyInfo {
    /// Gives the property of the file what new objects have in the program. `sample` is one of the class.
    func putDefault(into property: inout PropertySchema, _ sample: ObjectBase) {
        guard shape.collection == .none, !shape.isLink, !shape.isComputed, shape.type != .mixed,
            !isPrimaryKey
        else { return }
        let address = ClassInfo.address(sample, self)
        // Nothing is declared: null. Of required ones the type decides.
        if shape.isOptional, !wrapper.hasValue(address) { return }
        // A custom type may not have a value for what is stored then.
        if valueType is any FailableCustomPersistable.Type, !wrapper.hasValue(address) { return }
        switch shape.type {
        case .objectId, .uuid,
            .timestamp where wrapper.hasValue(address) || shape.type != .timestamp:
            // They differ from object to object.
            let type = Swift.type(of: sample)
            let found = UncheckedBox(self)
            property.computedDefault = ComputedDefault { () throws(RealmError) in
                let fresh = type.init()
                let value = found.value.wrapper.get(fresh, ClassInfo.address(fresh, found.value))
                return .value(StoredValue.of(value) ?? .null)
            }
        default:
            guard let value = StoredValue.of(wrapper.get(sample, address)) else { return }
            // What properties without a default are anyway.
            let zero: [Value] = [
                .null, .int(0), .bool(false), .string(""), .binary([]), .float(0), .double(0),
            ]
            if !zero.contains(value) || shape.isOptional { property.defaultValue = .value(value) }
        }
    }
}

enum StoredValue {
    /// The file's form of a value of the program that leads to no object; nil for others.
    static func of(_ value: Any) -> Value? {
        guard let value = unwrapped(value) else { return .null }
        switch value {
        case let value as any PersistableEnum: return of(value.rawValue)
        case let value as any FailableCustomPersistable: return of(value.persistableValue)
        case let value as Bool: return .bool(value)
        case let value as Float: return .float(value)
        case let value as Double: return .double(value)
        case let value as any BinaryInteger: return .int(Int64(truncatingIfNeeded: value))
        case let value as String: return .string(value)
        case let value as Data: return .binary([UInt8](value))
        case let value as ObjectId: return .objectId(value.core)
        case let value as Decimal128: return .decimal128(value.core)
        case let value as Date: return scalar(value)
        case let value as UUID: return scalar(value)
        default: return nil
        }
    }

    private static func scalar(_ value: Date) -> Value? { value.withRawValue { try? Value($0) } }
    private static func scalar(_ value: UUID) -> Value? { value.withRawValue { try? Value($0) } }
}
