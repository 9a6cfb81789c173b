// Mixed values from JSON text. Whole objects from and to JSON are extensions: ObjectGraphs.swift.

import CRealm
import CoreSwift

/// Sets a mixed property from JSON text: arrays become lists, objects dictionaries, integers ints
/// (those of 64 bits without sign wrap around) and other numbers doubles. An array replaces the
/// value that was there; an object is merged into a dictionary that was there. Fails, and changes
/// nothing: RLM_ERR_PROPERTY_TYPE_MISMATCH for properties that are not mixed, RLM_ERR_MALFORMED_JSON,
/// RLM_ERR_INVALID_DICTIONARY_KEY for names that begin with `$` or contain a point,
/// RLM_ERR_LIMIT_EXCEEDED for more than 100 levels, RLM_ERR_INVALIDATED_OBJECT,
/// RLM_ERR_INVALID_PROPERTY, RLM_ERR_WRONG_TRANSACTION_STATE.
@c @implementation
public func realm_set_json(
    _ object: OpaquePointer?, _ property: realm_property_key_t, _ json_string: UnsafePointer<CChar>?
) -> Bool {
    succeeds { () throws(RealmError) in
        let handle = try objectHeld(object)
        try handle.setJSON(PropertyKey(property), try cBytes(json_string, "json_string"))
    }
}
