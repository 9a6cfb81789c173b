// The values of a path for the members at hand: over links and collections to objects, then their
// values (QUERY_RULES U6, U7, A1–A7, Q11, Q12, I).

extension ExpressionEvaluator {
    /// Where a walk over single objects has ended.
    enum Place {
        case object(ExpressionMember)
        /// Behind a null link.
        case null
        /// Behind an index that names nothing: no value at all.
        case nothing
    }

    func load(_ path: UnsafePointer<ExpressionPath>) throws(RealmError) -> ExpressionOperand {
        let member = slots[Int(path.pointee.slot)]
        if path.pointee.count == 0, path.pointee.value == .column, path.pointee.mixedCount == 0,
            path.pointee.measure == .none
        {
            // The commonest path: a property of the object at hand.
            var operand = ExpressionOperand()
            operand.value = try member.table.value(
                member.place, member.key, Int(path.pointee.column))
            return operand
        }
        if path.pointee.isToMany { return try loadMany(path, member) }
        return try finish(path, try end(of: path, from: member))
    }

    /// Where a path over single objects leads to.
    @inline(never)
    func end(
        of path: UnsafePointer<ExpressionPath>, from member: ExpressionMember
    ) throws(RealmError) -> Place {
        var place = Place.object(member)
        for index in 0..<Int(path.pointee.count) {
            guard case .object(let object) = place else { break }
            place = try follow(Int(path.pointee.first) + index, object)
        }
        return place
    }

    /// One step from an object to at most one other.
    private func follow(
        _ index: Int, _ object: ExpressionMember
    ) throws(RealmError) -> Place {
        let step = program.steps[index]
        var link = RawValue.null
        switch step.kind {
        case .link:
            link = try object.table.value(object.place, object.key, Int(step.column))
        case .linkAt, .linkForKey:
            guard var view = try collection(object, Int(step.column)), view.count > 0 else {
                return .nothing
            }
            if step.kind == .linkAt {
                guard let item = try item(step.index, of: &view) else { return .nothing }
                link = item
            } else {
                link = try entry(step.text, of: &view) ?? .null
            }
        default: return .nothing
        }
        guard !link.isNull, let table = stepTables[index] else { return .null }
        return try self.object(table, link.linkTarget).map { .object($0) } ?? .null
    }

    /// An object by its key; nil when it is not there.
    @inline(__always)
    func object(_ table: Table, _ key: ObjectKey) throws(RealmError) -> ExpressionMember? {
        guard let place = try table.find(key) else { return nil }
        return ExpressionMember(table: table, key: key, leaf: place.view, row: place.row)
    }

    /// The collection in a column.
    @inline(__always)
    func collection(
        _ object: ExpressionMember, _ column: Int
    ) throws(RealmError) -> CollectionView? {
        let info = object.table.columns[column]
        guard info.kind == .collection else { return nil }
        let value = try object.table.value(object.place, column, info)
        return CollectionView(
            object.table, column, ElementLayout(info, column: column), value.bytes)
    }

    /// The element at an index, counted from the start or, negative, from the end.
    func item(_ index: Int64, of view: inout CollectionView) throws(RealmError) -> RawValue? {
        let place = index < 0 ? index + Int64(view.count) : index
        guard place >= 0 && place < Int64(view.count) else { return nil }
        return try element(Int(place), of: &view)
    }

    /// The value under a key.
    func entry(_ text: FilterText, of view: inout CollectionView) throws(RealmError) -> RawValue? {
        let found = try view.search(key(text))
        return found.isFound ? try element(found.index, of: &view) : nil
    }

    @inline(never)
    private func element(
        _ place: Int, of view: inout CollectionView
    ) throws(RealmError) -> RawValue {
        try view.value(place, view.valueColumn)
    }

    func key(_ text: FilterText) -> RawValue {
        .string(program.bytes + Int(text.offset), Int(text.count))
    }

    // MARK: One object

    private func finish(
        _ path: UnsafePointer<ExpressionPath>, _ place: Place
    ) throws(RealmError) -> ExpressionOperand {
        var operand = ExpressionOperand()
        operand.shape = path.pointee.shape
        operand.first = values.count
        operand.groupFirst = groups.count
        switch place {
        case .object(let object) where operand.shape == .single:
            let value = try value(path, object)
            operand.isPresent = value != nil
            operand.value = value ?? .null
        case .object(let object):
            try appendValues(path, object)
            closeGroups(&operand, path)
        case .null: setMissing(&operand, path, isNull: true)
        case .nothing: setMissing(&operand, path, isNull: false)
        }
        return operand
    }

    /// What a path has behind a null link or an index that names nothing.
    private func setMissing(
        _ operand: inout ExpressionOperand, _ path: UnsafePointer<ExpressionPath>, isNull: Bool
    ) {
        guard operand.shape == .single else {
            closeGroups(&operand, path)
            return
        }
        switch path.pointee.value {
        case .countAllLinks: operand.value = .int(0)
        case .countElements:
            operand.value = .int(0)
            operand.isPresent = isNull
        case .column, .member:
            operand.isPresent =
                isNull && path.pointee.mixedCount == 0 && !path.pointee.needsObject
            if path.pointee.measure != .none { operand.value = measured(.null, path) ?? .null }
        default: operand.isPresent = false
        }
    }

