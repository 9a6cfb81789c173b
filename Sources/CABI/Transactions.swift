// Transactions, versions, refreshing and freezing of a realm.

import CRealm
import CoreSwift

@inline(__always)
func realmHeld(_ handle: OpaquePointer?) throws(RealmError) -> Realm {
    try held(handle, .realm, as: Realm.self)
}

/// Makes sure that the realm has a read transaction: of the newest version, or of its own if it
/// is frozen. Does nothing if it has one.
@c @implementation
public func realm_begin_read(_ realm: OpaquePointer?) -> Bool {
    succeeds(try realmHeld(realm).beginRead())
}

/// Begins a write transaction: waits until no other realm of the file writes, in this process or
/// another, and moves to the newest version. Fails: RLM_ERR_WRONG_TRANSACTION_STATE when the
/// realm is writing already, is frozen or read-only, or more versions are alive than its
/// configuration allows.
@c @implementation
public func realm_begin_write(_ realm: OpaquePointer?) -> Bool {
    succeeds(try realmHeld(realm).beginWrite())
}

/// As `realm_begin_write()`, but the wait can be given up: `gives_up` is called with `userdata` on
/// this thread, fifty times a second while another thread or process writes; if it returns true no
/// transaction begins. Fails: as `realm_begin_write()`;
/// RLM_ERR_CALLBACK when given up.
@c @implementation
public func realm_begin_write_unless(
    _ realm: OpaquePointer?, _ gives_up: realm_gives_up_func_t?,
    _ userdata: UnsafeMutableRawPointer?
) -> Bool {
    succeeds { () throws(RealmError) in
        let realm = try realmHeld(realm)
        guard let gives_up else { return try realm.beginWrite() }
        try realm.beginWrite { gives_up(userdata) }
    }
}

/// Ends the write transaction and makes its changes durable and visible; the realm reads the new
/// version. After an error nothing of the transaction is left, with one exception: when the disk fails in
/// the very last step, the header or the sync, nobody knows. The error says then that the file must be closed
/// and opened again, every call refuses until it is, and after that the commit is there as a whole or not at all.
/// Fails: RLM_ERR_WRONG_TRANSACTION_STATE outside a write transaction; RLM_ERR_OUT_OF_DISK_SPACE;
/// RLM_ERR_FILE_OPERATION_FAILED.
@c @implementation
public func realm_commit(_ realm: OpaquePointer?) -> Bool {
    succeeds(try realmHeld(realm).commit())
}

/// As `realm_commit()`, but `count` observers are not told of what the transaction changed, because the
/// program shows it already: `tokens` are their realm_notification_token_t, or realm_callback_token_t of
/// `realm_add_realm_changed_callback()`. What they are told next begins after this commit. Observers that
/// were not told of the version before it, because one of their callbacks runs, hear of both. Fails: as
/// `realm_commit()`; RLM_ERR_INVALID_ARGUMENT for what is no such token, or of another realm, with the
/// transaction as it was.
@c @implementation
public func realm_commit_without_notifying(
    _ realm: OpaquePointer?, _ tokens: UnsafePointer<UnsafeRawPointer?>?, _ count: Int
) -> Bool {
    succeeds { () throws(RealmError) in
        let realm = try realmHeld(realm)
        var observers: [NotificationToken] = []
        var ofRealm: [ChangeToken] = []
        for index in 0..<max(0, tokens == nil ? 0 : count) {
            let token = OpaquePointer(tokens?[index])
            if HandleSlab.isHandle(UnsafeRawPointer(token), .callbackToken) {
                let kept = try held(token, .callbackToken, as: AnyObject.self)
                guard let change = kept as? ChangeToken else {
                    throw RealmError(.invalidArgument, "token \(index) is not of an observer")
                }
                ofRealm.append(change)
            } else {
                observers.append(try held(token, .notificationToken, as: NotificationToken.self))
            }
        }
        try realm.commit(withoutNotifying: observers, realmTokens: ofRealm)
    }
}

/// Ends the write transaction and undoes its changes; the realm reads the version it had. Handles
/// of objects that it created or deleted stay invalid. Fails: RLM_ERR_WRONG_TRANSACTION_STATE
/// outside a write transaction.
@c @implementation
public func realm_rollback(_ realm: OpaquePointer?) -> Bool {
    succeeds(try realmHeld(realm).rollback())
}

/// Whether the realm is in a write transaction, or something asynchronous of it is under way: a block
/// that waits, or a commit that is not durable yet.
@c @implementation
public func realm_is_writable(_ realm: OpaquePointer?) -> Bool {
    boundary(false, try realmHeld(realm).isWritingOrWaiting)
}

/// Moves the realm to the newest version of the file. `did_refresh` says whether it moved or
/// began its first read transaction: not when it was there already, writes, or is frozen. Fails:
/// RLM_ERR_WRONG_TRANSACTION_STATE for a realm opened in immutable mode.
@c @implementation
public func realm_refresh(
    _ realm: OpaquePointer?, _ did_refresh: UnsafeMutablePointer<Bool>?
) -> Bool {
    succeeds { () throws(RealmError) in
        let isFresh = try borrow(realm, .realm, as: Realm.self) { realm in realm.isFresh }
        let did = isFresh ? false : try realmHeld(realm).refresh()
        did_refresh?.pointee = did
    }
}

/// Whether the realm shows by itself what other realms and processes commit, where its scheduler delivers: true
/// at first, false for frozen realms.
@c @implementation
public func realm_get_auto_refresh(_ realm: OpaquePointer?) -> Bool {
    boundary(false, try realmHeld(realm).isFollowing)
}

/// Has the realm show by itself what others commit, or not: then it stays at its version until
/// `realm_refresh()` or a write transaction, and its callbacks for changes of the realm are called of newer
/// versions that it does not show. Fails: RLM_ERR_WRONG_TRANSACTION_STATE when a frozen realm is to,
/// RLM_ERR_WRONG_THREAD, RLM_ERR_CLOSED_REALM.
@c @implementation
public func realm_set_auto_refresh(_ realm: OpaquePointer?, _ enable: Bool) -> Bool {
    succeeds(try realmHeld(realm).follow(enable))
}

/// Returns a new handle to a frozen realm at the version that `realm` reads; in a write
/// transaction at the version before it. It never changes, may be used on any threads at once,
/// and keeps its version in the file until it is closed.
@c @implementation
public func realm_freeze(_ realm: OpaquePointer?) -> OpaquePointer? {
    boundary(nil, makeHandle(.realm, try realmHeld(realm).freeze()))
}

/// The version that the realm reads; in a write transaction the one before it. Without a
/// transaction, also because the realm is closed, `out_found` is false and the version zero.
@c @implementation
public func realm_get_version_id(
    _ realm: OpaquePointer?, _ out_found: UnsafeMutablePointer<Bool>?,
    _ out_version: UnsafeMutablePointer<realm_version_id_t>?
) -> Bool {
    succeeds { () throws(RealmError) in
        let version = try realmHeld(realm).version
        out_found?.pointee = version != nil
        out_version?.pointee = realm_version_id_t(version: version ?? 0, index: 0)
    }
}

/// How many versions of the file are kept: the newest, and older ones that some realm in any
/// process reads.
@c @implementation
public func realm_get_num_versions(
    _ realm: OpaquePointer?, _ out_versions_count: UnsafeMutablePointer<UInt64>?
) -> Bool {
    succeeds { () throws(RealmError) in
        let count = try realmHeld(realm).liveVersionCount()
        out_versions_count?.pointee = UInt64(count)
    }
}
