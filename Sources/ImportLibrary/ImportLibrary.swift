// librealm-import.so: what `realm_import_core_file()` of librealm.so opens when it is called. Few programs ever
// import old files, and those that do do it once; so the reader, the writer and the cryptography for it, and what
// they need of the engine, are no part of the library that all programs load.

import CoreSwift
import Glibc
import RealmImport

/// The name has the number of this interface: a library of another version isn't taken for this one.
///
/// Returns 0, with the report as JSON text in `text`, or the error's code, with its message there. The text is
/// to be freed. Keys without bytes stand for none; `progress` may be nil.
@_cdecl("realm_import_run_1")
public func runImport(
    _ old: UnsafePointer<CChar>, _ new: UnsafePointer<CChar>,
    _ key: UnsafePointer<UInt8>?, _ keySize: Int,
    _ newKey: UnsafePointer<UInt8>?, _ newKeySize: Int, _ evenInUse: Bool,
    _ progress: (@convention(c) (UnsafeMutableRawPointer?, Double) -> Bool)?,
    _ userdata: UnsafeMutableRawPointer?,
    _ text: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
) -> Int32 {
    let oldCopy = KeyCopy(Array(UnsafeBufferPointer(start: key, count: keySize)))
    let newCopy = KeyCopy(Array(UnsafeBufferPointer(start: newKey, count: newKeySize)))
    defer { withExtendedLifetime((oldCopy, newCopy)) {} }
    var options = ImportOptions(
        key: oldCopy.bytes, newKey: newCopy.bytes, evenInUse: evenInUse)
    if let progress { options.progress = { progress(userdata, $0) } }
    do throws(RealmError) {
        let report = try OldFileImport.run(String(cString: old), to: String(cString: new), options)
        text.pointee = strdup(report.json)
        return 0
    } catch {
        text.pointee = strdup(error.message)
        return error.code.rawValue
    }
}
