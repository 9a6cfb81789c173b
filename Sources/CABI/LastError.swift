// The last error of each thread, and owned copies of errors. A record is immutable, so that the
// thread slot and any number of async error handles share it.

import CKernels
import CRealm
import CoreSwift

/// An error in the form C callers read: its texts are C strings that live as long as it does.
final class ErrorRecord {
    let code: ErrorCode
    let userCodeError: UnsafeMutableRawPointer?
    private let message: CText
    private let path: CText?

    init(_ error: RealmError, userCodeError: UnsafeMutableRawPointer? = nil) {
        code = error.code
        self.userCodeError = userCodeError
        message = CText(error.message)
        path = error.code.namesFile ? CText(error.path ?? "") : nil
    }

    /// Fills a caller's record; its texts belong to this object.
    func write(to out: UnsafeMutablePointer<realm_error_t>?) {
        out?.pointee = realm_error_t(
            error: realm_errno_e(rawValue: UInt32(bitPattern: code.rawValue)),
            categories: code.categories,
            message: message.pointer, user_code_error: userCodeError, path: path?.pointer)
    }

    /// Same code and message.
    func equals(_ other: ErrorRecord) -> Bool {
        guard code == other.code else { return false }
        var i = 0
        while message.pointer[i] == other.message.pointer[i] {
            if message.pointer[i] == 0 { return true }
            i += 1
        }
        return false
    }
}

/// The slot of the calling thread.
enum LastError {
    static var current: ErrorRecord? {
        ck_thread_slot(Int32(CK_SLOT_LAST_ERROR)).map {
            Unmanaged<ErrorRecord>.fromOpaque($0).takeUnretainedValue()
        }
    }

    @inline(never)
    static func set(_ error: RealmError) { set(ErrorRecord(error)) }

    @inline(never)
    static func set(_ record: ErrorRecord) {
        clear()
        ck_set_thread_slot(
            Int32(CK_SLOT_LAST_ERROR), Unmanaged.passRetained(record).toOpaque())
        ck_thread_slot_on_exit(Int32(CK_SLOT_LAST_ERROR)) { raw in
            if let raw { Unmanaged<ErrorRecord>.fromOpaque(raw).release() }
        }
    }

    /// Empties the slot; whether there was something in it.
    @discardableResult
    static func clear() -> Bool {
        guard let raw = ck_thread_slot(Int32(CK_SLOT_LAST_ERROR)) else { return false }
        ck_set_thread_slot(Int32(CK_SLOT_LAST_ERROR), nil)
        Unmanaged<ErrorRecord>.fromOpaque(raw).release()
        return true
    }

    /// Stores an error of opening. That of a callback carries what the callback registered on
    /// this thread, which is then forgotten.
    static func setOpening(_ error: RealmError) {
        guard error.code == .callback else {
            set(error)
            return
        }
        let user = ck_thread_slot(Int32(CK_SLOT_USER_ERROR))
        ck_set_thread_slot(Int32(CK_SLOT_USER_ERROR), nil)
        set(ErrorRecord(error, userCodeError: user))
    }

    static var hasUserCodeError: Bool { ck_thread_slot(Int32(CK_SLOT_USER_ERROR)) != nil }
}
