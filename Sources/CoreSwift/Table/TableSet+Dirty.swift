// Whether a write transaction has done anything yet.

extension TableSet {
    /// The running write transaction has changed something, the schema included.
    var hasChanges: Bool {
        guard isWriting else { return false }
        var found = knownSchema == nil
        forEachTable { if $0.state.changes.isDirty { found = true } }
        return found
    }
}
