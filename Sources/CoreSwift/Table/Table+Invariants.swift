// Whether the invariants of a table hold (Table.swift, TableChanges.swift): for tests, which ask
// between any two changes of random programs. What a file says is checked by the readers, not here.

extension Table {
    /// Throws the first of the numbered invariants that does not hold.
    func checkInvariants() throws(RealmError) {
        var openFound = 0
        var hasTransient = false
        let rows = try state.tree.checkInvariants(countsAreExact: state.openLeaves.isEmpty) {
            place, low, high throws(RealmError) in
            let reference = BlockReference(place)
            hasTransient = hasTransient || reference.isTransient
            guard reference.isTransient, memory.pointee.blocks.isOpenLeaf(reference) else {
                return try checkSealed(LeafView(try leaf(place)), low, high)
            }
            openFound += 1
            return try checkOpen(reference, low, high)
        }
        guard openFound == state.openLeaves.count else {
            throw broken("2: \(openFound) leaves are open, \(state.openLeaves.count) listed")
        }
        let capacity = state.openLeaves.reduce(0) { $0 + $1.pointee.capacity }
        guard capacity == state.openRows else {
            throw broken("2: room for \(capacity) open rows, not \(state.openRows)")
        }
        guard rows == state.rowCount else {
            throw broken("3: \(rows) rows, not \(state.rowCount)")
        }
        guard !hasTransient || state.changes.isDirty else {
            throw broken("door 1: a leaf has changed in a table that has not")
        }
        try checkFinger()
        try checkDoor()
    }

    private func broken(_ fact: String) -> RealmError { state.tree.broken(fact) }

    private func checkSealed(
        _ view: LeafView, _ low: ObjectKey, _ high: ObjectKey
    ) throws(RealmError) -> Int {
        var live = 0
        for row in 0..<view.rows where !view.isDead(row) { live += 1 }
        guard live == view.liveRows else {
            throw broken("leaf from \(low) on has \(live) live rows, not \(view.liveRows)")
        }
        try state.tree.checkLeaf(keys: view.key(0), view.key(view.rows - 1), low, high)
        return live
    }

    private func checkOpen(
        _ reference: BlockReference, _ low: ObjectKey, _ high: ObjectKey
    ) throws(RealmError) -> Int {
        let leaf = memory.pointee.blocks.pointer(reference).assumingMemoryBound(to: OpenLeaf.self)
        guard state.openLeaves.contains(leaf), leaf.pointee.reference == reference,
            leaf.pointee.lowKey == low
        else { throw broken("2: the open leaf from \(low) on is not the one that is listed") }
        guard state.appendLeaf != leaf || high == .max else {
            throw broken("rows are appended to the leaf from \(low) to \(high)")
        }
        var live = 0
        var last = ObjectKey.min
        for position in 0..<leaf.pointee.rows {
            let row = leaf.pointee.row(at: position)
            let key = leaf.pointee.keys[row]
            guard key >= low, key < high || high == .max, position == 0 || key > last else {
                throw broken("key \(key) after \(last) in the open leaf from \(low) to \(high)")
            }
            last = key
            if !leaf.pointee.isDead(row) { live += 1 }
        }
        guard live == leaf.pointee.liveRows else {
            throw broken("open leaf from \(low) on: \(live) rows, not \(leaf.pointee.liveRows)")
        }
        return live
    }

    private func checkFinger() throws(RealmError) {
        guard state.fingerLow < state.fingerHigh else { return }
        guard !state.tree.isEmpty else { throw broken("4: a finger in no tree") }
        let (place, low, high) = try state.tree.leafPlace(covering: state.fingerLow)
        let found = UnsafeRawPointer(try leaf(place))
        guard low == state.fingerLow, high == state.fingerHigh,
            found == UnsafeRawPointer(state.fingerLeaf)
        else {
            throw broken("4: finger at \(state.fingerLow) to \(state.fingerHigh), leaf at \(low)")
        }
        let reference = BlockReference(place)
        let isOpen = reference.isTransient && memory.pointee.blocks.isOpenLeaf(reference)
        let expected: LeafState = isOpen ? .open : reference.isTransient ? .transient : .sealed
        guard state.fingerState == expected else {
            throw broken("4: the finger takes the leaf for \(state.fingerState)")
        }
    }

    private func checkDoor() throws(RealmError) {
        if let problem = doorProblem() { throw broken(problem) }
    }
}

extension TableSet {
    /// The same of every table; see `Table.checkInvariants`.
    func checkInvariants() throws(RealmError) {
        try forEachTable { table throws(RealmError) in try table.checkInvariants() }
    }
}
