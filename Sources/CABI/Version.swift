// Library version: the level of the C ABI that programs ask for, not the version of a file.

import CRealm

private let versionText: StaticString = "14.14.0"
private let noExtra: StaticString = ""

extension StaticString {
    /// A C string that lives for ever.
    var cString: UnsafePointer<CChar> {
        UnsafeRawPointer(utf8Start).assumingMemoryBound(to: CChar.self)
    }
}

/// The level of this interface, "14.14.0". The text lives for ever.
@c @implementation
public func realm_get_library_version() -> UnsafePointer<CChar>? {
    versionText.cString
}

/// The level of this interface as numbers, and an extra text, which is empty. Outputs may be
/// `nil`.
@c @implementation
public func realm_get_library_version_numbers(
    _ out_major: UnsafeMutablePointer<Int32>?, _ out_minor: UnsafeMutablePointer<Int32>?,
    _ out_patch: UnsafeMutablePointer<Int32>?,
    _ out_extra: UnsafeMutablePointer<UnsafePointer<CChar>?>?
) {
    out_major?.pointee = 14
    out_minor?.pointee = 14
    out_patch?.pointee = 0
    out_extra?.pointee = noExtra.cString
}
