// Opening on a thread of its own, for migrations that take their time.

import CRealm
import CoreSwift

/// Opens a realm as `realm_open()` does, on a thread of its own: its schema is changed there, and the
/// callbacks of `config` run there, except its scheduler's, which is not used. `completion` is called on
/// that thread, once, with a reference for `realm_from_thread_safe_reference()`, or with the error.
/// `config` may be released at once. Returns a new handle for `realm_open_async_cancel()`, which may be
/// released at any time. Fails: RLM_ERR_SYSTEM_ERROR when there is no thread.
@c @implementation
public func realm_open_async(
    _ config: OpaquePointer?, _ completion: realm_open_completion_func_t?,
    _ userdata: UnsafeMutableRawPointer?, _ userdata_free: realm_free_userdata_func_t?
) -> OpaquePointer? {
    let userdata = Userdata(userdata, userdata_free)
    return boundary(nil) { () throws(RealmError) in
        let config = try held(config, .config, as: ConfigObject.self)
        let completion = try given(completion, "completion")
        let key = config.encryptionKey
        let task = try OpeningTask.start(try config.configuration()) { result in
            // The configuration frees what its callbacks use, and may have got another key meanwhile.
            withExtendedLifetime((config, key)) {
                complete(completion, userdata.pointer, result)
            }
        }
        return makeHandle(.callbackToken, task)
    }
}

private func complete(
    _ completion: realm_open_completion_func_t, _ userdata: UnsafeMutableRawPointer?,
    _ result: Result<ThreadSafeReference, RealmError>
) {
    switch result {
    case .success(let reference):
        completion(userdata, makeHandle(.threadSafeReference, reference), nil)
    case .failure(let error):
        LastError.setOpening(error)
        let handle = realm_get_last_error_as_async_error()
        LastError.clear()
        completion(userdata, nil, handle)
        realm_release(UnsafeMutableRawPointer(handle))
    }
}

/// Gives up an opening that `realm_open_async()` began, as soon as that can be, also while it waits for
/// another writer: a change of the schema is undone, and the completion called with RLM_ERR_CALLBACK.
/// When it is too late for that, the completion gets the realm. Fails: RLM_ERR_ILLEGAL_OPERATION for other tokens.
@c @implementation
public func realm_open_async_cancel(_ opening: OpaquePointer?) -> Bool {
    succeeds { () throws(RealmError) in
        let token = try held(opening, .callbackToken, as: AnyObject.self)
        guard let task = token as? OpeningTask else {
            throw RealmError(.illegalOperation, "the token is not that of an opening")
        }
        task.cancel()
    }
}
