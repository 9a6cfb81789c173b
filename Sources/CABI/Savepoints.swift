// Savepoints of write transactions. Extensions.

import CRealm
import CoreSwift

/// Makes a savepoint in a write transaction and writes its number. What changes from now on keeps
/// what was there before, so that a savepoint costs as much as what changes after it. It ends with
/// the transaction, with `realm_savepoint_release()`, and when an older one is released or rolled
/// back to. Fails: RLM_ERR_WRONG_TRANSACTION_STATE.
@c @implementation
public func realm_savepoint_begin(
    _ realm: OpaquePointer?, _ out_savepoint: UnsafeMutablePointer<UInt64>?
) -> Bool {
    succeeds { () throws(RealmError) in
        let realm = try realmHeld(realm)
        let out_savepoint = try given(out_savepoint, "out_savepoint")
        out_savepoint.pointee = try realm.savepoint().number
    }
}

/// Takes back all changes since a savepoint, which stays. Objects that were deleted are there again,
/// under their keys and with the links to them; handles of them and of collections are valid again.
/// Fails: RLM_ERR_ILLEGAL_OPERATION when the savepoint has ended, RLM_ERR_WRONG_TRANSACTION_STATE.
/// Should the file not be readable, the whole transaction is rolled back.
@c @implementation
public func realm_savepoint_rollback(_ realm: OpaquePointer?, _ savepoint: UInt64) -> Bool {
    succeeds(try realmHeld(realm).rollback(to: Savepoint(number: savepoint)))
}

/// Ends a savepoint, with those made after it; the changes stay. Fails as
/// `realm_savepoint_rollback()`.
@c @implementation
public func realm_savepoint_release(_ realm: OpaquePointer?, _ savepoint: UInt64) -> Bool {
    succeeds(try realmHeld(realm).release(Savepoint(number: savepoint)))
}