    /// What a path that ends at one object gives; nil: nothing.
    @inline(never)
    private func value(
        _ path: UnsafePointer<ExpressionPath>, _ object: ExpressionMember
    ) throws(RealmError) -> RawValue? {
        guard var value = try single(path, object) else { return nil }
        if path.pointee.mixedCount > 0 {
            guard let end = try navigate(.start(value, path, object), path) else { return nil }
            value = end.value
        }
        return measured(value, path) ?? .null
    }

    /// The one value that a path takes of an object; nil: none.
    @inline(never)
    func single(
        _ path: UnsafePointer<ExpressionPath>, _ object: ExpressionMember
    ) throws(RealmError) -> RawValue? {
        let column = Int(path.pointee.column)
        switch path.pointee.value {
        case .member:
            if path.pointee.kind == .link, path.pointee.mixedCount == 0 {
                return .link(path.pointee.target, object.key)
            }
            return object.value
        case .column: return try object.table.value(object.place, object.key, column)
        case .elementAt, .elementForKey:
            guard var view = try collection(object, column), view.count > 0 else { return nil }
            let found =
                path.pointee.value == .elementAt
                ? try item(path.pointee.index, of: &view)
                : try entry(path.pointee.text, of: &view)
            return found ?? .null
        case .countElements:
            return .int(Int64(try collection(object, column)?.count ?? 0))
        case .countLinks:
            guard var view = try collection(object, column) else { return .int(0) }
            var count: Int64 = 0
            for index in 0..<view.count where try !view.value(index, view.valueColumn).isNull {
                count += 1
            }
            return .int(count)
        case .countLink:
            let link = try object.table.value(object.place, object.key, column)
            return .int(link.isNull ? 0 : 1)
        case .countBacklinks:
            let table = try snapshot.table(path.pointee.target)
            return .int(Int64(try table.sourceCount(of: object.key, column: column)))
        case .countAllLinks: return .int(Int64(try linkCount(object)))
        case .elements, .keys: return nil
        }
    }

    /// All links to an object, of every class and collection (N7).
    private func linkCount(_ object: ExpressionMember) throws(RealmError) -> Int {
        let target = object.table.classKey
        var count = 0
        for (origin, column) in object.table.incoming {
            guard let table = snapshot.tables.table(origin) else { continue }
            count += try table.sourceCount(of: object.key, in: target, column: column)
        }
        return count
    }

    /// What a path makes of a value; nil: the value drops out.
    @inline(__always)
    func measured(
        _ value: RawValue, _ path: UnsafePointer<ExpressionPath>
    ) -> RawValue? {
        switch path.pointee.measure {
        case .none: return value
        case .size: return Self.size(value)
        case .length:
            switch ValueOrder.family(value) {
            case .string, .binary: return .int(Int64(bitPattern: value.word1))
            case .null: return path.pointee.kind == .mixed ? nil : .int(0)
            default: return nil
            }
        case .type:
            return RawValue(word0: TypeSet.of(value), word1: 0, type: .int)
        }
    }

    /// Bytes of a text, elements of a nested collection (A5).
    static func size(_ value: RawValue) -> RawValue {
        switch ValueOrder.family(value) {
        case .string, .binary: return .int(Int64(bitPattern: value.word1))
        case .list, .dictionary:
            return .int(Int64(CollectionCell.count(NestedCell.cell(value))))
        default: return .null
        }
    }

    /// The value that an object is ordered by; nil when the path meets a null link (D4).
    func orderingValue(
        _ path: UnsafePointer<ExpressionPath>, _ object: ExpressionMember
    ) throws(RealmError) -> RawValue? {
        guard case .object(let end) = try end(of: path, from: object) else { return nil }
        return try value(path, end) ?? .null
    }

    // MARK: Many values

    /// Appends the values of one object to the pool, and the groups that they form.
    private func appendValues(
        _ path: UnsafePointer<ExpressionPath>, _ object: ExpressionMember
    ) throws(RealmError) {
        let column = Int(path.pointee.column)
        let start = values.count
        if path.pointee.mixedCount > 0 { return try appendMixed(path, object) }
        switch path.pointee.value {
        case .elements, .keys:
            if var view = try collection(object, column) {
                let source = path.pointee.value == .keys ? 0 : view.valueColumn
                for index in 0..<view.count { append(try view.value(index, source), path) }
            }
        default:
            if let value = try single(path, object) {
                if path.pointee.isToMany, path.pointee.kind == .link, value.isNull { return }
                append(value, path)
            } else if path.pointee.shape == .groups {
                return
            }
        }
        if path.pointee.shape == .groups { groups.append((start, values.count - start)) }
    }

    @inline(__always)
    func append(_ value: RawValue, _ path: UnsafePointer<ExpressionPath>) {
        if let value = measured(value, path) { values.append(value) }
    }

