// Whether two states of a file hold the same, as programs see it: what undoing asks before it commits.

import CoreSwift

extension StudioFile {
    /// The comparison of the engine names what differs. Lists and dictionaries in mixed values differ for it when they
    /// were made anew, so those are looked into.
    static func isSame(_ before: Realm, _ after: Realm) throws -> Bool {
        var isSame = true
        var suspects: [LoggedOperation] = []
        try after.readChanges(try before.changes(to: after)) { operation in
            switch operation.kind {
            case .version, .element: break
            case .schemaChanged, .deleted, .created: isSame = false
            default: suspects.append(operation)
            }
            return isSame
        }
        guard isSame else { return false }
        for suspect in suspects {
            guard let class_ = after.schema.class_(suspect.classKey),
                let property = class_.properties.first(where: { $0.key == suspect.property }),
                property.type == .mixed
            else { return false }
            for number in suspect.firstObject.rawValue...suspect.lastObject.rawValue {
                let key = ObjectKey(rawValue: number)
                let was = try before.object(class_.key, key)
                defer { was.release() }
                let now = try after.object(class_.key, key)
                defer { now.release() }
                guard
                    try contents(of: property, was, before) == contents(of: property, now, after)
                else { return false }
            }
        }
        return true
    }

    /// All that is in a property, to the last byte.
    static func contents(
        of property: PropertySchema, _ object: ObjectHandle, _ realm: Realm
    ) throws -> [UInt8] {
        var values = ValueOutput(realm)
        values.textBytesMax = .max
        values.binaryBytesMax = .max
        var output = JSONOutput()
        try write(try object.content(property.key, property.collection), &values, &output)
        return output.bytes
    }

    /// Links by what they lead to: what that is called is not theirs.
    private static func scalar(
        _ raw: RawValue, _ values: inout ValueOutput, _ output: inout JSONOutput
    ) throws {
        let value = try Value(raw)
        guard case .link(let link) = value else { return try values.value(value, &output) }
        output.text("\(link.classKey) \(link.objectKey)")
    }

    /// Of a collection the elements with all that is in them; of dictionaries by their keys, wherever they stand.
    private static func write(
        _ content: StoredContent, _ values: inout ValueOutput, _ output: inout JSONOutput
    ) throws {
        let collection: RealmCollection
        switch content {
        case .value(let raw): return try scalar(raw, &values, &output)
        case .collection(let found): collection = found
        }
        var elements: [(key: ByteText, bytes: [UInt8])] = []
        for index in 0..<(try collection.count()) {
            var key = ""
            if collection.type == .dictionary,
                case .string(let text) = try Value(try collection.key(index))
            {
                key = text
            }
            var element = JSONOutput()
            try write(try collection.content(index), &values, &element)
            elements.append((ByteText(key), element.bytes))
        }
        if collection.type == .dictionary { elements.sort { $0.key < $1.key } }
        output.array { output in
            output.text("\(collection.type)")
            for element in elements {
                output.text(element.key.text)
                output.array { $0.written(element.bytes) }
            }
        }
    }
}
