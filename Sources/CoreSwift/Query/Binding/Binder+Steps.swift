// What may follow what in a path, and what a path's end means (QUERY_RULES N, A, I).

extension Binder {
    // MARK: Following

    /// Goes on from what was taken last. True when `next` was used up; false when the walk is at
    /// objects now and `next` is to be looked up there.
    @discardableResult
    mutating func follow(
        _ walk: inout PathWalk, _ next: PathFollower
    ) throws(RealmError) -> Bool {
        switch walk.state {
        case .start: throw invalidQuery("a path begins with the name of a property")
        case .object:
            switch next {
            case .name, .backlinks: return false
            default:
                throw invalidQuery(
                    "objects of class '\(shownName(walk.classIndex))' have no index "
                        + "'\(spelled(next))'")
            }
        case .allLinks: throw invalidQuery("@links is followed by @count or by a class")
        case .linkingClass: throw noLinkingProperty(walk)
        case .values: throw cannotFollow(walk, next)
        case .mixed:
            try followMixed(&walk, next)
            return true
        case .property:
            return walk.isBacklinks
                ? try followBacklinks(&walk, next)
                : try followStored(&walk, next)
        }
    }

    private func noLinkingProperty(_ walk: PathWalk) -> RealmError {
        invalidQuery(
            "@links.\(walk.linkingClass) is followed by the name of a property that links to class "
                + "'\(shownName(walk.classIndex))'")
    }

    /// How a step is spelled; indexes and keys are what is read at the moment.
    func spelled(_ next: PathFollower) -> String {
        switch next {
        case .name(let name): return String(decoding: name, as: UTF8.self)
        case .every: return "*"
        case .keys: return "@keys"
        case .values: return "@values"
        case .backlinks: return "@links"
        case .index, .key: return text.string(Int(reading.start), Int(reading.end))
        }
    }

    private func cannotFollow(_ walk: PathWalk, _ next: PathFollower) -> RealmError {
        let step = spelled(next)
        guard walk.bound.classIndex >= 0 else {
            return invalidQuery("'\(step)' cannot follow a value that is no object")
        }
        let name = named(walk.bound)
        switch next {
        case .name, .backlinks:
            return invalidQuery("property '\(name)' is not a link, '\(step)' cannot follow it")
        case .keys, .values:
            return invalidQuery("property '\(name)' is no dictionary, it has no \(step)")
        default: return invalidQuery("property '\(name)' has no index '\(step)'")
        }
    }

    private mutating func append(_ walk: inout PathWalk, _ step: ExpressionStep) {
        filter.expressions.steps.append(step)
        walk.bound.path.count += 1
    }

    private mutating func followBacklinks(
        _ walk: inout PathWalk, _ next: PathFollower
    ) throws(RealmError) -> Bool {
        switch next {
        case .name, .backlinks:
            addBacklinks(&walk)
            return false
        case .every: return true
        default:
            throw invalidQuery(
                "linking objects of class '\(shownName(walk.origin))' have no index "
                    + "'\(spelled(next))'")
        }
    }

    private mutating func addBacklinks(_ walk: inout PathWalk) {
        append(
            &walk,
            ExpressionStep(
                kind: .backlinks, column: walk.originColumn,
                target: schema.classes[walk.origin].key))
        walk.bound.path.isToMany = true
        walk.classIndex = walk.origin
        walk.state = .object
    }

    private mutating func followStored(
        _ walk: inout PathWalk, _ next: PathFollower
    ) throws(RealmError) -> Bool {
        let property = schema.classes[walk.bound.classIndex].properties[walk.bound.propertyIndex]
        if property.type == .object {
            return try followLinks(&walk, property, next)
        }
        let isMixed = property.type == .mixed
        // `[*]` was read: the elements are at hand.
        if walk.spreads, case .name(let name) = next, takesLength(property, name) {
            beginLength(&walk, property)
            return true
        }
        if walk.spreads || property.collection == .none {
            guard isMixed else { throw cannotFollow(walk, next) }
            begin(&walk, property.collection == .none ? .column : .elements, property)
            try followMixed(&walk, next)
            return true
        }
        switch (next, property.collection) {
        case (.every, _): walk.spreads = true
        case (.values, .dictionary): walk.spreads = true
        case (.keys, .dictionary): beginKeys(&walk, property)
        case (.index(let index), .list):
            begin(&walk, .elementAt, property)
            walk.bound.path.index = index
        case (.key, .dictionary), (.name, .dictionary):
            begin(&walk, .elementForKey, property)
            walk.bound.path.text = key(&walk, next)
        case (.name(let name), _) where takesLength(property, name):
            beginLength(&walk, property)
        case (.name, _) where isMixed:
            begin(&walk, .elements, property)
            try followMixed(&walk, next)
        default: throw cannotFollow(walk, next)
        }
        return true
    }

