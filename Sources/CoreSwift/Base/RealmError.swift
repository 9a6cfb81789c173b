// The one error type of the engine. Every function that can fail throws it (typed throws: 4 ns).

/// A failure: its code, a message that names the operation, the object and the broken rule, and
/// for file errors the path.
public struct RealmError: Error, Sendable, CustomStringConvertible {
    public let code: ErrorCode
    public let message: String
    /// The file concerned; only for codes of the file-access category.
    public let path: String?

    public init(_ code: ErrorCode, _ message: String, path: String? = nil) {
        self.code = code
        self.message = message
        self.path = path
    }

    public var description: String { message }

    /// What programs of realm-core know it by: a callback of opening said that it failed. What it was is the
    /// callback's to tell.
    package static var failedCallback: RealmError {
        RealmError(.callback, "User-provided callback failed")
    }
}

/// Checks a fact that only a defect of the engine itself can break. Bytes of a file and arguments
/// are never checked with it: those throw.
@inline(__always)
func invariant(
    _ condition: @autoclosure () -> Bool, _ message: @autoclosure () -> String = "",
    file: StaticString = #fileID, line: UInt = #line
) {
    assert(condition(), message(), file: file, line: line)
}
