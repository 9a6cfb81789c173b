// Dry runs of schema changes.

import CRealm
import CoreSwift

/// Tells what opening the file of a realm with another schema, version and mode would do; nothing is
/// changed. `on_difference`, which may be NULL, is called with each difference between the file, as
/// the realm reads it, and the schema, as a sentence; classes that only the file has are left out.
/// `*out_changes` says whether opening would write to the file. Both come also before a failure: with
/// the error that opening would fail with, as far as schemas and versions tell.
@c @implementation
public func realm_preview_schema(
    _ realm: OpaquePointer?, _ schema: OpaquePointer?, _ version: UInt64,
    _ mode: realm_schema_mode_e, _ on_difference: realm_difference_func_t?,
    _ userdata: UnsafeMutableRawPointer?, _ out_changes: UnsafeMutablePointer<Bool>?
) -> Bool {
    out_changes?.pointee = false
    return succeeds { () throws(RealmError) in
        let realm = try realmHeld(realm)
        let target = try held(schema, .schema, as: SchemaObject.self).schema
        guard let mode = SchemaMode(rawValue: mode.rawValue) else {
            throw RealmError(.invalidArgument, "\(mode.rawValue) is no schema mode")
        }
        let preview = try realm.preview(SchemaRequest(target, version: version, mode: mode))
        if let on_difference {
            for difference in preview.differences {
                difference.description.withCString { on_difference(userdata, $0) }
            }
        }
        out_changes?.pointee = preview.changesFile
        if let refusal = preview.refusal { throw refusal }
    }
}