    private func takesLength(
        _ property: PropertySchema, _ name: UnsafeBufferPointer<UInt8>
    ) -> Bool {
        name.elementsEqual("length".utf8) { $0 | 0x20 == $1 }
            && (property.type == .string || property.type == .binary || property.type == .mixed)
    }

    /// Reads the lengths of the elements of the property taken last (S13).
    private func beginLength(_ walk: inout PathWalk, _ property: PropertySchema) {
        if recordsTexts { walk.text += ".length" }
        begin(&walk, .elements, property)
        walk.bound.path.measure = .length
        walk.state = .values
    }

    /// Reads values of the property taken last.
    private func begin(_ walk: inout PathWalk, _ value: PathValue, _ property: PropertySchema) {
        walk.bound.path.value = value
        walk.bound.path.column = Int32(property.key.column)
        walk.bound.path.kind = Self.kind(property.type)
        walk.state = property.type == .mixed ? .mixed : .values
    }

    private func beginKeys(_ walk: inout PathWalk, _ property: PropertySchema) {
        begin(&walk, .keys, property)
        walk.bound.path.kind = .string
        walk.state = .values
    }

    /// The key of a dictionary, in brackets or as a name.
    private mutating func key(_ walk: inout PathWalk, _ next: PathFollower) -> FilterText {
        switch next {
        case .key(let key): return key
        case .name(let name):
            noteName(&walk, name)
            return filter.addText(name)
        default: return FilterText()
        }
    }

    private mutating func followLinks(
        _ walk: inout PathWalk, _ property: PropertySchema, _ next: PathFollower
    ) throws(RealmError) -> Bool {
        guard let target = schema.classes.firstIndex(where: { $0.name == property.linkTarget })
        else { throw invalidQuery("there is no class '\(property.linkTarget)'") }
        var step = ExpressionStep(
            kind: .links, column: Int32(property.key.column), target: schema.classes[target].key)
        let isCollection = property.collection != .none && !walk.spreads
        switch (next, property.collection) {
        case (.name, .none), (.backlinks, .none): step.kind = .link
        case (.every, .list), (.every, .set), (.every, .dictionary), (.values, .dictionary):
            guard isCollection else { throw cannotFollow(walk, next) }
            walk.spreads = true
            return true
        case (.keys, .dictionary) where isCollection:
            beginKeys(&walk, property)
            return true
        case (.index(let index), .list) where isCollection:
            step.kind = .linkAt
            step.index = index
        case (.key, .dictionary) where isCollection:
            step.kind = .linkForKey
            step.text = key(&walk, next)
        case (.name(let name), .dictionary)
        where isCollection && self.property(target, name) == nil:
            step.kind = .linkForKey
            step.text = key(&walk, next)
        case (.name, _), (.backlinks, _): break
        default: throw cannotFollow(walk, next)
        }
        append(&walk, step)
        if step.kind == .links { walk.bound.path.isToMany = true }
        walk.spreads = false
        walk.classIndex = target
        walk.state = .object
        return step.kind == .linkAt || step.kind == .linkForKey
    }

    private mutating func followMixed(
        _ walk: inout PathWalk, _ next: PathFollower
    ) throws(RealmError) {
        let step: ExpressionStep
        switch next {
        case .name, .key: step = ExpressionStep(kind: .entry, text: key(&walk, next))
        case .index(let index): step = ExpressionStep(kind: .item, index: index)
        case .every, .values: step = ExpressionStep(kind: .children)
        case .keys: step = ExpressionStep(kind: .keys)
        case .backlinks: throw invalidQuery("@links cannot follow a mixed value")
        }
        if walk.endsSpread || walk.bound.path.value == .elements { walk.spreads = true }
        walk.endsSpread = step.kind == .children || step.kind == .keys
        filter.expressions.steps.append(step)
        walk.bound.path.mixedCount += 1
        walk.bound.path.kind = step.kind == .keys ? .string : .mixed
        walk.state = step.kind == .keys ? .values : .mixed
    }

