// What the functions of this folder do: nothing, and say so. The folder holds the part of the
// interface that is declared for programs and bindings to link against but not implemented yet;
// `Tests/CABITests` keeps the list of them, which can only shrink.

import CRealm
import CoreSwift

/// Fails with RLM_ERR_NOT_SUPPORTED, after freeing the userdata that will never be used.
func notYet<R>(
    _ function: StaticString, _ failure: R, _ userdata: UnsafeMutableRawPointer? = nil,
    _ userdataFree: realm_free_userdata_func_t? = nil
) -> R {
    userdataFree?(userdata)
    LastError.set(
        RealmError(.notSupported, "\(function) is not supported yet by this version"))
    return failure
}
