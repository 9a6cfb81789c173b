// What opening with a schema would do, told without doing it: for dry runs.

package struct SchemaPreview {
    /// How the file differs from the schema. Classes that only the file has are left out: they stay.
    package var differences: [SchemaDifference] = []
    /// Opening writes to the file.
    package var changesFile = false
    /// Opening calls the migration block.
    package var migrates = false
    /// What opening fails with, as far as schemas and versions tell; data may refuse still.
    package var refusal: RealmError?
}

extension Realm {
    /// Compares the file, as the realm reads it, with a schema, as opening does.
    package func preview(_ request: SchemaRequest) throws(RealmError) -> SchemaPreview {
        let tables = try readTables()
        var preview = SchemaPreview()
        preview.differences = tables.schema.differences(to: request.schema).filter {
            !$0.isClassRemoved
        }
        do throws(RealmError) {
            try Self.check(request.schema, request.mode)
            let plan = try SchemaPlan.make(
                file: tables.stored, fileVersion: tables.schemaVersion, request)
            preview.changesFile = plan != nil
            preview.migrates = plan?.action == .migrate || plan?.action == .migrateByHand
        } catch {
            preview.refusal = error
        }
        return preview
    }
}