    // MARK: The end

    mutating func finish(_ walk: inout PathWalk, _ ending: PathEnding) throws(RealmError) {
        walk.bound.ending = ending
        if walk.state == .property, walk.isBacklinks, ending != .size { addBacklinks(&walk) }
        switch walk.state {
        case .start: throw invalidQuery("a path begins with the name of a property")
        case .linkingClass: throw noLinkingProperty(walk)
        case .allLinks:
            guard ending == .size else {
                throw invalidQuery("@links is followed by @count or by a class")
            }
            walk.take(.countAllLinks, .int)
            return
        case .object:
            if ending == .size {
                throw invalidQuery(
                    "@size is not defined for objects of class "
                        + "'\(shownName(walk.classIndex))'")
            }
            walk.take(.member, .link, target: schema.classes[walk.classIndex].key)
        case .property where walk.isBacklinks:
            walk.take(
                .countBacklinks, .int, column: walk.originColumn,
                target: schema.classes[walk.origin].key)
        case .property: try finishStored(&walk, ending)
        case .values, .mixed: if ending == .size { try finishSize(&walk) }
        }
        if ending == .type {
            if walk.bound.path.kind == .mixed {
                walk.bound.path.measure = .type
            } else {
                walk.bound.types = TypeSet.of(walk.bound.path.kind)
            }
        }
        walk.bound.path.shape = shape(walk)
    }

    private mutating func finishStored(
        _ walk: inout PathWalk, _ ending: PathEnding
    ) throws(RealmError) {
        let property = schema.classes[walk.bound.classIndex].properties[walk.bound.propertyIndex]
        let kind = Self.kind(property.type)
        let isCollection = property.collection != .none
        let target =
            kind == .link ? schema.classes.first { $0.name == property.linkTarget }?.key : nil
        walk.take(
            isCollection ? .elements : .column, kind, column: Int32(property.key.column),
            target: target ?? .invalid)
        switch ending {
        case .size: try finishSize(&walk, property)
        case .type:
            if isCollection, kind != .mixed {
                throw invalidQuery("@type is not defined for the collection '\(named(walk.bound))'")
            }
        default:
            if !isCollection {
                walk.bound.isPlain =
                    walk.bound.path.slot == scopes[Int(walk.scope)].slot
                    && filter.expressions.steps[walk.bound.path.steps].allSatisfy {
                        $0.kind == .link
                    }
            } else if kind == .link {
                let path = walk.bound.path
                append(
                    &walk,
                    ExpressionStep(kind: .links, column: path.column, target: path.target))
                walk.bound.path.isToMany = true
                walk.bound.path.value = .member
            }
        }
    }

    private func finishSize(
        _ walk: inout PathWalk, _ property: PropertySchema
    ) throws(RealmError) {
        let kind = walk.bound.path.kind
        if property.collection != .none {
            walk.bound.path.value = kind == .link ? .countLinks : .countElements
        } else if kind == .link {
            walk.bound.path.value = .countLink
        } else if kind.holdsText {
            walk.bound.path.measure = .size
            return
        } else {
            throw invalidQuery(
                "@size is not defined for property '\(named(walk.bound))' of type \(kind.typeWord)")
        }
        walk.bound.path.kind = .int
    }

    private func finishSize(_ walk: inout PathWalk) throws(RealmError) {
        let kind = walk.bound.path.kind
        if walk.bound.path.value == .keys, walk.bound.path.mixedCount == 0 {
            walk.bound.path.value = .countElements
            walk.bound.path.kind = .int
        } else if kind.holdsText, walk.bound.path.measure == .none {
            walk.bound.path.measure = .size
        } else {
            throw invalidQuery("@size is not defined for values of type \(kind.typeWord)")
        }
    }

    private func shape(_ walk: PathWalk) -> OperandShape {
        let path = walk.bound.path
        if path.mixedCount > 0 {
            let isOuter = path.isToMany || path.value == .elements || walk.spreads
            if isOuter { return .groups }
            return walk.endsSpread ? .many : .single
        }
        switch path.value {
        case .elements, .keys: return path.isToMany ? .groups : .many
        case .elementAt, .elementForKey: return path.isToMany ? .groups : .single
        default: return path.isToMany ? .many : .single
        }
    }

    static func kind(_ type: PropertyType) -> OperandKind {
        // Only links back have no column.
        (try? ColumnKind(type)).map { OperandKind($0) } ?? .link
    }
}
