// Mixed values from JSON text, as `realm_set_json` has it: arrays become lists, objects
// dictionaries, integers ints and other numbers doubles. Everything is checked before anything is
// written. Text that describes objects of a class goes through `Creation` instead.

extension ObjectHandle {
    /// Sets a mixed property from JSON text. An array replaces what was there; an object is merged
    /// into a dictionary that is there, name by name. `.propertyTypeMismatch` for other properties,
    /// `.malformedJson`, `.invalidDictionaryKey`, `.limitExceeded`; nothing changes then.
    package func setJSON(
        _ propertyKey: PropertyKey, _ text: UnsafeRawBufferPointer
    ) throws(RealmError) {
        _ = try row()
        let column = try Self.column(table, propertyKey)
        guard table.columns[column].kind == .mixed else {
            throw RealmError(
                .propertyTypeMismatch,
                "property \(table.named(column: column)) is not mixed: JSON of any shape "
                    + "can't be put there")
        }
        let tree = try Self.plain(try JSONReader.read(text), depth: 0)
        guard session.pointee.status == .writing else { throw realm.notWriting() }
        switch tree {
        case .value(let value):
            try value.withRaw { raw throws(RealmError) in try setValue(propertyKey, raw) }
        case .list(let elements):
            let list = try setCollection(propertyKey, .list)
            try list.removeAll(isAssignment: true)
            try list.append(elements)
        case .dictionary(let entries):
            try setCollection(propertyKey, .dictionary).merge(entries)
        case .number: break
        }
    }

    /// The tree with values in the place of numbers; keys and depth are checked.
    private static func plain(_ tree: ValueTree, depth: Int) throws(RealmError) -> ValueTree {
        switch tree {
        case .value: return tree
        case .number(let text): return .value(try number(text))
        case .list, .dictionary: break
        }
        guard depth < ElementLayout.depthMax else {
            throw RealmError(
                .limitExceeded,
                "the JSON text is nested deeper than collections can be, which is "
                    + "\(ElementLayout.depthMax)")
        }
        if case .list(let elements) = tree {
            var result: [ValueTree] = []
            for element in elements { result.append(try plain(element, depth: depth + 1)) }
            return .list(result)
        }
        guard case .dictionary(let entries) = tree else { return tree }
        var result: [ValueTree.Entry] = []
        for entry in entries {
            try DictionaryKey.check(entry.name)
            result.append(ValueTree.Entry(entry.name, try plain(entry.value, depth: depth + 1)))
        }
        return .dictionary(result)
    }

    private static func number(_ text: String) throws(RealmError) -> Value {
        // Programs that wrote unsigned integers read them back as such.
        if let unsigned = UInt64(text) { return .int(Int64(bitPattern: unsigned)) }
        guard let double = Double(text), double.isFinite else {
            throw RealmError(.malformedJson, "malformed JSON: no double holds \(text.prefix(40))")
        }
        return .double(double)
    }
}

enum DictionaryKey {
    /// Keys do not begin with `$` and have no `.` in them.
    static func check(_ key: String) throws(RealmError) {
        guard key.utf8.first != UInt8(ascii: "$"), !key.utf8.contains(UInt8(ascii: ".")) else {
            throw RealmError(
                .invalidDictionaryKey, "the key '\(key)' begins with '$' or contains '.'")
        }
    }
}

extension RealmCollection {
    fileprivate func append(_ elements: [ValueTree]) throws(RealmError) {
        for element in elements {
            let end = try count()
            switch element {
            case .value(let value):
                try value.withRaw { raw throws(RealmError) in try insert(raw, at: end) }
            case .list(let inner): try insertNested(.list, at: end).append(inner)
            case .dictionary(let entries): try insertNested(.dictionary, at: end).merge(entries)
            case .number: break
            }
        }
    }

    fileprivate func merge(_ entries: [ValueTree.Entry]) throws(RealmError) {
        for entry in entries {
            try Value.string(entry.name).withRaw { key throws(RealmError) in
                switch entry.value {
                case .value(let value):
                    _ = try value.withRaw { raw throws(RealmError) in try insert(raw, key: key) }
                case .list(let elements):
                    let list = try insertNested(.list, key: key)
                    try list.removeAll(isAssignment: true)
                    try list.append(elements)
                case .dictionary(let inner): try insertNested(.dictionary, key: key).merge(inner)
                case .number: break
                }
            }
        }
    }
}
