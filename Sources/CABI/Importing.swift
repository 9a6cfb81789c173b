// Files of realm-core: what imports them is a library of its own beside this one, see Sources/ImportLibrary.

import CKernels
import CRealm
import CoreSwift

private typealias ImportRun =
    @convention(c) (
        UnsafePointer<CChar>, UnsafePointer<CChar>, UnsafePointer<UInt8>?, Int,
        UnsafePointer<UInt8>?, Int, Bool, realm_schema_progress_func_t?, UnsafeMutableRawPointer?,
        UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
    ) -> Int32

/// Makes a new realm file at `new_path` of the file of realm-core at `old_path`, formats 9 to 11 and 20 to
/// 24, which is only read. Keys have 64 bytes, or no data where the file is not encrypted. A file that a
/// program has open with realm-core is refused, unless `even_in_use`. `progress` may be NULL; it is called on
/// this thread some hundred times with how much is done, between 0 and 1, and ends the import by
/// returning false. `out_report` may be NULL; else it gets a JSON text with what came along and what did not,
/// to be freed with realm_free(): an object with `format`, `schema_version`, `whole`, `notes`, `losses`,
/// `loss_count` and `classes`. On an error there is no new file. Takes `librealm-import.so`, which lies beside
/// this library.
///
/// Fails: RLM_ERR_FILE_ALREADY_EXISTS, RLM_ERR_INVALID_DATABASE for a file that is damaged, none of
/// realm-core or encrypted with another key, RLM_ERR_UNSUPPORTED_FILE_FORMAT_VERSION,
/// RLM_ERR_INVALID_ENCRYPTION_KEY for a key of another size, RLM_ERR_FILE_OPERATION_FAILED when a file can't
/// be read or written or is in use, RLM_ERR_OPERATION_ABORTED when `progress` ended it,
/// RLM_ERR_NOT_SUPPORTED where `librealm-import.so` is missing.
@c @implementation
public func realm_import_core_file(
    _ old_path: UnsafePointer<CChar>?, _ new_path: UnsafePointer<CChar>?,
    _ old_key: realm_binary_t, _ new_key: realm_binary_t, _ even_in_use: Bool,
    _ progress: realm_schema_progress_func_t?, _ userdata: UnsafeMutableRawPointer?,
    _ out_report: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> Bool {
    succeeds { () throws(RealmError) in
        let old = try text(old_path, "old_path")
        let new = try text(new_path, "new_path")
        let (oldCopy, newCopy) = (try encryptionKey(old_key), try encryptionKey(new_key))
        defer { withExtendedLifetime((oldCopy, newCopy)) {} }
        let (key, newKey) = (oldCopy.bytes, newCopy.bytes)
        let run = try importRun()
        var answer: UnsafeMutablePointer<CChar>?
        let code = run(
            old, new, key, key.count, newKey, newKey.count, even_in_use, progress, userdata,
            &answer)
        defer { ck_free(answer) }
        let text = answer.map { String(cString: $0) } ?? ""
        guard code == 0 else { throw RealmError(ErrorCode(rawValue: code) ?? .runtime, text) }
        out_report?.pointee = copyForC(text)
    }
}

private func importRun() throws(RealmError) -> ImportRun {
    var problem = [CChar](repeating: 0, count: 512)
    guard
        let found = ck_function_beside(
            "librealm-import.so", "realm_import_run_1", &problem, problem.count)
    else {
        let reason = problem.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } }
        throw RealmError(
            .notSupported,
            "files of realm-core are imported by librealm-import.so, which is to lie beside this "
                + "library: " + (reason ?? ""))
    }
    return unsafeBitCast(found, to: ImportRun.self)
}