    /// Notes what was appended since the operand was begun. Where no collection was reached, one
    /// without members is tested (Q12).
    private func closeGroups(
        _ operand: inout ExpressionOperand, _ path: UnsafePointer<ExpressionPath>
    ) {
        operand.count = values.count - operand.first
        guard operand.shape == .groups else { return }
        if groups.count == operand.groupFirst { groups.append((operand.first, 0)) }
        operand.groupCount = groups.count - operand.groupFirst
    }

    private func loadMany(
        _ path: UnsafePointer<ExpressionPath>, _ member: ExpressionMember
    ) throws(RealmError) -> ExpressionOperand {
        let base = keys.count
        defer { keys.cut(to: base) }
        var operand = ExpressionOperand()
        operand.shape = path.pointee.shape
        operand.first = values.count
        operand.groupFirst = groups.count
        let takesLinks = path.pointee.value == .member && path.pointee.mixedCount == 0
        guard let table = try reach(path, member, withNullLinks: takesLinks) else {
            setMissing(&operand, path, isNull: true)
            return operand
        }
        let end = keys.count
        if takesLinks {
            for place in base..<end {
                let key = keys[place]
                append(
                    key == Ordering.nullLink
                        ? .null : .link(path.pointee.target, key), path)
            }
        } else if path.pointee.value == .countAllLinks {
            var count = 0
            for place in base..<end {
                if let object = try object(table, keys[place]) { count += try linkCount(object) }
            }
            operand.value = .int(Int64(truncatingIfNeeded: count))
            return operand
        } else {
            for place in base..<end {
                if let object = try object(table, keys[place]) {
                    try appendValues(path, object)
                }
            }
        }
        closeGroups(&operand, path)
        return operand
    }

    /// Puts the keys of the objects that a path leads to behind the pool's, in order and with
    /// repeats; returns their class. Level by level, so that a path of any length needs no stack.
    /// `withNullLinks`: those that a dictionary at the end has among its values are there, too.
    func reach(
        _ path: UnsafePointer<ExpressionPath>, _ member: ExpressionMember,
        withNullLinks: Bool = false
    ) throws(RealmError) -> Table? {
        let base = keys.count
        let last = withNullLinks ? Int(path.pointee.first + path.pointee.count) - 1 : -1
        var table = member.table
        var isFirst = true
        // Steps that led from objects to more of them: collections, but for those of one member.
        var levels = path.pointee.outerLevels
        for index in Int(path.pointee.first)..<Int(path.pointee.first + path.pointee.count) {
            let start = keys.count
            if isFirst {
                try appendTargets(index, member, withNullLinks: index == last)
                isFirst = false
                if keys.count - start > 1 { levels &+= 1 }
            } else {
                for place in base..<start {
                    if let object = try object(table, keys[place]) {
                        try appendTargets(index, object, withNullLinks: index == last)
                    }
                    if keys.count &- start > ExpressionState.reachedMax { throw shared.tooMany() }
                }
                // The level before is done with.
                let count = keys.count - start
                if count > start - base { levels &+= 1 }
                if levels > NestingCost.freeLevels { try shared.spend(count) }
                for place in 0..<count { keys[base + place] = keys[start + place] }
                keys.cut(to: base + count)
            }
            guard let next = stepTables[index] else { return nil }
            table = next
        }
        if isFirst { keys.append(member.key) }
        return table
    }

    /// The objects one step behind an object.
    private func appendTargets(
        _ index: Int, _ object: ExpressionMember, withNullLinks: Bool
    ) throws(RealmError) {
        let step = program.steps[index]
        switch step.kind {
        case .links:
            guard var view = try collection(object, Int(step.column)) else { return }
            for place in 0..<view.count {
                let link = try view.value(place, view.valueColumn)
                if !link.isNull {
                    keys.append(link.linkTarget)
                } else if withNullLinks {
                    keys.append(Ordering.nullLink)
                }
            }
        case .backlinks:
            guard let table = stepTables[index] else { return }
            try appendSources(TableReader(table: table), Int(step.column), of: object.key)
        default:
            if case .object(let next) = try follow(index, object) { keys.append(next.key) }
        }
    }
}

extension ExpressionEvaluator {
    /// The objects that link to an object, ascending and as often as they link, read into the pool
    /// from where they stand in the inverse index.
    private func appendSources(
        _ table: TableReader, _ column: Int, of target: ObjectKey
    ) throws(RealmError) {
        guard table.column(column).linksAreWords else {
            for source in try table.sources(of: target, column: column) { keys.append(source) }
            return
        }
        let start = keys.count
        var ascends = true
        try table.visitLinks(to: target, through: target, column: column) { leaf, entries in
            for entry in entries {
                let source = leaf.key(entry)
                // Further links of one object follow the first links of all.
                if keys.count > start, keys[keys.count &- 1] > source { ascends = false }
                keys.append(source)
            }
        }
        if !ascends {
            var sources = UnsafeMutableBufferPointer(
                start: keys.base + start, count: keys.count - start)
            sources.sort()
        }
    }
}

extension ExpressionMember {
    @inline(__always) var place: RowPlace {
        RowPlace(
            leaf: UnsafeMutableRawPointer(mutating: leaf.base), row: row, state: .sealed)
    }
}
