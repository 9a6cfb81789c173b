// The collections of an object, its embedded objects, and its owner.

import CRealm
import CoreSwift

private func collection(
    _ handle: OpaquePointer?, _ property: realm_property_key_t, _ type: CollectionType
) -> OpaquePointer? {
    boundary(nil, try objectHeld(handle).collection(PropertyKey(property), type).cHandle)
}

/// Finds the object that owns an embedded one; `parent` gets a new handle, `class_key` its class.
/// Fails: RLM_ERR_TOP_LEVEL_OBJECT for objects that are not embedded, RLM_ERR_NO_SUCH_OBJECT for
/// one that was deleted.
@c @implementation
public func realm_object_get_parent(
    _ object: OpaquePointer?, _ parent: UnsafeMutablePointer<OpaquePointer?>?,
    _ class_key: UnsafeMutablePointer<realm_class_key_t>?
) -> Bool {
    succeeds { () throws(RealmError) in
        let owner = try objectHeld(object).parent()
        class_key?.pointee = owner.classKey.rawValue
        if let parent {
            parent.pointee = owner.cHandle
        } else {
            owner.release()
        }
    }
}

/// Puts a new embedded object into a link property, which deletes one that was there, and returns
/// a new handle to it. Fails: RLM_ERR_INVALIDATED_OBJECT, RLM_ERR_INVALID_PROPERTY,
/// RLM_ERR_PROPERTY_TYPE_MISMATCH for a property that is no link to one object,
/// RLM_ERR_ILLEGAL_OPERATION for a link to objects that are not embedded,
/// RLM_ERR_WRONG_TRANSACTION_STATE.
@c @implementation
public func realm_set_embedded(_ object: OpaquePointer?, _ property: realm_property_key_t)
    -> OpaquePointer?
{
    boundary(nil, try objectHeld(object).createEmbedded(PropertyKey(property)).cHandle)
}

/// Puts an empty list into a mixed property, unless it holds a list, which then stays as it is, and
/// returns a new handle to it; of a property that is a list, just that. Fails:
/// RLM_ERR_PROPERTY_TYPE_MISMATCH for other properties, RLM_ERR_INVALIDATED_OBJECT,
/// RLM_ERR_INVALID_PROPERTY, RLM_ERR_WRONG_TRANSACTION_STATE.
@c @implementation
public func realm_set_list(_ object: OpaquePointer?, _ property: realm_property_key_t)
    -> OpaquePointer?
{
    boundary(nil, try objectHeld(object).setCollection(PropertyKey(property), .list).cHandle)
}

/// Puts an empty dictionary into a mixed property, unless it holds one; as `realm_set_list()`.
@c @implementation
public func realm_set_dictionary(_ object: OpaquePointer?, _ property: realm_property_key_t)
    -> OpaquePointer?
{
    boundary(nil, try objectHeld(object).setCollection(PropertyKey(property), .dictionary).cHandle)
}

/// Returns a new handle to the list of a property. Fails: RLM_ERR_INVALIDATED_OBJECT,
/// RLM_ERR_INVALID_PROPERTY, RLM_ERR_PROPERTY_TYPE_MISMATCH for a property that can hold no list. Of
/// a mixed property that holds something else the handle is not valid, until it holds a list.
@c @implementation
public func realm_get_list(_ object: OpaquePointer?, _ property: realm_property_key_t)
    -> OpaquePointer?
{
    collection(object, property, .list)
}

/// Returns a new handle to the set of a property. Fails: as `realm_get_list()`. Of a mixed property,
/// which can hold no set, the handle is never valid.
@c @implementation
public func realm_get_set(_ object: OpaquePointer?, _ property: realm_property_key_t)
    -> OpaquePointer?
{
    collection(object, property, .set)
}

/// Returns a new handle to the dictionary of a property. Fails: as `realm_get_list()`.
@c @implementation
public func realm_get_dictionary(_ object: OpaquePointer?, _ property: realm_property_key_t)
    -> OpaquePointer?
{
    collection(object, property, .dictionary)
}
