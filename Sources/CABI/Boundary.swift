// The one place where Swift errors become C errors, and where C handles become Swift objects.
// Every function of the ABI that can fail has its body inside `boundary`; nothing else stores the
// last error. Handles come in through `held` and `borrow`, which check their tags.

import CKernels
import CRealm
import CoreSwift

/// Runs `body`; when it throws, stores the error for the thread and returns `failure`.
@inline(__always)
func boundary<R>(_ failure: R, _ body: () throws(RealmError) -> R) -> R {
    do throws(RealmError) {
        return try body()
    } catch {
        LastError.set(error)
        return failure
    }
}

/// The same for a body that is one expression: `boundary(nil, try copy(…))`. Not within another closure, which the
/// compiler would take for one that throws.
@inline(__always)
func boundary<R>(_ failure: R, _ value: @autoclosure () throws(RealmError) -> R) -> R {
    boundary(failure) { () throws(RealmError) in try value() }
}

/// As `boundary`, for functions that only succeed or fail.
@inline(__always)
func succeeds(_ body: () throws(RealmError) -> Void) -> Bool {
    do throws(RealmError) {
        try body()
        return true
    } catch {
        LastError.set(error)
        return false
    }
}

@inline(__always)
func succeeds(_ call: @autoclosure () throws(RealmError) -> Void) -> Bool {
    succeeds { () throws(RealmError) in try call() }
}

/// The object of a handle of `kind` (any but `object`), retained for the use of the caller.
///
/// `kind` and `T` belong together: the handle was made with an object of that class.
@inline(__always)
func held<T: AnyObject>(
    _ handle: OpaquePointer?, _ kind: HandleKind, as type: T.Type
) throws(RealmError) -> T {
    try held(UnsafeRawPointer(handle), kind, as: type)
}

@inline(__always)
func held<T: AnyObject>(
    _ handle: UnsafeRawPointer?, _ kind: HandleKind, as type: T.Type
) throws(RealmError) -> T {
    let slot = try HandleSlab.check(handle, kind)
    guard let object = HandleSlab.held(by: slot) else {
        throw RealmError(.invalidArgument, "expected a live handle, got an empty one")
    }
    return unsafeDowncast(object.takeUnretainedValue(), to: T.self)
}

/// Calls `body` with the object of a handle of `kind` without touching its reference count: the
/// handle keeps it, and one handle is not used by two threads at a time.
@inline(__always)
func borrow<T: AnyObject, R>(
    _ handle: OpaquePointer?, _ kind: HandleKind, as type: T.Type,
    _ body: (T) throws(RealmError) -> R
) throws(RealmError) -> R {
    let slot = try HandleSlab.check(UnsafeRawPointer(handle), kind)
    let word = slot.load(fromByteOffset: HandleSlab.payloadOffset, as: UInt.self)
    guard let pointer = UnsafeRawPointer(bitPattern: word) else {
        throw RealmError(.invalidArgument, "expected a live handle, got an empty one")
    }
    let result: Result<R, RealmError> = Unmanaged<T>.fromOpaque(pointer)._withUnsafeGuaranteedRef {
        object in
        do throws(RealmError) { return .success(try body(object)) } catch { return .failure(error) }
    }
    return try result.get()
}

/// As `boundary`, with the realm of a handle, for calls that programs make in loops.
@inline(__always)
func boundary<R>(
    _ realm: OpaquePointer?, _ failure: R, _ body: (Realm) throws(RealmError) -> R
) -> R {
    boundary(failure, try borrow(realm, .realm, as: Realm.self, body))
}

/// The object of a handle.
@inline(__always)
func objectHeld(_ handle: OpaquePointer?) throws(RealmError) -> ObjectHandle {
    ObjectHandle(checked: try HandleSlab.check(UnsafeRawPointer(handle), .object))
}

/// A new handle of `kind` that keeps `object`.
func makeHandle(_ kind: HandleKind, _ object: consuming AnyObject) -> OpaquePointer {
    OpaquePointer(HandleSlab.allocate(kind, holding: object))
}

/// An argument that has to be there; NULL is `.invalidArgument` naming the parameter.
@inline(__always)
func given<T>(_ argument: T?, _ parameter: StaticString) throws(RealmError) -> T {
    guard let argument else { throw missing(parameter) }
    return argument
}

@inline(never)
private func missing(_ parameter: StaticString) -> RealmError {
    RealmError(.invalidArgument, "\(parameter) must not be NULL")
}

/// Text of a C string argument; NULL is `.invalidArgument` naming the parameter.
func text(
    _ pointer: UnsafePointer<CChar>?, _ parameter: StaticString
) throws(RealmError) -> String {
    guard let text = String(validatingCString: try given(pointer, parameter)) else {
        throw RealmError(.invalidArgument, "\(parameter) is not UTF-8 text")
    }
    return text
}

/// The bytes of a C string, whether they are UTF-8 or not: who reads them tells.
func cBytes(
    _ pointer: UnsafePointer<CChar>?, _ parameter: StaticString
) throws(RealmError) -> UnsafeRawBufferPointer {
    let pointer = try given(pointer, parameter)
    var count = 0
    while pointer[count] != 0 { count += 1 }
    return UnsafeRawBufferPointer(start: pointer, count: count)
}
