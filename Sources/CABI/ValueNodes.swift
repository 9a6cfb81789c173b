// Objects and their parts from values with everything inside them, as bindings have made arrays of
// nodes of them. Extensions. The same from JSON text: ObjectGraphs.swift.

import CRealm
import CoreSwift

/// The nodes of a C caller, which have the layout of the engine's.
private func valueNodes(
    _ nodes: UnsafePointer<realm_value_node_t>?, _ count: Int
) throws(RealmError) -> UnsafeBufferPointer<ValueNode> {
    guard let nodes, count > 0 else {
        throw RealmError(.invalidArgument, "nodes must not be NULL or none")
    }
    guard count <= Int.max / MemoryLayout<ValueNode>.stride else {
        throw RealmError(.invalidArgument, "no array has \(UInt(bitPattern: count)) nodes")
    }
    return UnsafeBufferPointer(
        start: UnsafeRawPointer(nodes).assumingMemoryBound(to: ValueNode.self), count: count)
}

/// Writes the value that nodes describe to its target.
@discardableResult
private func write(
    _ target: NodeTarget, _ nodes: UnsafePointer<realm_value_node_t>?, _ count: Int,
    _ update: realm_update_policy_e, _ keys: UnsafeMutablePointer<realm_object_key_t>?
) throws(RealmError) -> NodeCreation {
    var creation = try NodeCreation(
        target, try valueNodes(nodes, count), try policy(update))
    try creation.run(keys?.objectKeys)
    return creation
}

/// Creates an object, with all that is nested in it, or updates the one with its primary key as
/// `update` says; returns a new handle. The root is an RLM_NODE_OBJECT. Values have the types of
/// their properties; objects in the place of links are created or updated likewise, embedded ones in
/// their owner. Objects that several nodes refer to are RLM_NODE_REFERENCE in all places but one.
/// Missing values are taken from `realm_schema_set_default()`, else are null; an object that is there
/// keeps them. `out_keys`, one for each node or NULL, gets the keys of the objects that nodes
/// describe, -1 for others. Fails, and changes nothing: RLM_ERR_INVALID_ARGUMENT for nodes that are
/// no tree, RLM_ERR_NO_SUCH_TABLE, RLM_ERR_INVALID_PROPERTY, RLM_ERR_PROPERTY_TYPE_MISMATCH,
/// RLM_ERR_PROPERTY_NOT_NULLABLE, RLM_ERR_MISSING_PROPERTY_VALUE, RLM_ERR_MISSING_PRIMARY_KEY,
/// RLM_ERR_OBJECT_ALREADY_EXISTS, RLM_ERR_NO_SUCH_OBJECT for links, RLM_ERR_INVALID_DICTIONARY_KEY,
/// RLM_ERR_LIMIT_EXCEEDED, RLM_ERR_ILLEGAL_OPERATION, RLM_ERR_WRONG_TRANSACTION_STATE.
@c @implementation
public func realm_object_create_from_nodes(
    _ realm: OpaquePointer?, _ class_key: realm_class_key_t,
    _ nodes: UnsafePointer<realm_value_node_t>?, _ num_nodes: Int,
    _ update: realm_update_policy_e, _ out_keys: UnsafeMutablePointer<realm_object_key_t>?
) -> OpaquePointer? {
    boundary(nil) { () throws(RealmError) in
        let target = NodeTarget.newObject(try realmHeld(realm), ClassKey(class_key))
        return try write(target, nodes, num_nodes, update, out_keys).takeRoot().cHandle
    }
}

/// Gives properties of an object values with everything inside them. The root is an RLM_NODE_OBJECT
/// with the properties to be set. Those are set and collections filled anew; with
/// RLM_UPDATE_MODIFIED only what differs is written. Otherwise as
/// `realm_object_create_from_nodes()`; fails also with RLM_ERR_INVALIDATED_OBJECT.
@c @implementation
public func realm_object_set_nodes(
    _ object: OpaquePointer?, _ nodes: UnsafePointer<realm_value_node_t>?, _ num_nodes: Int,
    _ update: realm_update_policy_e, _ out_keys: UnsafeMutablePointer<realm_object_key_t>?
) -> Bool {
    succeeds { () throws(RealmError) in
        try write(.object(try objectHeld(object)), nodes, num_nodes, update, out_keys)
    }
}

/// Inserts a value with everything inside it before an element of a list; embedded objects are made
/// there. Otherwise as `realm_object_create_from_nodes()`; fails also with
/// RLM_ERR_INDEX_OUT_OF_BOUNDS, RLM_ERR_INVALIDATED_OBJECT.
@c @implementation
public func realm_list_insert_nodes(
    _ list: OpaquePointer?, _ index: Int, _ nodes: UnsafePointer<realm_value_node_t>?,
    _ num_nodes: Int, _ update: realm_update_policy_e,
    _ out_keys: UnsafeMutablePointer<realm_object_key_t>?
) -> Bool {
    succeeds(list, .list) { list throws(RealmError) in
        let target = NodeTarget.element(list, index, isInsertion: true)
        try write(target, nodes, num_nodes, update, out_keys)
    }
}

/// Replaces an element of a list; as `realm_list_insert_nodes()`.
@c @implementation
public func realm_list_set_nodes(
    _ list: OpaquePointer?, _ index: Int, _ nodes: UnsafePointer<realm_value_node_t>?,
    _ num_nodes: Int, _ update: realm_update_policy_e,
    _ out_keys: UnsafeMutablePointer<realm_object_key_t>?
) -> Bool {
    succeeds(list, .list) { list throws(RealmError) in
        let target = NodeTarget.element(list, index, isInsertion: false)
        try write(target, nodes, num_nodes, update, out_keys)
    }
}

/// Adds a value to a set, if it is not there; an object with everything inside it is created. As
/// `realm_list_insert_nodes()`.
@c @implementation
public func realm_set_insert_nodes(
    _ set: OpaquePointer?, _ nodes: UnsafePointer<realm_value_node_t>?, _ num_nodes: Int,
    _ update: realm_update_policy_e, _ out_keys: UnsafeMutablePointer<realm_object_key_t>?
) -> Bool {
    succeeds(set, .set) { set throws(RealmError) in
        try write(.member(set), nodes, num_nodes, update, out_keys)
    }
}

/// Inserts or replaces the value of a key; as `realm_list_insert_nodes()`. Dictionaries in mixed
/// values take every text for a key in nodes, here too, where `realm_dictionary_insert()` refuses
/// those that begin with `$` or contain `.`.
@c @implementation
public func realm_dictionary_insert_nodes(
    _ dictionary: OpaquePointer?, _ key: realm_value_t,
    _ nodes: UnsafePointer<realm_value_node_t>?, _ num_nodes: Int,
    _ update: realm_update_policy_e, _ out_keys: UnsafeMutablePointer<realm_object_key_t>?
) -> Bool {
    succeeds(dictionary, .dictionary) { dictionary throws(RealmError) in
        try write(.entry(dictionary, RawValue(key)), nodes, num_nodes, update, out_keys)
    }
}
