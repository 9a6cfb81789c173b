// Single values as JSON text, in the forms of docs/JSON.md: for operations of the change log, which are told
// value by value. Whole objects are written by the engine (`ObjectText`).

import CoreSwift

enum ValueText {
    /// `isTyped`: what JSON has no type for is written so that its type can be told, as in mixed values.
    static func json(_ value: Value, _ schema: Schema, isTyped: Bool) -> String {
        func typed(_ name: String, _ text: String) -> String {
            isTyped ? "{\"\(name)\":\"\(text)\"}" : "\"\(text)\""
        }
        switch value {
        case .null: return "null"
        case .int(let number): return "\(number)"
        case .bool(let flag): return flag ? "true" : "false"
        case .string(let text): return JSON.quoted(text)
        case .float(let number):
            return number.isFinite
                ? "\(number)" : typed("$numberFloat", ExtendedJSON.text(Double(number)))
        case .double(let number):
            return number.isFinite ? "\(number)" : typed("$numberDouble", ExtendedJSON.text(number))
        case .decimal128(let number): return typed("$numberDecimal", "\(number)")
        case .objectId(let id): return typed("$oid", "\(id)")
        case .uuid(let id): return typed("$uuid", "\(id)")
        case .timestamp(let time): return typed("$date", TextForms.text(time))
        case .binary(let bytes):
            let text = Base64.text(bytes)
            return isTyped
                ? "{\"$binary\":{\"base64\":\"\(text)\",\"subType\":\"00\"}}" : "\"\(text)\""
        case .link(let link):
            let name = schema.class_(link.classKey)?.name ?? "\(link.classKey)"
            return "{\"$link\":{\"table\":\(JSON.quoted(name)),\"key\":\(link.objectKey)}}"
        }
    }
}
