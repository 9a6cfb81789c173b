// What a program asks of the schema of a file when it opens it, or changes it later.

package struct SchemaRequest {
    package var schema: Schema
    package var version: UInt64
    package var mode: SchemaMode
    /// Called in the transaction that gives a file its first schema; false undoes all.
    package var initializeData: ((Realm) throws(RealmError) -> Bool)?
    /// Called when the version rises; see `Migration`.
    package var migrate: Migration?
    /// Objects of a class that becomes embedded are deleted where nothing links to them, and copied
    /// where several do; otherwise both are refused.
    package var mendsBacklinks = false
    /// Told how much of the work is done, between 0 and 1; false ends it: everything is undone.
    package var progress: ((Double) -> Bool)?
    /// Asked while another writer is waited for; true gives up.
    package var givesUp: (() -> Bool)?

    /// Moves data to a new schema, in its transaction. `old` shows the file as it was and can't be
    /// written; `new` shows the new schema. Properties that are to be dropped are hidden there, but
    /// can still be renamed. Primary keys may be set. False, and errors, undo everything.
    package typealias Migration =
        (_ old: Realm, _ new: Realm, _ target: Schema) throws(RealmError) -> Bool

    package init(_ schema: Schema, version: UInt64, mode: SchemaMode = .automatic) {
        self.schema = schema
        self.version = version
        self.mode = mode
    }
}
